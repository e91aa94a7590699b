"""What a run says: counts by state, what rows are about, the order of findings, facts of a model."""

import numpy as np
import pytest
from tests.support.first_pages import golden

from soundcheck.results import facts
from soundcheck.results.facts import counts, facts_by_model, headline
from soundcheck.results.states import ASPECTS, STATES, aspects
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
    found = counts(frame)
    assert list(found) == list(STATES) and list(found.values()) == [2, 1, 2, 1, 2]
    assert found.judged == 5 and counts(to_frame([])).judged == 0
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


GAP = GROUP | {"value": 0.09, "gap": 0.18, "gap_low": 0.11, "gap_high": 0.32, "matters": 0.075}
GAP |= {"against": "others", "blocks": 10, "passed": False, "state": "fail", "threshold": 0.075}
CORRECT = {"category": "correctness", "test": "Recall Per Class", "value": 0.41, "low": 0.3, "high": 0.52}
CORRECT |= {"threshold": 0.5, "passed": False, "state": "fail"}


def test_findings_are_ordered_by_what_is_beyond_in_widths_of_the_interval():
    rows = [
        row(**GAP, label="a"),  # (0.18 - 0.075) / 0.21
        row(**GAP | {"gap": 0.1, "gap_low": 0.09, "gap_high": 0.11}, label="b"),  # 0.025 / 0.02
        row(**CORRECT | {"value": 0.2}, label="c"),  # 0.3 / 0.22
        row(**CORRECT | {"rule": "<", "value": 0.6}, label="d"),  # 0.1 / 0.22
        row(**GAP | {"gap_low": None, "gap_high": None}, label="e"),
    ]
    ordered = facts.by_excess(to_frame(rows))
    assert ordered["label"].tolist() == ["c", "b", "a", "d", "e"]
    known = [0.3 / 0.22, 0.025 / 0.02, 0.105 / 0.21, 0.1 / 0.22]
    assert ordered["excess"].tolist()[:4] == pytest.approx(known)


@pytest.mark.parametrize("rule", [">", "gap"])
def test_speakers_are_planned_by_the_square_root(rule):
    """With so many speakers, and the same value, the interval just touches what decides."""
    if rule == "gap":
        frame = to_frame([row(**GAP | {"gap": 0.05, "gap_low": -0.15, "gap_high": 0.25})])
        reach, margin = 0.2, 0.075 - 0.05
    else:
        frame = to_frame([row(**CORRECT | {"value": 0.45, "low": 0.25, "high": 0.65, "blocks": 10})])
        reach, margin = 0.2, 0.05
    (needed,) = facts.speakers_needed(frame)
    assert reach * np.sqrt(10 / needed) <= margin + 1e-9 < reach * np.sqrt(10 / (needed - 1)) + 1e-9


@pytest.fixture(scope="module")
def demo():
    return facts_by_model(*golden("demo"))


def test_a_row_a_fact(demo):
    found = demo["prosody-biased"].findings
    assert not found.duplicated(facts.FACT).any()
    assert len(found) + found["more"].sum() == len(demo["prosody-biased"].failing)
    women = found[found["group"].eq("sex: female") & found["task"].eq("valence")].iloc[0]
    # Concordance stands for its family, though the recall of a quarter of the scale is farther beyond.
    assert women["test"] == "Concordance Correlation Coeff" and women["more"] == 3
    assert (women["side"], women["other"]) == ("worse", "male")
    assert found["excess"].is_monotonic_decreasing


def test_quality_without_and_with_a_change(demo):
    worst = demo["prosody"].worst_condition
    assert (worst.about, worst.measure, worst.task) == ("Upward Tilt", "concordance", "dominance")
    estimates = demo["prosody"].estimates
    own = estimates[estimates["task"].eq("dominance") & estimates["measure"].eq("concordance_cc")]
    values = own[own["part"].eq("all")].set_index("condition")["value"]
    assert (worst.before, worst.after) == (values["before Upward Tilt"], values["Upward Tilt"])
    assert demo["voiceprint"].worst_condition.before == pytest.approx(0.1548, abs=1e-4)  # before all changes


def test_states_of_families_are_those_of_their_headline_tests(demo):
    states = {family.name: demo["prosody"].state_of(family) for family, _ in demo["prosody"].families}
    assert states["fairness_pitch"] == ("inconclusive", 2)  # recall fails, concordance does not
    assert states["correctness_classification"] == ("pass", 0)


def test_the_headline_is_of_classes_and_of_most_segments(demo):
    assert demo["prosody"].headline.measure == "unweighted average recall"
    assert demo["prosody"].headline.corpus == "demo" and demo["voiceprint"].headline.value == 0.156


def test_unknown_is_said_by_kind_of_group(demo):
    unknown = demo["prosody"].unknown.set_index("kind")
    assert {"sex", "accent", "language and sentiment"} <= set(unknown.index)
    assert unknown.loc["sex", "blocks"] == 20 and unknown.loc["sex", "needed"] > 100
    assert len(demo["sphinx-gated"].unknown) == 0
