"""Permutation of speakers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics.regression import mean_value
from soundcheck.statistics import permutation
from soundcheck.statistics.permutation import arrangements, least_p_value, permuted_p_values

NO_SPREAD = np.array([np.nan])


def p_of(values: np.ndarray, group: np.ndarray, **options) -> float:
    """Give the p-value of speakers with one segment each."""
    statistic = mean_value(values)
    sums = statistic.block_sums(np.arange(len(values)), len(values))
    return float(permuted_p_values(statistic, sums, group, NO_SPREAD, **options)[0])


def test_few_speakers_are_permuted_exactly():
    values = np.random.default_rng(0).uniform(size=9)
    group = np.arange(9) < 4
    gap = abs(values[:4].mean() - values[4:].mean())
    extreme = [
        abs(values[list(own)].mean() - np.delete(values, list(own)).mean()) >= gap - 1e-12
        for own in itertools.combinations(range(9), 4)
    ]
    assert p_of(values, group) == pytest.approx(np.mean(extreme))
    signed = [
        values[list(own)].mean() - np.delete(values, list(own)).mean()
        >= values[:4].mean() - values[4:].mean() - 1e-12
        for own in itertools.combinations(range(9), 4)
    ]
    assert p_of(values, group, rule="<") == pytest.approx(np.mean(signed))


def test_many_speakers_agree_with_scipy():
    rng = np.random.default_rng(3)
    values, group = rng.uniform(size=60), np.arange(60) < 25
    values[group] += 0.15
    values = np.clip(values, 0, 1)
    expected = stats.permutation_test(
        (values[:25], values[25:]),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        vectorized=True, n_resamples=20_000, rng=1,
    ).pvalue  # fmt: skip
    found = p_of(values, group, seed=5)
    assert found == pytest.approx(expected, abs=4 * np.sqrt(expected / 2000))


def test_p_values_of_fair_models_are_uniform():
    rng = np.random.default_rng(0)
    found = [p_of(rng.uniform(size=24), np.arange(24) < 9, seed=n % 20) for n in range(300)]
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_more_arrangements_are_drawn_where_few_are_as_extreme():
    values = np.concatenate([np.full(20, 0.9), np.full(20, 0.1)]) + np.random.default_rng(0).normal(
        0, 0.01, 40
    )
    group = np.arange(40) < 20
    assert p_of(values, group, most=2000) == pytest.approx(1 / 2001)
    assert p_of(values, group, most=20_000) == pytest.approx(1 / 20_001)


def test_a_group_of_uneven_speakers_is_not_accused_of_its_spread():
    values, group = np.random.default_rng(2).uniform(size=30), np.arange(30) < 10
    values[:10] = np.random.default_rng(2).uniform(0.4, 1, 10)
    statistic = mean_value(values)
    sums = statistic.block_sums(np.arange(30), 30)
    plain, wide = (permuted_p_values(statistic, sums, group, np.array([sd]))[0] for sd in (0.01, 1.0))
    assert plain == p_of(values, group)
    assert wide > 0.5 > plain


def test_least_p_value():
    assert least_p_value(10, 5) == pytest.approx(2 / 252)
    assert least_p_value(10, 4) == pytest.approx(1 / 210)
    assert least_p_value(100, 50) is None


def test_arrangements_are_all_of_them_or_drawn_with_the_right_size():
    (every,) = arrangements(8, 3, seed=0)
    assert len(every) == 56 == len(np.unique(every, axis=0))
    pieces = list(arrangements(40, 13, seed=0, most=4000))
    assert [piece.shape for piece in pieces] == [(permutation.DRAWS, 40)] * 2
    assert (np.concatenate(pieces).sum(axis=1) == 13).all()
    assert not (pieces[0] == pieces[1]).all()
    (again, _) = arrangements(40, 13, seed=0, most=4000)
    assert (again == pieces[0]).all()
