"""Fields take what is written; ``refused.yml`` says what they refuse."""

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
        *((schema.Number, Plain(text), float(text)) for text in ("-1", ".5", "5.0e-2", "+1.")),
        (schema.Texts, [Plain("no"), Plain("1.10"), "010"], ("no", "1.10", "010")),
        (schema.Names, Plain("010"), ("010",)),
        (schema.Range, [Plain("-1"), Plain("1.5")], (-1, 1.5)),
        (schema.Free, Plain("true"), True),
        (schema.Free, Plain("null"), None),
        (schema.Free, Plain("12"), 12),
        (schema.Free, Plain("5e-2"), 0.05),
        *((schema.Free, text, text) for text in ("12", "no")),
        (schema.Free, Plain("downward"), "downward"),
        (schema.Free, [Plain("1"), {"a": Plain("x")}], [1, {"a": "x"}]),
    ],
)
def test_values_as_written(kind, value, expected):
    checked = check(kind, value)
    assert checked == expected
    assert kind is not schema.Free or type(checked) is type(expected)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_as_python_writes_them(number):
    for text in (f"{number:.17e}", repr(number)):
        assert check(schema.Number, Plain(text)) == number


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
