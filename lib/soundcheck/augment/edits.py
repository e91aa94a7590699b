"""Transforms that take samples away, silence them or add zeros, and those of how somebody speaks.

Small changes are those of Derington et al. (2023), arXiv:2312.06270. Their lengths are counts of samples, at
whatever sampling rate: 100, 500 and 1000 samples are 6, 31 and 63 ms at the 16 kHz for which they were
chosen, and half of that at 32 kHz. Dropped chunks are those of AequeVox (2022), arXiv:2110.09843.

Tempo and pitch change by pitch-synchronous overlap-add (Moulines and Charpentier 1990), as in Praat; the
lengths of what is taken for periods where nobody has a voice are drawn. Below 0.05 s, in which no period can
be found, a signal stays as it is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import Milliseconds, Range, Rng, transform

if TYPE_CHECKING:
    import parselmouth

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
    count = int(Fraction(str(float(percent))) * 2 * pairs / 100)
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
    lost[rng.permutation(count)[: int(count * percent / 100)]] = True
    arrived = np.maximum.accumulate(np.where(lost, -1, np.arange(count)))  # the last one until then
    gap = np.arange(count) - arrived  # in packets; 0 for those that arrived
    gain = FADING**gap if concealment == "repetition" else np.zeros(count)
    gain = np.where(lost, np.where(arrived < 0, 0, gain), 1).astype(np.float32)
    return (packets[np.maximum(arrived, 0)] * gain[:, None]).ravel()[: signal.size]


# Faster or higher

LOWEST, HIGHEST = 60.0, 600.0  # Hz, of the voices whose periods are found
STEP = 0.01  # seconds between two measurements of pitch
SHORTEST = 3 / LOWEST  # seconds in which Praat finds a period
FINEST = 1000  # largest denominator of a factor of speed


@transform
def slowed_down(signal: np.ndarray, *, factor: Annotated[float, Range(0.1, 10)]) -> np.ndarray:
    r"""Play the signal more slowly, which lowers the pitch: :math:`y(t) = x(\theta t)`; from AequeVox."""
    share = Fraction(str(float(factor))).limit_denominator(FINEST)
    return scipy.signal.resample_poly(signal.astype(np.float64), share.denominator, share.numerator)


@transform
def changed_tempo(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    *,
    factor: Annotated[float, Range(0.4, 4)],
) -> np.ndarray:
    """Speak faster, or slower with a factor below 1, without changing the pitch."""
    if signal.size < SHORTEST * sampling_rate:
        return signal
    from parselmouth.praat import call

    sound = _sound(signal, sampling_rate, rng)
    return call(sound, "Lengthen (overlap-add)", LOWEST, HIGHEST, 1 / factor).values[0]


@transform
def changed_pitch(
    signal: np.ndarray,
    sampling_rate: int,
    rng: Rng,
    *,
    semitones: Annotated[float, Range(-24, 24)],
) -> np.ndarray:
    r"""Speak higher or lower at the same speed: :math:`f_0` times :math:`2^{s/12}`; formants stay."""
    if signal.size < SHORTEST * sampling_rate:
        return signal
    from parselmouth.praat import call

    sound = _sound(signal, sampling_rate, rng)
    manipulation = call(sound, "To Manipulation", STEP, LOWEST, HIGHEST)
    pitch = call(manipulation, "Extract pitch tier")
    call(pitch, "Shift frequencies", sound.xmin, sound.xmax, semitones, "semitones")
    call([manipulation, pitch], "Replace pitch tier")
    return call(manipulation, "Get resynthesis (overlap-add)").values[0]


def _sound(signal: np.ndarray, sampling_rate: int, rng: Rng) -> parselmouth.Sound:
    import parselmouth  # late: most runs change no voices

    parselmouth.praat.run(f"random_initializeWithSeedUnsafelyButPredictably ({rng.integers(1, 2**31)})")
    return parselmouth.Sound(signal.astype(np.float64), sampling_rate)
