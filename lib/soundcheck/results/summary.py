"""What became of all tests: rows by state, in one sentence, and which differences have too few speakers.

The second row of a pair of groups counts nowhere.
"""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import counted as number_of
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, STATES, counted
from soundcheck.statistics.rules import one_sided

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


def headline(rows: pd.DataFrame) -> str:
    """Say how many tests fail, or that nothing could be concluded; without a full stop."""
    found, few = tally(rows), len(few_speakers(rows))
    tests = number_of(found.judged, "test")
    differences = f"{number_of(few, 'difference')} {'has' if few == 1 else 'have'} too few speakers"
    if found[FAIL]:
        return f"{found[FAIL]} of {tests} {'fails' if found[FAIL] == 1 else 'fail'}"
    if found[PASS] and few:  # no all-clear
        passing = f"{found[PASS]} of {tests} {'passes' if found[PASS] == 1 else 'pass'}"
        return f"{passing}, {found[INCONCLUSIVE]} inconclusive; {differences} to generalise"
    if found[PASS]:
        return f"None of {tests} fails"
    why = differences if few else f"{found[INCONCLUSIVE]} inconclusive, {found[NOT_EVALUATED]} not evaluated"
    return f"Nothing could be concluded: {why}"


def of_these_speakers(rows: pd.DataFrame) -> pd.Series:
    """Say of which rows nothing follows for new speakers: they are too few, or nobody knows them; bool."""
    few = rows["state_sample"].eq(REPORTED) & rows["state"].eq(INCONCLUSIVE)
    return few | rows["state"].eq(NOT_EVALUATED)


def few_speakers(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the differences with too few speakers to generalise, the largest in units of its margin first.

    What two families find is one difference.
    """
    found = counted(rows)
    found = found[of_these_speakers(found) & found["gap"].notna() & found["against"].ne("")]
    # Where only being worse off counts, groups that are better off come last.
    size = found["gap"].where(found["rule"].map(one_sided).astype(bool), found["gap"].abs())
    size = size / found["matters"].fillna(1)
    ordered = found.loc[size.sort_values(ascending=False, kind="stable").index]
    return ordered.drop_duplicates(["model", "corpus", "task", "test", "group", "label", "gap"])
