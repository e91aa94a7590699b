r"""Level of a signal, and the transforms that change it.

Conventions
-----------
- Full scale is ±1. A level in decibel is :math:`20 \log_{10}` of an amplitude, 0 dB being 1.
- Levels are computed in float64, over the whole signal, and without its mean: a constant offset is no sound.
  Only where samples meet a limit, peaks are those of the samples as they are.
- A silent signal has the level 0, shown as -120 dB.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from soundcheck.augment.base import require, transform
from soundcheck.corpora.audio import centred

FLOOR = 1e-6  # amplitude below which a level in decibel is not told apart: -120 dB
TEXT, RELEASED = "text", "released"  # definitions: what a paper says, what its released code does
SMALL_CHANGES = "Derington et al. (2023), arXiv:2312.06270, robustness against small changes"


def rms(signal: np.ndarray) -> float:
    r"""Root mean square without the mean, :math:`\sqrt{\frac{1}{N} \sum (x_n - \bar x)^2}`, at least 0.

    >>> rms(np.array([4.0, -2.0, 4.0, -2.0]))
    3.0
    """
    signal = centred(signal)
    return math.sqrt(np.dot(signal, signal) / signal.size)


def peak(signal: np.ndarray) -> float:
    """Largest magnitude, at least 0.

    >>> peak(np.array([0.25, -0.5]))
    0.5
    """
    return float(max(np.max(signal), -np.min(signal)))


def decibel(value: float) -> float:
    """Level of an amplitude in dB re full scale, at least -120.

    >>> decibel(0.1), decibel(0.0)
    (-20.0, -120.0)
    """
    return 20 * math.log10(max(FLOOR, value))


def amplitude(level_db: float) -> float:
    """Amplitude, or factor, of a level in dB.

    >>> amplitude(-20)
    0.1
    """
    return 10 ** (level_db / 20)


def level_match(reference: np.ndarray, signal: np.ndarray) -> np.ndarray:
    """Scale ``signal`` to the RMS of ``reference``.

    Returns new array, shape ``(samples,)``; a copy of ``signal`` if that is silent.
    """
    own = rms(signal)
    return signal * (rms(reference) / own) if own > 0 else signal.copy()


def limit(signal: np.ndarray) -> np.ndarray:
    """Scale a signal that leaves ±1 as a whole, so that its peak is 1.

    The divisor is the peak plus the spacing of float32 numbers at 1. The peak is the largest magnitude, so
    that negative peaks count as well.

    Returns the same array if it stays within ±1, otherwise a new one.
    """
    highest = peak(signal)
    return signal / (highest + np.finfo(np.float32).eps) if highest > 1 else signal


@transform(
    source=SMALL_CHANGES,
    level="Changed by the gain; samples beyond full scale are kept, an integer file clips them.",
)
def gain(signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, gain_db: float) -> np.ndarray:
    r"""Make the signal louder or quieter.

    :math:`y_n = 10^{g/20} x_n`

    - ``gain_db``: gain :math:`g` in dB, from -120 to 120.
    - Returns float32, shape ``(samples,)``, not clipped.
    """
    require(-120 <= gain_db <= 120, f"gain_db is {gain_db}. It must lie between -120 and 120")
    return signal * np.float32(amplitude(gain_db))


@transform(source=SMALL_CHANGES, level="The peak is lowered to the clipping level; nothing is scaled back.")
def clip(signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, ratio: float) -> np.ndarray:
    r"""Clip the loudest samples hard, a given share of them.

    The clipping level is the (:math:`\lfloor r N \rfloor + 1`)-th largest magnitude of the :math:`N` samples:
    exactly :math:`\lfloor r N \rfloor` samples are cut, fewer if several share that magnitude.

    - ``ratio``: share :math:`r` of samples to be cut, from 0 to below 1, taken as the decimal number that is
      written.
    - Returns float32, shape ``(samples,)``. Equal to the signal if :math:`rN < 1`, and if the clipping level
      would be 0 because hardly any sample is not: a small change must not silence a signal.
    """
    require(0 <= ratio < 1, f"ratio is {ratio}. It must be at least 0 and less than 1")
    # In floating point 0.29 * 100 is less than 29, and one sample would be missed.
    cut = math.floor(Fraction(str(float(ratio))) * signal.size)
    rank = signal.size - 1 - cut
    level = np.partition(np.abs(signal), rank)[rank]
    return np.clip(signal, -level, level) if level > 0 else signal
