"""t intervals, p-values and what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from soundcheck.statistics.evidence import (
    CLEAR_FAIL,
    CLEAR_PASS,
    NO_INTERVAL,
    OPEN,
    Scale,
    bound,
    certainty,
    evidence,
    interval,
    p_value,
    t_interval,
)

SHARE = Scale(0.0, 1.0)


def replicates(mean: float = 0.6, sd: float = 0.05, n: int = 2000) -> np.ndarray:
    return np.random.default_rng(0).normal(mean, sd, n)


def test_the_interval_of_a_mean_is_that_of_the_t_test():
    values = np.random.default_rng(1).normal(0.5, 0.1, 12)
    drawn = values[np.random.default_rng(2).integers(12, size=(200_000, 12))].mean(axis=1)
    low, high = t_interval(values.mean(), drawn, 12)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-3)


def test_the_p_value_of_a_mean_is_that_of_the_t_test():
    values = np.random.default_rng(1).normal(0.5, 0.1, 12)
    drawn = values[np.random.default_rng(2).integers(12, size=(200_000, 12))].mean(axis=1)
    expected = stats.ttest_1samp(values, 0.55, alternative="less").pvalue
    assert p_value(values.mean(), drawn, 12, ">", 0.55) == pytest.approx(expected, abs=1e-3)
    assert p_value(values.mean(), drawn, 12, "<", 0.55) == pytest.approx(1 - expected, abs=1e-3)


def test_intervals_of_shares_stay_between_0_and_1():
    drawn = np.clip(replicates(0.95, 0.03), 0, 0.999)
    low, high = t_interval(0.95, drawn, 10, SHARE)
    assert 0 < low < 0.95 < high < 1
    free = t_interval(0.95, drawn, 10)
    assert free[1] > 1 > high


def test_errors_without_upper_end_are_looked_at_on_a_logarithmic_scale():
    low, high = t_interval(0.1, np.abs(replicates(0.1, 0.02)), 8, Scale(low=0.0))
    assert 0 < low < 0.1 < high
    assert np.log(high / 0.1) == pytest.approx(np.log(0.1 / low))


def test_on_a_limit_the_speakers_that_reach_it_are_counted():
    """All of ten speakers right: the lower end is where ten of ten happen once in forty times."""
    assert t_interval(1.0, np.ones(100), 10, SHARE) == pytest.approx((0.025**0.1, 1.0))
    assert t_interval(0.0, np.zeros(100), 10, SHARE) == pytest.approx((0.0, 1 - 0.025**0.1))
    assert t_interval(0.0, np.zeros(100), 10, Scale(low=0.0)) == pytest.approx((0.0, 1 - 0.025**0.1))
    a_minute = Scale(low=0.0, all_wrong=150.0)  # words: one of ten speakers may be spoken to throughout
    assert t_interval(0.0, np.zeros(100), 10, a_minute) == pytest.approx((0.0, 150 * (1 - 0.025**0.1)))
    assert p_value(0.0, np.zeros(100), 10, "<", 15.0, a_minute) == pytest.approx(1.0)
    drawn = np.where(np.arange(100) < 40, 1.0, 0.97)
    of_blocks = np.array([1.0] * 8 + [0.9, 0.8])
    expected = stats.binomtest(8, 10).proportion_ci()
    found = t_interval(0.97, drawn, 10, SHARE, of_blocks)
    assert found == pytest.approx((expected.low, expected.high))


def test_the_p_value_on_a_limit_is_that_of_the_binomial():
    assert p_value(0.0, np.zeros(100), 10, ">", 0.5, SHARE) == pytest.approx(0.5**10)
    assert p_value(1.0, np.ones(100), 10, ">", 0.5, SHARE) == pytest.approx(1.0)
    assert p_value(1.0, np.ones(100), 10, "<", 0.25, SHARE) == pytest.approx(0.25**10)


def test_what_cannot_be_known():
    assert np.isnan(t_interval(0.5, np.ones(100), 1)).all()
    assert np.isnan(t_interval(0.5, np.full(10, np.nan), 9)).all()
    assert np.isnan(p_value(0.5, np.full(10, np.nan), 9, ">", 0.4))


def test_values_that_no_draw_changes_are_judged_by_the_sign_test():
    assert p_value(0.3, np.full(10, 0.3), 9, ">", 0.5) == 0.5**9
    assert p_value(0.3, np.full(10, 0.3), 9, "<", 0.5) == 1 - 0.5**9
    assert p_value(0.5, np.full(10, 0.5), 9, "<", 0.5) == 0.5


@pytest.mark.parametrize(
    ("rule", "low", "high", "threshold", "said"),
    [
        (">", 0.51, 0.6, 0.5, CLEAR_PASS),
        (">", 0.4, 0.49, 0.5, CLEAR_FAIL),
        (">", 0.4, 0.6, 0.5, OPEN),
        ("<", 0.1, 0.2, 0.25, CLEAR_PASS),
        ("gap <", 0.3, 0.4, 0.25, CLEAR_FAIL),
        ("|value| <", -0.05, 0.07, 0.075, CLEAR_PASS),
        ("|gap| <", -0.2, -0.08, 0.075, CLEAR_FAIL),
        ("|gap| <", -0.2, 0.2, 0.075, OPEN),
        (">", np.nan, np.nan, 0.5, NO_INTERVAL),
    ],
)
def test_evidence(rule, low, high, threshold, said):
    assert evidence(rule, low, high, threshold) == said


def test_the_bound_is_the_worst_that_is_left():
    assert bound(">", 0.4, 0.6) == 0.4
    assert bound("<", 0.1, 0.2) == 0.2
    assert bound("|gap| <", -0.3, 0.1) == 0.3


# Intervals and certainty of given replicates, by known answers


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
