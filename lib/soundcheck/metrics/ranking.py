r"""Whether speakers are put in the right order: Spearman's rho over their averages.

Ranks are no sums, so replicates are computed from the weights of the speakers: a speaker drawn twice is two
speakers with equal averages.

Spearman (1904), The proof and measurement of association between two things.

Conventions
-----------
- Speakers are ranked by their average, or by their proportion of a class; equal ones share the mean of their
  ranks. The sign is kept: a reversed order is as wrong as can be.
- Averages are equal if 12 significant digits are: float noise, which depends on the order of the segments,
  must not put anybody first.
- What is resampled are the speakers, whatever the suite names as blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from soundcheck.metrics.additive import (
    MISSING_NOTED,
    MISSING_REFUSED,
    Point,
    checked_point,
    numbers,
    ratio,
    round_significant,
    same_length,
)
from soundcheck.metrics.weighted import Weighted

_AT_A_TIME = 2**21  # weights that are turned into ranks at a time


class _Rho(Weighted):
    """Rank correlation of each column of two tables ``(speakers, m)``."""

    def __init__(
        self,
        truth: np.ndarray,
        prediction: np.ndarray,
        labels: Sequence[str],
        segments: int,
        note: str = "",
        reason: str = "",
    ) -> None:
        self.labels = tuple(labels)
        self.n_blocks = len(truth)
        self._truth, self._prediction = _Order.of_columns(truth), _Order.of_columns(prediction)
        self._segments = segments
        self._note, self._refusal = note, reason

    def point(self) -> Point:
        m = len(self.labels)
        value = self.evaluate(np.ones((1, self.n_blocks), dtype=np.uint16))[0]
        reasons = [self._reason(x, y) for x, y in zip(self._truth, self._prediction, strict=True)]
        return checked_point(value, np.full(m, self._segments), reasons, [self._note] * m)

    def _reason(self, truth: _Order, prediction: _Order) -> str:
        if self._refusal:
            return self._refusal
        if self.n_blocks < 2:
            return "1 speaker" if self.n_blocks else "no speakers"
        if prediction.groups == 1:
            return "all speakers have the same predicted value"
        return "all speakers have the same true value" if truth.groups == 1 else ""

    def blocks(self) -> np.ndarray:
        return np.full(len(self.labels), self.n_blocks, dtype=np.int64)

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        found = np.full((len(weights), len(self.labels)), np.nan)
        if self.n_blocks == 0:
            return found
        step = max(1, _AT_A_TIME // self.n_blocks)
        for start in range(0, len(weights), step):
            piece = weights[start : start + step].astype(np.float64)
            for n, (truth, prediction) in enumerate(zip(self._truth, self._prediction, strict=True)):
                found[start : start + step, n] = _correlation(
                    truth.ranks(piece), prediction.ranks(piece), piece
                )
        return found


class _Order:
    """Values in ascending order, equal ones as groups."""

    def __init__(self, values: np.ndarray) -> None:
        self.order = np.argsort(values, kind="stable")
        ascending = values[self.order]
        self.starts = np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]]))
        self.group = np.empty(len(values), dtype=np.intp)
        self.group[self.order] = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(values)]))

    @classmethod
    def of_columns(cls, table: np.ndarray) -> list[_Order]:
        return [cls(column) for column in table.T]

    @property
    def groups(self) -> int:
        return len(self.starts)

    def ranks(self, weights: np.ndarray) -> np.ndarray:
        """Mean ranks, minus one half, of the speakers in each replicate, ``(replicates, speakers)``."""
        own = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        middle = np.cumsum(own, axis=1) - own / 2
        return middle[:, self.group]


def _correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson correlation with whole weights, one a row; NaN if either is constant.

    Ranks are multiples of one half, so sums around half the total are exact up to 10**5 speakers.
    """
    total = weights.sum(axis=1, keepdims=True)
    x, y = x - total / 2, y - total / 2  # the mean of all ranks
    both, xx, yy = (np.einsum("rk,rk,rk->r", weights, a, b) for a, b in ((x, y), (x, x), (y, y)))
    return np.clip(ratio(both, np.sqrt(xx) * np.sqrt(yy)), -1.0, 1.0)


def spearmans_rho_of(
    truth: np.ndarray,
    prediction: np.ndarray,
    labels: Sequence[str] = ("",),
    segments: int = 0,
    note: str = "",
    reason: str = "",
) -> Weighted:
    """Rank correlation of values that speakers have already.

    - ``truth, prediction``: values of each speaker, ``(speakers, m)``, finite.
    - ``labels``: names of the ``m`` columns.
    - ``segments``: segments that the values rest on.
    - ``note, reason``: what a reader must know; why there is no value.
    - Returns ``m`` values from -1 to 1; undefined for fewer than 2 speakers and if all values are equal.
    """
    truth, prediction = (np.asarray(table, dtype=np.float64) for table in (truth, prediction))
    if truth.shape != prediction.shape or truth.ndim != 2 or truth.shape[1] != len(labels):
        raise ValueError(
            f"Values of {truth.shape} and {prediction.shape} do not fit each other and {len(labels)} labels."
        )
    if not (np.isfinite(truth).all() and np.isfinite(prediction).all()):
        raise ValueError("Every speaker needs a finite true and predicted value.")
    return _Rho(round_significant(truth), round_significant(prediction), labels, segments, note, reason)


def spearmans_rho(
    truth: Sequence[float], prediction: Sequence[float], speakers: Sequence[int], n_speakers: int
) -> Weighted:
    r"""Rank correlation of the averages of speakers.

    - ``truth, prediction``: numbers, ``(N,)``; only segments that have both count. Without predictions for
      more than half of the labels there is no value.
    - ``speakers``: speaker of each segment, whole numbers from 0, ``(N,)``; speakers without segments are
      passed over.
    - Returns one value from -1 to 1; see :func:`spearmans_rho_of`.
    """
    truth, prediction, speakers = numbers(truth), numbers(prediction), np.asarray(speakers)
    same_length(truth, prediction)
    same_length(truth, speakers)
    labelled = ~np.isnan(truth)
    rows = labelled & ~np.isnan(prediction)
    counts = np.bincount(speakers[rows], minlength=n_speakers)
    there = counts > 0
    means = [
        np.bincount(speakers[rows], values[rows], minlength=n_speakers)[there] / counts[there]
        for values in (truth, prediction)
    ]
    missing, wanted = int((labelled & ~rows).sum()), int(labelled.sum())
    text = f"no prediction for {missing} of {wanted} segments"
    refused = missing > MISSING_REFUSED * wanted
    noted = not refused and missing > MISSING_NOTED * wanted
    return spearmans_rho_of(
        means[0][:, np.newaxis],
        means[1][:, np.newaxis],
        ("",),
        int(rows.sum()),
        text if noted else "",
        text if refused else "",
    )


def quartile_overlap(truth: Sequence[float], prediction: Sequence[float]) -> dict[str, float]:
    """Say how well the ends of the order are found.

    - ``truth, prediction``: values of each speaker, ``(speakers,)``; equal ones stay in the given order.
    - Returns ``"top"`` and ``"bottom"``: proportion of the predicted highest and lowest quarter that belongs
      there; ``"confusion"``: proportion of both that belongs to the opposite one. NaN if a quarter of the
      speakers, rounded to even, is nobody.
    """
    truth, prediction = numbers(truth), numbers(prediction)
    same_length(truth, prediction)
    quarter = round(len(truth) / 4)
    if quarter == 0:
        return {"top": np.nan, "bottom": np.nan, "confusion": np.nan}
    orders = [np.argsort(values, kind="stable") for values in (truth, prediction)]
    (low, found_low), (high, found_high) = (
        [set(order[part]) for order in orders] for part in (slice(None, quarter), slice(-quarter, None))
    )
    return {
        "top": len(high & found_high) / quarter,
        "bottom": len(low & found_low) / quarter,
        "confusion": (len(low & found_high) + len(high & found_low)) / (2 * quarter),
    }
