"""Building blocks of synthesised sounds: envelopes, noise of a band, resonances.

Signals are float64 ``(samples,)`` at 16 kHz; durations in seconds, frequencies in Hz.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

RATE = 16000
HIGHEST = 7600.0  # Hz that a filter may reach, a little below half the rate


def rise(count: int, seconds: float) -> np.ndarray:
    """Make an envelope that rises to 1 within a time and stays there."""
    return np.minimum(1.0, np.arange(count) / max(1.0, seconds * RATE))


def decay(count: int, seconds: float) -> np.ndarray:
    """Make an envelope that falls to 1/e within a time."""
    return np.exp(-np.arange(count) / (seconds * RATE))


def band(rng: np.random.Generator, seconds: float, low: float, high: float) -> np.ndarray:
    """Make noise between two frequencies, each of which may be up to a quarter tone away."""
    edges = [round(12 * math.log2(edge)) for edge in (low, min(high, HIGHEST))]
    return scipy.signal.sosfilt(_bandpass(*edges), rng.standard_normal(round(seconds * RATE)))


@functools.lru_cache(maxsize=1000)
def _bandpass(low: int, high: int) -> np.ndarray:
    """Design a filter between two semitones above 1 Hz: it takes longer than to filter a short sound."""
    edges = [2 ** (edge / 12) for edge in (low, high)]
    return scipy.signal.butter(2, edges, "bandpass", output="sos", fs=RATE)


def resonances(signal: np.ndarray, places: Sequence[tuple[float, float]]) -> np.ndarray:
    """Send a signal through resonators one after the other, each a frequency and a bandwidth."""
    for frequency, bandwidth in places:
        if frequency < HIGHEST:
            radius = np.exp(-np.pi * bandwidth / RATE)
            angle = 2 * np.pi * frequency / RATE
            poles = [1, -2 * radius * np.cos(angle), radius**2]
            signal = scipy.signal.lfilter([1 - radius], poles, signal)
    return signal


def joined(parts: Sequence[np.ndarray], seconds: float) -> np.ndarray:
    """Put sounds one after the other, each faded into the next."""
    overlap = round(seconds * RATE)
    result = parts[0]
    for part in parts[1:]:
        fade = np.linspace(0, 1, overlap)
        middle = result[-overlap:] * (1 - fade) + part[:overlap] * fade
        result = np.concatenate([result[:-overlap], middle, part[overlap:]])
    return result


def slowly(rng: np.random.Generator, count: int, hertz: float) -> np.ndarray:
    """Make a smooth curve between 0 and 1 that changes about so many times a second."""
    points = max(4, round(count / RATE * hertz) + 3)
    values = rng.random(points)
    return np.clip(np.interp(np.linspace(0, points - 1, count), np.arange(points), values), 0, 1)


def add(signal: np.ndarray, part: np.ndarray, start: int) -> None:
    """Add a sound into another one in place; what does not fit is cut off."""
    fitting = part[: max(0, len(signal) - start)]
    signal[start : start + len(fitting)] += fitting
