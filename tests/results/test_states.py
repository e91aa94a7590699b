"""What may be concluded from the rows of a run, for new speakers and for these."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from soundcheck.results import states
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED
from soundcheck.results.table import to_frame
from soundcheck.results.verdict import Verdict


def difference(
    test: str = "Recall", p: float | None = 0.5, gap: float = 0.2, group="accent: a", **more
) -> Verdict:
    """A group against all others, 30 speakers on either side unless it says otherwise."""
    low, high = gap - 0.05, gap + 0.05
    evidence = "clear pass" if max(-low, high) < 0.1 else "clear fail" if max(low, -high) >= 0.1 else "open"
    given = {
        **{"value": gap / 2, "threshold": 0.075, "rule": "|value| <", "passed": abs(gap / 2) < 0.075},
        **{"against": "others", "group": group, "gap": gap, "gap_low": low, "gap_high": high},
        **{"p_value": p, "matters": 0.1, "evidence": evidence, "segments": 90, "blocks": 60},
        **{"gap_low_sample": low, "gap_high_sample": high, "p_sample": p, "category": "fairness"},
    }
    given |= more
    return Verdict("m", "c", "f", given.pop("category"), "t", test, **given)


def value(test: str, number: float, p: float | None, reach: float = 0.05, **more) -> Verdict:
    """A value that has to be above 0.5."""
    low, high = number - reach, number + reach
    evidence = "clear pass" if low > 0.5 else "clear fail" if high <= 0.5 else "open"
    given = {
        **{"value": number, "low": low, "high": high, "threshold": 0.5, "rule": ">", "passed": number > 0.5},
        **{"gap": number - 0.5, "evidence": evidence, "p_value": p, "segments": 90, "blocks": 60},
        **{"gap_low_sample": low - 0.5, "gap_high_sample": high - 0.5, "p_sample": p},
    }
    return Verdict("m", "c", "f", "correctness", "t", test, **(given | more))


def decided(*rows: Verdict):
    return states.decide(to_frame(rows)).set_index(["test", "group"])


def test_fails_are_what_the_false_discovery_rate_leaves():
    p = np.array([0.001, 0.004, 0.02, 0.03, 0.2, 0.9])
    frame = decided(*(difference(f"test {n}", each) for n, each in enumerate(p)))
    assert frame["holds"].tolist() == (false_discovery_control(p) <= 0.05).tolist()
    assert frame["state"].eq(FAIL).tolist() == frame["holds"].tolist()


@pytest.mark.parametrize(
    ("row", "state"),
    [
        (difference(p=0.001), FAIL),
        (difference(p=0.2), INCONCLUSIVE),
        (difference(p=0.001, gap=0.09), INCONCLUSIVE),  # within the margin, and its interval reaches over it
        (difference(p=0.9, gap=0.01), PASS),
        (difference(p=0.001, gap=-0.3), FAIL),  # both directions count
        (difference(p=0.001, gap=-0.3, rule="<", passed=True), INCONCLUSIVE),  # of errors only more
        (value("v", 0.7, 1.0), PASS),
        (value("v", 0.52, 0.7), INCONCLUSIVE),
        (value("v", 0.4, 0.001), FAIL),
        (value("v", 0.48, 0.3), INCONCLUSIVE),
        (value("v", 0.6, None, passed=None, threshold=None, evidence="shown", skipped="none"), REPORTED),
        (Verdict("m", "c", "f", "fairness", "t", "v", skipped="3 segments, 25 needed"), NOT_EVALUATED),
        (difference(p=None, skipped=states.NO_SPEAKERS, passed=True), NOT_EVALUATED),
        (difference(p=0.001, skipped="changed in this suite"), FAIL),
    ],
)
def test_states(row, state):
    frame = decided(row)
    assert frame["state"].tolist() == [state] and set(states.STATES) >= {state}


def test_both_answers_are_given_side_by_side():
    """Few speakers, many recordings: sure about these, not about others."""
    row = value("v", 0.4, 0.2, reach=0.15, gap_low_sample=-0.12, gap_high_sample=-0.08, p_sample=1e-6)
    frame = decided(row)
    assert frame[["state", "state_sample"]].values.tolist() == [[INCONCLUSIVE, FAIL]]


@pytest.mark.parametrize("few", [{"gap_low": None, "gap_high": None, "p_value": None}, {"least_p": 0.06}])
def test_a_difference_that_could_not_be_significant_is_reported_for_these_speakers(few):
    frame = decided(difference(p=0.2, **few))
    assert frame[["state", "state_sample"]].values.tolist() == [[INCONCLUSIVE, REPORTED]]


def test_two_groups_are_one_test_named_after_the_one_that_is_worse_off():
    rows = [
        *(difference("Recall Per Class", 0.03, g, f"sex: {n}") for g, n in ((0.2, "female"), (-0.2, "male"))),
        *(difference("Mean Value", 0.9, g, f"sex: {n}") for g, n in ((0.2, "female"), (-0.2, "male"))),
    ]
    frame = decided(*rows)
    assert frame["mirrors"].to_dict() == {
        ("Mean Value", "sex: female"): "",
        ("Mean Value", "sex: male"): "sex: female",
        ("Recall Per Class", "sex: female"): "sex: male",
        ("Recall Per Class", "sex: male"): "",
    }
    assert len(states.counted(frame)) == 2
    # 0.03 stands among two tests, not among four, and both rows say the same
    assert frame["state"].tolist() == [INCONCLUSIVE] * 4
    alone = decided(*rows[:2])
    assert alone["state"].tolist() == [FAIL, FAIL] and alone["holds"].tolist() == [True, True]


def test_groups_with_a_reference_or_of_three_mirror_nobody():
    three = [
        difference("t", 0.5, gap, f"accent: {name}") for gap, name in ((0.1, "a"), (0, "b"), (-0.1, "c"))
    ]
    assert decided(*three)["mirrors"].eq("").all()
    one = [difference("t", 0.5, 0.2, "accent: a", against="b")]
    assert decided(*one)["mirrors"].eq("").all()


def test_pairs_within_a_context_belong_together():
    rows = [
        difference("Mean Shift Difference", 0.5, gap, f"language: {name}, sentiment: {mood}")
        for mood in ("negative", "positive")
        for gap, name in ((0.2, "de"), (-0.2, "en"))
    ]
    found = decided(*rows)["mirrors"].reset_index("test", drop=True).to_dict()
    assert found["language: en, sentiment: negative"] == "language: de, sentiment: negative"
    assert found["language: de, sentiment: positive"] == ""


def test_speakers_that_cannot_show_anything_are_named():
    frame = to_frame([difference(f"test {n}", 0.5, least_p=2 / 252) for n in range(10)])
    assert states.cannot_be_significant(frame).all()  # 0.0079 > 0.05 / 10
    assert not states.cannot_be_significant(frame.iloc[:3]).any()


def test_models_and_categories_are_corrected_apart():
    frame = decided(difference("one", 0.03), difference("two", 0.9, category="robustness"))
    assert frame["holds"].tolist() == [True, False]
