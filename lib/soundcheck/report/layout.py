"""Finds the places of axes with Matplotlib's constrained layout, with as little measuring as it needs.

Matplotlib measures all that stands around axes twice, because ticks may change when axes get another size,
and every title and label measures the ticks beside it once more: more time than drawing takes. Here

- axes are measured a second time only if their ticks did change, or if words in them or sloping names may
  reach beyond another edge;
- nobody looks for a place of a label without words, or for a power of ten that is not there;
- ticks without names, as panels have that share an axis, are two lines and not five parts each.

What is drawn is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import TICKDOWN, TICKLEFT, Line2D
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Bbox, BboxBase

# What may be shown beside an axis: marks and names at its first side, where marks are, and at the other.
_PARTS = {
    "x": ("bottom", "labelbottom", "top", "labeltop"),
    "y": ("left", "labelleft", "right", "labelright"),
}


@contextmanager
def laid_out(figure: Figure) -> Iterator[None]:
    """Put the axes of a figure in their places, where they are drawn until the end of the context."""
    everywhere = figure.axes
    unnamed = [axis for axes in everywhere for axis in (axes.xaxis, axes.yaxis) if _is_unnamed(axis)]
    for axis in unnamed:
        axis.set_visible(False)
    for axes in everywhere:
        axes.get_tightbbox = _remembered(axes)
        axes.yaxis.get_tightbbox = _if_needed(axes.yaxis)
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.label.get_text():
                axis.set_label_coords(0, 0)
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # Matplotlib would draw everything one more time before it saves
    for axis in unnamed:
        _draw_ticks(axis)
    try:
        yield
    finally:
        for part in (part for axes in everywhere for part in (axes, axes.yaxis)):
            vars(part).pop("get_tightbbox", None)


def _remembered(axes: Axes) -> Callable[..., BboxBase | None]:
    """Give an axes' ``get_tightbbox`` that remembers how far the surroundings reach."""
    measure, known = axes.get_tightbbox, []

    def get_tightbbox(renderer: object = None, **options: object) -> BboxBase | None:
        locator = axes.get_axes_locator()  # of a scale of colours
        axes.apply_aspect(locator(axes, renderer) if locator else None)
        ticks = [axis.get_majorticklocs().tolist() for axis in (axes.xaxis, axes.yaxis)]
        if known and known[0] == ticks and not axes.texts and not _slope(axes.xaxis):
            return Bbox(axes.bbox.get_points() + known[1])
        found = measure(renderer, **options)
        if found is not None:
            known[:] = ticks, found.get_points() - axes.bbox.get_points()
        return found

    return get_tightbbox


def _slope(axis: Axis) -> bool:
    return axis.get_visible() and axis.get_major_ticks(1)[0].label1.get_rotation() % 90 != 0


def _if_needed(axis: Axis) -> Callable[..., BboxBase | None]:
    """Give a ``get_tightbbox`` that titles ask in vain: they look for a power of ten above the axis."""
    measure = axis.get_tightbbox

    def get_tightbbox(renderer: object = None, **options: object) -> BboxBase | None:
        if options.get("for_layout_only") or axis.get_offset_text().get_text():
            return measure(renderer, **options)
        return None

    return get_tightbbox


def _is_unnamed(axis: Axis) -> bool:
    """Whether an axis shows a grid and marks at its first side, and nothing else."""
    if not (axis.axes.axison and axis.get_visible()) or axis.label.get_text():
        return False
    marks, *others = _PARTS[axis.axis_name]
    shown = {name for name, value in axis.get_tick_params().items() if value is not False}
    plain = isinstance(axis.get_minor_locator(), NullLocator) and not axis.get_offset_text().get_visible()
    return plain and shown == {marks, "gridOn"}


def _draw_ticks(axis: Axis) -> None:
    """Draw the grid of an axis as one line, and its marks as another."""
    axes, settings = axis.axes, matplotlib.rcParams
    low, high = sorted(axis.get_view_interval())
    places, reach = np.asarray(axis.get_majorticklocs()), 1e-10 * (high - low)
    places = places[(low - reach <= places) & (places <= high + reach)]
    vertical = axis.axis_name == "x"
    which = axes.get_xaxis_transform if vertical else axes.get_yaxis_transform
    across, along = np.tile([0, 1, np.nan], len(places)), np.repeat(places, 3)
    look = {name: settings[f"grid.{name}"] for name in ("color", "linestyle", "linewidth", "alpha")}
    grid = (along, across) if vertical else (across, along)
    axes.add_artist(Line2D(*grid, transform=which("grid"), zorder=axis.get_zorder(), **look))
    name = "xtick" if vertical else "ytick"
    edge = np.zeros(len(places))
    marks = Line2D(
        *((places, edge) if vertical else (edge, places)),
        transform=which("tick1"),
        zorder=axis.get_zorder(),
        linestyle="none",
        marker=TICKDOWN if vertical else TICKLEFT,
        markersize=settings[f"{name}.major.size"],
        markeredgewidth=settings[f"{name}.major.width"],
        markeredgecolor=settings[f"{name}.color"],
    )
    axes.add_artist(marks).set_clip_on(False)
