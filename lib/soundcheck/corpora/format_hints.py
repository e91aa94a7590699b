"""Says which format a file looks like that is read as another one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problem
from soundcheck.suite.corpus_format import CORPUS_FORMATS

HEAD = 64 * 1024  # bytes among which the first line is looked for
_SIGNS = {  # format -> columns or keys that only it has together
    "nemo": {"audio_filepath"},
    "commonvoice": {"client_id", "path", "sentence"},
    "lhotse": {"recording", "supervisions"},
    "emobox": {"key", "wav", "emo"},
    "speechbrain": {"ID", "wav"},
    "csv": {"file"},
}


def hint(columns: Iterable[str], given: str) -> str:
    """Name the format whose columns these are, as a sentence without full stop; empty if it is the given one.

    >>> hint(["audio_filepath", "text"], "csv")
    'This looks like `format: nemo`'
    """
    there = set(columns)
    likely = next((name for name, sign in _SIGNS.items() if sign <= there), "")
    return f"This looks like `format: {likely}`" if likely in {*CORPUS_FORMATS} - {given} else ""


def with_hint(error: InputError, path: Path, shown: str, given: str) -> InputError:
    """Add to the problems of a file which format it looks like, if it is another one."""
    told = hint(_first_names(path), given)
    known = any(told in str(problem) for problem in error.problems)
    return error if known or not told else InputError([Problem(shown, told), *error.problems])


def _first_names(path: Path) -> list[str]:
    """Take the first line for an object, or for a header; nothing if it is neither."""
    if files.irregularity(path):
        return []
    with open(path, "rb") as file:
        line = file.readline(HEAD).decode("utf-8", "ignore").removeprefix("\ufeff").rstrip("\r\n")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return [cell.strip(' "') for cell in line.split("\t" if "\t" in line else ",")]
    return list(found) if isinstance(found, dict) else []
