"""Sentences about a comparison say what its rows say."""

import dataclasses

import pytest

from soundcheck.results.conclusion import conclusion, possible_losses
from soundcheck.results.contrast import Contrast, contrast_frame, headline_rows

ABOUT = ("old", "new", "c", "f", "correctness", "t", "Some Test")
OPEN = Contrast(
    *ABOUT,
    difference=0.0,
    low=-0.04,
    high=0.1,
    p_value=0.9,
    outcome="no evidence",
    rule=">",
    pairing="paired",
)


def changed(**facts) -> Contrast:
    return dataclasses.replace(OPEN, **facts)


def test_counts_and_what_is_not_excluded():
    rows = [
        changed(outcome="better", difference=0.1, low=0.01, p_sample=0.001, outcome_sample="better"),
        changed(outcome="worse", difference=-0.1, high=-0.01),
        changed(difference=0.01),
        changed(rule="<", group="sex: female"),
        changed(rule="<", low=-0.2, high=-0.01),
        changed(p_value=None, low=None, high=None, pairing="", skipped="interval withheld: 3 blocks"),
        changed(outcome="", p_value=None, low=None, high=None, pairing=""),
    ]
    frame = contrast_frame(rows)
    assert possible_losses(frame).tolist() == [0.04, 0.1, 0.0]
    assert conclusion(frame) == (
        "new is better than old on 1 and worse on 1 of 5 tests for new speakers. new is better than old on 1 "
        "and worse on 0 of 1 test with these speakers. Not excluded for new speakers: a loss of up to 0.1 on "
        "a test without a significant difference (Some Test, sex: female). Nothing follows for new "
        "speakers from 1 test, most often because fewer than 5 speakers contribute. 1 test could not "
        "be compared."
    )


WORDS = changed(
    test="Word Error Rate",
    **dict(family="asr_word_errors", rule="<", baseline_value=0.1, candidate_value=0.151, difference=0.051),
    **dict(difference_low_sample=0.032, difference_high_sample=0.07, p_sample=1e-6, outcome_sample="worse"),
    **dict(low=-0.01, high=0.112, p_value=0.08, blocks=6),
)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            {},
            "c, t: word error rate 0.1 → 0.151, 51 % more errors; with these speakers significant, worse "
            "(difference 0.032 to 0.07, p < 0.001); for new speakers no significant difference "
            "(difference −0.01 to 0.11, p = 0.08).",
        ),
        (dict(low=None, high=None, p_value=None, blocks=4), "for new speakers too few (4 here)."),
        (
            dict(difference_low_sample=None, difference_high_sample=None, p_sample=None, outcome_sample=""),
            "word error rate 0.1 → 0.151; with these speakers not known; for new",
        ),
        (
            dict(skipped="on 60 segments that both answered: old has 90, new 60"),
            "word error rate 0.1 → 0.151 on 60 segments that both answered, 51 %",
        ),
    ],
)
def test_the_headline_comes_first_with_both_answers(facts, said):
    row = dataclasses.replace(WORDS, **facts)
    frame = contrast_frame([OPEN, dataclasses.replace(row, test="Character Error Rate"), row])
    assert said in conclusion(frame).partition(" new is better ")[0]
    assert conclusion(frame).count("→") == 1  # of a task one measure


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "The two models have no test in common."),
        ([changed(low=0.0, high=0.0)], "new and old have the same value on each of 1 test."),
        (
            [changed(p_value=None, low=None, high=None)],
            "Nothing can be said about new against old: no test has a p-value.",
        ),
        ([changed(pairing="unpaired", difference=0.1)], "1 test is unpaired"),
    ],
)
def test_what_else_there_is_to_say(rows, said):
    assert said in conclusion(contrast_frame(rows))


def test_groups_and_classes_stand_behind_the_headline():
    recall = dict(
        family="correctness_classification", task="emotion", baseline_value=0.5, candidate_value=0.6
    )
    rows = [
        changed(test="Unweighted Average Recall", **recall),
        changed(test="Recall Per Class", label="anger", **recall),
        changed(
            test="unweighted average recall (balanced)", **recall | dict(family="x", group="sex: female")
        ),
        changed(
            test="Unweighted Average Recall", **recall | dict(family="fairness_sex", group="sex: female")
        ),
        changed(test="Recall Per Class", label="anger", **recall | dict(category="robustness")),
    ]
    found = headline_rows(contrast_frame(rows))
    assert found.index.tolist() == [0, 2, 1]
