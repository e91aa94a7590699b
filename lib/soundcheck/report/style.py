"""The look of all figures, and how they get onto a page.

- Colours are those of Okabe and Ito, which colour-blind readers distinguish, and never carry a meaning alone:
  shapes and words say the same. Figures are drawn for white paper; a dark page turns them over, hues stay.
- Text from data is shown as it is, on one line, cut at 30 characters; it is never taken as a formula.
- The same data give the same bytes: fixed salt, no dates.
"""

import importlib.util
import io
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from soundcheck.common.escaping import shorten, terminal, xml_text
from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.report.html import Html, element


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

BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#767676"
PINK, SKY, BLACK, WHITE = "#cc79a7", "#56b4e9", "#000000", "#ffffff"
PALETTE = (BLUE, RED, GREEN, ORANGE, PINK, SKY, BLACK, GREY)  # told apart in this order
MARKS = ("o", "s", "^", "v", "D", "P", "X", "*")
DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 3)), (0, (1, 3)))
LABEL_LIMIT = 30
NARROW = 500  # pixels; figures below may stand side by side
SVG_BYTES = 400_000  # of more a figure is stored as pixels ...
MOST_MARKS = 1500  # ... and, without trying, of more marks
MOST_TOLD = 400  # letters of a finding
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


def name_ticks(axes: Axes, names: Sequence[object], limit: int = 12, longest: int = 0) -> None:
    """Name the places 0, 1, ... of the horizontal axis; long names slope."""
    texts = [label(name, limit) for name in names]
    slope = {"rotation": 35, "ha": "right"} if any(len(text) > longest for text in texts) else {}
    axes.set_xticks(range(len(texts)), texts, **slope)


def show(
    media: MediaStore | EmbeddedMedia,
    figure: Figure,
    alt: str,
    finding: str = "",
) -> Html:
    """Put a figure onto a page.

    ``alt`` says what it shows, for readers who do not see it; ``finding`` what is seen, in a sentence: the
    heading of the figure.
    """
    data = b"" if _marks(figure) > MOST_MARKS else svg(figure)
    if pixels := not 0 < len(data) <= SVG_BYTES:
        data = _picture(figure, True)
    width, height = (round(SCREEN * size) for size in figure.get_size_inches())
    image = element(
        "img",
        class_="sc-picture",
        src=media.add(data, ".png" if pixels else ".svg"),
        alt=f"{alt}. {finding}" if finding else alt,
        width=width,
        height=height,
        loading="lazy",
    )
    heading = element("figcaption", finding, limit=MOST_TOLD) if finding else Html()
    narrow = {"class_": "sc-figure sc-narrow"}
    wide = {"class_": "sc-figure", "tabindex": "0"}  # may be moved on telephones
    return element("figure", heading, image, **(narrow if width < NARROW else wide))


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


def _marks(figure: Figure) -> int:
    """Count points of scatters and of lines."""
    of_lines = sum(len(line.get_xdata()) for axes in figure.axes for line in axes.lines)
    drawn = (one for axes in figure.axes for one in axes.collections if not one.get_rasterized())
    return of_lines // 6 + sum(max(len(one.get_offsets()), len(one.get_paths())) for one in drawn)


def png(pixels: np.ndarray) -> bytes:
    """Store a picture, uint8 ``(height, width, 3)``, in 256 colours that cover its own."""
    image = Image.fromarray(pixels).quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=9)
    return buffer.getvalue()


def contrast(one: str, other: str) -> float:
    """Give the contrast of two colours ``#rrggbb`` as in the Web Content Accessibility Guidelines 2.1.

    At least 4.5 for words, 3 for marks.

    >>> contrast("#ffffff", "#000000"), round(contrast("#767676", "#ffffff"), 2)
    (21.0, 4.54)
    """
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def on(cell: str) -> str:
    """Give the colour of words on a cell of a map: black or white."""
    return max((BLACK, WHITE), key=lambda ink: contrast(ink, cell))
