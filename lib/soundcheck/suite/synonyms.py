"""Reads a suite's file of synonyms: phrases that count as the same in transcripts.

Conventions
-----------
- A CSV file with the columns ``phrase`` and ``synonym``, one pair a row, in UTF-8. Either may stand for the
  other, and for all that the other may stand for.
- Phrases go through the suite's normaliser before they are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from soundcheck.common.errors import InputError, Problems
from soundcheck.common.escaping import quoted
from soundcheck.common.text_table import read_text_table
from soundcheck.metrics.alternatives import synonym_sets

COLUMNS = ["phrase", "synonym"]
_RULES = ("=>", "|")  # of sclite's and fstalign's files
_EXAMPLE = "Write phrase,synonym in the first row and pairs such as gonna,going to below"


def read_synonyms(
    path: Path, shown: str, normalise: Callable[[str], str], problems: Problems
) -> tuple[tuple[str, str], ...]:
    """Read and check a file of synonyms.

    - ``problems``: takes what is wrong: no such file, other columns, an empty side, a pair that rows before
      say already, which makes a circle.
    """
    try:
        table = read_text_table(path, shown)
    except InputError as error:
        if path.is_file() and any(sign in path.read_text("utf-8", "replace") for sign in _RULES):
            what = "rules such as those of sclite (a => b) and fstalign (a | b) are not read"
            problems.add(shown, what, _EXAMPLE)
        elif path.is_file() and not path.read_bytes().strip():
            problems.add(shown, "the file is empty", _EXAMPLE)
        else:
            problems.extend(error)
        return ()
    if list(table.columns) != COLUMNS:
        problems.add(table.header, "the columns are not phrase and synonym", _EXAMPLE)
        return ()
    pairs: list[tuple[str, str]] = []
    places: list[str] = []
    for n, pair in enumerate(zip(*table.columns.values(), strict=True)):
        empty = [name for name, cell in zip(COLUMNS, pair, strict=True) if not normalise(cell).strip()]
        if empty:
            what = "it is empty" + (" once it is normalised" if all(pair) else "")
            problems.add(table.where(n, empty[0]), what, "Write a phrase on both sides, or remove the row")
            continue
        pairs.append(pair)
        places.append(table.where(n))
    try:
        synonym_sets([(normalise(one), normalise(other)) for one, other in pairs])
    except ValueError as error:
        place = error.args[0]
        one, other = map(quoted, pairs[place])
        alike = normalise(pairs[place][0]) == normalise(pairs[place][1])
        why = "once they are normalised" if alike else "by rows before, which makes a circle"
        what = f"{one} and {other} are the same already {why}"
        problems.add(places[place], what, "Remove the row")
    return tuple(pairs)
