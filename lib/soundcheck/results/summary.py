"""Counts verdicts: pooled, averaged over families, over all tests and over the informative ones.

The pooled share is the one that publications of the field give; it is led by families with many tests, so the
average over families stands beside it.
"""

from __future__ import annotations

import dataclasses
import math

import pandas as pd

from soundcheck.metrics.classification import ONE_CLASS

__all__ = ["Summary", "Tally", "informative", "summary"]


@dataclasses.dataclass(frozen=True)
class Tally:
    """How many tests passed.

    Parameters
    ----------
    passed, failed, skipped
        Numbers of rows.
    share
        Passed of passed and failed, all tests pooled; ``None`` if none was judged.
    family_share
        The same share of each family, averaged over the families with judged tests.
    """

    passed: int
    failed: int
    skipped: int
    share: float | None
    family_share: float | None


@dataclasses.dataclass(frozen=True)
class Summary:
    """Tallies over all tests and over the informative ones only."""

    all: Tally
    informative: Tally


def informative(frame: pd.DataFrame) -> pd.Series:
    """Say which tests tell something: bool, True where the random reference model fails.

    A test that the random model passes, too, or that averages over a single class says nothing.
    """
    flagged = frame["skipped"].fillna("").str.contains(ONE_CLASS, regex=False)
    return frame["reference_passed"].eq(False) & ~flagged


def summary(frame: pd.DataFrame) -> Summary:
    """Count the rows of a results table, or of the part of it that is of interest (one model, one family)."""
    return Summary(_tally(frame), _tally(frame[informative(frame)]))


def _tally(frame: pd.DataFrame) -> Tally:
    passed, failed = frame["passed"].eq(True), frame["passed"].eq(False)
    judged = frame[passed | failed]
    shares = [float(rows["passed"].eq(True).mean()) for _, rows in judged.groupby("family", sort=True)]
    return Tally(
        int(passed.sum()),
        int(failed.sum()),
        int((~passed & ~failed).sum()),
        float(passed.sum() / len(judged)) if len(judged) else None,
        math.fsum(shares) / len(shares) if shares else None,
    )
