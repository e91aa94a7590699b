"""Entities: what is found, when it is right, and that no text breaks it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.entities import closest, compare_entities, find_entities, read

NAMES = {("anna",): "person", ("living", "room"): "room", ("room", "twenty"): "room", ("25",): "bus"}


def found(text, english=True):
    reading = read(text, english)
    return [(kind, " ".join(reading.tokens[a:b])) for kind, a, b in find_entities(reading, NAMES)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna has 30 cats.", [("person", "anna"), ("number", "30")]),
        ("thirty-five", [("number", "35")]),
        ("nineteen eighty four", [("number", "1984")]),
        ("two point five percent", [("number", "2.5%")]),
        ("the twenty-first", [("number", "21st")]),
        ("3,500 and two million", [("number", "3500"), ("number", "2000000")]),
        ("no one was first, one second", []),
        ("oh my god", []),
        ("twenty dollars and fifty cents", [("money", "$20.50")]),
        ("25 € or $1", [("money", "€25"), ("money", "$1")]),
        ("5th of May, 2020", [("date", "may 5 2020")]),
        ("5 May 2020", [("date", "may 5 2020")]),
        ("Sept. 3rd", [("date", "september 3")]),
        ("March 2021", [("date", "march 2021")]),
        ("we may go, they march 10 abreast", [("date", "march 10")]),
        ("6/10/2020 or 2020-06-10", [("date", "6/10/2020"), ("date", "2020-06-10")]),
        ("at 10:30 a.m.", [("time", "10:30 am")]),
        ("at one o'clock or 10pm", [("time", "1:00"), ("time", "10 pm")]),
        ("(555) 123-4567", [("telephone number", "5551234567")]),
        ("five five five one two three four", [("telephone number", "5551234")]),
        ("+49 30 123456", [("telephone number", "4930123456")]),
        ("the U.S.A. and the b b c", [("spelled letters", "usa"), ("spelled letters", "bbc")]),
        ("it is 25", [("bus", "25")]),  # of equally long ones a name
        ("٣٥ درهم", [("number", "35")]),
        ("三十五 35", [("number", "35")]),
        ("", []),
    ],
)
def test_what_is_found(text, expected):
    assert found(text) == expected


def test_the_longest_wins_and_other_languages_have_names_only():
    names = {("anna",): "person", ("anna", "karenina", "25"): "book"}
    assert find_entities(read("Anna Karenina 25"), names) == [("book", 0, 3)]
    assert found("Anna zahlt 25 Euro am 5. Mai", english=False) == [("person", "anna"), ("bus", "25")]
    assert found("Anna zahlt 30 Euro", english=False) == [("person", "anna")]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "right"),
    [
        ("twenty-five dollars", "it is $25.", [True]),
        ("5 May 2020", "May fifth, twenty twenty", [True]),
        ("at 10:30", "at ten thirty", [True]),
        ("at 10:00", "at ten o'clock", [True]),
        ("half past ten", "10:30", [False]),
        ("ten thirty am", "10:30 a.m.", [True]),
        ("call 555 1234", "call five five five one two three four", [True]),
        ("call 555 1234", "call 555 12345", [False]),
        ("room 20", "room 20 5", [False]),  # a figure beside it
        ("the U.S.A.", "the USA", [True]),
        ("thirty", "", [False]),
        ("Anna in the living room", "anna in the living big room", [True, False]),
        ("30 or 40", "40 or 30", [False, False]),
    ],
)
def test_what_is_right(reference, hypothesis, right):
    known = {("anna",): "person", ("living", "room"): "room"}
    assert [one.right for one in compare_entities(read(reference), read(hypothesis), known)] == right


def test_what_was_written_instead_and_the_closest_reference():
    (lost,) = compare_entities(read("set it to forty now"), read("set it to fourteen now"), {})
    assert (lost.kind, lost.said, lost.written) == ("number", "40", "14")
    spoken, written = read("at half past ten"), read("at 10:30")
    assert closest([written, spoken], read("at half past ten")) is spoken
    assert closest([written, spoken], read("what")) is written


@given(st.text(max_size=60))
def test_any_text_is_right_about_itself(text):
    reading = read(text)
    assert all(one.right for one in compare_entities(reading, reading, NAMES))
    assert read(text, english=False).tokens is not None


def test_long_texts_take_little_time():
    start, pieces = (
        time.process_time(),
        ("1", "a.", "1 ", "twenty ", "$", "(1", "may 5 ", "1,", "a-", "\ue000"),
    )
    for piece in pieces:
        reading = read(piece * (20_000 // len(piece)))
        compare_entities(reading, reading, NAMES)
    assert time.process_time() - start < 5 * len(pieces)
