"""Intervals that leave out one block at a time."""

import numpy as np
import pytest
from scipy import stats

from soundcheck.statistics.jackknife import Estimate, jackknife


def mean(values):
    return lambda rows: values[rows].mean() if rows.any() else np.nan


def test_of_a_mean_it_is_the_interval_of_student(rng):
    values = rng.standard_normal(12)
    found = jackknife(mean(values), np.arange(12))
    known = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx(known)
    assert found.value == values.mean()


def test_rows_of_one_block_are_left_out_together():
    values = np.repeat([0.0, 1, 0, 1, 0, 1], 50)
    wide = jackknife(mean(values), np.repeat(np.arange(6), 50))
    narrow = jackknife(mean(values), np.arange(300))
    assert wide.low < 0 < narrow.low


def test_more_looks_widen_the_interval(rng):
    values = rng.standard_normal(20)
    one, many = (jackknife(mean(values), np.arange(20), looks=looks) for looks in (1, 10))
    assert many.low < one.low < one.high < many.high


def test_without_enough_blocks_there_is_no_interval():
    found = jackknife(mean(np.arange(4.0)), np.arange(4))
    assert found.value == 1.5
    assert np.isnan([found.low, found.high]).all()
    assert not found.lies_apart()
    assert np.isnan(jackknife(mean(np.empty(0)), np.empty(0, dtype=int)).value)


def test_a_number_that_is_not_defined_without_a_block_has_no_interval():
    values = np.array([1.0, 0, 0, 0, 0, 0])
    found = jackknife(lambda rows: 1.0 if values[rows].any() else np.nan, np.arange(6))
    assert np.isnan(found.low)


def test_many_blocks_are_left_out_in_groups(rng):
    values = rng.standard_normal(6000)
    calls = []
    found = jackknife(lambda rows: calls.append(1) or values[rows].mean(), np.arange(6000))
    assert len(calls) == 61
    assert found.high - found.low == pytest.approx(4 * values.std() / np.sqrt(6000), rel=0.3)


def test_apart_means_that_the_interval_does_not_hold_the_number():
    assert Estimate(1, 0.5, 1.5).lies_apart()
    assert Estimate(-1, -1.5, -0.5).lies_apart()
    assert not Estimate(1, -0.5, 1.5).lies_apart()
    assert not Estimate(1, 0.5, 1.5).lies_apart(1)
