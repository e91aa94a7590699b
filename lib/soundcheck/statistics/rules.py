"""What a rule of a test means: when a value passes its threshold; and the kinds of interval.

Rules are strict and see the unrounded value; digits of a display do not count.
"""

from __future__ import annotations

import numpy as np

__all__ = ["ABOVE", "BELOW", "INTERVALS", "RULES", "WITHIN", "passes"]

ABOVE = ">"
BELOW = "<"
WITHIN = "|value| <"
INTERVALS = ("percentile", "expanded", "gaussian")  # see :func:`soundcheck.statistics.bootstrap.interval`
RULES = (ABOVE, BELOW, WITHIN)


def passes(rule: str, value: float | np.ndarray, threshold: float) -> bool | np.ndarray:
    """Compare a score with its threshold; the only place that knows what a rule means.

    Parameters
    ----------
    rule
        ``">"``, ``"<"`` or ``"|value| <"``; all are strict.
    value
        Unrounded score or array of scores.
    threshold
        Threshold on the same scale.

    Returns
    -------
    bool or numpy.ndarray
        Whether each value passes; a NaN never does.

    Raises
    ------
    ValueError
        If the rule is unknown.

    Examples
    --------
    >>> passes(">", 0.5, 0.5)
    False
    >>> passes("|value| <", -0.07, 0.075)
    True
    """
    values = np.asarray(value, dtype=np.float64)
    if rule == ABOVE:
        passed = values > threshold
    elif rule == BELOW:
        passed = values < threshold
    elif rule == WITHIN:
        passed = np.abs(values) < threshold
    else:
        raise ValueError(f"unknown rule {rule!r}, allowed: {', '.join(RULES)}")
    return bool(passed) if passed.ndim == 0 else passed
