"""Nothing from data becomes Markdown, HTML, a formula, a link or a row of a table."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.publish.cards.readme import BEGIN, END
from soundcheck.publish.markdown import inline, linked, paragraphs

markdown_it = pytest.importorskip("markdown_it", reason="pip install markdown-it-py")

HOSTILE = [
    "<script>alert(1)</script>",
    "a | b || c",
    "**bold** _it_ ~~gone~~ `code` ``x``",
    "[here](javascript:alert(1)) ![x](y) [ref]: z",
    "# heading",
    "---",
    "===",
    "- item\n- item",
    "1. one",
    "> quote",
    "a\n\n---\n\n# b\r\n\tcode",
    "{{ secrets }} {% raw %}",
    "$x^2$ $$y$$",
    "https://example.org www.example.org a@example.org <https://example.org>",
    f"{BEGIN} {END} <!-- x",
    "\\`x\\` \\| &lt;b&gt; &#124;",
    "\u202etxt.exe \x1b[31m \ud800",
    "\"quotes\" 'and' “these”",
    "+ plus",
    ": definition",
    "```\nfence\n```",
]


def rendered(text: str) -> str:
    return markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def seen(html: str) -> str:
    """What a reader sees of one element."""
    import html as names

    return " ".join(names.unescape(re.sub(r"<[^>]+>", "", html)).split())


def harmless(text: str) -> str:
    from soundcheck.common.escaping import xml_text

    return " ".join(xml_text(text).split())


@pytest.mark.parametrize("text", HOSTILE)
def test_readers_see_the_text_and_nothing_else(text):
    for made, tags in (
        (inline(text), {"p"}),
        (f"- {inline(text)}", {"ul", "li"}),
        (f"## {inline(text)}", {"h2"}),
    ):
        html = rendered(made)
        assert set(re.findall(r"</?([a-z0-9]+)", html)) == tags, html
        assert seen(html) == harmless(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_stays_a_cell(text):
    html = rendered(f"| a | b |\n| --- | ---: |\n| {inline(text)} | 1 |")
    assert html.count("<td") == 2 and seen(html.partition("<tbody>")[2]) == f"{harmless(text)} 1"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_whatever_the_text(text):
    html = rendered(f"x {inline(text)} y")
    assert set(re.findall(r"<[^>]*>", html)) == {"<p>", "</p>"}
    assert "://" not in inline(text) and "\n" not in inline(text)


def test_paragraphs_and_lines():
    html = rendered(paragraphs("one\ntwo <b>\n\n# three\n"))
    assert html.count("<p>") == 2 and html.count("<br") == 1 and "<h1>" not in html


def test_links_only_with_an_address():
    assert linked("x]", "") == "x\\]" and linked("x]", "https://e.org/a") == "[x\\]](https://e.org/a)"
