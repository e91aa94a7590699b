"""A small table in the cache that is believed only if it is whole and of the right version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from soundcheck.common import files


def read(path: Path, version: str) -> dict[str, Any]:
    """Read what :func:`write` kept; anything odd counts as nothing kept.

    Parameters
    ----------
    path
        The file.
    version
        What the entries depend on; those of another version are not read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] != version or content["digest"] != files.digest(content["entries"]):
            return {}
        entries = json.loads(content["entries"])
        return entries if isinstance(entries, dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write(path: Path, version: str, entries: Mapping[str, Any]) -> None:
    """Keep entries, plain JSON values by name."""
    body = json.dumps(entries, sort_keys=True)
    content = {"version": version, "digest": files.digest(body), "entries": body}
    files.write_text(path, json.dumps(content))
