"""What figures of labels and predictions show, in a sentence each.

Conventions
-----------
- A sentence says what its interval carries, and else that nothing can be told apart. It never says why.
- Intervals are those of :func:`soundcheck.statistics.jackknife.jackknife`, which leaves out whole blocks.
  Where the largest of several numbers is named, the intervals of all of them hold together.
- Sentences have no full stop: they are headings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.change import TOLERANCE
from soundcheck.report.key_figures import significant
from soundcheck.report.names import sentence
from soundcheck.report.style import label
from soundcheck.statistics.jackknife import Estimate, jackknife

NO_INTERVAL = "too few speakers for an interval"


def told(found: Estimate, scale: float = 1.0, unit: str = "") -> str:
    """Write a number with its interval: ``0.60 (95 % 0.52 to 0.68)``."""
    value, low, high = (significant(scale * number) for number in (found.value, found.low, found.high))
    return f"{value}{unit} ({f'95 % {low} to {high}' if low else NO_INTERVAL})"


def relation(truth: np.ndarray, prediction: np.ndarray, blocks: np.ndarray, name: str) -> str:
    """Say how far predictions follow the labels: the slope of the least-squares line.

    Parameters
    ----------
    truth, prediction
        Values, ``(N,)``; pairs without both are left out.
    blocks
        Block of each pair, integers ``(N,)``.
    name
        What is predicted, such as ``valence``.
    """
    truth, prediction, blocks = _known(truth, prediction, blocks)
    if len(truth) < 2 or not np.ptp(truth):
        return ""

    def slope(rows: np.ndarray) -> float:
        away = truth[rows] - truth[rows].mean()
        spread = float(away @ away)
        return float(away @ prediction[rows]) / spread if spread > 0 else np.nan

    found, name = jackknife(slope, blocks), sentence(label(name))
    if np.isnan(found.low):
        return f"{name}: slope {told(found)}"
    if found.high < 0:
        return f"{name} is turned round: slope {told(found)}"
    if not found.lies_apart():
        return f"{name} cannot be told to follow the labels: slope {told(found)}"
    if found.high < 1:
        return f"{name} is pulled to the middle: slope {told(found)}"
    if found.low > 1:
        return f"{name} is pushed to the ends: slope {told(found)}"
    return (
        f"{name} follows the labels, neither pulled to the middle nor pushed to the ends: slope {told(found)}"
    )


def confusion(
    truth: Sequence[object], prediction: Sequence[object], classes: Sequence[str], blocks: np.ndarray
) -> str:
    """Say which class is recognised worse than the others, and what it is taken for.

    Parameters
    ----------
    truth, prediction
        Class names, ``(N,)``; pairs with a missing value are left out.
    classes
        Classes of the task; the recall of each is compared with the mean of the others.
    blocks
        Block of each pair, integers ``(N,)``.
    """
    truth, prediction = np.asarray(truth, dtype=object), np.asarray(prediction, dtype=object)
    there = pd.notna(truth) & pd.notna(prediction)
    truth, prediction, blocks = truth[there], prediction[there], np.asarray(blocks)[there]
    classes = [one for one in classes if (truth == one).any()]
    if len(classes) < 2:
        return ""
    masks = {one: truth == one for one in classes}
    right = truth == prediction

    def recalls(rows: np.ndarray) -> np.ndarray:
        return np.array(
            [right[rows & masks[one]].mean() if (rows & masks[one]).any() else np.nan for one in classes]
        )

    everything = recalls(np.ones(len(truth), dtype=bool))
    lowest = int(np.argmin(everything))
    worst = classes[lowest]
    others = np.arange(len(classes)) != lowest

    def lag(rows: np.ndarray) -> float:
        own = recalls(rows)
        return float(own[others].mean() - own[lowest])

    found = jackknife(lag, blocks, looks=len(classes))
    name = sentence(label(worst))
    if not found.low > 0:
        average = significant(float(everything.mean()))
        return f"No class can be told to be recognised worse than the others: UAR {average}"
    wrong = pd.Series(prediction[masks[worst] & ~right], dtype=object).value_counts()
    taken = label(min(wrong.index[wrong == wrong.max()], key=str))
    share = significant(100 * wrong.max() / masks[worst].sum())
    return (
        f"{name} is recognised worst: recall {significant(everything[lowest])}, {told(found)} lower than the "
        f"others on average, taken for {taken} in {share} %"
    )


def movement(before: np.ndarray, after: np.ndarray, blocks: np.ndarray, name: str = "Predictions") -> str:
    """Say whether predicted values rise or fall on average, and how many stay.

    Parameters
    ----------
    before, after
        Predictions for the clean and the changed signals, ``(N,)``.
    blocks
        Block of each, integers ``(N,)``.
    name
        What moves.
    """
    before, after, blocks = _known(before, after, blocks)
    if not len(before):
        return ""
    moved = after - before
    stay = significant(100 * float(np.mean(np.abs(moved) < TOLERANCE)))
    found = jackknife(lambda rows: moved[rows].mean() if rows.any() else np.nan, blocks)
    kept = f"{stay} % move by less than {TOLERANCE:g}"
    name = sentence(name)
    if np.isnan(found.low):
        return f"{name}: {NO_INTERVAL}; {kept}"
    if not found.lies_apart():
        return f"{name} cannot be told to rise or fall on average; {kept}"
    way, size = ("rise", found) if found.value > 0 else ("fall", _mirrored(found))
    return f"{name} {way} by {told(size)} on average; {kept}"


def of_movement(subset: Subset) -> str:
    """Say what :func:`soundcheck.report.figures.movement` shows."""
    clean, changed = subset.predictions.clean, subset.predictions.changed
    if subset.task.is_regression:
        return movement(clean, changed, subset.blocks, f"predictions of {label(subset.task.name)}")
    there = pd.notna(clean) & pd.notna(changed)
    if not there.any():
        return ""
    clean, changed, blocks = clean[there], changed[there], subset.blocks[there]
    moved = clean != changed
    found = jackknife(lambda rows: moved[rows].mean() if rows.any() else np.nan, blocks)
    share = told(found, 100, " %")
    if not moved.any():
        return f"No prediction of {label(subset.task.name)} changes"
    ways = pd.Series([f"{label(a)} to {label(b)}" for a, b in zip(clean[moved], changed[moved], strict=True)])
    counts = ways.value_counts()
    most = min(counts.index[counts == counts.max()])
    often = f"most often from {most} ({counts.max()} of {moved.sum()})"
    return f"{share} of the predictions change their class, {often}"


def distribution(
    truth: Sequence[object], prediction: Sequence[object], blocks: np.ndarray, classes: Sequence[str] = ()
) -> str:
    """Say whether predictions spread as the labels do, or which class is predicted too often or too seldom.

    Parameters
    ----------
    truth, prediction
        Values or class names, ``(N,)``; pairs without both are left out.
    blocks
        Block of each pair, integers ``(N,)``.
    classes
        For class names: the classes.
    """
    if len(classes):
        return _proportions(truth, prediction, blocks, classes)
    truth, prediction, blocks = _known(truth, prediction, blocks)
    if len(truth) < 2 or not np.ptp(truth):
        return ""

    def ratio(rows: np.ndarray) -> float:
        spread = np.std(truth[rows])
        return float(np.std(prediction[rows]) / spread) if spread > 0 else np.nan

    found = jackknife(ratio, blocks)
    off = jackknife(lambda rows: (prediction - truth)[rows].mean() if rows.any() else np.nan, blocks)
    if np.isnan(found.low):
        return f"Spread of the predictions over that of the labels: {told(found)}"
    if found.high < 1:
        spread = f"Predictions spread less than labels: {told(found)} times their standard deviation"
    elif found.low > 1:
        spread = f"Predictions spread more than labels: {told(found)} times their standard deviation"
    else:
        spread = "Predictions cannot be told to spread more or less than labels"
    if not off.lies_apart():
        return f"{spread}; their means cannot be told apart"
    way, size = ("higher", off) if off.value > 0 else ("lower", _mirrored(off))
    return f"{spread}; their mean is {told(size)} {way}"


def _proportions(
    truth: Sequence[object], prediction: Sequence[object], blocks: np.ndarray, classes: Sequence[str]
) -> str:
    truth, prediction = np.asarray(truth, dtype=object), np.asarray(prediction, dtype=object)
    there = pd.notna(truth) & pd.notna(prediction)
    truth, prediction, blocks = truth[there], prediction[there], np.asarray(blocks)[there]
    found = {}
    for one in classes:
        surplus = (prediction == one).astype(float) - (truth == one)
        found[one] = jackknife(_mean(surplus), blocks, looks=len(classes))
    clear = {one: each for one, each in found.items() if each.lies_apart()}
    if not clear:
        return "No class can be told to be predicted too often or too seldom"
    one, most = max(clear.items(), key=lambda pair: abs(pair[1].value))
    way, size = ("often", most) if most.value > 0 else ("seldom", _mirrored(most))
    return f"{sentence(label(one))} is predicted too {way}, by {told(size, 100)} points"


def of_groups(values: np.ndarray, groups: Sequence[str], compared: Sequence[str], blocks: np.ndarray) -> str:
    """Say whose predicted values differ most from the average of the groups that are compared.

    Parameters
    ----------
    values
        Predictions, ``(N,)``; for other than numbers nothing is said.
    groups
        Group of each prediction, ``(N,)``.
    compared
        Groups that make up the average, all with the same weight.
    blocks
        Block of each prediction, integers ``(N,)``.
    """
    values, groups = np.asarray(values), np.asarray(groups, dtype=object)
    if values.dtype.kind != "f" or len(compared) < 2:
        return ""
    masks = {name: (groups == name) & np.isfinite(values) for name in compared}
    masks = {name: mask for name, mask in masks.items() if mask.any()}

    def off(name: str) -> Callable[[np.ndarray], float]:
        def difference(rows: np.ndarray) -> float:
            means = {
                each: values[mask & rows].mean() if (mask & rows).any() else np.nan
                for each, mask in masks.items()
            }
            return means[name] - float(np.mean(list(means.values())))

        return difference

    found = {name: jackknife(off(name), blocks, looks=len(masks)) for name in masks}
    clear = {name: each for name, each in found.items() if each.lies_apart()}
    if not clear:
        return "No group can be told apart from the average of the groups"
    name, most = max(clear.items(), key=lambda pair: abs(pair[1].value))
    way, size = ("above", most) if most.value > 0 else ("below", _mirrored(most))
    return f"{sentence(label(name))} lies farthest from the average of the groups: {told(size)} {way} it"


def of_subset(subset: Subset) -> str:
    """Say what :func:`soundcheck.report.figures.agreement` shows."""
    truth, prediction = subset.truth, subset.predictions.clean
    if subset.task.is_regression:
        return relation(truth, prediction, subset.blocks, subset.task.name)
    return confusion(truth, prediction, subset.task.classes, subset.blocks)


def _known(first: np.ndarray, second: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, ...]:
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    there = np.isfinite(first) & np.isfinite(second)
    return first[there], second[there], np.asarray(blocks)[there]


def _mean(values: np.ndarray) -> Callable[[np.ndarray], float]:
    return lambda rows: float(values[rows].mean()) if rows.any() else np.nan


def _mirrored(found: Estimate) -> Estimate:
    return Estimate(-found.value, -found.high, -found.low)
