"""Adjusted p-values are those of scipy, to the last bit."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from soundcheck.statistics.significance import adjusted_p_values


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
