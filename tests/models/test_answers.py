"""What models return and say of their own predictions, and classes that their labels mean."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from soundcheck.common.messages import InputError
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.models import answers
from soundcheck.models.answers import TEXT_LIMIT, VECTOR_LIMIT, check_output, example, pack, unpack
from soundcheck.models.base import reason
from soundcheck.models.library_model import class_answers, classes_of, meant

AROUSAL, EMOTION, TRANSCRIPT, EMBEDDING = (
    BUILTIN[name] for name in ("arousal", "emotion", "transcript", "embedding")
)


class Tensor:
    """Like a tensor that can still be trained."""

    def __init__(self, values):
        self.values, self.shape = values, np.shape(values)

    def detach(self):
        return self

    def cpu(self):
        return np.asarray(self.values)


def words(*pairs):
    return [{"word": word, "confidence": sure} for word, sure in pairs]


VECTOR = pack(np.array([3.0, -4.0]))  # travels as plain text


@pytest.mark.parametrize(
    ("task", "value", "stored"),
    [
        (AROUSAL, 1, 1.0),
        (AROUSAL, np.float16(0.1), 0.1),  # as its shortest decimal
        (AROUSAL, np.array(0.25), 0.25),
        (AROUSAL, Fraction(1, 4), 0.25),
        (AROUSAL, 7.5, 7.5),  # out of the nominal range: kept
        (EMOTION, np.str_("anger"), "anger"),
        *((TRANSCRIPT, text, text) for text in ("", "<b>Turn</b> 左\x07", "x" * TEXT_LIMIT)),
        *((EMBEDDING, vector, VECTOR) for vector in ((3, -4), np.array([[3.0, -4.0]]), Tensor([3, -4]))),
    ],
)
def test_predictions_are_kept_as_plain_values(task, value, stored):
    answer, problem = check_output({task.name: value, "further": object()}, [task])
    assert (answer, problem) == ({task.name: stored}, "")
    assert type(answer[task.name]) is type(stored)


def test_classes_and_transcripts_can_be_written_and_are_bounded():
    output = {"emotion": "\ud800" + "a" * 10**6, "transcript": "\ud800"}
    answer, problem = check_output(output, [EMOTION, TRANSCRIPT])
    assert not problem and all(len(text.encode("utf-8")) < 300 for text in answer.values())


@given(arrays.arrays(np.float32, st.integers(0, 20), elements=st.floats(width=32, allow_nan=False)))
def test_nothing_of_an_embedding_is_lost(vector):
    assert unpack(pack(vector)).dtype == np.float32
    assert unpack(pack(vector)).tobytes() == vector.tobytes()
    assert pack(np.array([1.0], dtype=">f4")) == pack(np.array([1.0])) == "AACAPw=="  # on any machine


def test_probabilities():
    for probabilities, likeliest, shares in (
        ({"sadness": np.float32(0.75), "anger": 0.25}, "sadness", [0.25, 0.0, 0.0, 0.75]),
        ({"sadness": 0.5, "neutral": 0.5}, "neutral", [0.0, 0.0, 0.5, 0.5]),  # the first of the classes
        ({"anger": 0.999}, "anger", [0.999, 0.0, 0.0, 0.0]),  # they may be rounded
    ):
        expected = {f"emotion.{name}": share for name, share in zip(EMOTION.classes, shares, strict=True)}
        assert check_output({"emotion": probabilities}, [EMOTION]) == ({"emotion": likeliest} | expected, "")


def test_words_are_kept_as_a_recogniser_gives_them():
    given = [{"word": " Turn", "conf": np.float32(0.5)}, {"word": "left,", "probability": 1}]
    output = {"transcript": "Turn left", "words": given, "confidence": np.float64(1)}
    stored = {"transcript.words": '[[" Turn", 0.5], ["left,", 1.0]]', "confidence": 1.0}
    assert check_output(output, [TRANSCRIPT]) == ({"transcript": "Turn left"} | stored, "")
    assert answers.stated_names([TRANSCRIPT]) == list(stored)


@pytest.mark.parametrize("given", [["turn", "left"], [{"word": "turn", "start": 0.5}], None])
def test_words_without_confidences_say_nothing(given):
    output = {"transcript": "turn left", "words": given}
    assert check_output(output, [TRANSCRIPT]) == ({"transcript": "turn left"}, "")


def test_a_task_called_confidence_is_a_task():
    task = Task("confidence", "regression", low=1, high=7)
    assert check_output({"confidence": 5}, [task]) == ({"confidence": 5.0}, "")


NO_PREDICTIONS = {
    AROUSAL: [
        (math.nan, "is nan"),
        (-np.inf, "is infinite"),
        (10**400, "is infinite"),
        (True, "is True, not a number"),
        (np.array([0.5]), "is an array of shape (1,)"),
        ("0.5", "is the text '0.5'"),
        ({"value": 0.5, "low": 0.7, "high": 0.4}, "whose low lies above its high"),
        ({"value": 0.5, "low": 0.4}, "without 'high'"),
        ({"value": 0.5, "low": 0.1, "high": math.nan}, "high is nan"),
    ],
    EMOTION: [
        *((value, "not the name of a class") for value in (None, 0.5, ["anger"])),
        ({"anger": 0.6, "sadness": 0.3}, "add up to 0.9 instead of 1"),
        ({"anger": 0.6, "sadness": 0.402}, "add up to 1.002 instead of 1"),
        ({}, "add up to 0 instead of 1"),
        ({"anger": 1.2, "sadness": -0.2}, "-0.2 among them, which is negative"),
        ({"anger": math.nan, "sadness": 1.0}, "anger: nan"),
        ({"anger": True}, "True, not a number"),
        ({"angre": 1.0}, "unknown class 'angre' (Did you mean 'anger'?)"),
    ],
    TRANSCRIPT: [
        (None, "is None, not a text"),
        ("x" * (TEXT_LIMIT + 1), f"{TEXT_LIMIT + 1} characters; at most {TEXT_LIMIT} are a transcript"),
    ],
    EMBEDDING: [
        ([True, False], "is a list of length 2, not a vector of numbers"),
        ([[0.1, 0.2], [0.3]], "is a list of length 2, not a vector of numbers"),
        (np.ones((2, 3)), "is an array of shape (2, 3), not a vector of numbers"),
        ([], "is an empty vector"),
        ([1e-60, 0.0], "is a vector of zeros, which has no direction"),
        ([np.nan, 1.0, np.nan], "is a vector with 2 nan among 3 numbers"),
        ([1.0, 1e300], "is a vector with 1 infinite among 2 numbers"),
        (np.ones(VECTOR_LIMIT + 1), f"a vector of {VECTOR_LIMIT + 1} numbers; at most {VECTOR_LIMIT} are"),
    ],
}
ROWS = [({task.name: given}, task, why) for task, rows in NO_PREDICTIONS.items() for given, why in rows]
SURE = [
    *(({"confidence": number}, "confidence is ") for number in (1.01, -0.01, math.nan, "high")),
    ({"words": words(("turn", 0.5), ("right", 0.5))}, "do not join to the transcript: 'turn right' instead"),
    ({"words": words(("turn", 1.5), ("left", 0.5))}, "'turn' with the confidence 1.5, not a number from 0"),
    ({"words": words(("turn", 0.5), ("left", math.nan))}, "'left' with a confidence that is nan"),
    ({"words": words(("turn", 0.5), ("left", None))}, "'left' without a confidence, beside others"),
    ({"words": [*words(("left", 0.5)), "turn"]}, "words of which one has no text under 'word'"),
]
ROWS += [({"transcript": "turn left"} | given, TRANSCRIPT, why) for given, why in SURE]


@pytest.mark.parametrize(
    ("output", "task", "why"), ROWS, ids=[f"{row[1].name} {row[2][:30]}" for row in ROWS]
)
def test_no_predictions(output, task, why):
    answer, problem = check_output(output, [task])
    assert answer == {}
    assert problem.startswith((f"{task.name} is ", "confidence is ", "the prediction has "))
    assert why in problem


@pytest.mark.parametrize("output", [None, np.array([0.5]), "anger"])
def test_no_dict(output):
    answer, problem = check_output(output, [AROUSAL, EMOTION])
    assert answer == {} == check_output({"arousal": 0.5, "emotion": 3}, [AROUSAL, EMOTION])[0]
    assert "expected is a dict such as {'arousal': 0.5, 'emotion': 'anger'}" in problem
    assert repr(example([TRANSCRIPT])) == "{'transcript': 'turn left'}"


def test_wrong_key_names_what_came_and_what_was_meant():
    _, problem = check_output({"Arousal": 0.5, "x": 1}, [AROUSAL])
    assert "no key 'arousal'" in problem and "its keys: 'Arousal', 'x'" in problem
    assert "Did you mean 'Arousal' instead of 'arousal'?" in problem and "{'arousal': 0.5}" in problem


PITCH = Task("pitch", "regression", low=0, high=10)
NUMBERS = {"pitch": 5.0, "pitch.low": 4.0, "pitch.high": 6.0, "emotion": "anger", "confidence": 0.5}
GO = {"transcript": "go", "transcript.words": '[["go", 0.5]]'}


def test_distance_of_what_is_said():
    for one, other, tasks, distance in (
        (NUMBERS, NUMBERS, [PITCH, EMOTION], 0),
        (NUMBERS, NUMBERS | {"pitch.high": 7.0}, [PITCH, EMOTION], 0.1),
        (NUMBERS, NUMBERS | {"confidence": 0.9}, [PITCH, EMOTION], 0.4),
        (NUMBERS, NUMBERS | {"emotion.anger": 1.0}, [PITCH, EMOTION], math.inf),
        (GO, GO | {"transcript.words": '[["go", 0.75]]'}, [TRANSCRIPT], 0.25),
        (GO, GO | {"transcript.words": '[["Go", 0.5]]'}, [TRANSCRIPT], math.inf),
        (GO, {"transcript": "go"}, [TRANSCRIPT], math.inf),
    ):
        assert answers.distance(one, other, tasks) == pytest.approx(distance)


def test_reason_has_no_folders_and_one_line_is_bounded_and_survives_everything(tmp_path):
    root = tmp_path / "it's a däta folder"
    text = f"cannot read '{root}/weights/a.npz'\nnor /opt/models/v1/b.npz"
    assert reason(OSError(text), root) == "OSError: cannot read 'weights/a.npz' nor b.npz"
    odd = type("OddError", (Exception,), {"__str__": lambda self: 1 / 0})
    assert reason(odd(), Path("/")) == "OddError"
    assert len(reason(ValueError("a" * 10**6), Path("/"))) <= 300
    assert reason(ValueError("\ud800"), Path("/")).encode("utf-8")


CLASSES = BUILTIN["emotion"]


def test_labels_may_differ_in_case_and_the_suite_says_what_they_mean():
    mapping = {"ang": "anger", "oth": "", "sadness": "neutral"}
    classes = classes_of(["ang", "oth", "sadness", "HAPPINESS"], CLASSES, mapping, "here")
    assert classes == ["anger", "", "neutral", "happiness"]
    assert [meant(label, ["joy", "Joy"], {}) for label in ("JOY", "Joy")] == [None, "Joy"]


def test_all_labels_that_nobody_knows_are_named():
    with pytest.raises(InputError) as caught:
        classes_of(["angr", "joy", "sad"], CLASSES, {"sad": "sadnes"}, "here")
    one, two, three = (str(problem) for problem in caught.value.problems)
    assert "here: the label 'angr' of the model is no class of emotion" in one
    assert "labels: {angr: ...}" in one and "Did you mean 'anger'?" in one
    assert "the label 'joy'" in two and "labels: {joy: happiness}" in two
    assert "which is to mean 'sadnes', is no class of emotion" in three
    with pytest.raises(InputError, match="none of the model's labels means a class of emotion"):
        classes_of(["a", "b"], CLASSES, {"a": "", "b": ""}, "here")


def test_the_best_of_those_that_count(rng):
    names = ["dog", "", "cow", "cat"]
    scores = rng.normal(size=(50, 4))
    predictions = class_answers(scores, names)
    for row, name in zip(scores, predictions, strict=True):
        assert name == max((row[place], names[place]) for place in (0, 2, 3))[1]
    ties = np.array([[1.0, 9.0, 0.5, 0.0], [2.0, 0.0, 2.0, 0.0], [-np.inf, 0.0, -3.0, -4.0]])
    assert class_answers(ties, names) == ["dog", "dog", "cow"]


@pytest.mark.parametrize("how", ["softmax", "given"])
def test_probabilities_are_those_of_what_counts(rng, how):
    names, logits = ["dog", "", "cow", "cat", "cow"], rng.normal(size=(40, 5)) * 3
    shares = np.array([[math.exp(logit) / sum(map(math.exp, row)) for logit in row] for row in logits])
    predictions = class_answers(logits if how == "softmax" else shares, names, how)
    for row, probabilities in zip(shares, predictions, strict=True):
        rest = 1 - row[1]
        expected = {"dog": row[0] / rest, "cow": (row[2] + row[4]) / rest, "cat": row[3] / rest}
        assert probabilities == pytest.approx(expected) and sum(probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize("how", [None, "softmax"])
def test_scores_that_are_none_give_no_class(how):
    rows = np.array([[np.nan, 1.0, 0.0], [np.inf, 1.0, 0.0], [-np.inf, -np.inf, 0.0]])
    assert np.isnan(class_answers(rows, ["a", "b", ""], how)).all()
    assert np.isnan(class_answers(np.array([[0.0, 1.0]]), ["a", ""], "given")[0])  # only what is left out
