r"""Transforms that change the spectrum: Butterworth filters and spectral tilt.

Both are those of Derington et al. (2023), arXiv:2312.06270; with ``definition="released"`` the Butterworth
filters are those that the generator of AequeVox :cite:`rajan2022` has.

Conventions
-----------
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

from typing import Annotated, Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import Hertz, Range, transform
from soundcheck.augment.level import Definition, centred, level_match, limit

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
