"""Reads a suite's file of synonyms: phrases that count as the same in transcripts.

Conventions
-----------
- A CSV file with the columns ``phrase`` and ``synonym``, one pair a row, in UTF-8. Either may stand for the
  other, and for all that the other may stand for.
- Phrases go through the suite's normaliser before they are compared.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from soundcheck.common.errors import Problems
from soundcheck.common.escaping import quoted
from soundcheck.metrics.alternatives import synonym_sets

__all__ = ["read_synonyms"]

COLUMNS = ["phrase", "synonym"]
_LARGEST = 10_000_000  # bytes
_EXAMPLE = "Write phrase,synonym in the first row and pairs such as gonna,going to below"


def read_synonyms(
    path: Path, shown: str, normalise: Callable[[str], str], problems: Problems
) -> tuple[tuple[str, str], ...]:
    """Read and check a file of synonyms.

    Parameters
    ----------
    path
        The file.
    shown
        How messages call it.
    normalise
        The suite's normaliser.
    problems
        Takes what is wrong: no such file, other columns, an empty side, a pair that rows before say already,
        which makes a circle.

    Returns
    -------
    tuple of tuple of str
        The pairs as written.
    """
    try:
        if path.stat().st_size > _LARGEST:
            problems.add(shown, "the file is larger than 10 MB", "Name a file of synonyms")
            return ()
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(reader.line_num, row) for reader in (csv.reader(file, strict=True),) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        what = (
            "there is no such file" if isinstance(error, FileNotFoundError) else f"it cannot be read: {error}"
        )
        problems.add(shown, what, _EXAMPLE)
        return ()
    if not rows or [name.strip() for name in rows[0][1]] != COLUMNS:
        problems.add(f"{shown}:1", "the columns are not phrase and synonym", _EXAMPLE)
        return ()
    pairs: list[tuple[str, str]] = []
    places: list[str] = []
    for line, row in rows[1:]:
        where = f"{shown}:{line}"
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(COLUMNS):
            problems.add(where, f"there are {len(row)} cells, not 2", "Put phrases with commas in quotes")
            continue
        empty = [name for name, cell in zip(COLUMNS, row, strict=True) if not normalise(cell).strip()]
        if empty:
            what = f"the {empty[0]} is empty" + (" once it is normalised" if all(row) else "")
            problems.add(where, what, "Write a phrase on both sides, or remove the row")
            continue
        pairs.append((row[0], row[1]))
        places.append(where)
    try:
        synonym_sets([(normalise(one), normalise(other)) for one, other in pairs])
    except ValueError as error:
        place = error.args[0]
        one, other = map(quoted, pairs[place])
        what = f"{one} and {other} are the same already by rows before, which makes a circle"
        problems.add(places[place], what, "Remove the row")
    return tuple(pairs)
