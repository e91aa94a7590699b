"""Transforms that put the signal into a room: convolution with an impulse response.

Conventions
-----------
An impulse response is used as it is: its direct path is not moved to the beginning, so the result is delayed
as the recording would be.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import require, transform
from soundcheck.augment.level import centred, peak
from soundcheck.augment.sounds import Sounds


@transform(
    source="Derington et al. (2023), arXiv:2312.06270, robustness against simulated recording conditions",
    level="Scaled to a peak of 1, the base as well as what is compared with it.",
    sounds="responses",
)
def reverberation(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    sounds: Sounds,
    responses: Literal["positions", "rooms"],
    role: Literal["base", "other"],
    ratio: float = 0.0,
    times: float = 1.0,
) -> np.ndarray:
    """Let the speech sound as in a room, at a position of the microphone.

    The signal without its mean is convolved with a random impulse response of the wanted role; the first
    samples, as many as the signal has, are kept and scaled to a peak of 1.

    - ``sounds``: impulse responses; of several channels the first is used, other rates are resampled.
    - ``role``: the one that others are compared with, or the others.
    - ``ratio``: others are drawn whose distance between mouth and microphone lies within this ratio of the
      wanted one, from 1 on: 1.5 means from two thirds to one and a half times. 0 means any distance, and so
      does an unknown distance of the base.
    - ``times``: the wanted distance as a multiple of that of the base, above 0.
    - Returns float32, shape ``(samples,)``, peak 1; silent if the signal is.
    - Raises ValueError: if an option is out of range, if there are no such impulse responses, or if the one
      that was drawn is silent before its direct path could be heard.
    """
    require(ratio == 0 or 1 <= ratio <= 100, f"ratio is {ratio}. It must be 0 or lie between 1 and 100")
    require(0 < times <= 1000, f"times is {times}. It must be above 0 and at most 1000")
    known = sounds.responses(responses, role, ratio, times)
    response = known[int(rng.integers(len(known)))]
    speech = centred(signal)
    convolved = scipy.signal.oaconvolve(speech, response.read(sampling_rate).astype(np.float64))
    convolved = convolved[: signal.size]
    highest = peak(convolved)
    if peak(speech) == 0:
        return signal
    if highest == 0:
        raise ValueError(f"nothing is heard through the impulse response {response.name}")
    return convolved / highest
