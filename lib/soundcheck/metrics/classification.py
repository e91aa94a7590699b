r"""How well classes are predicted: confusion, recall, precision and their unweighted averages.

Conventions
-----------
- The classes are always given explicitly.
- All metrics are computed from the confusion cells: rows are the classes of the truth, columns the classes of
  the prediction and one more for every other answer. An answer that is not one of the classes is wrong.
- Segments whose truth is not one of the classes are left out.
- A class that does not occur in the truth has neither recall nor precision, and averages pass over it. A
  class that is never predicted has precision 0. A single segment has none of these values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from soundcheck.metrics.additive import Cells, Finish, Statistic, ratio, same_length, segments

ONE_CLASS = "not informative"  # how the note of an average over a single class begins


def class_numbers(names: Sequence[str], classes: Sequence[str]) -> np.ndarray:
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
        codes, found = names.codes, names.categories
    else:
        codes, found = pd.factorize(names)
    order = {name: number for number, name in enumerate(classes)}
    # The last one is for the code -1, which stands for missing.
    return np.array([*(order.get(name, len(classes)) for name in found), -1], dtype=np.int16)[codes]


def class_counts(names: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """Count the segments of each class, int64 ``(classes,)``; missing and other names are not counted.

    >>> class_counts(["joy", None, "joy", "boredom"], ["joy", "sadness"]).tolist()
    [2, 0]
    """
    found = class_numbers(names, classes)
    return np.bincount(found[found >= 0], minlength=len(classes))[: len(classes)]


def _cells(
    truth: np.ndarray,
    prediction: np.ndarray,
    missing_predictions: np.ndarray,
    classes: Sequence[str],
    compute: Callable[[np.ndarray], np.ndarray],
    count: Callable[[np.ndarray], np.ndarray],
    reasons: Callable[[np.ndarray], tuple[str, ...]],
    notes: Callable[[np.ndarray], tuple[str, ...]] = lambda _: (),
    labels: Sequence[str] = ("",),
) -> Statistic:
    """Make a statistic whose functions take confusion counts ``(..., classes, classes + 1)``."""
    same_length(truth, prediction)
    n = len(classes)
    rows = (truth >= 0) & (truth < n) & (prediction >= 0)
    cells = np.where(rows, truth.astype(np.int32) * (n + 1) + np.minimum(prediction, n), 0).astype(np.int32)

    def on_matrix(function: Callable) -> Finish:
        return lambda sums: function(sums.reshape(*sums.shape[:-1], n, n + 1))

    def all_reasons(matrix: np.ndarray) -> tuple[str, ...]:
        total = round(float(matrix.sum()))
        return (segments(total),) * len(labels) if total < 2 else reasons(matrix)

    return Statistic(
        parts=(Cells(rows, missing_predictions & (truth >= 0) & (truth < n), cells, n * (n + 1)),),
        compute=on_matrix(compute),
        count=on_matrix(count),
        labels=tuple(labels),
        reasons=on_matrix(all_reasons),
        notes=on_matrix(notes),
    )


def recalls(matrix: np.ndarray) -> np.ndarray:
    """Compute the recall of each class from confusion counts, ``(..., classes)``.

    - ``matrix``: rows are the truth, columns the prediction, perhaps one more for other answers: ``(...,
      classes, classes)`` or ``(..., classes, classes + 1)``.
    """
    n = matrix.shape[-2]
    return ratio(np.diagonal(matrix[..., :n], axis1=-2, axis2=-1), matrix.sum(axis=-1))


def precisions(matrix: np.ndarray) -> np.ndarray:
    """Compute the precision of each class from confusion counts; see :func:`recalls`."""
    n = matrix.shape[-2]
    predicted = matrix[..., :n].sum(axis=-2)
    correct = np.diagonal(matrix[..., :n], axis1=-2, axis2=-1)
    found = np.where(predicted > 0, ratio(correct, predicted), 0.0)
    return np.where(matrix.sum(axis=-1) > 0, found, np.nan)


def _named(matrix: np.ndarray) -> np.ndarray:
    """Give the share of answers that name each class that occurs."""
    n = matrix.shape[-2]
    found = ratio(matrix[..., :n].sum(axis=-2), matrix.sum(axis=(-2, -1))[..., np.newaxis])
    return np.where(matrix.sum(axis=-1) > 0, found, np.nan)


def _occurring(matrix: np.ndarray) -> np.ndarray:
    """Give the share of labels of each class that occurs."""
    found = ratio(matrix.sum(axis=-1), matrix.sum(axis=(-2, -1))[..., np.newaxis])
    return np.where(found > 0, found, np.nan)


def _average(per_class: np.ndarray) -> np.ndarray:
    """Average over the classes that occur, ``(..., classes)`` to ``(..., 1)``."""
    occurs = ~np.isnan(per_class)
    total = np.where(occurs, per_class, 0.0).sum(axis=-1, keepdims=True)
    return ratio(total, occurs.sum(axis=-1, keepdims=True))


def _absent(classes: Sequence[str], noun: str) -> Callable[[np.ndarray], tuple[str, ...]]:
    names = [f"{noun} '{name}'" if noun == "class" else f"{noun} {name}" for name in classes]

    def reasons(matrix: np.ndarray) -> tuple[str, ...]:
        present = matrix.sum(axis=-1) > 0
        return tuple(
            "" if there else f"{name} does not occur in the truth"
            for name, there in zip(names, present, strict=True)
        )

    return reasons


def recall_of_codes(
    truth: np.ndarray,
    prediction: np.ndarray,
    missing_predictions: np.ndarray,
    labels: Sequence[str],
    noun: str,
) -> Statistic:
    """Recall of numbered classes or bins: integers from 0, -1 if missing; reasons call them ``noun``."""
    return _cells(
        truth,
        prediction,
        missing_predictions,
        labels,
        compute=recalls,
        count=lambda matrix: matrix.sum(axis=-1),
        reasons=_absent(labels, noun),
        labels=labels,
    )


def precision_of_codes(
    truth: np.ndarray,
    prediction: np.ndarray,
    missing_predictions: np.ndarray,
    labels: Sequence[str],
    noun: str,
) -> Statistic:
    """Precision of numbered classes or bins: integers from 0, -1 if missing; reasons call them ``noun``."""

    def count(matrix: np.ndarray) -> np.ndarray:
        predicted = matrix[..., : len(labels)].sum(axis=-2)
        # A class that is never predicted gets its 0 for the segments of the class, all of which were missed.
        return np.where(predicted > 0, predicted, matrix.sum(axis=-1))

    return _cells(
        truth,
        prediction,
        missing_predictions,
        labels,
        compute=precisions,
        count=count,
        reasons=_absent(labels, noun),
        labels=labels,
    )


def _coded(
    truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    truth, prediction = class_numbers(truth, classes), class_numbers(prediction, classes)
    same_length(truth, prediction)
    return truth, prediction, (truth >= 0) & (prediction < 0)


def recall_per_class(truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]) -> Statistic:
    """Recall of each class: how many of its segments are recognised.

    Returns a value from 0 to 1 for each class; counts the segments of the class. Undefined for a class that
    does not occur in the truth.
    """
    return recall_of_codes(*_coded(truth, prediction, classes), classes, "class")


def precision_per_class(truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]) -> Statistic:
    """Precision of each class: how many of the segments called so belong to it.

    Returns a value from 0 to 1 for each class; counts the segments predicted as the class. 0 for a class that
    occurs and is never predicted, undefined for a class that does not occur in the truth.
    """
    return precision_of_codes(*_coded(truth, prediction, classes), classes, "class")


def chance_of(
    measure: str, truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]
) -> Statistic:
    """Give what a measure would be if the same answers were given at random, each class as often.

    The recall of a class is then the share of answers that name it, its precision the share of its labels.

    - ``measure``: ``recall``, ``precision``, ``unweighted_average_recall`` or
      ``unweighted_average_precision``.

    >>> found = chance_of("recall", ["a", "b"], ["a", "a"], ["a", "b"])
    >>> found.compute(found.sums()).tolist()
    [1.0, 0.0]
    """
    shares = _named if measure.endswith("recall") else _occurring
    if measure.startswith("unweighted"):
        return _averaged(truth, prediction, classes, shares)
    return _cells(
        *_coded(truth, prediction, classes),
        classes,
        compute=shares,
        count=lambda matrix: matrix.sum(axis=-1),
        reasons=_absent(classes, "class"),
        labels=classes,
    )


def unweighted_average_recall(
    truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]
) -> Statistic:
    """Mean of the recalls of the classes that occur in the truth.

    Returns one value from 0 to 1; a note says when classes do not occur.
    """
    return _averaged(truth, prediction, classes, recalls)


def unweighted_average_precision(
    truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]
) -> Statistic:
    """Mean of the precisions of the classes that occur in the truth.

    Returns one value from 0 to 1; a note says when classes do not occur.
    """
    return _averaged(truth, prediction, classes, precisions)


def accuracy(truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]) -> Statistic:
    """Proportion of segments whose class is recognised.

    Returns one value from 0 to 1; undefined without segments only.
    """
    n = len(classes)
    return _cells(
        *_coded(truth, prediction, classes),
        classes,
        compute=lambda matrix: ratio(
            np.trace(matrix[..., :n], axis1=-2, axis2=-1)[..., np.newaxis], _total(matrix)
        ),
        count=_total,
        reasons=lambda _: ("",),
    )


def _total(matrix: np.ndarray) -> np.ndarray:
    """Count all segments, ``(..., 1)``."""
    return matrix.sum(axis=(-2, -1))[..., np.newaxis]


def _averaged(
    truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str], per_class: Finish
) -> Statistic:
    def notes(matrix: np.ndarray) -> tuple[str, ...]:
        present = int((matrix.sum(axis=-1) > 0).sum())
        if present == 1 < len(classes):
            return (f"{ONE_CLASS}: 1 class in the truth",)
        return (f"over {present} of {len(classes)} classes" if present < len(classes) else "",)

    return _cells(
        *_coded(truth, prediction, classes),
        classes,
        compute=lambda matrix: _average(per_class(matrix)),
        count=_total,
        reasons=lambda _: ("",),
        notes=notes,
    )


def confusion(truth: Sequence[str], prediction: Sequence[str], classes: Sequence[str]) -> np.ndarray:
    """Count pairs of truth and prediction.

    Returns int64 ``(classes, classes + 1)``; rows are the truth, columns the prediction, the last one is for
    answers outside the classes. Segments without truth or prediction are not counted.
    """
    sums = unweighted_average_recall(truth, prediction, classes).sums()
    return np.rint(sums).astype(np.int64).reshape(len(classes), len(classes) + 1)
