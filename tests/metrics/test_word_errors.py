"""Word errors: jiwer as the oracle, rates as ratios of sums, empty and missing texts."""

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.bootstrap import resample
from soundcheck.metrics.additive import value, values
from soundcheck.metrics.combinators import paired_difference, relative_difference, within
from soundcheck.metrics.word_errors import (
    NO_WORDS,
    RATES,
    WordErrors,
    count_errors,
    error_rates,
    word_error_rate,
    word_errors,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

texts = st.lists(st.sampled_from(["a", "b", "c", "don't", "é"]), max_size=12).map(" ".join)
spoken = texts.filter(bool)


@settings(max_examples=200, deadline=None)
@given(spoken, texts)
def test_counts_are_those_of_jiwer(reference, hypothesis):
    found = count_errors(reference, hypothesis)
    expected = jiwer.process_words(reference, hypothesis)
    assert found == WordErrors(
        len(reference.split()), expected.substitutions, expected.deletions, expected.insertions
    )
    assert found.errors == expected.substitutions + expected.deletions + expected.insertions


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(spoken, texts), min_size=1, max_size=20))
def test_rate_is_that_of_jiwer(pairs):
    references, hypotheses = map(list, zip(*pairs, strict=True))
    found = error_rates(word_errors(references, hypotheses))
    rates = dict(zip(RATES, values(found), strict=True))
    assert rates["word error rate"] == pytest.approx(jiwer.wer(references, hypotheses), abs=1e-9)
    parts = rates["insertions"] + rates["deletions"] + rates["substitutions"]
    assert parts == pytest.approx(rates["word error rate"], abs=1e-11)


def test_known_counts():
    assert count_errors("the cat sat down", "the mat sat") == WordErrors(4, 1, 1, 0)
    assert count_errors("a  b\tc\n", "a b c") == WordErrors(3)
    assert count_errors("", "one two") == WordErrors(0, 0, 0, 2)
    assert count_errors("one", "") == WordErrors(1, 0, 1, 0)


def test_the_rate_divides_sums_not_averages_of_rates():
    found = word_error_rate([10, 1], [1, 1])
    assert value(found) == pytest.approx(2 / 11, abs=1e-12)
    assert found.point().segments.tolist() == [2]


def test_empty_references_add_errors_but_no_words():
    counts = word_errors(["a b", "", ""], ["a b", "x", ""])
    assert values(error_rates(counts)).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert value(word_error_rate([1], [3])) == 3.0
    assert set(error_rates(counts).point().notes) == {"2 empty references"}
    point = word_error_rate([0, 0], [1, 0]).point()
    assert np.isnan(point.value[0]) and point.reasons == (f"{NO_WORDS}, 1 insertions",)
    assert word_error_rate([], []).point().reasons == ("no segments",)


def test_missing_texts():
    counts = word_errors(["a", "b c", None, np.nan], ["a", None, "c", None])
    point = error_rates(counts).point()
    assert point.segments.tolist() == [1] * 4
    assert "no prediction for 1 of 2" in point.notes[0]
    assert error_rates(word_errors(["a"] * 3, ["a", None, None])).point().reasons[0]
    with pytest.raises(ValueError, match="do not fit"):
        word_errors(["a"], [])


def test_groups_and_two_recognisers():
    words, a, b = np.array([10, 10, 20]), np.array([1, 2, 3]), np.array([0, 2, 2])
    one, two = word_error_rate(words, a), word_error_rate(words, b)
    assert value(within(one, np.array([True, True, False]))) == 0.15
    assert value(paired_difference(two, one)) == -0.05
    assert value(relative_difference(two, one)) == pytest.approx(-1 / 3, abs=1e-12)
    one_missing = word_error_rate(words, [1, np.nan, 3])
    assert value(paired_difference(two, one_missing)) == pytest.approx(2 / 30 - 4 / 30, abs=1e-12)


def test_replicates_are_ratios_of_sums_of_drawn_blocks():
    rng = np.random.default_rng(0)
    words, blocks = rng.integers(1, 20, 60), np.arange(60) // 5
    errors = rng.binomial(words, 0.2)
    found = resample(word_error_rate(words, errors), blocks, 50)
    from soundcheck.bootstrap import weights

    per_block = np.array([[words[blocks == k].sum(), errors[blocks == k].sum()] for k in range(12)])
    sums = weights(12, 50).astype(float) @ per_block
    np.testing.assert_allclose(found.samples[:, 0], sums[:, 1] / sums[:, 0], rtol=1e-11)
