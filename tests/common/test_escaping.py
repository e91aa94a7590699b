"""Text from data stays text."""

import html
import re
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import escaping

ANY = st.text(st.characters(), max_size=60)  # surrogates and controls included
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "' onmouseover='x",
    '"><script>',
    "&lt;b&gt;",
    "a\x00b\x1b[31m",
    "\u202eabc",
]


class Collector(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))

    def handle_data(self, data):
        self.text += data


@given(ANY)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_escape_leaves_no_live_html(hostile, text):
    parser = Collector()
    parser.feed(f'<p title="{escaping.escape(hostile + text)}">{escaping.escape(text + hostile)}</p>')
    parser.close()
    assert [tag for tag, _ in parser.tags] == ["p"]
    assert [name for name, _ in parser.tags[0][1]] == ["title"]


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=100))
def test_escape_shows_ordinary_text_as_written(text):
    assert html.unescape(escaping.escape(text)) == text


def test_escape_cuts_and_marks():
    assert escaping.escape("a" * 300) == "a" * 199 + "…"
    assert escaping.escape("a" * 300, limit=None) == "a" * 300


@given(ANY)
def test_everything_can_be_encoded(text):
    for function in (escaping.escape, escaping.xml_text, escaping.terminal, escaping.quoted):
        function(text).encode("utf-8")


@given(ANY)
def test_terminal_leaves_no_control_character(text):
    shown = escaping.terminal(text)
    assert all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") for c in shown)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)


@given(ANY)
def test_quoted_is_one_short_line(text):
    shown = escaping.quoted(text)
    assert "\n" not in shown
    assert len(shown) <= escaping.VALUE_LIMIT + 2


@given(ANY)
def test_xml_text_holds_only_what_xml_carries(text):
    from xml.etree import ElementTree

    element = ElementTree.Element("x")
    element.text = escaping.xml_text(text)
    ElementTree.fromstring(ElementTree.tostring(element))


@given(ANY)
def test_spreadsheet_never_begins_like_a_formula(text):
    assert escaping.spreadsheet(text)[:1] not in ("=", "+", "-", "@", "\t", "\r")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_spreadsheet_formulas_get_a_mark(text):
    assert escaping.spreadsheet(text) == f"'{text}"


def test_spreadsheet_leaves_other_text_alone():
    assert escaping.spreadsheet("anger") == "anger"
    assert escaping.spreadsheet("") == ""


@given(ANY)
def test_heading_is_harmless_and_never_blank(text):
    assert re.fullmatch(r"[A-Za-z0-9 ._-]{1,60}", escaping.heading(text))
    assert escaping.heading(text).strip()


def test_heading_of_foreign_script_falls_back():
    assert escaping.heading("日本語") == "unnamed"
    assert escaping.heading("w2v2 <b>large</b>") == "w2v2 b large b"
