"""Sounds of noise, tones and harmonics, shaped: coughs and sneezes, an environment, music.

A cough is one to three bursts: an explosive onset of a few hundredths of a second, a noisy phase through the
resonances of a vocal tract, and often a voiced end. A sneeze is a breath in, then one long burst of high
frequencies that dies away. Tones of telephones follow ITU-T Q.23 (dialling), E.180 (dial tone), T.30 (fax).
Music has a chord progression, a melody over it, a bass and a beat. Every parameter is drawn.

Signals are float64 ``(samples,)`` at 16 kHz; durations in seconds, frequencies in Hz.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy  # scipy.signal and scipy.ndimage are loaded when first used: they take a second

RATE = 16000
HIGHEST = 7600.0  # Hz that a filter may reach, a little below half the rate


def rise(count: int, seconds: float) -> np.ndarray:
    """Make an envelope that rises to 1 within a time and stays there."""
    return np.minimum(1.0, np.arange(count) / max(1.0, seconds * RATE))


def decay(count: int, seconds: float) -> np.ndarray:
    """Make an envelope that falls to 1/e within a time."""
    return np.exp(-np.arange(count) / (seconds * RATE))


def fading(signal: np.ndarray, seconds: float) -> np.ndarray:
    """Bring a sound to a peak of 1 and let it die away."""
    return signal / np.abs(signal).max() * decay(len(signal), seconds)


def band(rng: np.random.Generator, seconds: float, low: float, high: float) -> np.ndarray:
    """Make noise between two frequencies, each of which may be up to a quarter tone away."""
    edges = [round(12 * math.log2(edge)) for edge in (low, min(high, HIGHEST))]
    return scipy.signal.sosfilt(_bandpass(*edges), rng.standard_normal(round(seconds * RATE)))


@functools.lru_cache(maxsize=1000)
def _bandpass(low: int, high: int) -> np.ndarray:
    """Design a filter between two semitones above 1 Hz: it takes longer than to filter a short sound."""
    edges = [2 ** (edge / 12) for edge in (low, high)]
    return scipy.signal.butter(2, edges, "bandpass", output="sos", fs=RATE)


def resonances(signal: np.ndarray, places: Sequence[tuple[float, float]]) -> np.ndarray:
    """Send a signal through resonators one after the other, each a frequency and a bandwidth."""
    for frequency, bandwidth in places:
        if frequency < HIGHEST:
            radius = np.exp(-np.pi * bandwidth / RATE)
            angle = 2 * np.pi * frequency / RATE
            poles = [1, -2 * radius * np.cos(angle), radius**2]
            signal = scipy.signal.lfilter([1 - radius], poles, signal)
    return signal


def joined(parts: Sequence[np.ndarray], seconds: float) -> np.ndarray:
    """Put sounds one after the other, each faded into the next."""
    overlap = round(seconds * RATE)
    result = parts[0]
    for part in parts[1:]:
        fade = np.linspace(0, 1, overlap)
        middle = result[-overlap:] * (1 - fade) + part[:overlap] * fade
        result = np.concatenate([result[:-overlap], middle, part[overlap:]])
    return result


def slowly(rng: np.random.Generator, count: int, hertz: float) -> np.ndarray:
    """Make a smooth curve between 0 and 1 that changes about so many times a second."""
    points = max(4, round(count / RATE * hertz) + 3)
    values = rng.random(points)
    return np.clip(np.interp(np.linspace(0, points - 1, count), np.arange(points), values), 0, 1)


def add(signal: np.ndarray, part: np.ndarray, start: int) -> None:
    """Add a sound into another one in place; what does not fit is cut off."""
    fitting = part[: max(0, len(signal) - start)]
    signal[start : start + len(fitting)] += fitting


# Coughs and sneezes


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
        parts = [onset / np.abs(onset).max(), 0.45 * fading(middle, length / 2.5)]
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
    return fading(sound, seconds / 2)


def sneeze(rng: np.random.Generator) -> np.ndarray:
    """Make a sneeze, float64 ``(samples,)`` at 16 kHz, 0.5 to 1.2 seconds."""
    breath = band(rng, rng.uniform(0.2, 0.5), 700, 3500)
    breath *= 0.12 / np.abs(breath).max() * np.linspace(0.1, 1, len(breath)) ** 2
    length = rng.uniform(0.18, 0.35)
    low = rng.uniform(1500, 2800)
    burst = fading(band(rng, length, low, min(7500, 3 * low)), length / 3)
    burst *= rise(len(burst), 0.008)
    body = fading(resonances(rng.standard_normal(len(burst)), [(600, 200), (1200, 250)]), length / 4)
    tail = fading(band(rng, rng.uniform(0.1, 0.3), 1000, 5000), 0.08)
    return joined([breath, burst + 0.5 * body, 0.1 * tail], 0.01)


# An environment: telephones, weather, steps, an engine, paper, animals

SCENE_SECONDS = 8.0
SCENE_COUNT = round(SCENE_SECONDS * RATE)
ROWS, COLUMNS = (697, 770, 852, 941), (1209, 1336, 1477)  # Hz of a telephone's keys


def _tone(frequency: float | np.ndarray, count: int) -> np.ndarray:
    phase = np.cumsum(np.broadcast_to(np.asarray(frequency, dtype=float), (count,)))
    return np.sin(2 * np.pi * phase / RATE)


def dialling(rng: np.random.Generator) -> np.ndarray:
    """Make the keys of a telephone, one after the other."""
    signal = np.zeros(SCENE_COUNT)
    time = rng.uniform(0, 0.5)
    while time < SCENE_SECONDS - 0.2:
        count = round(rng.uniform(0.08, 0.2) * RATE)
        key = _tone(float(rng.choice(ROWS)), count) + _tone(float(rng.choice(COLUMNS)), count)
        add(signal, 0.4 * key * rise(count, 0.005), round(time * RATE))
        time += count / RATE + rng.uniform(0.06, 0.25)
    return signal


def dial_tone(rng: np.random.Generator) -> np.ndarray:
    """Make a dial tone: European, American, or a busy signal."""
    kind = int(rng.integers(3))
    if kind == 0:
        return 0.4 * _tone(425, SCENE_COUNT)
    if kind == 1:
        return 0.3 * (_tone(350, SCENE_COUNT) + _tone(440, SCENE_COUNT))
    on = np.arange(SCENE_COUNT) / RATE % 1.0 < 0.5
    return 0.4 * _tone(425, SCENE_COUNT) * scipy.ndimage.uniform_filter1d(on.astype(float), 81)


def fax(rng: np.random.Generator) -> np.ndarray:
    """Make a fax that answers and sends."""
    answer = 0.4 * _tone(2100, round(2.0 * RATE))
    calling = 0.4 * _tone(1100, round(0.5 * RATE))
    bits = np.repeat(rng.integers(0, 2, round(4 * 300)), RATE // 300)
    data = 0.4 * _tone(np.where(bits == 1, 1650.0, 1850.0), len(bits))
    silence = np.zeros(round(rng.uniform(0.1, 0.5) * RATE))
    return np.concatenate([calling, silence, answer, silence[: len(silence) // 2], data])[:SCENE_COUNT]


def rain(rng: np.random.Generator) -> np.ndarray:
    """Make rain: a bed of noise and many drops."""
    signal = 0.05 * band(rng, SCENE_SECONDS, 1000, 7000) * (0.8 + 0.2 * slowly(rng, SCENE_COUNT, 0.5))
    for place in rng.integers(0, SCENE_COUNT, int(rng.integers(300, 1500))):
        drop = band(rng, 0.012, rng.uniform(1000, 2500), rng.uniform(3500, 7000))
        drop *= decay(len(drop), 0.003)
        add(signal, rng.uniform(0.02, 0.25) * drop / np.abs(drop).max(), int(place))
    return signal


def wind(rng: np.random.Generator) -> np.ndarray:
    """Make wind: low noise that swells, with a whistle at times."""
    low = scipy.signal.butter(2, rng.uniform(250, 600), "lowpass", output="sos", fs=RATE)
    noise = scipy.signal.sosfilt(low, rng.standard_normal(SCENE_COUNT))
    gusts = slowly(rng, SCENE_COUNT, 0.7)
    whistle = band(rng, SCENE_SECONDS, 500, 900) * slowly(rng, SCENE_COUNT, 0.6) ** 3
    return noise / np.abs(noise).max() * (0.2 + 0.8 * gusts**2) + 0.1 * whistle / np.abs(whistle).max()


def footsteps(rng: np.random.Generator) -> np.ndarray:
    """Make steps: heel and sole on a hard floor."""
    signal = 0.002 * band(rng, SCENE_SECONDS, 100, 4000)
    pace, brightness = rng.uniform(0.42, 0.65), rng.uniform(1200, 3500)
    time = rng.uniform(0.05, 0.3)
    while time < SCENE_SECONDS - 0.3:
        heel = fading(band(rng, 0.09, 80, brightness), 0.018)
        sole = 0.4 * fading(band(rng, 0.07, 200, brightness), 0.015)
        loudness = rng.uniform(0.5, 0.8)
        add(signal, loudness * heel, round(time * RATE))
        add(signal, loudness * sole, round((time + rng.uniform(0.06, 0.1)) * RATE))
        time += pace * rng.uniform(0.93, 1.07)
    return signal


def engine(rng: np.random.Generator) -> np.ndarray:
    """Make an engine: harmonics of a slowly changing firing rate, and its noise."""
    firing = rng.uniform(25, 70) * (1 + 0.25 * (slowly(rng, SCENE_COUNT, 0.4) - 0.5))
    signal = np.zeros(SCENE_COUNT)
    for harmonic in range(1, 25):
        loudness = rng.uniform(0.3, 1.0) / harmonic**0.8
        signal += loudness * _tone(firing * harmonic, SCENE_COUNT)
    noise = band(rng, SCENE_SECONDS, 80, 2500)
    return 0.5 * signal / np.abs(signal).max() + 0.15 * noise / np.abs(noise).max()


def thunder(rng: np.random.Generator) -> np.ndarray:
    """Make thunder: a crack, and claps that roll on at low frequencies."""
    signal = 0.005 * band(rng, SCENE_SECONDS, 60, 400)
    start = rng.uniform(0.1, 1.0)
    crack = fading(band(rng, 0.4, 200, rng.uniform(3000, 6000)), 0.06)
    add(signal, 0.5 * crack, round(start * RATE))
    for clap in range(int(rng.integers(6, 12))):
        seconds = rng.uniform(1.5, 4.0)
        roll = fading(band(rng, seconds, 25, rng.uniform(90, 300)), seconds / 4)
        roll *= rise(len(roll), rng.uniform(0.03, 0.3))
        place = start + (clap and rng.uniform(0.0, 4.0))
        add(signal, roll * rng.uniform(0.3, 1.0) * np.exp(-(place - start) / 3), round(place * RATE))
    return signal


def paper(rng: np.random.Generator) -> np.ndarray:
    """Make paper that is turned and crumpled: bursts of many crackles."""
    signal = 0.001 * band(rng, SCENE_SECONDS, 500, 7000)
    time = rng.uniform(0.0, 0.4)
    while time < SCENE_SECONDS - 0.3:
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
    signal = 0.002 * band(rng, SCENE_SECONDS, 100, 3000)
    pitch, size = rng.uniform(320, 650), rng.uniform(0.8, 1.3)
    time = rng.uniform(0.1, 0.5)
    while time < SCENE_SECONDS - 0.4:
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
    signal = 0.002 * band(rng, SCENE_SECONDS, 300, 6000)
    for _ in range(int(rng.integers(2, 5))):
        low, glide = rng.uniform(2200, 4500), rng.uniform(-1200, 1500)
        count, repeats = round(rng.uniform(0.05, 0.18) * RATE), int(rng.integers(3, 9))
        loudness, time = rng.uniform(0.1, 0.4), rng.uniform(0.0, 1.5)
        while time < SCENE_SECONDS - 0.3:
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


# Music

PIECE_SECONDS = 12.0
PROGRESSIONS = ((0, 5, 7, 0), (0, 9, 5, 7), (9, 5, 0, 7), (0, 7, 9, 5), (2, 7, 0, 0))  # in semitones
SCALE = (0, 2, 4, 5, 7, 9, 11)


def music(rng: np.random.Generator) -> np.ndarray:
    """Make a piece of music, float64 ``(samples,)`` at 16 kHz, 12 seconds."""
    signal = np.zeros(round(PIECE_SECONDS * RATE))
    key = 45 + int(rng.integers(12))  # MIDI number of the tonic, A2 to G#3
    beat = 60 / rng.uniform(70, 150)
    progression = PROGRESSIONS[int(rng.integers(len(PROGRESSIONS)))]
    overtones = rng.uniform(0.4, 0.8)  # how loud each harmonic is relative to the one below
    drums = rng.random() < 0.7
    bars = int(PIECE_SECONDS / (4 * beat)) + 1
    for bar in range(bars):
        start = 4 * bar * beat
        root = key + progression[bar % len(progression)]
        third = 3 if progression[bar % len(progression)] in (2, 9) else 4
        for step in (0, third, 7):
            _play(signal, start, 4 * beat, root + 12 + step, 0.10, overtones, 0.9)
        _play(signal, start, 2 * beat, root - 12, 0.22, 0.35, 0.6)
        _play(signal, start + 2 * beat, 2 * beat, root - 12, 0.18, 0.35, 0.6)
        for eighth in range(8):
            if rng.random() < 0.55:
                note = key + 24 + SCALE[int(rng.integers(len(SCALE)))]
                length = beat * float(rng.choice([0.5, 1.0]))
                _play(signal, start + eighth * beat / 2, length, note, 0.16, overtones, 0.3)
        if drums:
            _beat(signal, rng, start, beat)
    return signal


def _play(
    signal: np.ndarray,
    start: float,
    seconds: float,
    note: float,
    loudness: float,
    overtones: float,
    ring: float,
) -> None:
    """Add a plucked note with harmonics."""
    count = round(seconds * RATE)
    frequency = 440 * 2 ** ((note - 69) / 12)
    # Harmonics are powers of the first one, of which each fades so much faster: a geometric series.
    first = np.exp((2j * np.pi * frequency - 1 / (2 * ring)) * np.arange(count) / RATE)
    harmonics = min(8, math.ceil(0.45 * RATE / frequency) - 1)
    sound = (first * (1 - (overtones * first) ** harmonics) / (1 - overtones * first)).imag
    sound *= rise(count, 0.008) * np.minimum(1, np.arange(count)[::-1] / (0.01 * RATE))
    add(signal, loudness * sound, round(start * RATE))


def _beat(signal: np.ndarray, rng: np.random.Generator, start: float, beat: float) -> None:
    for quarter in range(4):
        place = round((start + quarter * beat) * RATE)
        if quarter % 2 == 0:
            time = np.arange(round(0.18 * RATE)) / RATE
            kick = np.sin(2 * np.pi * (50 * time + 60 * 0.03 * (1 - np.exp(-time / 0.03))))
            add(signal, 0.5 * kick * decay(len(kick), 0.06), place)
        else:
            add(signal, 0.25 * fading(band(rng, 0.15, 400, 6000), 0.05), place)
        for half in (0, 0.5):
            hat = np.diff(rng.standard_normal(round(0.05 * RATE)), n=2)
            hat *= decay(len(hat), 0.012)
            add(signal, 0.06 * hat / np.abs(hat).max(), place + round(half * beat * RATE))
