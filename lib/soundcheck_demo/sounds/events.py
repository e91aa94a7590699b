"""Coughs and sneezes from shaped noise.

A cough is one to three bursts: an explosive onset of a few hundredths of a second, a noisy phase through the
resonances of a vocal tract, and often a voiced end. A sneeze is a breath in, then one long burst of high
frequencies that dies away. Every parameter is drawn.
"""

from __future__ import annotations

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second

from soundcheck_demo.sounds.shapes import RATE, band, decay, joined, resonances, rise


def cough(rng: np.random.Generator) -> np.ndarray:
    """Make a cough, float64 ``(samples,)`` at 16 kHz, 0.25 to 1.5 seconds."""
    tract = rng.uniform(0.85, 1.2)  # length of the vocal tract: children cough brighter
    pieces = []
    for burst in range(int(rng.integers(1, 4))):
        loudness = rng.uniform(0.5, 1.0) if burst else 1.0
        onset = band(rng, rng.uniform(0.03, 0.06), 300, 6000) * 1.0
        onset *= rise(len(onset), 0.004) * decay(len(onset), 0.03)
        length = rng.uniform(0.12, 0.28)
        middle = resonances(
            rng.standard_normal(round(length * RATE)),
            [(560 / tract, 160), (1480 / tract, 220), (2520 / tract, 300), (3900 / tract, 500)],
        )
        middle = 0.45 * middle / np.abs(middle).max() * decay(len(middle), length / 2.5)
        parts = [onset / np.abs(onset).max(), middle]
        if rng.random() < 0.6:
            parts.append(0.3 * _voiced(rng, rng.uniform(0.06, 0.14), tract))
        pieces.append(loudness * joined(parts, 0.01))
        pieces.append(np.zeros(round(rng.uniform(0.03, 0.12) * RATE)))
    return np.concatenate(pieces[:-1])


def _voiced(rng: np.random.Generator, seconds: float, tract: float) -> np.ndarray:
    count = round(seconds * RATE)
    pitch = np.linspace(rng.uniform(150, 260), rng.uniform(100, 150), count) / tract
    pulses = scipy.signal.sawtooth(2 * np.pi * np.cumsum(pitch) / RATE)
    sound = resonances(pulses, [(560 / tract, 120), (1300 / tract, 180), (2500 / tract, 250)])
    return sound / np.abs(sound).max() * decay(count, seconds / 2)


def sneeze(rng: np.random.Generator) -> np.ndarray:
    """Make a sneeze, float64 ``(samples,)`` at 16 kHz, 0.5 to 1.2 seconds."""
    breath = band(rng, rng.uniform(0.2, 0.5), 700, 3500)
    breath *= 0.12 / np.abs(breath).max() * np.linspace(0.1, 1, len(breath)) ** 2
    length = rng.uniform(0.18, 0.35)
    low = rng.uniform(1500, 2800)
    burst = band(rng, length, low, min(7500, 3 * low))
    burst *= rise(len(burst), 0.008) * decay(len(burst), length / 3) / np.abs(burst).max()
    body = resonances(rng.standard_normal(len(burst)), [(600, 200), (1200, 250)])
    body *= 0.5 * decay(len(body), length / 4) / np.abs(body).max()
    tail = band(rng, rng.uniform(0.1, 0.3), 1000, 5000)
    tail *= 0.1 * decay(len(tail), 0.08) / np.abs(tail).max()
    return joined([breath, burst + body, tail], 0.01)
