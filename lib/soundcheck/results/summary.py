"""Counts rows by state, and says what a row is about; the second row of a pair of groups counts nowhere."""

from __future__ import annotations

import pandas as pd

from soundcheck.results.states import FAIL, INCONCLUSIVE, PASS, STATES, counted

CORRECTNESS, FAIRNESS, ROBUSTNESS = ASPECTS = ("correctness", "fairness", "robustness")


class Tally(dict[str, int]):
    """Number of rows of each state, in the order of :data:`soundcheck.results.states.STATES`."""

    @property
    def judged(self) -> int:
        """Rows that pass, fail or are inconclusive."""
        return self[PASS] + self[FAIL] + self[INCONCLUSIVE]

    def __str__(self) -> str:
        return ", ".join(f"{number} {state}" for state, number in self.items())


def aspects(frame: pd.DataFrame) -> pd.Series:
    """Say what each row is about, one of :data:`ASPECTS`: a difference between groups is about fairness."""
    return frame["category"].where(frame["group"].fillna("").eq(""), FAIRNESS)


def tally(frame: pd.DataFrame) -> Tally:
    """Count the rows of a results table, or of a part of it, by state."""
    found = counted(frame)["state"].value_counts()
    return Tally({state: int(found.get(state, 0)) for state in STATES})
