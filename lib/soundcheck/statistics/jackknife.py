"""Intervals without draws: each block left out once.

For sentences about what a figure shows, where a bootstrap of each number would take too long. The interval is
that of Student's t with one degree of freedom less than there are blocks.

Efron and Stein (1981), The jackknife estimate of variance. For many blocks several are left out at a time:
Kott (2001), The delete-a-group jackknife.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import scipy  # scipy.special is loaded when first used: it takes a quarter of a second

from soundcheck.statistics.evidence import LEAST_BLOCKS

MOST_GROUPS = 60


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number with its interval; NaN where nothing is known."""

    value: float
    low: float
    high: float

    def lies_apart(self, other: float = 0.0) -> bool:
        """Say whether the interval does not hold a number."""
        return bool(self.low > other or self.high < other)


def jackknife(
    statistic: Callable[[np.ndarray], float], blocks: np.ndarray, level: float = 0.95, looks: int = 1
) -> Estimate:
    """Compute a number and its interval.

    Parameters
    ----------
    statistic
        Gives the number for some rows, bool ``(N,)``; NaN if it is not defined for them.
    blocks
        Block of each row, integers ``(N,)``; rows of one block are left out together.
    level
        Probability, 0.95 for a 95 % interval.
    looks
        How many such numbers the largest is chosen from: all intervals hold together then (Bonferroni).

    Returns
    -------
    Estimate
        Without interval below 5 blocks, or where the number is not defined without some block.

    Examples
    --------
    >>> values = np.arange(10.0)
    >>> found = jackknife(lambda rows: values[rows].mean(), np.arange(10))
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (4.5, 2.33, 6.67)
    """
    everything = np.ones(len(blocks), dtype=bool)
    value = float(statistic(everything)) if len(blocks) else np.nan
    names, codes = np.unique(blocks, return_inverse=True)
    groups = min(len(names), MOST_GROUPS)
    if len(names) < LEAST_BLOCKS or not np.isfinite(value):
        return Estimate(value, np.nan, np.nan)
    codes = codes % groups
    without = np.array([statistic(codes != group) for group in range(groups)], dtype=float)
    error = np.sqrt((groups - 1) / groups * np.sum((without - without.mean()) ** 2))
    reach = float(scipy.special.stdtrit(groups - 1, 1 - (1 - level) / (2 * max(1, looks))) * error)
    return Estimate(value, value - reach, value + reach)
