"""Finds the files and folders that a suite names."""

from __future__ import annotations

import os
import re
from pathlib import Path

from soundcheck.common.escaping import quoted
from soundcheck.common.files import irregularity, nearest_name

__all__ = ["find_place"]


def find_place(file: Path, text: str, *, folder: bool) -> tuple[Path | None, str, str]:
    """Find a file or folder.

    Parameters
    ----------
    file
        The suite.yml, whose folder paths are relative to.
    text
        The path as written; ``~`` is expanded, environment variables are not.
    folder
        Whether a folder is wanted.

    Returns
    -------
    place
        Where it is; ``None`` if there is a problem.
    what, remedy
        The problem and what to do, sentences without full stop; empty if there is none.
    """
    kind = "folder" if folder else "file"
    if not text:
        return None, "the key is missing", f"Name the {kind}, relative to {file.name}"
    place = file.parent / os.path.expanduser(text)
    if re.search(r"\$\w|\$\{|%\w+%", text) and not os.path.lexists(place):
        remedy = "Write the path itself; ~ stands for your home folder"
        return None, f"{quoted(text)}: environment variables are not expanded", remedy
    if folder and os.path.isdir(place):
        return place, "", ""
    reason = "this is a file, not a folder" if folder and os.path.isfile(place) else irregularity(place)
    if not reason:
        return place, "", ""
    if "not exist" in reason:
        relative = "" if os.path.isabs(text) else f" (taken relative to the folder of {file.name})"
        remedy = nearest_name(place) or "Check the path"
        return None, f"{quoted(text)}: the {kind} does not exist{relative}", remedy
    return None, f"{quoted(text)}: {reason}", _right_kind(place, folder)


def _right_kind(place: Path, folder: bool) -> str:
    """Say what to name instead of the wrong kind of thing."""
    if folder:
        return "Name the folder that holds it"
    if (place / "db.yaml").is_file():
        return "It holds an audformat database: write format: audformat"
    return "Name the file in it"
