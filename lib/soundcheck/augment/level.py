r"""Level of a signal, and the transforms that change it.

Small changes are those of Derington et al. (2023), arXiv:2312.06270; degradations step by step those of
AequeVox (Rajan, Udeshi and Chattopadhyay 2022, arXiv:2110.09843).

Conventions
-----------
- Full scale is ±1. A level in decibel is :math:`20 \log_{10}` of an amplitude, 0 dB being 1.
- Levels are computed in float64, over the whole signal, and without its mean: a constant offset is no sound.
  Only where samples meet a limit, peaks are those of the samples as they are.
- A silent signal has the level 0, shown as -120 dB.
- Where AequeVox and the generator that its authors released differ, ``definition`` chooses: ``"text"`` or
  ``"released"``. People rated how comprehensible signals are that the released generator had made.
"""

import math
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from soundcheck.augment.base import Decibels, Range, transform
from soundcheck.corpora.audio import centred

FLOOR = 1e-6  # amplitude below which a level in decibel is not told apart: -120 dB
RELEASED_DIVISOR = 1.414  # of all signals that the released generator wrote
Definition = Literal["text", "released"]


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


def written(number: float) -> Fraction:
    """Take a number as the decimal that is written; in floating point 0.29 of 100 are less than 29.

    >>> written(0.29) * 100
    Fraction(29, 1)
    """
    return Fraction(str(float(number)))


def level_match(reference: np.ndarray, signal: np.ndarray) -> np.ndarray:
    """Scale ``signal`` to the RMS of ``reference``; a new array, a copy of ``signal`` if that is silent."""
    level = rms(signal)
    return signal * (rms(reference) / level) if level > 0 else signal.copy()


def limit(signal: np.ndarray) -> np.ndarray:
    """Scale a signal that leaves ±1 as a whole, so that its peak is 1; the same array if it stays within.

    The divisor is the peak plus the spacing of float32 numbers at 1.
    """
    highest = peak(signal)
    return signal / (highest + np.finfo(np.float32).eps) if highest > 1 else signal


@transform
def gain(signal: np.ndarray, *, gain_db: Decibels) -> np.ndarray:
    r"""Make the signal louder or quieter: :math:`y_n = 10^{g/20} x_n`, not clipped."""
    return signal * np.float32(amplitude(gain_db))


@transform
def scaled_amplitude(signal: np.ndarray, *, factor: Annotated[float, Range(0, 1000, "(]")]) -> np.ndarray:
    r"""Multiply the samples: :math:`y_n = \theta x_n`, not clipped."""
    return signal * np.float32(factor)


@transform
def clip(signal: np.ndarray, *, ratio: Annotated[float, Range(0, 1, "[)")]) -> np.ndarray:
    r"""Clip the loudest samples hard, a given share of them; nothing is scaled back.

    The clipping level is the (:math:`\lfloor r N \rfloor + 1`)-th largest magnitude of the :math:`N` samples:
    exactly :math:`\lfloor r N \rfloor` samples are cut, fewer if several share that magnitude. A signal stays
    as it is if that level is 0 because hardly any sample is not: a small change must not silence it.

    - ``ratio``: share :math:`r` of samples to be cut, taken as the decimal number that is written.
    """
    cut = math.floor(written(ratio) * signal.size)
    rank = signal.size - 1 - cut
    level = np.partition(np.abs(signal), rank)[rank]
    return np.clip(signal, -level, level) if level > 0 else signal


@transform
def clipped_at(
    signal: np.ndarray, *, limit: Annotated[float, Range(0, 1, "(]")], definition: Definition = "text"
) -> np.ndarray:
    r"""Clip the signal at a share of its peak and scale it back to that peak.

    With the peak :math:`p`: :math:`y_n = \frac{p}{\theta} \min(\max(x_n / p, -\theta), \theta)`, both of the
    signal without its mean, which is added again.

    By the released definition full scale takes the place of the peak, and nothing is scaled back:
    :math:`y_n = \min(\max(x_n / 1.414, -\theta), \theta)`. So more of loud speech is clipped, and the
    result is quiet. At a limit of 0.05 and of speech with a peak of 1, 0.3 and 0.1 (demo corpus),
    26, 7 and 0.2 % of the samples are clipped instead of 33 % at any level.
    """
    if definition == "released":
        return np.clip(signal.astype(np.float64) / RELEASED_DIVISOR, -limit, limit)
    sound = centred(signal)
    highest = peak(sound)
    if highest == 0:
        return signal
    return np.clip(sound / highest, -limit, limit) / limit * highest + (signal[0] - sound[0])
