r"""Values of speakers: averages and proportions of classes, their errors and their order.

Conventions
-----------
- A speaker takes part with at least 10 labelled segments, and if there are classes, at least 8 in each.
- A segment without prediction is left out of both averages and counted; when more than half of the segments
  have none there is no value, and a speaker who has none at all does not count.
- For errors, what is resampled are speakers, or blocks of whole speakers. If a speaker's segments lie in
  several blocks, the speaker belongs to the block of the first segment.
- For the order, what is resampled are the speakers, whatever the suite names as blocks: one drawn twice is
  two speakers with equal averages. Equal averages share the mean of their ranks. The sign is kept: a reversed
  order is as wrong as can be. Averages are equal if 12 significant digits are: float noise, which depends on
  the order of the segments, must not put anybody first.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import (
    Numbers,
    Statistic,
    missing_texts,
    numbers,
    of_columns,
    ratio,
    round_significant,
    same_length,
)
from soundcheck.metrics.classification import Names, class_numbers
from soundcheck.metrics.weighted import Weighted

SPEAKER_MINIMUM, CLASS_MINIMUM = 10, 8

_AT_A_TIME = 2**21  # weights that are turned into ranks at a time


@dataclasses.dataclass(frozen=True, eq=False)
class SpeakerValues:
    """True and predicted values of the speakers that take part."""

    names: tuple[str, ...]  # names of the ``K`` speakers, sorted
    truth: np.ndarray  # float64 ``(K, m)``; NaN where a speaker has no predictions
    prediction: np.ndarray
    labels: tuple[str, ...]  # names of the ``m`` values: classes, or ``""``
    first: np.ndarray  # row of each speaker's first segment, ``(K,)``
    counts: np.ndarray  # segments of each speaker that count, ``(K,)``
    length: int  # number ``N`` of all segments
    missing: int  # segments of these speakers without a prediction

    def __len__(self) -> int:
        return len(self.names)

    @property
    def _texts(self) -> tuple[str, str]:
        """Give a reason against all values and a note on them."""
        if not len(self):
            return "no speaker has enough labelled segments", ""
        return missing_texts(self.missing, int(self.counts.sum()) + self.missing)

    def mean_absolute_error(self) -> Statistic:
        r"""Mean distance of predicted and true values of speakers, :math:`\frac1K \sum_k |\hat m_k - m_k|`.

        Returns a value of at least 0 for each label, over the ``N`` segments; counts the speakers' segments.

        >>> speakers = speaker_averages([0.2, 0.4, 0.6], [0.3, 0.5, 0.6], ["a", "a", "b"], minimum=1)
        >>> speakers.mean_absolute_error()
        Statistic(0.05)
        """
        predicted = self.counts > 0
        rows = np.zeros(self.length, dtype=bool)
        rows[self.first[predicted]] = True
        columns = np.zeros((1 + len(self.labels), self.length))
        columns[0, self.first] = self.counts
        columns[1:, self.first[predicted]] = np.abs(self.prediction - self.truth)[predicted].T
        reason, note = self._texts
        m = len(self.labels)
        return of_columns(
            rows,
            np.zeros_like(rows),
            tuple(columns),
            lambda sums: ratio(sums[..., 2:], sums[..., :1]),
            self.labels,
            count=lambda sums: np.repeat(sums[..., 1:2], m, axis=-1),
            reasons=lambda sums: (reason or ("" if sums[0] > 0 else "no speakers"),) * m,
            notes=lambda _: (note,) * m,
        )

    def spearmans_rho(self) -> Weighted:
        r"""Rank correlation of predicted and true values of speakers, one for each label.

        :math:`\rho` is the correlation coefficient of :func:`soundcheck.metrics.regression.pearson_cc` of the
        ranks. Spearman (1904), The proof and measurement of association between two things. Undefined for
        fewer than 2 speakers and if all values are equal.

        >>> speaker_averages([0.1, 0.2, 0.3], [0.5, 0.7, 0.6], ["a", "b", "c"], 1).spearmans_rho()
        Statistic(0.5)
        """
        return _Rho(self)


def _values(
    truth: np.ndarray,
    prediction: np.ndarray,
    speakers: Sequence[object],
    labels: Sequence[str],
    minimum: int,
    class_minimum: int = 0,
) -> SpeakerValues:
    """Average columns ``(N, m)`` over speakers; NaN in the first column is a missing label or prediction."""
    same_length(truth, prediction)
    codes, names = pd.factorize(pd.Series(speakers, dtype=object), sort=True)
    labelled = ~np.isnan(truth[:, 0]) & (codes >= 0)
    enough = np.bincount(codes[labelled], minlength=len(names)) >= minimum
    if class_minimum:
        for column in truth.T:
            enough &= np.bincount(codes[labelled & (column > 0)], minlength=len(names)) >= class_minimum
    rows = np.flatnonzero(labelled)
    rows = rows[enough[codes[rows]]]
    number = (np.cumsum(enough) - 1)[codes[rows]]
    k = int(enough.sum())
    first = np.full(k, len(truth), dtype=np.intp)
    np.minimum.at(first, number, rows)
    predicted = ~np.isnan(prediction[rows, 0])
    used, number = rows[predicted], number[predicted]
    counts = np.bincount(number, minlength=k)
    means = [
        np.stack([ratio(np.bincount(number, column[used], minlength=k), counts) for column in table.T]).T
        for table in (truth, prediction)
    ]
    return SpeakerValues(
        tuple(map(str, np.asarray(names, dtype=object)[enough])),
        *means,
        tuple(labels),
        first,
        counts,
        len(truth),
        int(len(rows) - predicted.sum()),
    )


def speaker_averages(
    truth: Numbers, prediction: Numbers, speakers: Sequence[object], minimum: int = SPEAKER_MINIMUM
) -> SpeakerValues:
    """Average labels and predictions of each speaker with at least so many labelled segments.

    >>> speaker_averages([0.25, 0.75, 0.5], [0.5, 1.0, 0.5], ["a", "a", "b"], minimum=2).prediction
    array([[0.75]])
    """
    truth, prediction = numbers(truth), numbers(prediction)
    return _values(truth[:, np.newaxis], prediction[:, np.newaxis], speakers, ("",), minimum)


def speaker_proportions(
    truth: Names,
    prediction: Names,
    speakers: Sequence[object],
    classes: Sequence[str],
    minimum: int = SPEAKER_MINIMUM,
    class_minimum: int = CLASS_MINIMUM,
) -> SpeakerValues:
    """Compute the proportion of each class among labels and predictions of each speaker.

    A class that is never predicted has a proportion of 0. Speakers need so many labelled segments, in all and
    of each class.

    >>> truth, prediction = ["a", "b", "b", "b"], ["a", "a", "b", "b"]
    >>> speaker_proportions(truth, prediction, ["x"] * 4, ["a", "b"], 1, 1).prediction
    array([[0.5, 0.5]])
    """
    n = len(classes)
    codes = [class_numbers(each, classes) for each in (truth, prediction)]
    tables = [(each[:, np.newaxis] == np.arange(n)).astype(np.float64) for each in codes]
    tables[0][(codes[0] < 0) | (codes[0] == n)] = np.nan
    tables[1][codes[1] < 0] = np.nan
    return _values(*tables, speakers, classes, minimum, class_minimum)


class _Rho(Weighted):
    """Rank correlation of each column of two tables ``(speakers, m)``, whatever the number of speakers."""

    def __init__(self, speakers: SpeakerValues) -> None:
        predicted = speakers.counts > 0
        tables = [round_significant(table[predicted]).T for table in (speakers.truth, speakers.prediction)]
        self.labels, self.n_blocks = speakers.labels, int(predicted.sum())
        self._pairs = list(zip(*tables, strict=True))
        self.count, self._missing = int(speakers.counts.sum()), speakers._texts

    def _texts(self) -> tuple[list[str], str]:
        refusal, note = self._missing
        return [refusal or self._reason(x, y) for x, y in self._pairs], note

    def _reason(self, truth: np.ndarray, prediction: np.ndarray) -> str:
        if self.n_blocks < 2:
            return "1 speaker"
        if np.ptp(prediction) == 0:
            return "all speakers have the same predicted value"
        return "all speakers have the same true value" if np.ptp(truth) == 0 else ""

    def evaluate(self, weights: np.ndarray) -> np.ndarray:
        rho = np.full((len(weights), len(self.labels)), np.nan)
        step = max(1, _AT_A_TIME // max(1, self.n_blocks))
        for start in range(0, len(weights) if self.n_blocks else 0, step):
            piece = weights[start : start + step].astype(np.float64)
            for n, (truth, prediction) in enumerate(self._pairs):
                ranks = _ranks(truth, piece), _ranks(prediction, piece)
                rho[start : start + step, n] = _correlation(*ranks, piece)
        return rho


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mean ranks, minus one half, of the speakers in each replicate, ``(replicates, speakers)``."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    times = np.add.reduceat(weights[:, order], starts, axis=1)  # of equal values
    return (np.cumsum(times, axis=1) - times / 2)[:, group]


def _correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson correlation with whole weights, one a row; NaN if either is constant.

    Ranks are multiples of one half, so sums around half the total are exact up to 10**5 speakers.
    """
    total = weights.sum(axis=1, keepdims=True)
    x, y = x - total / 2, y - total / 2  # the mean of all ranks
    both, xx, yy = (np.einsum("rk,rk,rk->r", weights, a, b) for a, b in ((x, y), (x, x), (y, y)))
    return np.clip(ratio(both, np.sqrt(xx) * np.sqrt(yy)), -1.0, 1.0)


def quartile_overlap(truth: Numbers, prediction: Numbers) -> dict[str, float]:
    """Say how well the ends of the order of speakers are found, from a value of each, ``(speakers,)``.

    Returns ``"top"`` and ``"bottom"``: proportion of the predicted highest and lowest quarter that belongs
    there; ``"confusion"``: proportion of both that belongs to the opposite one. Equal values stay in the
    given order, and speakers without a value do not count. NaN if a quarter, rounded to even, is nobody.

    >>> quartile_overlap([0.1, 0.2, 0.3, 0.4], [0.1, 0.3, 0.4, 0.2])
    {'top': 0.0, 'bottom': 1.0, 'confusion': 0.0}
    """
    truth, prediction = numbers(truth), numbers(prediction)
    same_length(truth, prediction)
    truth, prediction = np.stack([truth, prediction])[:, ~np.isnan(truth + prediction)]
    quarter = round(len(truth) / 4)
    if quarter == 0:
        return dict.fromkeys(("top", "bottom", "confusion"), np.nan)
    orders = [np.argsort(values, kind="stable") for values in (truth, prediction)]
    (low, predicted_low), (high, predicted_high) = (
        [set(order[part]) for order in orders] for part in (slice(None, quarter), slice(-quarter, None))
    )
    return {
        "top": len(high & predicted_high) / quarter,
        "bottom": len(low & predicted_low) / quarter,
        "confusion": (len(low & predicted_high) + len(high & predicted_low)) / (2 * quarter),
    }
