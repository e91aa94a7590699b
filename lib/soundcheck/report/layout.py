"""Finds the places of axes with Matplotlib's constrained layout, and measures no more than it needs.

It measures all that stands around each axes twice, because ticks may change when axes get another size, and
every title measures the ticks beside it once more: more time than drawing takes. Here axes are measured a
second time only if their ticks did change, or if they hold words, which may then reach beyond an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox, BboxBase

__all__ = ["laid_out"]


@contextmanager
def laid_out(figure: Figure) -> Iterator[None]:
    """Put the axes of a figure in their places, where they are drawn until the end of the context."""
    everywhere = figure.axes
    for axes in everywhere:
        if axes.get_axes_locator() is None:  # else it moves with another one
            axes.get_tightbbox = _remembered(axes)
        axes.yaxis.get_tightbbox = _if_needed(axes.yaxis)
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # Matplotlib would draw everything one more time before it saves
    try:
        yield
    finally:
        for part in (part for axes in everywhere for part in (axes, axes.yaxis)):
            vars(part).pop("get_tightbbox", None)


def _remembered(axes: Axes) -> Callable[..., BboxBase | None]:
    """Give an axes' ``get_tightbbox`` that remembers how far the surroundings reach."""
    measure, known = axes.get_tightbbox, []

    def get_tightbbox(renderer: object = None, **options: object) -> BboxBase | None:
        axes.apply_aspect()
        ticks = [axis.get_majorticklocs().tolist() for axis in (axes.xaxis, axes.yaxis)]
        if known and known[0] == ticks and not axes.texts:
            return Bbox(axes.bbox.get_points() + known[1])
        found = measure(renderer, **options)
        if found is not None:
            known[:] = ticks, found.get_points() - axes.bbox.get_points()
        return found

    return get_tightbbox


def _if_needed(axis: Axis) -> Callable[..., BboxBase | None]:
    """Give a ``get_tightbbox`` that titles ask in vain: they look for a power of ten above the axis."""
    measure = axis.get_tightbbox

    def get_tightbbox(renderer: object = None, **options: object) -> BboxBase | None:
        if options.get("for_layout_only") or axis.get_offset_text().get_text():
            return measure(renderer, **options)
        return None

    return get_tightbbox
