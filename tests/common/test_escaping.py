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
def test_heading_is_one_line_without_markup_and_never_blank(text):
    shown = escaping.heading(text)
    assert shown.strip() and not set(re.sub("&#[0-9]+;", "", shown)) & set("\\`*_{}[]<>#|~$&@\n\r")
    assert html.unescape(shown) == escaping.one_line(text)


NAMES = {  # as a suite has it -> as pages show it
    "R&D: wav2vec2.0 vs. HuBERT (v1.1) – 50 % C++": "R&D: wav2vec2.0 vs. HuBERT (v1.1) – 50 % C++",
    "Émotions à l’école: Übung – Größe": "Émotions à l’école: Übung – Größe",
    "情感语音": "情感语音",
    "مدل\u200cها": "مدل\u200cها",  # the joiner is part of the word
    "\u202erev\u200f\u2069": r"\u202erev\u200f\u2069",
    "a\nb\tc\0\ud800\u2028": r"a\u000ab\u0009c\u0000\ud800\u2028",
    "zero\u200bwidth\ufeff": r"zero\u200bwidth\ufeff",
    "a  b ": "a \xa0b\xa0",
    "": "unnamed",
    " \n"[:1]: "unnamed",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_keep_the_letters_of_all_scripts(name):
    assert escaping.one_line(name) == NAMES[name]
    assert html.unescape(escaping.heading(name)) == NAMES[name]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("模型一", "模型二"),
        ("C++", "C"),
        ("a b", "a  b"),
        ("a", "a\u200b"),
        ("x" * 80, "x" * 79 + "y"),
        ("a_b", "a b"),
    ],
)
def test_two_names_never_look_the_same(one, other):
    assert escaping.heading(one) != escaping.heading(other)
