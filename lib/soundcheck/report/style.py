"""The look of all figures, and how they get onto a page.

- Colours are told apart by colour-blind readers (Okabe and Ito), and never carry a meaning alone: shapes and
  words say the same.
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
from matplotlib.figure import Figure
from PIL import Image

from soundcheck.common.escaping import shorten, terminal, xml_text
from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.report.html import Html, element
from soundcheck.report.palettes import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY


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
DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 3)), (0, (1, 3)))
LABEL_LIMIT = 30
NARROW = 500  # pixels; figures below may stand side by side
SVG_BYTES = 150_000  # of more a figure is stored as pixels ...
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
    *,
    finding: str = "",
    dense: bool | None = None,
) -> Html:
    """Put a figure onto a page.

    ``alt`` says what it shows, for readers who do not see it; ``finding`` what is seen, in a sentence: the
    heading of the figure. ``dense``: whether pixels are stored; default: if lines would be longer.
    """
    pixels = _marks(figure) > MOST_MARKS if dense is None else dense
    data = _picture(figure, pixels)
    if dense is None and not pixels and len(data) > SVG_BYTES:
        pixels, data = True, _picture(figure, True)
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
    return smaller_svg(buffer.getvalue())


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


_TAG = re.compile(r"<[A-Za-z][^>]*>")
_POSITIONS = re.compile(r' (?:d|x|y|transform)="[^"]*"')
_COMMANDS = re.compile(r"\s*([A-Za-z])\s*")
_PRECISE = re.compile(r"-?\d+\.\d{3,}")


def smaller_svg(data: bytes) -> bytes:
    """Write a figure of Matplotlib shorter: positions to a hundredth of a point, no indentation."""
    text = re.sub(r"<metadata>.*?</metadata>", "", data.decode("utf-8"), count=1, flags=re.DOTALL)
    text = _TAG.sub(_smaller_tag, text)  # words that a figure shows are not touched
    return re.sub(r"\n\s+", "\n", text).encode("utf-8")


def _smaller_tag(found: re.Match) -> str:
    def shorter(attribute: re.Match) -> str:
        name, value = attribute[0].split('="')
        value = _PRECISE.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
        value = _COMMANDS.sub(r"\1", value).strip() if name == " d" else value
        return f'{name}="{value}'

    tag = _POSITIONS.sub(shorter, found[0]).replace("xlink:href", "href")
    return tag.replace("'DejaVu Sans'", "'DejaVu Sans',Verdana,sans-serif")  # of the same widths
