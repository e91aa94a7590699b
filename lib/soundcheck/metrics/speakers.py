r"""Values of speakers: averages of truth and prediction, proportions of classes, and their errors.

Conventions
-----------
- A speaker takes part with at least 10 labelled segments, and if there are classes, at least 8 in each.
- A segment without prediction is left out of both averages and counted; when more than half of the segments
  have none, or a speaker has none at all, see :meth:`SpeakerValues.mean_absolute_error`.
- What is resampled are speakers, or blocks of whole speakers. If a speaker's segments lie in several blocks,
  the speaker belongs to the block of the first segment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import (
    MISSING_NOTED,
    MISSING_REFUSED,
    Columns,
    Statistic,
    numbers,
    ratio,
    same_length,
)
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.ranking import spearmans_rho_of
from soundcheck.metrics.weighted import Weighted

SPEAKER_MINIMUM, CLASS_MINIMUM = 10, 8


@dataclasses.dataclass(frozen=True, eq=False)
class SpeakerValues:
    """True and predicted values of the speakers that take part.

    - ``truth, prediction``: float64 ``(K, m)``; NaN where a speaker has no predictions.
    """

    names: tuple[str, ...]  # names of the ``K`` speakers, sorted
    truth: np.ndarray
    prediction: np.ndarray
    labels: tuple[str, ...]  # names of the ``m`` values: classes, or ``""``
    first: np.ndarray  # row of each speaker's first segment, ``(K,)``
    counts: np.ndarray  # segments of each speaker that count, ``(K,)``
    length: int  # number ``N`` of all segments
    missing: int  # segments of these speakers without a prediction

    def __len__(self) -> int:
        return len(self.names)

    @property
    def _answers(self) -> tuple[str, str]:
        """Give a reason against all values and a note on them."""
        if not len(self):
            return "no speaker has enough labelled segments", ""
        total = int(self.counts.sum()) + self.missing
        text = f"no prediction for {self.missing} of {total} segments"
        if self.missing > MISSING_REFUSED * total:
            return text, ""
        return "", text if self.missing > MISSING_NOTED * total else ""

    def mean_absolute_error(self) -> Statistic:
        r"""Mean distance of predicted and true values, :math:`\frac1K \sum_k |\hat m_k - m_k|`.

        Returns a value of at least 0 for each label, over the ``N`` segments; counts the speakers' segments.
        Speakers without any prediction do not count.
        """
        there = ~np.isnan(self.prediction[:, 0]) if len(self) else np.zeros(0, dtype=bool)
        rows = np.zeros(self.length, dtype=bool)
        rows[self.first[there]] = True
        columns = np.zeros((1 + len(self.labels), self.length))
        columns[0, self.first] = self.counts
        columns[1:, self.first[there]] = np.abs(self.prediction - self.truth)[there].T
        reason, note = self._answers
        m = len(self.labels)
        return Statistic(
            parts=(Columns(rows, np.zeros_like(rows), tuple(columns)),),
            compute=lambda sums: ratio(sums[..., 2:], sums[..., :1]),
            count=lambda sums: np.repeat(sums[..., 1:2], m, axis=-1),
            labels=self.labels,
            reasons=lambda sums: (reason or ("" if sums[0] > 0 else "no speakers"),) * m,
            notes=lambda _: (note,) * m,
        )

    def spearmans_rho(self) -> Weighted:
        """Rank correlation of predicted and true values, one for each label; see :mod:`.ranking`."""
        there = ~np.isnan(self.prediction[:, 0]) if len(self) else np.zeros(0, dtype=bool)
        reason, note = self._answers
        return spearmans_rho_of(
            self.truth[there],
            self.prediction[there],
            self.labels,
            int(self.counts[there].sum()),
            note,
            reason,
        )


def _values(
    truth: np.ndarray,
    prediction: np.ndarray,
    speakers: Sequence[object],
    enough: np.ndarray,
    labels: Sequence[str],
) -> SpeakerValues:
    """Average columns ``(N, m)`` over speakers; NaN in the first column is a missing label or prediction.

    ``enough`` says which speakers, by their number among the sorted names, take part.
    """
    codes, names = pd.factorize(pd.Series(speakers, dtype=object), sort=True)
    labelled = ~np.isnan(truth[:, 0])
    kept = np.zeros(len(names), dtype=bool)
    kept[: len(enough)] = enough
    own = (codes >= 0) & labelled
    own[own] = kept[codes[own]]
    number = np.cumsum(kept) - 1
    rows = np.flatnonzero(own)
    place = number[codes[rows]]
    k = int(kept.sum())
    first = np.full(k, len(truth), dtype=np.intp)
    np.minimum.at(first, place, rows)
    answered = ~np.isnan(prediction[rows, 0])
    used, place = rows[answered], place[answered]
    counts = np.bincount(place, minlength=k)
    means = [
        np.stack(
            [ratio(np.bincount(place, column[used], minlength=k), counts) for column in table.T], axis=1
        ).reshape(k, table.shape[1])
        for table in (truth, prediction)
    ]
    return SpeakerValues(
        tuple(str(name) for name in np.asarray(names, dtype=object)[kept]),
        means[0],
        means[1],
        tuple(labels),
        first,
        counts,
        len(truth),
        int(len(rows) - answered.sum()),
    )


def _counts(labelled: np.ndarray, speakers: Sequence[object]) -> np.ndarray:
    """Count the labelled segments of each speaker, in the order of the sorted names."""
    codes, names = pd.factorize(pd.Series(speakers, dtype=object), sort=True)
    return np.bincount(codes[labelled & (codes >= 0)], minlength=len(names))


def speaker_averages(
    truth: Sequence[float],
    prediction: Sequence[float],
    speakers: Sequence[object],
    minimum: int = SPEAKER_MINIMUM,
) -> SpeakerValues:
    """Average labels and predictions of each speaker.

    - ``speakers``: name of each segment's speaker, ``(N,)``; missing ones take no part.
    - ``minimum``: labelled segments that a speaker needs.
    """
    truth, prediction = numbers(truth), numbers(prediction)
    same_length(truth, prediction)
    enough = _counts(~np.isnan(truth), speakers) >= minimum
    return _values(truth[:, np.newaxis], prediction[:, np.newaxis], speakers, enough, ("",))


def speaker_proportions(
    truth: Sequence[str],
    prediction: Sequence[str],
    speakers: Sequence[object],
    classes: Sequence[str],
    minimum: int = SPEAKER_MINIMUM,
    class_minimum: int = CLASS_MINIMUM,
) -> SpeakerValues:
    """Compute the proportion of each class among labels and predictions of each speaker.

    - ``truth, prediction``: class names, ``(N,)``; a class that is never predicted has a proportion of 0.
    - ``speakers``: name of each segment's speaker, ``(N,)``; missing ones take no part.
    - ``minimum, class_minimum``: labelled segments that a speaker needs, in all and of each class.
    """
    codes = [class_numbers(each, classes) for each in (truth, prediction)]
    same_length(*codes)
    n = len(classes)
    labelled = (codes[0] >= 0) & (codes[0] < n)
    columns = [each[:, np.newaxis] == np.arange(n) for each in codes]
    tables = [column.astype(np.float64) for column in columns]
    tables[0][~labelled] = np.nan
    tables[1][codes[1] < 0] = np.nan
    enough = _counts(labelled, speakers) >= minimum
    for column in columns[0].T:
        enough &= _counts(labelled & column, speakers) >= class_minimum
    return _values(*tables, speakers, enough, classes)
