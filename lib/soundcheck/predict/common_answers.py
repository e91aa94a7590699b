"""What two models both answered: prediction tables without the answers that only one of them gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_ABOUT_ROWS = {"key", "change", "error", "drawn"}  # all other columns are answers


def reduced(own: Path, other: Path) -> tuple[pa.Table, set[str]]:
    """Take those answers out of a prediction table that another model did not give.

    Answers under changes that the other model was not asked about stay. Also gives the names of the columns
    that lost answers.
    """
    table, partner = pq.read_table(own), pq.read_table(other)
    shared = {*table.column_names} & {*partner.column_names} - _ABOUT_ROWS
    absent = {name: _absent(partner.column(name)) for name in shared}
    lost: set[str] = set()
    if any(missing.any() for missing in absent.values()):
        rows, known = (
            pd.MultiIndex.from_frame(one.select(["key", "change"]).to_pandas()) for one in (table, partner)
        )
        place = known.get_indexer(rows)  # -1, the last one, where the partner has no such row
        asked = rows.isin(known.unique("change"), level="change")
        for name, missing in absent.items():
            taken = asked & np.append(missing, True)[place]
            if (taken & ~_absent(table.column(name))).any():
                lost.add(name)
                kept = table.column(name).take(pa.array(np.arange(len(table)), mask=taken))
                table = table.set_column(table.column_names.index(name), name, kept)
    return table, lost


def differ(first: Path, second: Path) -> bool:
    """Whether two models answered for different segments, or in ways that have no answer in common."""
    shared = {*pq.read_schema(first).names} & {*pq.read_schema(second).names} - _ABOUT_ROWS
    return not shared or any(reduced(*pair)[1] for pair in ((first, second), (second, first)))


def _absent(column: pa.ChunkedArray) -> np.ndarray:
    return pc.is_null(column, nan_is_null=True).to_numpy()
