"""How fast somebody speaks, without knowing what is said."""

from __future__ import annotations

import math

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.corpora.measures.pitch import pitch_track

MARGIN = 0.1  # seconds of silence around the segment, so that peaks at its ends are peaks
LOWEST = 50.0  # Hz; gives Praat's intensity a window of 64 ms
STEP = 0.01  # seconds
BELOW = 25.0  # dB below the loudest hundredth in which nuclei lie
DIP = 2.0  # dB between two nuclei


def speaking_rate(signal: np.ndarray, sampling_rate: int) -> float:
    """Count syllable nuclei a second: voiced peaks of the intensity with dips between them.

    After the idea of de Jong and Wempe (2009, Behavior Research Methods 41(2), 385-390), with intensity and
    pitch of Praat: a nucleus is a peak at most 25 dB below the loudest hundredth of the segment, at least
    2 dB above the dips on both sides, and voiced.

    Returns nuclei divided by the duration of the segment, pauses included. NaN if there is none, and for
    signals that are shorter than 40 ms.
    """
    track = pitch_track(signal, sampling_rate)
    if track is None:
        return math.nan
    padded = np.pad(np.asarray(signal, dtype=np.float64), round(MARGIN * sampling_rate))
    import parselmouth  # late: a run that has measured all sounds before needs it not

    sound = parselmouth.Sound(padded, sampling_frequency=sampling_rate)
    intensity = sound.to_intensity(minimum_pitch=LOWEST, time_step=STEP)
    loudness = intensity.values[0]
    peaks, _ = scipy.signal.find_peaks(
        loudness, height=float(np.quantile(loudness, 0.99)) - BELOW, prominence=DIP
    )
    voiced = [not math.isnan(track.get_value_at_time(time - MARGIN)) for time in intensity.xs()[peaks]]
    return round(sum(voiced) / (len(signal) / sampling_rate), 3) if any(voiced) else math.nan
