"""Balanced and adjusted groups: the same labels, speakers or cells on both sides, in any order of rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.seeds import uniform
from soundcheck.statistics.balance import at_most, balance, cells_of, draw_speakers, equal_size, label_cells

CLASSES = ("anger", "happiness", "neutral", "sadness")
KEYS = np.array([f"key {n:06d}" for n in range(10_000)])


def draw(truth, groups, samples, kind, seed=0, keys=None, **options):
    draws = uniform(seed, "balance", keys=list(KEYS[: len(truth)] if keys is None else keys))
    return balance(truth, groups, samples, draws, kind, **options)


def test_groups_have_the_proportions_that_both_have(rng):
    truth, groups = rng.choice(CLASSES, 3000), rng.choice(["female", "male"], 3000, p=[0.3, 0.7])
    result = draw(truth, groups, 500, "classification")
    assert result.segments_per_group == 500 and len(set(result.rows)) == 1000
    drawn, shared = pd.crosstab(groups[result.rows], truth[result.rows]), pd.crosstab(groups, truth).min()
    assert (drawn - 500 * shared / shared.sum()).abs().max(axis=None) < 1


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([1, 2, 8]), st.booleans())
def test_every_group_gives_equally_many_of_every_cell(seed, samples, decimals, edged):
    rng = np.random.default_rng(seed)
    truth, groups = np.round(rng.beta(2, 3, 90), decimals), rng.choice(["a", "b", "c"], 90)
    edges = (0.25, 0.5, 0.75) if edged else ()
    result = draw(truth, groups, samples, "regression", seed, edges=edges)
    cells = label_cells(truth, edges)
    table, drawn = pd.crosstab(groups, cells), pd.crosstab(groups[result.rows], cells[result.rows])
    assert drawn.nunique().eq(1).all() and len(drawn) in (0, 3)
    assert result.segments_per_group == min(samples, table.min().sum()) == len(result.rows) / 3
    assert (drawn <= table[drawn.columns].min()).all(axis=None)


def test_cells_of_labels(rng):
    labels = rng.normal(size=1000)
    cells = label_cells(labels)
    assert np.bincount(cells).tolist() == [100] * 10 and (np.diff(cells[np.argsort(labels)]) >= 0).all()
    # of up to ten labels each is a cell, however rare; one label that half of the segments have is one
    assert np.bincount(label_cells(np.repeat([0.1, 0.2, 0.3], [1, 998, 1]))).tolist() == [1, 998, 1]
    assert len(set(label_cells(np.r_[np.full(500, 0.5), np.linspace(0, 1, 500)])[:500])) == 1


def test_order_of_rows_does_not_matter(rng):
    truth = np.round(rng.random(300), 1)
    groups, speakers, keys = rng.choice(["x", "y", "z"], 300), rng.choice(list("abcd"), 300), KEYS[:300]
    one = draw(truth, groups, 50, "regression", keys=keys, blocks=speakers)
    mixed = rng.permutation(300)
    two = draw(truth[mixed], groups[mixed], 50, "regression", keys=keys[mixed], blocks=speakers[mixed])
    assert sorted(keys[one.rows]) == sorted(keys[mixed][two.rows])
    assert (np.diff(one.rows) > 0).all() and one.note == two.note


def test_notes_count_what_was_not_drawn():
    left_over = draw([0.1] * 5, list("aabbb"), 1, "regression").note
    assert left_over.startswith("not used, because another group has fewer with such labels: 1 of 3 'b'; ")
    assert left_over.endswith("of 2 each only the 1 that the suite wants were drawn")
    unknown = draw([0.1, np.nan, 0.1, 0.1], ["a", "a", None, "b"], 1, "regression")  # without group or label
    assert (unknown.note, unknown.segments_per_group, len(unknown.rows)) == ("", 1, 2)
    alone = draw([0.1, 0.2], list("aa"), 1, "regression")
    assert (alone.note, len(alone.rows)) == ("1 of 2 groups needed", 0)


def test_at_most_keeps_small_groups_and_draws_from_large_ones():
    groups, keys = np.array(["a"] * 30 + ["b"] * 5 + [None] * 4, dtype=object), KEYS[:39]
    rows = at_most(groups, 10, np.random.default_rng(0), keys)
    assert (np.diff(rows) > 0).all() and set(range(30, 35)) <= set(rows) and len(rows) == 15
    mixed = np.random.default_rng(1).permutation(39)
    assert sorted(mixed[at_most(groups[mixed], 10, np.random.default_rng(0), keys[mixed])]) == rows.tolist()
    assert len(at_most([], 10, np.random.default_rng(0), [])) == 0


def draw_from(table, wanted):
    columns = (list(column) for column in zip(*table, strict=True))
    result = draw_speakers(*columns, wanted, lambda keys: uniform(0, "speakers", keys=keys))
    return {table[n][:2] for n in result.rows}, result


def test_so_many_speakers_of_each_sex_whatever_their_order():
    people = [("x", f"f{n}", "female") for n in range(9)] + [("x", f"m{n}", "male") for n in range(4)]
    people += [("y", "f9", "female"), ("z", "a", "other"), ("z", None, "male"), (None, "b", "male")]
    table = [person for person in people for _ in range(3)] + [("y", "f9", "male"), ("y", "m9", None)]
    wanted = {"female": 5, "male": 5}
    drawn, result = draw_from(table, wanted)
    assert result.counts == {
        "x": {"female": (5, 9), "male": (4, 4)},
        "y": {"female": (1, 1), "male": (0, 0)},  # most of f9's segments say female
        "z": {"female": (0, 0), "male": (0, 0)},
    }
    assert len(result.rows) == 5 * 3 + 4 * 3 + 4 and (np.diff(result.rows) > 0).all()
    assert result.unknown == 3 + 3 + 1  # of another sex, of nobody, without sex
    mixed = [table[n] for n in np.random.default_rng(0).permutation(len(table))]
    assert draw_from(mixed, wanted)[0] == drawn


def test_differences_vary_as_those_of_equal_groups():
    """The variance of a difference from the average over groups, by its formula."""
    sizes = np.array([808, 88, 88, 88, 88])
    for tested in range(2):
        parts = (np.arange(5) == tested) - 1 / 5
        equal = equal_size(sizes, tested)
        assert (parts**2 / sizes).sum() == pytest.approx((parts**2 / equal).sum(), rel=0.01)


# Cells in which both sides of an adjusted difference are alike: half of the speakers, 20 segments each


def sides(speakers: int = 40):
    blocks = np.repeat(np.arange(speakers), 20)
    return blocks, blocks < speakers // 2, np.random.default_rng(0)


def cells(column, blocks, group, usable=None, **more):
    usable = np.ones(len(group), dtype=bool) if usable is None else usable
    return cells_of({"x": column, **more}, group, ~group, blocks, usable)


def test_cells_with_few_speakers_on_a_side_and_missing_values_are_left_out():
    blocks, group, rng = sides()
    level = rng.integers(0, 4, 800).astype(float)
    level[group & (blocks >= 4) & (level == 0)] = 1  # the lowest ones of the group are those of four speakers
    result = cells(level, blocks, group)
    assert result.n_cells == 3 and ((result.codes == -1) == (level == 0)).all()
    assert result.counterpart == np.mean(level[group] > 0) < 1
    device = rng.choice(np.array(["phone", "headset"], dtype=object), 800)
    device[blocks == 0] = "only mine"
    result = cells(device, blocks, group)
    assert result.n_cells == 2 and ((result.codes == -1) == (blocks == 0)).all()
    assert result.counterpart == pytest.approx(0.95)


def test_equal_numbers_share_a_cell_and_frequent_or_infinite_ones_have_their_own():
    for make, frequent in (
        (lambda rng: rng.integers(0, 4, 800).astype(float), [0.0, 1.0, 2.0, 3.0]),
        (lambda rng: np.clip(rng.normal(size=800), -0.8, 0.8), [-0.8, 0.8]),
        (lambda rng: np.where(rng.random(800) < 0.3, np.inf, rng.normal(size=800)), [np.inf]),  # of silence
    ):
        blocks, group, rng = sides()
        x = make(rng)
        result = cells(x, blocks, group)
        assert result.reason == "" and result.n_cells >= 2
        for number in frequent:
            assert len(set(result.codes[x == number])) == 1
            assert number < 0 or not np.isin(result.codes[x < number], result.codes[x == number]).any()


def test_what_cannot_be_adjusted_by_is_refused_with_words():
    for make, reason in (
        (lambda g, r: np.full(len(g), 3.0), "x is the same for all"),
        (lambda g, r: np.where(g, "a", "b").astype(object), "x decides the group"),
        (lambda g, r: r.random(len(g)) - 2 * g, "x decides the group"),
        (lambda g, r: np.where(g, np.nan, 1.0 + r.random(len(g))), "x is not known of the group"),
        (lambda g, r: np.where(g, "a", None), "x is not known of the others"),
        (lambda g, r: np.where(np.arange(len(g)) % 3, np.nan, r.random(len(g))), "x is missing in 66 % of"),
        (lambda g, r: np.where(r.random(len(g)) < 0.01, 0.0, 1 + g + r.random(len(g))), "only 19 % of the"),
    ):
        blocks, group, rng = sides()
        assert cells(make(group, rng), blocks, group).reason.startswith(reason)


def test_cells_are_the_tenths_of_both_sides_or_the_fifths_and_two_columns_make_their_product():
    blocks, group, rng = sides()
    x = rng.normal(size=800)
    result = cells(x, blocks, group)
    assert (result.n_cells, result.cuts, result.counterpart, result.reason) == (10, 10, 1.0, "")
    assert (
        np.bincount(result.codes).tolist() == [80] * 10 and (np.diff(result.codes[np.argsort(x)]) >= 0).all()
    )
    few, first, chance = sides(speakers=14)  # ten cells would have too few speakers
    result = cells(chance.normal(size=280) + 0.8 * first, few, first)
    assert result.cuts == result.n_cells == 5
    word = rng.choice(np.array(["a", "b"], dtype=object), 800)
    result = cells(x, blocks, group, word=word)
    assert result.n_cells == 20 and all(len(set(word[result.codes == cell])) == 1 for cell in range(20))
    odd = np.arange(800) % 2 == 1
    both = np.where(odd ^ group, "p", "q").astype(object)
    result = cells(odd.astype(float), blocks, group, y=both)
    assert result.reason == "x and y together decide the group" and result.counterpart == 0
    x, y = np.where(odd, blocks % 3, np.nan), np.where(odd, np.nan, blocks % 3)
    assert cells(x, blocks, group, y=y).reason == "no segment has both x and y"


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 30), st.integers(0, 8), st.floats(0, 0.6))
def test_whatever_is_compared_has_speakers_on_both_sides(seed, speakers, levels, shift, missing):
    rng, (blocks, group, _) = np.random.default_rng(seed), sides(speakers)
    x = (rng.integers(0, levels, len(blocks)) + shift * group).astype(float)
    x[rng.random(len(blocks)) < missing] = np.nan
    usable = rng.random(len(blocks)) < 0.9
    word = rng.choice(np.array(["a", None], dtype=object), len(blocks))
    result = cells(x, blocks, group, usable, word=word)
    assert (result.codes[~usable | np.isnan(x)] == -1).all()
    for cell in range(result.n_cells):
        for side in (group, ~group):
            assert len(np.unique(blocks[side & (result.codes == cell)])) >= 5
    if not result.reason:
        assert result.n_cells > 0 and result.counterpart == np.mean(result.codes[group & usable] >= 0) >= 0.5
