"""Resamples what Praat's synthesiser speaks, to the same 16-bit samples as Praat but in a third of the time.

Conventions
-----------
Signals are float64, shape ``(samples,)``. As in Praat, the spectrum of the whole signal is cut at half the
new rate, and what is left is interpolated with a sinc under a raised cosine of 50 samples on each side, fewer
near the ends. Praat finds the weights of each sample anew; in this ratio of rates they repeat after 320
samples, so that one matrix has all of them.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy  # scipy.fft is loaded when first used: it takes a third of a second

SPOKEN_RATE = 22050  # Hz, of the synthesiser
UP, DOWN = 320, 441  # 16,000 Hz of 22,050 Hz
DEPTH = 50  # samples on each side that a new one is made of
MARGIN = 1000  # samples of silence on each side while the spectrum is cut, which comes round
NEAREST = np.arange(1 - DEPTH, DEPTH + 1)  # samples around the one at which or behind which a new one lies


def resample(signal: np.ndarray) -> np.ndarray:
    """Resample a signal from 22,050 Hz to 16,000 Hz.

    Returns shape ``(samples,)``; its middle is that of the signal.
    """
    length = round(len(signal) * UP / DOWN)
    blocks = -(-length // UP)
    # Places of the new samples among the old ones: those before, and how many 640ths behind them.
    places = (len(signal) - 1) * UP - (length - 1) * DOWN + 2 * DOWN * np.arange(blocks * UP)
    before, behind = np.divmod(places, 2 * UP)
    filled = np.pad(_below(signal), (DEPTH, blocks * DOWN + 2 * DEPTH))
    frames = np.lib.stride_tricks.sliding_window_view(filled, DOWN + 2 * DEPTH)[before[0] + 1 :: DOWN]
    weights = np.zeros((DOWN + 2 * DEPTH, UP))
    rows = before[:UP, None] - before[0] + np.arange(2 * DEPTH)
    weights[rows, np.arange(UP)[:, None]] = _all_weights()[behind[:UP]]
    found = (np.ascontiguousarray(frames[:blocks]) @ weights).ravel()[:length]
    depth = np.minimum(before + 1, len(signal) - 1 - before)[:length]
    ends = np.flatnonzero(depth < DEPTH)
    around = filled[np.clip(before[ends], 0, None)[:, None] + DEPTH + NEAREST]
    weights = _weights(behind[ends], depth[ends])
    for row in np.flatnonzero(depth[ends] < 3):
        weights[row] = 0
        weights[row, DEPTH - 2 : DEPTH + 2] = _few(behind[ends[row]] / (2 * UP), depth[ends[row]])
    found[ends] = (around * weights).sum(axis=1)
    return found


def _below(signal: np.ndarray) -> np.ndarray:
    """Take away what lies above half the new rate."""
    size = 1 << (len(signal) + 2 * MARGIN - 1).bit_length()
    spectrum = scipy.fft.rfft(np.pad(signal, (MARGIN, 0)), size)
    # Counted as Praat does it, in real and imaginary parts, so that of one line the real part may be kept.
    spectrum.view(np.float64)[size * UP // DOWN - 1 :] = 0
    return scipy.fft.irfft(spectrum, size)[MARGIN : MARGIN + len(signal)]


@functools.cache
def _all_weights() -> np.ndarray:
    return _weights(np.arange(2 * UP), DEPTH)


def _weights(behind: np.ndarray, depth: np.ndarray | int) -> np.ndarray:
    """Weigh the old samples around new ones, ``(samples, 100)``, as many on each side as there are."""
    place = (behind / (2 * UP))[:, None]
    distance = np.abs(NEAREST - place)
    side = np.where(NEAREST > 0, 1 - place, place) + np.reshape(depth, (-1, 1))
    shape = 0.5 + 0.5 * np.cos(np.pi * np.minimum(distance / np.maximum(side, 1e-9), 1))
    return np.sinc(distance) * shape


def _few(place: float, depth: int) -> tuple[float, float, float, float]:
    """Weigh the nearest four samples where few are on a side: a cubic, a line, or the nearest."""
    if depth < 1:
        return 0, 1, 0, 0
    if depth == 1:
        return 0, 1 - place, place, 0
    bent, tilted = place * (1 - place) / 4, place * (1 - place) * (place - 0.5) / 2
    return tilted - bent, 1 - place + bent - 3 * tilted, place + bent + 3 * tilted, -tilted - bent
