"""The false discovery rate of many tests, by the procedure of Benjamini and Hochberg (1995).

The same numbers as those of ``scipy.stats.false_discovery_control``. Loading that takes a third of the time
of all that a run loads.
"""

from __future__ import annotations

import numpy as np


def adjusted_p_values(p: np.ndarray) -> np.ndarray:
    """Adjust p-values: calling all tests with at most 0.05 leaves at most 5 % false ones among them.

    >>> adjusted_p_values(np.array([0.03, 0.01, 0.04, 0.5]))
    array([0.05333333, 0.04      , 0.05333333, 0.5       ])
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p)
    scaled = p[order] * (len(p) / np.arange(1, len(p) + 1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.clip(adjusted, 0.0, 1.0)
