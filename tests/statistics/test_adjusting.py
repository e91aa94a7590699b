"""Cells in which both sides are alike: quantiles, ties, words, products, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.statistics.adjusting import AdjustingCells, cells_of


def sides(speakers: int = 40, each: int = 20):
    """Half of the speakers are in the group; speakers say ``each`` segments."""
    blocks = np.repeat(np.arange(speakers), each)
    return blocks, blocks < speakers // 2, np.random.default_rng(0)


def cells(column, blocks, group, usable=None, others=None, **more) -> AdjustingCells:
    usable = np.ones(len(group), dtype=bool) if usable is None else usable
    columns = column if isinstance(column, dict) else {"x": column, **more}
    return cells_of(columns, group, ~group if others is None else others, blocks, usable)


def test_numbers_are_cut_at_the_tenths_of_both_sides():
    blocks, group, rng = sides()
    x = rng.normal(size=800)
    found = cells(x, blocks, group)
    assert (found.n_cells, found.cuts, found.counterpart, found.reason) == (10, 10, 1.0, "")
    assert np.bincount(found.codes).tolist() == [80] * 10
    order = np.argsort(x)
    assert (np.diff(found.codes[order]) >= 0).all()


def test_five_cells_if_ten_would_have_too_few_speakers():
    blocks, group, rng = sides(speakers=14)
    x = rng.normal(size=280) + 0.8 * group
    found = cells(x, blocks, group)
    assert found.cuts == 5 and found.n_cells == 5
    for cell in range(5):
        for own in (group, ~group):
            assert len(np.unique(blocks[own & (found.codes == cell)])) >= 5


def test_cells_with_few_speakers_on_a_side_are_left_out():
    blocks, group, rng = sides()
    level = rng.integers(0, 4, 800).astype(float)
    level[group & (blocks >= 4) & (level == 0)] = 1  # the lowest ones of the group are those of four speakers
    found = cells(level, blocks, group)
    assert found.cuts == 5 and found.n_cells == 3
    assert ((found.codes == -1) == (level == 0)).all() and set(found.codes) == {-1, 0, 1, 2}
    assert found.counterpart == np.mean(level[group] > 0) < 1


def test_equal_numbers_share_a_cell_and_frequent_ones_have_their_own():
    blocks, group, rng = sides()
    clipped = np.where(rng.random(800) < 0.95, 0.0, rng.random(800))
    found = cells(clipped, blocks, group)
    assert found.n_cells == 2 and ((found.codes == 0) == (clipped == 0)).all()
    few = rng.integers(0, 4, 800).astype(float)
    found = cells(few, blocks, group)
    assert found.n_cells == 4 and (found.codes == few).all()
    ends = np.clip(rng.normal(size=800), -0.8, 0.8)
    found = cells(ends, blocks, group)
    assert all(len(set(found.codes[ends == end])) == 1 for end in (-0.8, 0.8))
    assert not (found.codes[ends == 0.8][0] == found.codes[ends < 0.8]).any()


def test_words_are_a_cell_each_and_rare_ones_are_left_out():
    blocks, group, rng = sides()
    device = rng.choice(np.array(["phone", "headset"], dtype=object), 800)
    device[blocks == 0] = "only mine"
    found = cells(device, blocks, group)
    assert found.n_cells == 2 and ((found.codes == -1) == (blocks == 0)).all()
    assert found.counterpart == pytest.approx(0.95)


def test_two_columns_make_the_cells_of_their_product():
    blocks, group, rng = sides()
    x, word = rng.normal(size=800), rng.choice(np.array(["a", "b"], dtype=object), 800)
    found = cells(x, blocks, group, word=word)
    assert found.n_cells == 20
    for cell in range(20):
        assert len(set(word[found.codes == cell])) == 1


def test_missing_values_have_no_counterpart():
    blocks, group, rng = sides()
    x = rng.normal(size=800)
    x[rng.random(800) < 0.2] = np.nan
    found = cells(x, blocks, group)
    assert ((found.codes == -1) == np.isnan(x)).all()
    assert found.counterpart == np.mean(~np.isnan(x[group]))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda g, r: np.full(len(g), 3.0), "x is the same for all"),
        (lambda g, r: np.array(["a"] * len(g), dtype=object), "x is the same for all"),
        (lambda g, r: np.where(g, "a", "b").astype(object), "x decides the group"),
        (lambda g, r: r.random(len(g)) + 2 * g, "x decides the group"),
        (lambda g, r: r.random(len(g)) - 2 * g, "x decides the group"),
        (lambda g, r: np.where(g, np.nan, 1.0 + r.random(len(g))), "x is not known of the group"),
        (lambda g, r: np.where(g, "a", None), "x is not known of the others"),
        (lambda g, r: np.where(np.arange(len(g)) % 3, np.nan, r.random(len(g))), "x is missing in 66 % of"),
        (lambda g, r: np.where(r.random(len(g)) < 0.01, 0.0, 1 + g + r.random(len(g))), "decide|counterpart"),
        (lambda g, r: np.arange(len(g)).astype(str).astype(object), "x decides the group"),
    ],
)  # fmt: skip
def test_what_cannot_be_adjusted_by_is_refused_with_words(make, reason):
    blocks, group, rng = sides()
    found = cells(make(group, rng), blocks, group)
    assert found.reason and any(part in found.reason for part in reason.split("|"))


def test_two_columns_that_together_decide_are_refused():
    blocks, group, _ = sides()
    one = np.arange(800) % 2
    both = np.where(one.astype(bool) ^ group, "p", "q").astype(object)
    found = cells({"a": one.astype(float), "b": both}, blocks, group)
    assert found.reason == "a and b together decide the group" and found.counterpart == 0
    odd, even = np.where(one, blocks % 3, np.nan), np.where(one, np.nan, blocks % 3)
    lacks = cells({"a": odd, "b": even}, blocks, group)
    assert lacks.reason == "no segment has both a and b"


def test_infinite_numbers_are_the_largest():
    """A recording without noise has an infinite signal-to-noise ratio."""
    blocks, group, rng = sides()
    x = np.where(rng.random(800) < 0.3, np.inf, rng.normal(size=800))
    found = cells(x, blocks, group)
    assert found.reason == "" and len(set(found.codes[np.isinf(x)])) == 1
    assert not np.isin(found.codes[np.isfinite(x)], found.codes[np.isinf(x)]).any()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    speakers=st.integers(2, 40),
    levels=st.integers(1, 30),
    shift=st.integers(0, 8),
    missing=st.floats(0, 0.6),
)
def test_whatever_is_compared_has_speakers_on_both_sides(seed, speakers, levels, shift, missing):
    rng = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(speakers), 10)
    group = blocks < speakers // 2
    x = (rng.integers(0, levels, len(blocks)) + shift * group).astype(float)
    x[rng.random(len(blocks)) < missing] = np.nan
    usable = rng.random(len(blocks)) < 0.9
    found = cells(x, blocks, group, usable, word=rng.choice(np.array(["a", None], dtype=object), len(blocks)))
    assert (
        0 <= found.counterpart <= 1 and found.codes.min() >= -1 and found.codes.max() < max(1, found.n_cells)
    )
    assert (found.codes[~usable | np.isnan(x)] == -1).all()
    for cell in range(found.n_cells):
        for own in (group, ~group):
            assert len(np.unique(blocks[own & (found.codes == cell)])) >= 5
    if not found.reason:
        assert found.n_cells > 0 and found.counterpart == np.mean(found.codes[group & usable] >= 0) >= 0.5
