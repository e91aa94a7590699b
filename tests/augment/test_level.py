from __future__ import annotations

import math

import numpy as np
import pytest

from soundcheck.augment import level

RATE = 16000


@pytest.fixture
def noise(rng):
    return (0.2 * rng.standard_normal(3 * RATE)).astype(np.float32)


def test_known_levels():
    assert level.rms(np.array([3.0, -3.0, 1.0, -1.0])) == pytest.approx(5**0.5)
    assert level.peak(np.array([0.25, -0.5], dtype=np.float32)) == 0.5
    assert level.peak(np.array([-0.25, -0.5])) == 0.5
    assert level.decibel(1.0) == 0
    assert level.decibel(0.5) == pytest.approx(-6.0206, abs=1e-4)
    assert level.amplitude(20) == pytest.approx(10)


def test_silence_has_a_floor():
    assert level.rms(np.zeros(5)) == 0
    assert level.decibel(0.0) == -120


def test_decibel_and_amplitude_are_inverse():
    for value in (-100.0, -3.0, 0.0, 17.5):
        assert level.decibel(level.amplitude(value)) == pytest.approx(value)


@pytest.mark.parametrize("size", [1e-40, 1e-20, 1e30])
def test_rms_neither_underflows_nor_overflows(size):
    signal = np.tile([size, -size], 50).astype(np.float32)
    assert level.rms(signal) == pytest.approx(float(signal[0]), rel=1e-9)
    assert level.rms(np.full(100, size, dtype=np.float32)) < 1e-9 * size  # a constant is no sound


def test_an_offset_is_no_level(noise):
    assert level.rms(noise + np.float32(0.3)) == pytest.approx(level.rms(noise - noise.mean()), rel=1e-4)
    assert level.centred(noise).tobytes() == noise.astype(np.float64).tobytes()  # what has none stays


def test_level_match_restores_the_level(noise):
    matched = level.level_match(noise, 0.01 * noise[::-1])
    assert level.rms(matched) == pytest.approx(level.rms(noise), rel=1e-6)


def test_level_match_of_silence():
    silent = np.zeros(4)
    loud = np.array([1.0, -1.0, 1.0, -1.0])
    assert np.array_equal(level.level_match(loud, silent), silent)
    assert np.array_equal(level.level_match(silent, loud), silent)


@pytest.mark.parametrize("sign", [1, -1])
def test_limit_scales_the_whole_signal(sign):
    signal = sign * np.array([0.5, 2.0, -1.0])
    limited = level.limit(signal)
    assert np.allclose(limited, signal / 2, rtol=1e-6)
    assert level.peak(limited) <= 1
    assert level.peak(signal) == 2  # the input is as before


def test_limit_leaves_full_scale_alone():
    signal = np.array([1.0, -1.0, 0.3])
    assert level.limit(signal) is signal


@pytest.mark.parametrize("gain_db", [-2, -1, 0, 1, 2, 6.5])
def test_gain(noise, rng, gain_db):
    louder = level.gain(noise, RATE, rng, gain_db=gain_db)
    assert level.decibel(level.rms(louder)) - level.decibel(level.rms(noise)) == pytest.approx(
        gain_db, abs=1e-4
    )


def test_gain_does_not_clip(rng):
    louder = level.gain(np.array([1, -1], dtype=np.float32), RATE, rng, gain_db=2)
    assert np.allclose(louder, [1.2589254, -1.2589254])


@pytest.mark.parametrize("gain_db", [121, -121, math.nan, math.inf])
def test_gain_out_of_range(rng, gain_db):
    with pytest.raises(ValueError, match=f"gain_db is {gain_db}. It must lie between -120 and 120"):
        level.gain(np.ones(3, dtype=np.float32), RATE, rng, gain_db=gain_db)


@pytest.mark.parametrize("ratio", [0.001, 0.002, 0.003, 0.29, 0.5])
@pytest.mark.parametrize("samples", [100, 999, 1000, 48000])
def test_clip_cuts_exactly_the_share(rng, ratio, samples):
    signal = rng.standard_normal(samples).astype(np.float32)
    clipped = level.clip(signal, RATE, rng, ratio=ratio)
    cut = round(ratio * 1000) * samples // 1000  # in whole numbers, which do not round
    assert np.count_nonzero(clipped != signal) == cut
    assert level.peak(clipped) == np.sort(np.abs(signal))[::-1][cut]
    kept = clipped == signal
    assert np.array_equal(np.sign(clipped), np.sign(signal))
    assert np.all(np.abs(signal[~kept]) > level.peak(clipped))


def test_clip_known_answer(rng):
    signal = np.array([0.1, -0.9, 0.5, 0.7, -0.2, 0, 0, 0, 0, 0], dtype=np.float32)
    expected = signal.copy()
    expected[1] = -0.7
    assert np.array_equal(level.clip(signal, RATE, rng, ratio=0.1), expected)


def test_clip_of_too_few_samples_changes_nothing(rng):
    signal = rng.standard_normal(300).astype(np.float32)
    assert np.array_equal(level.clip(signal, RATE, rng, ratio=0.003), signal)


def test_clip_never_silences(rng):
    click = np.zeros(1000, dtype=np.float32)
    click[17] = 0.5
    assert np.array_equal(level.clip(click, RATE, rng, ratio=0.003), click)


def test_clip_counts_samples_of_equal_magnitude_once(rng):
    square = np.tile(np.array([1, -1], dtype=np.float32), 500)
    assert np.array_equal(level.clip(square, RATE, rng, ratio=0.3), square)


@pytest.mark.parametrize("ratio", [-0.1, 1, 1.5, math.nan])
def test_clip_out_of_range(rng, ratio):
    with pytest.raises(ValueError, match=f"ratio is {ratio}. It must be at least 0 and less than 1"):
        level.clip(np.ones(3, dtype=np.float32), RATE, rng, ratio=ratio)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("clipped_at", {"limit": 0.2}),
        ("clipped_at", {"limit": 0.8}),
        ("far_field", {"metres": 2}),
        ("reverberation", {"responses": "rooms", "role": "other"}),
        ("spectral_tilt", {"direction": "upward"}),
        ("spectral_tilt", {"direction": "downward"}),
    ],
)
@pytest.mark.parametrize("offset", [0.05, -0.3])
def test_an_offset_changes_nothing_but_itself(noise, rng, name, options, offset):
    """An inaudible constant makes speech neither quieter nor does it set in with a thud."""
    from soundcheck.augment.registry import _TRIAL_SOUNDS, TRANSFORMS

    plain = (0.1 * (noise - noise.mean())).astype(np.float32)
    found = TRANSFORMS[name]
    sounds = {"sounds": _TRIAL_SOUNDS} if found.sounds else {}
    one, other = (
        found.function(signal, 16000, np.random.default_rng(1), **sounds, **options).astype(np.float64)
        for signal in (plain, plain + np.float32(offset))
    )
    np.testing.assert_allclose(other - other.mean(), one - one.mean(), atol=1e-5)
