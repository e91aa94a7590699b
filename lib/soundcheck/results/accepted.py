"""Accepted failures: which rows of a results table a suite knows about, and which entries are of no use.

An accepted failure stays a failure on every page. Pipelines look past it until its last day is over.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pandas as pd

from soundcheck.common import day
from soundcheck.common.wording import counted
from soundcheck.suite.own_rules import AcceptedFailure


def failures(frame: pd.DataFrame) -> pd.Series:
    """Say which rows are failures: those that fail by their threshold, and those that hold, bool."""
    return frame["passed"].eq(False) | frame["holds"].eq(True)


def matching(frame: pd.DataFrame, entry: AcceptedFailure) -> pd.Series:
    """Say which rows agree in everything that an entry names, bool."""
    found = pd.Series(True, index=frame.index)
    for name, value in entry.named.items():
        found &= frame[name].eq(value)
    return found


def accepted_reasons(
    frame: pd.DataFrame, entries: Sequence[AcceptedFailure], today: datetime.date | None = None
) -> pd.Series:
    """Say why failures are accepted, and how long.

    Parameters
    ----------
    frame
        Rows of the results table.
    entries
        Accepted failures of the suite, see :attr:`soundcheck.results.record.RunRecord.accepted`.
    today
        The day that counts; default: this one. Entries whose last day is over accept nothing.

    Returns
    -------
    pandas.Series
        For each row the reason, of the first entry that agrees; ``""`` for rows that did not fail or that
        nothing accepts.
    """
    today = today or day.today()
    reasons = pd.Series("", index=frame.index, dtype=object)
    failed = failures(frame)
    for entry in entries:
        if not entry.past(today):
            reasons[failed & reasons.eq("") & matching(frame, entry)] = entry.reason
    return reasons


def remarks(
    frame: pd.DataFrame, entries: Sequence[AcceptedFailure], today: datetime.date | None = None
) -> list[str]:
    """Name entries that accept nothing: they agree with no row, their tests pass, or their day is over.

    Parameters
    ----------
    frame, entries, today
        See :func:`accepted_reasons`.
    """
    today = today or day.today()
    found = []
    for entry in entries:
        rows = frame[matching(frame, entry)]
        failed = int(failures(rows).sum())
        if rows.empty:
            found.append(f"accepted, but no test agrees with it: {entry}. Correct or remove it.")
        elif failed and entry.past(today):
            count = counted(failed, "failure")
            again = "counts again" if failed == 1 else "count again"
            found.append(f"accepted until {entry.until}, which is past: {entry}: {count} {again}.")
        elif not failed and rows["passed"].eq(True).any():
            count = counted(int(rows["passed"].eq(True).sum()), "test")
            found.append(f"accepted, but nothing fails any more: {entry}: {count} passed. Remove it.")
        elif not failed:
            found.append(f"accepted, but not judged in this run: {entry}.")
    return found
