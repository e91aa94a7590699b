"""Counts and scores: by state, by aspect, informative tests only."""

import pytest

from soundcheck import results
from soundcheck.results import Verdict, to_frame
from soundcheck.results.states import STATES
from soundcheck.results.summary import ASPECTS
from soundcheck.results.verdict import no_threshold


def row(**changes) -> Verdict:
    plain = {
        **{"model": "m", "corpus": "c", "family": "robustness_small_changes", "category": "robustness"},
        **{"task": "arousal", "test": "Gain", "value": 0.9, "low": 0.85, "high": 0.95, "segments": 40},
        **{"blocks": 20, "threshold": 0.8, "rule": ">", "passed": True, "reference": 0.1},
        **{"reference_passed": False, "evidence": "clear pass", "state": "pass"},
    }
    return Verdict(**(plain | changes))


FAILS = {"value": 0.1, "low": 0.05, "high": 0.15, "passed": False, "state": "fail"}
NO_THRESHOLD = {
    **{"passed": None, "threshold": None, "state": "reported", "reference_passed": None},
    "skipped": no_threshold("style"),
}
GROUP = {
    **{"family": "fairness_sex", "category": "fairness", "test": "Mean Value", "group": "sex: female"},
    **{"rule": "|value| <", "value": 0.01, "threshold": 0.1, "reference": 0.0, "reference_passed": True},
}


def test_states_are_counted_without_mirrors():
    frame = to_frame(
        [
            row(),
            row(label="a", state="inconclusive"),
            row(label="b", state="inconclusive", passed=False, value=0.1),
            row(label="c", **FAILS),
            row(label="e", passed=None, state="not evaluated", skipped="1 segment"),
            *(row(label=f"s{n}", **NO_THRESHOLD) for n in range(2)),
            row(**GROUP),
            row(**(GROUP | FAILS | {"group": "sex: male", "mirrors": "sex: female"})),
        ]
    )
    found = results.tally(frame)
    assert list(found) == list(STATES) and list(found.values()) == [2, 1, 2, 1, 2]
    assert found.judged == 5 and results.tally(to_frame([])).judged == 0
    assert str(found) == "2 pass, 1 fail, 2 inconclusive, 1 not evaluated, 2 reported"


@pytest.mark.parametrize(
    ("changes", "tells"),
    [
        ({}, True),
        ({"reference_passed": True}, False),
        ({"reference": None, "reference_passed": None}, False),
        (NO_THRESHOLD, False),
        (GROUP | NO_THRESHOLD, False),
        ({"skipped": "not informative: 1 class in the truth"}, False),
        # Guessing is fair; a difference is informative once it passes or fails.
        (GROUP, True),
        (GROUP | {"state": "fail"}, True),
        (GROUP | {"state": "inconclusive"}, False),
        # A group of a family of correctness is about fairness, too.
        (GROUP | {"family": "asr_word_errors", "category": "correctness", "state": "inconclusive"}, False),
        (GROUP | {"family": "asr_word_errors", "category": "correctness", "reference_passed": False}, True),
    ],
)
def test_what_is_informative(changes, tells):
    assert results.informative(to_frame([row(**changes)])).tolist() == [tells]


def test_differences_between_groups_are_about_fairness_wherever_they_stand():
    groups = {"group": "sex: male", "category": "correctness"}
    rows = [row(), row(category="correctness", label="b"), row(**groups, label="c"), row(**GROUP, label="d")]
    frame = to_frame(rows)
    found = dict(zip(frame["label"], results.aspects(frame), strict=True))
    assert found == {"": "robustness", "b": "correctness", "c": "fairness", "d": "fairness"}
    assert set(found.values()) == set(ASPECTS)


def test_a_score_averages_families_and_leaves_out_what_is_inconclusive():
    many = [row(family="many", label=str(n)) for n in range(8)]
    few = [row(family="few"), row(family="few", label="x", **FAILS)]
    inconclusive = [row(family="few", label=str(n), state="inconclusive") for n in range(5)]
    easy = [row(family="easy", label=str(n), reference_passed=True) for n in range(5)]
    pair = [row(**(GROUP | FAILS)), row(**(GROUP | {"group": "sex: male", "mirrors": "sex: female"}))]
    found = results.scores(to_frame([*many, *few, *inconclusive, *easy, *pair]))
    assert (found["fairness"].share, found["fairness"].concluded, found["correctness"].share) == (0, 1, None)
    found = found["robustness"]
    assert found.share == pytest.approx((1 + 0.5) / 2)
    assert (found.passed, found.concluded) == (9, 10)


def test_nothing_concluded_has_no_score():
    assert all(found.share is None for found in results.scores(to_frame([])).values())
    assert results.scores(to_frame([row(state="inconclusive")]))["robustness"].share is None


def test_what_could_never_pass_does_not_count_in_a_score():
    frame = to_frame([row(), row(family="other", **(FAILS | {"evidence": "none"}))])
    assert results.tally(frame)["fail"] == 1
    assert results.scores(frame)["robustness"].share == 1
