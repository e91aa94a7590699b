"""Measures of the voice by Praat: how high it is, and how fast somebody speaks, whatever is said."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

if TYPE_CHECKING:
    import parselmouth

MARGIN = 0.1  # seconds of silence around the segment, so that peaks at its ends are peaks
LOWEST = 50.0  # Hz; gives Praat's intensity a window of 64 ms
STEP = 0.01  # seconds
BELOW = 25.0  # dB below the loudest hundredth in which nuclei lie
DIP = 2.0  # dB between two nuclei


def mean_pitch(signal: np.ndarray, sampling_rate: int) -> float:
    """Mean fundamental frequency of the voiced frames in Hz, by Praat's default analysis from 75 to 600 Hz.

    NaN without voiced frame, and for signals that are too short to analyse.
    """
    track = pitch_track(signal, sampling_rate)
    if track is None:
        return math.nan
    frequency = track.selected_array["frequency"]
    voiced = frequency[frequency > 0]
    return round(float(voiced.mean()), 2) if len(voiced) else math.nan


def speaking_rate(signal: np.ndarray, sampling_rate: int) -> float:
    """Count syllable nuclei a second, pauses included: voiced peaks of the intensity with dips between them.

    After the idea of de Jong and Wempe (2009, Behavior Research Methods 41(2), 385-390), with intensity and
    pitch of Praat: a nucleus is a peak at most 25 dB below the loudest hundredth of the segment, at least
    2 dB above the dips on both sides, and voiced. NaN if there is none, and for signals shorter than 40 ms.
    """
    track = pitch_track(signal, sampling_rate)
    if track is None:
        return math.nan
    padded = np.pad(np.asarray(signal, dtype=np.float64), round(MARGIN * sampling_rate))
    import parselmouth  # late: a run that has measured all sounds before needs it not

    sound = parselmouth.Sound(padded, sampling_frequency=sampling_rate)
    intensity = sound.to_intensity(minimum_pitch=LOWEST, time_step=STEP)
    loudness = intensity.values[0]
    lowest = float(np.quantile(loudness, 0.99)) - BELOW
    peaks, _ = scipy.signal.find_peaks(loudness, height=lowest, prominence=DIP)
    voiced = [not math.isnan(track.get_value_at_time(time - MARGIN)) for time in intensity.xs()[peaks]]
    return round(sum(voiced) / (len(signal) / sampling_rate), 3) if any(voiced) else math.nan


def pitch_track(signal: np.ndarray, sampling_rate: int) -> parselmouth.Pitch | None:
    """Analyse the pitch of a signal; ``None`` for silence and for signals that are too short."""
    if len(signal) < 3 / 75 * sampling_rate or not np.any(signal):  # three periods of the lowest pitch
        return None
    return _track(np.asarray(signal, dtype=np.float64).tobytes(), sampling_rate)


@functools.lru_cache(maxsize=1)  # both measures look at the same signal, and this takes the longest
def _track(samples: bytes, sampling_rate: int) -> parselmouth.Pitch:
    import parselmouth  # late: a run that has measured all sounds before needs it not

    return parselmouth.Sound(np.frombuffer(samples), sampling_frequency=sampling_rate).to_pitch()
