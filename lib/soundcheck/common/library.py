"""Tells with which code something was computed: what was made with other code is not kept."""

from __future__ import annotations

import functools
import os
import sys

from soundcheck.common import files, resources

SUFFIXES = (".py", ".csv", ".j2", ".css", ".typ")  # code, tables and templates


@functools.cache
def library_digest() -> str:
    """Digest of all files of the library: what was computed with other code or tables is not kept."""
    root = resources.PACKAGE
    sources = sorted(path for suffix in SUFFIXES for path in root.rglob(f"*{suffix}"))
    return files.digest("\n".join(f"{path.relative_to(root)} {files.digest(path)}" for path in sources))


def installed() -> list[str]:
    """Name all installed packages with their versions, and Python's."""
    names = {entry.name for place in filter(os.path.isdir, sys.path) for entry in os.scandir(place)}
    return [sys.version, *sorted(name for name in names if name.endswith(".dist-info"))]
