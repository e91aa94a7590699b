"""Music from notes and drums: a chord progression, a melody over it, a bass and a beat."""

from __future__ import annotations

import math

import numpy as np

from soundcheck_demo.sounds.shapes import RATE, add, band, decay, rise

SECONDS = 12.0
PROGRESSIONS = ((0, 5, 7, 0), (0, 9, 5, 7), (9, 5, 0, 7), (0, 7, 9, 5), (2, 7, 0, 0))  # in semitones
SCALE = (0, 2, 4, 5, 7, 9, 11)


def music(rng: np.random.Generator) -> np.ndarray:
    """Make a piece of music, float64 ``(samples,)`` at 16 kHz, 12 seconds."""
    signal = np.zeros(round(SECONDS * RATE))
    key = 45 + int(rng.integers(12))  # MIDI number of the tonic, A2 to G#3
    beat = 60 / rng.uniform(70, 150)
    progression = PROGRESSIONS[int(rng.integers(len(PROGRESSIONS)))]
    overtones = rng.uniform(0.4, 0.8)  # how loud each harmonic is relative to the one below
    drums = rng.random() < 0.7
    bars = int(SECONDS / (4 * beat)) + 1
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
            snare = band(rng, 0.15, 400, 6000)
            add(signal, 0.25 * snare / np.abs(snare).max() * decay(len(snare), 0.05), place)
        for half in (0, 0.5):
            hat = np.diff(rng.standard_normal(round(0.05 * RATE)), n=2)
            hat *= decay(len(hat), 0.012)
            add(signal, 0.06 * hat / np.abs(hat).max(), place + round(half * beat * RATE))
