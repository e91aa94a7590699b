"""Accepted failures: which rows of a results table a suite knows about, and which entries are of no use.

An accepted failure stays a failure on every page. Pipelines look past it until its last day is over.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pandas as pd

from soundcheck.common import day
from soundcheck.common.wording import counted as number_of
from soundcheck.results.states import FAIL, counted
from soundcheck.suite.own_rules import AcceptedFailure


def failures(frame: pd.DataFrame) -> pd.Series:
    """Say which rows are failures: those of state fail, and those that fail by their threshold, bool."""
    return frame["passed"].eq(False) | frame["state"].eq(FAIL)


def matching(frame: pd.DataFrame, entry: AcceptedFailure) -> pd.Series:
    """Say which rows agree in everything that an entry names, bool."""
    agrees = pd.Series(True, index=frame.index)
    for name, value in entry.named.items():
        agrees &= frame[name].eq(value)
    return agrees


def accepted_reasons(
    frame: pd.DataFrame,
    entries: Sequence[AcceptedFailure],
    today: datetime.date | None = None,
    failed: pd.Series | None = None,
) -> pd.Series:
    """Give for each row the reason why its failure is accepted, and how long; empty if nothing accepts it.

    Entries whose last day is before ``today`` (default: this day) accept nothing. ``failed`` says which rows
    count as failures; default: :func:`failures`.
    """
    today = today or day.today()
    reasons = pd.Series("", index=frame.index, dtype=object)
    failed = failures(frame) if failed is None else failed
    for entry in entries:
        if not entry.past(today):
            reasons[failed & reasons.eq("") & matching(frame, entry)] = entry.reason
    return reasons


def remarks(
    frame: pd.DataFrame, entries: Sequence[AcceptedFailure], today: datetime.date | None = None
) -> list[str]:
    """Name entries that accept nothing: they agree with no row, their tests pass, or their day is over."""
    today = today or day.today()
    lines = []
    for entry in entries:
        every = frame[matching(frame, entry)]
        rows = counted(every)
        failed, passed = int(failures(rows).sum()), int(rows["passed"].eq(True).sum())
        if every.empty:
            lines.append(f"accepted, but no test agrees with it: {entry}. Correct or remove it.")
        elif rows.empty:
            other = every["mirrors"].iloc[0]
            lines.append(
                f"accepted, but this pair of groups is counted as {other}: {entry}. Name that group."
            )
        elif failed and entry.past(today):
            again = "counts again" if failed == 1 else "count again"
            number = number_of(failed, "failure")
            lines.append(f"accepted until {entry.until}, which is past: {entry}: {number} {again}.")
        elif not failed and passed:
            number = number_of(passed, "test")
            lines.append(f"accepted, but nothing fails any more: {entry}: {number} passed. Remove it.")
        elif not failed:
            lines.append(f"accepted, but not judged in this run: {entry}.")
    return lines
