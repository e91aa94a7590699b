"""Numbers of ratings: the digits that they are read with, the scales that people use, and which one fits.

Neural networks predict in float32, where 0.6 is 0.60000002. Read digit by digit, such a value lies outside
of a range that ends at 0.6, in the bin above an edge at 0.6, and 0.55 and 0.6 are less than 0.05 apart. So
labels and predictions are taken to single precision and then to the seven significant digits that it
carries, before anything is computed: a model has the same results whether it predicts in float32, float64 or
as Python numbers.

Conventions
-----------
- A scale is ``(low, high)``; it may fall: on ``(5, 1)`` the number 1 means most.
- *Far* outside is a number beyond an end by more than a fifth of the width. Right models overshoot by less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

DECIMAL = 1e-9  # what binary numbers make of a decimal one is less: 0.5 - 0.45 is 0.05 by this
DIGITS = 7  # a decimal number of so many digits survives single precision, from 1e-3 to 1e3 without exception
_LARGEST = 1e18  # beyond it powers of ten are not exact; such numbers are no ratings and stay as they are
_SMALLEST = 1e-12

Scale = tuple[float, float]

USUAL: tuple[Scale, ...] = (  # of ratings, the narrowest first
    *((0, 1), (-1, 1), (1, 5), (0, 5), (1, 7), (-3, 3), (1, 9), (0, 10), (1, 10)),
    *((-5, 5), (-10, 10), (0, 100), (-100, 100)),
)
FAR = 0.2  # of the width
MANY, MANY_SHARE = 12, 0.001  # numbers far outside that are another scale, of few and of very many numbers
FEW, FEW_SHARE = 3, 0.05  # likewise of small tables
FITS = 1 / 3  # of the width of a scale that numbers cover at least
NAMED = 3  # scales that a message names


def seven_digits(values: np.ndarray) -> np.ndarray:
    """Take numbers to single precision and round them to seven significant digits.

    - ``values``: numbers of any shape; NaN and infinite ones are kept.
    - Returns float64, the nearest ones to the decimal numbers; magnitudes below 1e-12 become 0.

    >>> seven_digits(np.array([0.6, 0.123456789], dtype=np.float32)).tolist()
    [0.6, 0.1234568]
    >>> seven_digits(np.array([0.6, 0.123456789])).tolist()
    [0.6, 0.1234568]
    """
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        size = np.abs(values.astype(np.float32))  # 1e-12 is as small in double as in single precision
    usual = (size >= np.float32(_SMALLEST)) & (size <= np.float32(_LARGEST))
    single = np.where(usual, values, 1.0).astype(np.float32).astype(np.float64)
    places = DIGITS - 1 - np.floor(np.log10(np.abs(single))).astype(np.int64)
    up, down = 10.0 ** np.clip(places, 0, None), 10.0 ** np.clip(-places, 0, None)
    rounded = np.rint(single * up / down) * down / up
    return np.where(usual, rounded, np.where(size < np.float32(_SMALLEST), 0.0, values))


def half_precision(value: object) -> float:
    """Give the shortest decimal number that half precision stores as a number: 0.6 for 0.60009766.

    Half precision carries three digits. Predictions are read as those, since seven would tell 0.6 from what
    the model could predict at most.

    >>> half_precision(np.float16(0.6))
    0.6
    """
    return float(np.format_float_scientific(np.float16(value), unique=True))


def outside(values: np.ndarray, scale: Scale, by: float = 0.0) -> np.ndarray:
    """Say which numbers lie outside of a scale by more than a share of its width, bool; NaN does not."""
    margin = by * abs(scale[1] - scale[0])
    return (values < min(scale) - margin) | (values > max(scale) + margin)


def another_scale(values: np.ndarray, scale: Scale, *, stated: bool = False) -> bool:
    """Say whether numbers lie on another scale than they are said to.

    - ``scale``: on which they are said to lie.
    - ``stated``: whether the suite says so of just these numbers: then a dozen of very many far outside are
      no proof.

    >>> another_scale(np.array([-0.05, 0.4, 0.9, 1.08]), (0, 1))
    False
    >>> another_scale(np.array([-0.9, -0.4, -0.3, *np.linspace(0, 1, 50)]), (0, 1))
    True
    """
    beyond, far = int(outside(values, scale).sum()), int(outside(values, scale, FAR).sum())
    many = not stated and far >= max(MANY, MANY_SHARE * len(values))
    return beyond > max(1, len(values) / 2) or far >= max(FEW, FEW_SHARE * len(values)) or many


def usual_scales(values: np.ndarray, first: Iterable[Scale] = ()) -> list[Scale]:
    """Name scales that numbers may lie on, the likeliest first.

    - ``values``: finite numbers, at least one.
    - ``first``: scales that are in use beside them; if one of them fits, no other is named.

    >>> usual_scales(np.array([1.86, 5.8]))
    [(1, 7), (1, 9), (0, 10)]
    >>> usual_scales(np.array([1, 2, 5])), usual_scales(np.array([-730, 12]))
    ([(1, 5)], [])
    """
    low, high = float(values.min()), float(values.max())
    for scales in (first, USUAL):
        fit = [scale for scale in dict.fromkeys(scales) if min(scale) <= low and high <= max(scale)]
        exact = [scale for scale in fit if sorted(scale) == [low, high]]
        close = [scale for scale in fit if high - low >= FITS * abs(scale[1] - scale[0])]
        if exact or close:
            return exact[:1] or close[:NAMED]
    return []


def range_advice(scales: Sequence[Scale], name: str = "") -> str:
    """Write what ``range:`` may say, with the scales that were found; ``name`` = of this task alone."""
    texts = [f"[{low:g}, {high:g}]" for low, high in scales] or ["[lowest, highest]"]
    given = f"{{{name}: {texts[0]}}}" if name else texts[0]
    return " or ".join([f"`range: {given}`", *texts[1:]])
