"""Pairs of recordings of the same words under different conditions.

Conventions
-----------
Two segments are partners if they have the same ``item`` (and the same ``speaker``, where there is such a
column) and different ``condition``. One condition is the base; each other one is compared with it. An item
that stands twice under a condition tells no partners; it is passed over and counted.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from soundcheck.common.escaping import quoted


@dataclasses.dataclass(frozen=True)
class Pairing:
    """All pairs of two conditions."""

    base: str  # names of the conditions
    other: str
    base_rows: np.ndarray  # rows of the segment table that are partners, in the order of the base's rows
    other_rows: np.ndarray
    notes: tuple[str, ...] = ()  # what is missing, sentences


def pairings(table: pd.DataFrame, base: str = "") -> list[Pairing]:
    """Pair the segments of a table."""
    by = [name for name in ("speaker", "item") if name in table.columns]
    known = table[[*by, "condition"]].assign(row=np.arange(len(table))).dropna(subset=["item", "condition"])
    counts = known["condition"].value_counts()
    if counts.empty:
        return []
    base = base or min(counts.index, key=lambda name: (-counts[name], name))
    known[by] = known[by].astype(object).where(known[by].notna(), "")
    repeated = known.duplicated([*by, "condition"], keep=False)
    unique = known[~repeated]
    found = []
    for other in sorted(set(counts.index) - {base}):
        both = pd.merge(
            unique[unique["condition"] == base], unique[unique["condition"] == other], on=by, how="inner"
        ).sort_values("row_x")
        notes = []
        for condition in (base, other):
            again = int((repeated & known["condition"].eq(condition)).sum())
            if again:
                notes.append(f"{again} segments under {quoted(condition)} repeat an item and are passed over")
            alone = int(counts.get(condition, 0)) - again - len(both)
            if alone:
                partner = other if condition == base else base
                what = f"{alone} of {counts.get(condition, 0)} segments under {quoted(condition)}"
                notes.append(f"{what} have no partner under {quoted(partner)}")
        rows = (both[name].to_numpy(dtype=np.int64) for name in ("row_x", "row_y"))
        found.append(Pairing(base, other, *rows, tuple(notes)))
    return found
