r"""How predictions are distributed: proportions of classes and value ranges, and the distance to the truth.

Conventions
-----------
- Proportions of predictions need no truth. A prediction that is not one of the classes counts among all
  predictions, so that proportions may add up to less than 1.
- Differences between predictions and truth are taken over the same segments: those with a truth (one of the
  classes, if there are classes) and a prediction.
- Bins are closed on the right; the first also holds its left edge, and what lies outside the range counts in
  the outer bins.
"""

from collections.abc import Sequence

import numpy as np

from soundcheck.common.tasks import DECIMAL
from soundcheck.metrics.additive import Numbers, Statistic, numbers, of_cells, ratio, same_length, total
from soundcheck.metrics.classification import Names, class_numbers, paired_codes
from soundcheck.metrics.regression import BINS, bin_numbers


def _proportions(codes: np.ndarray, labels: Sequence[str], n_cells: int) -> Statistic:
    def compute(sums: np.ndarray) -> np.ndarray:
        return ratio(sums[..., : len(labels)], total(sums))

    return of_cells(codes, n_cells, codes < 0, compute, labels)


def class_proportions(prediction: Names, classes: Sequence[str]) -> Statistic:
    r"""Proportion of each class among the predictions, :math:`|\{\hat y = c\}| / N`; needs no truth.

    >>> class_proportions(["joy", "joy", "fear", "joy"], ["fear", "joy"])
    Statistic({'fear': 0.25, 'joy': 0.75})
    """
    return _proportions(class_numbers(prediction, classes), classes, len(classes) + 1)


def bin_proportions(prediction: Numbers) -> Statistic:
    """Proportion of each of the four value ranges among the predictions; needs no truth.

    >>> bin_proportions([0.1, 0.2, 0.6, 0.9])
    Statistic({'(-inf, 0.25]': 0.5, '(0.25, 0.5]': 0.0, '(0.5, 0.75]': 0.25, '(0.75, inf]': 0.25})
    """
    return _proportions(bin_numbers(prediction), BINS, len(BINS))


def relative_difference_per_class(truth: Names, prediction: Names, classes: Sequence[str]) -> Statistic:
    r"""Proportion of each class among the predictions minus its proportion in the truth.

    .. math:: \frac{|\{\hat y = c\}| - |\{y = c\}|}{N}

    >>> relative_difference_per_class(["joy", "fear"], ["joy", "joy"], ["fear", "joy"])
    Statistic({'fear': -0.5, 'joy': 0.5})
    """
    n, codes = len(classes), (class_numbers(truth, classes), class_numbers(prediction, classes))
    cells, missing = paired_codes(codes, n)

    def compute(sums: np.ndarray) -> np.ndarray:
        matrix = sums.reshape(*sums.shape[:-1], n, n + 1)
        return ratio(matrix[..., :n].sum(axis=-2) - matrix.sum(axis=-1), total(sums))

    return of_cells(cells, n * (n + 1), missing, compute, classes)


def histogram_numbers(array: Numbers, bins: int = 10) -> np.ndarray:
    """Turn numbers into bins of equal width from 0 to 1, int32 ``(N,)`` from 0, -1 if missing.

    >>> histogram_numbers([0.0, 0.1, 0.11, 0.3, 1.7, float("nan")]).tolist()
    [0, 0, 1, 2, 9, -1]
    """
    array = numbers(array)
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    # An edge such as 0.3 is 0.30000000000000004 when computed; a label of 0.3 lies on it all the same.
    places = np.searchsorted(edges + DECIMAL, array, side="left")
    return np.where(np.isnan(array), -1, places).astype(np.int32)


def jensen_shannon_distance(truth: Numbers, prediction: Numbers, bins: int = 10) -> Statistic:
    r"""Distance of the histograms of truth and predictions.

    .. math:: \sqrt{\tfrac12 \mathrm{KL}_2(P \| M) + \tfrac12 \mathrm{KL}_2(Q \| M)},
              \quad M = \tfrac12 (P + Q)

    Lin (1991), Divergence measures based on the Shannon entropy.

    - ``bins``: number of bins of equal width from 0 to 1.
    - Returns one value from 0, equal histograms, to 1, no bin in common; undefined without segments only.

    >>> jensen_shannon_distance([0.1, 0.1], [0.9, 0.9])
    Statistic(1.0)
    """
    x, y = histogram_numbers(truth, bins), histogram_numbers(prediction, bins)
    same_length(x, y)
    codes = np.where((x >= 0) & (y >= 0), x * bins + y, -1)

    def compute(sums: np.ndarray) -> np.ndarray:
        matrix = sums.reshape(*sums.shape[:-1], bins, bins)
        p, q = (ratio(matrix.sum(axis=axis), total(sums)) for axis in (-1, -2))
        mean = (p + q) / 2
        divergence = total(_information(p, mean) + _information(q, mean)) / 2
        # Rounding may leave a little less than 0 of equal histograms, and a little more than 1.
        return np.sqrt(np.clip(divergence, 0.0, 1.0))

    return of_cells(codes, bins * bins, (x >= 0) & (y < 0), compute)


def _information(p: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Terms of the Kullback-Leibler divergence to base 2; 0 where ``p`` is 0."""
    positive = p > 0
    quotient = np.divide(p, mean, out=np.ones_like(p), where=positive)
    return np.where(np.isnan(p), np.nan, np.where(positive, p, 0.0) * np.log2(quotient))


def proportion_in_range(prediction: Numbers, low: float = -np.inf, high: float = np.inf) -> Statistic:
    """Proportion of predictions in a range, both ends included; needs no truth.

    >>> proportion_in_range([0.1, 0.2, 0.6, 0.9], 0.2, 0.6)
    Statistic(0.5)
    """
    if not low <= high:
        raise ValueError(f"The range from {low} to {high} is empty.")
    prediction = numbers(prediction)
    missing = np.isnan(prediction)
    codes = np.where(missing, -1, (prediction >= low) & (prediction <= high))
    return of_cells(codes, 2, missing, lambda sums: ratio(sums[..., 1:], total(sums)))
