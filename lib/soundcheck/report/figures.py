"""Figures of arrays that families share: truth, predictions and labels.

Every function returns a :class:`matplotlib.figure.Figure` for :func:`show`; missing values are left out, and
input without any value gives empty axes. Figures of rows of the results table, of distributions and of
speakers have modules of their own and are offered here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.change import TOLERANCE
from soundcheck.report.distribution_figures import (
    class_proportions,
    contexts_against_all,
    expected_ranges,
    groups_against_all,
    heat_map,
    overlaid,
)
from soundcheck.report.palettes import for_words
from soundcheck.report.shapes import counts_map, histogram
from soundcheck.report.speaker_figures import averages, ranks
from soundcheck.report.style import BLUE, GREEN, GREY, RED, grid, label, look, name_ticks, new, seaborn, show
from soundcheck.report.sweep_figures import curves
from soundcheck.report.verdict_figures import described, group_difference, intervals, unchanged_overview

__all__ = [
    "agreement",
    "averages",
    "class_proportions",
    "confusion_matrix",
    "contexts_against_all",
    "curves",
    "described",
    "expected_ranges",
    "group_difference",
    "groups_against_all",
    "intervals",
    "label_distribution",
    "movement",
    "overlaid",
    "ranks",
    "shift",
    "show",
    "truth_and_prediction",
    "unchanged_overview",
]

MOST_CLASSES = 15  # of a confusion matrix or bar chart
REACH = 0.35  # largest movement that :func:`shift` draws in its place


def truth_and_prediction(truth: np.ndarray, prediction: np.ndarray, title: str = "") -> Figure:
    """Draw predicted against true values with the least-squares line and the line of perfect agreement.

    Parameters
    ----------
    truth, prediction
        Values, nominally 0..1, ``(segments,)``; values outside -0.1..1.1 are beyond the axes and counted.
    title
        What is shown.
    """
    truth, prediction = _numbers(truth, prediction)
    with look():
        figure, (axes,) = new(4.2, 4.1)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
        seaborn.regplot(
            x=truth,
            y=prediction,
            fit_reg=len(truth) > 1 and np.ptp(truth) > 0,
            ci=None,  # intervals are those of the verdicts
            scatter_kws={"s": 10, "color": BLUE, "alpha": 0.5, "linewidths": 0},
            line_kws={"color": RED, "linewidth": 2},
            ax=axes,
        )
        axes.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), xlabel="truth", ylabel="prediction")
        outside = int(((np.minimum(truth, prediction) < -0.1) | (np.maximum(truth, prediction) > 1.1)).sum())
        note = f" ({outside} outside)" if outside else ""
        axes.set_title(label(title, 40) + note, loc="left")
        axes.set_aspect("equal")
    return figure


def confusion_matrix(
    truth: Sequence[object],
    prediction: Sequence[object],
    labels: Sequence[str],
    xlabel: str = "prediction",
    ylabel: str = "truth",
    title: str = "",
) -> Figure:
    """Draw how often each class is taken for each other: row percentages, counts in brackets.

    Parameters
    ----------
    truth, prediction
        Class names, ``(segments,)``; pairs with a missing value or a truth outside ``labels`` are left out,
        predictions outside ``labels`` are counted in a column of their own.
    labels
        Classes in the order in which they are shown; beyond 15 of them, the most frequent ones.
    xlabel, ylabel
        What columns and rows are.
    title
        What is shown.
    """
    pairs = [(t, p) for t, p in zip(truth, prediction, strict=True) if not (pd.isna(t) or pd.isna(p))]
    frequency = pd.Series([t for t, _ in pairs], dtype=object).value_counts(sort=True)
    most = sorted(labels, key=lambda name: -frequency.get(name, 0))[:MOST_CLASSES]
    known = {name: n for n, name in enumerate(name for name in labels if name in most)}
    pairs = [(t, p) for t, p in pairs if t in known]
    columns = list(known)
    if any(p not in known for _, p in pairs):
        columns.append("any other" if "other" in known else "other")
    counts = np.zeros((len(known), len(columns)), dtype=int)
    for t, p in pairs:
        counts[known[t], known.get(p, -1)] += 1
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    with look():
        figure, (axes,) = new(3.0 + 0.9 * len(columns), 1.8 + 0.7 * len(known))
        if known:
            texts = [
                [f"{100 * share:.0f} %\n({n})" if total else "–" for share, n in zip(*row, strict=True)]
                for *row, total in zip(shares, counts, totals[:, 0], strict=True)
            ]
            heat_map(axes, shares, [columns, list(known)], texts, highest=1)
        axes.set(xlabel=label(xlabel), ylabel=label(ylabel))
        fewer = f"the {len(known)} most frequent of {len(labels)} classes" if len(known) < len(labels) else ""
        heading = "\n".join(filter(None, (label(title, 40), fewer)))
        axes.set_title(heading, loc="left", fontsize=10 if title else 9)
    return figure


def agreement(subset: Subset, title: str = "") -> Figure:
    """Draw how the answers of a sample fit its labels: a scatter with a fitted line, or a confusion matrix.

    Parameters
    ----------
    sample
        A labelled sample.
    title
        What is shown.
    """
    truth, prediction = subset.truth, subset.predictions.clean
    if subset.task.is_regression:
        return truth_and_prediction(truth, prediction, title)
    return confusion_matrix(truth, prediction, subset.task.classes, title=title)


def shift(
    clean: np.ndarray, changed: np.ndarray, title: str = "", sides: tuple[str, str] | None = None
) -> Figure:
    """Draw how far predictions move under a change, and the distributions before and after.

    Above: changed minus clean against clean, bins of 0.03 by 0.02, with the band that counts as unchanged;
    movements beyond 0.35 are drawn at the edge and counted in the title. Below: both predictions, bins of
    0.03, with a smooth density if they vary. Predictions outside 0..1 are drawn at its edges.

    Parameters
    ----------
    clean, changed
        Predictions for the clean and the changed signals, 0..1, ``(segments,)``.
    title
        Name of the change.
    sides
        What is compared, if it is not clean and changed.
    """
    before, after = (label(side) for side in sides or ("clean", "changed"))
    clean, changed = _numbers(clean, changed)
    movement = changed - clean
    beyond = int((np.abs(movement) > REACH).sum())
    edges, heights = 0.03 * np.arange(35), np.linspace(-REACH, REACH, 36)
    clean, changed = np.clip(clean, 0, 1), np.clip(changed, 0, 1)
    with look():
        figure, (upper, lower) = new(6.2, 5.4, 2, sharex=True, height_ratios=[3, 2])
        upper.axhspan(-TOLERANCE, TOLERANCE, color=GREEN, alpha=0.15, lw=0)
        counts_map(upper, clean, np.clip(movement, -REACH, REACH), [edges, heights], cbar=True)
        upper.axhline(0, color=GREY, linestyle="--", linewidth=1)
        upper.set(ylim=(-REACH, REACH), ylabel=f"{after} − {before}" if sides is None else "difference")
        upper.text(1.01, TOLERANCE, "unchanged", color=for_words(GREEN), fontsize=8, ha="right", va="bottom")
        note = f"\n{beyond} beyond the edge" if beyond else ""
        upper.set_title(label(title, 70) + note, loc="left", fontsize=10)
        for values, color, line, name in ((clean, RED, "-", before), (changed, BLUE, "--", after)):
            histogram(lower, values, edges, "count", color, line, label=name)
        lower.set(xlim=(0, 1.02), xlabel=f"above: prediction for {before}; below: both predictions")
        lower.set_ylabel("segments")
        lower.legend(fontsize=9)
    return figure


def movement(subset: Subset) -> Figure:
    """Draw how the predictions of a sample move under its change: :func:`shift` or a confusion matrix.

    Parameters
    ----------
    sample
        A sample with a change, or of pairs of recordings.
    """
    clean, changed = subset.predictions.clean, subset.predictions.changed
    if subset.task.is_regression:
        title = f"{subset.corpus}, {subset.task.name}: {subset.change}"
        return shift(
            clean, changed, title, subset.sides if subset.base or subset.partner is not None else None
        )
    before, after = subset.sides
    return confusion_matrix(clean, changed, subset.task.classes, xlabel=after, ylabel=before)


def label_distribution(columns: Mapping[str, pd.Series], classes: Mapping[str, Sequence[str]]) -> Figure:
    """Draw the labels of a corpus: 20 bins of 0..1 for each dimension, bars for classes.

    Parameters
    ----------
    columns
        Task -> labels, numbers in 0..1 or class names; four tasks a line.
    classes
        Task -> its classes, for classification tasks; beyond 15 of them, the most frequent ones are drawn.
    """
    with look():
        figure, panels = grid(len(columns), 4, 2.6, 2.6)
        for axes, (name, values) in zip(panels, columns.items(), strict=False):
            title = label(name, 20)
            if name in classes:
                given = pd.Series(values, dtype=object).dropna()
                counts = [(one, int((given == one).sum())) for one in classes[name]]
                if len(counts) > MOST_CLASSES:
                    title += f", {MOST_CLASSES} of {len(counts)} classes"
                    counts = sorted(counts, key=lambda pair: -pair[1])[:MOST_CLASSES]
                axes.bar(range(len(counts)), [count for _, count in counts], color=BLUE)
                name_ticks(axes, [one for one, _ in counts])
            else:
                (given,) = _numbers(values)
                seaborn.histplot(
                    x=np.clip(given, 0, 1), bins=20, binrange=(0, 1), color=BLUE, alpha=1, ax=axes
                )
                axes.set(xlim=(0, 1), xlabel="")
            axes.set_title(title, loc="left")
            axes.set_ylabel("segments")
    return figure


def _numbers(*arrays: Sequence[float]) -> list[np.ndarray]:
    """Keep the places where all arrays have a finite number."""
    columns = np.array([np.asarray(array, dtype=np.float64) for array in arrays])
    return list(columns[:, np.isfinite(columns).all(axis=0)])
