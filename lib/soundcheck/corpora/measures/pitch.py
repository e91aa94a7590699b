"""How high a voice is."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import parselmouth


def mean_pitch(signal: np.ndarray, sampling_rate: int) -> float:
    """Mean fundamental frequency of the voiced frames, by Praat's default pitch analysis.

    Returns in Hz, rounded to 2 decimals; Praat looks from 75 to 600 Hz. NaN without voiced frame, and for
    signals that are too short to analyse.
    """
    track = pitch_track(signal, sampling_rate)
    if track is None:
        return math.nan
    frequency = track.selected_array["frequency"]
    voiced = frequency[frequency > 0]
    return round(float(voiced.mean()), 2) if len(voiced) else math.nan


def pitch_track(signal: np.ndarray, sampling_rate: int) -> parselmouth.Pitch | None:
    """Analyse the pitch of a signal; ``None`` for silence and for signals that are too short.

    Two measures rest on it, and it takes longer than all else that they compute.
    """
    if len(signal) < 3 / 75 * sampling_rate or not np.any(signal):  # three periods of the lowest pitch
        return None
    return _track(np.asarray(signal, dtype=np.float64).tobytes(), sampling_rate)


@functools.lru_cache(maxsize=1)  # one measure after the other looks at the same signal
def _track(samples: bytes, sampling_rate: int) -> parselmouth.Pitch:
    import parselmouth  # late: a run that has measured all sounds before needs it not

    return parselmouth.Sound(np.frombuffer(samples), sampling_frequency=sampling_rate).to_pitch()
