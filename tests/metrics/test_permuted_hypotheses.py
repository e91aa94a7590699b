"""Transcripts that are dealt out: nobody keeps an own one, and no constant answer wins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.word_rates import permuted_hypotheses, permuted_word_error_rates
from soundcheck.statistics.bootstrap import resample


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
