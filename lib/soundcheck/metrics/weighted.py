"""Statistics that are no functions of sums: ranks of speakers, error rates of trials.

They answer the same questions as additive statistics (a value, how many segments, why not), and for
resampling take the weight of each block in each replicate instead of sums. Each brings its own blocks,
because what is resampled is part of what it is: speakers that are ranked, speakers that trials compare.
"""

from __future__ import annotations

import abc

import numpy as np

from soundcheck.metrics.additive import Point, checked_point

__all__ = ["Weighted", "weighted_difference"]


class Weighted(abc.ABC):
    """A statistic whose replicates are computed from the weights of blocks.

    Attributes
    ----------
    labels
        Names of the ``m`` values.
    n_blocks
        Blocks to resample.
    """

    labels: tuple[str, ...]
    n_blocks: int

    @abc.abstractmethod
    def point(self) -> Point:
        """Compute the values from all data, every block once."""

    @abc.abstractmethod
    def blocks(self) -> np.ndarray:
        """Count the blocks that each value rests on, int64 ``(m,)``."""

    @abc.abstractmethod
    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of replicates.

        Parameters
        ----------
        weights
            Whole numbers ``(replicates, n_blocks)``: how often each block was drawn.

        Returns
        -------
        numpy.ndarray
            float64 ``(replicates, m)``; NaN where undefined.
        """


class _Difference(Weighted):
    def __init__(self, a: Weighted, b: Weighted) -> None:
        if a.labels != b.labels or a.n_blocks != b.n_blocks:
            raise ValueError("Only statistics with the same labels and the same blocks can be compared.")
        self.labels, self.n_blocks = a.labels, a.n_blocks
        self._a, self._b = a, b

    def point(self) -> Point:
        a, b = self._a.point(), self._b.point()
        return checked_point(
            a.value - b.value,
            a.segments,
            [x or y for x, y in zip(a.reasons, b.reasons, strict=True)],
            [x or y for x, y in zip(a.notes, b.notes, strict=True)],
        )

    def blocks(self) -> np.ndarray:
        return np.minimum(self._a.blocks(), self._b.blocks())

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        return self._a.evaluate(weights) - self._b.evaluate(weights)


def weighted_difference(a: Weighted, b: Weighted) -> Weighted:
    """Subtract: the values of ``a`` minus those of ``b``, over the same blocks and on the same replicates."""
    return _Difference(a, b)
