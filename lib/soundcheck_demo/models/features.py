"""Prosodic and spectral features of one signal, for the demo model.

Conventions
-----------
Every feature is finite for every signal: what cannot be measured (no voiced frame, silence, too short) gets
its value from ``FALLBACK``. Levels are in dB relative to full scale, pitch in semitones above 100 Hz. Frames
are 25 ms long and 10 ms apart; *active* frames lie less than 30 dB below the 95th percentile of the level and
at least 3 dB above the 10th, the noise, if the two are far enough apart. Of a long signal the first minute
counts.
"""

from __future__ import annotations

import math

import numpy as np
import parselmouth
import scipy  # scipy.signal is loaded when first used: it takes a second

SAMPLING_RATE = 16000  # signals of another rate are resampled
PITCH_FLOOR, PITCH_CEILING = 75.0, 600.0
FRAME, HOP = 400, 160  # samples
STEP = 0.02  # seconds between two measurements of the pitch
LONGEST = 60  # seconds
LOUDEST = 1e6  # full scale is 1; keeps the squares of absurd input finite
ACTIVE_DB, NOISE_DB = 30.0, 3.0
SILENCE = 1e-10  # power, -100 dB: half a step of 16-bit audio is -96 dB
_HERTZ = "100 200 300 400 510 630 770 920 1080 1270 1480 1720 2000 2320 2700 3150 3700 4400 5300"
EDGES = tuple(map(int, _HERTZ.split()))  # of critical bands
CEPSTRA = 8

FALLBACK = {
    "pitch_median": 8.0,
    "pitch_range": 4.0,
    "pitch_high": 11.0,
    "pitch_slope": 0.0,
    "voiced_share": 0.0,
    "periodicity": 0.4,
    "level_high": -100.0,
    "level_spread": 0.0,
    "syllable_rate": 0.0,
    "active_seconds": 0.0,
    "tilt": -6.0,
    "centroid": 1000.0,
    "brightness": -20.0,
    **{f"cepstrum_{number}": 0.0 for number in range(2, CEPSTRA + 1)},
}
NAMES = tuple(FALLBACK)


def extract(signal: np.ndarray, sampling_rate: int) -> np.ndarray:
    """Measure all features of a signal.

    - ``signal``: ``(samples,)``, any length from 0, read-only or not.
    - Returns float64 ``(len(NAMES),)``, finite, in the order of ``NAMES``.
    """
    signal = prepared(signal, sampling_rate, LONGEST)
    values = dict(FALLBACK)
    frames = np.lib.stride_tricks.sliding_window_view(signal, FRAME)[::HOP]
    level = 10 * np.log10(np.mean(frames**2, axis=1) + SILENCE)
    active = is_active(level)
    if active.any():
        values.update(_pitch(signal))
        values.update(_level(level, active))
        values.update(_spectrum(frames[active]))
    features = np.array([values[name] for name in NAMES])
    return np.where(np.isfinite(features), features, np.array(list(FALLBACK.values())))


def prepared(signal: np.ndarray, sampling_rate: int, longest: int) -> np.ndarray:
    """Make a signal measurable: float64, finite, at 16 kHz, without mean, at least a frame long."""
    signal = np.asarray(signal).reshape(-1)[: longest * int(sampling_rate)]
    signal = np.clip(np.nan_to_num(signal.astype(np.float64)), -LOUDEST, LOUDEST)
    if sampling_rate != SAMPLING_RATE and len(signal):
        common = math.gcd(int(sampling_rate), SAMPLING_RATE)
        signal = scipy.signal.resample_poly(signal, SAMPLING_RATE // common, int(sampling_rate) // common)
    if len(signal) < FRAME:
        signal = np.pad(signal, (0, FRAME - len(signal)))
    return signal - signal.mean()


def is_active(level: np.ndarray) -> np.ndarray:
    """Tell active frames by their levels in dB, ``(frames,)``; see the module."""
    quiet, loud = np.percentile(level, (10, 95))
    return level > max(loud - ACTIVE_DB, -90.0, min(quiet + NOISE_DB, loud - NOISE_DB))


def _pitch(signal: np.ndarray) -> dict[str, float]:
    sound = parselmouth.Sound(signal, SAMPLING_RATE)
    if sound.duration <= 3.0 / PITCH_FLOOR:  # Praat wants three periods in its window
        return {}
    track = sound.to_pitch(STEP, pitch_floor=PITCH_FLOOR, pitch_ceiling=PITCH_CEILING).selected_array
    voiced = track["frequency"] > 0
    if voiced.sum() < 3:
        return {}
    semitones = 12 * np.log2(track["frequency"][voiced] / 100.0)
    low, median, high = np.percentile(semitones, (15, 50, 85))
    place = np.linspace(-0.5, 0.5, len(semitones))
    return {
        "pitch_median": median,
        "pitch_range": high - low,
        "pitch_high": high,
        "pitch_slope": (place @ semitones) / (place @ place),
        "voiced_share": voiced.mean(),
        "periodicity": track["strength"][voiced].mean(),
    }


def _level(level: np.ndarray, active: np.ndarray) -> dict[str, float]:
    first, last = np.flatnonzero(active)[[0, -1]]
    window = np.hanning(9)
    smooth = np.convolve(np.pad(level, 4, mode="edge"), window / window.sum(), mode="valid")
    # Taken as a syllable: a maximum that stands out by 2 dB from the level around, smoothed over some 40 ms.
    peaks = standing_out(smooth, 2.0)
    seconds = (last - first + 1) * HOP / SAMPLING_RATE
    return {
        "level_high": np.percentile(level, 90),
        "level_spread": level[active].std(),
        "syllable_rate": active[peaks].sum() / max(seconds, 0.1),
        "active_seconds": min(active.sum() * HOP / SAMPLING_RATE, 6.0),
    }


def standing_out(values: np.ndarray, prominence: float) -> list[int]:
    """Give what ``scipy.signal.find_peaks`` does, whose import takes longer than all that a run repeats."""
    borders = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan))  # where another value begins
    levels = values[borders[:-1]]
    places = []
    for n in 1 + np.flatnonzero((levels[1:-1] > levels[:-2]) & (levels[1:-1] > levels[2:])):
        higher = np.flatnonzero(levels > levels[n])
        place = np.searchsorted(higher, n)
        first = higher[place - 1] + 1 if place else 0
        last = higher[place] if place < len(higher) else len(levels)
        base = max(levels[first : n + 1].min(), levels[n:last].min())
        if levels[n] - base >= prominence:
            places.append(int(borders[n] + borders[n + 1] - 1) // 2)
    return places


def _spectrum(frames: np.ndarray) -> dict[str, float]:
    power = (np.abs(np.fft.rfft(frames * np.hanning(FRAME), 512)) ** 2).mean(axis=0)
    hertz = np.fft.rfftfreq(512, 1 / SAMPLING_RATE)
    used = (hertz >= EDGES[0]) & (hertz < EDGES[-1])
    bands = np.array(
        [power[(hertz >= a) & (hertz < b)].mean() for a, b in zip(EDGES[:-1], EDGES[1:], strict=True)]
    )
    bands = 10 * np.log10(bands + bands.max() * 1e-6 + SILENCE)
    starts = np.array(EDGES[:-1])
    bright, dark = starts >= 2000, starts < 1000
    octave = np.log2(np.sqrt(np.multiply(EDGES[:-1], EDGES[1:])) / 1000.0)
    octave = octave - octave.mean()
    order = np.arange(2, CEPSTRA + 1)[:, None]
    cosines = np.cos(np.pi * order * (np.arange(len(bands)) + 0.5) / len(bands))
    cepstra = cosines @ bands / len(bands)
    return {
        "tilt": (octave @ bands) / (octave @ octave),
        "centroid": (hertz[used] @ power[used]) / (power[used].sum() + SILENCE),
        "brightness": bands[bright].mean() - bands[dark].mean(),
        **{f"cepstrum_{n}": value for n, value in zip(order[:, 0], cepstra, strict=True)},
    }
