"""Word errors: jiwer as the oracle, rates as ratios of sums, empty and missing texts."""

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.word_errors import (
    NO_WORDS,
    RATES,
    Counts,
    character_errors,
    error_rates,
    word_error_rate,
    word_errors,
)
from soundcheck.statistics.bootstrap import resample

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

texts = st.lists(st.sampled_from(["a", "b", "c", "don't", "é"]), max_size=12).map(" ".join)
spoken = texts.filter(bool)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(spoken, texts), min_size=1, max_size=20))
def test_rate_is_that_of_jiwer(pairs):
    references, hypotheses = map(list, zip(*pairs, strict=True))
    found = error_rates(word_errors(references, hypotheses))
    rates = dict(zip(RATES, values(found), strict=True))
    assert rates["word error rate"] == pytest.approx(jiwer.wer(references, hypotheses), abs=1e-9)
    parts = rates["insertions"] + rates["deletions"] + rates["substitutions"]
    assert parts == pytest.approx(rates["word error rate"], abs=1e-11)


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


def test_replicates_are_ratios_of_sums_of_drawn_blocks():
    rng = np.random.default_rng(0)
    words, blocks = rng.integers(1, 20, 60), np.arange(60) // 5
    errors = rng.binomial(words, 0.2)
    found = resample(word_error_rate(words, errors), blocks, 50)
    from soundcheck.statistics.draws import weights

    per_block = np.array([[words[blocks == k].sum(), errors[blocks == k].sum()] for k in range(12)])
    sums = weights(12, 50).astype(float) @ per_block
    np.testing.assert_allclose(found.replicates[:, 0], sums[:, 1] / sums[:, 0], rtol=1e-11)


KINDS = ("substitutions", "deletions", "insertions")


def random_texts(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Pairs of texts of few different words, so that alignments tie; some are empty, equal or repeated."""
    rng = np.random.default_rng(seed)

    def draw() -> str:
        return " ".join(rng.choice(["a", "b", "c", "don't", "é"], rng.integers(0, 15)))

    references = [draw() for _ in range(n)]
    hypotheses = [one if rng.random() < 0.1 else draw() for one in references]
    return references, hypotheses


def table(counts: Counts) -> np.ndarray:
    return np.stack([counts.words, counts.substitutions, counts.deletions, counts.insertions])


def chunk_counts(chunks: list[jiwer.AlignmentChunk]) -> tuple[int, int, int]:
    steps = [
        (chunk.type, max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx))
        for chunk in chunks
    ]
    return tuple(
        sum(size for kind, size in steps if kind == wanted) for wanted in ("substitute", "delete", "insert")
    )


@pytest.mark.parametrize(
    ("ours", "theirs"), [(word_errors, jiwer.process_words), (character_errors, jiwer.process_characters)]
)
def test_ten_thousand_pairs_as_jiwer_counts_them(ours, theirs):
    references, hypotheses = random_texts(10_000)
    counts, expected = ours(references, hypotheses), theirs(references, hypotheses)
    assert counts.words.tolist() == [len(units) for units in expected.references]
    per_pair = np.stack([getattr(counts, kind) for kind in KINDS], axis=1)
    assert per_pair.tolist() == [list(chunk_counts(chunks)) for chunks in expected.alignments]
    for kind in KINDS:
        assert getattr(counts, kind).sum() == getattr(expected, kind)
    assert {"", *references} & set(hypotheses)  # the shortcuts are taken


@pytest.mark.parametrize("count", [word_errors, character_errors])
def test_empty_and_missing_on_both_sides(count):
    texts = ["a", "", None]
    counts = count([one for one in texts for _ in texts], texts * 3)
    nan = np.nan
    expected = [
        [1, 1, 1, 0, 0, 0, nan, nan, nan],
        [0, 0, nan, 0, 0, nan, nan, nan, nan],
        [0, 1, nan, 0, 0, nan, nan, nan, nan],
        [0, 0, nan, 1, 0, nan, nan, nan, nan],
    ]
    np.testing.assert_array_equal(table(counts), expected)
    np.testing.assert_array_equal(table(count([None], [None])), np.full((4, 1), nan))
    assert table(count([], [])).shape == (4, 0)


def test_characters_include_single_blanks_only():
    counts = character_errors(["  go  on\n", "a b", None], ["go on", "ab", "c"])
    np.testing.assert_array_equal(table(counts)[:, :2], [[5, 3], [0, 0], [0, 1], [0, 0]])
    assert counts.unit == "character"
    rates = error_rates(counts)
    assert rates.labels == ("character error rate", *RATES[1:])
    assert values(rates).tolist() == [0.125, 0.0, 0.125, 0.0]
    assert (
        error_rates(character_errors([""], ["ab"])).point().reasons[0]
        == "no reference characters, 2 insertions"
    )


def test_errors_of_the_same_texts_are_counted_once_and_cannot_be_changed():
    said, heard = np.array(["a b", None], dtype=object), np.array(["a", "c"], dtype=object)
    first = word_errors(said, heard)
    assert word_errors(said.copy(), heard.copy()) is first  # found by what the texts are
    with pytest.raises(ValueError, match="read-only"):
        first.words[0] = 5
    heard[0] = "a b"
    assert word_errors(said, heard).errors[0] == 0 and first.errors[0] == 1
    assert character_errors(said, heard).words[0] == 3
    assert first.take(np.array([1, 0])).deletions.tolist()[1] == 1.0
