"""Mends what the theme writes, so that pages can be used by keyboard, screen reader and from the disk.

The theme's templates stay as they are: each page is mended after it was put together and before it is
written, by what stands in it alone, so that pages which are built one by one equal those built at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markupsafe import escape
from sphinx.application import Sphinx

# Runs code on servers of others, which no page of ours does; loaded twice, its script is an error.
THEBE = re.compile(
    r"""[ \t]*<script>const THEBE_JS_URL\b.*?</script>\n?"""
    r"""|[ \t]*<(?:script|link)\b[^>]*\bsphinx-thebe\.(?:js|css)\b[^>]*>(?:</script>)?\n?"""
)
# Draws icons once more that the style sheet has as a font.
ICONS = re.compile(r"""[ \t]*<script\b[^>]*\bscripts/fontawesome\.js\b[^>]*></script>\n?""")
VIEWPORT = re.compile(r"""[ \t]*<meta name="viewport"[^>]*>\n?""")
# A menu below a page in the menu: the arrow that opens it is a picture.
BELOW = re.compile(
    r"""(<a class="[^"]*" href="[^"]*">([^<]*)</a><details(?: open="open")?>)<summary>"""
    r"""(<span class="toctree-toggle") role="presentation">"""
)
SIDEBAR = '<div id="pst-primary-sidebar" '
# A button of the theme's without words has its name in `title`, which its tooltip script takes away.
TITLED = re.compile(r"""(<button class="sidebar-toggle [^>]*) title="([^"]*)\"""")
ICON = re.compile(r"""(<(?:i|span) class="(?:theme-switch )?fa-solid[^"]*")(?![^>]*aria-hidden)""")
BODY = {
    # A formula that is wider than a telephone can be moved; nothing else makes it a stop of the Tab key.
    '<div class="math ': '<div tabindex="0" class="math ',
    # The corner of a table is no header, and entries of a bibliography are items of a list.
    '<th class="head"><p></p></th>': '<td class="head"></td>',
    'role="doc-biblioentry"': 'role="listitem"',
}
TITLES = ("docstitle", "root_title", "pagetitle")  # of the book, its first page and each page: plain text
NAMED = {"Toggle primary sidebar": "Menu", "Toggle secondary sidebar": "Contents of this page"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this module an extension of Sphinx."""
    app.connect("builder-inited", _mended)
    app.connect("html-page-context", _escaped, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _escaped(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Escape titles that some templates show as they are; those that escape leave a Markup as it is."""
    context |= {name: escape(context[name]) for name in TITLES if name in context}


def _mended(app: Sphinx) -> None:
    """Have all pages mended that the builder writes."""
    templates = getattr(app.builder, "templates", None)
    if templates is not None:
        templates.render = _then_mend(templates.render)


def _then_mend(render: Callable[[str, dict[str, Any]], str]) -> Callable[[str, dict[str, Any]], str]:
    def rendered(template: str, context: dict[str, Any]) -> str:
        text = render(template, context)
        return mend(text) if template.endswith(".html") else text

    return rendered


def mend(page: str) -> str:
    """Mend a page of the theme.

    Parameters
    ----------
    page
        HTML of the whole page.

    Returns
    -------
    str
        The same page with a name for everything that can be opened or pressed, all of it within landmarks,
        and without scripts that only look for other servers or fail.
    """
    head, opening, body = page.partition("<article")  # what people wrote stays as it is
    head = ICONS.sub("", THEBE.sub("", head))
    before, *after = VIEWPORT.split(head)
    head = before + "".join([*VIEWPORT.findall(head)[:1], *after])
    head = head.replace(SIDEBAR, SIDEBAR + 'role="complementary" aria-label="Book" ', 1)
    head = BELOW.sub(r'\1<summary aria-label="Pages below \2">\3 aria-hidden="true">', head)
    head = TITLED.sub(_named, head)
    for faulty, mended in BODY.items():
        body = body.replace(faulty, mended)
    page = head + opening + body
    return ICON.sub(r'\1 aria-hidden="true"', page)


def _named(found: re.Match[str]) -> str:
    name = NAMED.get(found[2], found[2])
    return f'{found[1]} aria-label="{name}" title="{name}"'
