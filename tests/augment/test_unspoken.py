"""Sounds in the place of speech, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from soundcheck.augment import registry, unspoken
from soundcheck.augment.level import decibel, peak, rms
from soundcheck.augment.sounds import Sound, Sounds, SoundSet
from soundcheck.suite.families import Perturbation
from soundcheck.suite.thresholds import read_family

RATE = 16000
KINDS = ("babble", "coughing", "environmental", "music", "other_language", "sneezing")


@pytest.fixture
def sounds(rng):
    signals = [np.pad(rng.uniform(-0.5, 0.5, 4000), (0, 1000)).astype(np.float32) for _ in range(3)]
    made = tuple(Sound.of(f"sound {n}", signal) for n, signal in enumerate(signals))
    return Sounds({kind: SoundSet(kind, made) for kind in KINDS})


@pytest.fixture
def speech(rng):
    return (0.1 * rng.standard_normal(RATE)).astype(np.float32)


@pytest.mark.parametrize("level_db", [-60, -30, -20])
@pytest.mark.parametrize("sound", [*KINDS, "white"])
def test_a_sound_alone_has_its_level_and_nothing_of_the_speech(sounds, speech, sound, level_db):
    options = {"sound": sound, "level_db": level_db, "sounds": sounds}
    heard = unspoken.sound_alone(speech, RATE, np.random.default_rng(1), **options)
    again = unspoken.sound_alone(-0.1 * speech, RATE, np.random.default_rng(1), **options)
    assert len(heard) == len(speech) and np.array_equal(heard, again)
    assert decibel(rms(heard[heard != 0])) == pytest.approx(level_db, abs=0.01)


def test_a_sound_that_would_clip_is_scaled_down(sounds, speech, rng):
    heard = unspoken.sound_alone(speech, RATE, rng, sounds=sounds, sound="white", level_db=0)
    assert peak(heard) == pytest.approx(1) and rms(heard) < 0.5


def test_levels_differ_in_nothing_else(sounds, speech):
    steps = read_family("asr_hallucination").sweeps["Babble Noise"].steps
    heard = [
        registry.apply(step, speech, RATE, seed=3, content="abc", sounds=sounds)[0] for step in steps.values()
    ]
    for quiet, loud in zip(heard, heard[1:], strict=False):
        assert np.allclose(loud, quiet * 10 ** (10 / 20), rtol=1e-4, atol=1e-7)


def test_lengths(speech, rng):
    assert np.array_equal(unspoken.silence(speech, RATE, rng), np.zeros(RATE, np.float32))
    assert unspoken.silence(speech, RATE, rng, seconds=2.5).shape == (40000,)
    followed = unspoken.followed_by_silence(speech, RATE, rng, seconds=0.5)
    assert np.array_equal(followed, np.concatenate([speech, np.zeros(8000, np.float32)]))
    assert np.array_equal(unspoken.backwards(speech, RATE, rng), speech[::-1])


def test_a_piece_is_repeated_without_a_pause(speech, rng):
    looped = unspoken.cut_and_looped(speech, RATE, rng, piece=0.25, seconds=2)
    assert len(looped) == 2 * RATE and np.array_equal(looped[4000:], looped[:-4000])
    places = [n for n in range(12001) if np.array_equal(speech[n : n + 4000], looped[:4000])]
    assert len(places) == 1
    short = unspoken.cut_and_looped(speech[:100], RATE, rng, piece=0.25)
    assert np.array_equal(short, speech[:100])


@pytest.mark.parametrize(
    ("transform", "options", "problem"),
    [
        ("silence", {"seconds": -1}, "seconds is -1"),
        ("silence", {"seconds": 601}, "between 0 and 600"),
        ("sound_alone", {"sound": "white", "level_db": 1}, "between -120 and 0"),
        ("sound_alone", {"sound": "thunder", "level_db": -20}, "thunder"),
        ("followed_by_silence", {"seconds": 0}, "above 0"),
        ("cut_and_looped", {"piece": 0}, "between 0.01 and 600"),
    ],
)
def test_wrong_options_are_refused_before_a_run(transform, options, problem):
    assert problem in registry.check_change(Perturbation("x", transform, options))


@pytest.mark.parametrize("name", list(read_family("asr_hallucination").changes))
def test_the_length_is_known_without_the_signal(name, sounds, speech):
    change = read_family("asr_hallucination").changes[name]
    signal, drawn = registry.apply(change, speech, RATE, seed=7, content="abc", sounds=sounds)
    assert registry.drawn_options(change, seed=7, content="abc")[0] == drawn
    heard, unspoken_part = unspoken.seconds_heard(change.transform, drawn, 1.0)
    assert heard == len(signal) / RATE
    expected = {"Speech Then Silence": 30, "Looped Speech": 0, "Backwards Speech": 0}
    assert unspoken_part == expected.get(name, heard)
