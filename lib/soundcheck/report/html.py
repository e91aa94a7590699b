"""HTML whose every text is escaped: the only place that makes HTML for pages.

Conventions
-----------
- Texts and attribute values go through :func:`soundcheck.common.escaping.escape`; only :class:`Html` is kept
  as is.
- Addresses are local or carry their content with them (``data:image/png``, of a picture also SVG, JPEG, GIF
  and WebP, of a player FLAC): a page loads and links nothing from outside, whatever a label or a file is
  called.
- Attributes run no code: those of events (``onclick``) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from soundcheck.common.escaping import escape

_EMPTY = {"img", "br", "hr", "input", "source", "col", "meta"}  # elements without content
_ADDRESSES = {"href", "src", "poster", "action", "formaction", "xlink-href"}
_NAME = re.compile(r"(?!on|srcdoc|srcset)[a-z][a-z0-9-]*")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_BEFORE = "".join(map(chr, range(33)))  # what browsers drop before an address: control characters and blank
_PICTURE = "data:image/png;base64,"
_BASE64 = "[A-Za-z0-9+/]*={0,2}"
_CARRIED = {  # what such an element shows or plays and nothing else: scripts in it do not run
    "img": re.compile(rf"data:image/(svg\+xml|jpeg|gif|webp);base64,{_BASE64}"),
    "audio": re.compile(rf"data:audio/flac;base64,{_BASE64}"),
}


class Html:
    """Finished HTML, shown by notebooks; add two to join them.

    Parameters
    ----------
    text
        HTML that is safe already; only :func:`element` should make it.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return bool(self.text)

    def __add__(self, other: Html) -> Html:
        return Html(self.text + other.text)

    def _repr_html_(self) -> str:
        return self.text


def element(tag: str, *children: Html | str, limit: int | None = 200, **attributes: object) -> Html:
    """Make an element; texts and attribute values are escaped.

    Parameters
    ----------
    tag
        Name of the element.
    children
        Texts, which are escaped, and finished HTML.
    limit
        Characters after which a text is cut; ``None`` keeps all.
    attributes
        ``class_="x"`` becomes ``class``, ``data_run`` becomes ``data-run``; ``True`` stands for an attribute
        without value, ``None`` and ``False`` leave it out.

    Raises
    ------
    ValueError
        If an address leads out of the site, or an attribute could run code or is none.

    Examples
    --------
    >>> str(element("b", "<x>", title='"'))
    '<b title="&quot;">&lt;x&gt;</b>'
    """
    written = ""
    for name, value in attributes.items():
        name = name.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:40]!r} is not an attribute that a page may have")
        if name in _ADDRESSES and _leads_out(str(value)) and not _carried(tag, name, str(value)):
            raise ValueError(f"the address {str(value)[:40]!r} leads out of the site")
        if value is True:
            written += f" {name}"
        elif value is not None and value is not False:
            written += f' {name}="{escape(value, None)}"'
    if tag in _EMPTY:
        return Html(f"<{tag}{written}>")
    inside = "".join(child.text if isinstance(child, Html) else escape(child, limit) for child in children)
    return Html(f"<{tag}{written}>{inside}</{tag}>")


def _leads_out(address: str) -> bool:
    """Read an address as browsers do: without tabs and line breaks, a backslash being a slash."""
    read = re.sub("[\t\r\n]", "", address.lstrip(_BEFORE)).replace("\\", "/")
    return bool(_SCHEME.match(read)) and not address.startswith(_PICTURE)


def style_sheet(text: str) -> Html:
    """Make a style sheet of our own rules, never of text from data.

    Raises
    ------
    ValueError
        If the text would end the sheet, or loads anything.
    """
    if "</" in text or "@import" in text or "url(" in text:
        raise ValueError("a style sheet ends itself or loads something from outside")
    return Html(f"<style>{text}</style>")


def _carried(tag: str, name: str, address: str) -> bool:
    """Say whether an address holds what a picture or a player shows."""
    return name == "src" and tag in _CARRIED and bool(_CARRIED[tag].fullmatch(address))


def folded(summary: str, parts: Iterable[Html]) -> Html:
    """Put what not everybody reads behind a line that says what is inside, and opens it."""
    return element("details", element("summary", summary, limit=None), *parts, class_="sc-fold")


def join(parts: Iterable[Html]) -> Html:
    """Put several pieces one after the other."""
    return Html("".join(part.text for part in parts))
