"""What a rule of a test means: when a value passes its threshold; and the kinds of interval.

Rules are strict and see the unrounded value; digits of a display do not count.
"""

import numpy as np

ABOVE, BELOW, WITHIN = ">", "<", "|value| <"
RULES = (ABOVE, BELOW, WITHIN)
# of results alone: what they compare is the gap of a group, not its value
GAP_WITHIN, GAP_BELOW = "|gap| <", "gap <"
GAP_RULES = (GAP_WITHIN, GAP_BELOW)
INTERVALS = ("percentile", "expanded", "gaussian", "t")  # see :func:`soundcheck.statistics.evidence.interval`


def of_gap(rule: str) -> str:
    """Give the rule that judges the gap of a group as ``rule`` judges its value."""
    return {WITHIN: GAP_WITHIN, BELOW: GAP_BELOW}.get(rule, rule)


def one_sided(rule: str) -> bool:
    """Say whether a group may differ in one direction as much as it likes: be better than the others."""
    return rule in (BELOW, GAP_BELOW)


def passes(rule: str, value: float | np.ndarray, threshold: float) -> bool | np.ndarray:
    """Compare a score with its threshold; the only place that knows what a rule means.

    >>> passes(">", 0.5, 0.5)
    False
    >>> passes("|value| <", -0.07, 0.075)
    True
    """
    values = np.asarray(value, dtype=np.float64)
    if rule == ABOVE:
        passed = values > threshold
    elif rule in (BELOW, GAP_BELOW):
        passed = values < threshold
    elif rule in (WITHIN, GAP_WITHIN):
        passed = np.abs(values) < threshold
    else:
        raise ValueError(f"unknown rule {rule!r}, allowed: {', '.join((*RULES, *GAP_RULES))}")
    return bool(passed) if passed.ndim == 0 else passed
