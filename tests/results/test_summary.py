"""Counts and scores: by state, by aspect, informative tests only."""

import dataclasses

import pytest

from soundcheck import results
from soundcheck.results import Verdict, to_frame
from soundcheck.results.summary import ASPECTS
from soundcheck.results.verdict import STATES, no_threshold


def row(**changes) -> Verdict:
    plain = {
        **{"model": "m", "corpus": "c", "family": "robustness_small_changes", "category": "robustness"},
        **{"task": "arousal", "test": "Gain", "value": 0.9, "low": 0.85, "high": 0.95, "segments": 40},
        **{"blocks": 20, "threshold": 0.8, "rule": ">", "passed": True, "reference": 0.1},
        **{"reference_passed": False, "evidence": "clear pass"},
    }
    return Verdict(**(plain | changes))


FAILS = {"value": 0.1, "low": 0.05, "high": 0.15, "passed": False, "evidence": "clear fail"}
SHOWN = {"passed": None, "evidence": "shown", "reference_passed": None, "skipped": no_threshold("style")}
GROUP = {
    **{"family": "fairness_sex", "category": "fairness", "test": "Mean Value", "group": "sex: female"},
    **{"rule": "|value| <", "value": 0.01, "threshold": 0.1, "reference": 0.0, "reference_passed": True},
}


def test_states_are_counted():
    frame = to_frame(
        [
            row(),
            row(label="a", evidence="open"),
            row(label="b", evidence="none"),
            row(label="c", **FAILS),
            row(label="d", **FAILS, p_value=0.0001, holds=True),
            row(label="e", passed=None, evidence="", skipped="1 segment"),
            *(row(label=f"s{n}", threshold=None, **SHOWN) for n in range(2)),
        ]
    )
    found = results.tally(frame)
    assert dataclasses.astuple(found) == (1, 2, 1, 1, 1, 2)
    assert (found.judged, found.open) == (5, 3)
    assert list(found.counts) == list(STATES)
    assert list(found.counts.values()) == [1, 2, 1, 1, 2, 1]
    assert results.tally(to_frame([])).judged == 0


@pytest.mark.parametrize(
    ("changes", "tells"),
    [
        ({}, True),
        ({"reference_passed": True}, False),
        ({"reference": None, "reference_passed": None}, False),
        ({"threshold": None, **SHOWN}, False),
        (GROUP | {"threshold": None, **SHOWN}, False),
        ({"skipped": "not informative: 1 class in the truth"}, False),
        # Guessing is fair; a difference tells something once it is settled, either way.
        (GROUP | {"evidence": "clear pass"}, True),
        (GROUP | {"evidence": "clear fail"}, True),
        (GROUP | {"evidence": "open"}, False),
        (GROUP | {"evidence": "none"}, False),
        (GROUP | {"evidence": "open", "p_value": 0.0001, "holds": True}, True),
        # A group of a family of correctness is about fairness, too.
        (GROUP | {"family": "asr_word_errors", "category": "correctness", "evidence": "open"}, False),
        (GROUP | {"family": "asr_word_errors", "category": "correctness", "reference_passed": False}, True),
    ],
)
def test_what_tells_something(changes, tells):
    assert results.informative(to_frame([row(**changes)])).tolist() == [tells]


def test_differences_between_groups_are_about_fairness_wherever_they_stand():
    groups = {"group": "sex: male", "category": "correctness"}
    rows = [row(), row(category="correctness", label="b"), row(**groups, label="c"), row(**GROUP, label="d")]
    frame = to_frame(rows)
    found = dict(zip(frame["label"], results.aspects(frame), strict=True))
    assert found == {"": "robustness", "b": "correctness", "c": "fairness", "d": "fairness"}
    assert set(found.values()) == set(ASPECTS)


def test_a_score_averages_families_and_leaves_out_what_is_open():
    many = [row(family="many", label=str(n)) for n in range(8)]
    few = [row(family="few"), row(family="few", label="x", **FAILS, p_value=0.0001, holds=True)]
    unsettled = [row(family="few", label=str(n), evidence="open") for n in range(5)]
    easy = [row(family="easy", label=str(n), reference_passed=True) for n in range(5)]
    groups = row(**(GROUP | FAILS), p_value=0.0001, holds=True)
    found = results.scores(to_frame([*many, *few, *unsettled, *easy, groups]))
    assert (found["fairness"].share, found["fairness"].clear, found["correctness"].share) == (0, 1, None)
    found = found["robustness"]
    assert found.share == pytest.approx((1 + 0.5) / 2)
    assert (found.clear_pass, found.clear, found.families) == (9, 10, 2)


def test_nothing_clear_has_no_score():
    assert all(found.share is None for found in results.scores(to_frame([])).values())
    assert results.scores(to_frame([row(evidence="open")]))["robustness"].share is None


def test_what_could_never_be_a_clear_pass_does_not_count_in_a_score():
    held = FAILS | {"evidence": "none", "p_value": 0.0001, "holds": True}
    frame = to_frame([row(), row(family="other", **held)])
    assert results.tally(frame).holds == 1
    assert results.scores(frame)["robustness"].share == 1
