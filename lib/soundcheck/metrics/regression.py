r"""How well numbers are predicted: agreement, correlation, error, and precision and recall of value ranges.

Conventions
-----------
- Numbers lie nominally between 0 and 1; other ranges work too.
- Moments are taken around the middle of the range of each array, so that the squares of numbers that lie
  close together do not cancel. A variance that is below the rounding error of its own terms is zero:
  predictions that are all equal are constant, in the whole as in every group and replicate.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from soundcheck.metrics import classification
from soundcheck.metrics.additive import (
    Numbers,
    Statistic,
    mean_column,
    no_segments,
    numbers,
    of_columns,
    ratio,
    same_length,
    segments,
)

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


def _pair(truth: Numbers, prediction: Numbers) -> tuple[np.ndarray, ...]:
    """Give truth, prediction, contributing rows and rows without prediction."""
    truth, prediction = numbers(truth), numbers(prediction)
    same_length(truth, prediction)
    labelled, predicted = ~np.isnan(truth), ~np.isnan(prediction)
    return truth, prediction, labelled & predicted, labelled & ~predicted


def _centred(values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Subtract the middle of the range, which does not depend on the order of the segments."""
    used = values if rows.all() else values[rows]
    middle = (used.min() + used.max()) / 2 if used.size else 0.0
    return values - middle, float(middle)


def concordance(m: Moments) -> np.ndarray:
    """Compute the concordance correlation coefficient; see :func:`concordance_cc`."""
    return ratio(2 * m.both, m.truth + m.prediction + m.n * m.shift**2)


def correlations(truth: Numbers, prediction: Numbers) -> tuple[Statistic, Statistic]:
    """Give :func:`concordance_cc` and :func:`pearson_cc` on shared sums, which costs as much as one.

    >>> correlations([0.1, 0.5, 0.9], [0.2, 0.5, 0.8])
    (Statistic(0.96), Statistic(1.0))
    """
    truth, prediction, rows, missing = _pair(truth, prediction)
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

    shared = of_columns(rows, missing, (x, y, x * x, y * y, x * y), lambda sums: sums[..., :1])

    def statistic(compute: Callable[[Moments], np.ndarray], constant: Callable[[Moments], str]) -> Statistic:
        def reasons(sums: np.ndarray) -> tuple[str, ...]:
            n = round(float(sums[0]))
            return (segments(n) if n < 2 else constant(moments(sums)),)

        def value(sums: np.ndarray) -> np.ndarray:
            m = moments(sums)
            return np.where(m.n >= 2, compute(m), np.nan)

        return dataclasses.replace(shared, compute=value, reasons=reasons)

    def pearson(m: Moments) -> np.ndarray:
        # Two roots instead of the root of the product, which could underflow.
        return np.clip(ratio(m.both, np.sqrt(m.truth) * np.sqrt(m.prediction)), -1.0, 1.0)

    def alike(m: Moments) -> str:
        constant = m.truth[0] == 0 and m.prediction[0] == 0 and m.shift[0] == 0
        return "constant truth and prediction" if constant else ""

    def either(m: Moments) -> str:
        sides = (("prediction", m.prediction), ("truth", m.truth))
        return next((f"constant {name}" for name, variance in sides if variance[0] == 0), "")

    return statistic(concordance, alike), statistic(pearson, either)


def concordance_cc(truth: Numbers, prediction: Numbers) -> Statistic:
    r"""Concordance correlation coefficient, agreement of predictions with the truth.

    .. math:: \frac{2 \sum (\hat y - \bar{\hat y})(y - \bar y)}
              {\sum (\hat y - \bar{\hat y})^2 + \sum (y - \bar y)^2 + N (\bar{\hat y} - \bar y)^2}

    Lin (1989), A concordance correlation coefficient to evaluate reproducibility; population form.

    Returns one value from -1 to 1; 0 for constant predictions, undefined for fewer than 2 segments and if
    truth and prediction are the same constant.

    >>> concordance_cc([0.1, 0.5, 0.9], [0.2, 0.5, 0.8])
    Statistic(0.96)
    """
    return correlations(truth, prediction)[0]


def pearson_cc(truth: Numbers, prediction: Numbers) -> Statistic:
    r"""Pearson correlation coefficient.

    .. math:: \frac{\sum (\hat y - \bar{\hat y})(y - \bar y)}
              {\sqrt{\sum (\hat y - \bar{\hat y})^2 \sum (y - \bar y)^2}}

    Pearson (1895), Note on regression and inheritance in the case of two parents.

    Returns one value from -1 to 1; undefined for fewer than 2 segments, constant truth or prediction.

    >>> pearson_cc([0.1, 0.5, 0.9], [0.2, 0.5, 0.8])
    Statistic(1.0)
    """
    return correlations(truth, prediction)[1]


def mean_absolute_error(truth: Numbers, prediction: Numbers) -> Statistic:
    r"""Mean absolute error, :math:`\frac1N \sum |\hat y - y|`.

    >>> mean_absolute_error([0.1, 0.5], [0.2, 0.3])
    Statistic(0.15)
    """
    truth, prediction, rows, missing = _pair(truth, prediction)
    return mean_column(np.abs(prediction - truth), rows, missing, reasons=no_segments)


def mean_error(truth: Numbers, prediction: Numbers) -> Statistic:
    r"""Mean signed error, :math:`\frac1N \sum (\hat y - y)`; positive if the model predicts too much.

    >>> mean_error([0.1, 0.5], [0.2, 0.3])
    Statistic(-0.05)
    """
    truth, prediction, rows, missing = _pair(truth, prediction)
    return mean_column(prediction - truth, rows, missing, reasons=no_segments)


def mean_value(prediction: Numbers) -> Statistic:
    r"""Mean of the predictions, :math:`\frac1N \sum \hat y`; needs no truth.

    >>> mean_value([0.2, 0.3, float("nan")])
    Statistic(0.25)
    """
    prediction = numbers(prediction)
    missing = np.isnan(prediction)
    return mean_column(prediction, ~missing, missing, reasons=no_segments)


def bin_numbers(array: Numbers) -> np.ndarray:
    """Turn numbers into bins, int8 ``(N,)`` from 0, -1 if missing; bins are closed on the right.

    >>> bin_numbers([0.25, 0.26, 3.0, float("nan")]).tolist()
    [0, 1, 3, -1]
    """
    array = numbers(array)
    bins = np.searchsorted(EDGES, array, side="left")
    return np.where(np.isnan(array), -1, bins).astype(np.int8)


def bin_counts(array: Numbers) -> np.ndarray:
    """Count the values in each of the four bins, int64 ``(4,)``."""
    bins = bin_numbers(array)
    return np.bincount(bins[bins >= 0], minlength=len(BINS))


def precision_per_bin(truth: Numbers, prediction: Numbers) -> Statistic:
    """Precision of each of the four value ranges: how many of the segments predicted there lie there.

    Returns four values from 0 to 1, labels :data:`BINS`; formula and degenerate cases as in
    :func:`soundcheck.metrics.classification.precision_per_class`.

    >>> precision_per_bin([0.1, 0.4, 0.6, 0.9], [0.1, 0.1, 0.6, 0.9])
    Statistic({'(-inf, 0.25]': 0.5, '(0.25, 0.5]': 0.0, '(0.5, 0.75]': 1.0, '(0.75, inf]': 1.0})
    """
    return classification.precision_of_codes(_binned(truth, prediction), BINS, "bin")


def recall_per_bin(truth: Numbers, prediction: Numbers) -> Statistic:
    """Recall of each of the four value ranges: how many of the segments there are predicted there.

    Returns four values from 0 to 1, labels :data:`BINS`; formula and degenerate cases as in
    :func:`soundcheck.metrics.classification.recall_per_class`.

    >>> recall_per_bin([0.1, 0.4, 0.6, 0.9], [0.1, 0.1, 0.6, 0.9])
    Statistic({'(-inf, 0.25]': 1.0, '(0.25, 0.5]': 0.0, '(0.5, 0.75]': 1.0, '(0.75, inf]': 1.0})
    """
    return classification.recall_of_codes(_binned(truth, prediction), BINS, "bin")


def _binned(truth: Numbers, prediction: Numbers) -> classification.Codes:
    return bin_numbers(truth), bin_numbers(prediction)
