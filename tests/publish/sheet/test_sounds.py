"""The sounds of the gravest finding, whole where there is room, and only what is what its name says."""

import dataclasses
import io

import pytest
import soundfile
from played import flac, played
from tests.support.finished import FAILED, finished, verdict

from soundcheck.publish.facts import read_facts
from soundcheck.publish.sheet.sounds import Scene, Sound, fitting, model_scenes
from soundcheck.report.aligned_words import aligned_words

ALIGNED = str(aligned_words("turn left now", {"recognised": "burn left"}))


@pytest.fixture
def folder(tmp_path, recorded):
    rows = [
        verdict(),
        verdict(**FAILED, family="robustness_noise", category="robustness", test="Unchanged Noise"),
    ]
    return finished(tmp_path, recorded, rows)


def scenes(folder):
    return model_scenes(read_facts(folder))


def test_the_family_of_the_gravest_finding_comes_first(folder):
    played(folder, {"x": flac(seed=1)})
    played(
        folder,
        {"original": flac(), "noise": flac(seed=2)},
        "a.wav under Noise: 0.1 → 0.9",
        family="robustness_noise",
    )
    first, second = scenes(folder)
    assert [sound.label for sound in first.sounds] == ["original", "noise"]
    assert first.title == "a.wav under Noise: 0.1 → 0.9" and "unchanged noise of arousal" in first.finding
    assert first.sounds[0].caption == "said; 1 s" and first.sounds[0].data == flac()
    assert second.finding == "" and second.family == "Correctness of values"


def test_of_many_sounds_the_first_and_the_changed_one(folder):
    sounds = {name: flac(seed=number) for number, name in enumerate(("original", "base", "noise"))}
    played(folder, sounds, "a.wav under Noise: 1 → 2")
    assert [sound.label for sound in scenes(folder)[0].sounds] == ["original", "noise"]
    played(folder, sounds, "demo, arousal")
    assert [sound.label for sound in scenes(folder)[0].sounds] == ["original", "base"]


def test_the_same_sounds_are_not_played_twice(folder):
    for family in ("correctness_regression", "robustness_noise"):
        played(folder, {"x": flac()}, family=family)
    assert len(scenes(folder)) == 1


def test_words_that_were_said_and_recognised(folder):
    played(folder, {"x": flac()}, more=ALIGNED)
    assert scenes(folder)[0].words == (("said", "turn left now"), ("recognised", "burn left"))


def test_a_sound_that_was_changed_or_linked_is_not_played(folder, tmp_path):
    (path,) = played(folder, {"x": flac()})
    assert scenes(folder)
    path.write_bytes(flac(seed=9))
    assert scenes(folder) == []
    path.write_bytes(flac())
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert scenes(folder) == []


@pytest.mark.parametrize("text", ["", "{", '{"cells": 1}', '{"cells": [{"outputs": [1]}]}', "[]"])
def test_a_notebook_that_cannot_be_read_plays_nothing(folder, text):
    (path,) = played(folder, {"x": flac()})
    notebook = folder / "notebooks" / "m" / "correctness_regression.ipynb"
    notebook.write_text(text)
    assert scenes(folder) == []


def test_no_media_at_all(folder):
    assert scenes(folder) == []


def scene(*seconds):
    sounds = tuple(Sound(f"{n}", "caption", flac(length, n)) for n, length in enumerate(seconds))
    return Scene("family", "title", "", sounds)


def test_what_fits_stays_as_it_is():
    given = [scene(1, 2)]
    assert fitting(given, 1_000_000) == given


def test_long_sounds_are_cut_and_say_so():
    given = [scene(0.5, 20)]
    room = 400_000
    ((short, long),) = [one.sounds for one in fitting(given, room)]
    assert short == given[0].sounds[0]
    signal, rate = soundfile.read(io.BytesIO(long.data), dtype="float32")
    whole, _ = soundfile.read(io.BytesIO(given[0].sounds[1].data), dtype="float32")
    assert (signal == whole[: len(signal)]).all()
    assert f"the first {len(signal) / rate:.1f} of 20.0 s" in long.caption
    assert short.size + long.size <= room


def test_what_would_be_too_short_is_left_out_from_the_end():
    given = [scene(2, 2), dataclasses.replace(scene(3, 3), title="last")]
    assert [one.title for one in fitting(given, 130_000)] == ["title"]
    assert fitting(given, 10_000) == []
