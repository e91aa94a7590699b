"""Scores of fairness tests from sums over groups: what simulated models are compared by.

Conventions
-----------
- A score needs counts, or moments, of a group alone; nothing is skipped, and a proportion of nothing is 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from soundcheck.metrics.classification import precisions, recalls
from soundcheck.metrics.regression import Moments, concordance

CONTEXTS = 3  # sentiments
OF_CLASSES = ("uniform", "sparse")  # distributions of predictions
OF_NUMBERS = ("gaussian",)


@dataclasses.dataclass(frozen=True)
class Metric:
    """How a score is made."""

    title: str  # what is compared, in words
    predictions: tuple[str, ...]  # distributions that the predictions may have
    # maps the :class:`Sums` of the tested group and of all groups to scores `(runs, cells)`
    score: Callable[[Sums, Sums], np.ndarray]
    needs_truth: bool = False  # whether the truth matters
    contexts: int = 1  # 1, or 3 if a group's segments come in contexts
    cells: bool = True  # whether counts of classes or bins suffice; else every segment is drawn


@dataclasses.dataclass(frozen=True, eq=False)
class Sums:
    """Sums over a group's segments in many runs."""

    segments: int  # number of segments; in each context, if there are contexts
    # one of: counts or sums of predictions `(runs, contexts, cells)`; confusion counts `(runs, truth,
    # prediction)`; moments `(runs, 6)` in the order truth, prediction, their squares, their product and the
    # absolute error
    sums: np.ndarray


def _proportion(group: Sums) -> np.ndarray:
    return group.sums[:, 0] / group.segments


def _shift(group: Sums) -> np.ndarray:
    contexts = group.sums.shape[1]
    return group.sums[:, 0] / group.segments - group.sums.sum(axis=1) / (contexts * group.segments)


def _recall(group: Sums) -> np.ndarray:
    return np.nan_to_num(recalls(group.sums))


def _precision(group: Sums) -> np.ndarray:
    return np.nan_to_num(precisions(group.sums))


def _mean_recall(group: Sums) -> np.ndarray:
    return _recall(group).mean(axis=1, keepdims=True)


def _mean_precision(group: Sums) -> np.ndarray:
    return _precision(group).mean(axis=1, keepdims=True)


def _concordance(group: Sums) -> np.ndarray:
    x, y, xx, yy, xy, _ = (group.sums / group.segments).T[..., np.newaxis]
    return concordance(Moments(np.ones_like(x), xx - x * x, yy - y * y, xy - x * y, y - x))


def _error(group: Sums) -> np.ndarray:
    return (group.sums[:, 1:2] - group.sums[:, :1]) / group.segments


def _absolute_error(group: Sums) -> np.ndarray:
    return group.sums[:, 5:] / group.segments


METRICS = {
    "mean": Metric("mean prediction", OF_NUMBERS, _proportion, cells=False),
    "relative_difference_per_bin": Metric("share of a bin among the predictions", OF_NUMBERS, _proportion),
    "relative_difference_per_class": Metric(
        "share of a class among the predictions", OF_CLASSES, _proportion
    ),
    "mean_shift_diff": Metric(
        "shift of the mean prediction in a context", OF_NUMBERS, _shift, contexts=CONTEXTS, cells=False
    ),
    "bin_shift_diff": Metric(
        "shift of the share of a bin in a context", OF_NUMBERS, _shift, contexts=CONTEXTS
    ),
    "class_shift_diff": Metric(
        "shift of the share of a class in a context", OF_CLASSES, _shift, contexts=CONTEXTS
    ),
    "ccc": Metric(
        "concordance correlation coefficient", OF_NUMBERS, _concordance, needs_truth=True, cells=False
    ),
    "mae": Metric("mean absolute error", OF_NUMBERS, _absolute_error, needs_truth=True, cells=False),
    "mde": Metric("mean error", OF_NUMBERS, _error, needs_truth=True, cells=False),
    "precision_per_bin": Metric("precision of a bin", OF_NUMBERS, _precision, needs_truth=True),
    "recall_per_bin": Metric("recall of a bin", OF_NUMBERS, _recall, needs_truth=True),
    "precision_per_class": Metric("precision of a class", OF_CLASSES, _precision, needs_truth=True),
    "recall_per_class": Metric("recall of a class", OF_CLASSES, _recall, needs_truth=True),
    "precision": Metric("unweighted average precision", OF_CLASSES, _mean_precision, needs_truth=True),
    "recall": Metric("unweighted average recall", OF_CLASSES, _mean_recall, needs_truth=True),
}


def score(metric: str, tested: Sums, everyone: Sums) -> np.ndarray:
    """Compare a group with all groups: largest absolute difference of its classes or bins, ``(runs,)``."""
    own = METRICS[metric].score
    return np.abs(own(tested) - own(everyone)).max(axis=1)
