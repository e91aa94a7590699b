"""What columns are called in tables of other people, in lower case; what comes first is the most likely."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from soundcheck.corpora import splits

with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _file:
    _NAMES = {row["kind"]: tuple(row["names"].split()) for row in csv.DictReader(_file)}

FILE_NAMES = _NAMES.pop("file")  # of the column with the audio files in tables of all kinds
RATINGS = _NAMES.pop("ratings")  # of numbers that a task of its own may be made of
CLASSES = _NAMES.pop("classes")  # of words that a task may be made of
SYNONYMS = _NAMES | {"split": splits.COLUMNS}  # our column -> what else it may be called


def first_of(columns: Iterable[str], names: Iterable[str]) -> str:
    """Find the column with the first of some names, which are in lower case; empty if there is none."""
    lower = {str(name).strip().lower(): name for name in reversed(list(columns))}
    return next((lower[name] for name in names if name in lower), "")
