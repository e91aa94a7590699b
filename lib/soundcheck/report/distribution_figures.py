"""Figures of distributions: truth against prediction, groups against all, categories against expected ranges.

Conventions
-----------
- Values are drawn on 0..1, those outside at the edge, in bins of 0.03 with a smooth density; heights are
  shares in percent, so that groups of different size can be laid over each other.
- Missing values are left out.

Public: :func:`overlaid`, :func:`class_shares`, :func:`groups_against_all`, :func:`expected_ranges`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from soundcheck.report.style import BLUE, GREEN, GREY, ORANGE, RED, label, look, new

WIDTH = 0.03  # of a bin
MOST_GROUPS = 40  # panels of a figure
_PALETTE = (BLUE, ORANGE, GREEN, RED, "#cc79a7", "#56b4e9", "#f0e442", GREY, "#444444")


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
            _distribution(axes, own, color, line, f"{label(name)} ({_count(own)})")
        axes.set(xlim=(0, 1), xlabel="value", ylabel="% of segments")
        axes.set_title(label(title, 50), loc="left")
        axes.legend(fontsize=9)
    return figure


def class_shares(values: Mapping[str, Sequence[str]], classes: Sequence[str], title: str = "") -> Figure:
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
) -> Figure:
    """Draw what is predicted for each group over what is predicted for all, a small panel each.

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
    """
    values, groups = np.asarray(values), np.asarray(groups, dtype=object)
    shown = list(order)[:MOST_GROUPS]
    everybody = values[np.isin(groups.astype(str), [str(name) for name in order])]
    across = min(4, max(1, len(shown)))
    down = max(1, -(-len(shown) // across))
    with look():
        figure, panels = new(2.5 * across, 1.9 * down + 0.8, down, across, sharex=True, sharey=True)
        for axes in panels[len(shown) :]:
            axes.set_axis_off()
        for n, (axes, name) in enumerate(zip(panels, shown, strict=False)):
            own = values[groups == name]
            if len(classes):
                _bars(axes, {"all": everybody, name: own}, classes, colors=(GREY, BLUE))
            else:
                _shape(axes, everybody, GREY, filled=True)
                _shape(axes, own, BLUE, filled=False)
                axes.set_xlim(0, 1)
            axes.set_title(f"{label(name, 18)} ({_count(own)})", loc="left", fontsize=9)
            axes.set_ylabel("%" if n % across == 0 else "")
        heights = [axes.dataLim.y1 for axes in panels[: len(shown)] if np.isfinite(axes.dataLim.y1)]
        panels[0].set_ylim(0, 1.05 * max([1.0, *heights]))
        note = f", first {MOST_GROUPS} of {len(order)}" if len(order) > MOST_GROUPS else ""
        figure.suptitle(label(title, 60) + note, x=0.01, ha="left", fontsize=10)
        handles = [Patch(color=GREY, alpha=0.6, label="all groups"), Patch(color=BLUE, label="this group")]
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
            own = prediction[(category == name) & np.isfinite(prediction)]
            low, high = np.clip(expected[name], 0, 1)
            axes.barh(place, high - low, left=low, height=0.86, color=GREEN, alpha=0.2, lw=0)
            if len(own):
                box = {"facecolor": _PALETTE[place % len(_PALETTE)], "alpha": 0.75}
                axes.boxplot(
                    own,
                    positions=[place],
                    orientation="horizontal",
                    widths=0.5,
                    patch_artist=True,
                    boxprops=box,
                    medianprops={"color": "black"},
                    flierprops={"markersize": 2.5, "markeredgecolor": GREY},
                    manage_ticks=False,
                )
        counts = [f"{label(name)} ({int((category == name).sum())})" for name in names]
        axes.set_yticks(range(len(names)), counts)
        axes.set_ylim(max(1, len(names)) - 0.4, -0.6)
        axes.set(xlim=(0, 1), xlabel="prediction (box: middle half; shaded: where it is expected)")
        axes.set_title(label(title, 50), loc="left")
    return figure


def _distribution(axes: Axes, values: Sequence[float], color: str, line: str, name: str) -> None:
    values = np.asarray(values, dtype=float)
    values = np.clip(values[np.isfinite(values)], 0, 1)
    if not len(values):
        return
    edges = WIDTH * np.arange(35)
    axes.hist(
        values,
        bins=edges,
        weights=np.full(len(values), 100 / len(values)),
        color=color,
        alpha=0.3,
        label=name,
    )
    places, heights = density(values, WIDTH)
    axes.plot(places, 100 / len(values) * heights, color=color, linestyle=line, linewidth=1.5)


def _shape(axes: Axes, values: Sequence[float], color: str, filled: bool) -> None:
    """Draw the density alone; constant values as a line where they are."""
    values = np.asarray(values, dtype=float)
    values = np.clip(values[np.isfinite(values)], 0, 1)
    places, heights = density(values, WIDTH)
    if not len(places):
        for value in values[:1]:
            axes.axvline(value, color=color, linewidth=2)
        return
    heights = 100 / len(values) * heights
    if filled:
        axes.fill_between(places, 0, heights, color=color, alpha=0.35, lw=0)
    axes.plot(places, heights, color=color, linewidth=1 if filled else 2)


def density(values: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Give a Gaussian kernel density (Scott's rule) in segments a bin; nothing for constant values.

    Parameters
    ----------
    values
        Numbers from 0 to 1, ``(N,)``.
    width
        Width of a bin.
    """
    spread = values.std() if len(values) > 1 else 0.0
    if spread < 1e-9:
        return np.empty(0), np.empty(0)
    bandwidth = max(0.005, spread * len(values) ** -0.2)
    # Binned first: the cost does not grow with the number of segments.
    counts, edges = np.histogram(values, bins=400, range=(0, 1))
    places, centres = np.linspace(0, 1, 201), (edges[1:] + edges[:-1]) / 2
    kernel = np.exp(-0.5 * ((places[:, np.newaxis] - centres) / bandwidth) ** 2)
    return places, kernel @ counts * width / (bandwidth * np.sqrt(2 * np.pi))


def _bars(
    axes: Axes,
    values: Mapping[str, Sequence[str]],
    classes: Sequence[str],
    colors: Sequence[str] = (RED, BLUE, GREEN),
) -> None:
    width = 0.8 / max(1, len(values))
    for n, ((name, own), color) in enumerate(zip(values.items(), colors, strict=False)):
        known = [value for value in own if value in classes]
        shares = [100 * known.count(one) / max(1, len(known)) for one in classes]
        places = np.arange(len(classes)) + (n - (len(values) - 1) / 2) * width
        axes.bar(places, shares, width, color=color, alpha=0.75, label=f"{label(name)} ({len(known)})")
    axes.set_xticks(range(len(classes)), [label(one, 12) for one in classes], rotation=35, ha="right")
    axes.set_ylabel("% of segments")


def _count(values: Sequence[object]) -> str:
    return f"{int(pd.notna(np.asarray(values, dtype=object)).sum()):,}"
