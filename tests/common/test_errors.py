"""Problems are collected, shown at once, and survive a trip to another process."""

import pickle

import pytest

from soundcheck.common.errors import InputError, Problem, Problems, input_error


def test_a_problem_is_one_sentence_with_place_and_remedy():
    problem = Problem("a.csv line 5, column arousal", "'high' is not a number", "Give a number")
    assert str(problem) == "a.csv line 5, column arousal: 'high' is not a number. Give a number."
    assert not {"\n", "\x1b", "\u202e"} & {*str(Problem("a\nb", "x\x1b[31m", "y\u202e"))}


def test_all_problems_at_once_and_from_another_process():
    problems = Problems()
    problems.raise_if_any()
    problems.add("a", "first")
    problems.extend(input_error("b", "second"))
    with pytest.raises(InputError, match=r"a: first\.\nb: second\.") as caught:
        problems.raise_if_any()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)


def test_twenty_are_told_and_one_cause_is_reported_once():
    """Problems that differ in names and numbers are one kind: its count, and three examples."""
    text = str(InputError(Problem("f", n * "p") for n in range(57)))
    assert text.count("\n") == 20 and text.endswith("... and 37 more.")
    what = "the file 'b{}.wav' does not exist"
    missing = [Problem(f"a.csv line {n}", what.format(n), "Look") for n in range(2, 294)]
    assert str(InputError([*missing, Problem("c", "else")])).split("\n") == [
        "a.csv line 2: the file 'b2.wav' does not exist. Look. There are 292 of this kind, also "
        "a.csv line 3, the file 'b3.wav' does not exist; a.csv line 4, the file 'b4.wav' does not exist.",
        "c: else.",
    ]
    assert str(InputError(missing[:3])).count("Look") == 3
