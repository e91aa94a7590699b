"""Tables in JSON Lines: cells as they are written, problems with their lines."""

import pytest

from soundcheck.common.errors import InputError
from soundcheck.common.json_table import read_json_table


@pytest.fixture
def read(tmp_path):
    def write(content: str | bytes, **checks):
        path = tmp_path / "m.jsonl"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_json_table(path, "m.jsonl", **checks)

    return write


def test_cells_are_text(read):
    table = read(
        '\ufeff{"a": "001", "b": 1.50, "c": null}\r\n'
        "\n"
        '{"b": true, "d": {"x": [1]}, "a": "NA", "e": 1e-7}\n'
        '  {"f": "last\\u2028line", "b": -2}'
    )
    assert table.columns == {
        "a": ["001", "NA", ""],
        "b": ["1.5", "true", "-2"],
        "c": ["", "", ""],
        "d": ["", "", ""],
        "e": ["", "1e-07", ""],
        "f": ["", "", "last\u2028line"],
    }
    assert list(table.places) == [1, 3, 4] and table.where(2, "b") == "m.jsonl line 4, column b"


def test_all_problems_at_once(read):
    lines = [
        '{"f": "x", "n": 1}',
        '{"f": 3, "n": "1"}',
        '{"f": "x", "f": "y"}',
        '{"f": "x",}',
        "[1]",
        '{"n": 2}',
        '{"f": "x", "n": NaN}',
        '{"f": ["x"], "n": false}',
        '{"f": ""}',
    ]
    content = "\n".join([*lines, '{"f": "ok"}'])
    with pytest.raises(InputError) as error:
        read(content, texts=["f"], numbers=["n"], needed=["f"])
    told = [str(problem) for problem in error.value.problems]
    assert told[:3] == [
        "m.jsonl line 2, key f: a number, not a text. Correct it.",
        "m.jsonl line 2, key n: a text, not a number. Correct it.",
        "m.jsonl line 3: the key 'f' stands twice in an object. Give one JSON object a line.",
    ]
    assert "m.jsonl line 4: " in told[3] and "is no JSON (" in told[3]
    assert told[4] == "m.jsonl line 5: this is a list, not an object. Give one JSON object a line."
    assert told[5] == "m.jsonl line 6, key f: it is missing or empty. Each line needs one."
    assert "m.jsonl line 7: NaN is not a finite number" in told[6]
    assert "line 8, key f: a list, not a text" in told[7] and "line 8, key n: true or false" in told[8]
    assert "line 9, key f" in told[9]
    assert len(told) == 10


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b"a,b\n1,2\n", "line 1: 'a,b' is no JSON"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        (b"\x80\x04", "pickle"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"[" * 100_000, "is no JSON that can be read"),
        (b'{"a": "\xff"}', "line 1: byte 7 is not UTF-8"),
        (b'{"a": "x\0"}', "NUL"),
        (b'{"a": 1}\n{"a": "\xff"}', "line 2: byte 16 is not UTF-8"),
    ],
)
def test_other_files(read, content, words):
    with pytest.raises(InputError, match=words) as error:
        read(content)
    assert len(error.value.problems) == 1
