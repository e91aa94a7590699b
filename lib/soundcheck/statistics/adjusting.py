"""Strata in which a group and the others are alike, to compare them as if both had the same of something.

Numbers, such as a signal-to-noise ratio, are cut at their quantiles; words, such as a device, are a stratum
each; two columns make the strata of their product. Within a stratum the sides still differ a little, so ten
leave about a twentieth of a difference that is all due to a number, and five about a tenth; Cochran (1968),
The effectiveness of adjustment by subclassification in removing bias in observational studies.

Conventions
-----------
- A stratum needs :data:`LEAST_SPEAKERS` speakers (blocks) on either side, or it is left out: what only one
  side has cannot be compared. The share of the group's segments in the others is its *counterpart*, the
  common support. With less than half of the group there is no comparison. The others may lose more than half:
  a group that was recorded by telephone is compared with those of the others who were, too.
- Equal numbers are in the same stratum. A number that is so frequent that two cuts fall on it, as the 0 of
  clipping, is a stratum of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pandas as pd

from soundcheck.statistics.evidence import LEAST_BLOCKS

LEAST_SPEAKERS = LEAST_BLOCKS
LEAST_COUNTERPART = 0.5
CUTS = (10, 5)  # quantile cells of a column of numbers; the latter if the former are too small
_MOST_MISSING = 0.5


@dataclasses.dataclass(frozen=True, eq=False)
class AdjustingCells:
    """Cells of segments, or why there are none."""

    codes: np.ndarray  # int64 `(N,)`; the cell of each segment from 0, -1 for those that are left out
    n_cells: int  # number of cells that are kept
    counterpart: float  # share of the group's segments that lie in a cell that is kept, from 0 to 1
    cuts: int  # into how many quantile cells a column of numbers was cut
    reason: str = ""  # why the sides cannot be compared; else `""`


def cells_of(
    columns: Mapping[str, np.ndarray],
    group: np.ndarray,
    others: np.ndarray,
    blocks: np.ndarray,
    usable: np.ndarray,
) -> AdjustingCells:
    """Put segments into cells in which a group can be compared with the others."""
    sides, names = (group & usable, others & usable), " and ".join(columns)

    def nothing(reason: str) -> AdjustingCells:
        return AdjustingCells(np.full(len(usable), -1), 0, 0.0, 0, reason)

    for name, values in columns.items():
        if reason := _why_not(name, values, sides):
            return nothing(reason)
    for cuts in CUTS:
        codes, n_cells = _product([_cells(values, sides[0] | sides[1], cuts) for values in columns.values()])
        if not n_cells:
            return nothing(f"no segment has both {names}")
        speakers = np.stack([_speakers(codes, n_cells, side, blocks) for side in sides])
        if not (speakers > 0).all(axis=0).any():
            return nothing(f"{names} {'together decide' if len(columns) > 1 else 'decides'} the group")
        enough = (speakers >= LEAST_SPEAKERS).all(axis=0)
        if enough.all():
            break
    number = np.where(enough, np.cumsum(enough) - 1, -1)
    codes = np.where(codes >= 0, number[codes], -1)
    counterpart = float((codes[sides[0]] >= 0).mean())
    reason = ""
    if not enough.any():
        reason = f"nowhere do {LEAST_SPEAKERS} speakers of either side have the same {names}"
    elif counterpart < LEAST_COUNTERPART:
        reason = f"only {100 * counterpart:.0f} % of the group have a counterpart"
    return AdjustingCells(codes, int(enough.sum()), counterpart, cuts, reason)


def _why_not(name: str, values: np.ndarray, sides: tuple[np.ndarray, np.ndarray]) -> str:
    """Say why a column by itself cannot adjust anything, ``""`` if it can."""
    known = [values[side & pd.notna(values)] for side in sides]
    for who, side, present in zip(("the group", "the others"), sides, known, strict=True):
        missing = 1 - len(present) / max(1, int(side.sum()))
        if not len(present):
            return f"{name} is not known of {who}"
        if missing > _MOST_MISSING:
            return f"{name} is missing in {100 * missing:.0f} % of {who}"
    first, second = map(set, known)
    if len(first | second) == 1:
        return f"{name} is the same for all"
    apart = first.isdisjoint(second)
    if _is_number(values):
        apart = max(first) < min(second) or max(second) < min(first)
    return f"{name} decides the group" if apart else ""


def _is_number(values: np.ndarray) -> bool:
    return np.issubdtype(values.dtype, np.number)


def _cells(values: np.ndarray, rows: np.ndarray, cuts: int) -> np.ndarray:
    """Give each value of a column its cell from 0, int64 ``(N,)``; -1 for other rows and missing values."""
    known = rows & pd.notna(values)
    if not _is_number(values):
        return np.where(known, pd.factorize(pd.Series(values, dtype=object))[0], -1)
    at = np.quantile(values[known], np.arange(1, cuts) / cuts, method="higher")  # infinite ones, too
    edges, times = np.unique(at, return_counts=True)
    edges = np.union1d(edges, np.nextafter(edges[times > 1], np.inf))
    return np.where(known, np.searchsorted(edges, values, side="right"), -1)


def _product(columns: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Give the cells that occur of several columns together; -1 where one of them has none."""
    known = np.logical_and.reduce([column >= 0 for column in columns])
    occurring, numbers = np.unique(np.stack(columns)[:, known], axis=1, return_inverse=True)
    cells = np.full(len(known), -1)
    cells[known] = numbers
    return cells, occurring.shape[1]


def _speakers(codes: np.ndarray, n_cells: int, side: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Count the speakers of a side in each cell, int64 ``(n_cells,)``."""
    rows = side & (codes >= 0)
    n_blocks = int(blocks.max(initial=0)) + 1
    pairs = np.unique(codes[rows] * n_blocks + blocks[rows])
    return np.bincount(pairs // n_blocks, minlength=n_cells)
