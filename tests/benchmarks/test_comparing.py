"""The study of equal models: its models are what it says, and what it recorded keeps the promise."""

import numpy as np
import pytest
from benchmarks.comparing import BETTER_TESTS, EQUAL, KINDS, TESTS, WRONG, accuracies, comparisons

from soundcheck.report.study_figures import recorded


@pytest.mark.parametrize("kind", ["independent", "correlated"])
def test_models_differ_as_planted_and_tests_are_correlated_as_asked(kind):
    accuracy, common = KINDS[kind]
    gains = np.where(np.arange(TESTS) < BETTER_TESTS, 0.1, 0.0)
    old, new = accuracies(np.random.default_rng(0), 400, accuracy, common, gains)
    gap = (new - old).mean(axis=0)
    assert old.mean() == pytest.approx(accuracy, abs=0.02)
    assert gap[:BETTER_TESTS].mean() - gap[BETTER_TESTS:].mean() == pytest.approx(0.1, abs=0.015)
    assert gap[BETTER_TESTS:].mean() == pytest.approx(0, abs=0.02)
    alike = np.corrcoef((new - old).T)[np.triu_indices(TESTS, 1)].mean()
    assert alike > 0.5 if common else alike < 0.4


def test_equal_models_and_percentile_intervals():
    outcomes = [
        (sum(row.outcome != "no evidence" for row in rows), int(percentile.sum()))
        for rows, percentile in comparisons("groups", 20, 3)
    ]
    assert [marks for marks, _ in outcomes] == [0, 0, 0]


def test_recorded_table_keeps_the_promise():
    table, made = recorded("comparing")
    assert "benchmarks/comparing.py" in made
    equal = table[table["better by"] == 0]
    slack = 2.6 * np.sqrt(EQUAL * (1 - EQUAL) / equal["comparisons"])
    assert set(equal["tests"]) == set(KINDS)
    assert (equal["equal"] >= EQUAL - slack).all()
    assert equal["equal"].mean() >= EQUAL
    assert (equal["equal by percentiles"] < equal["equal"]).all()
    better = table[table["better by"] > 0]
    assert (better["wrong"] <= WRONG + 2.6 * np.sqrt(WRONG / better["comparisons"])).all()
