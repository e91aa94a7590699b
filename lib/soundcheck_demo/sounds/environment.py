"""Sounds of an environment: telephone signals, weather, steps, an engine, paper, animals.

Tones of telephones follow ITU-T Q.23 (dialling), E.180 (dial tone), T.30 (fax); the rest is noise and
harmonics, shaped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # scipy.signal and scipy.ndimage are loaded when first used: they take a second

from soundcheck_demo.sounds.shapes import RATE, add, band, decay, resonances, rise, slowly

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


def thunder(rng: np.random.Generator) -> np.ndarray:
    """Make thunder: a crack, and claps that roll on at low frequencies."""
    signal = 0.005 * band(rng, SECONDS, 60, 400)
    start = rng.uniform(0.1, 1.0)
    crack = band(rng, 0.4, 200, rng.uniform(3000, 6000))
    add(signal, 0.5 * crack / np.abs(crack).max() * decay(len(crack), 0.06), round(start * RATE))
    for clap in range(int(rng.integers(6, 12))):
        seconds = rng.uniform(1.5, 4.0)
        roll = band(rng, seconds, 25, rng.uniform(90, 300))
        roll *= rise(len(roll), rng.uniform(0.03, 0.3)) * decay(len(roll), seconds / 4) / np.abs(roll).max()
        place = start + (clap and rng.uniform(0.0, 4.0))
        add(signal, roll * rng.uniform(0.3, 1.0) * np.exp(-(place - start) / 3), round(place * RATE))
    return signal


def paper(rng: np.random.Generator) -> np.ndarray:
    """Make paper that is turned and crumpled: bursts of many crackles."""
    signal = 0.001 * band(rng, SECONDS, 500, 7000)
    time = rng.uniform(0.0, 0.4)
    while time < SECONDS - 0.3:
        seconds = rng.uniform(0.3, 1.1)
        rustle = 0.06 * band(rng, seconds, 1500, 7000) * slowly(rng, round(seconds * RATE), 12)
        for place in rng.integers(0, len(rustle), int(seconds * rng.uniform(80, 250))):
            crackle = band(rng, 0.006, rng.uniform(1200, 3000), rng.uniform(4500, 7500))
            crackle *= decay(len(crackle), rng.uniform(0.0005, 0.002))
            add(rustle, rng.uniform(0.05, 0.5) ** 2 * crackle / np.abs(crackle).max(), int(place))
        gesture = np.sin(np.pi * np.arange(len(rustle)) / len(rustle))
        add(signal, rustle * gesture, round(time * RATE))
        time += seconds + rng.uniform(0.05, 0.8)
    return signal


def dog(rng: np.random.Generator) -> np.ndarray:
    """Make a dog that barks: short voiced bursts whose pitch rises and falls."""
    signal = 0.002 * band(rng, SECONDS, 100, 3000)
    pitch, size = rng.uniform(320, 650), rng.uniform(0.8, 1.3)
    time = rng.uniform(0.1, 0.5)
    while time < SECONDS - 0.4:
        for _ in range(int(rng.integers(1, 4))):
            count = round(rng.uniform(0.12, 0.22) * RATE)
            arc = np.sin(np.pi * np.linspace(0.1, 1, count))
            voice = scipy.signal.sawtooth(2 * np.pi * np.cumsum(pitch * (0.75 + 0.5 * arc)) / RATE)
            throat = [(750 * size, 200), (1500 * size, 300), (2800 * size, 500)]
            bark = resonances(voice + 0.5 * rng.standard_normal(count), throat)
            bark *= rise(count, 0.01) * arc / np.abs(bark).max()
            add(signal, rng.uniform(0.5, 0.8) * bark, round(time * RATE))
            time += count / RATE + rng.uniform(0.08, 0.2)
        time += rng.uniform(0.3, 1.2)
    return signal


def birds(rng: np.random.Generator) -> np.ndarray:
    """Make birds that sing: whistles whose pitch glides, repeated by each bird in its own way."""
    signal = 0.002 * band(rng, SECONDS, 300, 6000)
    for _ in range(int(rng.integers(2, 5))):
        low, glide = rng.uniform(2200, 4500), rng.uniform(-1200, 1500)
        count, repeats = round(rng.uniform(0.05, 0.18) * RATE), int(rng.integers(3, 9))
        loudness, time = rng.uniform(0.1, 0.4), rng.uniform(0.0, 1.5)
        while time < SECONDS - 0.3:
            for _ in range(repeats):
                whistle = _tone(low + glide * np.linspace(0, 1, count) ** 2, count) * np.hanning(count)
                add(signal, loudness * whistle, round(time * RATE))
                time += count / RATE + 0.04
            time += rng.uniform(0.6, 2.5)
    return signal


SCENES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "birds": birds,
    "dialling": dialling,
    "dial_tone": dial_tone,
    "dog": dog,
    "engine": engine,
    "fax": fax,
    "footsteps": footsteps,
    "paper": paper,
    "rain": rain,
    "thunder": thunder,
    "wind": wind,
}
