"""How well classes are predicted: confusion, recall, precision and their unweighted averages.

Conventions
-----------
- The classes are always given explicitly.
- All metrics are computed from the confusion counts :math:`n_{kc}`: rows are the classes of the truth,
  columns the classes of the prediction and one more for every other prediction, which is wrong.
- Segments whose truth is not one of the classes are left out.
- A class that does not occur in the truth has neither recall nor precision, and averages pass over it. A
  class that is never predicted has precision 0. A single segment has none of these values.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import Statistic, SumsToValues, of_cells, ratio, same_length, segments

ONE_CLASS = "not informative"  # how the note of an average over a single class begins

Names = Sequence[str | None] | np.ndarray | pd.Series
Codes = tuple[np.ndarray, np.ndarray]  # truth and prediction from 0, -1 if missing


def class_numbers(names: Names, classes: Sequence[str]) -> np.ndarray:
    """Turn class names into int16 ``(N,)``: from 0, ``len(classes)`` for others, -1 if missing.

    A pandas categorical is numbered already, which takes a hundredth of the time of texts.

    >>> class_numbers(["joy", "sadness", None, "boredom"], ["joy", "sadness"]).tolist()
    [0, 1, -1, 2]
    """
    if len(set(classes)) != len(classes):
        raise ValueError("The same class is given twice.")
    if isinstance(getattr(names, "dtype", None), pd.api.extensions.ExtensionDtype):
        names = getattr(names, "array", names)  # of a pandas series
    else:
        names = np.asarray(names, dtype=object)
    if names.ndim != 1:
        raise ValueError(f"One class a segment is needed, not an array of shape {names.shape}.")
    if isinstance(names, pd.Categorical):
        codes, categories = names.codes, names.categories
    else:
        codes, categories = pd.factorize(names)
    order = {name: number for number, name in enumerate(classes)}
    # The last one is for the code -1, which stands for missing.
    return np.array([*(order.get(name, len(classes)) for name in categories), -1], dtype=np.int16)[codes]


def class_counts(names: Names, classes: Sequence[str]) -> np.ndarray:
    """Count the segments of each class, int64 ``(classes,)``; missing and other names are not counted.

    >>> class_counts(["joy", None, "joy", "boredom"], ["joy", "sadness"]).tolist()
    [2, 0]
    """
    codes = class_numbers(names, classes)
    return np.bincount(codes[codes >= 0], minlength=len(classes))[: len(classes)]


def paired_codes(codes: Codes, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Give cells of the confusion counts of ``n`` classes, -1 for none, and which predictions are missing."""
    truth, prediction = codes
    same_length(truth, prediction)
    labelled = (truth >= 0) & (truth < n)
    cells = truth.astype(np.int32) * (n + 1) + np.minimum(prediction, n)
    return np.where(labelled & (prediction >= 0), cells, -1), labelled & (prediction < 0)


def _of_matrix(
    codes: Codes, labels: Sequence[str], compute: SumsToValues, per_label: bool = True, **functions: Callable
) -> Statistic:
    """Make a statistic whose functions take confusion counts ``(..., classes, classes + 1)``.

    There is a value for each label, or a single one.
    """
    n = len(labels)
    cells, missing = paired_codes(codes, n)
    value_labels = tuple(labels) if per_label else ("",)
    reasons = functions.pop("reasons", lambda _: ("",))

    def all_reasons(matrix: np.ndarray) -> tuple[str, ...]:
        total = round(float(matrix.sum()))
        return (segments(total),) * len(value_labels) if total < 2 else reasons(matrix)

    def on_matrix(function: Callable) -> Callable:
        return lambda sums: function(sums.reshape(*sums.shape[:-1], n, n + 1))

    functions = {name: on_matrix(each) for name, each in (functions | {"reasons": all_reasons}).items()}
    return of_cells(cells, n * (n + 1), missing, on_matrix(compute), value_labels, **functions)


def _total(matrix: np.ndarray) -> np.ndarray:
    """Count all segments, ``(..., 1)``."""
    return matrix.sum(axis=(-2, -1))[..., np.newaxis]


def _of_truth(matrix: np.ndarray) -> np.ndarray:
    """Count the segments of each class, ``(..., classes)``."""
    return matrix.sum(axis=-1)


def recalls(matrix: np.ndarray) -> np.ndarray:
    """Compute the recall of each class from confusion counts, ``(..., classes)``.

    ``matrix`` has the truth as rows and the prediction as columns, perhaps one more for other predictions.
    """
    n = matrix.shape[-2]
    return ratio(np.diagonal(matrix[..., :n], axis1=-2, axis2=-1), _of_truth(matrix))


def precisions(matrix: np.ndarray) -> np.ndarray:
    """Compute the precision of each class from confusion counts; see :func:`recalls`."""
    n = matrix.shape[-2]
    predicted = matrix[..., :n].sum(axis=-2)
    correct = np.diagonal(matrix[..., :n], axis1=-2, axis2=-1)
    of_predicted = np.where(predicted > 0, ratio(correct, predicted), 0.0)
    return np.where(_of_truth(matrix) > 0, of_predicted, np.nan)


def _absent(classes: Sequence[str], noun: str) -> Callable[[np.ndarray], tuple[str, ...]]:
    names = [f"{noun} '{name}'" if noun == "class" else f"{noun} {name}" for name in classes]

    def reasons(matrix: np.ndarray) -> tuple[str, ...]:
        counts = zip(names, _of_truth(matrix), strict=True)
        return tuple("" if count > 0 else f"{name} does not occur in the truth" for name, count in counts)

    return reasons


def recall_of_codes(codes: Codes, labels: Sequence[str], noun: str) -> Statistic:
    """Recall of numbered classes or bins, which reasons call ``noun``.

    >>> recall_of_codes((np.array([0, 0, 1]), np.array([0, 1, 1])), ["low", "high"], "range")
    Statistic({'low': 0.5, 'high': 1.0})
    """
    return _of_matrix(codes, labels, recalls, count=_of_truth, reasons=_absent(labels, noun))


def precision_of_codes(codes: Codes, labels: Sequence[str], noun: str) -> Statistic:
    """Precision of numbered classes or bins, which reasons call ``noun``.

    >>> precision_of_codes((np.array([0, 0, 1]), np.array([0, 1, 1])), ["low", "high"], "range")
    Statistic({'low': 1.0, 'high': 0.5})
    """

    def count(matrix: np.ndarray) -> np.ndarray:
        predicted = matrix[..., : len(labels)].sum(axis=-2)
        # A class that is never predicted gets its 0 for the segments of the class, all of which were missed.
        return np.where(predicted > 0, predicted, _of_truth(matrix))

    return _of_matrix(codes, labels, precisions, count=count, reasons=_absent(labels, noun))


def _coded(truth: Names, prediction: Names, classes: Sequence[str]) -> Codes:
    return class_numbers(truth, classes), class_numbers(prediction, classes)


def recall_per_class(truth: Names, prediction: Names, classes: Sequence[str]) -> Statistic:
    r"""Recall of each class, :math:`n_{cc} / \sum_k n_{ck}`: how many of its segments are recognised.

    Returns a value from 0 to 1 for each class; counts the segments of the class. Undefined for a class that
    does not occur in the truth.

    >>> recall_per_class(["a", "a", "b"], ["a", "b", "b"], ["a", "b"])
    Statistic({'a': 0.5, 'b': 1.0})
    """
    return recall_of_codes(_coded(truth, prediction, classes), classes, "class")


def precision_per_class(truth: Names, prediction: Names, classes: Sequence[str]) -> Statistic:
    r"""Precision of each class, :math:`n_{cc} / \sum_k n_{kc}`: how many of those called so belong to it.

    Returns a value from 0 to 1 for each class; counts the segments predicted as the class. 0 for a class that
    occurs and is never predicted, undefined for a class that does not occur in the truth.

    >>> precision_per_class(["a", "a", "b"], ["a", "b", "b"], ["a", "b"])
    Statistic({'a': 1.0, 'b': 0.5})
    """
    return precision_of_codes(_coded(truth, prediction, classes), classes, "class")


def chance_of(measure: str, truth: Names, prediction: Names, classes: Sequence[str]) -> Statistic:
    """Give what a measure would be if the same predictions were made at random, each class as often.

    The recall of a class is then its share of the predictions, its precision its share of the labels.

    - ``measure``: ``recall``, ``precision``, ``unweighted_average_recall`` or
      ``unweighted_average_precision``.

    >>> chance_of("recall", ["a", "b"], ["a", "a"], ["a", "b"])
    Statistic({'a': 1.0, 'b': 0.0})
    """

    def shares(matrix: np.ndarray) -> np.ndarray:
        predicted = matrix[..., : len(classes)].sum(axis=-2)
        counts = predicted if measure.endswith("recall") else _of_truth(matrix)
        return np.where(_of_truth(matrix) > 0, ratio(counts, _total(matrix)), np.nan)

    if measure.startswith("unweighted"):
        return _averaged(truth, prediction, classes, shares)
    codes = _coded(truth, prediction, classes)
    return _of_matrix(codes, classes, shares, count=_of_truth, reasons=_absent(classes, "class"))


def unweighted_average_recall(truth: Names, prediction: Names, classes: Sequence[str]) -> Statistic:
    """Mean of the recalls of the classes that occur in the truth; a note says when classes do not.

    Schuller et al. (2009), The INTERSPEECH 2009 emotion challenge.

    >>> unweighted_average_recall(["a", "a", "b"], ["a", "b", "b"], ["a", "b"])
    Statistic(0.75)
    """
    return _averaged(truth, prediction, classes, recalls)


def unweighted_average_precision(truth: Names, prediction: Names, classes: Sequence[str]) -> Statistic:
    """Mean of the precisions of the classes that occur in the truth; a note says when classes do not.

    >>> unweighted_average_precision(["a", "a", "b"], ["a", "b", "b"], ["a", "b"])
    Statistic(0.75)
    """
    return _averaged(truth, prediction, classes, precisions)


def accuracy(truth: Names, prediction: Names, classes: Sequence[str]) -> Statistic:
    r"""Proportion of segments whose class is recognised, :math:`\sum_c n_{cc} / N`.

    >>> accuracy(["a", "a", "b", "b"], ["a", "b", "b", "b"], ["a", "b"])
    Statistic(0.75)
    """
    n = len(classes)

    def compute(matrix: np.ndarray) -> np.ndarray:
        return ratio(np.trace(matrix[..., :n], axis1=-2, axis2=-1)[..., np.newaxis], _total(matrix))

    return _of_matrix(_coded(truth, prediction, classes), classes, compute, per_label=False)


def _averaged(truth: Names, prediction: Names, classes: Sequence[str], per_class: SumsToValues) -> Statistic:
    def compute(matrix: np.ndarray) -> np.ndarray:
        of_classes = per_class(matrix)
        occurs = ~np.isnan(of_classes)
        total = np.where(occurs, of_classes, 0.0).sum(axis=-1, keepdims=True)
        return ratio(total, occurs.sum(axis=-1, keepdims=True))

    def notes(matrix: np.ndarray) -> tuple[str, ...]:
        present = int((_of_truth(matrix) > 0).sum())
        if present == 1 < len(classes):
            return (f"{ONE_CLASS}: 1 class in the truth",)
        return (f"over {present} of {len(classes)} classes" if present < len(classes) else "",)

    return _of_matrix(_coded(truth, prediction, classes), classes, compute, per_label=False, notes=notes)


def with_label_shares(statistic: Statistic, counts: Sequence[int]) -> Statistic:
    r"""Compute precision as if labels had given shares, so that groups with other labels can be compared.

    Precision depends on how frequent a class is: of a model that guesses it is the share of the class. With
    the shares :math:`r_{kc}` of the segments of label :math:`k` that are called :math:`c`, and the given
    shares :math:`\pi_k` of labels, the precision of class :math:`c` is

    .. math:: \frac{\pi_c r_{cc}}{\sum_k \pi_k r_{kc}}

    - ``statistic``: from :func:`precision_per_class` or
      :func:`soundcheck.metrics.regression.precision_per_bin`.
    - ``counts``: how often each class or bin is to be the label, ``(m,)``; only their proportions matter.
      Classes that do not occur among the labels are left out.

    >>> precision = precision_per_class(["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "b"])
    >>> with_label_shares(precision, [1, 1])
    Statistic({'a': 1.0, 'b': 0.75})
    """
    shares = np.asarray(counts, dtype=np.float64)[:, np.newaxis]
    n = len(shares)
    if statistic.size != n * (n + 1):
        raise ValueError(f"A statistic of {n} classes is needed, with their confusion counts.")

    def compute(sums: np.ndarray) -> np.ndarray:
        matrix = sums.reshape(*sums.shape[:-1], n, n + 1)
        labelled = matrix.sum(axis=-1, keepdims=True)
        weighed = np.where(labelled > 0, ratio(matrix, labelled), 0.0) * shares
        return statistic.compute(weighed.reshape(sums.shape))

    return dataclasses.replace(statistic, compute=compute)
