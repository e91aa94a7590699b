"""Each number of a run is listed once, by the name that the field has where it is just that number."""

import math

import pytest
from tests.support.finished import verdict
from tests.support.tested_models import facts_of, figure

from soundcheck.common import resources
from soundcheck.publish.cards.measurements import interval_methods, measure_of_test, measurements
from soundcheck.results.record import FamilyRecord
from soundcheck.suite.thresholds import read_family


@pytest.fixture
def listed(tmp_path, recorded):
    def measured(name, **changes):
        return list(measurements(facts_of(name, tmp_path, recorded, **changes)).itertuples())

    return measured


def test_a_group_that_is_judged_by_its_value(listed):
    of = {"value": -0.1, "low": -0.2, "high": 0.0, "gap": -0.3, "reference": None, "reference_passed": None}
    row = verdict("m", group="sex: female", rule="|value| <", **of)
    (found,) = listed("fairness only", rows=[row])
    assert found.value == -0.1 and math.isnan(found.group_value)


def test_how_intervals_are_computed(tmp_path, recorded):
    facts = facts_of("recogniser", tmp_path, recorded, suite={"corpora": {"c": {"blocks": "conversation"}}})
    assert interval_methods(facts) == ["percentile interval, whole blocks resampled (blockwise bootstrap)"]


def measure(family, test, rule="<", digest="", compares=False):
    record = FamilyRecord(name=family, title="", category="correctness", question="", digest=digest)
    return measure_of_test(record, test, rule, compares)


@pytest.mark.parametrize(
    ("family", "test", "rule", "identifier", "lower", "limits"),
    [
        ("asr_word_errors", "Word Error Rate", "<", "wer", True, (0, math.inf)),
        ("correctness_regression", "Concordance Correlation Coeff", ">", "ccc", False, (-1, 1)),
        ("correctness_regression", "Mean Absolute Error", "<", "mae", True, (0, 1)),
        ("correctness_classification", "Recall Per Class", ">", "recall", False, (0, 1)),
        ("speaker_verification", "Equal Error Rate", "<", "eer", True, (0, 1)),
        ("speaker_verification", "Actual Detection Cost", "<", "act_dcf", True, (0, math.inf)),
        ("speaker_verification", "Minimum Detection Cost", "<", "min_dcf", True, (0, 1)),
    ],
)
def test_names_of_the_field(family, test, rule, identifier, lower, limits):
    found = measure(family, test, rule)
    assert (found.id, found.lower_is_better, found.limits) == (identifier, lower, limits)
    assert not found.near_zero


def test_the_same_name_of_a_gap_is_another_number():
    found = measure("fairness_sex", "Concordance Correlation Coeff", "|gap| <")
    assert found.id == "soundcheck.fairness_sex.concordance_correlation_coeff.gap"
    assert found.near_zero and found.limits == (-2, 2)
    assert found.name == "Concordance Correlation Coeff, group minus its reference"


def test_a_published_rule_about_a_difference_is_no_value_of_the_measure():
    found = measure("fairness_sex", "Concordance Correlation Coeff", "|value| <", compares=True)
    assert found.id == "soundcheck.fairness_sex.concordance_correlation_coeff" and found.limits == (-2, 2)


def test_numbers_beyond_a_limit_take_it_away(listed):
    figures = [figure("m", "transcript", "equal error rate", value=1.5)]
    assert listed("recogniser", figures=figures)[0].measure.limits == (0, math.inf)


def test_notes_are_those_of_the_very_file():
    digest = read_family("asr_word_errors").digest
    assert "Substitutions" in measure("asr_word_errors", "Word Error Rate", digest=digest).note
    assert measure("asr_word_errors", "Word Error Rate", digest="0" * 40).note == ""


def test_every_test_that_is_shipped_has_limits_and_a_direction():
    for name in resources.names("thresholds", ".yml"):
        for test, definition in read_family(name).tests.items():
            for compares in (False, True):
                low, high = measure(name, test, definition.rule, compares=compares).limits
                assert low < high, (name, test)
