r"""How predictions are distributed: proportions of classes and value ranges, and the distance to the truth.

Conventions
-----------
- Proportions of predictions need no truth. An answer that is not one of the classes counts among all
  answers, so that proportions may add up to less than 1.
- Differences between predictions and truth are taken over the same segments: those with a truth (one of the
  classes, if there are classes) and a prediction.
- Bins are closed on the right; the first also holds its left edge, and what lies outside the range counts in
  the outer bins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from soundcheck.common.precision import DECIMAL
from soundcheck.metrics.additive import Cells, Statistic, numbers, ratio, same_length, segments
from soundcheck.metrics.classification import class_numbers
from soundcheck.metrics.regression import BINS, bin_numbers


def _cells(
    codes: np.ndarray,
    n_cells: int,
    missing_predictions: np.ndarray,
    compute: Callable[[np.ndarray], np.ndarray],
    labels: Sequence[str] = ("",),
) -> Statistic:
    """Make a statistic of counts; codes below 0 do not contribute, and every value rests on all others."""
    rows = codes >= 0

    def count(sums: np.ndarray) -> np.ndarray:
        total = sums.sum(axis=-1, keepdims=True)
        return np.broadcast_to(total, (*total.shape[:-1], len(labels)))

    def reasons(sums: np.ndarray) -> tuple[str, ...]:
        return ("" if sums.sum() > 0 else segments(0),) * len(labels)

    return Statistic(
        parts=(Cells(rows, missing_predictions, np.where(rows, codes, 0).astype(np.int32), n_cells),),
        compute=compute,
        count=count,
        labels=tuple(labels),
        reasons=reasons,
    )


def _proportions(codes: np.ndarray, labels: Sequence[str], others: int) -> Statistic:
    n = len(labels)
    return _cells(
        codes,
        n + others,
        codes < 0,
        lambda sums: ratio(sums[..., :n], sums.sum(axis=-1, keepdims=True)),
        labels,
    )


def class_proportions(prediction: Sequence[str], classes: Sequence[str]) -> Statistic:
    """Proportion of each class among the predictions; needs no truth.

    - ``prediction``: class names, ``(N,)``; missing ones count as missing predictions.
    - Returns a value from 0 to 1 for each class; undefined without predictions only.
    """
    return _proportions(class_numbers(prediction, classes), classes, 1)


def bin_proportions(prediction: Sequence[float]) -> Statistic:
    """Proportion of each of the four value ranges among the predictions; needs no truth.

    - ``prediction``: numbers, ``(N,)``; missing ones count as missing predictions.
    - Returns four values from 0 to 1, labels :data:`soundcheck.metrics.regression.BINS`.
    """
    return _proportions(bin_numbers(prediction), BINS, 0)


def _difference_of_proportions(truth: np.ndarray, prediction: np.ndarray, labels: Sequence[str]) -> Statistic:
    """Compare codes from 0 to ``len(labels)``, the last for other answers; -1 if missing."""
    same_length(truth, prediction)
    n = len(labels)
    labelled = (truth >= 0) & (truth < n)
    there = labelled & (prediction >= 0)
    codes = np.where(there, truth.astype(np.int32) * (n + 1) + prediction, -1)

    def compute(sums: np.ndarray) -> np.ndarray:
        matrix = sums.reshape(*sums.shape[:-1], n, n + 1)
        total = sums.sum(axis=-1, keepdims=True)
        return ratio(matrix[..., :n].sum(axis=-2) - matrix.sum(axis=-1), total)

    return _cells(codes, n * (n + 1), labelled & (prediction < 0), compute, labels)


def relative_difference_per_class(
    truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]
) -> Statistic:
    r"""Proportion of each class among the predictions minus its proportion in the truth.

    .. math:: \frac{|\{\hat y = c\}| - |\{y = c\}|}{N}

    Returns a value from -1 to 1 for each class; undefined without segments only.
    """
    return _difference_of_proportions(
        class_numbers(truth, classes), class_numbers(prediction, classes), classes
    )


def relative_difference_per_bin(truth: Sequence[float], prediction: Sequence[float]) -> Statistic:
    """Proportion of each of the four value ranges among the predictions minus its proportion in the truth.

    Returns four values from -1 to 1, labels :data:`soundcheck.metrics.regression.BINS`.
    """
    return _difference_of_proportions(bin_numbers(truth), bin_numbers(prediction), BINS)


def histogram_numbers(array: Sequence[float], bins: int = 10) -> np.ndarray:
    """Turn numbers into bins of equal width from 0 to 1, int32 ``(N,)`` from 0, -1 if missing.

    >>> histogram_numbers([0.0, 0.1, 0.11, 0.3, 1.7, float("nan")]).tolist()
    [0, 0, 1, 2, 9, -1]
    """
    array = numbers(array)
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    # An edge such as 0.3 is 0.30000000000000004 when computed; a label of 0.3 lies on it all the same.
    found = np.searchsorted(edges + DECIMAL, array, side="left")
    return np.where(np.isnan(array), -1, found).astype(np.int32)


def jensen_shannon_distance(truth: Sequence[float], prediction: Sequence[float], bins: int = 10) -> Statistic:
    r"""Distance of the histograms of truth and predictions.

    .. math:: \sqrt{\tfrac12 \mathrm{KL}_2(P \| M) + \tfrac12 \mathrm{KL}_2(Q \| M)},
              \quad M = \tfrac12 (P + Q)

    Lin (1991), Divergence measures based on the Shannon entropy.

    - ``bins``: number of bins of equal width from 0 to 1.
    - Returns one value from 0, equal histograms, to 1, no bin in common; undefined without segments only.
    """
    x, y = histogram_numbers(truth, bins), histogram_numbers(prediction, bins)
    same_length(x, y)
    codes = np.where((x >= 0) & (y >= 0), x * bins + y, -1)

    def compute(sums: np.ndarray) -> np.ndarray:
        matrix = sums.reshape(*sums.shape[:-1], bins, bins)
        total = sums.sum(axis=-1, keepdims=True)
        p, q = ratio(matrix.sum(axis=-1), total), ratio(matrix.sum(axis=-2), total)
        mean = (p + q) / 2
        divergence = (_information(p, mean) + _information(q, mean)).sum(axis=-1, keepdims=True) / 2
        # Rounding may leave a little less than 0 of equal histograms, and a little more than 1.
        return np.sqrt(np.clip(divergence, 0.0, 1.0))

    return _cells(codes, bins * bins, (x >= 0) & (y < 0), compute)


def _information(p: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Terms of the Kullback-Leibler divergence to base 2; 0 where ``p`` is 0."""
    there = p > 0
    quotient = np.divide(p, mean, out=np.ones_like(p), where=there)
    return np.where(np.isnan(p), np.nan, np.where(there, p, 0.0) * np.log2(quotient))


def proportion_in_range(prediction: Sequence[float], low: float = -np.inf, high: float = np.inf) -> Statistic:
    """Proportion of predictions in a range, both ends included; needs no truth.

    - ``prediction``: numbers, ``(N,)``; missing ones count as missing predictions.
    - Returns one value from 0 to 1; undefined without predictions only.
    - Raises ValueError: if ``low`` is above ``high``.
    """
    if not low <= high:
        raise ValueError(f"The range from {low} to {high} is empty.")
    prediction = numbers(prediction)
    missing = np.isnan(prediction)
    inside = (prediction >= low) & (prediction <= high)
    codes = np.where(missing, -1, inside)
    return _cells(codes, 2, missing, lambda sums: ratio(sums[..., 1:], sums.sum(axis=-1, keepdims=True)))
