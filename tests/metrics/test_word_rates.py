"""Rates of the field: jiwer and plain loops as oracles, missing hypotheses, replicates as ratios of sums."""

import itertools

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics import word_rates as made_up
from soundcheck.metrics.additive import value, values
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.metrics.word_errors import NO_WORDS, word_errors
from soundcheck.metrics.word_rates import (
    error_rate_with_missing,
    match_error_rate,
    missing_as_empty,
    permuted_hypotheses,
    permuted_word_error_rates,
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


# Transcripts that are dealt out: nobody keeps an own one, and no constant answer wins


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.data())
def test_everybody_gets_another_ones_text(draws, data):
    there = data.draw(st.lists(st.booleans(), min_size=len(draws), max_size=len(draws)))
    texts = [f"text {n}" if known else None for n, known in enumerate(there)]
    dealt = permuted_hypotheses(texts, draws)
    known = [n for n, text in enumerate(texts) if text is not None]
    if len(known) < 2:
        assert not any(text is not None for text in dealt)
        return
    assert sorted(dealt[known]) == sorted(texts[n] for n in known)
    assert all(dealt[n] != texts[n] for n in known)
    assert all(dealt[n] is None for n in range(len(texts)) if n not in known)


def test_rates_of_a_small_case():
    references, hypotheses = ["a b", "c d", "e f", "g", None], ["a b", "c x", "e f", None, "y"]
    own, dealt, difference = permuted_word_error_rates(references, hypotheses, [0.1, 0.5, 0.3, 0.2, 0.4])
    assert value(own) == pytest.approx(1 / 6)
    assert value(dealt) == 1.0
    assert value(difference) == pytest.approx(1 / 6 - 1)


@pytest.mark.parametrize("answer", ["", "yes", "the same sentence for everybody"])
def test_a_constant_answer_is_as_good_permuted_hypotheses(answer, rng):
    references = [" ".join(rng.choice(list("abcdef"), rng.integers(1, 6))) for _ in range(60)]
    *_, difference = permuted_word_error_rates(references, [answer] * 60, rng.random(60))
    found = resample(difference, np.arange(60) % 10, 100)
    assert found.value[0] == 0 and (found.replicates == 0).all()


def test_without_other_texts_there_is_no_rate():
    own, dealt, difference = permuted_word_error_rates(["a", "b"], ["a", None], [0.1, 0.2])
    assert value(own) == 0
    assert np.isnan(values(dealt)).all() and np.isnan(values(difference)).all()


# Words that nobody said, against plain loops


TEXTS = ["", "  ", "go", "go  left now", None, "a b a b a b a b"]
SECONDS = [2.0, 3.0, 1.5, 4.0, 100.0, 0.5]


def times_in_a_row(text, most_words):
    """Look at every sequence at every place."""
    words, best = text.split(), 0
    for size in range(1, most_words + 1):
        for start in range(len(words) - size + 1):
            times = 1
            while words[start + times * size :][:size] == words[start : start + size]:
                times += 1
            best = max(best, times)
    return best


def test_shares_and_rates():
    assert value(made_up.empty_answers(TEXTS)) == 2 / 5
    assert value(made_up.empty_answers(TEXTS, missing=0.0)) == pytest.approx(2 / 6)
    assert value(made_up.per_minute(made_up.word_counts(TEXTS), SECONDS)) == pytest.approx(60 * 12 / 11)
    assert made_up.character_counts(TEXTS)[[0, 1, 2, 3, 5]].tolist() == [0, 0, 2, 11, 15]
    assert value(made_up.repeating_answers(TEXTS, 5, 4)) == 1 / 5
    assert value(made_up.repeating_answers(TEXTS, 1, 4)) == 0


def test_repeats_against_looking_everywhere():
    for length in range(8):
        for words in itertools.product("ab", repeat=length):
            text = " ".join(words)
            for most in (1, 2, 3):
                assert made_up.most_repeated(text, most) == times_in_a_row(text, most), text


def test_no_answers_and_no_time_have_no_rate():
    nothing = resample(made_up.per_minute([np.nan, np.nan], [1.0, 2.0]), np.arange(2), 10, 0)
    assert np.isnan(nothing.value[0]) and nothing.reasons[0]
    assert np.isnan(value(made_up.per_minute([1.0], [0.0])))


def test_words_of_equal_number_are_in_order():
    found = made_up.words_made_up(["now go", None, "go <b>", "now"], 2)
    assert found == [("go", 2), ("now", 2)]
