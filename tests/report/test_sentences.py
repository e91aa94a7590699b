"""Sentences above figures are made from rows, and claim a direction only where an interval has one."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.report import failures, sentences

HOSTILE = "<script>" + "x" * 5000
NONE = np.nan


def row(**given):
    plain = dict(
        **dict(model="m", corpus="demo", family="f", task="emotion", test="Unweighted Average Recall"),
        **dict(label="", group="", value=0.6, low=0.5, high=0.7, threshold=0.5, rule=">", passed=True),
        **dict(evidence="open", gap=NONE, gap_low=NONE, gap_high=NONE, matters=NONE, blocks=40, skipped=""),
        **dict(adjusted=NONE, adjusted_low=NONE, adjusted_high=NONE, adjusted_by="", holds=None, against=""),
        **dict(group_value=0.4, others_value=0.7, state="", state_sample=""),
        **dict(gap_low_sample=NONE, gap_high_sample=NONE),
    )
    return plain | given


def rows(*given):
    return pd.DataFrame([row(**each) for each in given], columns=list(row()))


GROUP = dict(group="sex: female", rule="|value| <", threshold=0.075, matters=0.1, against="others")


@pytest.mark.parametrize(
    ("passed", "state", "said"),
    [
        (True, "fail", "passes the published rule (|value| < 0.075); {}0.32, more than the margin of 0.10"),
        (False, "pass", "fails the published rule (|value| < 0.075); {}0.32, within the margin of 0.10"),
        (True, "pass", ""),
        (False, "fail", ""),
        (False, "inconclusive", ""),
        (None, "reported", ""),
    ],
)
def test_two_rules_that_differ_are_said_in_one_sentence(passed, state, said):
    differs = "unweighted average recall of emotion of female speakers differs from that of the others by "
    one = rows(GROUP | dict(passed=passed, gap=-0.32)).assign(state=state)
    assert failures.both_rules(next(one.itertuples())) == said.format(differs)


def test_two_rules_name_the_reference_and_the_rule_of_the_suite():
    one = rows(GROUP | dict(gap=0.32, rule="|gap| <", against="us")).assign(state="fail")
    told = failures.both_rules(next(one.itertuples()))
    assert told.startswith("passes the rule (|gap| < 0.075); ") and "differs from that of us by" in told
    value = rows(dict(passed=True)).assign(state="fail")  # of a value both say the same
    assert failures.both_rules(next(value.itertuples())) == ""


def test_a_value_is_that_of_its_row():
    frame = rows({}, dict(test="Relative Difference Per Class", label="joy", value=-0.2, low=-0.3, high=-0.1))
    place = ("demo", "emotion")
    assert sentences.value(frame, "Unweighted Average Recall", *place) == (
        "Unweighted average recall 0.60 (95 % 0.50 to 0.70)"
    )
    assert sentences.value(frame, "Unweighted Average Recall", "demo", "valence") == ""
    assert sentences.value(frame, "Unweighted Average Recall", *place, "joy") == ""
    more = pd.concat([frame, frame.iloc[1:].assign(label="calm", value=0.1)])
    assert sentences.value(more, "Relative Difference Per Class", *place, None) == (
        "Relative difference per class of joy −0.20 (95 % −0.30 to −0.10), farthest from 0 of 2"
    )


ANSWERS = SimpleNamespace(  # a subset of a task of classes, as far as sentences look at it
    corpus="demo",
    task=SimpleNamespace(name="emotion"),
    change="White Noise",
    predictions=SimpleNamespace(clean=np.array(["a", "a", "a", "b", None], dtype=object)),
)


def test_the_worst_class_is_named_with_the_share_of_answers_that_name_it():
    frame = rows(
        dict(test="Recall Per Class", label="a", value=0.9),
        dict(test="Recall Per Class", label=HOSTILE, value=0.95),
        dict(test="Recall Per Class", label="b", value=0.24, low=0.1, high=0.4),
    )
    told = sentences.classes(frame, ANSWERS)
    assert told == "Lowest recall: b, 0.24 (95 % 0.10 to 0.40); 25 % of all predictions"
    assert sentences.classes(frame.iloc[:0], ANSWERS) == ""
    assert len(sentences.classes(frame.iloc[1:2], ANSWERS)) < 200
