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
from typing import Literal

import numpy as np

from soundcheck.augment.base import require, transform
from soundcheck.augment.level import amplitude, centred, limit, rms
from soundcheck.augment.noise import background, single_event
from soundcheck.augment.sounds import Sounds

OURS = "Soundcheck, words where nobody speaks"
MOST_SECONDS = 600  # beyond that an option is a slip of the pen and would fill the memory
EVENTS = ("coughing", "sneezing")


def _samples(signal: np.ndarray, sampling_rate: int, seconds: float) -> int:
    """Give the length of the result in samples, at least 1."""
    require(0 <= seconds <= MOST_SECONDS, f"seconds is {seconds}. It must lie between 0 and {MOST_SECONDS}")
    return max(1, round(seconds * sampling_rate)) if seconds else signal.size


@transform(source=OURS, level="Digital silence.")
def silence(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, seconds: float = 0
) -> np.ndarray:
    """Put digital silence in the place of the signal.

    - ``signal``: float32, shape ``(samples,)``; only its length counts.
    - ``seconds``: length, 0 to 600; 0 = as long as the signal.
    - Returns float32, zeros.
    """
    return np.zeros(_samples(signal, sampling_rate, seconds), dtype=np.float32)


@transform(
    source=OURS,
    level="The sound has the given RMS; if it would leave full scale, it is scaled down to a peak of 1.",
    sounds="sound",
)
def sound_alone(
    signal: np.ndarray,
    sampling_rate: int,
    rng: np.random.Generator,
    *,
    sounds: Sounds,
    sound: Literal["babble", "coughing", "environmental", "music", "other_language", "sneezing", "white"],
    level_db: float,
    seconds: float = 0,
) -> np.ndarray:
    """Put a sound in the place of the signal: noise, music, a babble of voices, one cough, foreign speech.

    Sounds are drawn as for the mixtures of speech and noise; a babble is the sum of 4 to 7 voices.

    - ``signal``: float32, shape ``(samples,)``; only its length counts.
    - ``rng``: draws sounds, places and gains.
    - ``sounds``: voices, music, environmental sounds, coughs, sneezes, speech in another language.
    - ``level_db``: root mean square in dB re full scale, -120 to 0.
    - ``seconds``: length, 0 to 600; 0 = as long as the signal.
    - Returns float32, within ±1.
    - Raises ValueError: if an option is out of range, there are no such sounds, or all that are drawn are
      silent.
    """
    require(-120 <= level_db <= 0, f"level_db is {level_db}. It must lie between -120 and 0")
    count = _samples(signal, sampling_rate, seconds)
    made = single_event if sound in EVENTS else background
    added = centred(made(sound, sounds, count, sampling_rate, rng))
    return limit(added * (amplitude(level_db) / rms(added[added != 0])))


@transform(source=OURS, level="The speech stays as it is, digital silence follows.")
def followed_by_silence(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, seconds: float
) -> np.ndarray:
    """Let digital silence follow the signal.

    - ``seconds``: length of the silence, above 0 to 600.
    - Returns float32, the signal and zeros.
    """
    require(0 < seconds, f"seconds is {seconds}. It must be above 0")
    return np.pad(signal, (0, _samples(signal, sampling_rate, seconds)))


@transform(source=OURS, level="The samples of the piece stay as they are.")
def cut_and_looped(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, piece: float, seconds: float = 0
) -> np.ndarray:
    """Cut a piece out of the signal, at a random place, and repeat it without a pause.

    - ``rng``: draws where the piece begins.
    - ``piece``: length of the piece in seconds, 0.01 to 600; of a shorter signal all of it.
    - ``seconds``: length of the result, 0 to 600; 0 = as long as the signal.
    - Returns float32.
    """
    require(0.01 <= piece <= MOST_SECONDS, f"piece is {piece}. It must lie between 0.01 and {MOST_SECONDS}")
    count = _samples(signal, sampling_rate, seconds)
    size = min(signal.size, max(1, round(piece * sampling_rate)))
    first = int(rng.integers(signal.size - size, endpoint=True))
    return np.resize(signal[first : first + size], count)


@transform(source=OURS, level="The samples stay as they are.")
def backwards(signal: np.ndarray, sampling_rate: int, rng: np.random.Generator) -> np.ndarray:
    """Play the signal from its end to its beginning: a voice that says no word of any language."""
    return signal[::-1]


def seconds_heard(transform: str, options: Mapping[str, object], seconds: float) -> tuple[float, float]:
    """Say how long a signal is after a transform of this module, and how much of that nobody speaks.

    - ``options``: what was drawn for it.
    - ``seconds``: length of the signal as it is.
    - Returns ``heard``: Length of the result in seconds.
    - Returns ``unspoken``: How much of it is put in the place of speech or follows it; 0 where speech was
      looped or reversed.

    >>> seconds_heard("followed_by_silence", {"seconds": 30}, 2.0)
    (32.0, 30.0)
    >>> seconds_heard("silence", {}, 2.0)
    (2.0, 2.0)
    """
    length = float(options.get("seconds") or 0)
    if transform == followed_by_silence.__name__:
        return seconds + length, length
    heard = length or seconds
    return heard, heard if transform in (silence.__name__, sound_alone.__name__) else 0.0
