"""What notebooks are told: written and read whole, strict about what does not belong there."""

import dataclasses
import json
import os
from pathlib import Path

import pytest

from soundcheck.common.json_file import Description
from soundcheck.common.media import open_media
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation import Evaluation
from soundcheck.evaluation.description import ComparisonDescription, CorpusDescription, EvaluationDescription

CORPUS = CorpusDescription(
    **{"name": "c", "title": "C <b>", "synthetic": True, "blocks": ("speaker", "file")},
    **{"base_condition": "", "probes_of": "", "audio": True, "root": Path("/data"), "trials": None},
    **{"segments": Path("/out/c.parquet"), "predictions": Path(os.fsdecode(b"/out/\xff.parquet"))},
)
COMPARISON = ComparisonDescription(
    **{"comparison": "new against old", "baseline": "old", "candidate": "new", "titles": {"f": "F"}},
    **{"corpora": ((CORPUS, CORPUS),), "pairs": ((Path("a.json"), Path("b.json")),)},
    **{"tasks": (BUILTIN["arousal"],), "seed": 0, "replicates": 10, "interval": "bca"},
    **{"media": Path("/out/media"), "prefix": "../media/", "rows": Path("/out/rows.json")},
    normaliser="basic",
)


@pytest.fixture
def described(describe):
    trials = dataclasses.replace(CORPUS, trials=Path("/out/t.parquet"))
    tasks = (BUILTIN["emotion"], BUILTIN["valence"])
    return describe("fairness_sex", corpora=(CORPUS, trials), others={"other": (CORPUS,)}, tasks=tasks)


def test_what_is_read_is_what_was_written(tmp_path, described):
    for description in (described, COMPARISON):
        description.write(tmp_path / "run.json")
        assert type(description).read(str(tmp_path / "run.json")) == description
    assert described.tasks[0].classes == ("anger", "happiness", "neutral", "sadness")


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        ((), "colour", "red"),
        (("corpora", 0), "colour", "red"),
        (("tasks", 0), "colour", "red"),
        ((), "seed", "many"),
        (("corpora", 0), "blocks", "speaker"),  # a text is not a list of columns
        ((), "family", None),
    ],
)
def test_what_does_not_belong_there_is_refused_by_name(tmp_path, described, place, key, value):
    described.write(tmp_path / "run.json")
    content = json.loads((tmp_path / "run.json").read_text())
    inner = content
    for step in place:
        inner = inner[step]
    inner[key] = value
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=key):
        EvaluationDescription.read(str(tmp_path / "run.json"))


def test_a_notebook_is_not_started_by_hand():
    for load in (Evaluation.load, Description.read, open_media):
        with pytest.raises(ValueError, match="run by `soundcheck run`"):
            load("")
