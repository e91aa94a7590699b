"""What two models both answered: prediction tables without the answers that only one of them gave.

An input that a recogniser was asked about in vain is answered, with an empty transcript, unless the suite
leaves it out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from soundcheck.models.answers import NOT_ASKED

_ABOUT_ROWS = {"key", "change", "error", "drawn"}  # all other columns are answers
_TRANSCRIPT = "transcript"
_BY_OTHER = pa.scalar(f"{NOT_ASKED}: the other model has no answer")


def reduced(own: Path, other: Path, counted: tuple[bool, bool] = (True, True)) -> tuple[pa.Table, set[str]]:
    """Take those answers out of a prediction table that another model did not give.

    Answers under changes that the other model was not asked about stay. Also gives the names of the columns
    that lost answers. ``counted`` says of both models whether inputs without an answer count as errors.
    """
    table, partner = pq.read_table(own), pq.read_table(other)
    shared = {*table.column_names} & {*partner.column_names} - _ABOUT_ROWS
    absent = {name: _absent(partner, name, counted[1]) for name in shared}
    lost: set[str] = set()
    if any(missing.any() for missing in absent.values()):
        rows, known = (
            pd.MultiIndex.from_frame(one.select(["key", "change"]).to_pandas()) for one in (table, partner)
        )
        place = known.get_indexer(rows)  # -1, the last one, where the partner has no such row
        asked = rows.isin(known.unique("change"), level="change")
        for name, missing in absent.items():
            taken = asked & np.append(missing, True)[place]
            if (taken & ~_absent(table, name, counted[0])).any():
                lost.add(name)
                kept = table.column(name).take(pa.array(np.arange(len(table)), mask=taken))
                table = table.set_column(table.column_names.index(name), name, kept)
                if name == _TRANSCRIPT:  # else what has no answer would count as an error here
                    silent = pc.and_(pa.array(taken), pc.not_equal(table.column("error"), ""))
                    error = pc.if_else(silent, _BY_OTHER, table.column("error"))
                    table = table.set_column(table.column_names.index("error"), "error", error)
    return table, lost


def differ(first: Path, second: Path, counted: tuple[bool, bool] = (True, True)) -> bool:
    """Whether two models answered for different segments, or in ways that have no answer in common."""
    shared = {*pq.read_schema(first).names} & {*pq.read_schema(second).names} - _ABOUT_ROWS
    return (
        not shared
        or bool(reduced(first, second, counted)[1])
        or bool(reduced(second, first, counted[::-1])[1])
    )


def _absent(table: pa.Table, name: str, counted: bool) -> np.ndarray:
    absent = pc.is_null(table.column(name), nan_is_null=True)
    if counted and name == _TRANSCRIPT:
        error = table.column("error")
        absent = pc.and_(absent, pc.or_(pc.equal(error, ""), pc.starts_with(error, NOT_ASKED)))
    return absent.to_numpy()
