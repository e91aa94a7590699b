"""What a page can show of the outputs of a notebook: pages are static and run no scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

PLAIN = "text/plain"
IMAGES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")
_KINDS = ("text/html", *IMAGES, "text/markdown", "text/latex")  # the first of these is shown
_BEYOND = re.compile(  # what needs more than the page and the files of the book
    r"""<(?:script|iframe|object|embed|link|base)\b
    |<[a-z][^>]*?\s(?:src|srcset|poster)\s*=(?!\s*["']?(?:data:|\#|(?:\.\./)*media/))
    |<a\b[^>]*?\shref\s*=(?!\s*["']?(?:https?:|mailto:|\#|\.\./|media/))""",
    re.IGNORECASE | re.VERBOSE,
)
SHOWABLE = "Show a picture, a table or a text: pages run no scripts and load no files of others"


def text_of(value: str | list[str]) -> str:
    """Join the lines of an output."""
    return value if isinstance(value, str) else "".join(value)


def kind_of(data: Mapping[str, object]) -> str:
    """Choose the kind in which a page shows an output, ``""`` if none can be shown.

    What comes as data for a script and as a name of its object is not shown by that name.
    """
    for kind in _KINDS:
        if kind in data and not (kind == "text/html" and _BEYOND.search(text_of(data[kind]))):
            return kind
    return PLAIN if PLAIN in data and len(data) == 1 else ""


def unshown(cells: Iterable[Mapping]) -> tuple[str, ...]:
    """Name the kinds of outputs of cells that no page can show, one for each such output."""
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", ()))
    return tuple(name_of(data) for data in outputs if data and not kind_of(data))


def name_of(data: Mapping[str, object]) -> str:
    """Name an output that cannot be shown."""
    return next((kind for kind in data if kind != PLAIN), PLAIN)
