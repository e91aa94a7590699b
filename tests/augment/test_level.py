"""Levels, and the transforms that change them, against definitions."""

from __future__ import annotations

import numpy as np
import pytest
from made_sounds import sound, sounds

from soundcheck.augment import level, registry

RATE = 16000


@pytest.fixture
def noise(rng):
    return (0.2 * rng.standard_normal(3 * RATE)).astype(np.float32)


def test_known_levels():
    assert level.rms(np.array([3.0, -3.0, 1.0, -1.0])) == pytest.approx(5**0.5)
    assert level.peak(np.array([0.25, -0.5], dtype=np.float32)) == level.peak(np.array([-0.25, -0.5])) == 0.5
    assert level.decibel(1.0) == 0 and level.decibel(0.5) == pytest.approx(-6.0206, abs=1e-4)
    assert level.rms(np.zeros(5)) == 0 and level.decibel(0.0) == -120
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


def test_level_match(noise):
    assert level.rms(level.level_match(noise, 0.01 * noise[::-1])) == pytest.approx(
        level.rms(noise), rel=1e-6
    )
    silent, loud = np.zeros(4), np.array([1.0, -1.0, 1.0, -1.0])
    assert np.array_equal(level.level_match(loud, silent), silent)
    assert np.array_equal(level.level_match(silent, loud), silent)


def test_limit_scales_the_whole_signal_and_leaves_full_scale_alone():
    for signal in (np.array([0.5, 2.0, -1.0]), np.array([-0.5, -2.0, 1.0])):
        limited = level.limit(signal)
        assert np.allclose(limited, signal / 2, rtol=1e-6)
        assert level.peak(limited) <= 1 and level.peak(signal) == 2  # the input is as before
    full = np.array([1.0, -1.0, 0.3])
    assert level.limit(full) is full


@pytest.mark.parametrize("gain_db", [-2, 0, 1, 6.5])
def test_gain_and_amplitude(noise, rng, gain_db):
    louder = level.gain(noise, RATE, rng, gain_db=gain_db)
    assert level.decibel(level.rms(louder) / level.rms(noise)) == pytest.approx(gain_db, abs=1e-4)
    factor = 10 ** (gain_db / 20)
    assert np.allclose(level.scaled_amplitude(noise, RATE, rng, factor=factor), louder, rtol=1e-6)
    loud = level.gain(np.float32([1, -1]), RATE, rng, gain_db=2)  # not clipped
    assert np.allclose(loud, [1.2589254, -1.2589254])


@pytest.mark.parametrize("ratio", [0.001, 0.003, 0.29, 0.5])
@pytest.mark.parametrize("samples", [100, 999, 48000])
def test_clip_cuts_exactly_the_share(rng, ratio, samples):
    signal = rng.standard_normal(samples).astype(np.float32)
    clipped = level.clip(signal, RATE, rng, ratio=ratio)
    cut = round(ratio * 1000) * samples // 1000  # in whole numbers, which do not round
    assert np.count_nonzero(clipped != signal) == cut
    assert level.peak(clipped) == np.sort(np.abs(signal))[::-1][cut]
    assert np.array_equal(np.sign(clipped), np.sign(signal))
    assert np.all(np.abs(signal[clipped != signal]) > level.peak(clipped))


def test_clip_known_answers(rng):
    signal = np.array([0.1, -0.9, 0.5, 0.7, -0.2, 0, 0, 0, 0, 0], dtype=np.float32)
    expected = np.where(signal == np.float32(-0.9), np.float32(-0.7), signal)
    assert np.array_equal(level.clip(signal, RATE, rng, ratio=0.1), expected)
    click = np.eye(1, 1000, 17, dtype=np.float32)[0]
    square = np.tile(np.float32([1, -1]), 500)
    few = rng.standard_normal(300).astype(np.float32)
    # A small change must not silence; equal magnitudes count once; less than one sample is none.
    for same, ratio in ((click, 0.003), (square, 0.3), (few, 0.003)):
        assert np.array_equal(level.clip(same, RATE, rng, ratio=ratio), same)


@pytest.mark.parametrize("limit", [0.05, 0.01, 1.0])
def test_clipping_keeps_the_peak(noise, rng, limit):
    speech = np.clip(noise, -0.4, 0.4)
    clipped, highest = level.clipped_at(speech, RATE, rng, limit=limit), level.peak(speech)
    assert level.peak(clipped) == pytest.approx(highest, rel=1e-6)
    beyond = np.abs(speech) >= limit * highest
    assert np.allclose(np.abs(clipped[beyond]), highest, rtol=1e-5)
    assert np.allclose(clipped[~beyond], speech[~beyond] / limit, rtol=1e-5)


def test_the_released_definition_clips_at_full_scale(rng):
    """The text clips the same samples of loud and quiet speech, the released generator fewer of quiet one."""
    loud = rng.laplace(size=RATE)
    loud = (loud / np.abs(loud).max()).astype(np.float32)
    shares = {}
    for size in (1.0, 0.3, 0.1):
        signal = (size * loud).astype(np.float32)
        released = level.clipped_at(signal, RATE, rng, limit=0.05, definition="released")
        shares[size] = (np.abs(released) >= np.float32(0.05)).mean()
        assert shares[size] == (np.abs(signal) / 1.414 >= 0.05).mean()
        assert level.peak(released) <= 0.05 + 1e-9  # nothing is scaled back
        untouched = np.abs(released) < 0.05
        assert np.allclose(released[untouched], signal[untouched] / 1.414)
        text = level.clipped_at(signal, RATE, rng, limit=0.05)
        clipped = (np.abs(text) >= 0.999 * size).mean()
        assert clipped == pytest.approx((np.abs(loud) >= 0.05).mean(), abs=1e-3)
    assert shares[1.0] > 0.4 and shares[0.3] < shares[1.0] / 3 and shares[0.1] < 0.01


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("clipped_at", {"limit": 0.2}),
        ("far_field", {"metres": 2}),
        ("reverberation", {"responses": "rooms", "role": "base"}),
        ("spectral_tilt", {"direction": "upward"}),
        ("spectral_tilt", {"direction": "downward"}),
        ("background_noise", {"noise": "music", "snr_db": 20}),
        ("background_noise", {"noise": "music", "snr_db": 20, "based_on": "peak"}),
        ("sound_event", {"event": "coughing", "snr_db": 20}),
        ("white_noise", {"snr_db": 20}),
        ("additive_tone", {"frequency": 100, "snr_db": 20}),
    ],
)
@pytest.mark.parametrize("offset", [0.05, -0.3])
def test_an_offset_changes_nothing_but_itself(noise, rng, name, options, offset):
    """An inaudible constant makes speech neither quieter nor does it set in with a thud."""
    plain = (0.1 * (noise - noise.mean())).astype(np.float32)
    recorded = 0.05 * rng.standard_normal(RATE // 2)
    recorded -= recorded.mean()
    results = []
    for shift in (0.0, offset):
        more = recorded + 0.7 * shift  # nor does that of a recorded noise
        material = sounds(music=[more], coughing=[more], rooms=[sound("a", recorded, role="base")])
        signal, chance = plain + np.float32(shift), np.random.default_rng(1)
        function = registry.TRANSFORMS[name].function
        results.append(function(signal, RATE, chance, sounds=material, **options).astype(np.float64))
    one, other = (result - result.mean() for result in results)
    np.testing.assert_allclose(other, one, atol=2e-5)
