"""Makes pictures small without changing what is seen: a book has hundreds of them.

Matplotlib writes positions to a millionth of a point, every point of a smooth curve, a name and a style for
every part and an indentation for every line. Of pixels, 16 steps a colour are enough for lines, areas and
colour maps: few pictures then have more than the 256 colours of a palette.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import numpy as np
from PIL import Image

from soundcheck.report import palettes

STEPS = 16  # of each of red, green and blue; white and black stay what they are
CURVE = 0.04  # points; how far a curve may be from where it was
_TAG = re.compile(r"<[A-Za-z][^>]*>")
_POSITIONS = re.compile(r' (?:d|x|y|transform)="[^"]*"')
_SHIFT = re.compile(r"translate\([^)]*\)")  # in the unit of positions, which a scale is not
_LONG = re.compile(r"-?\d+\.\d{3,}")
_COMMAND = re.compile(r"\s*([A-Za-z])\s*")
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_INDENTATION = re.compile(r"\n\s+")
_FONT = "DejaVuSans-"  # begins the names of all glyphs
_LINES = re.compile(r"M[-\d. ]+(?:L[-\d. ]+){3,}z?")
_DRAWN_ONCE = re.compile(r"[A-Za-z]+[0-9a-f]{8,}")  # Matplotlib's name of a shape: a digest of where it is
_USED = re.compile(r"#([A-Za-z]+[0-9a-f]{8,})")
_NAME = re.compile(r"[A-Za-z0-9.]+_\d+")  # Matplotlib's, such as line2d_7; nothing leads to them
_UNTURNED = re.compile(r"rotate\(-?0 [^)]*\)")
_SVG = "{http://www.w3.org/2000/svg}"


def smaller_svg(data: bytes) -> bytes:
    """Write a figure of Matplotlib shorter: positions to a hundredth of a point, no indentation."""
    text = _METADATA.sub("", data.decode("utf-8"), count=1)  # not what a name says
    text = _TAG.sub(_shorter_tag, text)  # words that a figure shows are not touched
    return _INDENTATION.sub("\n", text).encode("utf-8")


def _shorter_tag(found: re.Match) -> str:
    return _POSITIONS.sub(_shorter, found[0]).replace("xlink:href", "href").replace(_FONT, "g")


def _shorter(found: re.Match) -> str:
    attribute = found[0]
    if attribute.startswith(" transform"):
        return _SHIFT.sub(lambda shift: _LONG.sub(_rounded, shift[0]), attribute)
    attribute = _LONG.sub(_rounded, attribute)
    if attribute.startswith(' d="'):
        return f' d="{_COMMAND.sub(_name, attribute[4:-1]).strip()}"'
    return attribute


def _name(found: re.Match) -> str:
    return found[1]


def _rounded(found: re.Match) -> str:
    text = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def shorter_svg(data: bytes) -> bytes:
    """Write a smaller SVG shorter: lines with the points that they need, styles once, parts without names.

    It gets both palettes of :mod:`soundcheck.report.palettes`.
    """
    root = ElementTree.fromstring(data)
    styles = Counter(style for part in root.iter() if (style := part.get("style")))
    shared = (style for style, often in styles.most_common() if often > 1 or palettes.has_partner(style))
    classes = {style: f"s{n}" for n, style in enumerate(shared)}
    hatches = {name for style in styles for name in _USED.findall(style)}
    drawn = (name for part in root.iter() if _DRAWN_ONCE.fullmatch(name := part.get("id", "")))
    names = {name: f"d{number}" for number, name in enumerate(drawn) if name not in hatches}
    for part in root.iter():
        _shorten(part, classes)
        _rename(part, names)
    _open_groups(root)
    root.set("xmlns", _SVG[1:-1])
    rules = root.find("defs/style")
    written = {name: _style(style) for style, name in classes.items()}
    rules.text += "".join(f".{name}{{{style}}}" for name, style in written.items())
    rules.text += palettes.dark_rules(written)
    return ElementTree.tostring(root, encoding="utf-8")


def _shorten(part: ElementTree.Element, classes: dict[str, str]) -> None:
    part.tag, part.tail = part.tag.removeprefix(_SVG), None
    if part.tag == "g":
        part.text = None
        if _NAME.fullmatch(part.get("id", "")):
            del part.attrib["id"]
        if part.get("id") == palettes.CELLS:  # a figure may have several maps
            part.set("class", part.attrib.pop("id"))
    if style := part.attrib.pop("style", None):
        part.set(*(("class", classes[style]) if style in classes else ("style", _style(style))))
    if _UNTURNED.fullmatch(part.get("transform", "")):
        del part.attrib["transform"]
    if _LINES.fullmatch(part.get("d", "")):
        part.set("d", _from_point_to_point(part.get("d")))


def _rename(part: ElementTree.Element, names: dict[str, str]) -> None:
    """Call shapes that are used several times by number: a millionth of a point more is another digest."""
    if part.get("id") in names:
        part.set("id", names[part.get("id")])
    for attribute in ("clip-path", "href"):
        if "#" in (value := part.get(attribute, "")):
            part.set(attribute, _USED.sub(lambda found: f"#{names.get(found[1], found[1])}", value))


def _style(style: str) -> str:
    # Who has not the font of the book has one of the same widths.
    style = style.replace("'DejaVu Sans'", "'DejaVu Sans',Verdana,sans-serif")
    return style.replace(": ", ":").replace("; ", ";")


def _open_groups(part: ElementTree.Element) -> None:
    """Put what is in groups that say nothing in their places."""
    for child in list(part):
        _open_groups(child)
    part[:] = [
        inner for child in part for inner in (child if child.tag == "g" and not child.attrib else [child])
    ]


def _from_point_to_point(path: str) -> str:
    closed = path.endswith("z")
    points = np.array(path[1:].rstrip("z").replace("L", " ").split(), dtype=float).reshape(-1, 2)
    hundredths = np.rint(points[_needed(points)] * 100).astype(int)  # whole numbers: nothing adds up
    steps = np.diff(hundredths, axis=0, prepend=[[0, 0]])
    words = [_hundredth(value) for value in steps.ravel().tolist()]
    start, rest = " ".join(words[:2]), " ".join(words[2:])
    return f"M{start}l{rest.replace(' -', '-')}{'z' if closed else ''}"


def _needed(points: np.ndarray) -> np.ndarray:
    """Choose the points without which a line would be further than :data:`CURVE` from where it was.

    Douglas and Peucker's algorithm: between two points that stay, the furthest from their line stays, too.
    """
    stays = np.zeros(len(points), dtype=bool)
    stays[[0, -1]] = True
    open_ = [(0, len(points) - 1)]
    while open_:
        first, last = open_.pop()
        if last - first < 2:
            continue
        along = points[last] - points[first]
        away = points[first + 1 : last] - points[first]
        # The nearest place may be an end: a line that comes back would otherwise lose its turn.
        share = np.clip(away @ along / max(along @ along, 1e-12), 0, 1)
        distance = np.hypot(*(away - share[:, None] * along).T)
        furthest = int(distance.argmax())
        if distance[furthest] > CURVE:
            middle = first + 1 + furthest
            stays[middle] = True
            open_ += [(first, middle), (middle, last)]
    return stays


def _hundredth(value: int) -> str:
    text = f"{value / 100:.2f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def png(pixels: np.ndarray) -> bytes:
    """Store a picture in at most 256 colours.

    Parameters
    ----------
    pixels
        uint8 ``(height, width, 3)``, red, green and blue. Each is stored at most 8 of 255 steps from what it
        was; a picture that has more than 256 colours even then, in 256 that cover its own.
    """
    steps = np.array([round(value * (STEPS - 1) / 255) for value in range(256)], dtype=np.uint16)[pixels]
    codes = (steps[..., 0] * STEPS + steps[..., 1]) * STEPS + steps[..., 2]
    colors = np.flatnonzero(np.bincount(codes.ravel(), minlength=STEPS**3))
    if len(colors) > 256:
        image = Image.fromarray(pixels).quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    else:
        place = np.zeros(STEPS**3, dtype=np.uint8)
        place[colors] = np.arange(len(colors))
        image = Image.fromarray(place[codes], mode="P")
        parts = np.stack([colors // STEPS**2, colors // STEPS % STEPS, colors % STEPS], axis=1)
        image.putpalette((parts * (255 // (STEPS - 1))).astype(np.uint8).tobytes())
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=9)
    return buffer.getvalue()
