r"""Transforms that change the spectrum: Butterworth filters and spectral tilt.

Conventions
-----------
- Butterworth filters run once and forward, so they are causal and delay the signal as such filters do.
  At the cutoff they attenuate by 3 dB. They start at rest, with zeros before the first sample.
- With ``definition="released"`` they run forward and backward, as in the released generator of AequeVox
  :cite:`rajan2022`: no delay, twice the order, 6.0 dB at the cutoff. With order 2, 500 Hz and a sampling rate
  of 16 kHz the low-pass takes away 24.9 dB an octave beyond instead of 12.5 dB, the high-pass 24.7 instead of
  12.3 dB. Both ends are extended by their point reflection, 9 samples for order 2.
- Spectral tilt is a filter of linear phase whose delay is removed: nothing moves in time.
- Filters run in float64; the result is float32 of the same length.
"""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import require, transform
from soundcheck.augment.level import RELEASED, SMALL_CHANGES, TEXT, centred, level_match, limit

HIGHEST_ORDER = 12
TAPS = 1024  # length of the tilt filters
CENTRE = TAPS // 2  # the tap around which they are symmetric, and so their delay in samples
UPWARD_FLOOR = 0.013  # response of the upward tilt at 0 Hz, where the ramp itself is 0


@functools.lru_cache(maxsize=64)
def butterworth(kind: str, cutoff: float, order: int, sampling_rate: int) -> np.ndarray:
    """Design a Butterworth filter, ``"highpass"`` or ``"lowpass"``.

    Returns second-order sections, float64 ``(sections, 6)``, read-only.
    """
    sections = scipy.signal.butter(order, cutoff, kind, output="sos", fs=sampling_rate)
    sections.flags.writeable = False  # shared by all callers
    return sections


def _filter(
    signal: np.ndarray, sampling_rate: int, kind: str, cutoff: float, order: int, definition: str
) -> np.ndarray:
    require(
        0 < cutoff < sampling_rate / 2,
        f"cutoff is {cutoff} Hz. It must lie between 0 and half the sampling rate, {sampling_rate / 2:g} Hz",
    )
    require(1 <= order <= HIGHEST_ORDER, f"order is {order}. It must lie between 1 and {HIGHEST_ORDER}")
    # A copy, because SciPy's filter wants to be able to write to what it only reads.
    sections = butterworth(kind, float(cutoff), int(order), int(sampling_rate)).copy()
    if definition == RELEASED:
        extension = min(3 * (order + 1), signal.size - 1)
        return scipy.signal.sosfiltfilt(sections, signal.astype(np.float64), padlen=extension)
    return scipy.signal.sosfilt(sections, signal.astype(np.float64))


@transform(source=SMALL_CHANGES, level="What the filter takes away is not made up for.")
def highpass_filter(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    cutoff: float,
    order: int = 1,
    definition: Literal["text", "released"] = TEXT,
) -> np.ndarray:
    r"""Weaken the frequencies below a cutoff with a Butterworth filter.

    Designed by bilinear transform:
    :math:`|H(f)|^{-2} = 1 + \left(\tan\frac{\pi f_c}{f_s} / \tan\frac{\pi f}{f_s}\right)^{2n}`

    - ``sampling_rate``: :math:`f_s` in Hz.
    - ``cutoff``: :math:`f_c` in Hz, above 0 and below half the sampling rate.
    - ``order``: :math:`n`, from 1 to 12; each order adds 6 dB an octave.
    - ``definition``: ``"text"``: once and forward, the formula above; ``"released"``: forward and backward,
      :math:`|H(f)|^2` in the place of :math:`|H(f)|`.
    - Raises ValueError: if an option is out of range; a cutoff at half the sampling rate is.
    """
    return _filter(signal, sampling_rate, "highpass", cutoff, order, definition)


@transform(source=SMALL_CHANGES, level="What the filter takes away is not made up for.")
def lowpass_filter(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    cutoff: float,
    order: int = 1,
    definition: Literal["text", "released"] = TEXT,
) -> np.ndarray:
    r"""Weaken the frequencies above a cutoff with a Butterworth filter.

    Designed by bilinear transform:
    :math:`|H(f)|^{-2} = 1 + \left(\tan\frac{\pi f}{f_s} / \tan\frac{\pi f_c}{f_s}\right)^{2n}`

    - ``sampling_rate``: :math:`f_s` in Hz.
    - ``cutoff``: :math:`f_c` in Hz, above 0 and below half the sampling rate.
    - ``order``: :math:`n`, from 1 to 12; each order adds 6 dB an octave.
    - ``definition``: ``"text"``: once and forward, the formula above; ``"released"``: forward and backward,
      :math:`|H(f)|^2` in the place of :math:`|H(f)|`.
    - Raises ValueError: if an option is out of range; a cutoff at half the sampling rate is.
    """
    return _filter(signal, sampling_rate, "lowpass", cutoff, order, definition)


def tilt_response(direction: str) -> np.ndarray:
    r"""Wanted response of a tilt filter, a ramp in amplitude, not in decibel.

    With :math:`f` relative to half the sampling rate: downward :math:`1 - f`; upward :math:`2 f`, with 0.013
    at 0 Hz and a notch at the very end, as in the filters with which results have been published.

    - Returns float64, shape ``(513,)``: from 0 Hz to half the sampling rate, both included.
    - Raises ValueError: if the direction is neither ``"downward"`` nor ``"upward"``.
    """
    require(
        direction in ("downward", "upward"),
        f"direction is {direction!r}. It must be 'downward' or 'upward'",
    )
    frequency = np.linspace(0, 1, CENTRE + 1)
    if direction == "downward":
        return 1 - frequency
    response = 2 * frequency
    response[0], response[-1] = UPWARD_FLOOR, 0.0
    return response


@functools.lru_cache(maxsize=2)
def tilt_filter(direction: str) -> np.ndarray:
    """Impulse response of a tilt filter.

    - ``direction``: ``"downward"`` or ``"upward"``.
    - Returns float64, shape ``(1024,)``, read-only: the inverse Fourier transform of :func:`tilt_response`,
      moved so that taps 1 to 1023 are symmetric about tap 512.
    """
    taps = np.roll(np.fft.irfft(tilt_response(direction), TAPS), CENTRE)
    taps.flags.writeable = False  # shared by all callers
    return taps


@transform(
    source="Derington et al. (2023), arXiv:2312.06270, robustness against spectral tilt",
    level="Brought back to the RMS of the signal; if that would leave full scale, to a peak of 1.",
)
def spectral_tilt(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    direction: Literal["downward", "upward"],
) -> np.ndarray:
    """Emphasise low or high frequencies by a spectrum that falls or rises evenly.

    The signal without its mean is convolved with :func:`tilt_filter`, freed from the delay of 512 samples,
    brought to the level it had and, only if its largest magnitude then exceeds 1, scaled down as a whole. The
    ramp spans 0 Hz to half the sampling rate: at 16 kHz the response is 1 - f / 8000 downward and 2 f / 8000
    upward.

    - ``direction``: ``"downward"`` weakens high frequencies, ``"upward"`` low ones.
    - Returns float32, shape ``(samples,)``, within ±1; silent if the signal is.
    """
    full = scipy.signal.fftconvolve(centred(signal), tilt_filter(direction))
    return limit(level_match(signal, full[CENTRE : CENTRE + signal.size]))
