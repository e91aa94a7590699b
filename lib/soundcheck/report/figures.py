"""Figures of labels and predictions: how they agree, how they are distributed, how they move.

Values are drawn on 0..1, those outside at the edge; missing values are left out; without any value the axes
are empty.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from soundcheck.evaluation.subset import Subset
from soundcheck.metrics.change import TOLERANCE
from soundcheck.report import palettes, style
from soundcheck.report.style import (
    BLUE,
    GREEN,
    GREY,
    RED,
    audplot,
    grid,
    label,
    look,
    name_ticks,
    new,
    seaborn,
)

MOST_CLASSES = 15  # of a confusion matrix
MOST_GROUPS = 40  # panels of a figure ...
ABREAST = 4  # ... and of a line
REACH = 0.35  # largest movement that is drawn in its place
BINS = 0.03 * np.arange(35)

show = style.show


def truth_and_prediction(truth: np.ndarray, prediction: np.ndarray, title: str = "") -> Figure:
    """Draw predicted against true values, with the least-squares line and that of perfect agreement."""
    truth, prediction = _numbers(truth, prediction)
    with look():
        figure, (axes,) = new(4.2, 4.1)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
        audplot.scatter(truth, prediction, ax=axes)
        axes.collections[-1].set(sizes=[10], alpha=0.5, linewidths=0, color=BLUE)
        if len(truth) > 1 and np.ptp(truth) > 0:
            ends = np.array([truth.min(), truth.max()])
            axes.plot(ends, np.polyval(np.polyfit(truth, prediction, 1), ends), color=RED, linewidth=2)
        axes.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), xlabel="truth", ylabel="prediction")
        outside = int(((np.minimum(truth, prediction) < -0.1) | (np.maximum(truth, prediction) > 1.1)).sum())
        axes.set_title(label(title, 40) + (f" ({outside} outside)" if outside else ""), loc="left")
        axes.set_aspect("equal")
    return figure


def confusion_matrix(
    truth: Sequence[object],
    prediction: Sequence[object],
    labels: Sequence[str],
    axes_of: tuple[str, str] = ("truth", "prediction"),
    title: str = "",
) -> Figure:
    """Draw how often each class is taken for each other: row percentages, counts in brackets.

    Predictions of no such class have a column of their own; of more than 15 classes the most frequent are
    shown.
    """
    pairs = pd.DataFrame({"truth": truth, "prediction": prediction}, dtype=object).dropna()
    most = pairs["truth"].value_counts().reindex(labels, fill_value=0).nlargest(MOST_CLASSES).index
    known = [name for name in labels if name in most]
    pairs = pairs[pairs["truth"].isin(known)]
    other = "any other" if "other" in known else "other"
    predicted = pairs["prediction"].where(pairs["prediction"].isin(known), other)
    columns = known + [other] * bool(predicted.eq(other).any())
    places = {name: n for n, name in enumerate(columns)}
    with look():
        figure, (axes,) = new(3.0 + 0.9 * len(columns), 1.8 + 0.7 * len(known))
        if known:
            codes = pairs["truth"].map(places).tolist(), predicted.map(places).tolist()
            options = {"labels": list(range(len(columns))), "percentage": True, "show_both": True}
            audplot.confusion_matrix(*codes, ax=axes, **options)
            _legible_cells(axes, columns)
            axes.set_ylim(len(known), 0)  # no label is another class
            for text in axes.texts[len(known) * len(columns) :]:
                text.remove()
        axes.set(xlabel=label(axes_of[1]), ylabel=label(axes_of[0]))
        fewer = f"the {len(known)} most frequent of {len(labels)} classes" if len(known) < len(labels) else ""
        heading = "\n".join(filter(None, (label(title, 40), fewer)))
        axes.set_title(heading, loc="left", fontsize=10 if title else 9)
    return figure


def _legible_cells(axes: Axes, names: Sequence[str]) -> None:
    """Name rows and columns of a heat map by texts from data; write what stands out on either ground."""
    cells = axes.collections[0]
    cells.set_clim(0, 1)
    cells.update_scalarmappable()
    for text, cell in zip(axes.texts, cells.get_facecolors(), strict=True):
        text.set(text=text.get_text().replace("%", " %"), color=palettes.on(to_hex(cell)))
    name_ticks(axes, names, 30, longest=9)
    axes.set_xticks(0.5 + np.arange(len(names)), [text.get_text() for text in axes.get_xticklabels()])
    axes.set_yticks(0.5 + np.arange(len(names)), [label(name) for name in names], rotation=0)
    axes.grid(visible=False)


def agreement(subset: Subset, title: str = "") -> Figure:
    """Draw how predictions fit the labels: a scatter with a fitted line, or a confusion matrix."""
    truth, prediction = subset.truth, subset.predictions.clean
    if subset.task.is_regression:
        return truth_and_prediction(truth, prediction, title)
    return confusion_matrix(truth, prediction, subset.task.classes, title=title)


def movement(subset: Subset) -> Figure:
    """Draw how predictions move under the change of a subset, or between pairs of recordings."""
    clean, changed = subset.predictions.clean, subset.predictions.changed
    if subset.task.is_regression:
        title = f"{subset.corpus}, {subset.task.name}: {subset.change}"
        named = subset.base or subset.partner is not None
        return shift(clean, changed, title, subset.sides if named else None)
    return confusion_matrix(clean, changed, subset.task.classes, subset.sides)


def shift(
    clean: np.ndarray, changed: np.ndarray, title: str = "", sides: tuple[str, str] | None = None
) -> Figure:
    """Draw how far predictions move under a change, and the distributions before and after.

    Above: changed minus clean against clean, with the band that counts as unchanged; movements beyond 0.35
    are drawn at the edge and counted in the title. ``sides`` name what is compared, if not clean and changed.
    """
    before, after = (label(side) for side in sides or ("clean", "changed"))
    clean, changed = _numbers(clean, changed)
    moved = changed - clean
    beyond = int((np.abs(moved) > REACH).sum())
    clean, changed = np.clip(clean, 0, 1), np.clip(changed, 0, 1)
    with look():
        figure, (upper, lower) = new(6.2, 5.4, 2, sharex=True, height_ratios=[3, 2])
        upper.axhspan(-TOLERANCE, TOLERANCE, color=GREEN, alpha=0.15, lw=0)
        if len(clean):
            counts = {"bins": (BINS, np.linspace(-REACH, REACH, 36)), "cmap": "viridis_r", "rasterized": True}
            scale = {"cbar": True, "cbar_kws": {"label": "segments"}}
            seaborn.histplot(x=clean, y=np.clip(moved, -REACH, REACH), ax=upper, **counts, **scale)
        upper.axhline(0, color=GREY, linestyle="--", linewidth=1)
        upper.set(ylim=(-REACH, REACH), ylabel=f"{after} − {before}" if sides is None else "difference")
        place = {"fontsize": 8, "ha": "right", "va": "bottom", "color": palettes.for_words(GREEN)}
        upper.text(1.01, TOLERANCE, "unchanged", **place)
        beyond = f"\n{beyond} beyond the edge" if beyond else ""
        upper.set_title(label(title, 70) + beyond, loc="left", fontsize=10)
        for values, color, name in ((clean, RED, before), (changed, BLUE, after)):
            if len(values):
                options = {"bins": BINS, "element": "step", "kde": bool(np.ptp(values) > 1e-9)}
                name = style.legend_name(name)
                seaborn.histplot(x=values, color=color, label=name, alpha=0.3, ax=lower, **options)
        lower.set(xlim=(0, 1.02), xlabel=f"above: prediction for {before}; below: both predictions")
        lower.set_ylabel("segments")
        if len(clean):
            lower.legend(fontsize=9)
    return figure


def distribution(subset: Subset, title: str = "") -> Figure:
    """Draw the distributions of labels and predictions: densities of values, shares of classes."""
    both, classes = {"truth": subset.truth, "prediction": subset.predictions.clean}, subset.task.classes
    with look():
        figure, (axes,) = new(5.4 if subset.task.is_regression else max(5.0, 1.1 * len(classes) + 2), 3.4)
        if subset.task.is_regression:
            truth, prediction = (np.clip(values, 0, 1) for values in _numbers(*both.values()))
            if len(truth):
                audplot.distribution(truth, prediction, ax=axes)
            axes.set(xlim=(0, 1), xlabel="value", yticklabels=[])
            axes.set_ylabel(f"density of {len(truth):,} segments")
        else:
            _bars(axes, {name: _shares(own, classes) for name, own in both.items()}, style.PALETTE)
            axes.legend(fontsize=9)
        axes.set_title(label(title, 50), loc="left")
    return figure


def _bars(axes: Axes, shares: Mapping[str, pd.Series], colors: Sequence[str]) -> None:
    frame = pd.DataFrame(shares)
    frame.plot.bar(ax=axes, color=list(colors), alpha=0.75, width=0.8, legend=False)
    name_ticks(axes, frame.index)
    axes.set(xlabel="", ylabel="% of segments")


def _shares(values: np.ndarray, classes: Sequence[str], weights: np.ndarray | None = None) -> pd.Series:
    """Give the shares of classes in per cent, those that have none as 0."""
    weights = pd.Series(np.ones(len(values)) if weights is None else weights, dtype=float)
    found = weights.groupby(np.asarray(values, dtype=object)).sum().reindex(list(classes), fill_value=0.0)
    return 100 * found / (found.sum() or 1)


def groups_against_all(
    values: Sequence[float] | Sequence[str],
    groups: Sequence[str],
    order: Sequence[str],
    classes: Sequence[str] = (),
    title: str = "",
    compared: Sequence[str] | None = None,
) -> Figure:
    """Draw what is predicted for each group over the average of the groups, a small panel each.

    ``values`` are numbers, or names of ``classes``; ``compared`` are the groups that make up the average, all
    with the same weight (default: all that are shown). Of more than 40 groups the first ones are shown.
    """
    values, groups = np.asarray(values), np.asarray(groups, dtype=object)
    compared, shown = list(order if compared is None else compared), list(order)[:MOST_GROUPS]
    own = [values[(groups == name) & pd.notna(values)] for name in compared]
    weights = np.concatenate([np.empty(0), *(np.full(len(each), 1 / max(1, len(each))) for each in own)])
    average = np.concatenate([values[:0], *own])
    with look():
        figure, places = grid(len(shown), ABREAST, 2.5, 1.9, (0, 0.8), sharex=True, sharey=True)
        for n, (axes, name) in enumerate(zip(places, shown, strict=False)):
            own = values[groups == name]
            if len(classes):
                both = {"average": _shares(average, classes, weights), "own": _shares(own, classes)}
                _bars(axes, both, (GREY, BLUE))
            else:
                _density(axes, average, weights, color=GREY, fill=True)
                _density(axes, own, color=BLUE, linewidth=2)
                axes.set(xlim=(0, 1), xticks=(0, 0.5, 1))
            remark = "" if name in compared else ", not judged"
            axes.set_title(f"{label(name, 18)} ({pd.notna(own).sum():,}){remark}", loc="left", fontsize=9)
            axes.set_ylabel(("%" if len(classes) else "density") if n % ABREAST == 0 else "")
        note = f", first {MOST_GROUPS} of {len(order)}" if len(order) > MOST_GROUPS else ""
        figure.suptitle(label(title, 60) + note, x=0.01, ha="left", fontsize=10)
        handles = [Patch(color=GREY, alpha=0.6, label="average"), Patch(color=BLUE, label="this group")]
        figure.legend(handles=handles, loc="outside upper right", ncols=2, fontsize=9)
    return figure


def _density(
    axes: Axes, values: Sequence[float], weights: np.ndarray | None = None, **options: object
) -> None:
    """Draw a smooth density of about 4000 values; of constant ones a line."""
    values = np.asarray(values, dtype=float)
    known = np.flatnonzero(np.isfinite(values))
    known = known[:: max(1, len(known) // 4000)]
    values = np.clip(values[known], 0, 1)
    if len(values) and np.ptp(values) < 1e-9:
        axes.axvline(values[0], color=options["color"], linewidth=2)
    elif len(values):
        weights = None if weights is None else weights[known]
        seaborn.kdeplot(x=values, weights=weights, cut=0, ax=axes, **options)


def expected_ranges(
    prediction: Sequence[float],
    category: Sequence[str],
    expected: Mapping[str, tuple[float, float]],
    title: str = "",
) -> Figure:
    """Draw the predictions of each category as a box, over the range where they are expected."""
    prediction, category = np.asarray(prediction, dtype=float), np.asarray(category, dtype=object)
    names = list(expected)
    with look():
        figure, (axes,) = new(6.4, 1.2 + 0.42 * max(1, len(names)))
        for place, name in enumerate(names):
            low, high = np.clip(expected[name], 0, 1)
            axes.barh(place, high - low, left=low, height=0.86, color=GREEN, alpha=0.2, lw=0)
        known = np.isin(category, names) & np.isfinite(prediction)
        if known.any():
            boxes = {"x": prediction[known], "y": [names.index(name) for name in category[known]]}
            style = {"width": 0.5, "color": BLUE, "fliersize": 2.5, "boxprops": {"alpha": 0.75}}
            seaborn.boxplot(**boxes, order=range(len(names)), orient="h", ax=axes, **style)
        counts = [f"{label(name)} ({int((category == name).sum())})" for name in names]
        axes.set_yticks(range(len(names)), counts)
        axes.set_ylim(max(1, len(names)) - 0.4, -0.6)
        axes.set(xlim=(0, 1), ylabel="", xlabel="prediction (box: middle half; shaded: where it is expected)")
        axes.set_title(label(title, 50), loc="left")
    return figure


def _numbers(*arrays: Sequence[float]) -> Iterator[np.ndarray]:
    """Keep the places where all arrays have a finite number."""
    columns = np.array([np.asarray(array, dtype=np.float64) for array in arrays])
    return iter(columns[:, np.isfinite(columns).all(axis=0)])
