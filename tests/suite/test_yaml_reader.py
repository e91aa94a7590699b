"""What a file says is what the reader gets, or a message with line and key."""

import os
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.messages import InputError, Problems
from soundcheck.suite import schema
from soundcheck.suite.schema import Document, Plain, dotted, read_yaml


def read(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    problems = Problems()
    document = read_yaml(path, "a.yml", problems)
    problems.raise_if_any()
    return document


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.yml"


def test_values_and_places(file):
    document = read(file, b"\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\n  - {c: 'y'}\r\n")
    assert document.data == {"a": "1", "b": ["x", {"c": "y"}]}
    assert document.places[("a",)] == (1, 1) and document.places[("b", 1, "c")] == (4, 6)
    assert document.where(("b", 1, "c")) == "a.yml line 4, b item 2.c"
    assert document.where(("b", 1, "missing")) == "a.yml line 4, b item 2.missing"
    assert document.where(()) == "a.yml line 1"
    assert read(file, "# x\n\na: 1\n").where(("missing",)) == "a.yml line 3, missing"
    assert dotted(("models", "my\x1b model", 0)) == r"models.'my\x1b model' item 1"
    assert read(file, "a: " + "[" * 29 + "x" + "]" * 29).data  # as deep as may be
    folded = read(file, "a: one\n  two\nb: >-\n  three\n  four\nc: |\n  five\n").data
    assert folded == {"a": "one two", "b": "three four", "c": "five\n"}


WORDS = ["no", "1:30", "010", "0x10", "1_000", ".nan", "1.0e999", "9" * 5000, "0,5", "2024-01-01", "<<"]
NUMBERS = {"5e-2": 0.05, "-0.05": -0.05, ".5": 0.5, "+1.": 1.0, "-12": -12}
SCALARS = {word: word for word in WORDS} | NUMBERS | {"True": True, "null": None, "~": None}


def test_scalars_keep_their_text(file):
    for text, value in SCALARS.items():
        key = text[:9]
        document = read(file, f"{key}: {text}\nquoted: '{text}'\n")
        assert document.data == {key: text, "quoted": text}
        assert document.data[key].value == value and type(document.data[key].value) is type(value)
        assert isinstance(document.data[key], Plain)
        assert not isinstance(document.data["quoted"], Plain)


LAUGHS = "l0: &l0 [ha]\n" + "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 11))
REFERENCE = "line 1, .*(references|not valid YAML)"
DEEP = "line 1, column .*nested deeper than 30 levels"
REFUSED = [  # content, words of the message; others stand in refused.yml
    *yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))["yaml"],
    ("a: ü\n".encode("utf-16"), r"line 1: byte 0 \(0xff\) is not UTF-8; is it UTF-16.*Save.* as UTF-8"),
    ("a: x\n".encode("utf-16-le"), r"line 1, column 2: .*\(U\+0000\).*Save the file as UTF-8"),
    ("a: 1\nb: ü\n".encode("latin-1"), r"line 2: byte 8 \(0xfc\) is not UTF-8.*Save the file as UTF-8"),
    (LAUGHS, REFERENCE),
    ("a: " + "[" * 30 + "x" + "]" * 30, DEEP),
    ("a: " + "{b: " * 5000, DEEP),
    ("a: [" + "&x y, " * 5000, REFERENCE),  # the largest files take no longer
    ("k: 1\n" * 6000, "duplicate key"),
    (b"#" * (1024**2 + 1), "more than the limit of 1048576"),
]


@pytest.mark.parametrize(("content", "words"), REFUSED, ids=lambda value: repr(value)[:30])
def test_refused_quickly(file, content, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    start = time.process_time()
    with pytest.raises(InputError, match=rf"(?s)^a\.yml.*?{words}"):
        read(file, content)
    assert time.process_time() - start < 2
    assert os.listdir(tmp_path) == ["a.yml"]  # nothing is executed


def test_duplicate_keys_name_both_lines_and_leave_the_rest_readable(file):
    problems = Problems()
    file.write_text("m:\n  x: {t: 1}\n  y: 2\n  x: {t: 3}\nm: 5\nz: 6\n")
    document = read_yaml(file, "a.yml", problems)
    assert document.data == {"m": {"x": {"t": "1"}, "y": "2"}, "z": "6"}
    assert document.places[("m", "x", "t")] == (2, 7)
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert [str(problem) for problem in caught.value.problems] == [
        "a.yml line 4, m.x: duplicate key, on line 2 and line 4. Keep one of them.",
        "a.yml line 5, m: duplicate key, on line 1 and line 5. Keep one of them.",
    ]


def test_pipes_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        read_yaml(tmp_path / "pipe", "pipe", Problems())


@settings(deadline=None)
@given(st.text(st.sampled_from("ab:-[]{}#&*!|>'\"%@`,?\n\t \\U0\x00\ud83dé"), max_size=40))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yml"
    try:
        document = read(path, text.encode("utf-8", "surrogatepass"))
    except InputError as error:
        assert all(problem.where.startswith("a.yml line") for problem in error.problems)
    else:
        assert isinstance(document.data, dict)


def check(kind, value):
    problems = Problems()
    checked = schema.DocumentReader(Document({}, {("x",): (3, 1)}, "a.yml", ""), problems).check(
        ("x",), value, kind
    )
    problems.raise_if_any()
    return checked


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (schema.Texts, [Plain("no"), Plain("1.10"), "010"], ("no", "1.10", "010")),
        (schema.Range, [Plain("-1"), Plain("1.5")], (-1, 1.5)),
        (schema.Free, Plain("true"), True),
        (schema.Free, Plain("12"), 12),
        (schema.Free, "12", "12"),
        (schema.Free, Plain("downward"), "downward"),
        (schema.Free, [Plain("1"), {"a": Plain("x"), "b": Plain("null")}], [1, {"a": "x", "b": None}]),
    ],
)
def test_values_as_written(kind, value, expected):
    checked = check(kind, value)
    assert checked == expected
    assert kind is not schema.Free or type(checked) is type(expected)


def test_names():
    for name in ("", "  ", "\u00a0", "\u200b", "a\nb", "a\u2028b", "a\x07", "a" * 81):
        assert schema.name_problem(name), name
    for name in ("no", "010", "../x", "<b>", "日本", "a" * 80, "a\u202eb", "CON", ".", "a/b"):
        assert schema.name_problem(name) == "", name
