"""Risk against coverage as it is drawn, and what is said of it."""

from types import SimpleNamespace

import numpy as np
import pytest

from soundcheck.report.certainty_views import finding, risk_at_coverage


def test_risk_is_given_where_equal_confidences_end():
    confidence, correct = np.array([0.9, 0.5, 0.5, np.nan, 0.7]), np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    coverage, risk = risk_at_coverage(confidence, correct)
    assert coverage == pytest.approx([0.25, 0.5, 1.0])
    assert risk == pytest.approx([0, 0.5, 0.5])


def test_few_points_are_drawn_of_many():
    rng = np.random.default_rng(0)
    coverage, risk = risk_at_coverage(rng.random(5000), rng.integers(0, 2, 5000).astype(float))
    assert len(coverage) == len(risk) == 200
    assert coverage[-1] == 1


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.2, 0.5, "0.35 (95 % 0.20 to 0.50): overconfident"),
        (-0.5, -0.2, "−0.35 (95 % −0.50 to −0.20): underconfident"),
        (-0.06, 0.05, "−0.0050 (95 % −0.060 to 0.050)"),
        (np.nan, np.nan, "0.35 (no interval)"),
    ],
)
def test_the_finding_claims_a_direction_only_where_the_interval_has_one(low, high, said):
    row = SimpleNamespace(value=0.35 if np.isnan(low) else (low + high) / 2, low=low, high=high)
    assert finding(row, "words") == f"Mean confidence minus share of right words: {said}"
