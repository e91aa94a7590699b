"""How the spectrum of a voice looks on average: mel cepstra of one signal, for the demo's voiceprints.

Mel cepstra describe the envelope of the spectrum, which the vocal tract shapes: Davis and Mermelstein (1980),
Comparison of parametric representations for monosyllabic word recognition in continuously spoken sentences.
What is left of an utterance is the mean and the standard deviation of each cepstrum over the active frames,
as they are defined in :mod:`soundcheck_demo.models.features`.

Conventions
-----------
Frames are 25 ms long and 10 ms apart, at 16 kHz. Bands lie from 100 Hz to 7 kHz; their levels are in dB, at
most 60 dB below the loudest one of the utterance. The first cepstrum, the level, is left out, so that a gain
changes nothing. The whole signal counts, of a very long one the first ten minutes.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy.fft import dct, rfft

from soundcheck_demo.models.features import FRAME, HOP, SAMPLING_RATE, SILENCE, is_active, prepared

LONGEST = 600  # seconds
BANDS, LOWEST, HIGHEST = 24, 100.0, 7000.0  # Hz
CEPSTRA = 20  # with the level
FLOOR = 1e-6  # power relative to the loudest band
TRANSFORM = 512  # samples
BLOCK = 1000  # frames that are transformed at a time

NAMES = tuple(f"{kind}_{number}" for kind in ("mean", "deviation") for number in range(1, CEPSTRA))


def extract(signal: np.ndarray, sampling_rate: int) -> np.ndarray:
    """Measure the cepstra of a signal.

    - ``signal``: shape ``(samples,)``, any length from 0, read-only or not.
    - Returns float64, shape ``(len(NAMES),)``, finite, in dB, in the order of ``NAMES``; zeros if no frame is
      active.
    """
    signal = prepared(signal, sampling_rate, LONGEST)
    frames = np.lib.stride_tricks.sliding_window_view(signal, FRAME)[::HOP]
    active = _active(frames)
    if not len(active):
        return np.zeros(len(NAMES))
    power = np.concatenate([_bands(frames[active[block]]) for block in _blocks(len(active))])
    level = 10 * np.log10(power + FLOOR * power.max() + SILENCE)
    cepstra = dct(level, norm="ortho", axis=1)[:, 1:CEPSTRA]
    return np.concatenate([cepstra.mean(axis=0), cepstra.std(axis=0)])


def _active(frames: np.ndarray) -> np.ndarray:
    """Find the numbers of the active frames."""
    power = np.concatenate([np.mean(frames[block] ** 2, axis=1) for block in _blocks(len(frames))])
    return np.flatnonzero(is_active(10 * np.log10(power + SILENCE)))


def _blocks(count: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, count, BLOCK)]


def _bands(frames: np.ndarray) -> np.ndarray:
    """Add up the power in each band, ``(frames, BANDS)``."""
    return np.abs(rfft(frames * np.hamming(FRAME), TRANSFORM, axis=1)) ** 2 @ _triangles()


@functools.cache
def _triangles() -> np.ndarray:
    """Weigh the frequencies: triangles of equal width on the mel scale, ``(TRANSFORM // 2 + 1, BANDS)``."""
    ends = 2595 * np.log10(1 + np.array([LOWEST, HIGHEST]) / 700)
    corners = 700 * (10 ** (np.linspace(*ends, BANDS + 2) / 2595) - 1)
    low, middle, high = corners[:-2], corners[1:-1], corners[2:]
    hertz = np.fft.rfftfreq(TRANSFORM, 1 / SAMPLING_RATE)[:, np.newaxis]
    return np.maximum(np.minimum((hertz - low) / (middle - low), (high - hertz) / (high - middle)), 0.0)
