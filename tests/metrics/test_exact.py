"""Layers of numbers sum to them, and their weighted sums are exact; see test_additive.py for block sums."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.additive import block_layers, largest, layers

NUMBERS = st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 6)), min_size=1, max_size=60)


@settings(max_examples=25, deadline=None)
@given(NUMBERS, st.integers(1, 10**6))
def test_weighted_sums_of_a_layer_are_exact(numbers, weight):
    parts = list(layers(np.array(numbers), weight * len(numbers)))
    together = np.sum(parts, axis=0) if parts else np.zeros(len(numbers))
    np.testing.assert_allclose(together, numbers, rtol=0, atol=2.0**-40 * largest(np.array(numbers)))
    for part in parts:
        exact = sum(Fraction(float(x)) * weight for x in part)
        assert Fraction(float((part * weight).sum())) == exact


def test_nothing_and_zeros_have_no_layer():
    assert list(layers(np.zeros(3), 9)) == [] and block_layers(np.zeros(0), np.zeros(0, int), 2, 0) == []
    assert largest(np.array([])) == 0.0 and largest(np.array([1.0, -3.0])) == 3.0
    assert np.isnan(largest(np.array([1.0, np.nan])))
