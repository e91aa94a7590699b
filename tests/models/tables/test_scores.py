"""Scores from a file: for the trials of corpora, none missing, none twice."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.models.tables.scores import SCORE, ScoreModel
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite


def corpus(*pairs, name="voices", listed=None):
    """Make a corpus with trials of (number in the list, enrolled, tested)."""
    numbers, enrol, test = zip(*pairs, strict=True)
    frame = pd.DataFrame({"key": [str(n) for n in numbers], "enrol": enrol, "test": test}, dtype=object)
    frame["enrolment"], frame["segment"] = np.arange(len(frame)), 0
    members = np.zeros(len(frame), dtype=np.int64)
    table = TrialTable(frame, members, np.arange(len(frame)), "list", listed=listed or len(frame))
    entry = CorpusEntry(name, "csv", trials="somewhere")
    segments = pd.DataFrame({"audio": [f"a sound of {name}"]})
    return SimpleNamespace(name=name, entry=entry, trials=table, segments=segments)


@pytest.fixture
def load(tmp_path):
    def load(text, **entry):
        path = tmp_path / "scores.txt"
        path.write_text(text)
        suite = Suite("t", 0, 100, "percentile", (), {}, {}, dict(BUILTIN), tmp_path, tmp_path / "suite.yml")
        return ScoreModel.load(
            ModelEntry("theirs", "scores", "scores.txt", ("embedding",), path=path, **entry), suite
        )

    return load


VOICES = corpus((0, "a", "b"), (1, "a", "c"))


def test_scores_find_their_trials(load):
    model = load("0.25 a c\n-1.5 a b\n")
    answers, problems = model.look_up(VOICES, "")
    assert answers["score"].tolist() == [-1.5, 0.25]
    assert problems == ["", ""]
    assert [(asked.key, asked.shown) for asked in model.asked(VOICES)] == [
        ("0", "a with b"),
        ("1", "a with c"),
    ]
    assert model.table_tasks([BUILTIN["embedding"]]) == (SCORE,)
    assert model.notices([VOICES]) == []
    with pytest.raises(ValueError, match="changed signals"):
        model.look_up(VOICES, "noise")


def test_one_score_a_line_counts_trials_that_are_left_out(load):
    left = corpus((0, "a", "b"), (2, "a", "c"), listed=3)
    assert load("1\n2\n3\n").look_up(left, "")[0]["score"].tolist() == [1.0, 3.0]
    with pytest.raises(InputError, match="2 scores without names, the list 3 trials"):
        load("1\n2\n").notices([left])


def test_columns_that_are_not_used_are_named(load):
    assert load("a b 7 0.7\na c 2 0.2\n", corpora=("voices",)).notices([VOICES]) == [
        "scores.txt is read as lines `enrol test 0.107 ...`; other columns are not used"
    ]


def test_scores_of_no_trial_are_counted(load):
    other = corpus((0, "d", "e"), name="others")
    model = load("1 a b\n2 a c\n3 d e\n4 x y\n")
    assert model.notices([VOICES, other]) == ["1 score belongs to no trial that is evaluated"]
    assert load("1 a b\n2 a c\n3 d e\n", corpora=("voices",)).notices([VOICES, other]) == [
        "1 score belongs to no trial that is evaluated"
    ]


def test_numbers_without_names_are_for_one_corpus(load):
    with pytest.raises(InputError, match=r"several corpora have trials. Name .* corpora: \[voices\]"):
        load("1\n2\n").notices([VOICES, corpus((0, "a", "b"), (1, "a", "c"), name="others")])


def test_distances_are_turned(load):
    model = load("0.25 a c\n1.5 a b\n", options={"distances": True})
    assert model.look_up(VOICES, "")[0]["score"].tolist() == [-1.5, -0.25]
    assert model.fingerprint != load("0.25 a c\n1.5 a b\n").fingerprint


def test_the_fingerprint_is_that_of_the_file(load):
    assert load("1 a b\n").fingerprint == load("1 a b\n").fingerprint != load("2 a b\n").fingerprint
