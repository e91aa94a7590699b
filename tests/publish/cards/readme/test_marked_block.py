"""Only what is between the markers changes; broken markers are told with their lines."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.common.errors import InputError
from soundcheck.publish.cards.readme.marked_block import BEGIN, END, replaced

texts = st.text(st.sampled_from("ab#<!- >\r\n\té\u2028"), max_size=30)


@settings(deadline=None)
@given(texts, texts, st.sampled_from(["\n", "\r\n", "\r"]))
def test_all_other_bytes_stay(before, after, lines):
    before, after = (part.replace("<!--", "") for part in (before, after))
    before = before + lines if before else ""
    text = f"{before}{BEGIN}{lines}old{lines}{END}{lines}{after}"
    made = replaced(text, "new\nlines", "README.md")
    assert made.startswith(before + BEGIN) and made.endswith(f"{END}{lines}{after}")
    assert "old" not in made and replaced(made, "new\nlines", "README.md") == made


@settings(deadline=None)
@given(texts)
def test_without_markers_it_is_put_at_the_end(text):
    text = text.replace("<!--", "")
    made = replaced(text, "new", "README.md")
    assert made.startswith(text) and made.count(BEGIN) == made.count(END) == 1
    assert replaced(made, "new", "README.md") == made


def test_line_ends_are_those_of_the_file():
    assert replaced("a\r\nb", "x\ny", "f") == f"a\r\nb\r\n\r\n{BEGIN}\r\nx\r\ny\r\n{END}\r\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"a\n{BEGIN}\nb",
            ["line 7: the marker <!-- soundcheck:begin --> is alone. Add <!-- soundcheck:end -->"],
        ),
        (f"{END}", ["line 6: the marker <!-- soundcheck:end --> is alone"]),
        (f"{END}\nx\n{BEGIN}", ["line 6: the marker <!-- soundcheck:end --> stands before"]),
        (
            f"{BEGIN}\n{BEGIN}\n{END}\n{END}\n",
            [
                "line 7: the marker <!-- soundcheck:begin --> is there twice",
                "line 9: the marker <!-- soundcheck:end",
            ],
        ),
        ("<!-- soundcheck:begin\n", ["line 6: '<!-- soundcheck:begin' is no marker"]),
        (f"x {BEGIN}\n{END}", ["line 6: 'x <!-- soundcheck:begin -->' is no marker, or not alone"]),
        (f"{BEGIN}\n<!-- Soundcheck: stop -->", ["line 7: '<!-- Soundcheck: stop -->' is no marker"]),
    ],
)
def test_broken_markers(text, told):
    with pytest.raises(InputError) as caught:
        replaced(text, "new", "README.md", before="---\na: 1\nb: 2\n---\n\n")
    for words in told:
        assert f"README.md {words}" in str(caught.value)
