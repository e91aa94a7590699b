"""Makes pictures small without changing what is seen: a book has hundreds of them."""

from __future__ import annotations

import io
import re

import numpy as np
from PIL import Image

_TAG = re.compile(r"<[A-Za-z][^>]*>")
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
    text = _TAG.sub(_shorter_tag, text)  # words that a figure shows are not touched
    return _INDENTATION.sub("\n", text).encode("utf-8")


def _shorter_tag(found: re.Match) -> str:
    tag = _POSITIONS.sub(_shorter, found[0]).replace("xlink:href", "href").replace(_FONT, "g")
    return tag.replace("'DejaVu Sans'", "'DejaVu Sans',Verdana,sans-serif")  # of the same widths


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


def png(pixels: np.ndarray) -> bytes:
    """Store a picture, uint8 ``(height, width, 3)``, in 256 colours that cover its own."""
    image = Image.fromarray(pixels).quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=9)
    return buffer.getvalue()
