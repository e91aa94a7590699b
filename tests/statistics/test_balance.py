"""Balanced groups: equal sizes, equal truth, the algorithm of the method page, independent of row order."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.seeds import generator, uniform
from soundcheck.statistics.balance import at_most, balance, draw_speakers

CLASSES = ("anger", "happiness", "neutral", "sadness")


def draw(truth, groups, samples, kind, seed=0, order=None):
    order = [f"key {n:06d}" for n in range(len(truth))] if order is None else order
    return balance(truth, groups, samples, generator(seed, "balance"), kind, order)


def greedy(wanted, available):
    """Match each value with the nearest remaining one, ties to the lower: slow and obvious."""
    left, picked = sorted(available), []
    for value in wanted:
        nearest = min(left, key=lambda other: (round(abs(other - value), 9), other))
        left.remove(nearest)
        picked.append(nearest)
    return picked


def test_groups_have_the_same_size_and_classes(rng):
    truth = rng.choice(CLASSES, 3000)
    groups = rng.choice(["female", "male"], 3000, p=[0.3, 0.7])
    found = draw(truth, groups, 500, "classification")
    assert found.segments_per_group == found.wanted == 500 and found.note == ""
    assert len(found.rows) == len(set(found.rows)) == 1000
    for name in CLASSES:
        counts = [np.sum(truth[found.rows][groups[found.rows] == g] == name) for g in ("female", "male")]
        assert counts[0] == counts[1] > 0


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from([1, 2, 8]))
def test_regression_matches_like_a_slow_greedy_search(seed, samples, decimals):
    rng = np.random.default_rng(seed)
    truth = np.round(rng.random(90), decimals)
    groups = np.array(["a"] * 30 + ["b"] * 60)  # a is the smallest
    found = draw(truth, groups, samples, "regression", seed)
    # the same generator gives the drawn rows in their order
    drawn = generator(seed, "balance").choice(np.arange(30), size=samples, replace=False)
    rows_a, rows_b = found.rows[found.rows < 30], found.rows[found.rows >= 30]
    assert sorted(rows_a) == sorted(drawn)
    assert sorted(truth[rows_b]) == sorted(greedy(truth[drawn], truth[30:]))


def test_ties_go_to_the_lower_value():
    truth = [0.3, 0.2, 0.4]
    assert draw(truth, ["a", "b", "b"], 1, "regression").rows.tolist() == [0, 1]
    assert draw([0.2, 0.1, 0.3], ["a", "b", "b"], 1, "regression").rows.tolist() == [0, 1]


def test_rows_that_share_a_value_are_drawn_uniformly():
    truth = [0.5] + [0.4] * 4 + [0.9]
    groups = ["a"] + ["b"] * 5
    picked = [draw(truth, groups, 1, "regression", seed).rows[1] for seed in range(400)]
    counts = np.bincount(picked, minlength=6)[1:]
    assert counts[4] == 0
    assert (counts[:4] > 60).all()  # 100 expected, standard deviation 8.7


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_order_of_rows_does_not_matter(kind, rng):
    truth = rng.choice(CLASSES, 300) if kind == "classification" else np.round(rng.random(300), 1)
    groups = rng.choice(["x", "y", "z"], 300)
    keys = np.array([f"key {n}" for n in range(300)])
    one = draw(truth, groups, 50, kind, order=keys)
    places = rng.permutation(300)
    two = draw(truth[places], groups[places], 50, kind, order=keys[places])
    assert keys[one.rows].tolist() == keys[places][two.rows].tolist()
    assert keys[one.rows].tolist() == sorted(keys[one.rows])


def test_the_seed_matters(rng):
    truth, groups = rng.random(200), ["a", "b"] * 100
    assert (
        draw(truth, groups, 20, "regression", 0).rows.tolist()
        != draw(truth, groups, 20, "regression", 1).rows.tolist()
    )


def test_smallest_group_has_too_few():
    found = draw([0.1, 0.2, 0.3, 0.4, 0.5], ["male", "female", "male", "female", "male"], 1000, "regression")
    assert (found.segments_per_group, found.wanted, len(found.rows)) == (2, 1000, 4)
    assert found.note == "2 instead of 1000 segments a group: 'female' has no more"


def test_a_class_that_runs_out_costs_samples_in_all_groups():
    truth = ["anger"] * 6 + ["neutral"] * 4 + ["anger"] * 2 + ["neutral"] * 20
    groups = ["female"] * 10 + ["male"] * 22
    found = draw(truth, groups, 10, "classification")
    truth, groups = np.array(truth), np.array(groups)
    assert (found.segments_per_group, found.wanted) == (6, 10)
    assert found.note == "6 instead of 10 segments a group: 'male' has 2 of class 'anger'"
    for group in ("female", "male"):
        chosen = truth[found.rows][groups[found.rows] == group]
        assert sorted(chosen) == ["anger"] * 2 + ["neutral"] * 4


def test_a_class_that_the_other_group_lacks_altogether():
    found = draw(["a", "a", "b", "b", "b"], ["x", "x", "y", "y", "y"], 2, "classification")
    assert found.segments_per_group == 0 and len(found.rows) == 0
    assert found.note == "0 instead of 2 segments a group: 'y' has 0 of class 'a'"


def test_missing_groups_and_labels_take_no_part():
    truth = [0.1, np.nan, 0.3, 0.4, 0.5]
    found = draw(truth, ["a", "a", None, "b", "b"], 5, "regression")
    assert found.segments_per_group == 1
    assert found.rows.tolist() == [0, 3]


def test_fewer_than_two_groups():
    assert draw([0.1, 0.2], ["a", "a"], 1, "regression").note == "1 of 2 groups needed"
    found = draw([], [], 1, "classification")
    assert (found.note, found.segments_per_group, len(found.rows)) == ("0 of 2 groups needed", 0, 0)


def test_faults():
    with pytest.raises(ValueError, match="not unique"):
        draw([0.1, 0.2], ["a", "b"], 1, "regression", order=["k", "k"])
    with pytest.raises(ValueError, match="2 labels, 1 groups and 2 keys"):
        draw([0.1, 0.2], ["a"], 1, "regression")
    with pytest.raises(ValueError, match="not 'ranking'"):
        draw([0.1, 0.2], ["a", "b"], 1, "ranking")


def test_thousand_of_ten_thousand_takes_well_under_a_second(rng):
    truth, groups = np.round(rng.random(10_000), 3), rng.choice(["a", "b", "c"], 10_000)
    start = time.perf_counter()
    found = draw(truth, groups, 1000, "regression")
    assert time.perf_counter() - start < 0.5
    assert len(found.rows) == 3000


def test_at_most_keeps_small_groups_and_draws_from_large_ones():
    groups = np.array(["a"] * 30 + ["b"] * 5 + [None] * 4, dtype=object)
    keys = [f"{n:03d}" for n in range(39)]
    rows = at_most(groups, 10, np.random.default_rng(0), keys)
    assert (np.diff(rows) > 0).all() and set(range(30, 35)) <= set(rows) and len(rows) == 15
    mixed = np.random.default_rng(1).permutation(39)
    again = at_most(groups[mixed], 10, np.random.default_rng(0), [keys[n] for n in mixed])
    assert sorted(mixed[again]) == rows.tolist()
    assert len(at_most([], 10, np.random.default_rng(0), [])) == 0


def table_of_speakers():
    people = [("x", f"f{n}", "female") for n in range(9)] + [("x", f"m{n}", "male") for n in range(4)]
    people += [("y", "f9", "female"), ("z", "a", "other"), ("z", None, "male"), (None, "b", "male")]
    people = [person for person in people for _ in range(3)]
    return [*people, ("y", "f9", "male"), ("y", "m9", None)]


def drawn(table, wanted=None):
    found = draw_speakers(
        *(list(column) for column in zip(*table, strict=True)),
        wanted or {"female": 5, "male": 5},
        lambda keys: uniform(0, "speakers", keys=keys),
    )
    return {table[n][:2] for n in found.rows}, found


def test_so_many_speakers_of_each_sex():
    table = table_of_speakers()
    kept, found = drawn(table)
    assert found.counts == {
        "x": {"female": (5, 9), "male": (4, 4)},
        "y": {"female": (1, 1), "male": (0, 0)},  # most of f9's segments say female
        "z": {"female": (0, 0), "male": (0, 0)},
    }
    assert len(found.rows) == 5 * 3 + 4 * 3 + 4 and (np.diff(found.rows) > 0).all()
    assert found.unknown == 3 + 3 + 1  # of another sex, of nobody, without sex
    assert {name[0] for group, name in kept if group == "x"} == {"f", "m"}
    assert drawn(table, {"female": 1, "male": 0})[1].counts["x"] == {"female": (1, 9), "male": (0, 4)}


def test_speakers_are_drawn_whatever_their_order():
    table = table_of_speakers()
    kept, *_ = drawn(table)
    for seed in range(5):
        mixed = [table[n] for n in np.random.default_rng(seed).permutation(len(table))]
        assert drawn(mixed)[0] == kept


def test_one_speaker_more_or_less_changes_one_at_most():
    table = table_of_speakers()
    kept, *_ = drawn(table)
    for name in sorted({name for group, name, _ in table if group == "x"}):
        less, *_ = drawn([row for row in table if row[1] != name])
        assert len(kept - less) == (("x", name) in kept)
    more, *_ = drawn([*table, ("x", "new", "female"), ("x", "f0", "female")])
    assert len(kept - more) <= 1


def test_nobody_to_draw():
    kept, found = drawn([("x", "a", None)])
    assert (kept, len(found.rows), found.unknown) == (set(), 0, 1)
    assert found.counts == {"x": {"female": (0, 0), "male": (0, 0)}}
    assert drawn([(None, "a", "male")])[1].counts == {}
