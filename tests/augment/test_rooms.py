"""Impulse responses and distance against definitions."""

from __future__ import annotations

import numpy as np
import pytest
from made_sounds import sound, sounds

from soundcheck.augment.level import peak
from soundcheck.augment.rooms import far_field, reverberation

RATE = 16000
CLICK = np.eye(1, 400)[0]


def delayed(role, delay, size=90, **more):
    return sound(f"delay {delay}", np.eye(1, size, delay)[0], role=role, **more)


def reverberated(signal, material, seed=0, role="base", **more):
    rng = np.random.default_rng(seed)
    return reverberation(signal, RATE, rng, sounds=material, responses="rooms", role=role, **more)


def test_convolved_cut_and_scaled_to_the_peak(rng):
    signal, response = rng.uniform(-0.1, 0.1, 3000), rng.uniform(-1, 1, 500)
    result = reverberated(signal, sounds(rooms=[sound("a", response, role="base")]))
    expected = np.convolve(signal.astype(np.float32), response.astype(np.float32))[:3000]
    assert np.allclose(result, expected / np.abs(expected).max(), atol=1e-5)
    assert peak(result) == pytest.approx(1)


def test_the_delay_stays_and_another_rate_is_resampled():
    assert np.argmax(reverberated(CLICK, sounds(rooms=[delayed("base", 70)]))) == 70
    other = sounds(rooms=[sound("a", np.eye(1, 900, 480)[0], 48000, role="base")])
    assert np.argmax(reverberated(CLICK, other)) == pytest.approx(160, abs=1)


@pytest.mark.parametrize(
    "options, drawn",
    [
        ({}, {10, 20, 30, 40}),
        ({"ratio": 1.5}, {20, 30}),  # both ends are within
        ({"ratio": 1.5, "times": 2.0}, {30, 40}),
        ({"ratio": 1.0, "times": 2.0}, {40}),
    ],
)
def test_others_are_drawn_at_the_wanted_distance(options, drawn):
    metres = {10: 0.5, 20: 1.0, 30: 2.25, 40: 3.0}
    others = [delayed("other", delay, distance=distance) for delay, distance in metres.items()]
    material = sounds(rooms=[delayed("base", 5, distance=1.5), *others])

    def delays(role, **more):
        return {int(np.argmax(reverberated(CLICK, material, seed, role, **more))) for seed in range(60)}

    assert delays("other", **options) == drawn and delays("base", **options) == {5}
    with pytest.raises(
        ValueError, match="nothing but delay 5 was measured at a distance within a ratio of 1"
    ):
        delays("other", ratio=1.1, times=9.0)


def test_silence_stays_and_a_late_response_is_named():
    late = sounds(rooms=[delayed("base", 800, 900)])
    assert not reverberated(np.zeros(9, np.float32), late).any()
    with pytest.raises(ValueError, match="nothing is heard through the impulse response delay 800"):
        reverberated(np.tile([1, -1], 50), late)


@pytest.mark.parametrize("metres", [0.5, 1, 4])
def test_direct_sound_and_tail_of_a_click(metres):
    """The energy of the tail is that of the direct path at 1 m, and grows by 6 dB for each doubling."""
    click = np.zeros(RATE, dtype=np.float32)
    click[0] = 0.5
    result = far_field(click, RATE, np.random.default_rng(0), metres=metres, snr_db=120).astype(float)
    direct, tail = result[0] ** 2, np.sum(result[16:] ** 2)
    assert 10 * np.log10(tail / direct) == pytest.approx(20 * np.log10(metres), abs=0.6)
    assert np.sum(result**2) == pytest.approx(0.25, rel=2e-4)
    early, late = np.sum(result[16:2000] ** 2), np.sum(result[4016:6000] ** 2)  # a quarter second apart
    assert 10 * np.log10(early / late) == pytest.approx(30, abs=2)


def test_noise_of_the_room():
    """With a tail that is short and faint, what is left is the noise: 20 dB below the speech at 2 m."""
    signal = (0.1 * np.random.default_rng(3).standard_normal(4 * RATE)).astype(np.float32)
    options = {"metres": 2.0, "snr_db": 26.02, "critical_distance": 1000, "reverberation_time": 0.05}
    result = far_field(signal, RATE, np.random.default_rng(1), **options).astype(float)
    spoken = signal * (np.dot(result, signal) / np.dot(signal, signal))
    ratio = np.sum(spoken**2) / np.sum((result - spoken) ** 2)
    assert 10 * np.log10(ratio) == pytest.approx(20, abs=0.3)
    assert not far_field(np.zeros(500, np.float32), RATE, np.random.default_rng(0), metres=2).any()
