"""Counts rows by state and says so in words, in the same way on pages, in cards, sheets and the terminal.

Rows with ``mirrors``, the second row of a pair of groups, count nowhere.
"""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import counted as number_of
from soundcheck.results.states import (
    FAIL,
    INCONCLUSIVE,
    NOT_EVALUATED,
    PASS,
    REPORTED,
    STATES,
    counted,
)

EVALUATED = (PASS, FAIL, INCONCLUSIVE)


def counts(rows: pd.DataFrame) -> dict[str, int]:
    """Count rows by state, in the order of :data:`soundcheck.results.states.STATES`."""
    found = counted(rows)["state"].value_counts()
    return {state: int(found.get(state, 0)) for state in STATES}


def in_words(rows: pd.DataFrame) -> str:
    """Write the counts: ``312 pass, 4 fail, 120 inconclusive``; of the others those that there are."""
    found = counts(rows)
    return ", ".join(f"{found[state]:,} {state}" for state in STATES if found[state] or state in (PASS, FAIL))


def headline(rows: pd.DataFrame) -> str:
    """Say how many tests fail, or that nothing could be concluded; without a full stop."""
    found = counts(rows)
    evaluated = sum(found[state] for state in EVALUATED)
    tests = number_of(evaluated, "test").replace(str(evaluated), f"{evaluated:,}")
    few = len(few_speakers(rows))
    differences = f"{number_of(few, 'difference')} {'has' if few == 1 else 'have'} too few speakers"
    if found[FAIL]:
        return f"{found[FAIL]:,} of {tests} {'fails' if found[FAIL] == 1 else 'fail'}"
    if found[PASS]:
        return f"None of {tests} fails" + (f"; {differences} to generalise" if few else "")
    why = differences if few else f"{tests} inconclusive, {found[NOT_EVALUATED]:,} not evaluated"
    return f"Nothing could be concluded: {why}"


def few_speakers(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the differences with too few speakers to generalise, the largest in units of its margin first."""
    found = counted(rows)
    found = found[
        found["state"].isin([INCONCLUSIVE, NOT_EVALUATED])
        & found["state_sample"].eq(REPORTED)
        & found["gap"].notna()
        & found["against"].ne("")
    ]
    size = found["gap"].abs() / found["matters"].fillna(1)
    return found.loc[size.sort_values(ascending=False, kind="stable").index]
