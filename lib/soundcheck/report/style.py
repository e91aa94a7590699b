"""The look of all figures, and how they get onto a page.

Conventions
-----------
- Colours are told apart by colour-blind readers (Okabe and Ito), and never carry a meaning alone: shapes and
  words say the same.
- Text from data is shown as it is, on one line, cut at 30 characters; it is never taken as a formula.
- The same data give the same bytes: fixed salt, no dates.
"""

from __future__ import annotations

import importlib.util
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from soundcheck.common.escaping import shorten, terminal, xml_text
from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.report.html import Html, element
from soundcheck.report.palettes import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY
from soundcheck.report.pictures import png, smaller_svg


def _when_used(name: str) -> ModuleType:
    """Import a module when something of it is used for the first time."""
    if name in sys.modules:
        return sys.modules[name]
    specification = importlib.util.find_spec(name)
    specification.loader = importlib.util.LazyLoader(specification.loader)
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


seaborn = _when_used("seaborn")  # brings scipy.stats, half a second; many notebooks draw nothing of it
audplot = _when_used("audplot")

PALETTE = (BLUE, RED, GREEN, ORANGE, PINK, SKY, BLACK, GREY)  # told apart in this order
MARKS = ("o", "s", "^", "v", "D", "P", "X", "*")
LABEL_LIMIT = 30
NARROW = 500  # pixels; figures below may stand side by side
MOST_MARKS = 2000  # points of lines; above, a figure is stored as pixels
A_MARK = 6  # points of a line are as long as a mark or a shape of its own
SVG_BYTES = 150_000  # above, too
MOST_TOLD = 400  # letters of a finding
SCREEN = 96  # pixels an inch; sharp screens have twice as many

_SETTINGS = {
    "axes.grid": True,
    "axes.prop_cycle": matplotlib.cycler(color=PALETTE),
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 100,
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "soundcheck",
    "text.parse_math": False,
}


@contextmanager
def look() -> Iterator[None]:
    """Use the look of the book; a character without a glyph is a box, not an alarm."""
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        warnings.filterwarnings("ignore", message="vert: bool was deprecated")  # seaborn's, not ours
        yield


def label(text: object, limit: int = LABEL_LIMIT) -> str:
    """Make text from data fit for a figure: one line, no control characters, nothing that cannot be drawn."""
    # SVG is XML and keeps the text in comments, so what XML cannot carry must not reach it.
    return shorten(xml_text(terminal(text)).replace("\n", " "), limit)


def new(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: object
) -> tuple[Figure, list[Axes]]:
    """Make a figure of its own, apart from pyplot's state, with a flat list of axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def grid(
    count: int, across: int, width: float, height: float, margins: tuple[float, float] = (0.0, 0.0), **options
) -> tuple[Figure, list[Axes]]:
    """Make a figure of so many panels, line by line; see :func:`new`.

    Parameters
    ----------
    count
        How many panels.
    across
        How many stand in a line, at most.
    width, height
        Of a panel, in inches.
    margins
        What the figure is wider and higher than its panels.
    options
        Of :meth:`matplotlib.figure.Figure.subplots`.

    Returns
    -------
    tuple
        The figure, and all places for panels, one at least; those that are to spare come last and stay empty.
    """
    columns = min(across, max(1, count))
    rows = max(1, -(-count // columns))
    size = (width * columns + margins[0], height * rows + margins[1])
    figure, panels = new(*size, rows, columns, **options)
    for spare in panels[count:]:
        spare.set_axis_off()
    return figure, panels


def name_ticks(axes: Axes, names: Sequence[object], limit: int = 12, longest: int = 0) -> None:
    """Name the places 0, 1, ... of the horizontal axis; long names slope."""
    texts = [label(name, limit) for name in names]
    slope = {"rotation": 35, "ha": "right"} if any(len(text) > longest for text in texts) else {}
    axes.set_xticks(range(len(texts)), texts, **slope)


def show(
    media: MediaStore | EmbeddedMedia,
    figure: Figure,
    alt: str,
    *,
    finding: str = "",
    dense: bool | None = None,
) -> Html:
    """Put a figure onto a page.

    Parameters
    ----------
    media
        Where the picture goes.
    figure
        The figure.
    alt
        What it shows, for readers who do not see it.
    finding
        What is seen, in a sentence, such as one of :mod:`soundcheck.report.sentences`: the heading of
        the figure, as text of the page. Whoever does not see the picture hears it first.
    dense
        Whether to store pixels instead of lines; default: if it has more than :data:`MOST_MARKS` marks.
    """
    pixels = _marks(figure) > MOST_MARKS if dense is None else dense
    data = _picture(figure, pixels)
    if dense is None and not pixels and len(data) > SVG_BYTES:
        pixels, data = True, _picture(figure, True)
    width, height = (round(SCREEN * size) for size in figure.get_size_inches())
    source = media.add(data, ".png" if pixels else ".svg")
    told = f"{alt}. {finding}" if finding else alt
    image = element(
        "img", class_="sc-picture", src=source, alt=told, width=width, height=height, loading="lazy"
    )
    heading = element("figcaption", finding, limit=MOST_TOLD) if finding else Html()
    if width < NARROW:
        return element("figure", heading, image, class_="sc-figure sc-narrow")
    return element("figure", heading, image, class_="sc-figure", tabindex="0")  # may be moved on telephones


def svg(figure: Figure) -> bytes:
    """Draw a figure as SVG, for pages that carry their pictures with them."""
    return _picture(figure, False)


def _picture(figure: Figure, pixels: bool) -> bytes:
    if not isinstance(figure.canvas, FigureCanvasAgg):
        FigureCanvasAgg(figure)
    with look():
        figure.set_dpi(2 * SCREEN)
        figure.set_facecolor("white")
        if pixels:
            figure.canvas.draw()
            return png(np.asarray(figure.canvas.buffer_rgba())[..., :3])
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, dpi=2 * SCREEN)
    return smaller_svg(buffer.getvalue())


def _marks(figure: Figure) -> int:
    """Count what makes an SVG long: points of lines, and marks and shapes at their length."""
    points = marks = 0
    for axes in figure.axes:
        for line in axes.lines:
            points += len(line.get_xdata())
            marks += len(line.get_xdata()) * (line.get_marker() not in ("", " ", "None", None))
        marks += len(axes.patches)
        for collection in axes.collections:
            if not collection.get_rasterized():
                marks += max(len(collection.get_offsets()), len(collection.get_paths()))
    return points + A_MARK * marks
