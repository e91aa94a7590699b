"""Permutation of speakers."""

import itertools

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics.regression import mean_value
from soundcheck.statistics import permutation
from soundcheck.statistics.permutation import arrangements, least_p_value, permuted_p_values


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
    assert len(every) == 56 == len(np.unique(every, axis=0))
    pieces = list(arrangements(40, 13, seed=0, most=4000))
    assert [piece.shape for piece in pieces] == [(permutation.DRAWS, 40)] * 2
    assert (np.concatenate(pieces).sum(axis=1) == 13).all() and not (pieces[0] == pieces[1]).all()
    assert (next(arrangements(40, 13, seed=0, most=4000)) == pieces[0]).all()


def test_a_group_of_uneven_speakers_is_not_accused_of_its_spread():
    values, group = np.random.default_rng(2).uniform(size=30), np.arange(30) < 10
    values[:10] = np.random.default_rng(2).uniform(0.4, 1, 10)
    assert p_of(values, group, 0.01) == p_of(values, group) < 0.5 < p_of(values, group, 1.0)
