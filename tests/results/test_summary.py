"""Counts by state, and what rows are about."""

import pytest

from soundcheck.results.states import STATES
from soundcheck.results.summary import ASPECTS, aspects, headline, tally
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict, no_threshold


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
    found = tally(frame)
    assert list(found) == list(STATES) and list(found.values()) == [2, 1, 2, 1, 2]
    assert found.judged == 5 and tally(to_frame([])).judged == 0
    assert str(found) == "2 pass, 1 fail, 2 inconclusive, 1 not evaluated, 2 reported"


NEW = {"against": "others", "gap": 0.2, "matters": 0.1, "state": "inconclusive", "evidence": "none"}


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ([], "None of 1 test fails"),
        ([("inconclusive", "fail")], "None of 2 tests fails"),
        (
            [("inconclusive", "reported")],  # 4 speakers
            "1 of 2 tests passes, 1 inconclusive; 1 difference has too few speakers to generalise",
        ),
        (
            [("not evaluated", "fail")],  # nobody knows the speakers
            "1 of 1 test passes, 0 inconclusive; 1 difference has too few speakers to generalise",
        ),
    ],
)
def test_differences_of_these_speakers_are_no_all_clear(states, told):
    few = [row(**GROUP | NEW | {"state": state, "state_sample": here}) for state, here in states]
    assert headline(to_frame([row(), *few])) == told
    assert headline(to_frame([row(**FAILS), *few])).endswith(("test fails", "tests fails"))


def test_differences_between_groups_are_about_fairness_wherever_they_stand():
    groups = {"group": "sex: male", "category": "correctness"}
    rows = [row(), row(category="correctness", label="b"), row(**groups, label="c"), row(**GROUP, label="d")]
    frame = to_frame(rows)
    found = dict(zip(frame["label"], aspects(frame), strict=True))
    assert found == {"": "robustness", "b": "correctness", "c": "fairness", "d": "fairness"}
    assert set(found.values()) == set(ASPECTS)
