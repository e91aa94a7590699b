"""Transforms of how somebody speaks: faster at the same pitch, higher at the same speed, or both at once.

Tempo and pitch change by pitch-synchronous overlap-add (Moulines and Charpentier 1990), as in Praat; the
lengths of what is taken for periods where nobody has a voice are drawn. Below 0.05 s, in which no period can
be found, a signal stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.augment.base import Range, Rng, transform
from soundcheck.augment.level import written

if TYPE_CHECKING:
    import parselmouth

LOWEST, HIGHEST = 60.0, 600.0  # Hz, of the voices whose periods are found
STEP = 0.01  # seconds between two measurements of pitch
SHORTEST = 3 / LOWEST  # seconds in which Praat finds a period
FINEST = 1000  # largest denominator of a factor of speed


@transform
def slowed_down(signal: np.ndarray, *, factor: Annotated[float, Range(0.1, 10)]) -> np.ndarray:
    r"""Play the signal more slowly, which lowers the pitch: :math:`y(t) = x(\theta t)`; from AequeVox."""
    share = written(factor).limit_denominator(FINEST)
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
