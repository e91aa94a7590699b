"""The segments that are chosen are the right ones, whatever the order of the table."""

import numpy as np
import pytest

from soundcheck.report.chosen_segments import BEST, TYPICAL, WORST, choose, gaps, smallest


def names(found, keys, why):
    return [keys[one.row] for one in found if one.why == why]


@pytest.mark.parametrize("seed", range(3))
def test_worst_typical_and_best_in_any_order(seed):
    scores = np.array([0.0, 0.1, 0.1, 0.4, 0.5, 0.9, 0.9, 0.9, np.nan])
    keys = np.array(list("hgfedcbaz"), dtype=object)
    order = np.random.default_rng(seed).permutation(len(keys))
    found = choose(scores[order], keys[order], worst=2, typical=1, best=2)
    chosen = {why: names(found, keys[order], why) for why in (WORST, TYPICAL, BEST)}
    # Of the three worst the two with the smallest keys; the median of eight is 0.45, so 0.4 and 0.5 tie.
    assert chosen == {WORST: ["a", "b"], TYPICAL: ["d"], BEST: ["h", "f"]}


def test_each_segment_once_and_none_without_a_score():
    keys = np.array(["a", "b"], dtype=object)
    found = choose(np.array([0.5, np.nan]), keys, worst=3, typical=3, best=3)
    assert [tuple(one) for one in found] == [(0, WORST)]
    assert choose(np.array([np.nan, np.nan]), keys, worst=1) == []
    assert choose(np.array([1.0, 2.0]), keys, np.array([False, False]), worst=1) == []


def test_typical_is_the_median_within_the_mask():
    scores, keys = np.arange(10.0), np.array(list("abcdefghij"), dtype=object)
    found = choose(scores, keys, np.arange(10) < 5, typical=1)
    assert [one.row for one in found] == [2]


def test_smallest_of_many_equal_ones():
    keys = np.array([f"{n:05d}" for n in range(5000)][::-1], dtype=object)
    assert smallest(np.zeros(5000), keys, np.arange(5000), 2) == [4999, 4998]


def test_gaps_are_against_the_other_groups():
    scores = np.array([1.0, 1.0, 0.0, 0.5, 9.0, np.nan])
    masks = {
        "a": np.array([1, 1, 0, 0, 0, 0], bool),
        "b": np.array([0, 0, 1, 1, 0, 0], bool),
        "nothing": np.array([0, 0, 0, 0, 0, 1], bool),
    }
    assert gaps(scores, masks) == [(0.75, "a"), (-0.75, "b")]
    assert gaps(scores, {"a": masks["a"]}) == [] and gaps(scores, {}) == []
