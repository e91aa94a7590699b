"""Statistics that are no functions of sums: ranks of speakers, error rates of trials.

They have values, counts and reasons as additive statistics do, and for resampling take the weight of each
block in each replicate instead of sums. Each brings its own blocks, because what is resampled is part of what
it is: speakers that are ranked, speakers that trials compare.
"""

import abc
import copy
import functools
import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from soundcheck.metrics.additive import HasPoint, Point, checked_point


class Weighted(HasPoint, abc.ABC):
    """A statistic whose replicates are computed from the weights of blocks."""

    labels = ("",)
    n_blocks: int  # blocks to resample
    count = 0  # of segments, or of trials, that values are computed from

    def point(self) -> Point:
        """Compute the values from all blocks, and say why there are none."""
        m, (reasons, note) = len(self.labels), self._texts()
        value = self.evaluate(np.ones((1, self.n_blocks), dtype=np.uint16))[0]
        return checked_point(value, np.full(m, self.count), reasons, [note] * m)

    def _texts(self) -> tuple[Sequence[str], str]:
        """Give reasons against the values, ``m`` texts, and a note on all of them."""
        raise NotImplementedError

    def blocks(self) -> np.ndarray:
        """Count the blocks of each value, int64 ``(m,)``."""
        return np.full(len(self.labels), self.n_blocks)

    @abc.abstractmethod
    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of replicates, float64 ``(replicates, m)``; NaN where undefined.

        ``weights`` are whole numbers ``(replicates, n_blocks)``: how often each block was drawn.
        """

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        """Give the change of each value, linearised, when one more copy of a recording is added.

        Returns float64 ``(R, m)``, and the speaker of each recording, whole numbers ``(R,)``, -1 if it takes
        no part. ``None`` where this has no meaning (ranks of speakers) or recordings are not known.
        With ``of_speakers`` the rows of a speaker add up to the change when that speaker is added once more.
        """
        return None

    def by_chance(self, weights: np.ndarray) -> np.ndarray | None:
        """Say how often values of at least 0 would be as large if nothing were wrong, float64 ``(m,)``.

        Their intervals reach down to 0 unless that is seldom. ``None``: values may lie anywhere, or their
        replicates tell.
        """
        return None


class _Linear(Weighted):
    """Sums of factors times the values of statistics over the same blocks."""

    def __init__(
        self,
        parts: Sequence[Weighted],
        labels: Sequence[str],
        factors: np.ndarray,
        segments: Callable[[np.ndarray], int],
    ) -> None:
        """Take ``factors`` ``(values of all parts, labels)``; ``segments`` makes one count of several."""
        if len({part.n_blocks for part in parts}) != 1:
            raise ValueError("Only statistics over the same blocks can be added up.")
        self.labels, self.n_blocks = tuple(labels), parts[0].n_blocks
        self._parts, self._factors, self._segments = parts, factors, segments
        self._used = [np.flatnonzero(column) for column in factors.T]  # what is not used may be undefined

    def _added(self, values: np.ndarray) -> np.ndarray:
        """Add up values ``(replicates, values of all parts)``."""
        sums = [
            sum(column[n] * values[:, n] for n in used)
            for column, used in zip(self._factors.T, self._used, strict=True)
        ]
        return np.stack(sums, axis=1)

    def point(self) -> Point:
        points = [part.point() for part in self._parts]
        values, counts = (
            np.concatenate([getattr(p, name) for p in points]) for name in ("value", "segments")
        )
        reasons, notes = (
            [next(filter(None, (texts[n] for n in used)), "") for used in self._used]
            for texts in (
                [text for p in points for text in p.reasons],
                [text for p in points for text in p.notes],
            )
        )
        segments = np.array([self._segments(counts[used]) for used in self._used])
        return checked_point(self._added(values[np.newaxis])[0], segments, reasons, notes)

    def blocks(self) -> np.ndarray:
        blocks = np.concatenate([part.blocks() for part in self._parts])
        return np.array([blocks[used].min() for used in self._used])

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        return self._added(np.concatenate([part.evaluate(weights) for part in self._parts], axis=1))

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        parts = [part.influence(of_speakers=of_speakers) for part in self._parts]
        if any(part is None for part in parts):
            return None
        values, speakers = zip(*parts, strict=True)
        return self._added(np.concatenate(values, axis=1)), np.maximum.reduce(speakers)


def _same_labels(a: Weighted, b: Weighted) -> np.ndarray:
    """Give the factors of a difference, ``(2 m, m)``."""
    if a.labels != b.labels:
        raise ValueError("Only statistics with the same labels can be compared.")
    m = len(a.labels)
    return np.concatenate([np.eye(m), -np.eye(m)])


def weighted_difference(a: Weighted, b: Weighted) -> Weighted:
    """Subtract: the values of ``a`` minus those of ``b``, over the same blocks and on the same replicates.

    >>> from soundcheck.metrics.trials import Trials
    >>> from soundcheck.metrics.verification import false_rejection_rate
    >>> trials = Trials.of([0.9, 0.2, 0.6], [True, True, False], ["a", "b", "a"], ["a", "b", "b"])
    >>> weighted_difference(false_rejection_rate(trials, 0.5), false_rejection_rate(trials, 0.1))
    Statistic(0.5)
    """
    return _Linear([a, b], a.labels, _same_labels(a, b), operator.itemgetter(0))


def weighted_sides(a: Weighted, b: Weighted) -> Weighted:
    """Put the values of ``a``, those of ``b`` and their differences beside each other, ``3 m`` values.

    >>> from soundcheck.metrics.trials import Trials
    >>> from soundcheck.metrics.verification import false_rejection_rate
    >>> trials = Trials.of([0.9, 0.2, 0.6], [True, True, False], ["a", "b", "a"], ["a", "b", "b"])
    >>> sides = [false_rejection_rate(trials, threshold) for threshold in (0.5, 0.1)]
    >>> weighted_sides(*sides)
    Statistic({'group ': 0.5, 'others ': 0.0, 'difference ': 0.5})
    """
    labels = [f"{side} {label}" for side in ("group", "others", "difference") for label in a.labels]
    factors = np.concatenate([np.eye(2 * len(a.labels)), _same_labels(a, b)], axis=1)
    return _Linear([a, b], labels, factors, operator.itemgetter(0))


def weighted_sums(terms: Mapping[str, Sequence[tuple[float, Weighted]]]) -> Weighted:
    """Add up: for each label the sum of factors times single values, on the same replicates.

    - ``terms``: label -> factors other than 0 and statistics with one value, all over the same blocks. A
      statistic that several sums use is computed once.

    >>> from soundcheck.metrics.trials import Trials
    >>> from soundcheck.metrics.verification import false_rejection_rate
    >>> trials = Trials.of([0.9, 0.2, 0.6], [True, True, False], ["a", "b", "a"], ["a", "b", "b"])
    >>> half = (0.5, false_rejection_rate(trials, 0.5))
    >>> weighted_sums({"": [half, half]})
    Statistic(0.5)
    """
    parts = list({id(part): part for pairs in terms.values() for _, part in pairs}.values())
    if any(len(part.labels) != 1 for part in parts):
        raise ValueError("Only single values can be added up.")
    factors = np.zeros((len(parts), len(terms)))
    for column, pairs in zip(factors.T, terms.values(), strict=True):
        for factor, part in pairs:
            column[next(n for n, known in enumerate(parts) if known is part)] += factor
    return _Linear(parts, terms, factors, np.min)


def memoised(statistic: Weighted) -> Weighted:
    """Remember the value and the last replicates of a statistic that several others are made of.

    >>> from soundcheck.metrics.trials import Trials
    >>> from soundcheck.metrics.verification import false_rejection_rate
    >>> trials = Trials.of([0.9, 0.2, 0.6], [True, True, False], ["a", "b", "a"], ["a", "b", "b"])
    >>> memoised(false_rejection_rate(trials, 0.5))
    Statistic(0.5)
    """
    remembered, known = copy.copy(statistic), {}

    def evaluate(weights: np.ndarray) -> np.ndarray:
        before, replicates = known.get(weights.shape, (None, None))
        if before is None or not np.array_equal(before, weights):
            replicates = statistic.evaluate(weights)
            known[weights.shape] = weights, replicates
        return replicates

    remembered.point, remembered.evaluate = functools.cache(statistic.point), evaluate
    return remembered
