"""Word and character errors: jiwer and plain loops as oracles, empty and missing texts, other scripts."""

import itertools
from pathlib import Path

import jiwer
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics import word_rates
from soundcheck.metrics.additive import value, values
from soundcheck.metrics.word_errors import (
    CONFUSIONS,
    NO_WORDS,
    RATES,
    align,
    changed_words,
    character_errors,
    characters_apart,
    closed_up,
    confusions,
    error_rates,
    unit_of,
    without_blanks,
    word_changes,
    word_error_rate,
    word_errors,
)
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

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

TEXTS = yaml.safe_load(Path(__file__).with_name("texts.yml").read_text("utf-8"))
KINDS = {"substitute": "substitutions", "delete": "deletions", "insert": "insertions"}
texts = st.lists(st.sampled_from(["a", "b", "c", "don't", "é", "مرحبا", "٣"]), max_size=12).map(" ".join)
references = texts.filter(bool)
some = settings(max_examples=25, deadline=None)


def random_texts(n: int) -> tuple[list[str], list[str]]:
    """Pairs of texts of few different words, so that alignments tie; some are empty, equal or repeated."""
    rng = np.random.default_rng(0)
    vocabulary = np.array(["a", "b", "c", "<i>", "\x00"], dtype=object)  # strings of NumPy lose the last
    said, heard = ([" ".join(rng.choice(vocabulary, rng.integers(0, 15))) for _ in range(n)] for _ in "ab")
    return said, [one if rng.random() < 0.1 else other for one, other in zip(said, heard, strict=True)]


def spelled_out(said: list[str], heard: list[str], chunks: list[jiwer.AlignmentChunk]) -> list[tuple]:
    """Write jiwer's chunks word by word."""
    steps = []
    for chunk in chunks:
        left = said[chunk.ref_start_idx : chunk.ref_end_idx]
        right = heard[chunk.hyp_start_idx : chunk.hyp_end_idx]
        for pair in itertools.zip_longest(left, right, fillvalue=""):
            steps.append((chunk.type, *pair))
    return steps


@pytest.mark.parametrize(
    ("ours", "theirs"), [(word_errors, jiwer.process_words), (character_errors, jiwer.process_characters)]
)
def test_thousands_of_pairs_as_jiwer_aligns_and_counts_them(ours, theirs):
    said, heard = random_texts(1500)
    counts, expected = ours(said, heard), theirs(said, heard)
    sides = zip(expected.references, expected.hypotheses, expected.alignments, strict=True)
    steps = [spelled_out(*each) for each in sides]
    if ours is word_errors:
        assert [align(*pair) for pair in zip(said, heard, strict=True)] == steps
    assert counts.words.tolist() == [len(units) for units in expected.references]
    for kind, name in KINDS.items():
        assert getattr(counts, name).tolist() == [
            sum(step[0] == kind for step in of_pair) for of_pair in steps
        ]


@some
@given(st.lists(st.tuples(references, texts), min_size=1, max_size=20))
def test_rates_are_those_of_jiwer(pairs):
    said, heard = map(list, zip(*pairs, strict=True))
    counts, expected = word_errors(said, heard), jiwer.process_words(said, heard)
    rates = dict(zip(RATES, values(error_rates(counts)), strict=True))
    assert rates["word error rate"] == pytest.approx(expected.wer, abs=1e-9)
    parts = rates["insertions"] + rates["deletions"] + rates["substitutions"]
    assert parts == pytest.approx(rates["word error rate"], abs=1e-11)
    assert value(match_error_rate(counts)) == pytest.approx(expected.mer, abs=1e-9)
    assert value(word_information_lost(counts)) == pytest.approx(expected.wil, abs=1e-9)
    wrong = [jiwer.wer(*pair) > 0 for pair in pairs]
    assert value(sentence_error_rate(counts)) == pytest.approx(np.mean(wrong), abs=1e-9)
    missing = [None if n % 3 == 0 else text for n, text in enumerate(heard)]
    expected = jiwer.wer(said, [text or "" for text in missing])
    assert value(error_rate_with_missing(said, missing)) == pytest.approx(expected, abs=1e-9)


# Empty and missing texts


@pytest.mark.parametrize("count", [word_errors, character_errors])
def test_empty_and_missing_texts_on_both_sides(count):
    texts, nan = ["a", "", None], np.nan
    counts = count([text for text in texts for _ in texts], texts * 3)
    np.testing.assert_array_equal(counts.words, [1, 1, 1, 0, 0, 0, nan, nan, nan])
    np.testing.assert_array_equal(counts.substitutions, [0, 0, nan, 0, 0, nan, nan, nan, nan])
    np.testing.assert_array_equal(counts.deletions, [0, 1, nan, 0, 0, nan, nan, nan, nan])
    np.testing.assert_array_equal(counts.insertions, [0, 0, nan, 1, 0, nan, nan, nan, nan])
    assert len(count([], []).words) == 0
    with pytest.raises(ValueError, match="do not fit"):
        count(["a"], [])


def test_rates_of_empty_and_missing_texts():
    counts = word_errors(["a b", "", ""], ["a b", "x", ""])  # empty references add errors but no words
    assert values(error_rates(counts)).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert set(error_rates(counts).point().notes) == {"2 empty references"}
    assert word_error_rate([0, 0], [1, 0]).point().reasons == (f"{NO_WORDS}, 1 insertions",)
    point = error_rate_with_missing(["a b", "c", None], [None, np.nan, None]).point()
    assert point.value.tolist() == [1.0] and point.segments.tolist() == [2] and point.reasons == ("",)
    assert point.notes == ("no answer for 2 of 2 segments, 3 words counted as left out",)
    nothing, silent = word_errors(["", ""], ["", ""]), word_errors(["a b"], [""])
    for rate in (match_error_rate, word_information_lost):
        assert rate(nothing).point().reasons[0].startswith(NO_WORDS) and value(rate(silent)) == 1
    assert value(sentence_error_rate(nothing)) == 0 and missing_as_empty([]).shape == (0,)


def test_errors_of_the_same_texts_are_counted_once_and_cannot_be_changed():
    said, heard = np.array(["a b", None], dtype=object), np.array(["a", "c"], dtype=object)
    first = word_errors(said, heard)
    assert word_errors(said.copy(), heard.copy()) is first and not first.words.flags.writeable
    heard[0] = "a b"
    assert word_errors(said, heard).errors[0] == 0 and first.errors[0] == 1
    assert character_errors(said, heard).words[0] == 3


# Which words are confused, missed, corrected and broken


def test_confusions_are_sorted_and_shares_are_of_all_words():
    table = confusions(
        ["go left", "go", "stop", "stop", "yes", None, "no", "", "on"],
        ["no left", "no", "", "top", "yes", "what", np.nan, "uh", "on"],
    )
    assert tuple(table.columns) == CONFUSIONS
    assert table.to_numpy().tolist() == [
        ["substitute", "go", "no", 2, 2 / 7],
        ["delete", "stop", "", 1, 1 / 7],
        ["insert", "", "uh", 1, 1 / 7],
        ["substitute", "stop", "top", 1, 1 / 7],
    ]
    nothing, only = confusions([None], ["a"]), confusions([""], ["uh uh"])
    assert len(nothing) == 0 and nothing.dtypes.equals(table.dtypes)
    assert only["count"].tolist() == [2] and np.isnan(only["share"][0])


def test_words_corrected_and_broken_by_hand():
    said = ["go on now", "stop", "go", None, "up", "", "<b>now</b> go"]
    old = ["no on now", "stop", None, "go", "up up", "oh", "go"]
    new = ["go on", "stop it", "go", "go", "up", "", "<b>now</b> go"]
    changes, nan = word_changes(said, old, new), [np.nan] * 5
    expected = [[1, 1, 3, 0, 0], [0, 0, 1, 0, 1], nan, nan, [0, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 0, 2, 0, 0]]
    np.testing.assert_array_equal(changes, expected)
    expected = [["<b>now</b>", 1, 1, 0, 0], ["go", 2, 1, 0, 0], ["now", 1, 0, 1, 0]]
    assert changed_words(said, old, new).to_numpy().tolist() == expected


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=30))
def test_everybody_gets_another_ones_text(drawn):
    texts = [f"text {n}" if known else None for n, (_, known) in enumerate(drawn)]
    dealt = permuted_hypotheses(texts, [share for share, _ in drawn])
    known = [n for n, text in enumerate(texts) if text is not None]
    if len(known) < 2:
        known = []
    assert sorted(dealt[known]) == sorted(texts[n] for n in known)
    assert all(dealt[n] != texts[n] for n in known)
    assert all(dealt[n] is None for n in range(len(texts)) if n not in known)


def test_rates_of_permuted_hypotheses(rng):
    said, heard = ["a b", "c d", "e f", "g", None], ["a b", "c x", "e f", None, "y"]
    rates = map(value, permuted_word_error_rates(said, heard, [0.1, 0.5, 0.3, 0.2, 0.4]))
    assert list(rates) == pytest.approx([1 / 6, 1.0, 1 / 6 - 1])
    said = [" ".join(rng.choice(list("abcdef"), rng.integers(1, 6))) for _ in range(60)]
    *_, gap = permuted_word_error_rates(said, ["yes"] * 60, rng.random(60))  # no constant answer wins
    result = resample(gap, np.arange(60) % 10, 100)
    assert result.value[0] == 0 and (result.replicates == 0).all()


# Words that nobody said


def test_repeats_against_looking_everywhere():
    def times_in_a_row(words, size, start):
        part, times = words[start : start + size], 1
        while words[start + times * size :][:size] == part:
            times += 1
        return times

    for length in range(1, 8):
        for words in itertools.product("ab", repeat=length):
            places = [(size, start) for size in (1, 2, 3) for start in range(length - size + 1)]
            most = max(times_in_a_row(words, *place) for place in places)
            assert word_rates.most_repeated(" ".join(words), 3) == most, words


def test_answers_where_nobody_speaks_by_time():
    heard, seconds = ["", "  ", "go", "go  left now", None, "a b a b a b a b"], [2.0, 3.0, 1.5, 4.0, 100, 0.5]
    assert value(word_rates.empty_answers(heard)) == 2 / 5
    assert value(word_rates.empty_answers(heard, missing=0.0)) == pytest.approx(2 / 6)
    assert value(word_rates.per_minute(word_rates.word_counts(heard), seconds)) == pytest.approx(60 * 12 / 11)
    assert word_rates.character_counts(heard)[[0, 1, 2, 3, 5]].tolist() == [0, 0, 2, 11, 15]
    assert value(word_rates.repeating_answers(heard, 5, 4)) == 1 / 5
    assert word_rates.word_counts(["谢谢"])[0] == word_rates.character_counts(["谢 谢"])[0] == 2
    assert word_rates.most_repeated("谢谢观看" * 4, 4) == 4
    assert np.isnan(value(word_rates.per_minute([1.0], [0.0])))
    assert word_rates.words_made_up(["now go", None, "go <b>", "now"], 2) == [("go", 2), ("now", 2)]


# Scripts without blanks between words are told by their letters


def test_scripts_without_blanks():
    assert without_blanks("今日はいい天気ですね|ｶﾀｶﾅ|ថ្ងៃនេះ|今天 iPhone 在我们店里打折了吗".split("|")).all()
    blanks = "go left|오늘 날씨가 좋다|hôm nay trời đẹp|اليوم الطقس جميل|١٢٣||…".split("|")

    assert not without_blanks([*blanks, None, np.nan]).any()


def test_references_have_units_and_characters_of_such_scripts_are_words_of_their_own():
    for texts, unit in TEXTS["units"]:
        assert unit_of(texts) == unit, texts
    for written, apart, closed in TEXTS["characters apart and closed up"]:
        assert characters_apart(written) == apart and closed_up(apart) == closed == closed_up(written)


def test_character_error_rates_with_and_without_blanks():
    counts = character_errors(["  go  on\n", "a b"], ["go on", "ab"])
    assert counts.words.tolist() == [5, 3] and counts.errors.tolist() == [0, 1]
    assert error_rates(counts).labels == ("character error rate", *RATES[1:])
    mixed = ["我 要 去 new york", "turn left now"], ["我要 去 new work", "turn left"]
    theirs = jiwer.cer(["我要去new york", "turn left now"], ["我要去new work", "turn left"])
    assert values(error_rates(character_errors(*mixed, blanks=None)))[0] == pytest.approx(theirs)
    with_blanks = error_rates(character_errors(["今天 天气 好"], ["今天天气坏"], blanks=True))
    assert values(with_blanks)[0] == pytest.approx(3 / 7)
