r"""What changes between two predictions for a segment: when the signal changes, or the model.

Conventions
-----------
- The change of a metric (CCC, UAR) under a change of the signal is no metric of its own:
  ``paired_difference(concordance_cc(truth, changed), concordance_cc(truth, clean))``.
- Numbers that differ by less than the tolerance are the same; a difference of exactly the tolerance, within
  1e-9, is a change. Classes are the same if they are equal.
- Segments without one of the predictions have no prediction.
- A prediction is right if it is the same as the truth. *Corrections*: the baseline is wrong, the candidate
  right. *Added errors*: the reverse. *Changed errors*: both are wrong, in different ways. Events need two
  predictions that differ, so that a hair's breadth across the border is none.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.common.tasks import DECIMAL
from soundcheck.metrics.additive import Statistic, numbers, of_cells, ratio, same_length, total

TOLERANCE = 0.05  # a difference as large as this is a change
EVENTS = ("added errors", "changed errors", "corrections")
MARGIN = 0.01  # by which corrections must outweigh added errors, or the reverse, to matter
NOTHING = len(EVENTS)  # code of segments where nothing of the kind happened

Predictions = Sequence[float] | Sequence[str] | np.ndarray  # numbers, or class names, ``(N,)``


def is_unchanged(clean: Predictions, changed: Predictions, tolerance: float = TOLERANCE) -> np.ndarray:
    """Say for each segment whether its prediction stayed the same: 1, 0, or NaN if one is missing.

    >>> is_unchanged([0.5, 0.5, 0.5], [0.54, 0.55, 0.45]).tolist()
    [1.0, 0.0, 0.0]
    """
    clean, changed = np.asarray(clean), np.asarray(changed)
    same_length(clean, changed)
    if clean.dtype.kind in "fiu" and changed.dtype.kind in "fiu":
        clean, changed = numbers(clean), numbers(changed)
        missing = np.isnan(clean) | np.isnan(changed)
        same = np.abs(changed - clean) < tolerance - DECIMAL
    else:
        clean, changed = clean.astype(object), changed.astype(object)
        missing = pd.isna(clean) | pd.isna(changed)
        same = np.zeros(len(clean), dtype=bool)
        same[~missing] = clean[~missing] == changed[~missing]
    return np.where(missing, np.nan, same)


def unchanged(clean: Predictions, changed: Predictions, tolerance: float = TOLERANCE) -> Statistic:
    r"""Proportion of segments whose prediction stays the same; needs no truth.

    .. math:: \frac1N |\{|\hat y - \hat y'| < 0.05\}|

    >>> unchanged([0.5, 0.5], [0.54, 0.6])
    Statistic(0.5)
    """
    same = is_unchanged(clean, changed, tolerance)
    missing = np.isnan(same)
    return of_cells(np.where(missing, -1, same), 2, missing, lambda sums: ratio(sums[..., 1:], total(sums)))


def impact_codes(truth: Predictions, baseline: Predictions, candidate: Predictions) -> np.ndarray:
    """Say for each segment what the candidate changed, int8 ``(N,)``.

    Returns places in :data:`EVENTS`, 3 for nothing of the kind; -1 if the truth is missing, -2 if only a
    prediction is.

    >>> impact_codes([0.5, 0.5, 0.5], [0.6, 0.5, 0.6], [0.5, 0.6, 0.62]).tolist()
    [2, 0, 3]
    """
    same_length(np.asarray(truth), np.asarray(baseline))
    before, after = (is_unchanged(truth, each) for each in (baseline, candidate))
    moved = is_unchanged(baseline, candidate) == 0
    truth = np.asarray(truth)
    codes = np.full(len(before), NOTHING, dtype=np.int8)
    codes[(before == 1) & (after == 0) & moved] = 0
    codes[(before == 0) & (after == 0) & moved] = 1
    codes[(before == 0) & (after == 1) & moved] = 2
    codes[np.isnan(before) | np.isnan(after)] = -2
    codes[np.isnan(numbers(truth)) if truth.dtype.kind in "fiu" else pd.isna(truth)] = -1
    return codes


def impact(truth: Predictions, baseline: Predictions, candidate: Predictions) -> Statistic:
    """Share of segments with each of :data:`EVENTS`; and the *net*, corrections minus added errors.

    >>> impact(["a", "b", "b", "a"], ["a", "a", "c", "b"], ["b", "b", "b", "b"])
    Statistic({'added errors': 0.25, 'changed errors': 0.0, 'corrections': 0.5, 'net': 0.25})
    """
    codes = impact_codes(truth, baseline, candidate)

    def compute(sums: np.ndarray) -> np.ndarray:
        counts = sums[..., :NOTHING]
        return ratio(np.concatenate([counts, counts[..., 2:] - counts[..., :1]], axis=-1), total(sums))

    return of_cells(codes, NOTHING + 1, codes == -2, compute, (*EVENTS, "net"))
