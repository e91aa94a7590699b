"""Which of several groups stands for one weakness: cases worked out by hand."""

import numpy as np

from soundcheck.statistics.worst_groups import repeated_groups

N = 12


def group(*segments: int) -> tuple[np.ndarray, np.ndarray]:
    own = np.isin(np.arange(N), segments)
    return own, ~own


def by(errors):
    """Say that segments are served worse if their mean is higher by 0.2."""
    errors = np.array(errors, dtype=float)

    def worse(own: np.ndarray, rest: np.ndarray) -> bool:
        return bool(own.any() and rest.any() and errors[own].mean() - errors[rest].mean() > 0.2)

    return worse


def test_nothing_is_nothing():
    assert repeated_groups([], by([0] * N)) == {}


def test_a_group_that_shares_half_stands_below():
    errors = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(0, 1, 2, 3), group(1, 2, 3)], by(errors)) == {0: [1, 2]}


def test_a_group_that_shares_less_stands_alone_only_if_it_is_worse_without():
    errors = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(1, 2, 3)], by(errors)) == {0: [1]}
    errors = [1, 1, 0.8, 0.8, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(1, 2, 3)], by(errors)) == {0: [], 1: []}


def test_a_group_that_shares_nothing_stands_alone():
    assert repeated_groups([group(0, 1), group(2, 3)], by([0] * N)) == {0: [], 1: []}


def test_a_part_that_is_no_worse_than_the_rest_stands_below_the_whole():
    errors = [1, 0.9, 0.9, 0.9, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(0, 1, 2, 3)], by(errors)) == {1: [0]}
    errors = [1, 1, 0.1, 0.1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert repeated_groups([group(0, 1), group(0, 1, 2, 3)], by(errors)) == {0: [1]}


def test_a_part_goes_where_its_whole_goes():
    errors = [1, 1, 0.3, 0.3, 0, 0, 0, 0, 0, 0, 0, 0]
    # The last one lies within the second and is no worse than the rest of it.
    sides = [group(0, 1), group(0, 1, 2, 3), group(1, 2)]
    assert repeated_groups(sides, by(errors)) == {0: [1, 2]}
