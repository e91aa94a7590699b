"""The look of all figures, and how they get onto a page.

- Colours are those of Okabe and Ito, which colour-blind readers distinguish, and never carry a meaning alone:
  shapes and words say the same. Figures are drawn for white paper; a dark page turns them over, hues stay.
- Text from data is shown as it is, on one line, cut at 30 characters; it is never taken as a formula.
- The same data give the same bytes: fixed salt, no dates.
"""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from soundcheck.common import templates
from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.common.messages import shorten, terminal, xml_text
from soundcheck.report.html import Html

BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#767676"
PINK, SKY, BLACK = "#cc79a7", "#56b4e9", "#000000"
PALETTE = (BLUE, RED, GREEN, ORANGE, PINK, SKY, BLACK, GREY)  # told apart in this order
MARKS = ("o", "s", "^", "v", "D", "P", "X", "*")
DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 3)), (0, (1, 3)))
LABEL_LIMIT = 30
NARROW = 500  # pixels; figures below may stand side by side
MOST_MARKS = 1500  # of a scatter or line that are drawn one by one; more become pixels
MOST_LETTERS = 400  # letters of a finding
SCREEN = 96  # pixels an inch; sharp screens have twice as many

_LOOK = matplotlib.rc_params_from_file(
    Path(__file__).with_name("figures.mplstyle"), use_default_template=False
)


@contextmanager
def look() -> Iterator[None]:
    """Use the look of the book; a character without a glyph is a box, not an alarm."""
    with matplotlib.rc_context(_LOOK), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        warnings.filterwarnings("ignore", message="vert: bool was deprecated")  # seaborn's, not ours
        yield


def label(text: object, limit: int = LABEL_LIMIT) -> str:
    """Make text from data fit for a figure: one line, no control characters, nothing that cannot be drawn."""
    # SVG is XML and keeps the text in comments, so what XML cannot carry must not reach it.
    return shorten(xml_text(terminal(text)).replace("\n", " "), limit)


def legend_name(text: object) -> str:
    """Make text from data fit for a legend, which leaves out names that begin with ``_``."""
    return re.sub("^_", "\u200b_", label(text))


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
    """Make a figure of so many panels, ``across`` in a line, each ``width`` by ``height`` inches.

    ``margins`` are what the figure is wider and higher; places to spare come last and stay empty.
    """
    columns = min(across, max(1, count))
    rows = max(1, -(-count // columns))
    size = (width * columns + margins[0], height * rows + margins[1])
    figure, panels = new(*size, rows, columns, **options)
    for spare in panels[count:]:
        spare.set_axis_off()
    return figure, panels


def show(media: MediaStore | EmbeddedMedia, figure: Figure, alt: str, finding: str = "") -> Html:
    """Put a figure onto a page.

    ``alt`` says what it shows, for readers who do not see it; ``finding`` what is seen, in a sentence: the
    heading of the figure.
    """
    width, height = (round(SCREEN * size) for size in figure.get_size_inches())
    about = {"source": media.add(svg(figure), ".svg"), "width": width, "height": height}
    about |= {"alt": f"{alt}. {finding}" if finding else alt, "narrow": width < NARROW}
    return templates.html("figure", finding=shorten(finding, MOST_LETTERS), **about)


def svg(figure: Figure) -> bytes:
    """Draw a figure as SVG, in which scatters and lines of very many marks are pixels."""
    for axes in figure.axes:
        for scatter in axes.collections:
            scatter.set_rasterized(len(scatter.get_offsets()) > MOST_MARKS)
        for line in axes.lines:
            line.set_rasterized(len(line.get_xdata()) > MOST_MARKS)
    buffer = io.BytesIO()
    with look():
        figure.set_facecolor("white")
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, dpi=2 * SCREEN)
    # Verdana and its like are as wide, where the first font is missing.
    return _shorter(buffer.getvalue().replace(b"'DejaVu Sans'", b"'DejaVu Sans',Verdana,sans-serif"))


def _shorter(drawing: bytes) -> bytes:
    """Write each style of an SVG once, as a class, and hundredths of a point: a third is left out."""
    styles: dict[bytes, int] = {}

    def by_class(style: re.Match) -> bytes:
        return b'class="s%d"' % styles.setdefault(style[1], len(styles))

    def tag(whole: re.Match) -> bytes:
        return re.sub(rb'style="([^"]*)"', by_class, re.sub(rb"(\.\d\d)\d+", rb"\1", whole[0]))

    drawing = re.sub(rb"<[^<>]+>", tag, drawing)  # texts between tags stay
    rules = b"".join(b"\n.s%d{%s}" % (number, style) for style, number in styles.items())
    return drawing.replace(b"</style>", rules + b"</style>", 1)
