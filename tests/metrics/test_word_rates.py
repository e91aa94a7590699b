"""Rates of the field: jiwer and plain loops as oracles, missing hypotheses, replicates as ratios of sums."""

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.additive import value
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.metrics.word_errors import NO_WORDS, word_errors
from soundcheck.metrics.word_rates import (
    error_rate_with_missing,
    match_error_rate,
    missing_as_empty,
    sentence_error_rate,
    word_information_lost,
)
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

texts = st.lists(st.sampled_from(["a", "b", "c", "don't", "é", "مرحبا", "٣"]), max_size=12).map(" ".join)
pairs = st.lists(st.tuples(texts.filter(bool), texts), min_size=1, max_size=20)


@settings(max_examples=30, deadline=None)
@given(pairs)
def test_rates_are_those_of_jiwer(pairs):
    references, hypotheses = map(list, zip(*pairs, strict=True))
    counts, expected = word_errors(references, hypotheses), jiwer.process_words(references, hypotheses)
    assert value(match_error_rate(counts)) == pytest.approx(expected.mer, abs=1e-9)
    assert value(word_information_lost(counts)) == pytest.approx(expected.wil, abs=1e-9)
    wrong = [jiwer.wer(*pair) > 0 for pair in pairs]
    assert value(sentence_error_rate(counts)) == pytest.approx(np.mean(wrong), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(texts.filter(bool), texts | st.none()), min_size=1, max_size=20))
def test_missing_hypotheses_are_empty_ones_for_jiwer(pairs):
    references, hypotheses = map(list, zip(*pairs, strict=True))
    found = error_rate_with_missing(references, hypotheses)
    silent = [text is None for text in hypotheses]
    assert value(found) == pytest.approx(jiwer.wer(references, [text or "" for text in hypotheses]), abs=1e-9)
    words = sum(len(text.split()) for text, gone in zip(references, silent, strict=True) if gone)
    (note,) = found.point().notes
    if any(silent):
        assert note.startswith(f"no answer for {sum(silent)} of ") and f", {words} word" in note
    else:
        assert note == ""


def test_nothing_but_missing_ones_is_a_rate_and_no_refusal():
    point = error_rate_with_missing(["a b", "c", None], [None, np.nan, None]).point()
    assert point.value.tolist() == [1.0] and point.segments.tolist() == [2] and point.reasons == ("",)
    assert point.notes == ("no answer for 2 of 2 segments, 3 words counted as left out",)
    counts = word_errors(["a b", "c", "d"], [None, None, "d"])
    for rate in (sentence_error_rate, match_error_rate, word_information_lost):
        assert "no prediction for 2 of 3" in rate(counts).point().reasons[0]


def test_empty_texts():
    nothing = word_errors(["", ""], ["", ""])
    assert word_information_lost(nothing).point().reasons == (NO_WORDS,)
    assert match_error_rate(nothing).point().reasons[0].startswith(NO_WORDS)
    assert value(sentence_error_rate(nothing)) == 0
    silent = word_errors(["a b"], [""])
    assert value(word_information_lost(silent)) == value(match_error_rate(silent)) == 1
    none = word_errors([], [])
    assert [rate(none).point().reasons for rate in (word_information_lost, match_error_rate)] == [
        ("no segments",)
    ] * 2
    assert missing_as_empty([]).shape == (0,) and missing_as_empty([None]).tolist() == [""]


def test_groups_and_replicates_are_ratios_of_sums(rng):
    words = ["a", "b", "c"]
    said, heard = ([" ".join(rng.choice(words, 4)) for _ in range(40)] for _ in range(2))
    counts, blocks = word_errors(said, heard), np.arange(40) // 4
    first = np.arange(40) < 12
    for rate in (sentence_error_rate, match_error_rate, word_information_lost):
        own = rate(counts.take(np.flatnonzero(first)))
        assert value(restrict(rate(counts), first)) == value(own)
        gap = difference(restrict(rate(counts), first), rate(counts))
        assert value(gap) == pytest.approx(value(own) - value(rate(counts)), abs=1e-11)
    hits = counts.words - counts.substitutions - counts.deletions
    heard_words = hits + counts.substitutions + counts.insertions
    per_block = np.array(
        [[column[blocks == k].sum() for column in (counts.words, heard_words, hits)] for k in range(10)]
    )
    sums = weights(10, 50).astype(float) @ per_block
    found = resample(word_information_lost(counts), blocks, 50)
    expected = 1 - sums[:, 2] ** 2 / (sums[:, 0] * sums[:, 1])
    np.testing.assert_allclose(found.replicates[:, 0], expected, rtol=1e-11)
