"""How much of a recording was cut off because it was too loud for something on its way."""

from __future__ import annotations

import math

import numpy as np

FULL_SCALE = 1 - 2**-15  # the largest sample of 16 bit
RUN, RUNS = 3, 2  # equal samples one after the other, and how often, that make a limit of the largest sample
DROP = 4  # steps of quantising by which a sample beside such a run lies lower, or it is but a round top


def clipping(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of samples that lie at a limit.

    A limit is full scale, or the largest or smallest sample of the segment if the signal stays there for 3
    samples or more, at least twice, and leaves it steeply: what was clipped and made softer afterwards shows
    that. Both sides may have limits of their own.

    - ``signal``: shape ``(samples,)``, at the rate of the file: resampling bends what was flat.
    - ``sampling_rate``: in Hz; the share does not depend on it.
    - Returns from 0 to 1. NaN without samples.
    """
    values = np.asarray(signal, dtype=np.float64)
    if not len(values):
        return math.nan
    limited = np.abs(values) >= FULL_SCALE
    for side in (values, -values):
        if side.max() > 0 and _is_limit(side):
            limited |= side == side.max()
    return float(limited.mean())


def _step(values: np.ndarray) -> float:
    """Give the smallest difference between two samples: one step of a file with few bits."""
    steps = np.diff(np.unique(values))
    return float(steps.min()) if len(steps) else 0.0


def _is_limit(values: np.ndarray) -> bool:
    """Say whether the largest sample is one at which the signal was cut off."""
    there = np.concatenate([[False], values == values.max(), [False]]).astype(np.int8)
    begin, end = np.flatnonzero(np.diff(there) == 1), np.flatnonzero(np.diff(there) == -1)
    if np.sum(end - begin >= RUN) < RUNS:
        return False
    beside = np.concatenate([values[begin[begin > 0] - 1], values[end[end < len(values)]]])
    return bool(np.median(values.max() - beside) > DROP * _step(values))
