"""Figures of distributions: truth against prediction, groups against all, categories against expected ranges.

Conventions
-----------
- Values are drawn on 0..1, those outside at the edge, in bins of 0.03 with a smooth density, or as the
  density alone; heights are proportions, so that groups of different size can be laid over each other.
- Missing values are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from soundcheck.report import palettes
from soundcheck.report.shapes import density, draw_density, histogram
from soundcheck.report.style import BLUE, GREEN, GREY, RED, grid, label, look, name_ticks, new, seaborn

EDGES = 0.03 * np.arange(35)  # of bins
MOST_GROUPS = 40  # panels of a figure ...
ABREAST = 4  # ... and of a line


def overlaid(values: Mapping[str, Sequence[float]], title: str = "") -> Figure:
    """Lay distributions of values over each other.

    Parameters
    ----------
    values
        Name -> values; at most two or three can be told apart.
    title
        What is shown.
    """
    with look():
        figure, (axes,) = new(5.4, 3.4)
        for (name, own), color, line in zip(
            values.items(), (RED, BLUE, GREEN), ("-", "--", ":"), strict=False
        ):
            histogram(
                axes, _clipped(own), EDGES, "percent", color, line, label=f"{label(name)} ({_count(own)})"
            )
        axes.set(xlim=(0, 1), xlabel="value", ylabel="% of segments")
        axes.set_title(label(title, 50), loc="left")
        if axes.patches:
            axes.legend(fontsize=9)
    return figure


def class_proportions(values: Mapping[str, Sequence[str]], classes: Sequence[str], title: str = "") -> Figure:
    """Draw the shares of classes side by side.

    Parameters
    ----------
    values
        Name -> class names; others than ``classes`` are left out.
    classes
        In the order in which they are shown.
    title
        What is shown.
    """
    with look():
        figure, (axes,) = new(max(5.0, 1.1 * len(classes) + 2), 3.4)
        _bars(axes, values, classes)
        axes.set_title(label(title, 50), loc="left")
        figure.legend(loc="outside upper right", ncols=len(values), fontsize=9)
    return figure


def groups_against_all(
    values: Sequence[float] | Sequence[str],
    groups: Sequence[str],
    order: Sequence[str],
    classes: Sequence[str] = (),
    title: str = "",
    compared: Sequence[str] | None = None,
) -> Figure:
    """Draw what is predicted for each group over the average of the groups, a small panel each.

    Parameters
    ----------
    values
        Predictions, numbers or class names, ``(N,)``.
    groups
        Group of each prediction, ``(N,)``.
    order
        Groups to show; beyond 40 the first ones.
    classes
        For class names: the classes in their order.
    title
        What is shown.
    compared
        Groups that make up the average, all with the same weight; default: all that are shown.
    """
    values, groups = np.asarray(values), np.asarray(groups, dtype=object)
    compared = list(order if compared is None else compared)
    everybody = _alike(values, groups, compared)
    shown = list(order)[:MOST_GROUPS]
    panels = [(name, values[groups == name], "" if name in compared else ", not judged") for name in shown]
    note = f", first {MOST_GROUPS} of {len(order)}" if len(order) > MOST_GROUPS else ""
    title = label(title, 60) + note
    return _against([(*panel, everybody) for panel in panels], classes, title, ("average", "this group"))


def contexts_against_all(
    values: Sequence[float] | Sequence[str],
    groups: Sequence[str],
    order: Sequence[str],
    tested: str,
    contexts: Sequence[str],
    shown: Sequence[str],
    classes: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Draw what is predicted for a group in each context over the average of all groups, a panel each.

    Parameters
    ----------
    values
        Predictions, numbers or class names, ``(N,)``.
    groups, contexts
        Group and context of each prediction, ``(N,)``.
    order
        Groups that make up the average, all with the same weight.
    tested
        The group that is shown.
    shown
        Contexts to show.
    classes
        For class names: the classes in their order.
    title
        What is shown.
    """
    values, groups, contexts = (
        np.asarray(values),
        *(np.asarray(x, dtype=object) for x in (groups, contexts)),
    )
    panels = []
    for context in shown:
        own = contexts == context
        everybody = _alike(values[own], groups[own], order)
        panels.append((context, values[own & (groups == tested)], "", everybody))
    return _against(panels, classes, label(title, 60), ("average", label(tested, 18)))


def _alike(values: np.ndarray, groups: np.ndarray, order: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Give the predictions of some groups with weights that let each group weigh the same."""
    own = [values[(groups == name) & pd.notna(values)] for name in order]
    weights = [np.full(len(each), 1 / max(1, len(each))) for each in own]
    return np.concatenate([values[:0], *own]), np.concatenate([np.empty(0), *weights])


def _against(
    panels: Sequence[tuple[str, np.ndarray, str, tuple[np.ndarray, np.ndarray]]],
    classes: Sequence[str],
    title: str,
    names: tuple[str, str],
) -> Figure:
    """Draw panels of a name, values, a remark, and the values with weights that they are laid over."""
    with look():
        figure, places = grid(len(panels), ABREAST, 2.5, 1.9, (0, 0.8), sharex=True, sharey=True)
        for axes in places:
            axes.set_autoscaley_on(False)  # what they share is set once, and not for each shape
        if not len(classes):
            places[0].set(xlim=(0, 1), xticks=(0, 0.5, 1))
        outlines = {}  # panels may be laid over the same values
        for n, (axes, (name, own, remark, (everybody, weights))) in enumerate(
            zip(places, panels, strict=False)
        ):
            if len(classes):
                both = {"all": everybody, name: own}
                _bars(axes, both, classes, colors=(GREY, BLUE), weights={"all": weights})
            else:
                if id(everybody) not in outlines:
                    outlines[id(everybody)] = density(everybody, weights)
                draw_density(axes, outlines[id(everybody)], GREY, filled=True)
                draw_density(axes, density(own), BLUE, filled=False)
            axes.set_title(f"{label(name, 18)} ({_count(own)}){remark}", loc="left", fontsize=9)
            axes.set_ylabel(("%" if len(classes) else "density") if n % ABREAST == 0 else "")
        heights = [axes.dataLim.y1 for axes in places[: len(panels)] if np.isfinite(axes.dataLim.y1)]
        places[0].set_ylim(0, 1.05 * max([1.0, *heights]))
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        handles = [Patch(color=GREY, alpha=0.6, label=names[0]), Patch(color=BLUE, label=names[1])]
        figure.legend(handles=handles, loc="outside upper right", ncols=2, fontsize=9)
    return figure


def expected_ranges(
    prediction: Sequence[float],
    category: Sequence[str],
    expected: Mapping[str, tuple[float, float]],
    title: str = "",
) -> Figure:
    """Draw the predictions of each category as a box, over the range where they are expected.

    Parameters
    ----------
    prediction
        Values, ``(N,)``.
    category
        Category of each segment, ``(N,)``.
    expected
        Category -> lowest and highest expected value; only these categories are drawn, sorted by name.
    title
        What is shown.
    """
    prediction = np.clip(np.asarray(prediction, dtype=float), 0, 1)
    category = np.asarray(category, dtype=object)
    names = sorted(expected)
    with look():
        figure, (axes,) = new(6.4, 1.2 + 0.42 * max(1, len(names)))
        for place, name in enumerate(names):
            low, high = np.clip(expected[name], 0, 1)
            axes.barh(place, high - low, left=low, height=0.86, color=GREEN, alpha=0.2, lw=0)
        known = np.isin(category, names) & np.isfinite(prediction)
        if known.any():
            seaborn.boxplot(
                x=prediction[known],
                y=[names.index(name) for name in category[known]],
                order=range(len(names)),
                orient="h",
                width=0.5,
                color=BLUE,
                saturation=1,
                boxprops={"alpha": 0.75},
                flierprops={"markersize": 2.5, "markeredgecolor": GREY},
                ax=axes,
            )
        counts = [f"{label(name)} ({int((category == name).sum())})" for name in names]
        axes.set_yticks(range(len(names)), counts)
        axes.set_ylim(max(1, len(names)) - 0.4, -0.6)
        axes.set(xlim=(0, 1), ylabel="", xlabel="prediction (box: middle half; shaded: where it is expected)")
        axes.set_title(label(title, 50), loc="left")
    return figure


def heat_map(
    axes: Axes,
    values: np.ndarray,
    names: Sequence[Sequence[str]],
    texts: Sequence[Sequence[str]],
    highest: float,
) -> None:
    """Draw a table of numbers as colours with texts, such as a confusion matrix.

    Parameters
    ----------
    axes
        Where.
    values
        Numbers from 0 to ``highest``, ``(rows, columns)``.
    names
        Names of the columns and of the rows; texts from data.
    texts
        What stands in the cells.
    highest
        The number of the darkest colour.
    """
    options = {"vmin": 0, "vmax": highest, "cmap": "Blues", "cbar": False, "fmt": ""}
    seaborn.heatmap(values, annot=np.array(texts, dtype=object), ax=axes, **options)
    axes.collections[0].set_gid(palettes.CELLS)
    cells = axes.collections[0].get_facecolors()  # seaborn's words are pale on cells in between
    for text, cell in zip(axes.texts, cells, strict=True):
        text.set_color(palettes.on(to_hex(cell)))
    name_ticks(axes, names[0], 30, longest=9)
    axes.set_yticks(range(len(names[1])), [label(name) for name in names[1]], rotation=0)
    for axis in (axes.xaxis, axes.yaxis):  # cells are between whole numbers
        axis.set_ticks(
            np.array(axis.get_ticklocs()) + 0.5, [text.get_text() for text in axis.get_ticklabels()]
        )
    axes.grid(visible=False)


def _clipped(values: Sequence[float]) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    return np.clip(values[np.isfinite(values)], 0, 1)


def _bars(
    axes: Axes,
    values: Mapping[str, Sequence[str]],
    classes: Sequence[str],
    colors: Sequence[str] = (RED, BLUE, GREEN),
    weights: Mapping[str, np.ndarray] | None = None,
) -> None:
    width = 0.8 / max(1, len(values))
    for n, ((name, own), color) in enumerate(zip(values.items(), colors, strict=False)):
        own = np.asarray(own, dtype=object)
        weight = (weights or {}).get(name, np.ones(len(own)))
        of_class = [sum(weight[own == one].tolist()) for one in classes]
        shares = [100 * share / (sum(of_class) or 1) for share in of_class]
        known = own[np.isin(own, list(classes))]
        places = np.arange(len(classes)) + (n - (len(values) - 1) / 2) * width
        axes.bar(places, shares, width, color=color, alpha=0.75, label=f"{label(name)} ({len(known)})")
    name_ticks(axes, classes)
    axes.set_ylabel("% of segments")


def _count(values: Sequence[object]) -> str:
    return f"{int(pd.notna(np.asarray(values, dtype=object)).sum()):,}"
