"""Text from data stays text."""

import html
import re
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.common import escaping

ANY = st.text(st.characters(), max_size=60)  # surrogates and controls included
HOSTILE = ["<img src=x onerror=alert(1)>", "' onmouseover='x", '"><script>']


class Collector(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))


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
    assert escaping.escape("a" * 300) == "a" * 199 + "…"
    assert escaping.escape("a" * 300, limit=None) == "a" * 300


@given(ANY)
def test_what_each_medium_carries(text):
    for function in (escaping.escape, escaping.xml_text, escaping.terminal, escaping.quoted):
        function(text).encode("utf-8")
    printed = escaping.terminal(text)
    assert all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") for c in printed)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", printed)
    quoted = escaping.quoted(text)
    assert "\n" not in quoted and len(quoted) <= escaping.VALUE_LIMIT + 2
    element = ElementTree.Element("x")
    element.text = escaping.xml_text(text)
    ElementTree.fromstring(ElementTree.tostring(element))
    assert escaping.spreadsheet(text)[:1] not in ("=", "+", "-", "@", "\t", "\r")
    heading = escaping.heading(text)
    assert heading.strip() and not set(re.sub("&#[0-9]+;", "", heading)) & set("\\`*_{}[]<>#|~$&@\n\r")
    assert html.unescape(heading) == escaping.one_line(text)


def test_names_keep_the_letters_of_all_scripts_and_never_look_the_same():
    for name, displayed in {
        "R&D: Émotions – 50 % C++": "R&D: Émotions – 50 % C++",
        "مدل\u200cها": "مدل\u200cها",  # the joiner is part of the word
        "\u202erev\u200f\u2069": r"\u202erev\u200f\u2069",
        "a\nb\tc\0\ud800\u2028": r"a\u000ab\u0009c\u0000\ud800\u2028",
        "a  b ": "a \xa0b\xa0",
        " ": "unnamed",
    }.items():
        assert escaping.one_line(name) == html.unescape(escaping.heading(name)) == displayed
    for one, other in (("a b", "a  b"), ("a", "a\u200b"), ("x" * 80, "x" * 79 + "y"), ("a_b", "a b")):
        assert escaping.heading(one) != escaping.heading(other)
