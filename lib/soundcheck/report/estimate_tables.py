"""Values of the table of estimates as cells, in tables and in sentences; rates of errors in per cent."""

from collections.abc import Mapping

import pandas as pd

from soundcheck.report import views
from soundcheck.report.formats import Cell, estimate, value_cell
from soundcheck.report.html import Html, element
from soundcheck.report.names import label
from soundcheck.suite.measures import info_of


def measured(row: object) -> str:
    """Name what a row is a value of: the measure, and a class or bin if it has one."""
    return ", ".join(filter(None, (info_of(row.measure).title, label(row.label))))


def written(row: object) -> str:
    """Write a value with its interval for a sentence."""
    return estimate(row.value, row.low, row.high, percent=info_of(row.measure).rate)


def estimate_cell(row: object) -> Cell:
    """Show a value with its interval, or why there is none."""
    if pd.isna(row.value):
        return Cell(element("small", row.excluded, class_="sc-line"))
    unit, ends, below = "%" if info_of(row.measure).rate else "", (row.low, row.high), ""
    if pd.isna(row.low):
        ends = row.low_sample, row.high_sample
        below = "; ".join(filter(None, ("" if pd.isna(ends[0]) else "for these speakers", row.excluded)))
    return value_cell(row.value, *ends, unit, below)


def estimate_table(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    across: str = "",
    *,
    counts: str = "segments",
    caption: str = "",
) -> Html:
    """Show estimates, a line for each combination of the columns in ``names``, which has their heads.

    The values of the column ``across`` are the other heads; without, what is measured. ``counts`` says what
    is counted; empty, nothing is.
    """
    if frame.empty:
        return Html()
    heads = frame[across] if across else [measured(row) for row in frame.itertuples()]
    frame = frame.assign(head=heads, cell=[estimate_cell(row) for row in frame.itertuples()])
    cells = frame.groupby([*names, "head"], sort=False)["cell"].last()
    lines = frame.groupby(list(names), sort=False)[["segments", "speakers"]].max().reset_index()
    columns: dict[str, views.Column] = {title: name for name, title in names.items()}
    for head in dict.fromkeys(frame["head"]):
        columns[head] = lambda row, head=head: cells.get((*(getattr(row, name) for name in names), head))
    columns |= {counts: "segments", "speakers": lambda row: row.speakers or ""} if counts else {}
    return views.table(lines, columns, caption=caption, sortable=False)
