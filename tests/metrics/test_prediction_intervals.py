"""Intervals for values, against numbers by hand."""

import numpy as np
import pytest

from soundcheck.metrics.additive import value
from soundcheck.metrics.confidence import interval_coverage, interval_skill


def test_coverage_and_skill_of_intervals():
    truth, low, high = (
        np.array([0.1, 0.5, 0.9, 0.3]),
        np.array([0.0, 0.6, 0.9, 0.1]),
        np.array([0.2, 0.8, 1, 0.2]),
    )
    assert value(interval_coverage(truth, low, high)) == 0.5
    assert value(interval_coverage(truth, low, high, above=0.9)) == pytest.approx(-0.4)
    score = np.mean([0.2, 0.2 + 10 * 0.1 * 2, 0.1, 0.1 + 10 * 0.1 * 2])
    usual = np.mean([0.8 + 20 * 0.0, 0.8, 0.8, 0.8])
    found = value(interval_skill(truth, low, high, (0.1, 0.9), 0.9))
    assert found == pytest.approx(1 - score / usual)
