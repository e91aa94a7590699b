"""The written pages of reports and of the handbook: what is filled in, and which links lead somewhere.

A line ``<!-- recorded: NAME -->`` becomes the table of a recorded study.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

from soundcheck.book import measures
from soundcheck.common import resources
from soundcheck.common.templates import Html

REPORT = ("reading", "columns", "statistics", "bibliography")  # pages of a report; others: the handbook
STUDIES = {"confidence_intervals": "Confidence intervals", "fairness_thresholds": "Fairness thresholds"}
METHODS = "<!-- methods -->"  # the line that is replaced by the list of families
SHOWN = 20  # rows of a recorded table before the others are folded
_RECORDED = re.compile(r"^<!-- recorded: (\w+) -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\(([\w./]+)\.(?:md|ipynb)(#[\w-]+)?\)")


def page(name: str) -> str:
    """Read a written page with its recorded tables and lists."""
    text = (resources.root() / "book" / f"{name}.md").read_text(encoding="utf-8")
    return measures.page(filled(text)) if measures.MEASURES in text else filled(text)


def filled(text: str) -> str:
    """Put recorded tables into the words of a page."""
    return _RECORDED.sub(lambda line: f"```{{raw}} html\n{_recorded_table(line[1])}\n```", text)


def missing(studies: Collection[str] = ()) -> set[str]:
    """Name the pages that a report does not have: the manual, and studies that the suite leaves out."""
    manual = {path.stem for path in (resources.root() / "book").glob("*.md")} - {*REPORT, "methods"}
    return manual | (set(STUDIES) - set(studies))


def linked(text: str, name: str, absent: Collection[str], handbook: str = "") -> str:
    """Let links from a page to pages that its book does not have lead to the handbook.

    Without its address, and where the handbook has no such page, they become plain words.
    """

    def link(match: re.Match[str]) -> str:
        words, path, anchor = match.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if target not in absent:
            return match[0]
        if handbook and target not in STUDIES:
            return f"[{words}]({handbook}/book/{target}.html{anchor or ''})"
        return words

    return _LINK.sub(link, text)


def _recorded_table(name: str) -> Html:
    """Show each column of a table under its name; a value with its interval, groups a line each."""
    from soundcheck.report import formats, views  # late: they load what draws
    from soundcheck.report.corpus_views import group_table
    from soundcheck.report.study_figures import recorded

    frame, made = recorded(name)
    caption = f"Recorded with {made}."
    if "measured" in frame:
        return group_table(frame, caption)
    joined = ("low", "high") if "value" in frame else ()
    columns: dict[str, views.Column] = {one.replace("_", " "): one for one in frame if one not in joined}
    columns |= {"value": formats.values()} if {"value", "low"} <= set(frame) else {}
    return views.table(frame, columns, caption=caption, first=SHOWN)
