"""What entries of a suite mean: columns of groups, margins, and what only people know."""

from pathlib import Path

import pytest

from soundcheck.suite.card import Card
from soundcheck.suite.groups import number_of, with_suite_groups
from soundcheck.suite.measures import Margin, measure_of
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.thresholds import read_family

ERRORS, RECALL = measure_of("Word Error Rate"), measure_of("Recall Per Class", "fairness_sex")
CONCORDANCE = measure_of("Concordance Correlation Coeff")


def test_the_model_wins_over_the_suite_and_what_nobody_wrote_is_named():
    both = Card(owner="we", version="2").over(Card(owner="all", license="mit", languages=("en",)))
    assert both == Card(owner="we", version="2", license="mit", languages=("en",))
    missing = Card(owner="we", languages=("en",)).missing
    assert missing[:2] == ("intended use", "licence") and "owner" not in missing
    assert not any("hub" in words or "base" in words for words in missing)  # a model may have none


def test_columns_of_groups_are_read_from_the_data(tmp_path):
    (tmp_path / "calls.csv").touch()
    (tmp_path / "suite.yml").write_text(
        "corpora: {calls: {format: csv, path: calls.csv, columns: {device: Phone}}}\n"
        "models: {guess: {random: gaussian}}\nfamilies: all\n"
        "groups: [device, {age: {young: [0, 29], old: [60, 120]}}]\nadjust: [level]\n"
    )
    entry = read_suite(tmp_path / "suite.yml").corpora["calls"]
    assert {"device", "age", "level"} <= {*entry.further_columns} and entry.columns == {"device": "Phone"}
    assert number_of("age") == "age (number)"  # beside its ranges


def test_families_of_columns_take_the_groups_of_the_suite():
    family = read_family("asr_word_errors", Path())
    assert with_suite_groups(family, ["age", "sex"]).options["groups"] == ["sex", "accent", "language", "age"]
    fixed = read_family("fairness_sex", Path())
    assert with_suite_groups(fixed, ["age"]) is fixed


@pytest.mark.parametrize(
    ("margin", "published", "reference", "info", "expected"),
    [
        (Margin(), 0.05, 0.45, ERRORS, 0.05),  # a quarter is more than the threshold
        (Margin(), 0.05, 0.05, ERRORS, 0.0125),
        (Margin(), 0.05, 0.003, ERRORS, 0.005),
        (Margin(), 0.05, 0.0, ERRORS, 0.005),  # nobody makes an error
        (Margin(), 0.05, 1.7, ERRORS, 0.05),  # more errors than words
        (Margin(), None, 0.45, ERRORS, 0.05),  # no threshold was published
        (Margin(), 0.175, 0.98, RECALL, 0.005),  # a quarter of 2 % that are missed
        (Margin(), 0.175, 0.6, RECALL, 0.1),
        (Margin(), 0.075, 0.1, CONCORDANCE, 0.075),
        (Margin(), None, 0.1, CONCORDANCE, None),
        (Margin(0.1, None), 0.05, 0.02, ERRORS, 0.1),
        (Margin(0.1, None), None, 0.02, CONCORDANCE, 0.1),
        (Margin(0.02, 0.5, 0.001), 0.05, 0.01, ERRORS, 0.005),
        (Margin(), 0.05, None, ERRORS, 0.05),
        (Margin(), 0.05, float("nan"), ERRORS, 0.05),
    ],
)
def test_the_margin_of_a_difference(margin, published, reference, info, expected):
    assert margin.of(published, reference, info) == (expected and pytest.approx(expected))


def test_more_errors_of_the_reference_never_lower_the_margin():
    margins = [Margin().of(0.05, rate / 1000, ERRORS) for rate in range(1000)]
    assert margins == sorted(margins) and min(margins) == 0.005 and max(margins) == 0.05
