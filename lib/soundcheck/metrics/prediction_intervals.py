"""Whether intervals for values hold the true value as often as they promise, and how narrow they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import Columns, Statistic, numbers, ratio
from soundcheck.metrics.confidence import mean_of_known


def interval_coverage(
    truth: Sequence[float], low: Sequence[float], high: Sequence[float], above: float = 0.0
) -> Statistic:
    """Share of true values within their interval, bounds included, minus the share ``above``.

    NaN counts as a missing prediction.
    """
    truth, low, high = numbers(truth), numbers(low), numbers(high)
    inside = ((low <= truth) & (truth <= high)).astype(np.float64)
    return mean_of_known(np.where(np.isnan(truth + low + high), np.nan, inside - above))


def interval_skill(
    truth: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    usual: tuple[float, float],
    level: float,
) -> Statistic:
    r"""Compute by which share the interval score is lower than that of one interval for all values.

    .. math:: S = (h - l) + \frac{2}{1 - q} \left((l - y)^+ + (y - h)^+\right)

    for intervals that shall hold a share of :math:`q` of all values. Gneiting and Raftery (2007), Strictly
    proper scoring rules, prediction, and estimation.

    - ``truth, low, high``: float64 ``(N,)``; NaN in a bound is a missing prediction.
    - ``usual``: the interval that is compared with.
    - ``level``: the share, between 0 and 1.
    - Returns one value, 1 at best; below 0 the intervals are worse than that one.
    """
    truth, low, high = numbers(truth), numbers(low), numbers(high)
    known = ~np.isnan(truth)
    rows = known & ~np.isnan(low + high)

    def score(first: np.ndarray | float, last: np.ndarray | float) -> np.ndarray:
        outside = np.maximum(first - truth, 0.0) + np.maximum(truth - last, 0.0)
        return np.where(rows, last - first + 2 / (1 - level) * outside, 0.0)

    return Statistic(
        parts=(Columns(rows, known & ~rows, (score(low, high), score(*usual))),),
        compute=lambda sums: 1.0 - ratio(sums[..., 1:2], sums[..., 2:3]),
        count=lambda sums: sums[..., :1],
    )
