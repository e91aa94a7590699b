"""Punctuation, capitals and entities: known answers, and what must hold for any text."""

import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.entities import closest, compare_entities, find_entities, read
from soundcheck.metrics.formatting import MARKS, format_errors, has_capitals, has_marks, split_marks

CASES = yaml.safe_load(Path(__file__).with_name("texts.yml").read_text("utf-8"))
TEXTS = st.lists(
    st.sampled_from(
        ["Anna,", "went", "home.", "IBM", "—", "no", "3.5", "¿Qué?", "“So!”", "مرحبا،", "دा।", "U.S.", "…"]
    ),
    max_size=12,
).map(" ".join)


def test_marks():
    for reference, hypothesis, expected in CASES["punctuation"]:
        errors = format_errors([reference], [hypothesis]).marks[0].sum(axis=0)[1:]
        assert errors.tolist() == expected, reference


def test_capitals():
    for reference, hypothesis, capitals, wrong in CASES["capitals"]:
        result = format_errors([reference], [hypothesis])
        assert (result.capitals[0], result.capital_errors[0]) == (capitals, wrong), reference
    missing = format_errors(["Go.", None, "Go."], [None, "Go.", "Go."])
    assert np.isnan([*missing.marks[:2].ravel(), *missing.capitals[:2]]).all()
    assert missing.mark_errors[2].sum() == 0


@given(TEXTS)
def test_a_perfect_transcript_has_no_errors_and_a_plain_one_has_all(text):
    same = format_errors([text], [text])
    assert same.mark_errors.sum() == 0 and same.capital_errors[0] == 0
    plain = " ".join(split_marks(text)[0]).casefold()
    lower = format_errors([text], [plain])
    assert lower.mark_errors.sum() == lower.marks[0, :, 0].sum()
    assert lower.capital_errors[0] == lower.capitals[0]
    assert not has_marks(plain) and not has_capitals(plain)


@given(st.text(max_size=30), TEXTS)
def test_marks_of_the_reference_are_right_replaced_or_left_out(reference, hypothesis):
    words, marks_of_gaps = split_marks(reference)
    assert len(marks_of_gaps) == len(words) + 1 and all(words)
    marks = format_errors([reference], [hypothesis]).marks[0]
    of_reference = np.bincount([m for gap in marks_of_gaps for m in gap], minlength=len(MARKS))
    np.testing.assert_array_equal(marks[:, 0], of_reference)
    assert (marks[:, 1] + marks[:, 2] <= marks[:, 0]).all()


KNOWN = yaml.safe_load(Path(__file__).with_name("texts.yml").read_text("utf-8"))
NAMES = {("anna",): "person", ("living", "room"): "room", ("room", "twenty"): "room", ("25",): "bus"}


def entities_of(text, english=True):
    reading = read(text, english)
    return [(kind, " ".join(reading.tokens[a:b])) for kind, a, b in find_entities(reading, NAMES)]


def test_entities_of_a_text():
    for text, entities in KNOWN["entities"].items():
        assert [f"{kind}: {words}" for kind, words in entities_of(text)] == entities, text


def test_the_longest_wins_and_other_languages_have_names_only():
    names = {("anna",): "person", ("anna", "karenina", "25"): "book"}
    assert find_entities(read("Anna Karenina 25"), names) == [("book", 0, 3)]
    assert entities_of("Anna zahlt 25 Euro am 5. Mai", english=False) == [("person", "anna"), ("bus", "25")]
    assert entities_of("Anna zahlt 30 Euro", english=False) == [("person", "anna")]


def test_what_is_right():
    known = {("anna",): "person", ("living", "room"): "room"}
    for reference, hypothesis, right in KNOWN["entities right"]:
        entities = compare_entities(read(reference), read(hypothesis), known)
        assert [entity.right for entity in entities] == right, reference


def test_what_was_written_instead_and_the_closest_reference():
    (lost,) = compare_entities(read("set it to forty now"), read("set it to fourteen now"), {})
    assert (lost.kind, lost.said, lost.written) == ("number", "40", "14")
    spoken, written = read("at half past ten"), read("at 10:30")
    assert closest([written, spoken], read("at half past ten")) is spoken
    assert closest([written, spoken], read("what")) is written


@given(st.text(max_size=60))
def test_any_text_is_right_about_itself(text):
    reading = read(text)
    assert all(entity.right for entity in compare_entities(reading, reading, NAMES))
    assert read(text, english=False).tokens is not None


@pytest.mark.parametrize("piece", ["1", "twenty ", "may 5 ", "a-"])
def test_long_texts_take_little_time(piece):
    start, reading = time.process_time(), read(piece * (10_000 // len(piece)))
    compare_entities(reading, reading, NAMES)
    assert time.process_time() - start < 5
