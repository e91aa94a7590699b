"""Scores from a file: for the trials of corpora, none missing, none twice."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from answer_files import suite_of

from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.trials.trial_table import TrialTable
from soundcheck.models.tables.rows import SCORE, ScoreModel
from soundcheck.suite.entries import CorpusEntry, ModelEntry


def corpus(*pairs, name="voices", numbers=None, listed=None, sound=""):
    """Make a corpus with trials of (enrolled, tested), all of target speakers."""
    names = list(dict.fromkeys(file for pair in pairs for file in pair))
    numbers = numbers or range(len(pairs))
    frame = pd.DataFrame(pairs, columns=["enrol", "test"], dtype=object).assign(target=True)
    frame["key"] = [str(number) for number in numbers]
    frame["enrolment"], frame["segment"] = np.arange(len(frame)), [names.index(test) for _, test in pairs]
    members = np.array([names.index(enrol) for enrol, _ in pairs])
    table = TrialTable(frame, members, np.arange(len(frame)), "list", listed=listed or len(frame))
    segments = pd.DataFrame({"audio": [f"{sound or name} {file}" for file in names]})
    entry = CorpusEntry(name, "csv", trials="somewhere")
    return SimpleNamespace(name=name, entry=entry, trials=table, segments=segments)


VOICES = corpus(("a", "b"), ("a", "c"))
OTHERS = corpus(("d", "e"), name="others")


@pytest.fixture
def load(tmp_path):
    def load(text, **entry):
        path = tmp_path / "scores.txt"
        path.write_text(text)
        entry = ModelEntry("theirs", "scores", path.name, ("embedding",), path=path, **entry)
        return ScoreModel.load(entry, suite_of(tmp_path))

    return load


def scores(model: ScoreModel, where=VOICES) -> list[float]:
    return model.look_up(where, "")[0]["score"].tolist()


def test_scores_find_their_trials(load):
    model = load("0.25 a c\n-1.5 a b\n")
    assert scores(model) == [-1.5, 0.25] and model.look_up(VOICES, "")[1] == ["", ""]
    assert model.input_keys(VOICES).tolist() == ["0", "1"]
    assert model.table_tasks([BUILTIN["embedding"]]) == (SCORE,)
    assert model.notices([VOICES]) == model.notices([]) == []
    assert model.fingerprint == load("0.25 a c\n-1.5 a b\n").fingerprint
    assert model.fingerprint != load("0.26 a c\n-1.5 a b\n").fingerprint


def test_distances_are_turned(load):
    model = load("0.25 a c\n1.5 a b\n", options={"distances": True})
    assert scores(model) == [-1.5, -0.25]
    assert model.fingerprint != load("0.25 a c\n1.5 a b\n").fingerprint


def test_one_score_a_line_counts_trials_that_are_left_out(load):
    left = corpus(("a", "b"), ("a", "c"), numbers=(0, 2), listed=3)
    assert scores(load("1\n2\n3\n"), left) == [1.0, 3.0]


ALSO = corpus(("a", "b"), ("a", "c"), name="also", sound="voices")
OTHERWISE = ["1 name in scores.txt is not written like its file"] * 2
EXTRA = ["1 score belongs to no trial that is evaluated"]


def test_notices_of_scores(load):
    for text, corpora, only, expected in (
        ("1 a b\n2 a c\n3 d e\n4 x y\n", [VOICES, OTHERS], (), EXTRA),
        ("1 a b\n2 a c\n3 d e\n", [VOICES, OTHERS], ("voices",), EXTRA),
        ("1 enroll/id1.wav id1-a\n", [corpus(("id1", "test/id1-a.wav"))], (), OTHERWISE),
        ("1 a b\n2 a c\n", [VOICES, ALSO], (), []),  # the same sounds
        ("a b 0.7 target\na c 0.2 tgt\n", [VOICES], (), []),
        ("a b 7 0.7\na c 2 0.2\n", [VOICES], (), ["scores.txt is read as lines `enrol test 0.107 ...`; "]),
    ):
        notices = load(text, corpora=only).notices(corpora)
        assert [notice[: len(one)] for notice, one in zip(notices, expected, strict=True)] == expected


TWINS = [VOICES, corpus(("a", "b"), ("a", "c"), name="others")]


def test_scores_that_do_not_fit_the_trials_are_refused(load):
    for text, corpora, words in (
        ("1\n2\n", [corpus(("a", "b"), listed=3)], "2 scores without names, the list 3 trials. Give one"),
        ("1\n2\n", TWINS, r"models.theirs: .*several corpora have trials. Name .* corpora: \[voices\]"),
        ("0.7 a b\n0.1 a c\n", TWINS, r"scores.txt line 1: .*several sounds.*`corpora: \[voices\]`"),
        ("1 a b\n", [VOICES], "scores.txt: no score for the trial 'a' 'c'. Add a line"),
        ("1 a x\n2 a y\n", [VOICES], "scores.txt line 1: no score belongs to a trial: .*'a' 'x', .*'a' 'b'"),
        ("a b 0.7 target\na c 0.2 nontarget\n", [VOICES], "line 2: the label beside the score is not that"),
        ("1 a b\n", [SimpleNamespace(name="x", entry=CorpusEntry("x", "csv"))], "no corpus .* trials. Add"),
    ):
        with pytest.raises(InputError, match=words):
            load(text).notices(corpora)
