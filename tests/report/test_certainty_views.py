"""Risk against coverage as it is drawn, and what is said of it."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.report.certainty_views import _finding, _risk


def test_risk_is_given_where_equal_confidences_end():
    confidence, correct = np.array([0.9, 0.5, 0.5, np.nan, 0.7]), np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    coverage, risk = _risk(confidence, correct)
    assert coverage == pytest.approx([0.25, 0.5, 1.0])
    assert risk == pytest.approx([0, 0.5, 0.5])


def test_few_points_are_drawn_of_many():
    rng = np.random.default_rng(0)
    coverage, risk = _risk(rng.random(5000), rng.integers(0, 2, 5000).astype(float))
    assert len(coverage) == len(risk) == 200
    assert coverage[-1] == 1


def test_nothing_is_known():
    nothing = np.full(3, np.nan)
    assert len(_risk(nothing, nothing)[0]) == 0
    assert _finding(overconfidence(0, 0, 0), nothing, nothing) == ""


def overconfidence(value, low, high):
    return pd.DataFrame({"value": [value], "low": [low], "high": [high]})


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.2, 0.5, "overconfidence 0.35 (95 % 0.20 to 0.50): surer than it is right"),
        (-0.5, -0.2, "overconfidence −0.35 (95 % −0.50 to −0.20): less sure than it is right"),
        (-0.06, 0.05, "overconfidence −0.0050 (95 % −0.060 to 0.050)"),
        (np.nan, np.nan, "overconfidence 0.35 (no interval)"),
    ],
)
def test_the_finding_claims_a_direction_only_where_the_interval_has_one(low, high, said):
    sure, right = np.array([0.9, 0.8]), np.array([1.0, 0.0])
    rows = overconfidence(0.35 if np.isnan(low) else (low + high) / 2, low, high)
    start = "On average the model is 85.0 % sure and right in 50.0 % of words"
    assert _finding(rows, sure, right, "words") == f"{start}; {said}"
    assert _finding(rows.iloc[:0], sure, right, "words") == start
