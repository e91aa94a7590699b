"""Folders that a model was saved in or downloaded to: where links lead, what the configuration says."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from soundcheck.common.escaping import shorten
from soundcheck.common.files import irregularity

CONFIGURATION_BYTES = 50_000_000  # of a JSON file; an index of shards has some 100 kB
REASON = 200  # characters of what a parser says


def links_outside(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """List links that lead out of a folder, but for those of a hub's cache to the files beside it."""
    home = folder.resolve()
    if home.parent.name == "snapshots" and (home.parent.parent / "blobs").is_dir():
        home = home.parent.parent
    return [path for path in paths if path.is_symlink() and not path.resolve().is_relative_to(home)]


def read_configuration(path: Path) -> tuple[dict[str, Any], str]:
    """Read a JSON file that holds a mapping; gives it, empty if it cannot be read, and why it cannot."""
    reason = irregularity(path, CONFIGURATION_BYTES)
    if reason:
        return {}, reason
    try:
        content = json.loads(path.read_bytes())
    except RecursionError:
        return {}, "it is nested too deeply"
    except (OSError, ValueError) as error:
        return {}, f"it is not JSON: {shorten(str(error), REASON)}"
    return (content, "") if isinstance(content, dict) else ({}, "it holds no mapping")
