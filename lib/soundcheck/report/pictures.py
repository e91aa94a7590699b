"""Makes pictures small without changing what is seen: a book has hundreds of them.

Matplotlib writes positions to a millionth of a point and indents every line; a palette of 256 colours is
enough for lines, areas and colour maps, at a third of the size.
"""

from __future__ import annotations

import io
import re

from PIL import Image

__all__ = ["smaller_png", "smaller_svg"]

_POSITIONS = re.compile(r' (?:d|x|y|transform)="[^"]*"')
_SHIFT = re.compile(r"translate\([^)]*\)")  # in the unit of positions, which a scale is not
_LONG = re.compile(r"-?\d+\.\d{3,}")
_COMMAND = re.compile(r"\s*([A-Za-z])\s*")
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_INDENTATION = re.compile(r"\n\s+")
_FONT = "DejaVuSans-"  # begins the names of all glyphs


def smaller_svg(data: bytes) -> bytes:
    """Write a figure of Matplotlib shorter: positions to a hundredth of a point, no indentation."""
    text = _METADATA.sub("", data.decode("utf-8"), count=1)  # not what a name says
    text = _POSITIONS.sub(_shorter, text)
    return _INDENTATION.sub("\n", text).replace("xlink:href", "href").replace(_FONT, "g").encode("utf-8")


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


def smaller_png(data: bytes) -> bytes:
    """Store a picture with at most 256 colours, none further than a few steps of 255 from what it was."""
    with Image.open(io.BytesIO(data)) as image:
        found = image.convert("RGB").quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    found.save(buffer, "PNG", compress_level=9)
    return min(buffer.getvalue(), data, key=len)
