r"""Level and spectrum of a signal, and the transforms that change them: gain, clipping, filters, tilt.

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
- Butterworth filters run once and forward, so they are causal and delay the signal as such filters do.
  At the cutoff they attenuate by 3 dB. They start at rest, with zeros before the first sample.
- With ``definition="released"`` they run forward and backward: no delay, twice the order, 6.0 dB at the
  cutoff. With order 2, 500 Hz and a sampling rate of 16 kHz the low-pass takes away 24.9 dB an octave beyond
  instead of 12.5 dB, the high-pass 24.7 instead of 12.3 dB. Both ends are extended by their point reflection,
  9 samples for order 2.
- What a Butterworth filter takes away is not made up for. Spectral tilt is a filter of linear phase whose
  delay is removed: nothing moves in time.
- Filters run in float64; the result is float32 of the same length.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import Decibels, Hertz, Range, transform
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
    # In floating point 0.29 * 100 is less than 29, and one sample would be missed.
    cut = math.floor(Fraction(str(float(ratio))) * signal.size)
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


# Spectrum

TAPS = 1024  # length of the tilt filters
CENTRE = TAPS // 2  # the tap around which they are symmetric, and so their delay in samples
UPWARD_FLOOR = 0.013  # response of the upward tilt at 0 Hz, where the ramp itself is 0
Order = Annotated[int, Range(1, 12)]


def butterworth(kind: str, cutoff: float, order: int, sampling_rate: int) -> np.ndarray:
    """Design a ``"highpass"`` or ``"lowpass"``: second-order sections, ``(sections, 6)``."""
    return scipy.signal.butter(order, cutoff, kind, output="sos", fs=sampling_rate)


def _filter(
    kind: str, signal: np.ndarray, sampling_rate: int, cutoff: float, order: int, definition: str
) -> np.ndarray:
    sections = butterworth(kind, cutoff, order, sampling_rate)
    if definition == "released":
        extension = min(3 * (order + 1), signal.size - 1)
        return scipy.signal.sosfiltfilt(sections, signal.astype(np.float64), padlen=extension)
    return scipy.signal.sosfilt(sections, signal.astype(np.float64))


@transform
def highpass_filter(
    signal: np.ndarray,
    sampling_rate: int,
    *,
    cutoff: Hertz,
    order: Order = 1,
    definition: Definition = "text",
) -> np.ndarray:
    r"""Weaken the frequencies below a cutoff with a Butterworth filter, designed by bilinear transform.

    :math:`|H(f)|^{-2} = 1 + \left(\tan\frac{\pi f_c}{f_s} / \tan\frac{\pi f}{f_s}\right)^{2n}`
    with the cutoff :math:`f_c`, the sampling rate :math:`f_s` and the order :math:`n`, each of which adds
    6 dB an octave; by the released definition :math:`|H(f)|^2` in the place of :math:`|H(f)|`.
    """
    return _filter("highpass", signal, sampling_rate, cutoff, order, definition)


@transform
def lowpass_filter(
    signal: np.ndarray,
    sampling_rate: int,
    *,
    cutoff: Hertz,
    order: Order = 1,
    definition: Definition = "text",
) -> np.ndarray:
    r"""Weaken the frequencies above a cutoff with a Butterworth filter, designed by bilinear transform.

    :math:`|H(f)|^{-2} = 1 + \left(\tan\frac{\pi f}{f_s} / \tan\frac{\pi f_c}{f_s}\right)^{2n}`, otherwise
    as :func:`highpass_filter`.
    """
    return _filter("lowpass", signal, sampling_rate, cutoff, order, definition)


def tilt_filter(direction: str) -> np.ndarray:
    """Impulse response of a tilt filter, ``"downward"`` or ``"upward"``: ``(1024,)``.

    Its amplitude, not its level in decibel, is a ramp. With the frequency f relative to half the sampling
    rate: downward 1 - f; upward 2 f, with 0.013 at 0 Hz and a notch at the very end, as in the filters with
    which results have been published. Taps 1 to 1023 are symmetric about tap 512.
    """
    frequency = np.linspace(0, 1, CENTRE + 1)
    response = 1 - frequency
    if direction == "upward":
        response = 2 * frequency
        response[0], response[-1] = UPWARD_FLOOR, 0.0
    return np.roll(np.fft.irfft(response, TAPS), CENTRE)


@transform
def spectral_tilt(signal: np.ndarray, *, direction: Literal["downward", "upward"]) -> np.ndarray:
    """Emphasise low (downward) or high (upward) frequencies by a spectrum that falls or rises evenly.

    The signal without its mean is convolved with :func:`tilt_filter`, freed from the delay of 512 samples,
    brought to the RMS that it had and, only if its largest magnitude then exceeds 1, scaled down as a whole.
    The ramp spans 0 Hz to half the sampling rate: at 16 kHz the response is 1 - f / 8000 downward and
    2 f / 8000 upward.
    """
    full = scipy.signal.fftconvolve(centred(signal), tilt_filter(direction))
    return limit(level_match(signal, full[CENTRE : CENTRE + signal.size]))
