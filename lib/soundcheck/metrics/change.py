r"""How much predictions change when the signal does.

Conventions
-----------
- No truth is needed.
- The change of a metric (CCC, UAR) under a change of the signal is no metric of its own:
  ``paired_difference(concordance_cc(truth, changed), concordance_cc(truth, clean))``.
- Segments without a clean or a changed prediction have no prediction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.common.precision import DECIMAL
from soundcheck.metrics.additive import Cells, Statistic, numbers, ratio, same_length, segments

TOLERANCE = 0.05  # a difference as large as this is a change


def is_unchanged(
    clean: Sequence[float] | Sequence[str],
    changed: Sequence[float] | Sequence[str],
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """Say for each segment whether its prediction stayed the same.

    - ``clean, changed``: numbers, or class names, ``(N,)``.
    - ``tolerance``: numbers: differences smaller than this are no change; one of exactly this size, within
      1e-9, is.
    - Returns float64 ``(N,)``: 1 unchanged, 0 changed, NaN if a prediction is missing.

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


def unchanged(
    clean: Sequence[float] | Sequence[str],
    changed: Sequence[float] | Sequence[str],
    tolerance: float = TOLERANCE,
) -> Statistic:
    r"""Proportion of segments whose prediction stays the same.

    .. math:: \frac1N |\{|\hat y - \hat y'| < 0.05\}|

    - ``clean, changed``: numbers, or class names, ``(N,)``.
    - ``tolerance``: see :func:`is_unchanged`.
    - Returns one value from 0 to 1; undefined without segments only.
    """
    same = is_unchanged(clean, changed, tolerance)
    missing = np.isnan(same)

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums.sum() > 0 else segments(0),)

    return Statistic(
        parts=(Cells(~missing, missing, np.where(missing, 0, same).astype(np.int8), 2),),
        compute=lambda sums: ratio(sums[..., 1:], sums.sum(axis=-1, keepdims=True)),
        count=lambda sums: sums.sum(axis=-1, keepdims=True),
        reasons=reasons,
    )
