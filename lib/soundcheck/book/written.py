"""The written pages of reports and of the handbook: what is filled in, and which links lead somewhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

from soundcheck.common import resources

REPORT = (
    "reading",
    "columns",
    "statistics",
    "bibliography",
)  # written pages of a report; others: the handbook
STUDIES = {"confidence_intervals": "Confidence intervals", "fairness_thresholds": "Fairness thresholds"}
METHODS = "<!-- methods -->"  # the line that is replaced by the list of families
_LINK = re.compile(r"\[([^\]]*)\]\(([\w./]+)\.(?:md|ipynb)(#[\w-]+)?\)")


def page(name: str) -> str:
    """Read a written page with its recorded tables and lists."""
    from soundcheck.book import measures, recorded_tables  # late: they load all measures and what draws

    text = (resources.root() / "book" / f"{name}.md").read_text(encoding="utf-8")
    return recorded_tables.filled(measures.page(text))


def missing(studies: Collection[str] = ()) -> set[str]:
    """Name the pages that a report does not have: the manual, and studies that the suite leaves out."""
    manual = {path.stem for path in (resources.root() / "book").glob("*.md")} - {*REPORT, "methods"}
    return manual | (set(STUDIES) - set(studies))


def linked(text: str, name: str, absent: Collection[str], handbook: str = "") -> str:
    """Let links from a page to pages that its book does not have lead to the handbook.

    Without its address, and where the handbook has no such page, they become plain words.
    """

    def link(found: re.Match[str]) -> str:
        words, path, anchor = found.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if target not in absent:
            return found[0]
        if handbook and target not in STUDIES:
            return f"[{words}]({handbook}/book/{target}.html{anchor or ''})"
        return words

    return _LINK.sub(link, text)
