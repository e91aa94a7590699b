"""What models say of their own answers: read, refused, kept."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.models import answers
from soundcheck.models.answers import check_output, pack, unpack

EMOTION, AROUSAL = BUILTIN["emotion"], BUILTIN["arousal"]


def test_probabilities_name_the_likeliest_class_and_those_that_are_missing_have_none():
    answer, problem = check_output({"emotion": {"sadness": np.float32(0.75), "anger": 0.25}}, [EMOTION])
    assert not problem
    assert answer.pop("emotion") == "sadness"
    assert answer == {
        "emotion.anger": 0.25,
        "emotion.happiness": 0.0,
        "emotion.neutral": 0.0,
        "emotion.sadness": 0.75,
    }


def test_of_equal_probabilities_the_first_class_of_the_task_counts():
    answer, _ = check_output({"emotion": {"sadness": 0.5, "neutral": 0.5}}, [EMOTION])
    assert answer["emotion"] == "neutral"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"anger": 0.6, "sadness": 0.3}, "add up to 0.9 instead of 1"),
        ({"anger": 0.6, "sadness": 0.402}, "add up to 1.002 instead of 1"),
        ({}, "add up to 0 instead of 1"),
        ({"anger": 1.2, "sadness": -0.2}, "-0.2 among them, which is negative"),
        ({"anger": math.nan, "sadness": 1.0}, "anger: nan"),
        ({"anger": math.inf}, "infinite"),
        ({"anger": "much"}, "the text 'much', not a number"),
        ({"anger": True}, "True, not a number"),
        ({"angre": 1.0}, "unknown class 'angre' (Did you mean 'anger'?)"),
        ({"<b>": 1.0}, "unknown class '<b>'"),
        ({3: 1.0}, "unknown class '3'"),
    ],
)
def test_what_is_no_probability_is_no_answer(given, told):
    answer, problem = check_output({"emotion": given}, [EMOTION])
    assert answer == {}
    assert problem.startswith("emotion is ")
    assert told in problem


def test_probabilities_may_be_rounded():
    for total in (0.999, 1.001):
        assert check_output({"emotion": {"anger": total}}, [EMOTION])[1] == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"value": 0.5, "low": 0.7, "high": 0.4}, "whose low lies above its high"),
        ({"value": 0.5, "low": 0.4}, "without 'high'"),
        ({"low": 0.5, "high": 0.4}, "without 'value'"),
        ({"value": 0.5, "low": 0.1, "high": math.nan}, "high is nan"),
        ({"value": None, "low": 0.1, "high": 0.2}, "arousal is None"),
        ({"value": {"value": 1}, "low": 0.1, "high": 0.2}, "a dict of length 1"),
    ],
)
def test_what_is_no_interval_is_no_answer(given, told):
    answer, problem = check_output({"arousal": given}, [AROUSAL])
    assert answer == {}
    assert told in problem


@pytest.mark.parametrize("given", [1.01, -0.01, math.nan, "high", None, True])
def test_a_confidence_is_a_number_from_0_to_1(given):
    answer, problem = check_output({"transcript": "go", "confidence": given}, [BUILTIN["transcript"]])
    assert answer == {}
    assert problem.startswith("confidence is ")


def test_a_confidence_stands_beside_any_answer():
    answer, _ = check_output({"transcript": "go", "confidence": np.float64(1)}, [BUILTIN["transcript"]])
    assert answer == {"transcript": "go", "confidence": 1.0}


def test_a_task_of_that_name_is_a_task():
    task = Task("confidence", "regression", low=1, high=7)
    assert check_output({"confidence": 5}, [task]) == ({"confidence": 5.0}, "")
    assert answers.stated_names([task]) == ["confidence.low", "confidence.high"]


def test_answers_differ_in_what_they_say():
    tasks = [Task("pitch", "regression", low=0, high=10), EMOTION]
    one = {"pitch": 5.0, "pitch.low": 4.0, "pitch.high": 6.0, "emotion": "anger", "confidence": 0.5}
    assert answers.distance(one, one, tasks) == 0
    assert answers.distance(one, one | {"pitch.high": 7.0}, tasks) == pytest.approx(0.1)
    assert answers.distance(one, one | {"confidence": 0.9}, tasks) == pytest.approx(0.4)
    assert answers.distance(one, one | {"emotion.anger": 1.0}, tasks) == math.inf


TRANSCRIPT = BUILTIN["transcript"]


def words(*pairs, key="confidence"):
    return [{"word": word, key: sure} for word, sure in pairs]


@pytest.mark.parametrize("key", ["confidence", "probability", "conf"])
def test_words_are_kept_as_a_recogniser_gives_them(key):
    given = words((" Turn", np.float32(0.5)), ("left,", 1), key=key)
    answer, problem = check_output({"transcript": "Turn left", "words": given}, [TRANSCRIPT])
    assert not problem
    assert answer == {"transcript": "Turn left", "transcript.words": '[[" Turn", 0.5], ["left,", 1.0]]'}
    assert answers.stated_names([TRANSCRIPT]) == ["transcript.words", "confidence"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            words(("turn", 0.5), ("right", 0.5)),
            "do not join to the transcript: 'turn right' instead of 'turn l",
        ),
        (words(("turn", 0.5)), "do not join"),
        (words(("turn", 0.5), ("left", 0.5), ("<b>", 0.5)), "do not join"),
        (
            words(("turn", 1.5), ("left", 0.5)),
            "the word 'turn' with the confidence 1.5, not a number from 0 to 1",
        ),
        (words(("turn", -0.5), ("left", 0.5)), "confidence -0.5, not"),
        (words(("turn", 0.5), ("left", math.nan)), "'left' with the confidence nan, not"),
        (words(("turn", 0.5), ("left", None)), "'left' without a confidence, beside others"),
        (words(("turn", 0.5), ("left", "high")), "'left' with a confidence that is no number"),
        (words(("turn", True), ("left", 0.5)), "'turn' with a confidence that is no number"),
        ([*words(("turn", 0.5)), "left"], "words of which one has no text under 'word'"),
        ([*words(("turn", 0.5)), {"confidence": 0.5}], "words of which one has no text under 'word'"),
    ],
)
def test_words_that_cannot_be_are_no_answer(given, told):
    answer, problem = check_output({"transcript": "turn left", "words": given}, [TRANSCRIPT])
    assert answer == {}
    assert problem.startswith("the answer has ") and told in problem


@pytest.mark.parametrize(
    "given", [["turn", "left"], [{"word": "turn", "start": 0.5}], None, "turn", 3, [], {}]
)
def test_words_without_confidences_say_nothing(given):
    answer = check_output({"transcript": "turn left", "words": given}, [TRANSCRIPT])
    assert answer == ({"transcript": "turn left"}, "")


def test_answers_differ_in_words():
    one = {"transcript": "go", "transcript.words": '[["go", 0.5]]'}
    assert answers.distance(one, one | {"transcript.words": '[["go", 0.75]]'}, [TRANSCRIPT]) == 0.25
    assert answers.distance(one, one | {"transcript.words": '[["Go", 0.5]]'}, [TRANSCRIPT]) == math.inf
    assert answers.distance(one, {"transcript": "go"}, [TRANSCRIPT]) == math.inf


# Embeddings as text ---------------------------------------------------------------------------------------


@given(arrays.arrays(np.float32, st.integers(0, 20), elements=st.floats(width=32, allow_nan=False)))
def test_nothing_is_lost(vector):
    found = unpack(pack(vector))
    assert found.dtype == np.float32
    assert found.tobytes() == vector.tobytes()


def test_bytes_do_not_depend_on_the_machine():
    assert pack(np.array([1.0], dtype=">f4")) == pack(np.array([1.0])) == "AACAPw=="
