"""Sentences about a comparison say what its rows say."""

import dataclasses

import pytest

from soundcheck.results import Contrast, conclusion, contrast_frame
from soundcheck.results.conclusion import possible_losses

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


def test_counts_and_what_may_hide():
    rows = [
        changed(outcome="better", difference=0.1, low=0.01),
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
        "new is better than old on 1 and worse on 1 of 5 tests; on the other 3 no difference was found. "
        "No evidence is not equality: a test without a difference may hide a loss of up to 0.04 (median of "
        "their intervals), at most 0.1 (Some Test, sex: female). 1 more test had no interval, most often "
        "because fewer than 5 speakers contribute. 1 test could not be compared."
    )


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
