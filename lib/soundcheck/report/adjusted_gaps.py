"""Adjusted differences in tables and in words: what is left if both sides had the same noise or device.

Conventions
-----------
- Words are said of a difference that is beyond its margin with an interval without 0, or that fails.
- What is left of it, adjusted over plain, decides which: less than a third, *most of the difference goes
  with* the column; at least two thirds, *the difference stays*; a third or more beyond 0, *it turns round*;
  else *part of the difference goes with* it. If the interval of the adjusted difference contains both 0 and
  the whole plain one, nothing of this is known.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.corpora.measures import MEASURES
from soundcheck.report.formats import significant
from soundcheck.report.html import Html, element, join
from soundcheck.report.tables import Cell, digits_for, number, row_name, two_lines
from soundcheck.results.verdict import NOT_ADJUSTED

MOST_LEFT, LEAST_STAYS = 1 / 3, 2 / 3

ABOUT = (
    "Adjusted difference: what is left if both sides had the same {what}; no verdict rests on it. To adjust "
    "for what the group itself causes, as sex does pitch, removes what is to be measured. Nothing can be "
    "said of speech that only one side has: the share with a counterpart is compared."
)


def has_adjusted(frame: pd.DataFrame) -> bool:
    """Say whether any row has an adjusted difference, or a reason for having none."""
    return bool(frame["adjusted_by"].fillna("").ne("").any())


def adjusted_columns(text: str) -> str:
    """Name what a row is adjusted by in words; ``""`` if it is not adjusted.

    Examples
    --------
    >>> adjusted_columns("signal_to_noise, device"), adjusted_columns("none: device decides the group")
    ('signal-to-noise ratio and device', '')
    """
    if text.startswith(NOT_ADJUSTED):
        return ""
    return " and ".join(
        MEASURES[name].title if name in MEASURES else name.replace("_", " ")
        for name in text.split(", ")
        if name
    )


def adjusted_cell(row: object) -> Cell:
    """Show the adjusted difference with the share that has a counterpart, or why there is none."""
    if not row.adjusted_by:
        return Cell("")
    if pd.isna(row.adjusted):
        why = row.adjusted_by.removeprefix(NOT_ADJUSTED)
        return Cell(element("small", f"– {why}", class_="sc-line", limit=None))
    digits = digits_for(row.adjusted, row.adjusted_low, row.adjusted_high)
    share = element("small", f"{_share(row)} with counterpart", class_="sc-line")
    shown = two_lines(number(row.adjusted, digits), _bounds(row, lambda n: number(n, digits))) + share
    return Cell(shown, row.adjusted, "sc-number")


def adjusted_words(row: object) -> str:
    """Say what an adjusted difference means; ``""`` if there is none or the plain one is uncertain.

    Parameters
    ----------
    row
        A row of the results table.

    Examples
    --------
    ``most of the difference goes with the signal-to-noise ratio: 0.21 plain, 0.030 (−0.040 to 0.10) if both
    had the same; 93 % of the group had a counterpart``
    """
    found = in_short(row)
    if not found:
        return ""
    bounds = _bounds(row, significant) or "no interval"
    left = f"{significant(row.adjusted)} ({bounds}) if both had the same"
    return f"{found}: {significant(row.gap)} plain, {left}; {_share(row)} of the group had a counterpart"


def in_short(row: object) -> str:
    """Say in a few words what becomes of a difference; ``""`` as :func:`adjusted_words`."""
    if pd.isna(row.adjusted) or pd.isna(row.gap) or not row.gap or not _certain(row):
        return ""
    what = f"the {adjusted_columns(row.adjusted_by)}"
    if not pd.isna(row.adjusted_low):
        known = (row.adjusted_low, row.adjusted_high)
        if known[0] <= min(0, row.gap) and max(0, row.gap) <= known[1]:
            return f"how much of the difference goes with {what} is inconclusive"
    left = row.adjusted / row.gap
    if left <= -MOST_LEFT:
        return f"with {what} alike the difference turns round"
    if left < MOST_LEFT:
        return f"most of the difference goes with {what}"
    if left >= LEAST_STAYS:
        return f"with {what} alike the difference stays"
    return f"part of the difference goes with {what}"


def notes_below(frame: pd.DataFrame) -> Html:
    """Say below a table what its adjusted differences are, and what the certain ones mean."""
    adjusted = frame[frame["adjusted"].notna()]
    items, several = [], adjusted["corpus"].nunique() > 1
    order = adjusted["gap"].abs().sort_values(ascending=False, kind="stable").index
    for row in adjusted.loc[order].itertuples():
        if words := adjusted_words(row):
            name = row_name(row, *[row.corpus] * several, row.task)
            items.append(element("li", f"{name}: {words}.", limit=None))
    names = dict.fromkeys(filter(None, map(adjusted_columns, adjusted["adjusted_by"])))
    about = ABOUT.format(what=" or ".join(names) or "conditions")
    parts = [element("p", about, class_="sc-note", limit=None)]
    if items:
        what = f"What becomes of {counted(len(items), 'difference')} beyond the margin"
        parts.append(
            element("details", element("summary", what), element("ul", *items), class_="sc-note", limit=None)
        )
    return join(parts)


def _certain(row: object) -> bool:
    if not pd.isna(row.holds) and bool(row.holds):
        return True
    if pd.isna(row.gap_low) or row.gap_low <= 0 <= row.gap_high:
        return False
    return pd.isna(row.matters) or abs(row.gap) >= row.matters


def _bounds(row: object, write: Callable[[float], str]) -> str:
    return "" if pd.isna(row.adjusted_low) else f"{write(row.adjusted_low)} to {write(row.adjusted_high)}"


def _share(row: object) -> str:
    return f"{100 * row.counterpart:.0f} %"
