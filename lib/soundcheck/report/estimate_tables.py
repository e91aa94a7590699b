"""Values of the table of estimates as cells, in tables and in sentences."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from soundcheck.report import views
from soundcheck.report.formats import Cell, digits_for, estimate, number, two_lines
from soundcheck.report.html import Html, element
from soundcheck.report.names import label
from soundcheck.suite.measures import LOWER, MeasureInfo, info_of


def is_rate(info: MeasureInfo) -> bool:
    """Say whether values of a measure are written in per cent: rates of errors."""
    return info.error and info.better == LOWER


def measured(row: object) -> str:
    """Name what a row is a value of: the measure, and a class or bin if it has one."""
    return ", ".join(filter(None, (info_of(row.measure).title, label(row.label))))


def written(row: object) -> str:
    """Write a value with its interval for a sentence; rates of errors in per cent."""
    return estimate(row.value, row.low, row.high, percent=is_rate(info_of(row.measure)))


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
    below = "; ".join(filter(None, (span, row.excluded if few else "")))
    return Cell(two_lines(f"{number(factor * row.value, digits)}{unit}", below), row.value, "sc-number")


def estimate_table(
    frame: pd.DataFrame, names: Mapping[str, str], across: str = "", *, counts: bool = True, caption: str = ""
) -> Html:
    """Show estimates, a line for each combination of the columns in ``names``, which has their heads.

    The values of the column ``across`` are the other heads; without, what is measured.
    """
    if frame.empty:
        return Html()
    heads = [getattr(row, across) if across else measured(row) for row in frame.itertuples()]
    frame = frame.assign(head=heads, cell=[estimate_cell(row) for row in frame.itertuples()])
    rows = []
    for place, own in frame.groupby(list(names), sort=False):
        row = dict(zip(names, place, strict=True)) | dict(zip(own["head"], own["cell"], strict=True))
        most = own[["segments", "speakers"]].max()
        rows.append(row | {"segments": int(most["segments"]), "speakers": int(most["speakers"]) or ""})
    columns: dict[str, views.Column] = {title: name for name, title in names.items()}
    for head in dict.fromkeys(heads):
        columns[head] = lambda row, head=head: getattr(row, head)
    columns |= {"segments": "segments", "speakers": "speakers"} if counts else {}
    return views.table(pd.DataFrame(rows).fillna(""), columns, caption=caption, sortable=len(rows) > 2)
