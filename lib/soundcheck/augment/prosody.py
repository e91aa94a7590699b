"""Transforms of how somebody speaks: faster at the same pitch, higher at the same speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from soundcheck.augment.base import require, transform

if TYPE_CHECKING:
    import parselmouth


OVERLAP_ADD = "Moulines and Charpentier (1990), pitch-synchronous overlap-add, as in Praat"
LOWEST, HIGHEST = 60.0, 600.0  # Hz, of the voices whose periods are found
STEP = 0.01  # seconds between two measurements of pitch
SHORTEST = 3 / LOWEST  # seconds in which Praat finds a period


@transform(
    source=OVERLAP_ADD, level="Periods stay as they are; the peak may change a little where they overlap."
)
def changed_tempo(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, factor: float
) -> np.ndarray:
    r"""Speak faster or slower without changing the pitch.

    - ``signal``: float32, shape ``(N,)``. Below 0.05 s it stays as it is: no period can be found.
    - ``rng``: draws the lengths of what is taken for periods where nobody has a voice.
    - ``factor``: how much faster, from 0.4 to 4; below 1 the signal becomes longer by its inverse.
    - Returns float32, some ``N / factor`` samples.
    """
    require(0.4 <= factor <= 4, f"factor is {factor}. It must lie between 0.4 and 4")
    if signal.size < SHORTEST * sampling_rate:
        return signal
    from parselmouth.praat import call

    sound = _sound(signal, sampling_rate, rng)
    return call(sound, "Lengthen (overlap-add)", LOWEST, HIGHEST, 1 / factor).values[0]


@transform(
    source=OVERLAP_ADD, level="Periods stay as they are; the peak may change a little where they overlap."
)
def changed_pitch(
    signal: np.ndarray, sampling_rate: int, rng: np.random.Generator, *, semitones: float
) -> np.ndarray:
    r"""Speak higher or lower at the same speed: :math:`f_0` times :math:`2^{s/12}`; formants stay.

    - ``signal``: float32, shape ``(N,)``. Below 0.05 s it stays as it is: no period can be found.
    - ``rng``: draws the lengths of what is taken for periods where nobody has a voice.
    - ``semitones``: :math:`s`, from -24 to 24.
    """
    require(-24 <= semitones <= 24, f"semitones is {semitones}. It must lie between -24 and 24")
    if signal.size < SHORTEST * sampling_rate:
        return signal
    from parselmouth.praat import call

    sound = _sound(signal, sampling_rate, rng)
    manipulation = call(sound, "To Manipulation", STEP, LOWEST, HIGHEST)
    pitch = call(manipulation, "Extract pitch tier")
    call(pitch, "Shift frequencies", sound.xmin, sound.xmax, semitones, "semitones")
    call([manipulation, pitch], "Replace pitch tier")
    return call(manipulation, "Get resynthesis (overlap-add)").values[0]


def _sound(signal: np.ndarray, sampling_rate: int, rng: np.random.Generator) -> parselmouth.Sound:
    import parselmouth  # late: most runs change no voices

    parselmouth.praat.run(f"random_initializeWithSeedUnsafelyButPredictably ({rng.integers(1, 2**31)})")
    return parselmouth.Sound(signal.astype(np.float64), sampling_rate)
