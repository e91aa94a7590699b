"""Tempo without pitch and pitch without tempo, on pulse trains of known pitch."""

import numpy as np
import parselmouth
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.augment.prosody import changed_pitch, changed_tempo

RATE = 16000


def voice(pitch=120.0, seconds=1.0):
    """Pulses through two resonances."""
    time = np.arange(round(seconds * RATE)) / RATE
    pulses = np.diff(np.floor(time * pitch), prepend=0.0)
    grain = sum(np.exp(-time[:800] * 400) * np.sin(2 * np.pi * f * time[:800]) for f in (600, 1400))
    return (0.2 * np.convolve(pulses, grain)[: time.size]).astype(np.float32)


def pitch_of(signal):
    found = parselmouth.Sound(signal.astype(np.float64), RATE).to_pitch().selected_array["frequency"]
    return np.median(found[found > 0])


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("pitch", [90.0, 220.0])
def test_a_faster_voice_is_as_high_as_before(factor, pitch):
    heard = changed_tempo(voice(pitch), RATE, np.random.default_rng(0), factor=factor)
    assert heard.size == pytest.approx(RATE / factor, rel=0.02)
    assert pitch_of(heard) == pytest.approx(pitch, rel=0.02)


@pytest.mark.parametrize("semitones", [-6, -2, 2, 6])
def test_a_higher_voice_is_as_fast_as_before(semitones):
    heard = changed_pitch(voice(150.0), RATE, np.random.default_rng(0), semitones=semitones)
    assert heard.size == RATE
    assert pitch_of(heard) == pytest.approx(150 * 2 ** (semitones / 12), rel=0.02)


@given(st.integers(1, 2000), st.sampled_from([8000, 16000, 44100]), st.floats(0, 1))
def test_any_length_and_level(samples, rate, peak):
    signal = (peak * np.sin(np.arange(samples))).astype(np.float32)
    for change, options in ((changed_tempo, {"factor": 1.5}), (changed_pitch, {"semitones": 3.0})):
        heard = change(signal, rate, np.random.default_rng(samples), **options)
        assert heard.size and np.isfinite(heard).all()
        assert np.array_equal(heard, change(signal, rate, np.random.default_rng(samples), **options))
        assert samples >= 0.05 * rate or np.array_equal(heard, signal)


def test_silence_stays_silent():
    silence = np.zeros(RATE, dtype=np.float32)
    assert not changed_tempo(silence, RATE, np.random.default_rng(0), factor=0.8).any()
    assert not changed_pitch(silence, RATE, np.random.default_rng(0), semitones=3).any()


@pytest.mark.parametrize("factor", [0.3, 5, float("nan")])
def test_tempo_out_of_range(factor):
    with pytest.raises(ValueError, match="factor is"):
        changed_tempo(voice(), RATE, np.random.default_rng(0), factor=factor)


@pytest.mark.parametrize("semitones", [-25, 30, float("nan")])
def test_pitch_out_of_range(semitones):
    with pytest.raises(ValueError, match="semitones is"):
        changed_pitch(voice(), RATE, np.random.default_rng(0), semitones=semitones)
