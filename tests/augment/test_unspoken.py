"""Sounds in the place of speech, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from made_sounds import sounds

from soundcheck.augment import registry, unspoken
from soundcheck.augment.level import decibel, peak, rms
from soundcheck.suite.thresholds import read_family

RATE = 16000
KINDS = ("babble", "coughing", "environmental", "music", "other_language", "sneezing")


@pytest.fixture
def material(rng):
    signals = [np.pad(rng.uniform(-0.5, 0.5, 4000), (0, 1000)) for _ in range(3)]
    return sounds(**dict.fromkeys(KINDS, signals))


@pytest.fixture
def speech(rng):
    return (0.1 * rng.standard_normal(RATE)).astype(np.float32)


@pytest.mark.parametrize("level_db", [-60, -20])
@pytest.mark.parametrize("sound", [*KINDS, "white"])
def test_a_sound_alone_has_its_level_and_nothing_of_the_speech(material, speech, sound, level_db):
    options = {"sound": sound, "level_db": level_db, "sounds": material}
    result = unspoken.sound_alone(speech, RATE, np.random.default_rng(1), **options)
    again = unspoken.sound_alone(-0.1 * speech, RATE, np.random.default_rng(1), **options)
    assert len(result) == len(speech) and np.array_equal(result, again)
    assert decibel(rms(result[result != 0])) == pytest.approx(level_db, abs=0.01)
    loud = unspoken.sound_alone(speech, RATE, np.random.default_rng(1), **options | {"level_db": 0})
    assert peak(loud) == pytest.approx(1) and rms(loud) < 0.75  # scaled down as a whole


def test_levels_differ_in_nothing_else(material, speech):
    steps = read_family("asr_hallucination").sweeps["Babble Noise"].steps
    results = [
        registry.apply(step, speech, RATE, seed=3, content="abc", sounds=material)[0]
        for step in steps.values()
    ]
    for quiet, loud in zip(results, results[1:], strict=False):
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
    assert sum(np.array_equal(speech[n : n + 4000], looped[:4000]) for n in range(12001)) == 1
    short = unspoken.cut_and_looped(speech[:100], RATE, rng, piece=0.25)
    assert np.array_equal(short, speech[:100])


@pytest.mark.parametrize("name", list(read_family("asr_hallucination").changes))
def test_the_length_is_known_without_the_signal(name, material, speech):
    change = read_family("asr_hallucination").changes[name]
    signal, drawn = registry.apply(change, speech, RATE, seed=7, content="abc", sounds=material)
    assert registry.drawn_options(change, seed=7, content="abc")[0] == drawn
    heard, unspoken_part = unspoken.seconds_heard(change.transform, drawn, 1.0)
    assert heard == len(signal) / RATE
    expected = {"Speech Then Silence": 30, "Looped Speech": 0, "Backwards Speech": 0}
    assert unspoken_part == expected.get(name, heard)
