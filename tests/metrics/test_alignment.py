"""Alignment: jiwer as the oracle, counts as those of word errors, tables of confusions."""

import jiwer
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.alignment import COLUMNS, align, confusions, missed_words
from soundcheck.metrics.word_changes import changed_words, word_changes
from soundcheck.metrics.word_errors import word_errors

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

KINDS = {"substitute": "substitutions", "delete": "deletions", "insert": "insertions"}


def random_texts(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Pairs of texts of few different words, so that alignments tie; some are empty."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array(["a", "b", "c", "<i>", "\x00"], dtype=object)  # strings of NumPy lose the last
    return tuple([" ".join(rng.choice(vocabulary, rng.integers(0, 15))) for _ in range(n)] for _ in range(2))


def spelled_out(said: list[str], heard: list[str], chunks: list[jiwer.AlignmentChunk]) -> list[tuple]:
    """Write jiwer's chunks word by word."""
    steps = []
    for chunk in chunks:
        left = said[chunk.ref_start_idx : chunk.ref_end_idx]
        right = heard[chunk.hyp_start_idx : chunk.hyp_end_idx]
        for n in range(max(len(left), len(right))):
            steps.append((chunk.type, left[n] if left else "", right[n] if right else ""))
    return steps


def test_ten_thousand_pairs_as_jiwer_aligns_them():
    references, hypotheses = random_texts(10_000)
    expected = jiwer.process_words(references, hypotheses)
    found = [align(*pair) for pair in zip(references, hypotheses, strict=True)]
    theirs = zip(expected.references, expected.hypotheses, expected.alignments, strict=True)
    assert found == [spelled_out(*each) for each in theirs]
    counts = word_errors(references, hypotheses)
    for kind, name in KINDS.items():
        ours = [sum(word.kind == kind for word in aligned) for aligned in found]
        assert ours == getattr(counts, name).tolist()


def test_confusions_are_sorted_and_shares_are_of_all_words():
    table = confusions(
        ["go left", "go", "stop", "stop", "yes", None, "no", "", "on"],
        ["no left", "no", "", "top", "yes", "what", np.nan, "uh", "on"],
    )
    assert tuple(table.columns) == COLUMNS
    assert list(table.itertuples(index=False, name=None)) == [
        ("substitute", "go", "no", 2, 2 / 7),
        ("delete", "stop", "", 1, 1 / 7),
        ("insert", "", "uh", 1, 1 / 7),
        ("substitute", "stop", "top", 1, 1 / 7),
    ]
    assert table["count"].dtype == np.int64 and table["share"].dtype == np.float64


def test_confusions_add_up_to_the_errors(rng):
    references, hypotheses = random_texts(2000, seed=2)
    references, hypotheses = references + references[:100], hypotheses + hypotheses[:100]  # repeated pairs
    table, counts = confusions(references, hypotheses), word_errors(references, hypotheses)
    for kind, name in KINDS.items():
        assert table.loc[table["kind"] == kind, "count"].sum() == getattr(counts, name).sum()
    assert table["share"].sum() == pytest.approx(counts.errors.sum() / counts.words.sum(), rel=1e-12)
    assert table["count"].is_monotonic_decreasing
    order = rng.permutation(len(references))
    shuffled = confusions([references[n] for n in order], [hypotheses[n] for n in order])
    pd.testing.assert_frame_equal(shuffled, table)


def test_confusions_without_errors_or_words():
    for table in (
        confusions([], []),
        confusions(["a"], ["a"]),
        confusions([None], ["a"]),
        confusions([""], [""]),
    ):
        assert tuple(table.columns) == COLUMNS and len(table) == 0
        assert table["count"].dtype == np.int64 and table["share"].dtype == np.float64
    only = confusions([""], ["uh uh"])
    assert only["count"].tolist() == [2] and np.isnan(only["share"][0])
    with pytest.raises(ValueError, match="do not fit"):
        confusions(["a"], [])


def test_missed_words_are_those_of_the_alignment(rng):
    words = np.array(["a", "b", "c", "d"])
    for _ in range(300):
        said, heard = (rng.choice(words, size=rng.integers(0, 9)).tolist() for _ in range(2))
        steps = align(" ".join(said), " ".join(heard))
        own = [step for step in steps if step.kind != "insert"]
        missed = [place for place, step in enumerate(own) if step.kind != "equal"]
        assert missed_words(said, heard) == (missed, len(steps) - len(own))


# Words corrected and broken, against counts by hand and the word errors themselves


SAID = ["go on now", "stop", "go", None, "up", "", "<b>now</b> go"]
OLD = ["no on now", "stop", None, "go", "up up", "oh", "go"]
NEW = ["go on", "stop it", "go", "go", "up", "", "<b>now</b> go"]


def test_counts_by_hand():
    found = word_changes(SAID, OLD, NEW)
    assert found.isna().all(axis=1).tolist() == [False, False, True, True, False, False, False]
    assert found["corrected"].dropna().tolist() == [1, 0, 0, 0, 1]
    assert found["broken"].dropna().tolist() == [1, 0, 0, 0, 0]
    assert found["put_in_baseline"].dropna().tolist() == [0, 0, 1, 1, 0]
    assert found["put_in_candidate"].dropna().tolist() == [0, 1, 0, 0, 0]
    words = changed_words(SAID, OLD, NEW)
    assert words.to_numpy().tolist() == [
        ["<b>now</b>", 1, 1, 0, 0],
        ["go", 2, 1, 0, 0],
        ["now", 1, 0, 1, 0],
    ]


texts = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)


@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=8))
def test_corrected_minus_broken_is_the_difference_of_right_words(rows):
    said, old, new = zip(*rows, strict=True)
    found = word_changes(said, old, new)
    before, after = (word_errors(said, heard) for heard in (old, new))
    missed = [one.deletions + one.substitutions for one in (before, after)]
    np.testing.assert_array_equal(found["corrected"] - found["broken"], missed[0] - missed[1])
    np.testing.assert_array_equal(found["put_in_baseline"], before.insertions)
    words = changed_words(said, old, new)
    assert words[["corrected", "broken"]].sum().tolist() == found[["corrected", "broken"]].sum().tolist()
    back = changed_words(said, new, old)
    swapped = back.rename(columns={"corrected": "broken", "broken": "corrected"})[words.columns]
    assert swapped.to_numpy().tolist() == words.to_numpy().tolist()
