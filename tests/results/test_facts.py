"""What a run says: headlines, the order of findings, speakers to plan, facts of a model."""

import numpy as np
import pytest
from tests.results.made import difference, value
from tests.support.first_pages import golden

from soundcheck.results import facts
from soundcheck.results.facts import facts_by_model, headline
from soundcheck.results.table import to_frame


def test_differences_of_these_speakers_are_no_all_clear():
    few = "{} passes, {} inconclusive; 1 difference has too few speakers to generalise"
    for state, state_sample, text in (
        ("inconclusive", "fail", "None of 2 tests fails"),
        ("inconclusive", "reported", few.format("1 of 2 tests", 1)),  # 4 speakers
        ("not evaluated", "fail", few.format("1 of 1 test", 0)),  # nobody knows the speakers
    ):
        row = difference(0.2, state=state, state_sample=state_sample)
        assert headline(to_frame([value(), row])) == text
        assert headline(to_frame([value("U", 0.1), row])).endswith("fails")


def test_findings_are_ordered_by_what_is_beyond_in_widths_of_the_interval():
    rows = {
        "a": (difference(0.18, gap_low=0.11, gap_high=0.32, label="a"), 0.08 / 0.21),
        "b": (difference(0.12, gap_low=0.11, gap_high=0.13, label="b"), 0.02 / 0.02),
        "c": (value(number=0.2, reach=0.11, label="c"), 0.3 / 0.22),
        "d": (value(number=0.56, reach=0.11, rule="<", label="d"), 0.06 / 0.22),
        "e": (difference(0.3, gap_low=None, gap_high=None, label="e"), np.nan),
    }
    ordered = facts.by_excess(to_frame(row for row, _ in rows.values()))
    assert ordered["label"].tolist() == ["c", "b", "a", "d", "e"]
    expected = [rows[label][1] for label in ordered["label"]]
    assert ordered["excess"].tolist() == pytest.approx(expected, nan_ok=True)


def test_speakers_are_planned_by_the_square_root():
    """With so many speakers, and the same value, the interval just touches what decides."""
    gap = difference(0.05, gap_low=-0.15, gap_high=0.25, blocks=10)
    better = difference(-0.05, rule="<", gap_low=-0.25, gap_high=0.15, blocks=10)
    for row, room in ((gap, 0.05), (better, 0.15), (value(number=0.45, reach=0.2, blocks=10), 0.05)):
        (needed,) = facts.speakers_needed(to_frame([row]))
        assert 0.2 * np.sqrt(10 / needed) <= room + 1e-9 < 0.2 * np.sqrt(10 / (needed - 1)) + 1e-9


@pytest.fixture(scope="module")
def demo():
    return facts_by_model(*golden("demo"))


def test_a_row_a_fact(demo):
    rows = demo["prosody-biased"].findings
    assert not rows.duplicated(facts.FACT).any() and rows["excess"].is_monotonic_decreasing
    assert len(rows) + rows["more"].sum() == len(demo["prosody-biased"].failing)
    women = rows[rows["group"].eq("sex: female") & rows["task"].eq("valence")].iloc[0]
    # Concordance stands for its family, though the recall of a quarter of the scale is farther beyond.
    assert women["test"] == "Concordance Correlation Coeff" and women["more"] == 3
    assert (women["side"], women["other"]) == ("worse", "male")


def test_what_the_demo_says_of_its_models(demo):
    prosody = demo["prosody"]
    worst, estimates = prosody.worst_condition, prosody.estimates
    assert (worst.about, worst.measure, worst.task) == ("Upward Tilt", "concordance", "dominance")
    rows = estimates.query("task == 'dominance' and measure == 'concordance_cc' and part == 'all'")
    values = rows.set_index("condition")["value"]
    assert (worst.before, worst.after) == (values["before Upward Tilt"], values["Upward Tilt"])
    states = {family.name: prosody.state_of(family) for family, _ in prosody.families}
    assert states["fairness_pitch"] == ("inconclusive", 2)  # recall fails, concordance does not
    assert prosody.largest_difference.test == "Precision Per Bin"  # in units of its margin
