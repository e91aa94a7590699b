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

from soundcheck.common.wording import counted
from soundcheck.corpora.measures import MEASURES
from soundcheck.report.html import Html
from soundcheck.report.tables import Cell, digits_for, number, table, two_lines
from soundcheck.suite.groups import BOTH, number_of

__all__ = ["ALL", "differences", "measured_in", "measured_table", "summary"]

ALL = "all"
RANGE = (0.05, 0.95)
APART = 1 / 3  # of the range of all segments, by which medians differ that are worth a sentence
FEWEST = 25  # segments of a group of which one is said


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


def differences(segments: pd.DataFrame, groups: Sequence[str]) -> list[str]:
    """Say in sentences which groups were recorded otherwise than the others.

    Parameters
    ----------
    segments, groups
        See :func:`summary`. Of groups that are ranges of a measure nothing is said about that measure.

    Returns
    -------
    list of str
        One sentence for each group and measure whose median lies a third of the range of all segments or more
        from the median of the other segments that are in a group, and far enough to be noticed; the largest
        difference first.
    """
    found = []
    for column in groups:
        for value in sorted(segments[column].dropna().unique()):
            own = segments[column].eq(value)
            others = segments[column].notna() & ~own
            if min(own.sum(), others.sum()) < FEWEST:
                continue
            for name, numbers in measured_in(segments).items():
                low, high = segments[numbers].quantile(list(RANGE))
                ours, theirs = segments[numbers][own].median(), segments[numbers][others].median()
                apart = abs(ours - theirs) / (high - low) if high > low else 0.0
                noticed = abs(ours - theirs) >= MEASURES[name].noticeable
                if apart >= APART and noticed and name not in column.split(BOTH):
                    found.append((-apart, _sentence(f"{column}: {value}", name, ours, theirs, segments[own])))
    return [sentence for _, sentence in sorted(found)]


def _sentence(group: str, name: str, ours: float, theirs: float, rows: pd.DataFrame) -> str:
    """Write ``accent: irish (2 speakers): level −30.1 dB, the others −20.5 dB``."""
    measure, digits = MEASURES[name], digits_for(ours, theirs)
    count = int(rows["speaker"].nunique()) if "speaker" in rows else 0
    who = f" ({counted(count, 'speaker')})" if count else ""
    numbers = [f"{number(value, digits)} {measure.unit}" for value in (ours, theirs)]
    return f"{group}{who}: {measure.title} {numbers[0]}, the others {numbers[1]}"


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
