"""Figures of labels and predictions: how they agree, how they are distributed, what classes are taken for.

Values are drawn on 0..1, those outside at the edge; missing values are left out; without any value the axes
are empty.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from soundcheck.common import files, templates
from soundcheck.common.wording import counted
from soundcheck.evaluation.subset import Subset
from soundcheck.report import style
from soundcheck.report.examples import Example, Scene, choose
from soundcheck.report.html import Html
from soundcheck.report.players import segment_name
from soundcheck.report.style import BLUE, GREEN, GREY, RED, audplot, label, look, name_ticks, new, seaborn

MOST_CLASSES = 15  # of a confusion matrix
MOST_GROUPS = 40  # of a figure
MOST_CELLS = 60  # whose segments are listed, those with the most segments
READ, PLAYED = 4, 2  # segments of a cell, most frequent confusions of which one is played

show = style.show


def truth_and_prediction(
    truth: np.ndarray,
    prediction: np.ndarray,
    title: str = "",
    axes_of: tuple[str, str] = ("truth", "prediction"),
) -> Figure:
    """Draw predicted against true values, with the least-squares line and that of perfect agreement."""
    both = np.array([truth, prediction], dtype=float)
    truth, prediction = both[:, np.isfinite(both).all(axis=0)]
    with look():
        figure, (axes,) = new(4.2, 4.1)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
        audplot.scatter(truth, prediction, ax=axes)
        axes.collections[-1].set(sizes=[10], alpha=0.5, linewidths=0, color=BLUE)
        if len(truth) > 1 and np.ptp(truth) > 0:
            ends = np.array([truth.min(), truth.max()])
            axes.plot(ends, np.polyval(np.polyfit(truth, prediction, 1), ends), color=RED, linewidth=2)
        axes.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), xlabel=label(axes_of[0]), ylabel=label(axes_of[1]))
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
        text.set(text=text.get_text().replace("%", " %"), color=style.on(to_hex(cell)))
    name_ticks(axes, names, 30, longest=9)
    axes.set_xticks(0.5 + np.arange(len(names)), [text.get_text() for text in axes.get_xticklabels()])
    axes.set_yticks(0.5 + np.arange(len(names)), [label(name) for name in names], rotation=0)
    axes.grid(visible=False)


def agreement(subset: Subset, title: str = "") -> Figure:
    """Draw how predictions fit the labels: a scatter with a fitted line, or a confusion matrix."""
    return of_two_sides(subset.truth, subset.predictions.clean, subset.task.classes, title=title)


def movement(subset: Subset) -> Figure:
    """Draw how predictions move under the change of a subset, or between pairs of recordings."""
    title = f"{subset.corpus}, {subset.task.name}: {subset.change}"
    both = subset.predictions.clean, subset.predictions.changed
    return of_two_sides(*both, subset.task.classes, subset.sides, title)


def of_two_sides(
    first: np.ndarray,
    second: np.ndarray,
    classes: Sequence[str],
    axes_of: tuple[str, str] = ("truth", "prediction"),
    title: str = "",
) -> Figure:
    """Draw labels and predictions, or predictions before and after, against each other."""
    if classes:
        return confusion_matrix(first, second, classes, axes_of, title)
    return truth_and_prediction(first, second, title, axes_of)


def distribution(subset: Subset, title: str = "") -> Figure:
    """Draw the distributions of labels and predictions: densities of values, shares of classes."""
    both, classes = [subset.truth, subset.predictions.clean], subset.task.classes
    with look():
        figure, (axes,) = new(max(5.0, 1.1 * len(classes) + 2), 3.4)
        if classes:
            _shares(axes, dict(zip(("truth", "prediction"), both, strict=True)), classes)
        else:
            known = np.isfinite(np.array(both, dtype=float)).all(axis=0)
            if known.any():
                audplot.distribution(*(np.clip(values[known], 0, 1) for values in both), ax=axes)
            axes.set(xlim=(0, 1), xlabel="value", yticklabels=[])
            axes.set_ylabel(f"density of {known.sum():,} segments")
        axes.set_title(label(title, 50), loc="left")
    return figure


def _shares(axes: Axes, sides: Mapping[str, Sequence[str]], classes: Sequence[str]) -> None:
    """Draw the shares of classes, a colour a side."""
    counts = {
        name: pd.Series(values, dtype=object).value_counts(normalize=True) for name, values in sides.items()
    }
    frame = 100 * pd.DataFrame(counts).reindex(list(classes)).fillna(0.0)
    frame = frame.rename(columns=style.legend_name)
    frame.plot.bar(ax=axes, color=list(style.PALETTE), width=0.8)
    name_ticks(axes, frame.index)
    axes.set(xlabel="", ylabel="% of segments")
    axes.legend(fontsize=9, ncols=1 + len(sides) // 12)


def by_group(
    values: np.ndarray,
    groups: Sequence[str],
    order: Sequence[str],
    classes: Sequence[str] = (),
    title: str = "",
    expected: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Draw the predictions of each group: numbers as boxes, over the range that is ``expected``, or shares.

    Of more than 40 groups the first ones are shown.
    """
    groups, names = np.asarray(groups, dtype=object), list(order)[:MOST_GROUPS]
    note = f", first {MOST_GROUPS} of {len(order)}" if len(order) > MOST_GROUPS else ""
    counts = {name: f"{label(name)} ({int((groups == name).sum()):,})" for name in names}
    with look():
        if len(classes):
            figure, (axes,) = new(7.0 + 0.2 * len(names), 3.6)
            _shares(axes, {counts[name]: values[groups == name] for name in names}, classes)
        else:
            figure, (axes,) = new(6.4, 1.2 + 0.42 * max(1, len(names)))
            for place, name in enumerate(names):
                low, high = np.clip((expected or {}).get(name, (0, 0)), 0, 1)
                axes.barh(place, high - low, left=low, height=0.86, color=GREEN, alpha=0.2, lw=0)
            known = np.isin(groups, names) & np.isfinite(values)
            if known.any():
                boxes = {"x": values[known], "y": [names.index(name) for name in groups[known]]}
                look_of = {"width": 0.5, "color": BLUE, "fliersize": 2.5, "boxprops": {"alpha": 0.75}}
                seaborn.boxplot(**boxes, order=range(len(names)), orient="h", ax=axes, **look_of)
            axes.set_yticks(range(len(names)), counts.values())
            axes.set(xlim=(0, 1), ylim=(max(1, len(names)) - 0.4, -0.6), ylabel="")
            shaded = "; shaded: where it is expected" if expected else ""
            axes.set_xlabel(f"prediction (box: middle half{shaded})")
        axes.set_title(label(title, 60) + note, loc="left", fontsize=10)
    return figure


def class_confusions(subset: Subset, finding: str = "") -> Html:
    """Show where the segments of each class went: cells are coloured by share and lead to their segments.

    ``finding`` says what is seen; it is the heading of the table.
    """
    classes, place = subset.task.classes, f"{subset.corpus}, {subset.task.name}"
    counts = _confusion_counts(subset)
    used = counts.sum(axis=0) + counts.sum(axis=1)
    largest = np.sort(np.argsort(-used, kind="stable")[:MOST_CLASSES])
    anchor = f"confusion-{files.slug(subset.corpus)}-{files.slug(subset.task.name)}"
    cells = {
        (r, c): {
            "count": int(counts[r, c]),
            "share": counts[r, c] / max(1, counts[r].sum()),
            "known": counts[r].any(),
            "css": "sc-heat-right" if r == c else "sc-heat-wrong",
            "anchor": f"{anchor}-{r}-{c}",
            "title": f"{classes[r]} taken for {classes[c]}" if r != c else f"{classes[r]}, recognised",
        }
        for r in largest
        for c in largest
    }
    ranked = sorted((cell for cell in cells if counts[cell]), key=lambda cell: (-counts[cell], cell))
    listed = sorted(ranked[:MOST_CELLS])
    for r, c in listed:
        chosen = [subset.segments.iloc[one.row] for one in _in_cell(subset, r, c, READ)]
        names = [segment_name(one) + (f" ({one['speaker']})" if one.get("speaker") else "") for one in chosen]
        cells[r, c] |= {"segments": names, "more": int(counts[r, c]) - len(names)}
    missing = len(subset) - int(counts.sum())
    notes = {
        f"The {len(largest)} of {len(classes)} classes with the most segments are shown.": len(largest)
        < len(classes),
        f"Segments are listed for the {MOST_CELLS} of {len(ranked)} cells that have the most.": len(ranked)
        > MOST_CELLS,
        f"{counted(missing, 'segment')} without a prediction or with another label: not counted.": missing,
    }
    return templates.html(
        "confusions",
        names=[classes[c] for c in largest],
        rows=[{"name": classes[r], "cells": [cells[r, c] for c in largest]} for r in largest],
        listed=[cells[cell] for cell in listed],
        finding=finding,
        title=f"{place}: where the segments of each class (row) went, and how many",
        place=place,
        notes=[note for note, needed in notes.items() if needed],
    )


def most_confused(subset: Subset) -> Scene:
    """Choose a segment of each of the most frequent confusions."""
    counts = _confusion_counts(subset)
    np.fill_diagonal(counts, 0)
    cells = [divmod(int(n), len(counts)) for n in np.argsort(-counts, axis=None, kind="stable")[:PLAYED]]
    chosen = [one for cell in cells if counts[cell] for one in _in_cell(subset, *cell, 1)]
    return Scene(f"{subset.corpus}, {subset.task.name}: the most frequent confusions", subset, chosen)


def _confusion_counts(subset: Subset) -> np.ndarray:
    """Count the segments of each class (row) that were taken for each class (column), int ``(K, K)``."""
    sides = pd.DataFrame({"truth": subset.truth, "prediction": subset.predictions.clean}, dtype=object)
    counts, classes = sides.value_counts().unstack(fill_value=0), list(subset.task.classes)
    return counts.reindex(index=classes, columns=classes, fill_value=0).to_numpy(int, copy=True)


def _in_cell(subset: Subset, row: int, column: int, count: int) -> list[Example]:
    """Choose segments of a cell by their keys, each speaker once before another one of the same comes."""
    classes = subset.task.classes
    mask = (subset.truth == classes[row]) & (subset.predictions.clean == classes[column])
    examples = choose(np.zeros(len(subset)), subset.segments, mask, typical=count)
    return [one._replace(why="") for one in examples]
