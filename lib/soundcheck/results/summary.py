"""Counts what may be concluded: states of rows, which tests are informative, and one share an aspect.

Conventions
-----------
- Rows of the other group of a pair (``mirrors``) are counted nowhere.
- *Informative* is a test that could have come out otherwise: of correctness and robustness one that the
  random reference fails; of a difference between groups, which guessing never has, one that passes or fails.
- A *score* is the share of passes among the informative tests that pass or fail, averaged over the families,
  so that a family with many tests counts as much as any other. There is one for each aspect and none for all
  of them together: what a model knows and whom it fails are not one thing.
"""

from __future__ import annotations

import dataclasses

import pandas as pd

from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, STATES, counted
from soundcheck.statistics.evidence import NO_INTERVAL

CORRECTNESS, FAIRNESS, ROBUSTNESS = ASPECTS = ("correctness", "fairness", "robustness")


class Tally(dict[str, int]):
    """Number of rows of each state, in the order of :data:`soundcheck.results.states.STATES`."""

    @property
    def judged(self) -> int:
        """Rows that pass, fail or are inconclusive."""
        return self[PASS] + self[FAIL] + self[INCONCLUSIVE]

    def __str__(self) -> str:
        return ", ".join(f"{number} {state}" for state, number in self.items())


@dataclasses.dataclass(frozen=True)
class Score:
    """Share of passes among informative tests that pass or fail.

    Parameters
    ----------
    share
        From 0 to 1, averaged over families; ``None`` if no test passes or fails.
    passed, concluded
        How many pass, and how many pass or fail.
    """

    share: float | None
    passed: int
    concluded: int


def aspects(frame: pd.DataFrame) -> pd.Series:
    """Say what each row is about, one of :data:`ASPECTS`: a difference between groups is about fairness."""
    return frame["category"].where(frame["group"].fillna("").eq(""), FAIRNESS)


def informative(frame: pd.DataFrame) -> pd.Series:
    """Say which tests are informative, bool; see the conventions. Averages over a single class are not."""
    one_class = frame["skipped"].fillna("").str.contains(ONE_CLASS, regex=False)
    fails = frame["reference_passed"].eq(False)
    return (
        frame["state"].isin([PASS, FAIL]).where(aspects(frame).eq(FAIRNESS), fails).astype(bool) & ~one_class
    )


def tally(frame: pd.DataFrame) -> Tally:
    """Count the rows of a results table, or of a part of it, by state."""
    found = counted(frame)["state"].value_counts()
    return Tally({state: int(found.get(state, 0)) for state in STATES})


def scores(frame: pd.DataFrame) -> dict[str, Score]:
    """Sum up the rows of a model for each of :data:`ASPECTS`."""
    rows = counted(frame)
    # What has no interval could never have passed.
    rows = rows[informative(rows) & rows["state"].isin([PASS, FAIL]) & rows["evidence"].ne(NO_INTERVAL)]
    passed = rows["state"].eq(PASS)
    found = {}
    for aspect in ASPECTS:
        own = passed[aspects(rows).eq(aspect)]
        shares = own.groupby(rows["family"]).mean()
        found[aspect] = Score(float(shares.mean()) if len(shares) else None, int(own.sum()), len(own))
    return found
