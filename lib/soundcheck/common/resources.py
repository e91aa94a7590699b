"""The files that Soundcheck consists of: notebooks, thresholds and book pages, and the digest of all code.

Notebooks, thresholds and pages lie beside ``lib/`` in a checkout, where people edit them, and travel inside a
wheel as ``soundcheck/_share``. A suite may bring families of its own in folders ``notebooks``, ``thresholds``
and ``book/methods`` beside its suite.yml; those come first.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

from soundcheck.common import files

PACKAGE = Path(__file__).resolve().parents[1]
SUFFIXES = (".py", ".csv", ".j2", ".css", ".typ")  # code, tables and templates


def root() -> Path:
    """Folder that holds ``notebooks``, ``thresholds``, ``book`` and the demo's ``suite.yml``."""
    share = PACKAGE / "_share"
    return share if share.is_dir() else PACKAGE.parent.parent


def find(name: str, first: Path | None = None) -> Path | None:
    """Find a file such as ``thresholds/fairness_sex.yml``; ``None`` if there is none.

    - ``first``: folder of the suite, looked at first.
    """
    places = [place / name for place in (first, root()) if place is not None]
    return next((place for place in places if place.is_file()), None)


def names(folder: str, suffix: str, first: Path | None = None) -> list[str]:
    """List the stems of all files of a folder, sorted, the suite's own included."""
    places = [place / folder for place in (first, root()) if place is not None]
    paths = [path for place in places if place.is_dir() for path in place.glob(f"[!.]*{suffix}")]
    return sorted({path.stem for path in paths if path.is_file()})


@functools.cache
def library_digest() -> str:
    """Digest of all files of the library: what was computed with other code or tables is not kept."""
    sources = sorted(path for suffix in SUFFIXES for path in PACKAGE.rglob(f"*{suffix}"))
    return files.digest("\n".join(f"{path.relative_to(PACKAGE)} {files.digest(path)}" for path in sources))


def installed() -> list[str]:
    """Name all installed packages with their versions, and Python's."""
    names = {entry.name for place in filter(os.path.isdir, sys.path) for entry in os.scandir(place)}
    return [sys.version, *sorted(name for name in names if name.endswith(".dist-info"))]


def made_here() -> str:
    """Digest of the library and of all installed packages, a version for what is cached."""
    return files.digest(repr([library_digest(), installed()]))
