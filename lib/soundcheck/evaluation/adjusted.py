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


def adjusting_columns(subset: Subset, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Give the columns to adjust by under the names that a suite gives them."""
    result = {}
    for name in names:
        column = subset.segments[name]
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = column.astype(object).where(column.notna(), None).to_numpy(dtype=object)
        result[name.removesuffix(number_of(""))] = values
    return result


def adjusted_gap(
    gap: GroupGap, subset: Subset, columns: Mapping[str, np.ndarray], resample: Resample, kind: str
) -> list[dict[str, float | str | None]]:
    """Compute the gap of a group as if it and the others had the same of some columns: cells, one a label.

    ``counterpart`` is the share of the group's segments that others can be compared with.
    """
    base = gap.base(subset, subset.predictions)
    cells = cells_of(columns, gap.group, gap.others, subset.blocks, base.rows)
    reason, counterpart = cells.reason, cells.counterpart if cells.n_cells else np.nan
    if not reason and 2 * cells.n_cells * base.size > MOST_SUMS:
        reason = f"{cells.n_cells} cells are too many for so many classes"
    rows: list[dict] = [{"counterpart": _some(round_significant(counterpart))} for _ in base.labels]
    if reason:
        return [row | {"adjusted_by": f"{NOT_ADJUSTED}{reason}"} for row in rows]
    statistic = standardised_difference(base, gap.group, gap.others, cells.codes, cells.n_cells)
    resampled = resample(statistic, subset.blocks)
    blocks = _smaller_side(base, [own & (cells.codes >= 0) for own in (gap.group, gap.others)], subset.blocks)
    for n, (row, why) in enumerate(zip(rows, resampled.reasons, strict=True)):
        row["adjusted"] = _some(resampled.value[n])
        row["adjusted_by"] = f"{NOT_ADJUSTED}{why}" if why else ", ".join(columns)
        if why or resampled.withheld[n] or blocks[n] < LEAST_BLOCKS:
            continue
        bounds = interval(resampled.replicates[:, n], kind, blocks=int(blocks[n]), value=resampled.value[n])
        if bounds[0] < bounds[1]:
            row["adjusted_low"], row["adjusted_high"] = map(_some, round_significant(np.array(bounds)))
    return rows


def _smaller_side(base: Statistic, sides: Sequence[np.ndarray], blocks: np.ndarray) -> np.ndarray:
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
    columns, own = adjusting_columns(subset, names), verdicts[0].group.partition(": ")[0]
    if own in columns:  # ranges of a number: where two meet, a cell would hold some of both
        rows = [{"adjusted_by": f"{NOT_ADJUSTED}{own} decides the group"}] * len(verdicts)
    else:
        rows = adjusted_gap(gap, subset, columns, resample, kind)
    pairs = zip(verdicts, rows, strict=True)
    return [verdict if verdict.gap is None else dataclasses.replace(verdict, **row) for verdict, row in pairs]


def _some(number: float) -> float | None:
    return None if pd.isna(number) else float(number)
