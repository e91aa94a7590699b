import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.answers import TEXT_LIMIT, VECTOR_LIMIT, check_output, example, unpack
from soundcheck.models.base import reason

AROUSAL = [BUILTIN["arousal"]]
EMOTION = [BUILTIN["emotion"]]
BOTH = [*AROUSAL, *EMOTION]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.25, 0.25),
        (1, 1.0),
        (np.float32(0.25), 0.25),
        (np.int8(1), 1.0),
        (np.array(0.25), 0.25),
        (Fraction(1, 4), 0.25),
        (7.5, 7.5),  # out of the nominal range: kept
        (-3, -3.0),
    ],
)
def test_numbers(value, number):
    answer, problem = check_output({"arousal": value, "further": object()}, AROUSAL)
    assert problem == ""
    assert answer == {"arousal": number}
    assert type(answer["arousal"]) is float


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "nan"),
        (np.float32("nan"), "nan"),
        (float("inf"), "infinite"),
        (-np.inf, "infinite"),
        (10**400, "infinite"),
        (True, "True, not a number"),
        (np.True_, "True, not a number"),
        (np.array([0.5]), r"an array of shape \(1,\)"),
        ([0.5], "a list of length 1"),
        ("0.5", "the text '0.5'"),
        (None, "None"),
        (1 + 2j, "not a number"),
        (np.array("a"), "the text 'a'"),
    ],
)
def test_no_numbers(value, words):
    answer, problem = check_output({"arousal": value}, AROUSAL)
    assert answer == {}
    with pytest.raises(ValueError, match=f"^arousal is .*{words}"):
        raise ValueError(problem)


@pytest.mark.parametrize("value", ["anger", np.str_("anger"), np.array("anger")])
def test_classes(value):
    assert check_output({"emotion": value}, EMOTION) == ({"emotion": "anger"}, "")


def test_class_can_be_written_and_is_bounded():
    answer, problem = check_output({"emotion": "\ud800" + "a" * 1_000_000}, EMOTION)
    assert problem == ""
    assert len(answer["emotion"].encode("utf-8")) < 300


@pytest.mark.parametrize("value", [None, 1, 0.5, b"anger", ["anger"], True])
def test_no_classes(value):
    answer, problem = check_output({"emotion": value}, EMOTION)
    assert answer == {}
    assert "not the name of a class" in problem


@pytest.mark.parametrize("output", [None, 0.5, [0.5], np.array([0.5]), "anger", ("arousal", 0.5)])
def test_no_dict(output):
    answer, problem = check_output(output, BOTH)
    assert answer == {}
    assert "expected is a dict such as {'arousal': 0.5, 'emotion': 'anger'}" in problem


def test_wrong_key_names_what_came_and_what_was_meant():
    _, problem = check_output({"Arousal": 0.5, "x": 1}, AROUSAL)
    assert "no key 'arousal'" in problem
    assert "its keys: 'Arousal', 'x'" in problem
    assert "Did you mean 'Arousal' instead of 'arousal'?" in problem
    assert "{'arousal': 0.5}" in problem


def test_one_problem_spoils_the_whole_answer_and_all_are_told():
    answer, problem = check_output({"arousal": None, "emotion": 3}, BOTH)
    assert answer == {}
    assert "arousal is" in problem
    assert "emotion is" in problem


def test_reason_has_no_folders_and_one_line(tmp_path):
    root = tmp_path / "it's a däta folder"
    text = f"cannot read '{root}/weights/a.npz'\nnor /opt/models/v1/b.npz"
    assert reason(OSError(text), root) == "OSError: cannot read 'weights/a.npz' nor b.npz"


def test_reason_is_bounded_and_survives_everything():
    class OddError(Exception):
        def __str__(self):
            raise RuntimeError

    assert reason(OddError(), Path("/")) == "OddError"
    assert len(reason(ValueError("a" * 10**6), Path("/"))) <= 300
    assert reason(ValueError("\ud800"), Path("/")).encode("utf-8")


TRANSCRIPT = [BUILTIN["transcript"]]


def test_transcripts_are_kept_as_they_are():
    for text in ("", "turn left", "<b>Turn</b> 左\x07", np.str_("go"), "x" * TEXT_LIMIT):
        assert check_output({"transcript": text}, TRANSCRIPT) == ({"transcript": str(text)}, "")
    answer, problem = check_output({"transcript": "\ud800"}, TRANSCRIPT)
    assert not problem and answer["transcript"].encode()  # can be written to a file
    assert repr(example(TRANSCRIPT)) == "{'transcript': 'turn left'}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "transcript is None, not a text"),
        (["turn", "left"], "transcript is a list of length 2, not a text"),
        ("x" * (TEXT_LIMIT + 1), f"{TEXT_LIMIT + 1} characters; at most {TEXT_LIMIT} are a transcript"),
    ],
)
def test_no_transcripts(text, words):
    answer, problem = check_output({"transcript": text}, TRANSCRIPT)
    assert answer == {} and words in problem


EMBEDDING = [BUILTIN["embedding"]]


class Tensor:
    """Like a tensor that can still be trained."""

    def __init__(self, values):
        self.values, self.shape = values, np.shape(values)

    def detach(self):
        return self

    def cpu(self):
        return np.asarray(self.values)


@pytest.mark.parametrize(
    "vector",
    [[3.0, -4.0], (3, -4), np.array([[3.0, -4.0]]), np.array([3, -4], dtype=np.int8), Tensor([3.0, -4.0])],
)
def test_embeddings_are_kept_as_single_precision(vector):
    answer, problem = check_output({"embedding": vector}, EMBEDDING)
    assert not problem
    assert unpack(answer["embedding"]).tolist() == [3.0, -4.0]
    assert json.loads(json.dumps(answer)) == answer  # travels as plain text


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        (None, "embedding is None, not a vector of numbers"),
        (0.5, "embedding is 0.5, not a vector of numbers"),
        ("0.1 0.2", "embedding is the text '0.1 0.2', not a vector of numbers"),
        ([True, False], "embedding is a list of length 2, not a vector of numbers"),
        ([[0.1, 0.2], [0.3]], "embedding is a list of length 2, not a vector of numbers"),
        (np.ones((2, 3)), "embedding is an array of shape (2, 3), not a vector of numbers"),
        ([], "embedding is an empty vector"),
        (np.zeros(4), "embedding is a vector of zeros, which has no direction"),
        ([1e-60, 0.0], "embedding is a vector of zeros, which has no direction"),
        ([np.nan, 1.0, np.nan], "embedding is a vector with 2 nan among 3 numbers"),
        ([1.0, np.inf], "embedding is a vector with 1 infinite among 2 numbers"),
        ([1.0, 1e300], "embedding is a vector with 1 infinite among 2 numbers"),
        (np.ones(VECTOR_LIMIT + 1), f"a vector of {VECTOR_LIMIT + 1} numbers; at most {VECTOR_LIMIT} are"),
    ],
)
def test_no_embeddings(vector, words):
    answer, problem = check_output({"embedding": vector}, EMBEDDING)
    assert answer == {} and words in problem
