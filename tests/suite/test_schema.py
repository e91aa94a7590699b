"""Fields take what is written or say how to write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from soundcheck.suite import schema
from soundcheck.suite.yaml_reader import Plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), ("-1", -1), ("0.95", 0.95), (".5", 0.5), ("5.0e-2", 0.05), ("+1.", 1), ("-0.05", -0.05)],
)
def test_numbers(text, expected):
    assert schema.parse_number(Plain(text)) == expected


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("5e-1", "Write 5.0e-1"),
        ("5e-2", "Write 5.0e-2"),
        ("0,5", "Write 0.5, with a point"),
        ("50%", "Write 0.5"),
        ("010", "Write it without leading zeros"),
        ("high", "Write a finite number"),
        (".nan", "Write a finite number"),
        (".inf", "Write a finite number"),
        ("1:30", "Write a finite number"),
        ("1_000", "Write a finite number"),
        ("0x10", "Write a finite number"),
        ("1.0e999", "Write a finite number"),
        ("true", "Write a finite number"),
        ("", "Write a number"),
    ],
)
def test_what_is_no_number(text, remedy):
    with pytest.raises(PydanticCustomError) as caught:
        schema.parse_number(Plain(text))
    assert remedy in caught.value.context["remedy"]
    assert (text or "nothing") in caught.value.context["what"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_as_python_writes_them(number):
    text = f"{number:.17e}"
    assert schema.parse_number(Plain(text)) == number


def test_number_bounds():
    with pytest.raises(PydanticCustomError, match="out of range"):
        schema.parse_number(Plain("2"), low=0, high=1)
    with pytest.raises(PydanticCustomError, match="not above 0"):
        schema.parse_number(Plain("0"), positive=True)


@pytest.mark.parametrize(
    "value", ["1", Plain("010"), Plain("1.0"), Plain("true"), Plain("1e3"), [Plain("1")], Plain("9" * 30)]
)
def test_what_is_no_whole_number(value):
    with pytest.raises(PydanticCustomError, match="whole number"):
        schema.parse_integer(value, low=0, high=10)


@pytest.mark.parametrize("value", [Plain("yes"), Plain("on"), Plain("1"), "true", Plain("")])
def test_what_is_no_truth_value(value):
    with pytest.raises(PydanticCustomError, match="neither true nor false"):
        schema.parse_boolean(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Plain("true"), True),
        (Plain("null"), None),
        (Plain("12"), 12),
        (Plain("0.5"), 0.5),
        (Plain("downward"), "downward"),
        ("12", "12"),
        ([Plain("1"), {"a": Plain("x")}], [1, {"a": "x"}]),
    ],
)
def test_free_options(value, expected):
    free = schema.parse_free(value)
    assert free == expected
    assert type(free) is type(expected)


@pytest.mark.parametrize("text", ["010", "5e-2", "0,5", "50%", "1:30", ".nan", "no", "On", "1.2.3"])
def test_ambiguous_options_are_refused(text):
    with pytest.raises(PydanticCustomError) as caught:
        schema.parse_free(Plain(text))
    assert "quotes" in caught.value.context["remedy"]


@pytest.mark.parametrize(
    "value", [Plain("[1, 7]"), [Plain("1")], [Plain("7"), Plain("1")], [Plain("1"), Plain("1")]]
)
def test_what_is_no_range(value):
    with pytest.raises(PydanticCustomError):
        schema.parse_range(value)


@pytest.mark.parametrize("name", ["", "  ", "\u00a0", "\u200b", "a\nb", "a\u2028b", "a\x07", "a" * 81])
def test_names_refused(name):
    assert schema.name_problem(name)


@pytest.mark.parametrize(
    "name", ["no", "010", "../x", "<b>", "日本", "a" * 80, "a\u202eb", "CON", ".", "a/b"]
)
def test_names_accepted(name):
    assert schema.name_problem(name) == ""
