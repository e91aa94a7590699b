"""What a page can show of the outputs of a notebook: pages are static and run no scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser

PLAIN = "text/plain"
IMAGES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")
_KINDS = ("text/html", *IMAGES, "text/markdown", "text/latex")  # the first of these is shown
_TAGS = frozenset(("script", "iframe", "object", "embed", "link", "base"))  # need more than the page
_LOADED = frozenset(("src", "srcset", "poster"))  # attributes that load a file
_NEAR = re.compile(r"\s*(data:|#|(?:\.\./)*media/)", re.IGNORECASE)
_LED = re.compile(r"\s*(https?:|mailto:|#|\.\./|media/)", re.IGNORECASE)
_CANDIDATE = re.compile(
    r"<(?:script|iframe|object|embed|link|base)\b|\b(?:src|srcset|poster|href)\s*=", re.IGNORECASE
)
SHOWABLE = "Show a picture, a table or a text: pages run no scripts and load no files of others"


class _Beyond(HTMLParser):
    """Finds out whether HTML needs more than the page and the files of the book."""

    needs_more = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at a tag and its attributes."""
        loaded = any(name in _LOADED and not _NEAR.match(value or "") for name, value in attrs)
        led = tag == "a" and any(name == "href" and not _LED.match(value or "") for name, value in attrs)
        self.needs_more = self.needs_more or tag in _TAGS or loaded or led


def _is_beyond(html: str) -> bool:
    if not _CANDIDATE.search(html):
        return False
    parser = _Beyond()
    parser.feed(html)
    return parser.needs_more or "<" in parser.rawdata  # a tag that does not end


def text_of(value: str | list[str]) -> str:
    """Join the lines of an output."""
    return value if isinstance(value, str) else "".join(value)


def kind_of(data: Mapping[str, object]) -> str:
    """Choose the kind in which a page shows an output, ``""`` if none can be shown.

    What comes as data for a script and as a name of its object is not shown by that name.
    """
    for kind in _KINDS:
        if kind in data and not (kind == "text/html" and _is_beyond(text_of(data[kind]))):
            return kind
    return PLAIN if PLAIN in data and len(data) == 1 else ""


def unshown(cells: Iterable[Mapping]) -> tuple[str, ...]:
    """Name the kinds of outputs of cells that no page can show, one for each such output."""
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", ()))
    return tuple(name_of(data) for data in outputs if data and not kind_of(data))


def name_of(data: Mapping[str, object]) -> str:
    """Name an output that cannot be shown."""
    return next((kind for kind in data if kind != PLAIN), PLAIN)
