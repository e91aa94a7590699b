"""Sounds of an environment: telephone signals, weather, steps, an engine.

Tones of telephones follow ITU-T Q.23 (dialling), E.180 (dial tone), T.30 (fax); the rest is noise and
harmonics, shaped.

Public: :data:`SCENES`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # scipy.signal is loaded when first used: it takes a second
import scipy.ndimage

from soundcheck.sounds.synthetic.shapes import RATE, add, band, decay, rise, slowly

SECONDS = 8.0
COUNT = round(SECONDS * RATE)
ROWS, COLUMNS = (697, 770, 852, 941), (1209, 1336, 1477)  # Hz of a telephone's keys


def _tone(frequency: float | np.ndarray, count: int) -> np.ndarray:
    phase = np.cumsum(np.broadcast_to(np.asarray(frequency, dtype=float), (count,)))
    return np.sin(2 * np.pi * phase / RATE)


def dialling(rng: np.random.Generator) -> np.ndarray:
    """Make the keys of a telephone, one after the other."""
    signal = np.zeros(COUNT)
    time = rng.uniform(0, 0.5)
    while time < SECONDS - 0.2:
        count = round(rng.uniform(0.08, 0.2) * RATE)
        key = _tone(float(rng.choice(ROWS)), count) + _tone(float(rng.choice(COLUMNS)), count)
        add(signal, 0.4 * key * rise(count, 0.005), round(time * RATE))
        time += count / RATE + rng.uniform(0.06, 0.25)
    return signal


def dial_tone(rng: np.random.Generator) -> np.ndarray:
    """Make a dial tone: European, American, or a busy signal."""
    kind = int(rng.integers(3))
    if kind == 0:
        return 0.4 * _tone(425, COUNT)
    if kind == 1:
        return 0.3 * (_tone(350, COUNT) + _tone(440, COUNT))
    on = np.arange(COUNT) / RATE % 1.0 < 0.5
    return 0.4 * _tone(425, COUNT) * scipy.ndimage.uniform_filter1d(on.astype(float), 81)


def fax(rng: np.random.Generator) -> np.ndarray:
    """Make a fax that answers and sends."""
    answer = 0.4 * _tone(2100, round(2.0 * RATE))
    calling = 0.4 * _tone(1100, round(0.5 * RATE))
    bits = np.repeat(rng.integers(0, 2, round(4 * 300)), RATE // 300)
    data = 0.4 * _tone(np.where(bits == 1, 1650.0, 1850.0), len(bits))
    silence = np.zeros(round(rng.uniform(0.1, 0.5) * RATE))
    return np.concatenate([calling, silence, answer, silence[: len(silence) // 2], data])[:COUNT]


def rain(rng: np.random.Generator) -> np.ndarray:
    """Make rain: a bed of noise and many drops."""
    signal = 0.05 * band(rng, SECONDS, 1000, 7000) * (0.8 + 0.2 * slowly(rng, COUNT, 0.5))
    for place in rng.integers(0, COUNT, int(rng.integers(300, 1500))):
        drop = band(rng, 0.012, rng.uniform(1000, 2500), rng.uniform(3500, 7000))
        drop *= decay(len(drop), 0.003)
        add(signal, rng.uniform(0.02, 0.25) * drop / np.abs(drop).max(), int(place))
    return signal


def wind(rng: np.random.Generator) -> np.ndarray:
    """Make wind: low noise that swells, with a whistle at times."""
    low = scipy.signal.butter(2, rng.uniform(250, 600), "lowpass", output="sos", fs=RATE)
    noise = scipy.signal.sosfilt(low, rng.standard_normal(COUNT))
    gusts = slowly(rng, COUNT, 0.7)
    whistle = band(rng, SECONDS, 500, 900) * slowly(rng, COUNT, 0.6) ** 3
    return noise / np.abs(noise).max() * (0.2 + 0.8 * gusts**2) + 0.1 * whistle / np.abs(whistle).max()


def footsteps(rng: np.random.Generator) -> np.ndarray:
    """Make steps: heel and sole on a hard floor."""
    signal = 0.002 * band(rng, SECONDS, 100, 4000)
    pace, brightness = rng.uniform(0.42, 0.65), rng.uniform(1200, 3500)
    time = rng.uniform(0.05, 0.3)
    while time < SECONDS - 0.3:
        heel = band(rng, 0.09, 80, brightness)
        heel *= decay(len(heel), 0.018) / np.abs(heel).max()
        sole = band(rng, 0.07, 200, brightness)
        sole *= 0.4 * decay(len(sole), 0.015) / np.abs(sole).max()
        loudness = rng.uniform(0.5, 0.8)
        add(signal, loudness * heel, round(time * RATE))
        add(signal, loudness * sole, round((time + rng.uniform(0.06, 0.1)) * RATE))
        time += pace * rng.uniform(0.93, 1.07)
    return signal


def engine(rng: np.random.Generator) -> np.ndarray:
    """Make an engine: harmonics of a slowly changing firing rate, and its noise."""
    firing = rng.uniform(25, 70) * (1 + 0.25 * (slowly(rng, COUNT, 0.4) - 0.5))
    signal = np.zeros(COUNT)
    for harmonic in range(1, 25):
        loudness = rng.uniform(0.3, 1.0) / harmonic**0.8
        signal += loudness * _tone(firing * harmonic, COUNT)
    noise = band(rng, SECONDS, 80, 2500)
    return 0.5 * signal / np.abs(signal).max() + 0.15 * noise / np.abs(noise).max()


SCENES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "dialling": dialling,
    "dial_tone": dial_tone,
    "engine": engine,
    "fax": fax,
    "footsteps": footsteps,
    "rain": rain,
    "wind": wind,
}
