"""The sounds of the largest finding, bounded in length, and only what is what its name says."""

import io
import json
import re

import pytest
import soundfile
from played import flac, played
from tests.support.findings import OPEN
from tests.support.finished import FAILED, finished, verdict

from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet.sounds import LONGEST, model_scenes


@pytest.fixture
def folder(tmp_path, recorded):
    robustness = {"family": "robustness_noise", "category": "robustness", "test": "Unchanged Noise"}
    return finished(tmp_path, recorded, [verdict(**OPEN), verdict(**FAILED | robustness)])


def scenes(folder):
    return model_scenes(ModelFacts.read(folder))


def test_the_family_of_the_largest_finding_comes_first(folder):
    played(folder, {"x": flac(seed=1)})
    title = "a.wav under Noise: 0.1 → 0.9"
    played(folder, {"original": flac(), "noise": flac(seed=2)}, title, family="robustness_noise")
    first, second = scenes(folder)
    assert [sound.label for sound in first.sounds] == ["original", "noise"]
    assert first.title == f"Robustness noise: {title}" and "unchanged noise of arousal" in first.finding
    assert first.sounds[0].caption == "said; 1 s" and first.sounds[0].data == flac()
    assert second.finding == ""


def test_what_is_about_the_group_of_the_finding_comes_first(tmp_path, recorded):
    gap = {"family": "fairness_sex", "category": "fairness", "group": "sex: female", "against": "others"}
    folder = finished(tmp_path, recorded, [verdict(**FAILED | gap | {"matters": 0.05})])
    played(folder, {"x": flac()}, "men", family="fairness_sex")
    path = folder / "notebooks" / "m" / "fairness_sex.ipynb"
    other = path.read_text()
    played(folder, {"y": flac(seed=1)}, "women", family="fairness_sex", group="sex: female")
    cells = [json.loads(text)["cells"][1] for text in (other, path.read_text())]
    path.write_text(json.dumps({"cells": cells}))
    assert [scene.title for scene in scenes(folder)] == ["Fairness sex: women"]


def test_words_that_were_said_and_recognised(folder):
    played(folder, {"x": flac()}, words=[["said", "turn left now"], ["recognised", None]])
    assert scenes(folder)[0].words == (("said", "turn left now"), ("recognised", "(nothing)"))


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


def test_data_of_another_form_play_nothing(folder):
    played(folder, {"x": flac()}, words=1)
    assert scenes(folder) == []
    played(folder, {"x": flac()})
    notebook = folder / "notebooks" / "m" / "correctness_regression.ipynb"
    notebook.write_text(re.sub(r'"[0-9a-f]{20}\.flac"', '"../../x.flac"', notebook.read_text()))
    assert scenes(folder) == []


def test_long_sounds_are_cut_and_say_so(folder):
    played(folder, {"short": flac(1), "long": flac(20, seed=1)})
    short, long = scenes(folder)[0].sounds
    assert short.data == flac(1)
    signal, rate = soundfile.read(io.BytesIO(long.data), dtype="float32")
    whole, _ = soundfile.read(io.BytesIO(flac(20, seed=1)), dtype="float32")
    assert len(signal) == LONGEST * rate and (signal == whole[: len(signal)]).all()
    assert long.caption == "said; 1 s; the first 8 of 20.0 s"
