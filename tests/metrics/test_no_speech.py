"""Words that nobody said, against plain loops."""

import itertools

import numpy as np
import pytest

from soundcheck.metrics import word_rates as made_up
from soundcheck.metrics.additive import value
from soundcheck.statistics.bootstrap import resample

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
