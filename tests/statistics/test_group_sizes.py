"""Sizes of groups: fewest segments of a bin, and equal sizes that stand for unequal ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.statistics.balance import equal_size

LANGUAGES, SENTIMENT = {"count": 67, "segments": 2000}, {"count": 67, "segments": 2000}
SEXES, ACCENTS = {"count": 67, "segments": 1000}, {"count": 4, "segments": 60}


@given(st.integers(1, 500), st.integers(2, 40))
def test_equal_groups_have_their_own_size(size, groups):
    assert {equal_size([size] * groups, place) for place in range(groups)} == {size}


@pytest.mark.parametrize("sizes", [(808, 88, 88, 88, 88), (30, 300), (12, 60, 24)])
def test_differences_vary_as_those_of_equal_groups(sizes, rng):
    """Standard deviations of simulated differences from the average over groups."""

    def deviation(sizes, tested):
        means = [rng.normal(0, 1, (20_000, size)).mean(axis=1) for size in sizes]
        return (means[tested] - np.mean(means, axis=0)).std()

    for tested in range(2):
        equal = [equal_size(sizes, tested)] * len(sizes)
        assert deviation(sizes, tested) == pytest.approx(deviation(equal, 0), rel=0.03)
