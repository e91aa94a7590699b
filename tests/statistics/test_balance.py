"""Balanced groups: equal sizes, equally many of every cell of the truth, independent of row order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.seeds import uniform
from soundcheck.statistics.balance import at_most, balance, draw_speakers, label_cells

pytestmark = pytest.mark.slow

CLASSES = ("anger", "happiness", "neutral", "sadness")


KEYS = [f"key {n:06d}" for n in range(10_000)]


def draw(truth, groups, samples, kind, seed=0, order=None, **options):
    draws = uniform(seed, "balance", keys=KEYS[: len(truth)] if order is None else order)
    return balance(truth, groups, samples, draws, kind, **options)


def counts(found, groups, cells):
    """Group -> how many rows were drawn of each cell."""
    table = pd.crosstab(np.asarray(groups, dtype=object)[found.rows], np.asarray(cells)[found.rows])
    return table.to_dict("index")


def test_groups_have_the_same_size_and_classes(rng):
    truth = rng.choice(CLASSES, 3000)
    groups = rng.choice(["female", "male"], 3000, p=[0.3, 0.7])
    found = draw(truth, groups, 500, "classification")
    assert found.segments_per_group == found.wanted == 500
    assert len(found.rows) == len(set(found.rows)) == 1000
    drawn = counts(found, groups, truth)
    assert drawn["female"] == drawn["male"] and min(drawn["male"].values()) > 100
    # the same proportions of what both groups have
    shared = pd.crosstab(groups, truth).min()
    for name in CLASSES:
        assert abs(drawn["male"][name] - 500 * shared[name] / shared.sum()) < 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([1, 2, 8]), st.booleans())
def test_every_group_gives_equally_many_of_every_cell(seed, samples, decimals, edged):
    rng = np.random.default_rng(seed)
    truth = np.round(rng.beta(2, 3, 90), decimals)
    groups = rng.choice(["a", "b", "c"], 90)
    edges = (0.25, 0.5, 0.75) if edged else ()
    found = draw(truth, groups, samples, "regression", seed, edges=edges)
    table = pd.crosstab(groups, label_cells(truth, edges))
    drawn = pd.crosstab(groups[found.rows], label_cells(truth, edges)[found.rows])
    assert drawn.nunique().eq(1).all() and len(drawn) in (0, 3)
    assert found.segments_per_group == min(samples, table.min().sum()) == len(found.rows) / 3
    assert (drawn <= table[drawn.columns].min()).all(axis=None)
    if edged and len(found.rows):
        assert (
            pd.crosstab(groups[found.rows], np.searchsorted(edges, truth[found.rows])).nunique().eq(1).all()
        )


def test_cells_of_labels(rng):
    labels = rng.normal(size=1000)
    cells = label_cells(labels)
    assert np.bincount(cells).tolist() == [100] * 10
    assert (np.diff(cells[np.argsort(labels)]) >= 0).all()
    # of up to ten labels each is a cell, however rare
    rare = np.repeat([0.1, 0.2, 0.3], [1, 998, 1])
    assert np.bincount(label_cells(rare)).tolist() == [1, 998, 1]
    # one label that half of the segments have stays together
    many = np.r_[np.full(500, 0.5), np.linspace(0, 1, 500)]
    assert len(set(label_cells(many)[:500])) == 1
    # cells do not span an edge, which belongs to the lower one
    cut = label_cells([0.25, *labels], (0.25,))
    assert np.flatnonzero(labels <= 0.25).size + 1 == np.sum(cut <= cut[0])
    assert len(label_cells([])) == 0


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_order_of_rows_does_not_matter(kind, rng):
    truth = rng.choice(CLASSES, 300) if kind == "classification" else np.round(rng.random(300), 1)
    groups, speakers = rng.choice(["x", "y", "z"], 300), rng.choice(list("abcd"), 300)
    keys = np.array([f"key {n}" for n in range(300)])
    one = draw(truth, groups, 50, kind, order=keys, blocks=speakers)
    places = rng.permutation(300)
    two = draw(truth[places], groups[places], 50, kind, order=keys[places], blocks=speakers[places])
    assert sorted(keys[one.rows]) == sorted(keys[places][two.rows])
    assert (np.diff(one.rows) > 0).all() and one.note == two.note


def test_notes_count_what_was_not_drawn():
    found = draw([0.1, 0.2, 0.1, 0.3, 0.3], ["male", "female", "female", "male", "male"], 1000, "regression")
    assert (found.segments_per_group, found.wanted, len(found.rows)) == (1, 1000, 2)
    assert found.note == (
        "1 segment a group instead of 1000; not used, because another group has fewer with such labels: "
        "1 of 2 'female', 2 of 3 'male'"
    )
    found = draw([0.1] * 5, ["a", "a", "b", "b", "b"], 1, "regression")
    assert found.note == (
        "not used, because another group has fewer with such labels: 1 of 3 'b'; "
        "of 2 each only the 1 that the suite wants were drawn"
    )
    assert draw([0.1] * 4, ["a", "a", "b", "b"], 2, "regression").note == ""


def test_missing_groups_and_labels_take_no_part():
    truth = [0.1, np.nan, 0.1, 0.1, 0.5]
    found = draw(truth, ["a", "a", None, "b", "b"], 5, "regression")
    assert found.segments_per_group == 1
    assert found.rows.tolist() == [0, 3]


def test_fewer_than_two_groups():
    assert draw([0.1, 0.2], ["a", "a"], 1, "regression").note == "1 of 2 groups needed"
    found = draw([], [], 1, "classification")
    assert (found.note, found.segments_per_group, len(found.rows)) == ("0 of 2 groups needed", 0, 0)


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
