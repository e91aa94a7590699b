"""Sizes of groups: fewest segments of a bin, and equal sizes that stand for unequal ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.statistics.balance import equal_size, least_per_bin, least_predictions

LANGUAGES, SENTIMENT = {"count": 67, "segments": 2000}, {"count": 67, "segments": 2000}
SEXES, ACCENTS = {"count": 67, "segments": 1000}, {"count": 4, "segments": 60}


@pytest.mark.parametrize(
    ("published", "size", "least"),
    [
        (LANGUAGES, 2000, 67),
        (LANGUAGES, 5000, 67),
        (LANGUAGES, 1000, 34),
        (LANGUAGES, 1160 / 5, 8),
        (LANGUAGES, 100, 4),  # 3.4
        (LANGUAGES, 10, 4),
        (SENTIMENT, 2000, 67),
        (SENTIMENT, 36, 4),
        (SEXES, 1000, 67),
        (SEXES, 999, 67),
        (SEXES, 500, 34),
        (SEXES, 400, 27),
        (SEXES, 45, 4),
        (ACCENTS, 60, 4),
        (ACCENTS, 200, 4),
        (ACCENTS, 10, 4),
        ({"count": 2, "segments": 60}, 10, 2),  # a suite's own number may be smaller
    ],
)
def test_least_number(published, size, least):
    assert least_per_bin(published, size) == least


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


@pytest.mark.parametrize("sizes", [(5,), (5, 0), ()])
def test_too_few_groups(sizes):
    with pytest.raises(ValueError, match="Two groups"):
        equal_size(sizes, 0)


def test_groups_of_the_published_size_keep_the_published_rule():
    published = {"count": 67, "segments": 1000}
    assert [least_predictions(published, size) for size in (1000, 5000)] == [0, 0]
    for size in (999, 500, 60, 1):
        assert least_predictions(published, size) == least_per_bin(published, size) >= 4
