"""The adjusted gap of a group: what is left of its gap if the others had the same noise, or the same device.

It stands beside the plain gap and no verdict rests on it. How segments are put into cells is in
:mod:`soundcheck.statistics.adjusting`, how the two sides are weighted in
:mod:`soundcheck.metrics.combinators`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from soundcheck.evaluation.conclusions import GroupGap, Resample
from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.additive import Statistic, round_significant
from soundcheck.metrics.combinators import MOST_SUMS, restrict, standardised_difference
from soundcheck.results.verdict import NOT_ADJUSTED, Verdict
from soundcheck.statistics.adjusting import cells_of
from soundcheck.statistics.evidence import LEAST_BLOCKS, interval
from soundcheck.suite.groups import number_of


@dataclasses.dataclass(frozen=True, eq=False)
class Adjusted:
    """Adjusted gaps of a group, one a label, ``m`` in all."""

    value: np.ndarray  # the gaps and their intervals, float64 ``(m,)``; NaN where there is none
    low: np.ndarray
    high: np.ndarray
    # share of the group's segments that others can be compared with, NaN if there are none
    counterpart: float
    texts: tuple[str, ...]  # what each is adjusted by, or ``"none: "`` and why there is no value


def adjusting_columns(subset: Subset, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Give the columns to adjust by under the names that a suite gives them."""
    found = {}
    for name in names:
        column = subset.segments[name]
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = column.astype(object).where(column.notna(), None).to_numpy(dtype=object)
        found[name.removesuffix(number_of(""))] = values
    return found


def adjusted_gap(
    gap: GroupGap, subset: Subset, columns: Mapping[str, np.ndarray], resample: Resample, kind: str
) -> Adjusted:
    """Compute the gap of a group as if it and the others had the same of some columns."""
    base = gap.base(subset, subset.predictions)
    m = len(base.labels)
    cells = cells_of(columns, gap.group, gap.others, subset.blocks, base.rows)
    counterpart = cells.counterpart if cells.n_cells else np.nan
    reason = cells.reason
    if not reason and 2 * cells.n_cells * base.size > MOST_SUMS:
        reason = f"{cells.n_cells} cells are too many for so many classes"
    value, low, high = np.full((3, m), np.nan)
    if reason:
        return Adjusted(value, low, high, counterpart, (f"{NOT_ADJUSTED}{reason}",) * m)
    found = resample(
        standardised_difference(base, gap.group, gap.others, cells.codes, cells.n_cells), subset.blocks
    )
    blocks = _smaller_side(base, [own & (cells.codes >= 0) for own in (gap.group, gap.others)], subset.blocks)
    texts = []
    for n, why in enumerate(found.reasons):
        texts.append(f"{NOT_ADJUSTED}{why}" if why else ", ".join(columns))
        value[n] = found.value[n]
        if why or found.withheld[n] or blocks[n] < LEAST_BLOCKS:
            continue
        bounds = interval(found.replicates[:, n], kind, blocks=int(blocks[n]), value=found.value[n])
        if bounds[0] < bounds[1]:
            low[n], high[n] = round_significant(np.array(bounds))
    return Adjusted(value, low, high, counterpart, tuple(texts))


def _smaller_side(base: Statistic, sides: Sequence[np.ndarray], blocks: np.ndarray) -> np.ndarray:
    """Count the blocks that contribute on the side that has fewer, int64 ``(m,)``."""
    n_blocks = int(blocks.max(initial=-1)) + 1
    counts = [base.count(restrict(base, rows).block_sums(blocks, n_blocks)) for rows in sides]
    return np.minimum(*((own > 0).sum(axis=0) for own in counts))


def with_adjusted(
    verdicts: Sequence[Verdict],
    gap: GroupGap,
    subset: Subset,
    names: Sequence[str],
    resample: Resample,
    kind: str,
) -> list[Verdict]:
    """Add the adjusted gap to the rows of a group that have a plain one."""
    if all(verdict.gap is None for verdict in verdicts):
        return list(verdicts)
    columns = adjusting_columns(subset, names)
    own = verdicts[0].group.partition(": ")[0]
    if own in columns:  # ranges of a number: where two meet, a cell would hold some of both
        why = f"{NOT_ADJUSTED}{own} decides the group"
        return [v if v.gap is None else dataclasses.replace(v, adjusted_by=why) for v in verdicts]
    adjusted = adjusted_gap(gap, subset, columns, resample, kind)
    return [
        verdict if verdict.gap is None else _with(verdict, n, adjusted) for n, verdict in enumerate(verdicts)
    ]


def _with(verdict: Verdict, n: int, adjusted: Adjusted) -> Verdict:
    return dataclasses.replace(
        verdict,
        adjusted=_some(adjusted.value[n]),
        adjusted_low=_some(adjusted.low[n]),
        adjusted_high=_some(adjusted.high[n]),
        counterpart=_some(round_significant(adjusted.counterpart)),
        adjusted_by=adjusted.texts[n],
    )


def _some(number: float) -> float | None:
    return None if pd.isna(number) else float(number)
