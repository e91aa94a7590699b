"""What two models both answered: prediction tables without the answers that only one of them gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["differ", "reduced"]

_ABOUT_ROWS = {"key", "change", "error", "drawn"}  # all other columns are answers


def reduced(own: Path, other: Path) -> tuple[pa.Table, set[str]]:
    """Take those answers out of a prediction table that another model did not give.

    Answers under changes that the other model was not asked about stay.

    Returns
    -------
    pyarrow.Table
        The table.
    set of str
        Names of the columns that lost answers.
    """
    table, partner = pq.read_table(own), pq.read_table(other)
    absent = {name: _absent(partner.column(name)) for name in _answers(table, partner)}
    absent = {name: missing for name, missing in absent.items() if missing.any()}
    lost: set[str] = set()
    if not absent:
        return table, lost
    rows, known = (
        pd.MultiIndex.from_frame(t.select(["key", "change"]).to_pandas()) for t in (table, partner)
    )
    place = known.get_indexer(rows)  # -1, the last one, where the partner has no such row
    asked = rows.isin(known.unique("change"), level="change")
    for name, missing in absent.items():
        taken = asked & np.append(missing, True)[place]
        column = table.column(name)
        if (taken & ~_absent(column)).any():
            lost.add(name)
            kept = column.take(pa.array(np.arange(len(table)), mask=taken))
            table = table.set_column(table.column_names.index(name), name, kept)
    return table, lost


def differ(first: Path, second: Path) -> bool:
    """Whether two models answered for different segments, or in ways that have no answer in common."""
    tables = (pq.read_schema(path) for path in (first, second))
    return not _answers(*tables) or bool(reduced(first, second)[1] or reduced(second, first)[1])


def _answers(table: pa.Table | pa.Schema, partner: pa.Table | pa.Schema) -> list[str]:
    own, others = (getattr(one, "column_names", None) or one.names for one in (table, partner))
    return [name for name in own if name in others and name not in _ABOUT_ROWS]


def _absent(column: pa.ChunkedArray) -> np.ndarray:
    return pc.is_null(column, nan_is_null=True).to_numpy()
