r"""How well numbers are predicted: agreement, correlation, error, and precision and recall of value ranges.

Conventions
-----------
- Numbers lie nominally between 0 and 1; other ranges work too.
- Moments are taken around the middle of the range of each array, so that the squares of numbers that lie
  close together do not cancel. A variance that is below the rounding error of its own terms is zero:
  predictions that are all equal are constant, in the whole as in every group and replicate.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from soundcheck.metrics import classification
from soundcheck.metrics.additive import Columns, Statistic, numbers, ratio, same_length, segments

EDGES = (0.25, 0.5, 0.75)
BINS = ("(-inf, 0.25]", "(0.25, 0.5]", "(0.5, 0.75]", "(0.75, inf]")  # closed on the right

# Squares carry a relative error of one half eps, their mean and the square of the mean a few more.
_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclasses.dataclass(frozen=True)
class Moments:
    """Second moments around the means, arrays ``(..., 1)``: of sums, or of averages with an ``n`` of 1."""

    n: np.ndarray
    truth: np.ndarray
    prediction: np.ndarray
    both: np.ndarray
    shift: np.ndarray  # mean prediction minus mean truth


def _pair(truth: Sequence[float], prediction: Sequence[float]) -> tuple[np.ndarray, ...]:
    """Give truth, prediction, contributing rows and rows without prediction."""
    truth, prediction = numbers(truth), numbers(prediction)
    same_length(truth, prediction)
    labelled, answered = ~np.isnan(truth), ~np.isnan(prediction)
    return truth, prediction, labelled & answered, labelled & ~answered


def _centred(values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Subtract the middle of the range, which does not depend on the order of the segments."""
    there = values if rows.all() else values[rows]
    middle = (there.min() + there.max()) / 2 if there.size else 0.0
    return _zero_outside(values - middle, rows), float(middle)


def _zero_outside(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Put 0 where nothing contributes; the same array if everything does."""
    return column if rows.all() else np.where(rows, column, 0.0)


def concordance(m: Moments) -> np.ndarray:
    """Compute the concordance correlation coefficient; see :func:`concordance_cc`."""
    return ratio(2 * m.both, m.truth + m.prediction + m.n * m.shift**2)


def _against_concordance(m: Moments) -> str:
    alike = m.truth[0] == 0 and m.prediction[0] == 0 and m.shift[0] == 0
    return "constant truth and prediction" if alike else ""


def _pearson(m: Moments) -> np.ndarray:
    # Two roots instead of the root of the product, which could underflow.
    return np.clip(ratio(m.both, np.sqrt(m.truth) * np.sqrt(m.prediction)), -1.0, 1.0)


def _against_pearson(m: Moments) -> str:
    if m.prediction[0] == 0:
        return "constant prediction"
    return "constant truth" if m.truth[0] == 0 else ""


def correlations(truth: Sequence[float], prediction: Sequence[float]) -> tuple[Statistic, Statistic]:
    """Give :func:`concordance_cc` and :func:`pearson_cc` on shared sums, which costs as much as one.

    Returns concordance and Pearson correlation coefficient, the same as each alone.
    """
    truth, prediction, rows, missing_predictions = _pair(truth, prediction)
    x, middle_x = _centred(truth, rows)
    y, middle_y = _centred(prediction, rows)

    def moments(sums: np.ndarray) -> Moments:
        n, sx, sy, sxx, syy, sxy = (sums[..., i : i + 1] for i in range(6))
        mean_x, mean_y = ratio(sx, n), ratio(sy, n)
        vx, vy = sxx - sx * mean_x, syy - sy * mean_y
        vx = np.where(vx <= _ROUNDING * sxx, 0.0, vx)
        vy = np.where(vy <= _ROUNDING * syy, 0.0, vy)
        both = np.where((vx > 0) & (vy > 0), sxy - sx * mean_y, 0.0)
        shift = mean_y - mean_x + (middle_y - middle_x)
        scale = np.abs(mean_x) + np.abs(mean_y) + abs(middle_x) + abs(middle_y)
        return Moments(n, vx, vy, both, np.where(np.abs(shift) <= _ROUNDING * scale, 0.0, shift))

    part = Columns(rows, missing_predictions, (x, y, x * x, y * y, x * y))

    def statistic(compute: Callable[[Moments], np.ndarray], reason: Callable[[Moments], str]) -> Statistic:
        def reasons(sums: np.ndarray) -> tuple[str, ...]:
            n = round(float(sums[0]))
            return (segments(n) if n < 2 else reason(moments(sums)),)

        def finished(sums: np.ndarray) -> np.ndarray:
            found = moments(sums)
            return np.where(found.n >= 2, compute(found), np.nan)

        return Statistic(parts=(part,), compute=finished, count=_count, reasons=reasons)

    return statistic(concordance, _against_concordance), statistic(_pearson, _against_pearson)


def _count(sums: np.ndarray) -> np.ndarray:
    return sums[..., :1]


def concordance_cc(truth: Sequence[float], prediction: Sequence[float]) -> Statistic:
    r"""Concordance correlation coefficient, agreement of predictions with the truth.

    .. math:: \frac{2 \sum (\hat y - \bar{\hat y})(y - \bar y)}
              {\sum (\hat y - \bar{\hat y})^2 + \sum (y - \bar y)^2 + N (\bar{\hat y} - \bar y)^2}

    Lin (1989), A concordance correlation coefficient to evaluate reproducibility; population form.

    Returns one value from -1 to 1; 0 for constant predictions, undefined for fewer than 2 segments and if
    truth and prediction are the same constant.
    """
    return correlations(truth, prediction)[0]


def pearson_cc(truth: Sequence[float], prediction: Sequence[float]) -> Statistic:
    r"""Pearson correlation coefficient.

    .. math:: \frac{\sum (\hat y - \bar{\hat y})(y - \bar y)}
              {\sqrt{\sum (\hat y - \bar{\hat y})^2 \sum (y - \bar y)^2}}

    Returns one value from -1 to 1; undefined for fewer than 2 segments, constant truth or constant
    prediction.
    """
    return correlations(truth, prediction)[1]


def mean_absolute_error(truth: Sequence[float], prediction: Sequence[float]) -> Statistic:
    r"""Mean absolute error, :math:`\frac1N \sum |\hat y - y|`.

    Returns one value of at least 0, in the unit of the labels; undefined without segments only.
    """
    truth, prediction, rows, missing_predictions = _pair(truth, prediction)
    return _mean(np.abs(prediction - truth), rows, missing_predictions)


def mean_error(truth: Sequence[float], prediction: Sequence[float]) -> Statistic:
    r"""Mean signed error, :math:`\frac1N \sum (\hat y - y)`; positive if the model predicts too much.

    Returns one value; undefined without segments only.
    """
    truth, prediction, rows, missing_predictions = _pair(truth, prediction)
    return _mean(prediction - truth, rows, missing_predictions)


def mean_value(prediction: Sequence[float]) -> Statistic:
    r"""Mean of the predictions; needs no truth.

    - ``prediction``: numbers, ``(N,)``; missing ones count as missing predictions.
    - Returns one value; undefined without segments only.
    """
    prediction = numbers(prediction)
    return _mean(prediction, ~np.isnan(prediction), np.isnan(prediction))


def _mean(column: np.ndarray, rows: np.ndarray, missing_predictions: np.ndarray) -> Statistic:
    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums[0] > 0 else segments(0),)

    return Statistic(
        parts=(Columns(rows, missing_predictions, (_zero_outside(column, rows),)),),
        compute=lambda sums: ratio(sums[..., 1:], sums[..., :1]),
        count=_count,
        reasons=reasons,
    )


def bin_numbers(array: Sequence[float], edges: Sequence[float] = EDGES) -> np.ndarray:
    """Turn numbers into bins, int8 ``(N,)`` from 0, -1 if missing; bins are closed on the right.

    >>> bin_numbers([0.25, 0.26, 3.0, float("nan")]).tolist()
    [0, 1, 3, -1]
    """
    array = numbers(array)
    found = np.searchsorted(np.asarray(edges), array, side="left")
    return np.where(np.isnan(array), -1, found).astype(np.int8)


def bin_counts(array: Sequence[float]) -> np.ndarray:
    """Count the values in each of the four bins, int64 ``(4,)``."""
    found = bin_numbers(array)
    return np.bincount(found[found >= 0], minlength=len(BINS))


def precision_per_bin(truth: Sequence[float], prediction: Sequence[float]) -> Statistic:
    """Precision of each of the four value ranges: how many of the segments predicted there lie there.

    Returns four values from 0 to 1, labels :data:`BINS`; degenerate cases as in
    :func:`soundcheck.metrics.classification.precision_per_class`.
    """
    return classification.precision_of_codes(*_binned(truth, prediction), BINS, "bin")


def recall_per_bin(truth: Sequence[float], prediction: Sequence[float]) -> Statistic:
    """Recall of each of the four value ranges: how many of the segments there are predicted there.

    Returns four values from 0 to 1, labels :data:`BINS`; degenerate cases as in
    :func:`soundcheck.metrics.classification.recall_per_class`.
    """
    return classification.recall_of_codes(*_binned(truth, prediction), BINS, "bin")


def _binned(truth: Sequence[float], prediction: Sequence[float]) -> tuple[np.ndarray, ...]:
    """Give bins of truth and prediction and the segments without prediction."""
    truth, prediction, _, missing_predictions = _pair(truth, prediction)
    return bin_numbers(truth), bin_numbers(prediction), missing_predictions
