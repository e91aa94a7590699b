"""Prediction tables as a run writes them, given back as the answers of a model.

A run keeps the answers of each model in one Parquet table a corpus (:mod:`soundcheck.predict.tables`); such a
table, or the folder of all tables of a model, may stand behind ``predictions:`` like any other table. Its
column ``key`` names file and times of a segment, ``change`` what was done to the signal.

Conventions
-----------
- In a folder, the name of a table is that of its corpus; a single table fits any corpus.
- A row with an ``error`` is a missing answer, and its reason is kept.
- Answers for changed signals belong to the changes of the same identity, with the random draws of the run
  that wrote them.
"""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import input_error
from soundcheck.common.text_table import TextTable, parse_text_table

SUFFIX = ".parquet"


def tables_in(path: Path) -> list[Path]:
    """List the tables of a folder; empty if it is no folder or holds none."""
    return sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else []


def read_folder(path: Path, shown: str) -> TextTable:
    """Read all tables of a folder as one, with a column ``corpus``."""
    columns: dict[str, list[str]] = {}
    places: list[str] = []
    for place in tables_in(path):
        name = f"{shown.rstrip('/')}/{place.name}"
        files.require_regular(place, name)
        cells = parse_text_table(place.read_bytes(), name)
        if not is_of_run(cells):
            what = (
                "in a folder, each table must be one that a run wrote; the columns key and change are missing"
            )
            raise input_error(name, what, "Name the table itself, or remove it from the folder")
        own = cells.columns | {"corpus": [place.stem] * len(cells)}
        if columns and set(own) != set(columns):
            names = ", ".join(sorted(set(own) ^ set(columns)))
            what = f"not all tables of the folder have the same columns ({names})"
            raise input_error(name, what, "Name a folder with the tables of one model")
        columns = {column: [*columns.get(column, ()), *own[column]] for column in own}
        places += [f"{number} of {place.name}" for number in cells.places]
    return TextTable(columns, places, "row", shown)


def is_of_run(cells: TextTable) -> bool:
    """Whether a run wrote a table: it names segments by key instead of file."""
    return {"key", "change"} <= set(cells.columns) and "file" not in cells.columns


def with_places(cells: TextTable) -> TextTable:
    """Add the columns ``file``, ``start`` and ``end`` that the keys of segments stand for."""
    parts = [key.rsplit("|", 2) for key in cells.columns["key"]]
    odd = next((row for row, part in enumerate(parts) if len(part) != 3), None)
    if odd is not None:
        what = f"{cells.columns['key'][odd]!r:.60} names no segment"
        raise input_error(cells.where(odd, "key"), what, "Give answers for segments; scores go to `scores:`")
    named = dict(zip(("file", "start", "end"), map(list, zip(*parts, strict=True)), strict=True))
    return dataclasses.replace(cells, columns=cells.columns | named)


def changes_in(path: Path) -> frozenset[str]:
    """Name the changes of the signal that tables have answers for; empty if no run wrote them."""
    places = [place for place in tables_in(path) or [path] if place.is_file()]
    return frozenset().union(*(_changes(place, place.stat().st_mtime_ns) for place in places))


@functools.cache
def _changes(path: Path, _written: int) -> frozenset[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open(path, "rb") as file:
            if file.read(4) != b"PAR1":
                return frozenset()
        names = set(pq.read_schema(path).names)
        if not {"key", "change"} <= names or "file" in names:
            return frozenset()
        return frozenset(filter(None, pq.read_table(path, columns=["change"]).column(0).unique().to_pylist()))
    except (pa.ArrowException, OSError, ValueError):
        return frozenset()  # what is wrong with the table is said when it is read
