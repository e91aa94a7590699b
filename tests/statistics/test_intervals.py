"""Intervals and certainty of given replicates, by known answers."""

import numpy as np
import pytest

from soundcheck.statistics.evidence import certainty, interval


def test_percentile_interpolates_linearly():
    assert interval(np.arange(101) / 100) == (0.025, 0.975)
    assert interval([0.3, 0.1, np.nan, 0.2], level=0.5) == (0.15, 0.25)


def test_expanded_uses_the_t_distribution():
    samples = np.random.default_rng(0).normal(size=200_000)
    low, high = interval(samples, "expanded", blocks=10)
    reach = np.sqrt(10 / 9) * 2.262157  # t of 9 degrees of freedom at 0.975, from a table
    assert high == pytest.approx(reach, abs=0.03) and low == pytest.approx(-reach, abs=0.03)
    assert interval(samples, "expanded", blocks=10**6) == pytest.approx(interval(samples), abs=1e-4)
    assert np.isnan(interval(samples, "expanded", blocks=1)).all()


def test_gaussian_is_1_96_standard_deviations():
    samples = [0.1, 0.2, 0.3]
    assert interval(samples, "gaussian", value=0.25) == pytest.approx(
        (0.25 - 0.195996, 0.25 + 0.195996), abs=1e-6
    )


def test_unknown_interval():
    with pytest.raises(ValueError, match="percentile, expanded, gaussian, t, not 'bca'"):
        interval([0.1, 0.2], "bca")


def test_certainty_is_the_share_on_the_side_of_the_verdict():
    samples = np.array([0.1, 0.5, 0.6, np.nan, 0.7])
    assert certainty(samples, ">", 0.5, True) == 0.5  # strict: 0.5 itself fails
    assert certainty(samples, ">", 0.5, False) == 0.5
    assert certainty(samples, "<", 0.65, True) == 0.75
    assert certainty([-0.2, 0.01, 0.1, 0.3], "|value| <", 0.15, True) == 0.5
    assert np.isnan(certainty([np.nan], ">", 0.5, True))
