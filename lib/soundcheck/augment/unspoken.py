r"""Transforms after which nobody speaks, or nobody says what could be written down.

What comes out has the signal's place among the segments, and perhaps its length, but nothing or only a part
of its sound. A recogniser ought to write nothing there, or nothing more than what is said.

Conventions
-----------
- Sounds that stand alone have no signal-to-noise ratio. Their level is a root mean square in dB re full
  scale, over the samples that are not digital silence: a cough is as loud as its level says, however short.
- ``seconds`` is the length of the result; 0 stands for the length of the signal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from soundcheck.augment.base import Range, Rng, Seconds, transform
from soundcheck.augment.level import amplitude, centred, limit, rms
from soundcheck.augment.noise import draw_sound
from soundcheck.augment.sounds import Sounds


def _samples(signal: np.ndarray, sampling_rate: int, seconds: float) -> int:
    """Give the length of the result in samples, at least 1."""
    return max(1, round(seconds * sampling_rate)) if seconds else signal.size


@transform
def silence(signal: np.ndarray, sampling_rate: int, *, seconds: Seconds = 0) -> np.ndarray:
    """Put digital silence in the place of the signal."""
    return np.zeros(_samples(signal, sampling_rate, seconds), dtype=np.float32)


@transform(sounds="sound")
def sound_alone(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    sounds: Sounds,
    *,
    sound: Literal["babble", "coughing", "environmental", "music", "other_language", "sneezing", "white"],
    level_db: Annotated[float, Range(-120, 0)],
    seconds: Seconds = 0,
) -> np.ndarray:
    """Put a sound in the place of the signal: noise, music, a babble of voices, one cough, foreign speech.

    Sounds are drawn as for the mixtures of speech and noise. A sound that would leave full scale is scaled
    down to a peak of 1.
    """
    count = _samples(signal, sampling_rate, seconds)
    drawn = centred(draw_sound(sound, sounds, count, sampling_rate, rng))
    return limit(drawn * (amplitude(level_db) / rms(drawn[drawn != 0])))


@transform
def followed_by_silence(
    signal: np.ndarray, sampling_rate: int, *, seconds: Annotated[float, Range(0, 600, "(]")]
) -> np.ndarray:
    """Let digital silence follow the signal."""
    return np.pad(signal, (0, _samples(signal, sampling_rate, seconds)))


@transform
def cut_and_looped(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    *,
    piece: Annotated[float, Range(0.01, 600)],
    seconds: Seconds = 0,
) -> np.ndarray:
    """Cut a piece out of the signal, at a random place, and repeat it without a pause.

    - ``piece``: its length in seconds; of a shorter signal all of it.
    """
    count = _samples(signal, sampling_rate, seconds)
    size = min(signal.size, max(1, round(piece * sampling_rate)))
    first = int(rng.integers(signal.size - size, endpoint=True))
    return np.resize(signal[first : first + size], count)


@transform
def backwards(signal: np.ndarray) -> np.ndarray:
    """Play the signal from its end to its beginning: a voice that says no word of any language."""
    return signal[::-1]


def seconds_heard(transform: str, options: Mapping[str, object], seconds: float) -> tuple[float, float]:
    """Say how long a signal of so many seconds is after a transform of this module, and how much is unspoken.

    Unspoken is what is put in the place of speech or follows it; looped or reversed speech is not.

    >>> seconds_heard("followed_by_silence", {"seconds": 30}, 2.0)
    (32.0, 30.0)
    >>> seconds_heard("silence", {}, 2.0)
    (2.0, 2.0)
    """
    length = float(options.get("seconds") or 0)
    if transform == followed_by_silence.__name__:
        return seconds + length, length
    duration = length or seconds
    return duration, duration if transform in (silence.__name__, sound_alone.__name__) else 0.0
