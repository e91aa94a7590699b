"""What a file says is what the reader gets, or a message with line and key."""

import contextlib
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.errors import InputError, Problems
from soundcheck.suite.yaml_reader import Plain, dotted, read_yaml


def read(path, content, problems=None):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    problems = problems if problems is not None else Problems()
    document = read_yaml(path, "a.yml", problems)
    problems.raise_if_any()
    return document


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.yml"


def test_values_and_places(file):
    document = read(file, "a: 1\nb:\n  - x\n  - {c: 'y'}\n")
    assert document.data == {"a": "1", "b": ["x", {"c": "y"}]}
    assert document.places[("a",)] == (1, 1)
    assert document.places[("b", 1, "c")] == (4, 6)
    assert document.where(("b", 1, "c")) == "a.yml line 4, b item 2.c"
    assert document.where(("b", 1, "missing")) == "a.yml line 4, b item 2.missing"
    assert document.where(()) == "a.yml line 1"
    assert read(file, "# x\n\na: 1\n").where(("missing",)) == "a.yml line 3, missing"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("0x10", "0x10"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1.0e999", "1.0e999"),
        ("9" * 5000, "9" * 5000),
        ("0,5", "0,5"),
        ("5e-2", 0.05),
        ("1.10", 1.1),
        ("-0.05", -0.05),
        (".5", 0.5),
        ("+1.", 1.0),
        ("-12", -12),
        ("True", True),
        ("null", None),
        ("~", None),
        ("2024-01-01", "2024-01-01"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_scalars_keep_their_text(file, text, value):
    key = "long" if len(text) > 100 else text
    document = read(file, f"{key}: {text}\nquoted: '{text}'\n")
    assert document.data == {key: text, "quoted": text}
    assert document.data[key].value == value and type(document.data[key].value) is type(value)
    assert isinstance(document.data[key], Plain)
    assert not isinstance(document.data["quoted"], Plain)


def test_line_folding_and_blocks(file):
    data = read(file, "a: one\n  two\nb: >-\n  three\n  four\nc: |\n  five\n").data
    assert data == {"a": "one two", "b": "three four", "c": "five\n"}


def test_byte_order_mark_and_crlf_are_accepted(file):
    assert read(file, b"\xef\xbb\xbfa: 1\r\nb: 2\r\n").data == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "a: ü\n".encode("utf-16"),
            r"line 1: byte 0 \(0xff\) is not UTF-8; is it UTF-16.*Save the file as UTF-8",
        ),
        ("a: x\n".encode("utf-16-le"), r"line 1, column 2: .*\(U\+0000\).*Save the file as UTF-8"),
        ("a: 1\nb: ü\n".encode("latin-1"), r"line 2: byte 8 \(0xfc\) is not UTF-8.*Save the file as UTF-8"),
        (b"\xef\xbb\xbfa: \xfc\n", r"byte 6 \(0xfc\)"),
        (b"a: 1\nb: \0\n", r"line 2, column 4: there is a control character \(U\+0000\)"),
        (b"a: 1\nb: x\x07\n", r"line 2, column 5: there is a control character \(U\+0007\)"),
        (b'a: "x\\x1b[31m"\n', "line 1, column 4: .*holds a control character"),
        (b'a: "\\ud800"\n', "not valid YAML"),
        (b'a: 1\nb: "\\U00110000"\n', "line 2, column 7: not valid YAML"),
        (b"", "line 1: the file is empty"),
        (b"# nothing\n", "the file is empty"),
        (b"---\n", "the file is empty"),
        (b"- a\n- b\n", "the file holds a list, not a mapping"),
        (b"hello\n", "the file holds the text 'hello', not a mapping"),
        (b"a: 1\n---\nb: 2\n", "line 2, column 1: not valid YAML.*another document. Keep one document"),
        (b"a:\n\tb: 1\n", "line 2, column 1: not valid YAML.*Indent with spaces"),
        (b"a: {b: 1\n", "line 2, column 1: not valid YAML.*bracket is not closed"),
        (b'a: "x\n', "line 2, column 1: not valid YAML.*not closed"),
        (b"a: b: c\n", "line 1, column 5: not valid YAML.*in quotes"),
        (b"a: @x\n", "line 1, column 4: .*in quotes"),
        (b"a: 1\n b: 2\n", "line 2, column 3: not valid YAML"),
        (b"a\nb: 1\n", "not valid YAML"),
        (b"? [x]\n: 1\n", "line 1, column 3: a key must be text"),
        (b"? {x: y}\n: 1\n", "a key must be text"),
        (b"%YAML 7.0\n---\na: 1\n", "not valid YAML"),
        (b"%YAML 1.7\n---\na: 1\n", "not valid YAML"),
    ],
)
def test_refused(file, content, words):
    with pytest.raises(InputError, match=rf"(?s)^a\.yml .*?{words}"):
        read(file, content)


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['touch CANARY']",
        "a: !!python/name:os.system",
        "a: !own {b: 1}",
        "a: !!int '1'",
        "a: ! x",
        "!own\na: 1",
    ],
)
def test_tags_are_refused(file, text, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"a\.yml line 1, column \d+: tags \('!.*Remove the tag"):
        read(file, text)
    assert os.listdir(tmp_path) == ["a.yml"]


LAUGHS = "l0: &l0 [ha]\n" + "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 11))


@pytest.mark.parametrize(
    "text", [LAUGHS, "a: &a [*a]\n", "a: &a {b: 1}\nc: {<<: *a}\n", "a: &x 1\n", "*a : 1\n"]
)
def test_references_are_refused_quickly(file, text):
    start = time.process_time()
    with pytest.raises(InputError, match=r"line 1, .*(references|not valid YAML)"):
        read(file, text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text", ["[" * 5000, "a: " + "[" * 5000 + "]" * 5000, "a: " + "{b: " * 5000, "- " * 5000]
)
def test_deep_nesting_is_refused_quickly(file, text):
    start = time.process_time()
    with pytest.raises(InputError, match="line 1, column .*nested deeper than 30 levels"):
        read(file, text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("start", "piece"),
    [("", "key{}: 1\n"), ("a: ", "x "), ("a: [", "1, "), ("", "k: 1\n"), ("a: [", "&x y, "), ("", "? ")],
)
def test_time_is_linear(file, start, piece):
    """A file of the largest size takes seconds, not hours."""
    text = start + "".join(piece.format(n) for n in range(2**15 // len(piece)))
    begin = time.process_time()
    with contextlib.suppress(InputError):
        read(file, text)
    assert time.process_time() - begin < 5  # 0.4 s measured at the slowest


def test_nesting_up_to_the_limit(file):
    assert read(file, "a: " + "[" * 29 + "x" + "]" * 29).data
    with pytest.raises(InputError, match="nested deeper"):
        read(file, "a: " + "[" * 30 + "x" + "]" * 30)


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


def test_duplicate_keys_within_a_duplicate_key(file):
    with pytest.raises(InputError, match="on line 1 and line 2"):
        read(file, "a: [1]\na: [{b: 1, b: 2}]\n")


def test_a_missing_file_names_the_nearest(tmp_path):
    (tmp_path / "suite.yml").touch()
    with pytest.raises(InputError, match=r"suit.yml: the file does not exist. Did you mean 'suite.yml'\?"):
        read_yaml(tmp_path / "suit.yml", "suit.yml", Problems())


def test_pipes_and_large_files_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        read_yaml(tmp_path / "pipe", "pipe", Problems())
    with pytest.raises(InputError, match="more than the limit of 1048576"):
        read(tmp_path / "a.yml", b"#" * (1024**2 + 1))


def test_dotted_shows_odd_keys_in_quotes():
    assert dotted(("models", "my\x1b model", 0)) == r"models.'my\x1b model' item 1"


def test_all_references_and_tags_are_told_at_once(file):
    with pytest.raises(InputError) as caught:
        read(file, "a: [*x, &y z, !t v]\nb: {<<: *y}\n")
    assert [problem.where for problem in caught.value.problems] == [
        "a.yml line 1, column 5",
        "a.yml line 1, column 9",
        "a.yml line 1, column 15",
        "a.yml line 2, column 9",
    ]


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
