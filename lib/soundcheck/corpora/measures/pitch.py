"""How high a voice is."""

from __future__ import annotations

import math

import numpy as np

from soundcheck.corpora.measures.voice import pitch_track

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
    track = pitch_track(signal, sampling_rate)
    if track is None:
        return math.nan
    frequency = track.selected_array["frequency"]
    voiced = frequency[frequency > 0]
    return round(float(voiced.mean()), 2) if len(voiced) else math.nan
