"""Parts of pages: elements, notes to know before the numbers, style and scripts; whole pages are templates.

- Texts and values of attributes go through :func:`soundcheck.common.messages.escape`.
- Addresses are local or carry their content with them (``data:image/png``, of a picture also SVG, JPEG, GIF
  and WebP, of a player FLAC): a page loads nothing from outside, whatever a label or a file is called.
- Attributes run no code: those of events (``onclick``) are refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from soundcheck.common import resources, templates
from soundcheck.common.messages import Caveat, escape
from soundcheck.common.templates import Html

MOST_CAVEATS = 5  # that a reader sees without asking for more
_EMPTY = {"img", "br", "hr", "input", "source", "col", "meta"}  # elements without content
_ADDRESSES = {"href", "src", "poster", "action", "formaction", "xlink-href"}
_NAME = re.compile(r"(?!on|srcdoc|srcset)[a-z][a-z0-9-]*")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_BEFORE = "".join(map(chr, range(33)))  # what browsers drop before an address: control characters and blank
_OUTSIDE = re.compile(r"@import[^;]*;[^\n]*\n")
FIRST, LAST = "base", "print"  # sheets that others build on, and that have the last word
_BASE64 = "[A-Za-z0-9+/]*={0,2}"
_CARRIED = {  # what such an element shows or plays and nothing else: scripts in it do not run
    "img": re.compile(rf"data:image/(svg\+xml|jpeg|gif|webp);base64,{_BASE64}"),
    "audio": re.compile(rf"data:audio/flac;base64,{_BASE64}"),
}


def element(tag: str, *children: Html | str, limit: int | None = 200, **named: object) -> Html:
    """Make an element; texts and values of attributes are escaped, texts cut after ``limit`` characters.

    >>> str(element("b", "<x>", title='"'))
    '<b title="&quot;">&lt;x&gt;</b>'
    """
    written = attributes(named, tag)
    if tag in _EMPTY:
        return Html(f"<{tag}{written}>")
    inside = "".join(child if isinstance(child, Html) else escape(child, limit) for child in children)
    return Html(f"<{tag}{written}>{inside}</{tag}>")


def attributes(named: Mapping[str, object], tag: str = "") -> Html:
    """Write attributes with a blank before each; raises ValueError if one could run code or leads outside.

    >>> str(attributes({"class_": "x", "data_run": 1, "hidden": True, "title": None}))
    ' class="x" data-run="1" hidden'
    """
    written = ""
    for name, value in named.items():
        name = name.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name[:40]!r} is not an attribute that a page may have")
        if value is None or value is False:
            continue
        carried = name == "src" and tag in _CARRIED and _CARRIED[tag].fullmatch(str(value))
        if name in _ADDRESSES and not carried:
            local(value)
        written += f" {name}" if value is True else f' {name}="{escape(value, None)}"'
    return Html(written)


def local(address: object) -> str:
    """Give an address that stays in the site; raises ValueError for any other.

    It is read as browsers do: without tabs and line breaks, a backslash being a slash.
    """
    read = re.sub("[\t\r\n]", "", str(address).lstrip(_BEFORE)).replace("\\", "/")
    if _SCHEME.match(read) and not str(address).startswith("data:image/png;base64,"):
        raise ValueError(f"the address {str(address)[:40]!r} leads out of the site")
    return str(address)


def style() -> str:
    """Give all style sheets in one, in an order that is the same everywhere."""
    order = {FIRST: -1, LAST: 1}
    sheets = sorted(_files("css"), key=lambda path: order.get(path.stem, 0))
    return "".join(path.read_text(encoding="utf-8") for path in sheets)


def script() -> str:
    """Give all scripts in one; each part stands for itself."""
    return "".join(path.read_text(encoding="utf-8") for path in _files("js"))


def _files(suffix: str) -> list[Path]:
    return sorted((resources.root() / "book" / "_static").glob(f"*.{suffix}"))


def standalone(title: str, body: Html, page_style: str = "") -> str:
    """Make a page that is one file, its pictures carried in their addresses; ``page_style`` comes last."""
    layout = (templates.FOLDER / "standalone.css").read_text(encoding="utf-8")
    sheet = style_sheet(_OUTSIDE.sub("", style()) + layout + page_style)
    return str(templates.html("standalone", title=title, sheet=sheet, body=body))


def style_sheet(text: str) -> Html:
    """Make a style sheet of our own rules; raises ValueError if the text would end it or loads anything."""
    if "</" in text or "@import" in text or "url(" in text:
        raise ValueError("a style sheet ends itself or loads something from outside")
    return Html(f"<style>{text}</style>")


def folded(summary: str | Html, parts: Iterable[Html]) -> Html:
    """Put what not everybody reads behind a line that says what is inside, and opens it."""
    return element("details", element("summary", summary, limit=None), *parts, class_="sc-fold")


def join(parts: Iterable[Html]) -> Html:
    """Put several pieces one after the other."""
    return Html().join(parts)


def notes(texts: Sequence[str]) -> Html:
    """List what a reader must know; what stands between backticks is code."""
    return element("ul", *map(_item, texts), class_="sc-note") if texts else Html()


def _item(text: str) -> Html:
    parts = text.split("`") if text.count("`") % 2 == 0 else [text]
    marked = (element("code", part, limit=None) if n % 2 else part for n, part in enumerate(parts))
    return element("li", *marked, limit=None)


def caveats_notice(caveats: Sequence[Caveat]) -> Html:
    """Say what makes the numbers of a page doubtful, above them."""
    items = [_item(f"{caveat}.") for caveat in caveats]
    return templates.html("caveats", items=items[:MOST_CAVEATS], more=items[MOST_CAVEATS:])


def synthetic_notice(synthetic: bool) -> Html:
    """Say that the speech behind the numbers is synthetic, if it is."""
    return templates.html("synthetic") if synthetic else Html()


templates.FILTERS |= {"local": local, "attributes": attributes}
