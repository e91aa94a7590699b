"""t-tests from replicates against the textbook tests that they stand for."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import false_discovery_control

from soundcheck.statistics import draws
from soundcheck.statistics.significance import (
    adjusted_p_values,
    paired_interval,
    paired_p_value,
    standard_error,
    welch,
)


def drawn(values, replicates=20_000):
    return draws.weights(len(values), replicates, 1) @ values / len(values)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("blocks", [5, 12, 40])
def test_one_value_a_block_is_the_textbook_t_test(blocks, alternative):
    values = np.random.default_rng(blocks).normal(0.4, 1, blocks)
    oracle = stats.ttest_1samp(values, 0, alternative=alternative)
    found = paired_p_value(drawn(values), values.mean(), blocks, alternative)
    assert found == pytest.approx(oracle.pvalue, abs=0.01)
    low, high = paired_interval(drawn(values), values.mean(), blocks)
    both = stats.ttest_1samp(values, 0).confidence_interval()
    assert (low, high) == pytest.approx((both.low, both.high), abs=0.03)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_different_blocks_are_the_textbook_welch_test(alternative):
    rng = np.random.default_rng(3)
    one, other = rng.normal(0, 1, 12), rng.normal(0.6, 2, 30)
    oracle = stats.ttest_ind(other, one, equal_var=False, alternative=alternative)
    errors = (standard_error(drawn(one), 12), standard_error(drawn(other), 30))
    p, low, high = welch(other.mean() - one.mean(), errors, (12, 30), alternative)
    assert p == pytest.approx(oracle.pvalue, abs=0.01)
    both = stats.ttest_ind(other, one, equal_var=False).confidence_interval()
    assert (low, high) == pytest.approx((both.low, both.high), abs=0.03)


def test_few_blocks_have_no_p_value():
    replicates = np.random.default_rng(0).normal(size=100)
    assert np.isnan(paired_p_value(replicates, 1.0, 4))
    assert np.isnan(paired_interval(replicates, 1.0, 4)).all()
    assert np.isnan(welch(1.0, (0.1, np.nan), (9, 4))).all()
    assert np.isnan(paired_p_value(np.full(100, np.nan), 1.0, 40))


def test_without_spread():
    assert paired_p_value(np.zeros(100), 0.0, 5) == 1
    assert paired_p_value(np.full(100, -0.1), -0.1, 5) == 2 / 2**5
    assert paired_p_value(np.full(100, -0.1), -0.1, 5, "less") == 1 / 2**5
    assert welch(0.1, (0.0, 0.0), (6, 9)) == (2 / 2**6, 0.1, 0.1)


@given(st.floats(-3, 3), st.integers(5, 60), st.floats(0.01, 2))
def test_interval_and_p_value_agree(estimate, blocks, spread):
    replicates = estimate + spread * np.linspace(-1, 1, 101)
    low, high = paired_interval(replicates, estimate, blocks)
    p = paired_p_value(replicates, estimate, blocks)
    assert (p < 0.05) == (low > 0 or high < 0) or p == pytest.approx(0.05, rel=1e-6)
    sides = [paired_p_value(replicates, estimate, blocks, side) for side in ("greater", "less")]
    assert sum(sides) == pytest.approx(1)
    assert 2 * min(sides) == pytest.approx(p)


# Adjusted p-values are those of scipy, to the last bit


@pytest.mark.parametrize("tests", [0, 1, 2, 7, 100])
def test_the_same_as_scipy(tests):
    rng = np.random.default_rng(tests)
    for p in (rng.uniform(size=tests), rng.integers(0, 3, tests) / 2, np.zeros(tests), np.ones(tests)):
        expected = false_discovery_control(p) if tests else p
        np.testing.assert_array_equal(adjusted_p_values(p), expected)


def test_what_every_run_loads_leaves_heavy_modules_alone():
    code = "import soundcheck.pipeline, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {"scipy.stats", "scipy.signal", "audformat", "matplotlib", "seaborn", "distributed", "nbformat"}
    assert heavy.isdisjoint(loaded.split())


@pytest.mark.parametrize("model", ["prosody", "biased", "voiceprint"])
def test_a_demo_model_that_is_only_checked_loads_no_tables(model):
    code = f"import soundcheck_demo.models.{model}, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert {"scipy.stats", "scipy.signal", "pandas", "joblib", "sklearn"}.isdisjoint(loaded.split())
