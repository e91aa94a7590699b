"""Tables of verdicts: value, gap, state and what the state rests on, a line a row of the results table.

Conventions
-----------
- What holds is known when the tests of all families are together, so a notebook shows what its own rows say
  and leaves a key in the cell; the book fills the cell when it is built, see :mod:`soundcheck.book.settled`.
- A value, its interval and the threshold beside it are shown with the same digits.
- Tables with more than :data:`MOST_OPEN` rows are folded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pandas as pd

from soundcheck.common import files
from soundcheck.common.wording import counted
from soundcheck.report import states
from soundcheck.report.adjusted_gaps import adjusted_cell, has_adjusted, told_below
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.names import remark
from soundcheck.report.tables import (
    FEW,
    FEW_MARK,
    FILTERS,
    Cell,
    digits_for,
    interval,
    number,
    rule,
    table,
    test_cell,
    two_lines,
)
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, KEY, SHOWN, STATES, state_of
from soundcheck.statistics.bootstrap import FEW_BLOCKS
from soundcheck.statistics.evidence import CLEAR_FAIL, OPEN
from soundcheck.statistics.rules import GAP_RULES

REFERENCE = "random passes too"
MOST_OPEN = 40  # rows above which a table is folded
LEAST_P = 0.001  # below, only this is said
FILLED_LATER = "sc-limits"  # class of the note under a table that the book writes
_KEY_LETTERS = 20
_ORDER = {name: place for place, name in enumerate([*STATES[3::-1], *STATES[4:]])}  # of states
_ANCHOR_LETTERS = 8  # of the key; a page has some hundred rows


@dataclasses.dataclass(frozen=True)
class Among:
    """What is known of a row when the tests of all families are together.

    Parameters
    ----------
    tests
        Tests of the model and category that it stands among.
    cannot_hold
        Whether its speakers are too few to show anything among so many tests.
    accepted
        Why the suite accepts the failure; ``""`` if it does not.
    """

    tests: int
    cannot_hold: bool = False
    accepted: str = ""


def key_of(row: object) -> str:
    """Name a row by a digest of what no two rows agree in, fit for an attribute."""
    return files.digest("\n".join(str(getattr(row, name)) for name in KEY))[:_KEY_LETTERS]


def anchor_of(key: str) -> str:
    """Name the place of a row on its page by the key of the row: ``row-1f00ba52``."""
    return f"row-{key[:_ANCHOR_LETTERS]}"


def p_value(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.0312), p_value(0.00004)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p < {LEAST_P}" if p < LEAST_P else f"p = {p:.2g}"


def verdict_table(
    frame: pd.DataFrame,
    *,
    caption: str = "",
    decimals: Mapping[str, int] | None = None,
    among: pd.Series | None = None,
) -> Html:
    """Show results: value, gap, counts, threshold, state and the random reference.

    Parameters
    ----------
    frame
        Rows of the results table, all of one model and family.
    caption
        What the table shows.
    decimals
        Test -> digits behind the point; two or three that count for the others.
    among
        Where each row stands among all tests, :class:`Among`; default: the book fills it in.
    """
    whole, left = frame, _skipped_as_a_whole(frame)
    frame = frame[~left] if not left.all() else frame
    several = frame["corpus"].nunique() > 1
    gaps = bool((frame["matters"].notna() | (frame["evidence"].eq(SHOWN) & frame["gap"].notna())).any())
    columns = ["corpus"] * several + ["task", "test", "state", "value and 95 % interval"]
    adjusted = gaps and has_adjusted(frame)
    columns += ["gap and 95 % interval"] * gaps + ["adjusted gap and 95 % interval"] * adjusted
    columns += ["segments", "threshold", "random"]
    rows: dict[bool, list] = {False: [], True: []}
    details = frame["test"].str.contains(_DETAIL)
    apart = among is None and 0 < details.sum() < len(frame)
    for row, detail in zip(frame.itertuples(), details & apart, strict=True):
        state = state_cell(row, None if among is None else among[row.Index])
        cells = [test_cell(row), state, _value(row, (decimals or {}).get(row.test))]
        cells += [gap_cell(row)] * gaps + [adjusted_cell(row)] * adjusted
        cells += [_counts(row), Cell(rule(row), _some(row.threshold), "sc-rule")]
        rows[detail].append([*[row.corpus] * several, row.task, *cells, _reference(row)])
    main, single = (table(own, columns, caption=caption, filters=FILTERS) for own in rows.values())
    parts = [_long(main, len(rows[False]))]
    if apart:
        parts.append(folded(_inside(frame[details]), [single]))
    if len(frame) < len(whole):
        parts.append(without_row(whole[left]))
    if gaps:
        parts.append(element("p", GAP, class_="sc-note", limit=None))
    if adjusted:
        parts.append(told_below(frame))
    if among is None:
        parts.append(element("div", class_=f"sc-note {FILLED_LATER}"))
    if (frame["low"].notna() & (frame["blocks"] < FEW_BLOCKS)).any():
        parts.append(element("p", FEW, class_="sc-note", limit=None))
    return join(parts)


GAP = (
    "Gap: the value of the group minus that of all other groups together, with its interval, beside a fixed "
    "size from which it matters."
)


_DETAIL = r"\bPer (?:Bin|Class)\b"  # tests of one part of the scale, or of one class
_SAID = {CLEAR_PASS: "clear pass", OPEN: "open", CLEAR_FAIL: "clear fail", SHOWN: "without threshold"}


def _inside(details: pd.DataFrame) -> str:
    """Say what is in the table of single bins and classes: ``12 bins: all open``."""
    bins = int(details["test"].str.contains(r"\bPer Bin\b").sum())
    sizes = ((bins, "bin"), (len(details) - bins, "class"))
    what = " and ".join(f"{n} {noun if n == 1 else _PLURAL[noun]}" for n, noun in sizes if n)
    counts = details["evidence"].map(_SAID).fillna("without verdict").value_counts(sort=False)
    if len(counts) == 1:
        return f"{what}, by their own intervals all {counts.index[0]}"
    words = ", ".join(f"{n} {word}" for word, n in counts.items())
    return f"{what}, by their own intervals {words}"


_PLURAL = {"bin": "bins", "class": "classes"}


def _long(shown: Html, rows: int) -> Html:
    """Put a long table behind a line that opens it."""
    return shown if rows <= MOST_OPEN else folded(f"All {rows:,} rows", [shown])


def _skipped_as_a_whole(frame: pd.DataFrame) -> pd.Series:
    """Find rows of a corpus and task of which all tests are skipped for one reason, bool a row."""
    groups = frame.groupby(["corpus", "task"], sort=False)
    judged = groups["passed"].transform("count") + groups["value"].transform("count")
    return judged.eq(0) & groups["skipped"].transform("nunique").eq(1) & frame["skipped"].notna()


def without_row(frame: pd.DataFrame) -> Html:
    """List tests that have no row in a table, a line a corpus and reason, each with a place for links."""
    items = []
    reasons = frame["skipped"].fillna("")
    for (corpus, reason), rows in frame.groupby(["corpus", reasons], sort=False):
        tasks = ", ".join(dict.fromkeys(rows["task"]))
        what = f"skipped: {remark(reason)}" if reason else "not in a table of this page"
        places = (element("span", data_key=key_of(row)) for row in rows.itertuples())
        text = f"{corpus}, {tasks}: {counted(len(rows), 'test')} {what}"
        items.append(element("li", *places, text, limit=None))
    return element("ul", *items, class_="sc-note")


def _value(row: object, digits: int | None) -> Cell:
    """Show the value of a row with its interval."""
    digits = digits_for(row.value, row.low, row.high) if digits is None else digits
    bounds = interval(row, digits).removesuffix(f" {FEW_MARK}")
    return Cell(two_lines(number(row.value, digits, row.threshold), bounds), _some(row.value), "sc-number")


def gap_cell(row: object) -> Cell:
    """Show the gap of a group with its interval, and what matters if the threshold is something else."""
    shown, *below = gap_lines(row)
    if not shown:
        return Cell("")
    small = join(element("small", line, class_="sc-line") for line in below)
    return Cell(element("span", shown, class_="sc-line") + small, row.gap, "sc-number")


def gap_lines(row: object) -> list[str]:
    """Write the gap of a group, its interval, and what matters if the threshold is something else."""
    if pd.isna(row.gap) or (pd.isna(row.matters) and row.evidence != SHOWN):
        return [""]
    digits = digits_for(row.gap, row.gap_low, row.gap_high)
    lines = [number(row.gap, digits, row.matters)]
    if not pd.isna(row.gap_low):
        lines.append(f"{number(row.gap_low, digits)} to {number(row.gap_high, digits)}")
    if row.rule not in GAP_RULES and not pd.isna(row.matters):
        lines.append(f"{row.matters:g} matters")
    return lines


def _counts(row: object) -> Cell:
    """Show how many segments and blocks the value rests on."""
    mark = f" {FEW_MARK}" if row.blocks < FEW_BLOCKS and not pd.isna(row.low) else ""
    blocks = f"{counted(row.blocks, 'block')}{mark}" if row.segments else ""
    return Cell(two_lines(f"{row.segments:,}" if row.segments else "", blocks), row.segments, "sc-number")


def _reference(row: object) -> Cell:
    """Show what the random reference scores."""
    if pd.isna(row.reference):
        return Cell("")
    passes_too = not pd.isna(row.reference_passed) and bool(row.reference_passed)
    remark = element("span", REFERENCE, class_="sc-uninformative") if passes_too else Html()
    digits = digits_for(row.value, row.reference)
    shown = two_lines(number(row.reference, digits, row.threshold), remark)
    return Cell(shown, row.reference, "sc-number")


def state_cell(row: object, among: Among | None = None) -> Cell:
    """Show the state of a row, and in small print what it rests on.

    Parameters
    ----------
    row
        Row of the results table.
    among
        Where it stands among all tests; ``None`` before they are together.
    """
    state, lines = state_lines(row, among)
    small = join(element("small", line, class_="sc-reason sc-line", limit=None) for line in lines)
    shown = element("span", states.mark(state), class_="sc-line") + small
    return Cell(shown, state_order(state, row.p_value), "sc-state", key_of(row))


def state_lines(row: object, among: Among | None = None) -> tuple[str, list[str]]:
    """Give the state of a row and the lines of small print below it, see :func:`state_cell`."""
    state = state_of(_truth(row.passed), _truth(row.holds), row.evidence)
    told = "" if pd.isna(row.p_value) or state == CLEAR_PASS else p_value(row.p_value)
    if told and among is not None:
        told += f" among {counted(among.tests, 'test')}"
    lines = [told] if told else []
    if row.evidence == "clear fail":
        lines.append("the whole interval fails" if pd.isna(row.matters) else "even the smallest gap matters")
    if among is not None and among.cannot_hold and state not in (HOLDS, CLEAR_PASS):
        lines.append("too few speakers to hold alone")
    if among is not None and among.accepted:
        lines.append(f"accepted: {among.accepted}")
    if row.skipped:
        lines.append(remark(row.skipped))
    return state, lines


def state_order(state: str, p: float) -> float:
    """Order states from the surest failure to the surest pass, what is skipped last; among them by p."""
    return round(_ORDER[state] + (0.5 if pd.isna(p) else p / 2), 6)


def _truth(found: object) -> bool | None:
    return None if found is None or pd.isna(found) else bool(found)


def _some(value: float) -> float | None:
    return None if pd.isna(value) else value
