"""The style and scripts of all pages, put together, and pages that are one file: nothing from outside."""

import re
from pathlib import Path

from soundcheck.common import resources
from soundcheck.report import states
from soundcheck.report.html import Html, element, style_sheet

_OUTSIDE = re.compile(r"@import[^;]*;[^\n]*\n")
_DARK = re.compile(r'^html\[data-theme="dark"\]([^{}]*\{[^}]*\})', re.MULTILINE)
_POLICY = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'"
_OWN = """
:root { color-scheme: light dark; background: #fff; }
@media screen and (prefers-color-scheme: dark) { :root { background: #121212; --pst-color-background: #121212;
  --pst-color-text-base: #e8e8e8; --pst-color-text-muted: #a9b1ba; --pst-color-border: #555;
  --pst-color-surface: #262626; }
  .sc-figure img { filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; } }
body { font: 1rem/1.5 system-ui, "DejaVu Sans", Verdana, sans-serif; max-width: 76rem;
  margin: 0 auto; padding: 1rem 1.5rem; }
p, li { max-width: 48rem; }
td p, figure p { max-width: none; }
.sc-figure { margin: 0.75rem 0; overflow-x: auto; }
.sc-narrow { display: inline-block; vertical-align: top; max-width: 100%; margin-right: 1rem; }
h1, h2 { line-height: 1.2; overflow-wrap: anywhere; }
"""
FIRST, LAST = "base", "print"  # sheets that others build on, and that have the last word


def style() -> str:
    """Give all style sheets in one, in an order that is the same everywhere."""
    order = {FIRST: -1, LAST: 1}
    sheets = sorted(_files("css"), key=lambda path: order.get(path.stem, 0))
    *others, last = (path.read_text(encoding="utf-8") for path in sheets)
    return "".join([*others, states.style_sheet(), last])


def script() -> str:
    """Give all scripts in one; each part stands for itself."""
    return "".join(path.read_text(encoding="utf-8") for path in _files("js"))


def _files(suffix: str) -> list[Path]:
    return sorted((resources.root() / "book" / "_static").glob(f"*.{suffix}"))


def standalone(title: str, body: Html, page_style: str = "") -> str:
    """Make a page, its pictures carried in their addresses; ``own`` comes after the style of all pages."""
    written = style()
    dark = "\n".join(f":root{rule}" for rule in _DARK.findall(written))
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n"
    sheet = _OUTSIDE.sub("", written) + _OWN + dark + page_style
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        style_sheet(sheet),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', element('main', body)), lang='en')}\n"
