"""Readers of tables: cells as they are written, problems with their place."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import text_table
from soundcheck.common.json_lines import NUMBER, TEXT, json_list, read_json_lines, read_json_table
from soundcheck.common.messages import InputError, Problems
from soundcheck.common.text_table import parse_number, parse_seconds, parse_text_table


def test_cells_are_kept_as_written():
    table = parse_text_table(b"\xef\xbb\xbffile,speaker\r\na.wav,001\r\n\r\nb.wav,NA\r\n", "t.csv")
    assert table.columns == {"file": ["a.wav", "b.wav"], "speaker": ["001", "NA"]}
    assert table.where(1, "speaker") == "t.csv line 4, column speaker"


def test_what_is_no_table_is_refused():
    for content, words in (
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf\r\n", "the file is empty"),
        (b"file|x\na|1\n", "line 1: .*bars"),
        (b"file;x\na;1;2\n", "line 2: the row has 3 cells, the header 2. .* hold a semicolon"),
        (b'file,x\na.wav,1\n"b.wav,2\nc.wav,3\n', "line 3: the row that begins here"),
        (b"\n\nfile,x,x\na,1,2\n", "line 3: two columns are called 'x'"),
        ("file,x\nä,1\n".encode("latin-1"), "line 2: byte 7 is not UTF-8"),
        ("file,x\n".encode("utf-16"), "UTF-16.*UTF-8"),
        (b"file,x\na\x00,1\n", "line 2: byte 8 is a NUL"),
        (b"\x80\x04pickle", "pickle"),
        (b'{"audio_filepath": "a.wav", "text": "go"}\n{"text": "on"}\n', "line 1: this is JSON, not a table"),
        (b"file,x\na\nb\n" + b"c\n" * 30, "There are 32 of this kind, also t.csv line 3; t.csv line 4."),
    ):
        with pytest.raises(InputError, match=words):
            parse_text_table(content, "t.csv")


def test_columns_of_numbers_and_times_name_what_is_none():
    cells = ["high", "0,5", "nan", "inf", "1e999", "1_0", "0x1", "True", "1.5 ", "", " -.5e1"]
    values, problems = text_table.parse_column(cells, parse_number)
    np.testing.assert_array_equal(values, [*[np.nan] * 8, 1.5, np.nan, -5])
    assert [row for row, _ in problems] == list(range(8))
    assert all("is not a" in what for _, what in problems)
    times = {"0 days 00:00:01.5": 1.5, "1:00:00": 3600, "2 days 0:0:1": 172801, "1 day": 86400, "NaT": np.nan}
    values, problems = text_table.parse_column([*times, "-1", "soon", "1:75:00"], parse_seconds)
    np.testing.assert_array_equal(values[:5], [*times.values()])
    assert [row for row, _ in problems] == [5, 6, 7]


FIELDS = {"name": TEXT, "seconds": NUMBER}
VALUES = {
    "name": st.none() | st.text(max_size=5),
    "seconds": st.none() | st.integers(-9, 10**6) | st.floats(allow_nan=False, allow_infinity=False),
    "other": st.lists(st.booleans(), max_size=2)
    | st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
}


@given(
    st.lists(st.fixed_dictionaries({}, optional=VALUES), min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_columns_are_what_json_gives(items, ascii_only, end):
    text = end.join(json.dumps(item, ensure_ascii=ascii_only) for item in items) + end
    table = read_json_lines(b"\xef\xbb\xbf" + text.encode(), "x", FIELDS)
    assert table.columns["name"].tolist() == [item.get("name") for item in items]
    seconds = [np.nan if item.get("seconds") is None else item["seconds"] for item in items]
    np.testing.assert_array_equal(table.columns["seconds"], np.array(seconds, dtype=float))
    assert list(table.places) == [1 + n * (1 + (end == "\n\n")) for n in range(len(items))]
    assert table.where(0, "name") == "x line 1, field name"


def test_lists_and_one_object_a_line():
    problems = Problems()
    assert list(json_list('[{"a": 1}, 2, {}]', "x", problems)) == [(1, {"a": 1}), (3, {})]
    with pytest.raises(InputError, match="x entry 2: this is a number, not an object"):
        problems.raise_if_any()
    for text, words in [('{"a": 1}', "this is an object, not a list"), ("[\n{,", r"line 2, character 2")]:
        with pytest.raises(InputError, match=words):
            list(json_list(text, "x", problems))
    for content in (b'{"name": "a"}{"name": "b"}\n', b'{"name": "a"\n}\n'):
        with pytest.raises(InputError, match="x line 1: .* is no JSON"):
            read_json_lines(content, "x", FIELDS)


def test_what_is_no_json_is_refused(read):
    for content, words in (
        (b"\n \n", "the file is empty"),
        (b"[" * 100_000, "is no JSON that can be read"),
        (b'{"a": 1}\n{"a": "\xff"}', "line 2: byte 16 is not UTF-8"),
    ):
        with pytest.raises(InputError, match=words) as error:
            read(content)
        assert len(error.value.problems) == 1


@pytest.fixture
def read(tmp_path):
    def write(content: str | bytes, **checks):
        path = tmp_path / "m.jsonl"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_json_table(path, "m.jsonl", **checks)

    return write


def test_cells_of_objects_are_text(read):
    table = read(
        '\ufeff{"a": "001", "b": 1.50, "c": null}\r\n'
        "\n"
        '{"b": true, "d": {"x": [1]}, "a": "NA", "e": 1e-7}\n'
        '  {"f": "last\\u2028line", "b": -2}'
    )
    rows = zip(*table.columns.values(), strict=True)
    assert ["".join(table.columns), *rows] == [
        "abcdef",
        ("001", "1.5", "", "", "", ""),
        ("NA", "true", "", "", "1e-07", ""),
        ("", "-2", "", "", "", "last\u2028line"),
    ]
    assert table.where(2, "b") == "m.jsonl line 4, column b"


def test_all_problems_of_objects_at_once(read):
    lines = {
        '{"f": "x", "n": 1}': [],
        '{"f": 3, "n": "1"}': ["field f: '3' is a number, not a text", "is a text, not a number"],
        '{"f": "x", "f": "y"}': ["the key 'f' stands twice in an object"],
        '{"f": "x",}': ["is no JSON ("],
        "[1]": ["this is a list, not an object"],
        '{"f": "x", "n": NaN}': ["NaN is not a finite number"],
        '{"f": ["x"], "n": false}': ["is a list, not a text", "field n: 'false' is true or false"],
        '{"f": ""}': ["field f: it is missing"],
        '{"f": "\\ud800"}': ["holds half a character"],
        '{"f": "ok"}': [],
    }
    expected = [(line, what) for line, whats in enumerate(lines.values(), 1) for what in whats]
    with pytest.raises(InputError) as error:
        read("\n".join(lines), texts=["f"], numbers=["n"], needed=["f"])
    for problem, (line, what) in zip(map(str, error.value.problems), expected, strict=True):
        assert problem.startswith(f"m.jsonl line {line}") and what in problem
