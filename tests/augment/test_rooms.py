"""Convolution with impulse responses against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from soundcheck.augment.level import peak
from soundcheck.augment.rooms import reverberation
from soundcheck.augment.sounds import Sound, Sounds, SoundSet

RATE = 16000


def material(*responses, rate=RATE):
    made = tuple(
        Sound.of(f"response {n}", response, rate, role=role) for n, (role, response) in enumerate(responses)
    )
    return Sounds({"rooms": SoundSet("rooms", made)})


def test_convolved_cut_and_scaled_to_the_peak(rng):
    signal, response = rng.uniform(-0.1, 0.1, 3000), rng.uniform(-1, 1, 500)
    heard = reverberation(
        signal, RATE, rng, sounds=material(("base", response)), responses="rooms", role="base"
    )
    expected = np.convolve(signal.astype(np.float32), response.astype(np.float32))[:3000]
    assert np.allclose(heard, expected / np.abs(expected).max(), atol=1e-5)
    assert peak(heard) == pytest.approx(1)


def test_the_delay_is_kept(rng):
    signal = np.eye(1, 400)[0]
    heard = reverberation(
        signal, RATE, rng, sounds=material(("base", np.eye(1, 90, 70)[0])), responses="rooms", role="base"
    )
    assert np.argmax(heard) == 70


def test_only_responses_of_the_role_are_drawn():
    signal = np.eye(1, 400)[0]
    sounds = material(*(("other" if n else "base", np.eye(1, 90, n)[0]) for n in range(5)))
    drawn = {
        role: {
            int(
                np.argmax(
                    reverberation(
                        signal,
                        RATE,
                        np.random.default_rng(seed),
                        sounds=sounds,
                        responses="rooms",
                        role=role,
                    )
                )
            )
            for seed in range(60)
        }
        for role in ("base", "other")
    }
    assert drawn == {"base": {0}, "other": {1, 2, 3, 4}}


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
    metres = {
        5: ("base", 1.5),
        10: ("other", 0.5),
        20: ("other", 1.0),
        30: ("other", 2.25),
        40: ("other", 3.0),
    }
    sounds = Sounds(
        {
            "rooms": SoundSet(
                "rooms",
                tuple(
                    Sound.of(f"delay {delay}", np.eye(1, 90, delay)[0], role=role, distance=distance)
                    for delay, (role, distance) in metres.items()
                ),
            )
        }
    )

    def delays(role, **more):
        for seed in range(60):
            rng, signal = np.random.default_rng(seed), np.eye(1, 400)[0]
            heard = reverberation(signal, RATE, rng, sounds=sounds, responses="rooms", role=role, **more)
            yield int(np.argmax(heard))

    assert set(delays("other", **options)) == drawn
    assert set(delays("base", **options)) == {5}
    with pytest.raises(
        ValueError, match="nothing but delay 5 was measured at a distance within a ratio of 1.1"
    ):
        list(delays("other", ratio=1.1, times=9.0))
    with pytest.raises(ValueError, match="ratio is 0.5. It must be 0 or lie between 1 and 100"):
        list(delays("other", ratio=0.5))
    with pytest.raises(ValueError, match="times is 0. It must be above 0"):
        list(delays("other", times=0))


def test_another_rate_is_resampled(rng):
    signal = np.eye(1, 4000)[0]
    sounds = material(("base", np.eye(1, 900, 480)[0]), rate=48000)
    heard = reverberation(signal, RATE, rng, sounds=sounds, responses="rooms", role="base")
    assert np.argmax(heard) == pytest.approx(160, abs=1)


def test_silence_stays_and_a_late_response_is_told(rng):
    late = material(("base", np.eye(1, 900, 800)[0]))
    assert not reverberation(
        np.zeros(9, np.float32), RATE, rng, sounds=late, responses="rooms", role="base"
    ).any()
    with pytest.raises(ValueError, match="nothing is heard through the impulse response response 0"):
        tone = np.tile([1, -1], 50).astype(np.float32)
        reverberation(tone, RATE, rng, sounds=late, responses="rooms", role="base")
