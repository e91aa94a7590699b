"""Colours of figures: those of Okabe and Ito, which colour-blind readers tell apart, as ``#rrggbb``.

Figures are drawn for white paper; a dark page turns them over, hues stay. The contrast is that of the Web
Content Accessibility Guidelines 2.1, from 1 to 21: at least 4.5 for words, 3 for marks. Some colours of marks
are too pale on white for words; :func:`for_words` gives darker ones.
"""

BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#767676"
PINK, SKY, BLACK, WHITE = "#cc79a7", "#56b4e9", "#000000", "#ffffff"
_WORDS = {ORANGE: "#8a5f00", GREEN: "#00795a", RED: "#b85000", PINK: "#a34a7d", SKY: "#1b74a8"}


def contrast(one: str, other: str) -> float:
    """Give the contrast of two colours.

    >>> contrast("#ffffff", "#000000"), round(contrast("#767676", "#ffffff"), 2)
    (21.0, 4.54)
    """
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def for_words(colour: str) -> str:
    """Give the colour in which words are written that belong to marks of a colour."""
    return _WORDS.get(colour, colour)


def on(cell: str) -> str:
    """Give the colour of words on a cell of a map: black or white."""
    return max((BLACK, WHITE), key=lambda ink: contrast(ink, cell))
