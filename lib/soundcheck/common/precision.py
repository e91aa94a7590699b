"""Numbers as single precision carries them: seven significant digits.

Neural networks predict in float32, where 0.6 is 0.60000002. Read digit by digit, such a value lies outside
of a range that ends at 0.6, in the bin above an edge at 0.6, and 0.55 and 0.6 are less than 0.05 apart. So
labels and predictions are taken to single precision and then to the seven significant digits that it
carries, before anything is computed: a model has the same results whether it predicts in float32, float64 or
as Python numbers.
"""

from __future__ import annotations

import numpy as np

DECIMAL = 1e-9  # what binary numbers make of a decimal one is less: 0.5 - 0.45 is 0.05 by this
DIGITS = 7  # a decimal number of so many digits survives single precision, from 1e-3 to 1e3 without exception
_LARGEST = 1e18  # beyond it powers of ten are not exact; such numbers are no ratings and stay as they are
_SMALLEST = 1e-12


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
