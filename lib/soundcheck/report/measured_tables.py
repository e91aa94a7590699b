"""Tables of what was measured on the sounds: median and range of each measured column, by group.

Conventions
-----------
- A range goes from the 5th to the 95th percentile; it describes segments and is no confidence interval.
- What could not be measured is counted beside what could.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from pandas.api.types import is_numeric_dtype

from soundcheck.corpora.measures import MEASURES
from soundcheck.report.html import Html
from soundcheck.report.tables import Cell, digits_for, number, table, two_lines
from soundcheck.suite.groups import number_of

ALL = "all"
RANGE = (0.05, 0.95)


def measured_in(segments: pd.DataFrame) -> dict[str, str]:
    """List what was measured: name of the measure -> column of the segment table with its numbers."""
    found = {}
    for name in MEASURES:
        for column in (number_of(name), name):
            if column in segments.columns and is_numeric_dtype(segments[column]):
                found[name] = column
                break
    return found


def summary(segments: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Sum up each measured column for all segments and for each group.

    Parameters
    ----------
    segments
        Segment table with measured columns.
    groups
        Columns of words; their values are groups.

    Returns
    -------
    pandas.DataFrame
        Columns ``group`` (:data:`ALL`, or column and value), ``segments``, ``speakers`` (0 = not known),
        ``measure``, ``measured`` (segments that have a number), ``low``, ``median``, ``high``.
    """
    parts = [(ALL, segments)]
    for column in groups:
        parts += [(f"{column}: {value}", rows) for value, rows in segments.groupby(column, sort=True)]
    found = []
    for group, rows in parts:
        speakers = int(rows["speaker"].nunique()) if "speaker" in rows else 0
        for name, column in measured_in(segments).items():
            low, high = rows[column].quantile(list(RANGE))
            about = {"group": group, "segments": len(rows), "speakers": speakers, "measure": name}
            numbers = {"low": low, "median": rows[column].median(), "high": high}
            found.append({**about, "measured": int(rows[column].count()), **numbers})
    return pd.DataFrame(found)


def measured_table(found: pd.DataFrame, caption: str = "") -> Html:
    """Show a summary: a row a group, a column a measure; empty if nothing was measured.

    Parameters
    ----------
    found
        From :func:`summary`.
    caption
        What the table shows.
    """
    found = found[found.groupby("measure")["measured"].transform("sum") > 0] if len(found) else found
    if found.empty:
        return Html()
    names = [name for name in MEASURES if found["measure"].eq(name).any()]
    rows = []
    for group, own in found.groupby("group", sort=False):
        first = own.iloc[0]
        speakers = int(first["speakers"]) or ""
        cells = [_cell(one) for one in own.set_index("measure").loc[names].itertuples()]
        rows.append([group, int(first["segments"]), speakers, *cells])
    titles = [f"{MEASURES[name].title} ({MEASURES[name].unit})" for name in names]
    return table(rows, ["group", "segments", "speakers", *titles], caption=caption)


def _cell(one: object) -> Cell:
    """Write the median with the range below it, and how many segments have no number."""
    missing = one.segments - one.measured
    if not one.measured:
        return Cell("not measurable")
    digits = digits_for(one.low, one.median, one.high)
    below = f"{number(one.low, digits)} to {number(one.high, digits)}"
    below += f"; {missing:,} not measurable" if missing else ""
    return Cell(two_lines(number(one.median, digits), below), one.median, "sc-number")
