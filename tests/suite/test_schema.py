"""Fields take what is written or say how to write it; ``refused.yml`` has further values of whole suites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common.errors import InputError, Problems
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.yaml_reader import Document, Plain


def check(kind, value):
    """Check the value of a key ``x``."""
    problems = Problems()
    checked = DocumentReader(Document({}, {("x",): (3, 1)}, "a.yml", ""), problems).check(("x",), value, kind)
    problems.raise_if_any()
    return checked


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (schema.Number, Plain("-1"), -1),
        (schema.Number, Plain(".5"), 0.5),
        (schema.Number, Plain("5.0e-2"), 0.05),
        (schema.Number, Plain("+1."), 1),
        (schema.Texts, [Plain("no"), Plain("1.10"), "010"], ("no", "1.10", "010")),
        (schema.Names, Plain("010"), ("010",)),
        (schema.Range, [Plain("-1"), Plain("1.5")], (-1, 1.5)),
        (schema.Free, Plain("true"), True),
        (schema.Free, Plain("null"), None),
        (schema.Free, Plain("12"), 12),
        (schema.Free, Plain("5e-2"), 0.05),
        (schema.Free, Plain("downward"), "downward"),
        (schema.Free, "12", "12"),
        (schema.Free, "no", "no"),
        (schema.Free, [Plain("1"), {"a": Plain("x")}], [1, {"a": "x"}]),
    ],
)
def test_values_as_written(kind, value, expected):
    checked = check(kind, value)
    assert checked == expected
    assert kind is not schema.Free or type(checked) is type(expected)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_as_python_writes_them(number):
    assert (
        check(schema.Number, Plain(f"{number:.17e}")) == check(schema.Number, Plain(repr(number))) == number
    )


BAD_NUMBERS = ["0,5", "50%", "010", "high", ".nan", ".inf", "1:30", "1_000", "0x10", "1.0e999", "true"]
NO_WHOLE_NUMBERS = ["1", Plain("010"), Plain("1.0"), Plain("true"), Plain("1e3"), [Plain("1")]]
NO_BOOLEANS = [Plain("yes"), Plain("on"), Plain("1"), "true"]
AMBIGUOUS = ["010", "0,5", "50%", "1:30", ".nan", "no", "On", "1.2.3", "0x10", "1_0"]
REFUSED = [
    *((schema.Number, Plain(text), "is not a number. Write one such as 0.5") for text in BAD_NUMBERS),
    (schema.Number, Plain(""), "the value is empty. Write one such as 0.5"),
    (schema.Number, "0.5", "'0.5' is not a number.*without quotes"),
    (schema.Number, [Plain("1")], "a list is not a number"),
    (schema.number(0, 1), Plain("2"), r"'2' is out of range. Give a number from 0 to 1\."),
    (schema.number(0, 9, positive=True), Plain("0.0"), "'0.0' is not above 0. Write a number above 0"),
    *((schema.whole(0, 10), value, "is not a whole number") for value in NO_WHOLE_NUMBERS),
    (schema.whole(0, 2**32 - 1), Plain("-1"), "Give a whole number from 0 to 4294967295"),
    (schema.whole(0, 10), Plain("9" * 30), "'9+' is out of range"),
    *((schema.Boolean, value, "neither true nor false.*without quotes") for value in NO_BOOLEANS),
    (schema.Text, [Plain("a")], "must be text, not a list"),
    (schema.Text, Plain("~"), "the value is empty"),
    (schema.Text, " ", "the text is blank"),
    (schema.Text, "a\nb", "has more than one line"),
    (schema.Title, "a" * 201, "the text is too long. Use at most 200 characters"),
    (schema.Texts, Plain("a"), "'a' is not a list"),
    (schema.Texts, [Plain("a"), Plain("")], " item 2: the value is empty"),
    (schema.Names, [], "the list is empty"),
    (schema.choice("percentile", "t"), Plain("percentil"), "not known here. Did you mean 'percentile'"),
    (schema.choice("percentile", "t"), [], "must be text, not a list"),
    (schema.Range, Plain("[1, 7]"), "is not a pair of numbers"),
    (schema.Range, [Plain("1")], "a list is not a pair of numbers"),
    (schema.Range, [Plain("7"), Plain("1.5")], r"\[7, 1.5\] does not rise"),
    (schema.Range, [Plain("1"), Plain("1")], "does not rise"),
    (schema.Range, [Plain("1"), Plain("high")], " item 2: 'high' is not a number"),
    *((schema.Free, {"a": [Plain(one)]}, f"'{one}' may be a number, a truth value or") for one in AMBIGUOUS),
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
    count, unknown, either, _ = map(str, caught.value.problems)
    assert count == "a.yml line 3, x.inner.count: '0' is out of range. Give a whole number from 1 to 9."
    assert unknown == "a.yml line 3, x.inner.'{cuont}': unknown key. Remove it."
    assert either.startswith("a.yml line 3, x.either")


def test_names():
    for name in ("", "  ", "\u00a0", "\u200b", "a\nb", "a\u2028b", "a\x07", "a" * 81):
        assert schema.name_problem(name), name
    for name in ("no", "010", "../x", "<b>", "日本", "a" * 80, "a\u202eb", "CON", ".", "a/b"):
        assert schema.name_problem(name) == "", name
