import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import json_lines
from soundcheck.common.errors import InputError, Problems
from soundcheck.common.json_lines import NUMBER, TEXT, json_list, read_json_lines

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
def test_both_ways_to_read_give_what_json_gives(items, ascii_only, end):
    text = end.join(json.dumps(item, ensure_ascii=ascii_only) for item in items) + end
    content = text.encode()
    expected = [[item.get(name) for item in items] for name in FIELDS]
    seconds = np.array([np.nan if value is None else value for value in expected[1]], dtype=float)
    for read in (
        read_json_lines(content, "x", FIELDS),
        json_lines._one_by_one(text.replace("\r\n", "\n"), "x", FIELDS),
    ):
        assert read.columns["name"].tolist() == expected[0]
        np.testing.assert_allclose(read.columns["seconds"], seconds, rtol=1e-15)
        assert len(read) == len(items)


def test_plain_lines_are_read_at_once(monkeypatch):
    monkeypatch.setattr(json_lines, "_one_by_one", lambda *_: pytest.fail("read one by one"))
    content = b'\xef\xbb\xbf{"name": "\\u00e4\\n", "x": [{}]}\r\n{"seconds": 3}\r\n'
    read = read_json_lines(content, "x", FIELDS)
    assert read.columns["name"].tolist() == ["ä\n", None]
    assert read.where(1, "seconds") == "x line 2, field seconds"


def test_lines_keep_their_numbers_beside_blank_ones():
    read = read_json_lines(b'\n{"name": "a"}\n\n{"name": "b"}', "x", FIELDS)
    assert list(read.lines) == [2, 4]


@pytest.mark.parametrize(
    "content", [b'{"name": "a"}{"name": "b"}\n', b'{"name": "a"\n}\n', b'{"name": "a"},\n{}']
)
def test_one_object_a_line(content):
    with pytest.raises(InputError, match="x line 1: .* is no JSON"):
        read_json_lines(content, "x", FIELDS)


def test_lists():
    problems = Problems()
    assert list(json_list('[{"a": 1}, 2, {}]', "x", problems)) == [(1, {"a": 1}), (3, {})]
    with pytest.raises(InputError, match="x entry 2: this is a number, not an object"):
        problems.raise_if_any()
    for text, words in [('{"a": 1}', "this is an object, not a list"), ("[\n{,", r"line 2, character 2")]:
        with pytest.raises(InputError, match=words):
            list(json_list(text, "x", problems))
