"""Measures on the samples themselves: level, duration, clipping and silence."""

from __future__ import annotations

import math

import numpy as np

FULL_SCALE = 1 - 2**-15  # the largest sample of 16 bit
RUN, RUNS = 3, 2  # equal samples one after the other, and how often, that make a limit of the largest sample
DROP = 4  # steps of quantising by which a sample beside such a run lies lower, or it is but a round top

FRAME = 0.02  # seconds
LOUD, QUIET = 0.95, 0.05  # quantiles of the frames' levels that stand for speech and for what is behind it
BELOW = 30.0  # dB below speech from which on nothing is audible beside it
ABOVE = 3.0  # dB above what is behind the speech that still belong to it
LEAST = 6.0  # dB by which speech stands out


def level(signal: np.ndarray, sampling_rate: int) -> float:
    r"""Compute the level of the segment in dB, :math:`10 \log_{10} \frac{1}{N} \sum_n (x_n - \bar x)^2`.

    0 is a square wave between -1 and 1, -3.01 a sine of that peak. Pauses count: half a segment of silence
    lowers it by 3 dB. A constant offset does not count. NaN for silence and without samples.
    """
    power = float(np.var(signal, dtype=np.float64)) if len(signal) else 0.0
    return round(10 * math.log10(power), 2) if power > 0 else math.nan


def duration(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the length in seconds; segment tables have it already, so no sound is read for it."""
    return len(signal) / sampling_rate


def clipping(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of samples at a limit, at the rate of the file: resampling bends what is flat.

    A limit is full scale, or the largest or smallest sample of the segment if the signal stays there for 3
    samples or more, at least twice, and leaves it steeply: what was clipped and made softer afterwards shows
    that. Both sides may have limits of their own. NaN without samples.
    """
    values = np.asarray(signal, dtype=np.float64)
    if not len(values):
        return math.nan
    limited = np.abs(values) >= FULL_SCALE
    for side in (values, -values):
        if side.max() > 0 and _is_limit(side):
            limited |= side == side.max()
    return float(limited.mean())


def _is_limit(values: np.ndarray) -> bool:
    """Say whether the largest sample is one at which the signal was cut off."""
    largest = np.concatenate([[False], values == values.max(), [False]]).astype(np.int8)
    begin, end = np.flatnonzero(np.diff(largest) == 1), np.flatnonzero(np.diff(largest) == -1)
    if np.sum(end - begin >= RUN) < RUNS:
        return False
    beside = np.concatenate([values[begin[begin > 0] - 1], values[end[end < len(values)]]])
    steps = np.diff(np.unique(values))  # the smallest is one step of a file with few bits
    return bool(np.median(values.max() - beside) > DROP * (steps.min() if len(steps) else 0.0))


def silence(signal: np.ndarray, sampling_rate: int) -> float:
    """Compute the share of frames in which nothing is audible but what is behind the speech.

    Frames of 20 ms whose level lies 30 dB or more below that of the loud ones (95th percentile), or at most
    3 dB above that of the quietest (5th percentile) where these are louder than that. 1 for a signal of
    zeros. NaN below 0.1 s, and where nothing stands out by 6 dB, as of steady noise. Without pauses up to a
    tenth of the softest sounds count as silence.
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
