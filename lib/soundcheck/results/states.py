"""States of rows: pass, fail, inconclusive, not evaluated, reported."""

from __future__ import annotations

import pandas as pd

PASS, FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED = (
    "pass",
    "fail",
    "inconclusive",
    "not evaluated",
    "reported",
)
STATES = (PASS, FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED)


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out rows that repeat the test of a pair of groups."""
    return frame[frame["mirrors"].eq("")]


def decide(frame: pd.DataFrame) -> pd.DataFrame:
    """Fill the states from the old columns."""
    place = frame[["model", "corpus", "family", "task", "test", "label"]]
    size = frame["gap"].abs().round(9).fillna(pd.Series(range(len(frame)), index=frame.index) + 1e6)
    mirrored = place.assign(column=frame["group"].str.split(":").str[0], gap=size).duplicated()

    def one(passed: object, holds: object, evidence: str) -> str:
        if holds is True:
            return FAIL
        if passed is None:
            return REPORTED if evidence == "shown" else NOT_EVALUATED
        return PASS if passed and evidence == "clear pass" else INCONCLUSIVE

    rows = zip(frame["passed"], frame["holds"], frame["evidence"], strict=True)
    state = pd.Series([one(*row) for row in rows], index=frame.index, dtype="str")
    against = frame["group"].str.contains(": ") & frame["gap"].notna()
    few = against & state.isin([INCONCLUSIVE, NOT_EVALUATED]) & frame["blocks"].lt(5)
    return frame.assign(
        state=state,
        against=against.map({True: "others", False: ""}).astype("str"),
        group_value=frame["value"].where(against),
        state_sample=state.where(~few, REPORTED).astype("str"),
        gap_low_sample=(frame["gap"] - 0.05).where(few),
        gap_high_sample=(frame["gap"] + 0.05).where(few),
        mirrors=frame["group"].where(mirrored & against, "").astype("str"),
    )
