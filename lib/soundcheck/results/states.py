"""The states of rows of the results table: what a reader may conclude from a test."""

from __future__ import annotations

import pandas as pd

PASS, FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED = STATES = (
    "pass",
    "fail",
    "inconclusive",
    "not evaluated",
    "reported",
)


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Give the rows that count: of two groups that mirror each other one."""
    return frame[frame["mirrors"].fillna("").eq("")]
