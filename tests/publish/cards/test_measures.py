"""A number has the field's name only where it is that number, and the limits of its threshold file."""

import math

import pytest

from soundcheck.common import resources
from soundcheck.publish.cards.measures import measure_of_test
from soundcheck.results.record import FamilyRecord
from soundcheck.suite.thresholds import read_family


def measure(family, test, rule="<", digest=""):
    record = FamilyRecord(name=family, title="", category="correctness", question="", digest=digest)
    return measure_of_test(record, test, rule)


@pytest.mark.parametrize(
    ("family", "test", "rule", "identifier", "lower", "limits"),
    [
        ("asr_word_errors", "Word Error Rate", "<", "wer", True, (0, math.inf)),
        ("correctness_regression", "Concordance Correlation Coeff", ">", "ccc", False, (-1, 1)),
        ("correctness_regression", "Mean Absolute Error", "<", "mae", True, (0, 1)),
        ("correctness_classification", "Recall Per Class", ">", "recall", False, (0, 1)),
        ("speaker_verification", "Equal Error Rate", "<", "eer", True, (0, 1)),
        ("speaker_verification", "Actual Detection Cost", "<", "act_dcf", True, (0, math.inf)),
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


@pytest.mark.parametrize(
    ("family", "test", "limits"),
    [
        ("robustness_background_noise", "Change Ccc Music", (-2, 2)),
        ("asr_comparison", "Word Error Rate Difference", (-math.inf, math.inf)),
        ("asr_word_errors", "Word Error Rate Difference", (-math.inf, math.inf)),
    ],
)
def test_differences(family, test, limits):
    found = measure(family, test)
    assert found.id.startswith(f"soundcheck.{family}.") and found.limits == limits


def test_numbers_beyond_a_limit_take_it_away():
    found = measure("correctness_regression", "Mean Absolute Error")
    assert found.within(1.5).limits == (0, math.inf)
    assert found.within(0.5) == found


def test_families_of_a_suite_alone_have_no_limits():
    found = measure("own <family>", "Own/Test", ">")
    assert (found.id, found.limits, found.note) == ("soundcheck.own_family.own_test", None, "")


def test_notes_are_those_of_the_very_file():
    digest = read_family("asr_word_errors").digest
    assert "Substitutions" in measure("asr_word_errors", "Word Error Rate", digest=digest).note
    assert measure("asr_word_errors", "Word Error Rate", digest="0" * 40).note == ""


def test_every_test_that_is_shipped_has_limits_and_a_direction():
    for name in resources.names("thresholds", ".yml"):
        for test, definition in read_family(name).tests.items():
            low, high = measure(name, test, definition.rule).limits
            assert low < high, (name, test)
