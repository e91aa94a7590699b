"""Style and behaviour of pages: the sheets and scripts beside the written pages, put together."""

from pathlib import Path

from soundcheck.common import resources
from soundcheck.report import states

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
