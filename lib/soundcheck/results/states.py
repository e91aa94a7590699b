"""States of tests: pass, fail, inconclusive, not evaluated, reported."""

from __future__ import annotations

import pandas as pd

from soundcheck.results.holding import settle
from soundcheck.results.verdict import CLEAR_PASS, SHOWN

PASS, FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED = (
    "pass",
    "fail",
    "inconclusive",
    "not evaluated",
    "reported",
)
STATES = (PASS, FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED)


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that are counted: all but the mirrors of pairs."""
    return frame[frame["mirrors"].eq("")]


def decide(frame: pd.DataFrame) -> pd.DataFrame:
    """Decide the state of every row."""
    frame = settle(frame)
    state = pd.Series(INCONCLUSIVE, index=frame.index, dtype=object)
    state[frame["evidence"].eq(CLEAR_PASS) & frame["passed"].eq(True)] = PASS
    state[frame["passed"].isna()] = NOT_EVALUATED
    state[frame["evidence"].eq(SHOWN)] = REPORTED
    state[frame["holds"].eq(True)] = FAIL
    return frame.assign(state=state)
