"""The sounds of the largest finding, bounded in length, and only what is what its name says."""

import base64
import io
import json
import re

import pytest
import soundfile
from played import flac, played
from tests.support.findings import GAP, OPEN
from tests.support.finished import FAILED, finished, verdict

from soundcheck.publish.sheet.sounds import LONGEST, carried, model_scenes
from soundcheck.results.facts import ModelFacts


@pytest.fixture
def folder(tmp_path, recorded):
    robustness = {"family": "robustness_noise", "category": "robustness", "test": "Unchanged Noise"}
    rows = verdict(**OPEN), verdict(**FAILED | robustness), verdict(**GAP)
    return finished(tmp_path, recorded, rows)


def scenes(folder):
    return model_scenes(ModelFacts.read(folder))


def test_the_family_of_the_largest_finding_comes_first(folder):
    played(folder, {"x": flac(seed=1)})
    title = "a.wav under Noise: 0.1 → 0.9"
    played(folder, {"original": flac(), "noise": flac(seed=2)}, title, family="robustness_noise")
    first, second = scenes(folder)
    assert [sound.label for sound in first.sounds] == ["original", "noise"]
    assert first.title == f"Robustness noise: {title}" and "unchanged noise of arousal" in first.finding
    assert first.sounds[0].caption == "said; 1 s" and first.sounds[0].sound == carried("audio/flac", flac())
    assert second.finding == ""


def test_what_is_about_the_group_of_the_finding_comes_first(folder):
    cells, path = [], folder / "notebooks" / "m" / "fairness_accent.ipynb"
    for title, group in {"irish": "accent: irish", "german": GAP["group"]}.items():
        played(folder, {title: flac()}, title, group=group, family="fairness_accent")
        cells.append(json.loads(path.read_text())["cells"][1])
    path.write_text(json.dumps({"cells": cells}))
    assert [scene.title for scene in scenes(folder)] == ["Fairness accent: german"]


def test_a_sound_that_was_changed_or_linked_is_not_played(folder, tmp_path):
    (path,) = played(folder, {"x": flac()}, words=[["said", "turn left now"], ["recognised", None]])
    assert scenes(folder)[0].words == (("said", "turn left now"), ("recognised", "(nothing)"))
    path.write_bytes(flac(seed=9))
    assert scenes(folder) == []
    path.write_bytes(flac())
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert scenes(folder) == []


@pytest.mark.parametrize("text", ["{", '{"cells": 1}', '{"cells": [{"outputs": [1]}]}', "words", "outside"])
def test_a_notebook_of_another_form_plays_nothing(folder, text):
    played(folder, {"x": flac()}, **({"words": 1} if text == "words" else {}))
    notebook = folder / "notebooks" / "m" / "correctness_regression.ipynb"
    outside = re.sub(r'"[0-9a-f]{20}\.flac"', '"../../x.flac"', notebook.read_text())
    notebook.write_text({"words": notebook.read_text(), "outside": outside}.get(text, text))
    assert scenes(folder) == []


def test_long_sounds_are_cut_and_say_so(folder):
    played(folder, {"short": flac(1), "long": flac(20, seed=1)})
    short, long = scenes(folder)[0].sounds
    assert short.sound == carried("audio/flac", flac(1))
    cut = base64.b64decode(long.sound.partition(",")[2])
    (signal, rate), (whole, _) = (soundfile.read(io.BytesIO(data)) for data in (cut, flac(20, seed=1)))
    assert len(signal) == LONGEST * rate and (signal == whole[: len(signal)]).all()
    assert long.caption == "said; 1 s; the first 8 of 20.0 s"
