"""The same demo speech as three microphones would record it at the same time.

A headset records what was said; a boundary microphone on a table hears the room, less of the high frequencies
and more noise; a mobile phone cuts the band, presses the loud parts and hisses. All of it is computed.

Conventions
-----------
Signals are ``(samples,)`` at 16 kHz, all conditions of an item equally long. A speaker's room is the same for
all items.
"""

from __future__ import annotations

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck.common.seeds import generator

CONDITIONS = ("boundary", "headset", "mobile")
ITEMS = 5  # segments of each speaker
RATE = 16000
REVERBERATION = 0.4  # seconds in which the sound of the room falls by 60 dB
DIRECT_DB = 3.0  # level of the direct sound above that of the room at the boundary microphone
NOISE_DB = {"boundary": -38.0, "headset": -60.0, "mobile": -45.0}  # relative to the speech
PEAK = 0.8


def record(signal: np.ndarray, condition: str, speaker: str, item: str) -> np.ndarray:
    """Record a signal under a condition.

    - ``condition``: one of :data:`CONDITIONS`.
    - ``speaker, item``: decide the room and the noise.
    - Returns float64, peak at most 0.8.
    """
    signal = np.asarray(signal, dtype=np.float64)
    heard = {"boundary": _boundary, "headset": lambda x, _: x, "mobile": _mobile}[condition](signal, speaker)
    heard = heard * (_level(signal) / _level(heard))
    noise = generator(0, "recordings", condition, item).standard_normal(len(heard))
    heard = heard + _level(signal) * 10 ** (NOISE_DB[condition] / 20) * noise
    return heard * min(1.0, PEAK / np.abs(heard).max())


def _boundary(signal: np.ndarray, speaker: str) -> np.ndarray:
    rng = generator(0, "recordings", "room", speaker)
    time = np.arange(round(REVERBERATION * RATE)) / RATE
    tail = rng.standard_normal(len(time)) * 10 ** (-3 * time / REVERBERATION)
    tail[: round(0.004 * RATE)] = 0  # the first reflection comes later than the direct sound
    tail *= 10 ** (-DIRECT_DB / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1
    heard = scipy.signal.oaconvolve(signal, tail)[: len(signal)]
    low = scipy.signal.butter(1, 4500, "lowpass", output="sos", fs=RATE)
    return scipy.signal.sosfilt(low, heard)


def _mobile(signal: np.ndarray, speaker: str) -> np.ndarray:
    band = scipy.signal.butter(2, (200, 5500), "bandpass", output="sos", fs=RATE)
    heard = scipy.signal.sosfilt(band, signal)
    return np.tanh(2.5 * heard / np.abs(heard).max())


def _level(signal: np.ndarray) -> float:
    return float(np.sqrt(np.mean(signal**2)))
