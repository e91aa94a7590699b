"""Fields take what is written or say how to write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.errors import InputError, Problems
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.yaml_reader import Document, Plain

WORDS = schema.choice("percentile", "expanded")


def check(kind, value):
    """Check the value of a key ``x``."""
    problems = Problems()
    document = Document({}, {("x",): (3, 1)}, "a.yml", "")
    found = DocumentReader(document, problems).check(("x",), value, kind)
    problems.raise_if_any()
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-1", -1),
        ("0.95", 0.95),
        (".5", 0.5),
        ("5.0e-2", 0.05),
        ("5e-2", 0.05),
        ("+1.", 1),
        ("-0.05", -0.05),
    ],
)
def test_numbers(text, expected):
    assert check(schema.Number, Plain(text)) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_as_python_writes_them(number):
    assert check(schema.Number, Plain(f"{number:.17e}")) == number
    assert check(schema.Number, Plain(repr(number))) == number


BAD_NUMBERS = ["0,5", "50%", "010", "high", ".nan", ".inf", "1:30", "1_000", "0x10", "1.0e999", "true"]
REFUSED = [
    *((schema.Number, Plain(text), "is not a number. Write one such as 0.5") for text in BAD_NUMBERS),
    (schema.Number, Plain(""), "the value is empty. Write one such as 0.5"),
    (schema.Number, "0.5", "'0.5' is not a number.*without quotes"),
    (schema.Number, [Plain("1")], "a list is not a number"),
    (schema.number(0, 1), Plain("2"), r"'2' is out of range. Give a number from 0 to 1\."),
    (schema.number(0, 9, positive=True), Plain("0.0"), "'0.0' is not above 0. Write a number above 0"),
    *(
        (schema.whole(0, 10), value, "is not a whole number")
        for value in ("1", Plain("010"), Plain("1.0"), Plain("true"), Plain("1e3"), [Plain("1")])
    ),
    (schema.whole(0, 2**32 - 1), Plain("-1"), "Give a whole number from 0 to 4294967295"),
    (schema.whole(0, 10), Plain("9" * 30), "'9+' is out of range"),
    *(
        (schema.Boolean, value, "is neither true nor false. Write true or false, without quotes")
        for value in (Plain("yes"), Plain("on"), Plain("1"), "true")
    ),
    (schema.Text, [Plain("a")], "must be text, not a list"),
    (schema.Text, Plain("~"), "the value is empty"),
    (schema.Text, " ", "the text is blank"),
    (schema.Text, "a\nb", "has more than one line"),
    (schema.Title, "a" * 201, "the text is too long. Use at most 200 characters"),
    (schema.Texts, Plain("a"), "'a' is not a list"),
    (schema.Texts, [Plain("a"), Plain("")], " item 2: the value is empty"),
    (schema.Names, [], "the list is empty"),
    (WORDS, Plain("percentil"), "'percentil' is not known here. Did you mean 'percentile'"),
    (WORDS, [], "must be text, not a list"),
    (schema.Range, Plain("[1, 7]"), "is not a pair of numbers"),
    (schema.Range, [Plain("1")], "a list is not a pair of numbers"),
    (schema.Range, [Plain("7"), Plain("1.5")], r"\[7, 1.5\] does not rise"),
    (schema.Range, [Plain("1"), Plain("1")], "does not rise"),
    (schema.Range, [Plain("1"), Plain("high")], " item 2: 'high' is not a number"),
]


@pytest.mark.parametrize(("kind", "value", "words"), REFUSED)
def test_refused(kind, value, words):
    with pytest.raises(InputError, match=f"^a.yml line 3, x.*{words}") as caught:
        check(kind, value)
    assert len(caught.value.problems) == 1


class Inner(schema.Section):
    count: schema.whole(1, 9)


class Outer(schema.Section):
    inner: Inner
    either: int | list[int] = 0


def test_problems_deep_inside_have_their_place():
    with pytest.raises(InputError) as caught:
        check(Outer, {"inner": {"count": Plain("0"), "{cuont}": Plain("1")}, "either": {"a": "b"}})
    told = [str(problem) for problem in caught.value.problems]
    assert told[0] == "a.yml line 3, x.inner.count: '0' is out of range. Give a whole number from 1 to 9."
    assert told[1] == "a.yml line 3, x.inner.'{cuont}': unknown key. Remove it."
    assert told[2].startswith("a.yml line 3, x.either") and len(told) == 4


def test_texts_are_as_written():
    assert check(schema.Texts, [Plain("no"), Plain("1.10"), "010"]) == ("no", "1.10", "010")
    assert check(schema.Names, Plain("010")) == ("010",)
    assert check(schema.Range, [Plain("-1"), Plain("1.5")]) == (-1, 1.5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Plain("true"), True),
        (Plain("null"), None),
        (Plain("12"), 12),
        (Plain("0.5"), 0.5),
        (Plain("5e-2"), 0.05),
        (Plain("downward"), "downward"),
        ("12", "12"),
        ("no", "no"),
        ([Plain("1"), {"a": Plain("x")}], [1, {"a": "x"}]),
    ],
)
def test_free_options(value, expected):
    free = check(schema.Free, value)
    assert free == expected
    assert type(free) is type(expected)


@pytest.mark.parametrize("text", ["010", "0,5", "50%", "1:30", ".nan", "no", "On", "1.2.3", "0x10", "1_0"])
def test_ambiguous_options_are_refused(text):
    with pytest.raises(InputError, match=f"'{text}' may be a number, a truth value or a text.*quotes"):
        check(schema.Free, {"a": [Plain(text)]})


@pytest.mark.parametrize("name", ["", "  ", "\u00a0", "\u200b", "a\nb", "a\u2028b", "a\x07", "a" * 81])
def test_names_refused(name):
    assert schema.name_problem(name)


@pytest.mark.parametrize(
    "name", ["no", "010", "../x", "<b>", "日本", "a" * 80, "a\u202eb", "CON", ".", "a/b"]
)
def test_names_accepted(name):
    assert schema.name_problem(name) == ""
