"""Tables of estimates: values with their intervals, as the table of estimates has them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from soundcheck.report.html import Html, element
from soundcheck.report.names import label
from soundcheck.report.sentences import is_rate
from soundcheck.report.tables import Cell, digits_for, number, table, two_lines
from soundcheck.suite.measures import info_of


def measured(row: object) -> str:
    """Name what a row is a value of: the measure, and a class or bin if it has one."""
    return ", ".join(filter(None, (info_of(row.measure).title, label(row.label))))


def estimate_cell(row: object) -> Cell:
    """Show a value with its interval, or why there is none; rates of errors in per cent."""
    if pd.isna(row.value):
        return Cell(element("small", row.excluded, class_="sc-line"))
    digits, factor, unit = digits_for(row.value, row.low, row.high), 1, ""
    if is_rate(info_of(row.measure)):
        digits, factor, unit = 1, 100, "\xa0%"
    few = pd.isna(row.low)
    bounds = (row.low_sample, row.high_sample) if few else (row.low, row.high)
    ends = [number(factor * end, digits) for end in bounds if not pd.isna(end)]
    span = " to ".join(ends) + (" for these speakers" if few and ends else "")
    said = "; ".join(filter(None, (span, row.excluded if few else "")))
    return Cell(two_lines(f"{number(factor * row.value, digits)}{unit}", said), row.value, "sc-number")


def estimate_table(
    frame: pd.DataFrame, names: Mapping[str, str], across: str = "", *, counts: bool = True, caption: str = ""
) -> Html:
    """Show estimates, a line for each combination of some columns.

    Parameters
    ----------
    frame
        Rows of the table of estimates.
    names
        Columns that name a line -> their heads.
    across
        Column whose values are the other heads; what is measured, without.
    counts
        Whether to say how many segments and speakers a line rests on.
    """
    if frame.empty:
        return Html()
    what = [measured(row) for row in frame.itertuples()]
    frame = frame.assign(what=what, cell=[estimate_cell(row) for row in frame.itertuples()])
    across = across or "what"
    heads, rows = list(dict.fromkeys(frame[across])), []
    for place, own in frame.groupby(list(names), sort=False):
        cells = dict(zip(own[across], own["cell"], strict=True))
        segments, speakers = (int(own[name].max()) for name in ("segments", "speakers"))
        rows.append([*place, *(cells.get(head, "") for head in heads), *[segments, speakers or ""] * counts])
    columns = [*names.values(), *heads, *["segments", "speakers"] * counts]
    return table(rows, columns, caption=caption, sortable=len(rows) > 2)
