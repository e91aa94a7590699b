"""Puts tables of several files together, and remembers where each row stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.common.text_table import TextTable


class JoinedPlaces(Sequence):
    """Where the rows of several tables stand, each written when somebody asks for it."""

    def __init__(self, tables: Sequence[TextTable]) -> None:
        self._tables = tables
        self._ends = np.cumsum([len(table) for table in tables])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, row: int) -> str:
        which = int(np.searchsorted(self._ends, row, side="right"))
        table = self._tables[which]
        return table.where(row - int(self._ends[which]) + len(table))


def join(tables: Sequence[TextTable], shown: str) -> tuple[TextTable, JoinedPlaces]:
    """Put tables below each other; a column that one of them lacks is empty there.

    >>> one, two = TextTable({"a": ["1"]}, [2], "line", "x"), TextTable({"b": ["2"]}, [5], "line", "y")
    >>> table, places = join([one, two], "both")
    >>> table.columns, list(places)
    ({'a': ['1', ''], 'b': ['', '2']}, ['x line 2', 'y line 5'])
    """
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {
        name: [cell for table in tables for cell in table.columns.get(name, [""] * len(table))]
        for name in names
    }
    places = JoinedPlaces(tables)
    nested = {name: kind for table in tables for name, kind in table.nested.items()}
    return TextTable(columns, range(1, len(places) + 1), "row", shown, nested), places
