"""The style and scripts of all pages, put together, and pages that are one file: nothing from outside."""

import re
from pathlib import Path

from soundcheck.common import resources, templates
from soundcheck.report.html import Html, style_sheet

_OUTSIDE = re.compile(r"@import[^;]*;[^\n]*\n")
FIRST, LAST = "base", "print"  # sheets that others build on, and that have the last word


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
    """Make a page, its pictures carried in their addresses; ``page_style`` comes last."""
    own = (templates.FOLDER / "standalone.css").read_text(encoding="utf-8")
    sheet = style_sheet(_OUTSIDE.sub("", style()) + own + page_style)
    return str(templates.html("standalone", title=title, sheet=sheet, body=body))
