"""Intervals and p-values: from replicates, what they say of thresholds, and by permutation of speakers."""

import itertools

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics.regression import mean_value
from soundcheck.statistics import bootstrap, permutation
from soundcheck.statistics.evidence import (
    CLEAR_FAIL,
    CLEAR_PASS,
    NO_INTERVAL,
    OPEN,
    Scale,
    adjusted_p_values,
    bound,
    certainty,
    evidence,
    interval,
    interval_error,
    p_value,
    paired_test,
    standard_error,
    t_interval,
    welch,
)
from soundcheck.statistics.permutation import arrangements, least_p_value, permuted_p_values

SHARE = Scale(0.0, 1.0)
SIDES = pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])


def means_drawn(values):
    """Means of values that are drawn again, one value a block."""
    return bootstrap.weights(len(values), 20_000, 1) @ values / len(values)


def test_intervals_stay_where_values_may_lie():
    rng = np.random.default_rng(0)
    drawn = np.clip(rng.normal(0.95, 0.03, 2000), 0, 0.999)
    low, high = t_interval(0.95, drawn, 10, SHARE)
    assert 0 < low < 0.95 < high < 1 < t_interval(0.95, drawn, 10)[1]
    few = np.where(np.arange(2000) < 100, 1.0, drawn)  # are as far as the farthest other
    assert t_interval(0.95, few, 10, SHARE) == t_interval(0.95, np.minimum(few, drawn[100:].max()), 10, SHARE)
    low, high = t_interval(0.1, np.abs(rng.normal(0.1, 0.02, 2000)), 8, Scale(low=0.0))
    assert np.log(high / 0.1) == pytest.approx(np.log(0.1 / low))  # errors without upper end: of logarithms


def test_on_a_limit_the_speakers_that_reach_it_are_counted():
    """All of ten speakers right: the lower end is where ten of ten happen once in forty times."""
    end, a_minute = 1 - 0.025**0.1, Scale(low=0.0, all_wrong=150.0)
    for value, scale, expected in (
        (1.0, SHARE, (1 - end, 1.0)),
        (0.0, Scale(low=0.0), (0.0, end)),
        (0.0, a_minute, (0.0, 150 * end)),  # words: one of ten speakers may be spoken to throughout
    ):
        assert t_interval(value, np.full(100, value), 10, scale) == pytest.approx(expected)
    drawn = np.where(np.arange(100) < 40, 1.0, 0.97)
    of_blocks = np.array([1.0] * 8 + [0.9, 0.8])
    expected = stats.binomtest(8, 10).proportion_ci()
    assert t_interval(0.97, drawn, 10, SHARE, of_blocks) == pytest.approx(tuple(expected))
    assert t_interval(0.3, drawn, 10, SHARE, of_blocks)[0] == 0.3  # the value itself is never left out
    assert t_interval(0.98, drawn, 10, SHARE, 0.98 * of_blocks)[1] == 1.0  # and no end before replicates
    for value, rule, threshold, scale, expected in (
        (1.0, ">", 0.5, SHARE, 1.0),
        (1.0, "<", 0.25, SHARE, 0.25**10),
        (0.0, "<", 15.0, a_minute, 1.0),
    ):
        result = p_value(value, np.full(100, value), 10, rule, threshold, scale)
        assert result == pytest.approx(expected)


def test_without_replicates_blocks_or_spread():
    unknown = np.full(10, np.nan)
    assert np.isnan([*t_interval(0.5, np.ones(100), 1), *t_interval(0.5, unknown, 9)]).all()
    assert np.isnan(p_value(0.5, unknown, 9, ">", 0.4))
    for value, rule, expected in ((0.3, ">", 0.5**9), (0.5, "<", 0.5)):
        assert p_value(value, np.full(10, value), 9, rule, 0.5) == expected  # the sign test


def test_what_an_interval_says_of_a_threshold():
    for rule, low, high, expected in (
        (">", 0.51, 0.6, CLEAR_PASS),
        (">", 0.4, 0.49, CLEAR_FAIL),
        ("<", 0.4, 0.6, OPEN),
        ("gap <", 0.6, 0.7, CLEAR_FAIL),
        ("|value| <", -0.05, 0.07, CLEAR_PASS),
        ("|gap| <", -0.8, -0.6, CLEAR_FAIL),
        (">", np.nan, np.nan, NO_INTERVAL),
    ):
        assert evidence(rule, low, high, 0.5) == expected


def test_intervals_and_certainties_of_given_replicates():
    assert interval(np.arange(101) / 100) == (0.025, 0.975)  # interpolated linearly
    assert interval([0.3, 0.1, np.nan, 0.2], level=0.5) == (0.15, 0.25)
    samples = np.random.default_rng(0).normal(size=200_000)
    reach = np.sqrt(10 / 9) * 2.262157  # t of 9 degrees of freedom at 0.975, from a table
    assert interval(samples, "expanded", blocks=10) == pytest.approx((-reach, reach), abs=0.03)
    assert interval(samples, "expanded", blocks=10**6) == pytest.approx(interval(samples), abs=1e-4)
    assert np.isnan(interval(samples, "expanded", blocks=1)).all()
    result = interval([0.1, 0.2, 0.3], "gaussian", value=0.25)
    assert result == pytest.approx((0.25 - 0.195996, 0.25 + 0.195996), abs=1e-6)
    with pytest.raises(ValueError, match="percentile, expanded, gaussian, t, not 'bca'"):
        interval([0.1, 0.2], "bca")
    samples = np.array([0.1, 0.5, 0.6, np.nan, 0.7])
    assert certainty(samples, ">", 0.5, True) == certainty(samples, ">", 0.5, False) == 0.5  # 0.5 fails
    assert certainty(samples, "<", 0.65, True) == 0.75 and np.isnan(certainty([np.nan], ">", 0.5, True))
    assert (bound(">", 0.4, 0.6), bound("<", 0.1, 0.2), bound("|gap| <", -0.3, 0.1)) == (0.4, 0.2, 0.3)


# Tests of differences


@SIDES
def test_the_same_blocks_are_the_textbook_t_test(alternative, blocks=40):
    values = np.random.default_rng(blocks).normal(0.4, 1, blocks)
    drawn, both = means_drawn(values), stats.ttest_1samp(values, 0).confidence_interval()
    for ends in (paired_test(drawn, values.mean(), blocks)[1:], t_interval(values.mean(), drawn, blocks)):
        assert ends == pytest.approx((both.low, both.high), abs=0.03)
    oracle = stats.ttest_1samp(values, 0, alternative=alternative).pvalue
    result = paired_test(drawn, values.mean(), blocks, alternative)[0]
    assert result == pytest.approx(oracle, abs=0.01)
    if alternative != "two-sided":
        rule = {"greater": "<", "less": ">"}[alternative]
        assert p_value(values.mean(), drawn, blocks, rule, 0.0) == pytest.approx(oracle, abs=0.01)


@SIDES
def test_different_blocks_are_the_textbook_welch_test(alternative):
    rng = np.random.default_rng(3)
    one, other = rng.normal(0, 1, 12), rng.normal(0.6, 2, 30)
    oracle = stats.ttest_ind(other, one, equal_var=False, alternative=alternative)
    errors = (standard_error(means_drawn(one), 12), standard_error(means_drawn(other), 30))
    for kind in ("t", "gaussian"):  # of an earlier run only the interval is left
        ends = interval(means_drawn(one), kind, blocks=12, value=one.mean())
        assert interval_error(*ends, 12, kind) == pytest.approx(errors[0])
    p, *ends = welch(other.mean() - one.mean(), errors, (12, 30), alternative)
    assert p == pytest.approx(oracle.pvalue, abs=0.01)
    both = stats.ttest_ind(other, one, equal_var=False).confidence_interval()
    assert ends == pytest.approx([both.low, both.high], abs=0.03)


def test_differences_of_few_blocks_and_without_spread():
    replicates = np.random.default_rng(0).normal(size=100)
    few = [paired_test(replicates, 1.0, 4)[0], *paired_test(replicates, 1.0, 4)[1:]]
    few += [*welch(1.0, (0.1, np.nan), (9, 4)), paired_test(np.full(100, np.nan), 1.0, 40)[0]]
    assert np.isnan(few).all()
    assert paired_test(np.zeros(100), 0.0, 5)[0] == 1
    assert paired_test(np.full(100, -0.1), -0.1, 5)[0] == 2 / 2**5
    assert welch(0.1, (0.0, 0.0), (6, 9)) == (2 / 2**6, 0.1, 0.1)


def test_adjusted_p_values_are_those_of_scipy_to_the_last_bit(rng):
    for p in (rng.uniform(size=100), rng.integers(0, 3, 100) / 2, np.ones(1)):
        np.testing.assert_array_equal(adjusted_p_values(p), stats.false_discovery_control(p))
    assert len(adjusted_p_values(np.zeros(0))) == 0


def p_of(values: np.ndarray, group: np.ndarray, spread: float = np.nan, **options) -> float:
    """Give the p-value of speakers with one segment each."""
    statistic = mean_value(values)
    sums = statistic.block_sums(np.arange(len(values)), len(values))
    return float(permuted_p_values(statistic, sums, group, np.array([spread]), **options)[0])


def test_few_speakers_are_permuted_exactly():
    values, group = np.random.default_rng(0).uniform(size=9), np.arange(9) < 4
    gap = values[:4].mean() - values[4:].mean()
    every = map(list, itertools.combinations(range(9), 4))
    gaps = np.array([values[members].mean() - np.delete(values, members).mean() for members in every])

    assert p_of(values, group) == pytest.approx(np.mean(abs(gaps) >= abs(gap) - 1e-12))
    assert p_of(values, group, rule="<") == pytest.approx(np.mean(gaps >= gap - 1e-12))


def test_many_speakers_agree_with_scipy():
    rng = np.random.default_rng(3)
    values, group = rng.uniform(size=60), np.arange(60) < 25
    values[group] += 0.15
    values = np.clip(values, 0, 1)

    def gap(a, b, axis):
        return a.mean(axis=axis) - b.mean(axis=axis)

    both = values[:25], values[25:]
    expected = stats.permutation_test(both, gap, vectorized=True, n_resamples=20_000, rng=1).pvalue
    result = p_of(values, group, seed=5)
    assert result == pytest.approx(expected, abs=4 * np.sqrt(expected / 2000))


def test_more_arrangements_are_drawn_where_few_are_as_extreme():
    noise, group = np.random.default_rng(0).normal(0, 0.01, 40), np.arange(40) < 20
    values = np.where(group, 0.9, 0.1) + noise
    assert p_of(values, group, most=2000) == pytest.approx(1 / 2001)
    assert p_of(values, group, most=20_000) == pytest.approx(1 / 20_001)
    (every,) = arrangements(8, 3, seed=0)
    assert least_p_value(100, 50) is None and least_p_value(8, 3) == 1 / 56
    assert least_p_value(8, 4) == 2 * least_p_value(8, 4, "<")  # the other half is as extreme, or better off
    assert len(every) == 56 == len(np.unique(every, axis=0))
    pieces = list(arrangements(40, 13, seed=0, most=4000))
    assert [piece.shape for piece in pieces] == [(permutation.DRAWS, 40)] * 2
    assert (np.concatenate(pieces).sum(axis=1) == 13).all() and not (pieces[0] == pieces[1]).all()
    assert (next(arrangements(40, 13, seed=0, most=4000)) == pieces[0]).all()


def test_a_group_of_uneven_speakers_is_not_accused_of_its_spread():
    values, group = np.random.default_rng(2).uniform(size=30), np.arange(30) < 10
    values[:10] = np.random.default_rng(2).uniform(0.4, 1, 10)
    assert p_of(values, group, 0.01) == p_of(values, group) < 0.5 < p_of(values, group, 1.0)
