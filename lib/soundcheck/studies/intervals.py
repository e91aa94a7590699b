"""Intervals and verdicts of many data sets that have the same truth.

Conventions
-----------
- A data set is drawn by a function of a generator. Data and draws of blocks follow from the seed and the
  name of the study alone; the first data sets are the same whatever their number.
- 50 data sets share the draws of blocks, so that the error of 1000 draws averages out over a study.
- A study of ``T`` data sets knows a coverage near 95 % up to :func:`monte_carlo_error`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import stats

from soundcheck.common import seeds
from soundcheck.metrics.additive import Statistic, ratio
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics.bootstrap import KINDS, LEVEL, REPLICATES, Resampled, resample_all

__all__ = [
    "Calibration",
    "Intervals",
    "calibration",
    "coverage",
    "intervals",
    "monte_carlo_error",
    "resampled",
]

BATCH = 50  # data sets that share the draws of blocks

Make = Callable[[np.random.Generator], Statistic | Weighted]


def monte_carlo_error(data_sets: int, level: float = LEVEL) -> float:
    """Give the standard error of a coverage near ``level`` that so many data sets estimate."""
    return float(np.sqrt(level * (1 - level) / data_sets))


def resampled(
    make: Make, blocks: Sequence[np.ndarray], data_sets: int, replicates: int, seed: int, purpose: object
) -> Iterator[tuple[Resampled, ...]]:
    """Draw data sets and resample each, once for each way of dividing it into blocks.

    Parameters
    ----------
    make
        Draws a data set with a generator and gives its statistic over ``N`` segments.
    blocks
        Ways of dividing the segments, each integers ``(N,)``.
    data_sets
        How many to draw.
    replicates, seed
        See :func:`soundcheck.statistics.bootstrap.resample`.
    purpose
        Names the study; studies with different names draw different data.

    Yields
    ------
    tuple of Resampled
        One data set's results, one for each way.
    """
    data = seeds.generator(seed, "study", "data", purpose)
    draws = seeds.generator(seed, "study", "draws", purpose)
    for start in range(0, data_sets, BATCH):
        statistics = [make(data) for _ in range(min(BATCH, data_sets - start))]
        draw = int(draws.integers(2**63))
        yield from zip(*(resample_all(statistics, each, replicates, draw) for each in blocks), strict=True)


@dataclasses.dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of a value in data sets that have the same truth; arrays ``(data_sets,)``.

    Parameters
    ----------
    true
        What the intervals ought to hold.
    value
        The value in each data set.
    low, high
        Bounds; NaN where the interval is withheld.
    """

    true: float
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def first(self, count: int = 50) -> Intervals:
        """Keep the first data sets, as many as a figure can show."""
        return Intervals(self.true, self.value[:count], self.low[:count], self.high[:count])

    @property
    def withheld(self) -> float:
        """Share of data sets without an interval."""
        return float(np.isnan(self.low).mean())

    @property
    def coverage(self) -> float:
        """Share of the intervals that hold the truth; NaN if all are withheld."""
        there = ~np.isnan(self.low)
        holds = (self.low <= self.true) & (self.true <= self.high)
        return float(ratio(holds.sum(), there.sum()))

    @property
    def width(self) -> float:
        """Mean width; NaN if all are withheld."""
        there = ~np.isnan(self.low)
        return float(ratio((self.high - self.low)[there].sum(), there.sum()))


def intervals(true: float, found: Sequence[Resampled], kind: str, label: int = 0) -> Intervals:
    """Collect the intervals of one label from resampled data sets."""
    low, high = np.array([each.interval(kind) for each in found])[..., label].T
    return Intervals(true, np.array([each.value[label] for each in found]), low, high)


def coverage(
    make: Make,
    true: float,
    blocks: np.ndarray,
    data_sets: int,
    *,
    label: int = 0,
    kinds: Sequence[str] = KINDS,
    replicates: int = REPLICATES,
    seed: int = 0,
    purpose: object = "",
) -> dict[str, Intervals]:
    """Compute the intervals of many data sets.

    Parameters
    ----------
    make, data_sets, replicates, seed, purpose
        See :func:`resampled`.
    true
        The true value.
    blocks
        Block of each segment, ``(N,)``.
    label
        Which of the statistic's values is studied.
    kinds
        Kinds of interval, see :func:`soundcheck.statistics.bootstrap.interval`.

    Returns
    -------
    dict
        Kind -> :class:`Intervals`.
    """
    found = [each for (each,) in resampled(make, [blocks], data_sets, replicates, seed, purpose)]
    return {kind: intervals(true, found, kind, label) for kind in kinds}


@dataclasses.dataclass(frozen=True, eq=False)
class Calibration:
    """What verdicts say if the truth lies exactly on the threshold.

    Parameters
    ----------
    passing
        Share of replicates that pass, one a data set; ideally uniform on 0 to 1.
    inconclusive
        Share of data sets whose interval holds the threshold; ideally the level of the interval.
    """

    passing: np.ndarray
    inconclusive: float

    @property
    def p_value(self) -> float:
        """Probability of shares at least as far from uniform (Kolmogorov-Smirnov) if they are uniform."""
        return float(stats.kstest(self.passing, "uniform").pvalue)


def calibration(
    make: Make,
    threshold: float,
    blocks: np.ndarray,
    data_sets: int,
    *,
    label: int = 0,
    rule: str = ">",
    replicates: int = REPLICATES,
    seed: int = 0,
    purpose: object = "",
) -> Calibration:
    """Judge many data sets whose true value is the threshold.

    Parameters
    ----------
    make, data_sets, replicates, seed, purpose
        See :func:`resampled`.
    threshold
        The threshold, which is also the true value.
    blocks
        Block of each segment, ``(N,)``.
    label
        Which of the statistic's values is judged.
    rule
        See :func:`soundcheck.statistics.rules.passes`.
    """
    found = [each for (each,) in resampled(make, [blocks], data_sets, replicates, seed, purpose)]
    return Calibration(
        np.array([each.certainty(label, rule, threshold, passed=True) for each in found]),
        intervals(threshold, found, "percentile", label).coverage,
    )
