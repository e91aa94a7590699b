"""Each number of a run is listed once, with what is judged of it."""

import pytest
from tests.support.finished import verdict
from tests.support.tested_models import MODELS, facts_of

from soundcheck.publish.cards.measurements import interval_methods, measurements


@pytest.fixture
def listed(tmp_path, recorded):
    def measured(name, **changes):
        return measurements(facts_of(name, tmp_path, recorded, **changes))

    return measured


@pytest.mark.parametrize("name", MODELS)
def test_no_key_twice(listed, name):
    keys = [one.key for one in listed(name)]
    assert keys and len(set(keys)) == len(keys)


def test_figures_first_then_rows_with_a_value(listed):
    found = listed("recogniser")
    assert [(one.family, one.test) for one in found] == [
        ("", "word error rate"),
        ("asr_word_errors", "Character Error Rate"),
        ("asr_word_errors", "Word Error Rate"),
        ("asr_word_errors", "Word Error Rate Difference"),
    ]
    assert [one.state for one in listed("fairness only")] == ["fail"]


def test_what_is_judged_is_the_number(listed):
    *_, gap = listed("recogniser")
    assert (gap.value, gap.low, gap.high, gap.threshold) == (1.25, 0.1, 0.3, 0.075)
    assert gap.further["group value"] == 0.1
    value = listed("recogniser")[1]
    assert (value.value, value.low, value.high) == (0.25, 0.2, 0.375)


def test_a_group_that_is_judged_by_its_value(listed):
    of = {"value": -0.1, "low": -0.2, "high": 0.0, "gap": -0.3, "reference": None, "reference_passed": None}
    row = verdict("m", group="sex: female", rule="|value| <", **of)
    (found,) = listed("fairness only", rows=[row])
    assert found.value == -0.1 and "group value" not in found.further


def test_trials_are_counted_as_such(listed):
    assert {one.counts for one in listed("verification")} == {
        *("9000 trials, 20 speakers", "9000 trials, 7 speakers")
    }


def test_how_intervals_are_computed(tmp_path, recorded):
    facts = facts_of("recogniser", tmp_path, recorded, suite={"corpora": {"c": {"blocks": "conversation"}}})
    assert interval_methods(facts) == ["percentile interval, whole blocks resampled (blockwise bootstrap)"]
