"""How strong the recording is, and how long."""

from __future__ import annotations

import math

import numpy as np


def level(signal: np.ndarray, sampling_rate: int) -> float:
    r"""Compute the level of the whole segment, :math:`10 \log_{10} \frac{1}{N} \sum_n (x_n - \bar x)^2`.

    - ``signal``: shape ``(samples,)``; full scale is 1.
    - ``sampling_rate``: in Hz; the level does not depend on it.
    - Returns in dB relative to full scale: 0 for a square wave between -1 and 1, -3.01 for a sine of that
      peak. Pauses count: half a segment of silence lowers it by 3 dB. A constant offset does not count. NaN
      for silence and without samples.
    """
    power = float(np.var(signal, dtype=np.float64)) if len(signal) else 0.0
    return round(10 * math.log10(power), 2) if power > 0 else math.nan


def duration(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the length in seconds; segment tables have it already, so no sound is read for it."""
    return len(signal) / sampling_rate
