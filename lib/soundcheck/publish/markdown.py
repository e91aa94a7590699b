"""Markdown for hubs and repositories: text from data made harmless, links.

Conventions
-----------
- GitHub's flavour: tables with pipes, HTML and formulas are obeyed by those who show it, so that texts from
  data keep nothing of either. They end up on one line and never begin one.
- Templates escape by :func:`inline` whatever they print; what the filters here give is finished.
"""

import html
import re

from soundcheck.common import templates
from soundcheck.common.escaping import shorten, xml_text
from soundcheck.common.templates import Html

LIMIT = 300  # characters of a text from data that a card shows
_SPECIAL = re.compile(r"[\\`*\[\]{}~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITIES = {"|": "&#124;", "$": "&#36;", "://": "&#58;//", "www.": "www&#46;", "@": "&#64;"}
_LIVE = re.compile(r"\||\$|://|www\.|@", re.IGNORECASE)  # cells, formulas, addresses that would become links


def inline(value: object, limit: int | None = LIMIT) -> str:
    r"""Make a value safe as Markdown text on one line, in a paragraph, an item, a heading or a cell.

    It is cut after ``limit`` characters; ``None`` keeps all of it.

    >>> print(inline("a_b *c* | <b>\n---"))
    a_b \*c\* &#124; &lt;b&gt; ---
    >>> inline("# 1")
    '\\# 1'
    """
    text = " ".join(xml_text(value).split())
    if limit is not None:
        text = shorten(text, limit)
    text = _SPECIAL.sub(lambda match: f"\\{match.group()}", text)
    text = html.escape(text, quote=False)
    text = _LIVE.sub(lambda match: _ENTITIES.get(match[0]) or f"{match[0][:-1]}&#46;", text)
    if re.match(r"[-+=#:]", text):
        return f"\\{text}"
    return re.sub(r"^(\d{1,9})([.)])(?= |$)", r"\1\\\2", text)  # the beginning of a numbered list


def paragraphs(text: str) -> Html:
    """Make a text of several lines safe; blank lines part paragraphs, lines stay lines."""
    parts = re.split(r"\n\s*\n", text.strip())
    return Html("\n\n".join("  \n".join(inline(line, None) for line in part.splitlines()) for part in parts))


def linked(text: object, address: str) -> Html:
    """Link a text to an address that is known to be harmless; without one the text alone."""
    return Html(f"[{inline(text)}]({address})" if address else inline(text))


def code(text: str) -> Html:
    """Show a digest or a name of hexadecimal digits; ``none`` if it is empty."""
    harmless = re.sub(r"[^A-Za-z0-9.:-]", "", text)
    return Html(f"`{harmless}`" if harmless else "none")


templates.FILTERS |= {"code": code, "linked": linked, "paragraphs": paragraphs}
