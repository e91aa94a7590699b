"""Adjusted differences in tables and in words: what is left if both sides had the same noise or device.

Words are said of a difference that is beyond its margin with an interval without 0, or that fails. What is
left of it, adjusted over plain, decides which: less than a third, *most of the difference goes with* the
column; at least two thirds, *the difference stays*; a third or more beyond 0, *it turns round*; else *part of
the difference goes with* it. If the interval of the adjusted difference contains both 0 and the whole plain
one, nothing of this is known.
"""

import pandas as pd

from soundcheck.corpora.measures import MEASURES
from soundcheck.report.formats import Cell, value_cell
from soundcheck.report.html import Html, element, join
from soundcheck.results.verdict import NOT_ADJUSTED

MOST_LEFT, LEAST_STAYS = 1 / 3, 2 / 3

ABOUT = (
    "Adjusted difference: what is left if both sides had the same {what}; states do not depend on it. To "
    "adjust for what the group itself causes, as sex does pitch, removes what is to be measured. Nothing can "
    "be said of speech that only one side has: the share that can be matched is compared."
)


def has_adjusted(frame: pd.DataFrame) -> bool:
    """Say whether any row has an adjusted difference, or a reason for having none."""
    return bool(frame["adjusted_by"].fillna("").ne("").any())


def adjusted_columns(text: str) -> str:
    """Name what a row is adjusted by in words; ``""`` if it is not adjusted.

    >>> adjusted_columns("signal_to_noise, device"), adjusted_columns("none: device decides the group")
    ('signal-to-noise ratio and device', '')
    """
    if text.startswith(NOT_ADJUSTED):
        return ""
    names = filter(None, text.split(", "))
    return " and ".join(
        MEASURES[name].title if name in MEASURES else name.replace("_", " ") for name in names
    )


def adjusted_cell(row: object) -> Cell:
    """Show the adjusted difference with the share that could be matched, or why there is none."""
    if not row.adjusted_by:
        return Cell("")
    if pd.isna(row.adjusted):
        why = row.adjusted_by.removeprefix(NOT_ADJUSTED)
        return Cell(element("small", f"– {why}", class_="sc-line", limit=None))
    shown = value_cell(row.adjusted, row.adjusted_low, row.adjusted_high)
    further = filter(None, (f"{100 * row.counterpart:.0f} % matched", in_short(row)))
    lines = join(element("small", line, class_="sc-line", limit=None) for line in further)
    return shown._replace(content=shown.content + lines)


def in_short(row: object) -> str:
    """Say in a few words what becomes of a difference; ``""`` if the plain one is uncertain."""
    if pd.isna(row.adjusted) or pd.isna(row.gap) or not row.gap or not _certain(row):
        return ""
    what, left = f"the {adjusted_columns(row.adjusted_by)}", row.adjusted / row.gap
    if row.adjusted_low <= min(0, row.gap) and max(0, row.gap) <= row.adjusted_high:
        return f"how much of the difference goes with {what} is inconclusive"
    if left <= -MOST_LEFT:
        return f"with {what} alike the difference turns round"
    if left < MOST_LEFT:
        return f"most of the difference goes with {what}"
    if left >= LEAST_STAYS:
        return f"with {what} alike the difference stays"
    return f"part of the difference goes with {what}"


def notes_below(frame: pd.DataFrame) -> Html:
    """Say below a table what its adjusted differences are."""
    names = dict.fromkeys(filter(None, map(adjusted_columns, frame["adjusted_by"].fillna(""))))
    about = ABOUT.format(what=" or ".join(names) or "conditions")
    return element("p", about, class_="sc-note", limit=None)


def _certain(row: object) -> bool:
    if not pd.isna(row.holds) and bool(row.holds):
        return True
    if pd.isna(row.gap_low) or row.gap_low <= 0 <= row.gap_high:
        return False
    return pd.isna(row.matters) or abs(row.gap) >= row.matters
