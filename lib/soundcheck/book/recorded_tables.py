"""Tables of recorded studies in the written pages: a line ``<!-- recorded: NAME -->`` is replaced by one."""

from __future__ import annotations

import re

from soundcheck.report import formats, views
from soundcheck.report.corpus_views import group_table
from soundcheck.report.study_figures import recorded

SHOWN = 20  # rows before the others are folded
_LINE = re.compile(r"^<!-- recorded: (\w+) -->$", re.MULTILINE)


def filled(text: str) -> str:
    """Put recorded tables into the words of a written page."""
    return _LINE.sub(lambda line: f"```{{raw}} html\n{_table(line[1])}\n```", text)


def _table(name: str) -> views.Html:
    """Show each column of a table under its name; a value with its interval, groups a line each."""
    found, made = recorded(name)
    caption = f"Recorded with {made}."
    if "measured" in found:
        return group_table(found, caption)
    joined = ("low", "high") if "value" in found else ()
    columns: dict[str, views.Column] = {
        column.replace("_", " "): column for column in found if column not in joined
    }
    if {"value", "low"} <= set(found):
        columns["value"] = lambda row: formats.value_cell(row.value, row.low, row.high)
    return views.table(found, columns, caption=caption, first=SHOWN)
