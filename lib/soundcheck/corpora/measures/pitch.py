"""How high a voice is."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["mean_pitch"]


def mean_pitch(signal: np.ndarray, sampling_rate: int) -> float:
    """Mean fundamental frequency of the voiced frames, by Praat's default pitch analysis.

    Parameters
    ----------
    signal
        Shape ``(samples,)``.
    sampling_rate
        In Hz.

    Returns
    -------
    float
        In Hz, rounded to 2 decimals; Praat looks from 75 to 600 Hz. NaN without voiced frame, and for signals
        that are too short to analyse.
    """
    if len(signal) < 3 / 75 * sampling_rate or not np.any(signal):  # three periods of the lowest pitch
        return math.nan
    import parselmouth  # late: a run that has measured all sounds before needs it not

    sound = parselmouth.Sound(np.asarray(signal, dtype=np.float64), sampling_frequency=sampling_rate)
    frequency = sound.to_pitch().selected_array["frequency"]
    voiced = frequency[frequency > 0]
    return round(float(voiced.mean()), 2) if len(voiced) else math.nan
