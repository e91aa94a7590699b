"""Tempo without pitch, pitch without tempo, and both, on signals of known pitch."""

from __future__ import annotations

import numpy as np
import parselmouth
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.augment.prosody import changed_pitch, changed_tempo, slowed_down

RATE = 16000


def voice(pitch=120.0, seconds=1.0):
    """Pulses through two resonances."""
    time = np.arange(round(seconds * RATE)) / RATE
    pulses = np.diff(np.floor(time * pitch), prepend=0.0)
    grain = sum(np.exp(-time[:800] * 400) * np.sin(2 * np.pi * f * time[:800]) for f in (600, 1400))
    return (0.2 * np.convolve(pulses, grain)[: time.size]).astype(np.float32)


def pitch_of(signal):
    pitch = parselmouth.Sound(signal.astype(np.float64), RATE).to_pitch().selected_array["frequency"]
    return np.median(pitch[pitch > 0])


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("pitch", [90.0, 220.0])
def test_a_faster_voice_is_as_high_as_before(rng, factor, pitch):
    result = changed_tempo(voice(pitch), RATE, rng, factor=factor)
    assert result.size == pytest.approx(RATE / factor, rel=0.02)
    assert pitch_of(result) == pytest.approx(pitch, rel=0.02)


@pytest.mark.parametrize("semitones", [-6, -2, 2, 6])
def test_a_higher_voice_is_as_fast_as_before(rng, semitones):
    result = changed_pitch(voice(150.0), RATE, rng, semitones=semitones)
    assert result.size == RATE
    assert pitch_of(result) == pytest.approx(150 * 2 ** (semitones / 12), rel=0.02)


@pytest.mark.parametrize("factor", [0.9, 0.7, 0.5])
def test_slower_is_longer_and_lower(rng, factor):
    tone = np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE).astype(np.float32)
    slow = slowed_down(tone, RATE, rng, factor=factor)
    assert len(slow) == pytest.approx(RATE / factor, abs=1)
    spectrum = np.abs(np.fft.rfft(slow * np.hanning(len(slow))))
    assert np.argmax(spectrum) * RATE / len(slow) == pytest.approx(1000 * factor, abs=2)


@given(st.integers(1, 2000), st.sampled_from([8000, 16000, 44100]), st.floats(0, 1))
def test_any_length_and_level(samples, rate, peak):
    signal = (peak * np.sin(np.arange(samples))).astype(np.float32)
    for change, options in ((changed_tempo, {"factor": 1.5}), (changed_pitch, {"semitones": 3.0})):
        result, again = (change(signal, rate, np.random.default_rng(samples), **options) for _ in range(2))
        assert result.size and np.isfinite(result).all() and np.array_equal(result, again)
        assert samples >= 0.05 * rate or np.array_equal(result, signal)
        assert peak or not result.any()
