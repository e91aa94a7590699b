"""Statistics that are no functions of sums: ranks of speakers, error rates of trials.

They answer the same questions as additive statistics (a value, how many segments, why not), and for
resampling take the weight of each block in each replicate instead of sums. Each brings its own blocks,
because what is resampled is part of what it is: speakers that are ranked, speakers that trials compare.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence

import numpy as np

from soundcheck.metrics.additive import Point, checked_point


class Weighted(abc.ABC):
    """A statistic whose replicates are computed from the weights of blocks."""

    labels: tuple[str, ...]  # names of the ``m`` values
    n_blocks: int  # blocks to resample

    @abc.abstractmethod
    def point(self) -> Point:
        """Compute the values from all data, every block once."""

    @abc.abstractmethod
    def blocks(self) -> np.ndarray:
        """Count the blocks that each value rests on, int64 ``(m,)``."""

    @abc.abstractmethod
    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of replicates.

        - ``weights``: whole numbers ``(replicates, n_blocks)``: how often each block was drawn.
        - Returns float64 ``(replicates, m)``; NaN where undefined.
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


def _influences(parts: Sequence[Weighted], of_speakers: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Put the influence values of statistics over the same recordings side by side."""
    found = [part.influence(of_speakers=of_speakers) for part in parts]
    if any(own is None for own in found):
        return None
    values, speakers = zip(*found, strict=True)
    return np.concatenate(values, axis=1), np.maximum.reduce(speakers)


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

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        both = _influences([self._a, self._b], of_speakers)
        return both and (np.subtract(*np.split(both[0], 2, axis=1)), both[1])


def weighted_difference(a: Weighted, b: Weighted) -> Weighted:
    """Subtract: the values of ``a`` minus those of ``b``, over the same blocks and on the same replicates."""
    return _Difference(a, b)


class _Sides(_Difference):
    def __init__(self, a: Weighted, b: Weighted) -> None:
        super().__init__(a, b)
        kinds = ("group", "others", "difference")
        self.labels = tuple(f"{side} {label}" for side in kinds for label in a.labels)

    def point(self) -> Point:
        found = [self._a.point(), self._b.point(), super().point()]
        return Point(
            *(np.concatenate([getattr(one, name) for one in found]) for name in ("value", "segments")),
            *(tuple(text for one in found for text in getattr(one, name)) for name in ("reasons", "notes")),
        )

    def blocks(self) -> np.ndarray:
        return np.concatenate([self._a.blocks(), self._b.blocks(), super().blocks()])

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        one, other = self._a.evaluate(weights), self._b.evaluate(weights)
        return np.concatenate([one, other, one - other], axis=1)

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        both = _influences([self._a, self._b], of_speakers)
        if both is None:
            return None
        one, other = np.split(both[0], 2, axis=1)
        return np.concatenate([one, other, one - other], axis=1), both[1]


def weighted_sides(a: Weighted, b: Weighted) -> Weighted:
    """Put the values of ``a``, those of ``b`` and their differences beside each other, ``3 m`` values."""
    return _Sides(a, b)


class _Sums(Weighted):
    def __init__(self, terms: Mapping[str, Sequence[tuple[float, Weighted]]]) -> None:
        parts = {id(part): part for own in terms.values() for _, part in own}
        self._parts = list(parts.values())
        if len({part.n_blocks for part in self._parts}) != 1 or any(len(p.labels) != 1 for p in self._parts):
            raise ValueError("Only single values over the same blocks can be added up.")
        self.labels, self.n_blocks = tuple(terms), self._parts[0].n_blocks
        place = {key: n for n, key in enumerate(parts)}
        self._factors = np.zeros((len(parts), len(terms)))
        for column, own in enumerate(terms.values()):
            for factor, part in own:
                self._factors[place[id(part)], column] += factor
        self._used = self._factors != 0

    def _added(self, values: np.ndarray) -> np.ndarray:
        """Add up values ``(replicates, parts)``; what a sum does not use may be undefined."""
        sums = [
            sum(factor * values[:, n] for n, factor in enumerate(own) if factor) for own in self._factors.T
        ]
        return np.stack(sums, axis=1)

    def point(self) -> Point:
        found = [part.point() for part in self._parts]
        of_parts = [np.flatnonzero(used) for used in self._used.T]
        reasons, notes = (
            [next((texts[n] for n in own if texts[n]), "") for own in of_parts]
            for texts in ([p.reasons[0] for p in found], [p.notes[0] for p in found])
        )
        segments = np.array([min(found[n].segments[0] for n in own) for own in of_parts])
        values = np.array([[p.value[0] for p in found]])
        return checked_point(self._added(values)[0], segments, reasons, notes)

    def blocks(self) -> np.ndarray:
        each = np.array([part.blocks()[0] for part in self._parts])
        return np.array([each[used].min() for used in self._used.T])

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        return self._added(np.concatenate([part.evaluate(weights) for part in self._parts], axis=1))

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        parts = _influences(self._parts, of_speakers)
        return parts and (self._added(parts[0]), parts[1])


def weighted_sums(terms: Mapping[str, Sequence[tuple[float, Weighted]]]) -> Weighted:
    """Add up: for each label the sum of factors times single values, on the same replicates.

    - ``terms``: label -> factors other than 0 and statistics with one value, all over the same blocks. A
      statistic that several sums use is computed once.
    - Raises ValueError: if a statistic has several values, or blocks differ.
    """
    return _Sums(terms)


class Remembered(Weighted):
    """A statistic that several others are made of: its value and its last replicates are kept."""

    def __init__(self, statistic: Weighted) -> None:
        self.labels, self.n_blocks = statistic.labels, statistic.n_blocks
        self._statistic = statistic
        self._known: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        self._point: Point | None = None

    def point(self) -> Point:
        """Compute the values from all data, once."""
        if self._point is None:
            self._point = self._statistic.point()
        return self._point

    def blocks(self) -> np.ndarray:
        """Count the blocks of each value."""
        return self._statistic.blocks()

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
        """Give the influence values of recordings."""
        return self._statistic.influence(of_speakers=of_speakers)

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        """Compute the values of replicates, or give those that are known for the same weights."""
        before, found = self._known.get(weights.shape, (None, None))
        if before is None or not np.array_equal(before, weights):
            found = self._statistic.evaluate(weights)
            self._known[weights.shape] = weights, found
        return found
