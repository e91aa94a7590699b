"""Nothing from data becomes Markdown, HTML, a formula, a link or a row of a table."""

import html as names
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from soundcheck.common.escaping import xml_text
from soundcheck.publish.cards.readme import BEGIN, END
from soundcheck.publish.markdown import inline, linked, paragraphs

HOSTILE = [
    f"<script>alert(1)</script> {BEGIN} {END} <!-- x",
    "a | b || c **bold** _it_ ~~gone~~ `code` ``x`` \\`x\\` \\| &lt;b&gt; &#124;",
    "[here](javascript:alert(1)) ![x](y) [ref]: z {{ secrets }} {% raw %} $x^2$ $$y$$",
    *("# heading", "---", "===", "- item\n- item", "1. one", "> quote", "+ plus", "```\nfence\n```"),
    "a\n\n---\n\n# b\r\n\tcode",
    "https://example.org www.example.org a@example.org <https://example.org>",
    "\u202etxt.exe \x1b[31m \ud800 \"quotes\" 'and' “these”",
]


def rendered(text: str) -> str:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def seen(html: str) -> str:
    return " ".join(names.unescape(re.sub(r"<[^>]+>", "", html)).split())


@pytest.mark.parametrize("text", HOSTILE)
def test_readers_see_the_text_and_nothing_else(text):
    harmless = " ".join(xml_text(text).split())
    for before, tags in (("", {"p"}), ("- ", {"ul", "li"}), ("## ", {"h2"})):
        html = rendered(before + inline(text))
        assert set(re.findall(r"</?([a-z0-9]+)", html)) == tags and seen(html) == harmless
    html = rendered(f"| a | b |\n| --- | ---: |\n| {inline(text)} | 1 |")
    assert html.count("<td") == 2 and seen(html.partition("<tbody>")[2]) == f"{harmless} 1"


@given(st.text(max_size=60))
@example("http://a.b\n")
def test_whatever_the_text(text):
    assert set(re.findall(r"<[^>]*>", rendered(f"x {inline(text)} y"))) == {"<p>", "</p>"}
    assert "://" not in inline(text) and "\n" not in inline(text)


def test_paragraphs_and_links():
    html = rendered(paragraphs("one\ntwo <b>\n\n# three\n"))
    assert html.count("<p>") == 2 and html.count("<br") == 1 and "<h1>" not in html
    assert linked("x]", "") == "x\\]" and linked("x]", "https://e.org/a") == "[x\\]](https://e.org/a)"
