"""Transforms that put the signal into a room: an impulse response, or the distance of a microphone."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import Decibels, Metres, Range, Rng, transform
from soundcheck.augment.level import amplitude, centred, level_match, limit, peak, rms
from soundcheck.augment.sounds import Sounds


@transform(sounds="responses")
def reverberation(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    sounds: Sounds,
    *,
    responses: Literal["positions", "rooms"],
    role: Literal["base", "other"],
    ratio: Annotated[float, Range(1, 100, zero=True)] = 0.0,
    times: Annotated[float, Range(0, 1000, "(]")] = 1.0,
) -> np.ndarray:
    """Let the speech sound as in a room, at a position of the microphone.

    As by Derington et al. (2023), arXiv:2312.06270, the signal without its mean is convolved with a random
    impulse response of the wanted role; the first samples, as many as the signal has, are kept and scaled to
    a peak of 1. The direct path is not moved to the beginning: the result is delayed as a recording would be.

    - ``role``: the response that others are compared with, or the others.
    - ``ratio``: others are drawn whose distance between mouth and microphone lies within this ratio of the
      wanted one: 1.5 means from two thirds to one and a half times. 0 means any distance, and so does an
      unknown distance of the base.
    - ``times``: the wanted distance as a multiple of that of the base.
    """
    suitable = sounds.responses(responses, role, ratio, times)
    response = suitable[int(rng.integers(len(suitable)))]
    speech = centred(signal)
    convolved = scipy.signal.oaconvolve(speech, response.read(sampling_rate).astype(np.float64))
    convolved = convolved[: signal.size]
    highest = peak(convolved)
    if peak(speech) == 0:
        return signal
    if highest == 0:
        raise ValueError(f"nothing is heard through the impulse response {response.name}")
    return convolved / highest


@transform
def far_field(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    *,
    metres: Metres,
    reverberation_time: Annotated[float, Range(0.05, 5)] = 0.5,
    critical_distance: Metres = 1.0,
    snr_db: Decibels = 30.0,
) -> np.ndarray:
    r"""Let the speech be heard from farther away, in a room with some noise.

    The direct sound loses 6 dB for each doubling of the distance :math:`d`; the reverberation and the noise
    of a room are equally loud everywhere. The reverberation is the signal, convolved with white Gaussian
    noise that decays by 60 dB within the reverberation time (Polack 1988), and as loud as the direct sound
    at the critical distance :math:`c`: :math:`y = x + \frac{d}{c}\, r + n`, with the energy of the tail
    :math:`r` equal to that of the direct path and :math:`\mathrm{SNR}(d) = \mathrm{SNR} - 20 \log_{10} d`
    of the direct sound. The result has the RMS of the signal or, if it would leave full scale, a peak of 1.
    Tail and noise are the same at all distances.

    - ``snr_db``: at one metre.
    """
    tail = rng.standard_normal(max(1, round(reverberation_time * sampling_rate)))
    tail *= 10 ** (-3 * np.arange(tail.size) / tail.size)
    tail *= metres / critical_distance / np.sqrt(np.sum(tail**2))
    noise = rng.standard_normal(signal.size) * rms(signal) * amplitude(20 * np.log10(metres) - snr_db)
    reverberant = signal + scipy.signal.oaconvolve(centred(signal), tail)[: signal.size] + noise
    return limit(level_match(signal, reverberant))
