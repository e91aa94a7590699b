"""Counts what may be concluded: states of rows, which tests tell something, and one share an aspect.

Conventions
-----------
- *Informative* is a test that could have come out otherwise: of correctness and robustness one that the
  random reference fails; of a difference between groups, which guessing never has, one that is clear either
  way or holds.
- A *score* is the share of clear passes among informative tests that are clear or hold, averaged over the
  families, so that a family with many tests counts as much as any other. There is one for each aspect and
  none for all of them together: what a model knows and whom it fails are not one thing. Tests without an
  interval, which could never have been clear passes, do not count.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.results.holding import states
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, OPEN_FAIL, OPEN_PASS, SHOWN, SKIPPED, state_of
from soundcheck.statistics.evidence import NO_INTERVAL

CORRECTNESS, FAIRNESS, ROBUSTNESS = ASPECTS = ("correctness", "fairness", "robustness")
_CLEAR = ("clear pass", "clear fail")  # evidence


@dataclasses.dataclass(frozen=True)
class Tally:
    """How many rows are in which state."""

    clear_pass: int = 0
    open_pass: int = 0
    open_fail: int = 0
    holds: int = 0
    skipped: int = 0
    shown: int = 0

    @property
    def judged(self) -> int:
        """Rows with a verdict."""
        return self.clear_pass + self.open + self.holds

    @property
    def open(self) -> int:
        """Rows that the data do not settle."""
        return self.open_pass + self.open_fail

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows by state, the judged ones from the best to the worst."""
        return {
            CLEAR_PASS: self.clear_pass,
            OPEN_PASS: self.open_pass,
            OPEN_FAIL: self.open_fail,
            HOLDS: self.holds,
            SHOWN: self.shown,
            SKIPPED: self.skipped,
        }


@dataclasses.dataclass(frozen=True)
class Score:
    """Share of clear passes among clear informative tests.

    Parameters
    ----------
    share
        From 0 to 1, averaged over families; ``None`` if no test is clear.
    clear_pass, clear
        Clear passes, and all clear tests.
    families
        Families with a clear test.
    """

    share: float | None
    clear_pass: int
    clear: int
    families: int


def aspects(frame: pd.DataFrame) -> pd.Series:
    """Say what each row is about, one of :data:`ASPECTS`: a difference between groups is about fairness."""
    return frame["category"].where(frame["group"].fillna("").eq(""), FAIRNESS)


def informative(frame: pd.DataFrame) -> pd.Series:
    """Say which tests tell something, bool; see the conventions of this module.

    Averages over a single class tell nothing.
    """
    flagged = frame["skipped"].fillna("").str.contains(ONE_CLASS, regex=False)
    settled = frame["evidence"].isin(_CLEAR) | frame["holds"].eq(True)
    fails = frame["reference_passed"].eq(False)
    return settled.where(aspects(frame).eq(FAIRNESS), fails).astype(bool) & ~flagged


def tally(frame: pd.DataFrame) -> Tally:
    """Count the rows of a results table, or of a part of it, by state."""
    counts = Counter(map(state_of, frame["passed"], frame["holds"], frame["evidence"]))
    names = (CLEAR_PASS, OPEN_PASS, OPEN_FAIL, HOLDS, SKIPPED, SHOWN)
    return Tally(*(counts[name] for name in names))


def scores(frame: pd.DataFrame) -> dict[str, Score]:
    """Sum up the rows of a model for each of :data:`ASPECTS`."""
    found = states(frame)
    kept = informative(frame) & found.isin([CLEAR_PASS, HOLDS]) & frame["evidence"].ne(NO_INTERVAL)
    about, passed, family = aspects(frame)[kept], found[kept].eq(CLEAR_PASS), frame["family"][kept]
    by_aspect: dict[str, dict[str, list[bool]]] = {aspect: {} for aspect in ASPECTS}
    for aspect, name, one in zip(about, family, passed, strict=True):
        by_aspect.get(aspect, {}).setdefault(name, []).append(one)
    return {aspect: _score(families) for aspect, families in by_aspect.items()}


def _score(passed: Mapping[str, Sequence[bool]]) -> Score:
    """Sum up which clear tests of each family are passes."""
    shares = [sum(rows) / len(rows) for rows in passed.values()]
    share = math.fsum(shares) / len(shares) if shares else None
    return Score(share, sum(map(sum, passed.values())), sum(map(len, passed.values())), len(shares))
