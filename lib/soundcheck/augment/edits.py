"""Transforms that take samples away, add zeros, or put something else in the place of speech.

Small changes are those of Derington et al. (2023), arXiv:2312.06270. Their lengths are counts of samples, at
whatever sampling rate: 100, 500 and 1000 samples are 6, 31 and 63 ms at the 16 kHz for which they were
chosen, and half of that at 32 kHz. Dropped chunks are those of AequeVox (2022), arXiv:2110.09843.

After others nobody speaks, or nobody says what could be written down: what comes out has the signal's place
among the segments, and perhaps its length, but nothing or only a part of its sound. A recogniser ought to
write nothing there, or nothing more than what is said.

Conventions
-----------
- Sounds that stand alone have no signal-to-noise ratio. Their level is a root mean square in dB re full
  scale, over the samples that are not digital silence: a cough is as loud as its level says, however short.
- ``seconds`` is the length of the result; 0 stands for the length of the signal.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from soundcheck.augment.base import Milliseconds, Range, Rng, Seconds, transform
from soundcheck.augment.level import amplitude, centred, limit, rms, written
from soundcheck.augment.noise import draw_sound
from soundcheck.augment.sounds import Sounds

FADING = 0.5  # of each further packet in a row that is concealed
Count = Annotated[int, Range(0, 10_000_000)]


@transform
def append_zeros(signal: np.ndarray, *, samples: Count) -> np.ndarray:
    """Add zeros at the end."""
    return np.pad(signal, (0, samples))


@transform
def prepend_zeros(signal: np.ndarray, *, samples: Count) -> np.ndarray:
    """Add zeros at the beginning."""
    return np.pad(signal, (samples, 0))


@transform
def crop_beginning(signal: np.ndarray, *, samples: Count) -> np.ndarray:
    """Remove samples from the beginning; one is left at least."""
    return signal[min(samples, signal.size - 1) :]


@transform
def crop_end(signal: np.ndarray, *, samples: Count) -> np.ndarray:
    """Remove samples from the end; one is left at least."""
    return signal[: max(1, signal.size - samples)]


@transform
def central_part(
    signal: np.ndarray, sampling_rate: int, *, seconds: Annotated[float, Range(0, 86400, "(]")]
) -> np.ndarray:
    """Keep the middle of a recording; a shorter one stays whole."""
    length = max(1, round(min(seconds * sampling_rate, signal.size)))
    start = (signal.size - length) // 2
    return signal[start : start + length]


@transform
def dropped_chunks(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    *,
    percent: Annotated[float, Range(0, 50)],
    milliseconds: Milliseconds,
) -> np.ndarray:
    r"""Silence random chunks, never two neighbours.

    The signal is divided into :math:`P` pairs of chunks; of :math:`\lfloor 2 P \theta / 100 \rfloor` random
    pairs the first chunk becomes zero. What is left behind the last pair stays.

    - ``percent``: :math:`\theta`: share of the chunks that become zero.
    - ``milliseconds``: duration of a chunk.
    """
    length = max(1, round(milliseconds * sampling_rate / 1000))
    pairs = len(signal) // (2 * length)
    count = math.floor(2 * pairs * written(percent) / 100)
    result = signal.copy()
    for pair in rng.choice(pairs, size=count, replace=False) if count else ():
        result[2 * length * pair : 2 * length * pair + length] = 0
    return result


@transform
def lost_packets(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    *,
    percent: Annotated[float, Range(0, 100)],
    milliseconds: Milliseconds = 20.0,
    concealment: Literal["none", "repetition"] = "none",
) -> np.ndarray:
    r"""Lose random packets, neighbours too, and leave gaps or conceal them.

    Of the :math:`P` packets, the last one perhaps shorter, :math:`\lfloor P \theta / 100 \rfloor` random ones
    are lost: more at a higher share, and the same ones, too. Without concealment they become zero. With it,
    simpler than ITU-T G.711 Appendix I, the last packet that arrived is repeated, at half its amplitude, and
    at half of that for each further packet that is lost in a row; before the first packet that arrives there
    is silence.

    - ``percent``: :math:`\theta`: share of the packets that are lost.
    - ``milliseconds``: duration of a packet.
    """
    length = max(1, round(milliseconds * sampling_rate / 1000))
    count = -(-signal.size // length)
    packets = np.zeros((count, length), dtype=np.float32)
    packets.flat[: signal.size] = signal
    lost = np.zeros(count, dtype=bool)
    lost[rng.permutation(count)[: math.floor(count * written(percent) / 100)]] = True
    arrived = np.maximum.accumulate(np.where(lost, -1, np.arange(count)))  # the last one until then
    gap = np.arange(count) - arrived  # in packets; 0 for those that arrived
    gain = FADING**gap if concealment == "repetition" else np.zeros(count)
    gain = np.where(lost, np.where(arrived < 0, 0, gain), 1).astype(np.float32)
    return (packets[np.maximum(arrived, 0)] * gain[:, None]).ravel()[: signal.size]


# Nothing, or nobody who says a word


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
    """Say how long a signal of so many seconds is after one of these, and how much is unspoken.

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
