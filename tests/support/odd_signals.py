"""Signals that models must answer for, and one that sounds like a voice."""

import numpy as np


def voice(pitch=150.0, seconds=2.0, rate=16000, level=0.05):
    """Sum harmonics up to 4 kHz that fall by 6 dB an octave."""
    time = np.arange(round(seconds * rate)) / rate
    harmonics = np.arange(1, int(4000 / pitch))
    return level * sum(np.sin(2 * np.pi * n * pitch * time) / n for n in harmonics)


def read_only(signal):
    signal.flags.writeable = False
    return signal


ODD = {
    "empty": np.zeros(0),
    "one sample": np.ones(1),
    "ten samples": np.linspace(-1, 1, 10),
    "shorter than Praat's window": voice(seconds=0.04),
    "just Praat's window": voice(seconds=0.0401),
    "silence": np.zeros(16000),
    "next to silence": np.resize([1e-30, -1e-30], 16000),
    "direct current": np.full(16000, 0.5),
    "one bit": np.resize([0, 1 / 32768], 16000),
    "impulse": np.eye(1, 16000, 5)[0],
    "square wave": np.resize(np.repeat([-1.0, 1.0], 50), 16000),
    "beyond full scale": 1e30 * voice(),
    "not finite": np.resize([0.1, np.nan, np.inf, -np.inf], 4000),
    "half precision": voice().astype(np.float16),
}
ODD = {name: read_only(signal) for name, signal in ODD.items()}
