"""Whether models know how sure they may be: confidences against what is right.

Naeini, Cooper and Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning. Geifman
and El-Yaniv (2017), Selective classification for deep neural networks.

Conventions
-----------
- A *confidence* is the probability from 0 to 1 that an answer is right; ``correct`` is 1 where it is and 0
  where it is not. NaN in either leaves the segment out; it counts as a missing prediction.
- *Equal-mass bins* hold the same number of segments each, but for equal confidences, which share a bin. Their
  edges come from all segments and stay in replicates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from soundcheck.metrics.additive import (
    Columns,
    Point,
    Statistic,
    checked_point,
    missing_predictions,
    numbers,
    ratio,
    same_length,
)
from soundcheck.metrics.weighted import Weighted

BINS = 10  # that confidences are put into


def equal_mass_bins(values: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Put values into bins of the same number of segments.

    - ``values``: float64 ``(N,)``; NaN is in no bin.
    - ``bins``: how many, at least 1; fewer are left where values are equal.
    - Returns integer ``(N,)``: the bin from 0, in the order of the values; -1 = none.

    >>> equal_mass_bins(np.array([0.9, 0.2, 0.2, 0.8, np.nan]), 2).tolist()
    [1, 0, 0, 1, -1]
    """
    values = np.asarray(values, dtype=np.float64)
    known = np.sort(values[~np.isnan(values)])
    found = np.full(len(values), -1)
    if not len(known):
        return found
    first = known[(np.arange(1, bins) * len(known)) // bins]  # the lowest value of each bin but the first
    place = np.searchsorted(np.unique(first), values, side="right")
    there = ~np.isnan(values)
    found[there] = np.unique(place[there], return_inverse=True)[1]
    return found


class _Known:
    """Confidences and whether they are right, of the segments that have both; and their bins."""

    def __init__(self, confidence: Sequence[float], correct: Sequence[float], bins: int = BINS) -> None:
        same_length(correct, confidence)
        confidence, correct = numbers(confidence), numbers(correct)
        self.rows = ~(np.isnan(confidence) | np.isnan(correct))
        self.confidence, self.correct = (np.where(self.rows, x, 0.0) for x in (confidence, correct))
        self.bin = equal_mass_bins(np.where(self.rows, confidence, np.nan), bins)
        self.bins = int(self.bin.max(initial=-1)) + 1

    def statistic(self, columns, compute, labels=("",), counts=None) -> Statistic:
        return Statistic(
            parts=(Columns(self.rows, ~self.rows, tuple(columns)),),
            compute=compute,
            count=counts or (lambda sums: np.repeat(sums[..., :1], len(labels), axis=-1)),
            labels=tuple(labels),
        )

    def per_bin(self, values: np.ndarray) -> list[np.ndarray]:
        return [np.where(self.bin == number, values, 0.0) for number in range(self.bins)]


def mean_of_known(values: np.ndarray) -> Statistic:
    """Average numbers, one a segment; NaN counts as a missing prediction."""
    values = numbers(values)
    rows = ~np.isnan(values)
    return Statistic(
        parts=(Columns(rows, ~rows, (np.where(rows, values, 0.0),)),),
        compute=lambda sums: ratio(sums[..., 1:], sums[..., :1]),
        count=lambda sums: sums[..., :1],
    )


def overconfidence(confidence: Sequence[float], correct: Sequence[float]) -> Statistic:
    """Mean confidence minus the share of right answers: above 0 too sure, below 0 too modest.

    - ``confidence, correct``: see the conventions of this module.
    - Returns one value from -1 to 1; no estimator of it is biased.
    """
    same_length(correct, confidence)
    return mean_of_known(numbers(confidence) - numbers(correct))


def reliability(confidence: Sequence[float], correct: Sequence[float], bins: int = BINS) -> Statistic:
    """Share of right answers in each equal-mass bin of confidence; labels are numbers of bins from 1."""
    known = _Known(confidence, correct, bins)
    columns = known.per_bin(known.rows.astype(float)) + known.per_bin(known.correct)

    def compute(sums: np.ndarray) -> np.ndarray:
        counts, right = np.split(sums[..., 1:], 2, axis=-1)
        return ratio(right, counts)

    labels = [str(number + 1) for number in range(known.bins)]
    return known.statistic(columns, compute, labels, lambda sums: sums[..., 1 : 1 + known.bins])


def calibration_error(confidence: Sequence[float], correct: Sequence[float], bins: int = BINS) -> Statistic:
    r"""Compute the expected calibration error in equal-mass bins.

    .. math:: \sum_b \frac{n_b}{n} \left| \bar c_b - \bar o_b \right|

    with the mean confidence and the share of right answers of each bin. Naeini et al. (2015). The estimator
    is biased upwards, because chance moves a bin in either direction and both count; see
    :func:`debiased_calibration_error`.

    - ``confidence, correct``: see the conventions of this module.
    - Returns one value from 0 to 1, lower is better.
    """
    known = _Known(confidence, correct, bins)
    gaps = known.per_bin(known.confidence - known.correct)

    def compute(sums: np.ndarray) -> np.ndarray:
        return ratio(np.abs(sums[..., 1:]).sum(axis=-1, keepdims=True), sums[..., :1])

    return known.statistic(gaps, compute)


class _OfBlocks(Weighted):
    """A statistic of one value that is computed from sums of blocks, not only from their total."""

    labels = ("",)

    def __init__(self, rows: np.ndarray, blocks: np.ndarray) -> None:
        self._rows = rows
        own, self._block = np.unique(blocks[rows], return_inverse=True)
        self.n_blocks = len(own)

    def point(self) -> Point:
        count = int(self._rows.sum())
        refusal, note = missing_predictions([Columns(self._rows, ~self._rows, ())])
        reason = self._reason() if count else "no segments"
        value = self.evaluate(np.ones((1, self.n_blocks)))[0] if count else np.array([np.nan])
        return checked_point(value, np.array([count]), [refusal if count and refusal else reason], [note])

    def _reason(self) -> str:
        """Say why segments have no value."""
        return ""

    def blocks(self) -> np.ndarray:
        return np.array([self.n_blocks])


class _Debiased(_OfBlocks):
    def __init__(self, known: _Known, blocks: np.ndarray) -> None:
        super().__init__(known.rows, blocks)
        shape = (self.n_blocks, max(known.bins, 1))
        gaps, counts = np.zeros((2, *shape))
        place = (self._block, known.bin[known.rows])
        np.add.at(gaps, place, (known.confidence - known.correct)[known.rows])
        np.add.at(counts, place, 1.0)
        self._sums = np.concatenate([gaps, counts, gaps**2, gaps * counts, counts**2], axis=1)
        self._centred = gaps - counts * ratio(gaps.sum(axis=0), counts.sum(axis=0))
        self._counts = counts.sum(axis=1)
        self._size = np.abs(gaps.sum(axis=0)).sum() / max(counts.sum(), 1.0)

    def _reason(self) -> str:
        return "1 block, 2 needed" if self.n_blocks < 2 else ""

    def by_chance(self, weights: np.ndarray) -> np.ndarray:
        """Say how often calibrated answers of these blocks would seem as far off, ``(1,)``."""
        weights = np.asarray(weights, dtype=np.float64)
        moved = np.abs(weights @ self._centred).sum(axis=1) * np.sqrt(ratio(self.n_blocks, self.n_blocks - 1))
        return np.array([np.mean(ratio(moved, weights @ self._counts) >= self._size)])

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        weights = np.asarray(weights, dtype=np.float64)
        gap, count, gg, gc, cc = np.split(weights @ self._sums, 5, axis=1)
        mean, drawn = ratio(gap, count), weights.sum(axis=1, keepdims=True)
        spread = gg - 2 * mean * gc + mean**2 * cc  # of the sums of blocks around the mean of the bin
        error = np.sqrt(np.maximum(spread * ratio(drawn, drawn - 1), 0.0))  # of the sum of the bin
        size = np.abs(gap)
        z = ratio(size, error)
        folded = error * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + size * (1 - 2 * ndtr(-z))
        bias = np.where(error > 0, folded - size, 0.0)
        found = np.nansum(size - bias, axis=1, keepdims=True)
        return np.maximum(ratio(found, count.sum(axis=1, keepdims=True)), 0.0)


def debiased_calibration_error(
    confidence: Sequence[float], correct: Sequence[float], blocks: np.ndarray, bins: int = BINS
) -> Weighted:
    """:func:`calibration_error` minus what chance adds to it.

    The gap of each bin is taken as normal around its true value, with the standard error that blocks have; by
    how much the expectation of its size is larger than the size is subtracted. As Kumar, Liang and Ma (2019),
    Verified uncertainty calibration, but for blocks. Where nothing is wrong about half of it is left, so an
    interval reaches down to 0 unless chance alone seldom makes an error as large. One block has no value.

    - ``confidence, correct, bins``: see :func:`calibration_error`.
    - ``blocks``: block of each segment, integer ``(N,)``.
    - Returns one value from 0 to 1.
    """
    return _Debiased(_Known(confidence, correct, bins), np.asarray(blocks))


class _RiskArea(_OfBlocks):
    def __init__(self, known: _Known, blocks: np.ndarray, relative: bool) -> None:
        super().__init__(known.rows, blocks)
        self._relative, self._speakers = relative, np.where(known.rows, blocks, -1)
        confidence, correct = known.confidence[known.rows], known.correct[known.rows]
        self._places = order = np.argsort(-confidence, kind="stable")
        self._order = self._block[order]
        self._wrong = 1.0 - correct[order]
        ends = np.flatnonzero(np.diff(confidence[order], append=np.inf))
        self._ends = ends

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        found = np.full((len(weights), 1), np.nan)
        for number, row in enumerate(np.asarray(weights, dtype=np.float64)):
            own = row[self._order]
            total, wrong = np.cumsum(own)[self._ends], np.cumsum(own * self._wrong)[self._ends]
            found[number] = _area(total, wrong) if len(total) and total[-1] else np.nan
            if self._relative and len(total):
                found[number] = ratio(found[number], ratio(wrong[-1], total[-1]))
        return found

    def influence(self, *, of_speakers: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Add a row: its own error, which counts at all coverages beyond its own, and the place of others."""
        n, wrong, found = len(self._wrong), self._wrong, np.zeros((len(self._rows), 1))
        if not wrong.any():
            return found, self._speakers
        risk = wrong.mean()
        counts = np.diff(self._ends, prepend=-1)  # of rows that are as sure
        ends, starts = np.repeat(self._ends, counts), np.repeat(self._ends + 1 - counts, counts)
        share = (ends + 1) / n
        later = np.cumsum((wrong / share)[::-1])[::-1][starts] / n
        moved = risk - wrong * np.log(share) - later
        moved -= moved.mean()
        if self._relative:
            moved = (moved - self.point().value[0] * (wrong - risk)) / risk
        found[np.flatnonzero(self._rows)[self._places], 0] = moved / n
        return found, self._speakers

    def _reason(self) -> str:
        return "no answer is wrong" if self._relative and not self._wrong.any() else ""


def _area(total: np.ndarray, wrong: np.ndarray) -> float:
    """Integrate the share of errors over coverage; errors rise evenly between equal confidences."""
    there = np.flatnonzero(np.diff(total, prepend=0.0))
    total, wrong = total[there], wrong[there]
    before, slope = np.append(0.0, total[:-1]), np.diff(wrong, prepend=0.0) / np.diff(total, prepend=0.0)
    rest = np.append(0.0, wrong[:-1]) - slope * before
    logs = np.log(total[1:] / total[:-1])
    return float((wrong[-1] + (rest[1:] * logs).sum()) / total[-1])


def area_under_risk(
    confidence: Sequence[float], correct: Sequence[float], blocks: np.ndarray, *, relative: bool = False
) -> Weighted:
    """Mean share of wrong answers over all shares of segments that are kept, the surest first.

    The area under the curve of risk against coverage (Geifman and El-Yaniv 2017), as an integral: between
    segments of equal confidence, which may come in any order, errors rise evenly.

    - ``confidence, correct``: see the conventions of this module.
    - ``blocks``: block of each segment, integer ``(N,)``.
    - ``relative``: whether to divide by the share of wrong answers.
    - Returns one value, lower is better; of a confidence that says nothing it is the share of wrong answers,
      or 1.
    """
    return _RiskArea(_Known(confidence, correct), np.asarray(blocks), relative)
