"""Brier's score of probabilities, its skill, and its parts.

Brier (1950), Verification of forecasts expressed in terms of probability. Murphy (1973), A new vector
partition of the probability score. Probabilities have one column a class, in the order of the classes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import Columns, Statistic, ratio
from soundcheck.metrics.confidence import BINS, equal_mass_bins

# The score is the first minus the second plus the others.
PARTS = ("reliability", "resolution", "uncertainty", "within bins")


def _one_hot(truth: Sequence[str | None], classes: Sequence[str]) -> np.ndarray:
    return np.asarray(truth, dtype=object)[:, None] == np.asarray(classes, dtype=object)[None, :]


class _Forecasts:
    """Probabilities of classes and what is true, of the segments that have both."""

    def __init__(
        self, truth: Sequence[str | None], probabilities: np.ndarray, classes: Sequence[str]
    ) -> None:
        probabilities = np.asarray(probabilities, dtype=np.float64)
        if probabilities.shape != (len(truth), len(classes)):
            raise ValueError(
                f"{len(truth)} labels of {len(classes)} classes do not fit probabilities of shape "
                f"{probabilities.shape}."
            )
        true = _one_hot(truth, classes)
        labelled = true.any(axis=1)
        self.rows = labelled & ~np.isnan(probabilities).any(axis=1)
        self.missing = labelled & ~self.rows
        self.true = np.where(self.rows[:, None], true, False).astype(np.float64)
        self.probabilities = np.where(self.rows[:, None], probabilities, 0.0)
        self.score = ((self.probabilities - self.true) ** 2).sum(axis=1)

    def statistic(self, columns, compute, labels=("",)) -> Statistic:
        return Statistic(
            parts=(Columns(self.rows, self.missing, tuple(columns)),),
            compute=compute,
            count=lambda sums: np.repeat(sums[..., :1], len(labels), axis=-1),
            labels=tuple(labels),
        )


def brier_score(truth: Sequence[str | None], probabilities: np.ndarray, classes: Sequence[str]) -> Statistic:
    r"""Brier score of all classes.

    .. math:: \frac1n \sum_i \sum_k (p_{ik} - y_{ik})^2

    Brier (1950).

    - ``truth``: true classes; segments with others, or without, are left out.
    - ``probabilities``: float64 ``(N, classes)``; a row with NaN is a missing prediction.
    - Returns one value from 0 to 2, lower is better.
    """
    forecasts = _Forecasts(truth, probabilities, classes)
    return forecasts.statistic([forecasts.score], lambda sums: ratio(sums[..., 1:], sums[..., :1]))


def _uncertainty(counts: np.ndarray, total: np.ndarray) -> np.ndarray:
    return 1.0 - (ratio(counts, total) ** 2).sum(axis=-1, keepdims=True)


def brier_skill(truth: Sequence[str | None], probabilities: np.ndarray, classes: Sequence[str]) -> Statistic:
    """By which share the Brier score is lower than that of the shares of the classes as probabilities.

    - ``truth, probabilities, classes``: see :func:`brier_score`.
    - Returns one value, 1 at best; 0 is what the shares of the classes reach, and less is worse than knowing
      nothing. Undefined where there is one class only.
    """
    forecasts = _Forecasts(truth, probabilities, classes)

    def compute(sums: np.ndarray) -> np.ndarray:
        count, score, counts = sums[..., :1], sums[..., 1:2], sums[..., 2:]
        return 1.0 - ratio(ratio(score, count), _uncertainty(counts, count))

    return forecasts.statistic([forecasts.score, *forecasts.true.T], compute)


def brier_parts(
    truth: Sequence[str | None], probabilities: np.ndarray, classes: Sequence[str], bins: int = BINS
) -> Statistic:
    r"""Take the Brier score apart: reliability, resolution, uncertainty, and what is left within bins.

    The probabilities of each class are put into equal-mass bins. The score is reliability minus resolution
    plus uncertainty plus what bins blur. Murphy (1973). In small bins chance makes the first two too large,
    by about as much.

    - ``truth, probabilities, classes``: see :func:`brier_score`.
    - Returns a value for each of :data:`PARTS`.
    """
    forecasts = _Forecasts(truth, probabilities, classes)
    columns, places = [forecasts.score, *forecasts.true.T], []
    for place, (probability, true) in enumerate(
        zip(forecasts.probabilities.T, forecasts.true.T, strict=True)
    ):
        own = equal_mass_bins(np.where(forecasts.rows, probability, np.nan), bins)
        for number in range(own.max(initial=-1) + 1):
            inside = own == number
            columns += [inside.astype(float), np.where(inside, probability, 0.0), np.where(inside, true, 0.0)]
            places.append(place)
    width = len(classes)

    def compute(sums: np.ndarray) -> np.ndarray:
        count, score, counts = sums[..., :1], sums[..., 1:2], sums[..., 2 : 2 + width]
        size, given, true = (sums[..., 2 + width + part :: 3] for part in range(3))
        shares = ratio(counts, count)[..., places]
        found = ratio(true, size)
        gap, move = ((ratio(given, size) - found) ** 2, (found - shares) ** 2)
        reliable, resolved = (
            ratio(np.nansum(size * each, axis=-1, keepdims=True), count) for each in (gap, move)
        )
        whole, unsure = ratio(score, count), _uncertainty(counts, count)
        rest = whole - (reliable - resolved + unsure)
        return np.concatenate([reliable, resolved, unsure, rest], axis=-1)

    return forecasts.statistic(columns, compute, PARTS)
