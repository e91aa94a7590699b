"""The two palettes of figures: what is drawn for white paper has a partner for a dark ground.

Conventions
-----------
- Colours are those of Okabe and Ito, as ``#rrggbb``; a colour without partner is the same on both grounds.
- Maps of counts and shares are turned over: what is dark for many becomes light for many, of the same hue.
- The contrast is that of the Web Content Accessibility Guidelines 2.1, from 1 to 21: at least 4.5 for words,
  3 for marks. Some colours of marks are too pale on white for words; :func:`for_words` gives darker ones.
- Figures follow the page that shows them: in a picture, ``prefers-color-scheme`` is the ``color-scheme`` of
  its element. Where a browser does not know that, a figure is still legible: it brings its ground.
"""

from __future__ import annotations

from collections.abc import Mapping

GROUND, DARK_GROUND = "#ffffff", "#121212"  # of pages in the two themes
CELLS = "cells"  # name of the shapes of a map
BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#767676"
PINK, SKY, BLACK = "#cc79a7", "#56b4e9", "#000000"

_WORDS = {ORANGE: "#8a5f00", GREEN: "#00795a", RED: "#b85000", PINK: "#a34a7d", SKY: "#1b74a8"}
DARK = {
    GROUND: DARK_GROUND,
    BLACK: "#e8e8e8",
    "#1f77b4": "#4aa8e8",  # Matplotlib's first colour
    "#262626": "#d8d8d8",
    "#353535": "#c8c8c8",  # outlines of boxes
    "#b0b0b0": "#9aa0a8",  # grid
    BLUE: "#4aa8e8",
    ORANGE: "#f2b63d",
    GREEN: "#2cc497",
    RED: "#ff8a3d",
    GREY: "#a3a8ae",
    PINK: "#e6a3c8",
    SKY: "#a5dbfa",
    **{"#010101": "#010101", "#020202": "#fefefe", "#fdfdfd": "#010101", "#fefefe": "#fefefe"},  # on cells
    **dict(zip(_WORDS.values(), ("#f2b63d", "#2cc497", "#ff8a3d", "#e6a3c8", "#a5dbfa"), strict=True)),
}
_INK = {("#010101", "#010101"): "#010101", ("#010101", "#fefefe"): "#020202"}
_INK |= {("#fefefe", "#010101"): "#fdfdfd", ("#fefefe", "#fefefe"): "#fefefe"}
_TURNED = f"image,.{CELLS}{{filter:invert(1) hue-rotate(180deg)}}"  # pixels of a figure are a map, too
_HALF_TURN = (  # of the hue, as filters of CSS define it
    (-0.574, 1.43, 0.144),
    (0.426, 0.43, 0.144),
    (0.426, 1.43, -0.856),
)


def contrast(one: str, other: str) -> float:
    """Give the contrast of two colours, 1 to 21.

    Examples
    --------
    >>> contrast("#ffffff", "#000000"), round(contrast("#767676", "#ffffff"), 2)
    (21.0, 4.54)
    """
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = _parts(colour)
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> list[float]:
    return [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]


def turned(colour: str) -> str:
    """Give what becomes of a colour of a map on a dark ground."""
    inverse = [1 - part for part in _parts(colour)]
    found = (sum(weight * part for weight, part in zip(row, inverse, strict=True)) for row in _HALF_TURN)
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, part))):02x}" for part in found)


def for_words(colour: str) -> str:
    """Give the colour in which words are written that belong to marks of a colour."""
    return _WORDS.get(colour, colour)


def on(cell: str) -> str:
    """Give the colour of words on a cell of a map: black or white, what stands out on each ground."""
    return _INK[_stands_out(cell), _stands_out(turned(cell))]


def _stands_out(cell: str) -> str:
    return max(("#010101", "#fefefe"), key=lambda ink: contrast(ink, cell))


def has_partner(style: str) -> bool:
    """Say whether a style of an SVG changes with the ground."""
    return bool(_changed(style))


def dark_rules(styles: Mapping[str, str]) -> str:
    """Write the rules of an SVG that hold on a dark ground.

    Parameters
    ----------
    styles
        Class -> its style on white, such as ``{"s0": "fill:none;stroke:#0072b2"}``.
    """
    names: dict[str, list[str]] = {}
    for name, style in styles.items():
        if changed := _changed(style):
            names.setdefault(changed, []).append(f".{name}")
    rules = [f":root{{fill:{DARK[BLACK]}}}", *(f"{','.join(own)}{{{new}}}" for new, own in names.items())]
    return f"@media(prefers-color-scheme:dark){{{''.join(rules)}{_TURNED}}}"


def _changed(style: str) -> str:
    """Keep the declarations of a style whose colour has a partner, with the partner."""
    pairs = [declaration.partition(":")[::2] for declaration in style.split(";")]
    found = [(name.strip(), DARK.get(value.strip().lower(), "")) for name, value in pairs]
    return ";".join(f"{name}:{partner}" for name, partner in found if partner)
