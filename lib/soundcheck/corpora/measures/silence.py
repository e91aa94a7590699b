"""How much of a recording nobody speaks in."""

from __future__ import annotations

import math

import numpy as np

FRAME = 0.02  # seconds
LOUD, QUIET = 0.95, 0.05  # quantiles of the frames' levels that stand for speech and for what is behind it
BELOW = 30.0  # dB below speech from which on nothing is heard beside it
ABOVE = 3.0  # dB above what is behind the speech that still belong to it
LEAST = 6.0  # dB by which speech stands out


def silence(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of frames in which nothing is heard but what is behind the speech.

    Frames of 20 ms whose level lies 30 dB or more below that of the loud ones (95th percentile), or at most
    3 dB above that of the quietest (5th percentile) where these are louder than that.

    Returns from 0 to 1; 1 for a signal of zeros. NaN below 0.1 s, and where nothing stands out by 6 dB, as of
    steady noise. Without pauses up to a tenth of the softest sounds count as silence.
    """
    length = round(FRAME * sampling_rate)
    frames = len(signal) // length
    if frames < 5:
        return math.nan
    pieces = np.asarray(signal[: frames * length], dtype=np.float64).reshape(frames, length)
    pieces = pieces - pieces.mean(axis=1, keepdims=True)
    power = np.einsum("ij,ij->i", pieces, pieces) / length
    if not power.any():
        return 1.0
    loud, quiet = np.quantile(power, (LOUD, QUIET))
    if loud < quiet * 10 ** (LEAST / 10):
        return math.nan
    edge = max(loud * 10 ** (-BELOW / 10), quiet * 10 ** (ABOVE / 10))
    return round(float(np.mean(power <= edge)), 4)
