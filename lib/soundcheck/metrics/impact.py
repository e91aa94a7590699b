r"""What another model changes, segment by segment: what it corrects and what it breaks.

Conventions
-----------
- A class is right if it is the true one; a number is right if it lies closer to
  the truth than the tolerance.
- *Corrections*: the baseline is wrong, the candidate right. *Added errors*: the baseline is right, the
  candidate wrong. *Changed errors*: both are wrong, in different ways. Numbers count only if the two
  predictions differ by at least the tolerance, so that a hair's breadth across the border is no event.
- Segments without a prediction of one of the models are missing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import Cells, Finish, Statistic, numbers, ratio, same_length, segments
from soundcheck.metrics.change import TOLERANCE, is_unchanged

EVENTS = ("added errors", "changed errors", "corrections")
MARGIN = 0.01  # by which corrections must outweigh added errors, or the reverse, to matter
NOTHING = len(EVENTS)  # code of segments where nothing of the kind happened


def impact_codes(
    truth: Sequence[float] | Sequence[str],
    baseline: Sequence[float] | Sequence[str],
    candidate: Sequence[float] | Sequence[str],
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """Say for each segment what the candidate changed.

    - ``truth, baseline, candidate``: numbers, or class names, ``(N,)``.
    - ``tolerance``: numbers: errors smaller than this are right answers.
    - Returns int8 ``(N,)``: places in :data:`EVENTS`, 3 for nothing of the kind; -1 if the truth is missing,
      -2 if only a prediction is.

    >>> impact_codes([0.5, 0.5, 0.5], [0.6, 0.5, 0.6], [0.5, 0.6, 0.62]).tolist()
    [2, 0, 3]
    """
    same_length(np.asarray(truth), np.asarray(baseline))
    right = is_unchanged(truth, baseline, tolerance)
    now_right = is_unchanged(truth, candidate, tolerance)
    moved = 1 - is_unchanged(baseline, candidate, tolerance)
    unlabelled = (
        np.isnan(numbers(truth)) if np.asarray(truth).dtype.kind in "fiu" else pd.isna(np.asarray(truth))
    )
    codes = np.full(len(right), NOTHING, dtype=np.int8)
    codes[(right == 1) & (now_right == 0) & (moved == 1)] = 0
    codes[(right == 0) & (now_right == 0) & (moved == 1)] = 1
    codes[(right == 0) & (now_right == 1) & (moved == 1)] = 2
    codes[np.isnan(right) | np.isnan(now_right)] = -2
    codes[unlabelled] = -1
    return codes


def impact(
    truth: Sequence[float] | Sequence[str],
    baseline: Sequence[float] | Sequence[str],
    candidate: Sequence[float] | Sequence[str],
    tolerance: float = TOLERANCE,
) -> Statistic:
    """Share of segments with added errors, changed errors and corrections.

    - ``truth, baseline, candidate, tolerance``: see :func:`impact_codes`.
    - Returns three values from 0 to 1, labels :data:`EVENTS`; undefined without segments only.
    """
    codes = impact_codes(truth, baseline, candidate, tolerance)
    return _proportions(
        codes, EVENTS, lambda sums: ratio(sums[..., :NOTHING], sums.sum(axis=-1, keepdims=True))
    )


def net_corrections(
    truth: Sequence[float] | Sequence[str],
    baseline: Sequence[float] | Sequence[str],
    candidate: Sequence[float] | Sequence[str],
    tolerance: float = TOLERANCE,
) -> Statistic:
    """Proportion of corrections minus that of added errors.

    - ``truth, baseline, candidate, tolerance``: see :func:`impact_codes`.
    - Returns one value from -1 to 1, positive if more is corrected than broken; undefined without segments
      only.
    """
    codes = impact_codes(truth, baseline, candidate, tolerance)

    def compute(sums: np.ndarray) -> np.ndarray:
        total = sums.sum(axis=-1, keepdims=True)
        return ratio(sums[..., 2:3] - sums[..., :1], total)

    return _proportions(codes, ("",), compute)


def _proportions(codes: np.ndarray, labels: tuple[str, ...], compute: Finish) -> Statistic:
    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums.sum() > 0 else segments(0),) * len(labels)

    return Statistic(
        parts=(Cells(codes >= 0, codes == -2, np.maximum(codes, 0), NOTHING + 1),),
        compute=compute,
        count=lambda sums: np.repeat(sums.sum(axis=-1, keepdims=True), len(labels), axis=-1),
        labels=labels,
        reasons=reasons,
    )
