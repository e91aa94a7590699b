"""Sums that are exact, combinators that carry sums, counts and reasons along."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.additive import (
    Columns,
    Tallies,
    block_layers,
    largest,
    layers,
    numbers,
    ratio,
    round_significant,
    segments,
    value,
    values,
)
from soundcheck.metrics.change import unchanged
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, mean_value

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

finite = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


def columns(*arrays) -> Columns:
    rows = np.ones(len(arrays[0]), dtype=bool)
    return Columns(rows, ~rows, tuple(np.asarray(array, dtype=np.float64) for array in arrays))


@given(st.lists(finite, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_order(numbers, random):
    blocks = [n % 3 for n in range(len(numbers))]
    places = list(range(len(numbers)))
    random.shuffle(places)
    one = columns(numbers).exact_sums(np.array(blocks), 3)
    other = columns([numbers[n] for n in places]).exact_sums(np.array([blocks[n] for n in places]), 3)
    for a, b in zip(one, other, strict=True):
        assert a.tobytes() == b.tobytes()


@given(st.lists(finite, min_size=1, max_size=40))
def test_layers_add_up_like_exact_fractions(numbers):
    import math

    high, low = columns(numbers).exact_sums(np.zeros(len(numbers), dtype=int), 1)
    exact = math.fsum(numbers)
    assert high[0, 0] == len(numbers)
    assert high[0, 1] + low[0, 1] == pytest.approx(exact, rel=1e-15, abs=1e-14 * max(map(abs, numbers)))


def test_layers_stay_exact_in_a_product_with_any_order_of_addition(rng):
    n_blocks = 2000
    part = columns(rng.normal(size=20_000) * 10.0 ** rng.integers(-6, 6, 20_000))
    high, low = part.exact_sums(rng.integers(0, n_blocks, 20_000), n_blocks)
    weights = rng.integers(0, 5, n_blocks).astype(np.float64)
    terms = weights[:, None] * high
    forward = np.zeros(2)
    for row in terms:
        forward = forward + row
    backward = np.zeros(2)
    for row in terms[::-1]:
        backward = backward + row
    assert forward.tobytes() == backward.tobytes() == (weights @ high).tobytes()
    assert np.abs(low).max() <= np.abs(high).max() * 2.0**-20


def test_difference_keeps_the_reason_of_either():
    metric = concordance_cc([0.1, 0.5, 0.9], [0.2, 0.5, 0.7])
    one = restrict(metric, np.array([True, False, False]))
    assert difference(one, metric).point().reasons == ("1 segment",)
    assert difference(metric, one).point().reasons == ("1 segment",)
    assert np.isnan(value(difference(metric, one)))


def test_only_equal_labels_and_segments_combine():
    with pytest.raises(ValueError, match="same labels"):
        difference(mean_value([0.1]), recall_per_class(["a"], ["a"], ["a", "b"]))
    with pytest.raises(ValueError, match="same segments"):
        difference(mean_value([0.1]), mean_value([0.1, 0.2]))


def test_unanswered_segments_are_noted_and_refused():
    truth = np.full(100, 0.5)
    prediction = np.full(100, 0.6)

    def found(missing):
        answers = prediction.copy()
        answers[:missing] = np.nan
        return mean_absolute_error(truth, answers).point()

    assert found(5).notes == ("",) and found(5).segments.tolist() == [95]
    assert found(6).notes == ("no prediction for 6 of 100 segments",) and found(6).value[0] == 0.1
    assert found(50).reasons == ("",)
    assert found(51).reasons == ("no prediction for 51 of 100 segments",)
    assert np.isnan(found(51).value[0])


def test_unanswered_segments_of_a_group_count_for_the_group():
    clean, changed = ["a"] * 10, ["a"] * 8 + [None] * 2
    group = np.arange(10) >= 7
    assert restrict(unchanged(clean, changed), group).point().reasons == (
        "no prediction for 2 of 3 segments",
    )
    assert restrict(unchanged(clean, changed), ~group).point().notes == ("",)


def test_value_needs_a_single_one():
    with pytest.raises(ValueError, match="2 values"):
        value(recall_per_class(["a"], ["a"], ["a", "b"]))
    assert values(mean_value([0.25, 0.75])).tolist() == [0.5]


def test_settle_examples():
    assert round_significant([0.6 - 0.5, -1e-16, np.inf, np.nan, 1 / 3, 1e-12 / 3]).tolist()[:2] == [0.1, 0.0]
    assert np.isnan(round_significant([np.inf, np.nan])).all()
    assert round_significant(1e-11 / 3) == 3.33333333333e-12
    assert np.copysign(1, round_significant(-0.0)) == 1


def test_ratio_numbers_and_words():
    assert np.isnan(ratio(0, 0)) and ratio(1, 4) == 0.25
    assert np.isnan(numbers([np.inf, -np.inf, 1e300, np.nan])).all()
    with pytest.raises(ValueError, match="One number a segment"):
        numbers([[0.1]])
    assert [segments(n) for n in (0, 1, 2)] == ["no segments", "1 segment", "2 segments"]


def test_tallies_are_the_sums_of_each_block(rng):
    tallies = rng.integers(0, 50, (200, 30)).astype(float)
    rows, blocks = rng.random(200) < 0.7, rng.integers(0, 12, 200)
    part = Tallies(rows, ~rows, tuple(tallies.T))
    high, low = part.exact_sums(blocks, 14)
    for block in range(14):
        mine = rows & (blocks == block)
        assert high[block].tolist() == [mine.sum(), *tallies[mine].sum(axis=0)]
    assert not low.any() and part.size == 31
    half = part.restrict(np.arange(200) < 100)
    assert half.exact_sums(blocks, 14)[0].sum() == rows[:100].sum() + tallies[:100][rows[:100]].sum()
    assert not part.restrict(np.zeros(200, dtype=bool)).exact_sums(blocks, 14)[0].any()


# Layers of numbers sum to them, and their weighted sums are exact; see test_additive.py for block sums


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
