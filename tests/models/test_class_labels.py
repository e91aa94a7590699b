"""Labels of models and the classes that they mean."""

import math

import numpy as np
import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.library_model import class_answers, classes_of, meant

EMOTION = BUILTIN["emotion"]


def test_labels_may_differ_in_case_and_the_suite_says_what_they_mean():
    mapping = {"ang": "anger", "oth": "", "sadness": "neutral"}
    classes = classes_of(["ang", "oth", "sadness", "HAPPINESS"], EMOTION, mapping, "here")
    assert classes == ["anger", "", "neutral", "happiness"]
    assert [meant(label, ["joy", "Joy"], {}) for label in ("JOY", "Joy")] == [None, "Joy"]


def test_all_labels_that_nobody_knows_are_named():
    with pytest.raises(InputError) as caught:
        classes_of(["angr", "joy", "sad"], EMOTION, {"sad": "sadnes"}, "here")
    one, two, three = (str(problem) for problem in caught.value.problems)
    assert "here: the label 'angr' of the model is no class of emotion" in one
    assert "labels: {angr: ...}" in one and "Did you mean 'anger'?" in one
    assert "the label 'joy'" in two and "labels: {joy: happiness}" in two
    assert "the label 'sad' is to mean 'sadnes', no class of emotion" in three
    with pytest.raises(InputError, match="none of the model's labels means a class of emotion"):
        classes_of(["a", "b"], EMOTION, {"a": "", "b": ""}, "here")


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
    shares = np.array([[math.exp(one) / sum(map(math.exp, row)) for one in row] for row in logits])
    predictions = class_answers(logits if how == "softmax" else shares, names, how)
    for row, one in zip(shares, predictions, strict=True):
        rest = 1 - row[1]
        expected = {"dog": row[0] / rest, "cow": (row[2] + row[4]) / rest, "cat": row[3] / rest}
        assert one == pytest.approx(expected) and sum(one.values()) == pytest.approx(1)


@pytest.mark.parametrize("how", [None, "softmax"])
def test_scores_that_are_none_give_no_class(how):
    rows = np.array([[np.nan, 1.0, 0.0], [np.inf, 1.0, 0.0], [-np.inf, -np.inf, 0.0]])
    assert np.isnan(class_answers(rows, ["a", "b", ""], how)).all()
    assert np.isnan(class_answers(np.array([[0.0, 1.0]]), ["a", ""], "given")[0])  # only what is left out
