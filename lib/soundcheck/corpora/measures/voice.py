"""Praat's pitch of a signal, on which two measures rest: it takes longer than all else that they compute."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import parselmouth

__all__ = ["pitch_track"]

PERIODS, LOWEST = 3, 75  # periods of the lowest pitch in Hz that Praat wants in its window


def pitch_track(signal: np.ndarray, sampling_rate: int) -> parselmouth.Pitch | None:
    """Follow the fundamental frequency by Praat's default pitch analysis.

    Parameters
    ----------
    signal
        Shape ``(samples,)``.
    sampling_rate
        In Hz.

    Returns
    -------
    parselmouth.Pitch or None
        From 75 to 600 Hz; ``None`` for silence and for signals that are too short to analyse.
    """
    if len(signal) < PERIODS / LOWEST * sampling_rate or not np.any(signal):
        return None
    return _track(np.asarray(signal, dtype=np.float64).tobytes(), sampling_rate)


@functools.lru_cache(maxsize=1)  # one measure after the other looks at the same signal
def _track(samples: bytes, sampling_rate: int) -> parselmouth.Pitch:
    import parselmouth  # late: a run that has measured all sounds before needs it not

    return parselmouth.Sound(np.frombuffer(samples), sampling_frequency=sampling_rate).to_pitch()
