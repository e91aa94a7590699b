"""Entities: what counts as one, when it is right, and that no text breaks it."""

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.entities import closest, compare_entities, find_entities, read

TEXTS = yaml.safe_load(Path(__file__).with_name("texts.yml").read_text("utf-8"))
NAMES = {("anna",): "person", ("living", "room"): "room", ("room", "twenty"): "room", ("25",): "bus"}


def entities_of(text, english=True):
    reading = read(text, english)
    return [(kind, " ".join(reading.tokens[a:b])) for kind, a, b in find_entities(reading, NAMES)]


def test_entities_of_a_text():
    for text, entities in TEXTS["entities"].items():
        assert [f"{kind}: {words}" for kind, words in entities_of(text)] == entities, text


def test_the_longest_wins_and_other_languages_have_names_only():
    names = {("anna",): "person", ("anna", "karenina", "25"): "book"}
    assert find_entities(read("Anna Karenina 25"), names) == [("book", 0, 3)]
    assert entities_of("Anna zahlt 25 Euro am 5. Mai", english=False) == [("person", "anna"), ("bus", "25")]
    assert entities_of("Anna zahlt 30 Euro", english=False) == [("person", "anna")]


def test_what_is_right():
    known = {("anna",): "person", ("living", "room"): "room"}
    for reference, hypothesis, right in TEXTS["entities right"]:
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
