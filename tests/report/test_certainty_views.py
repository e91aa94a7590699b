"""Risk against coverage as it is drawn, and what is said of it."""

import numpy as np
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
    assert _finding(nothing, nothing) == ""


def test_the_finding_says_which_is_more():
    sure = np.array([0.9, 0.8])
    assert "85.0 % sure and right in 50.0 %" in _finding(sure, np.array([1.0, 0.0]))
    assert _finding(sure, np.array([1.0, 0.0])).endswith(": surer than it is right")
    assert _finding(sure, np.array([1.0, 1.0])).endswith(": less sure than it is right")
    assert _finding(np.array([0.5, 0.5]), np.array([1.0, 0.0])).endswith(": as sure as it is right")
