"""Sentences of rows of the results table."""

from __future__ import annotations

import pandas as pd

from soundcheck.results.states import FAIL, PASS


def both_rules(row: object) -> str:
    """Say that the published rule and the margin come to different answers; ``""`` if they agree."""
    if row.passed is None or pd.isna(row.passed) or row.state not in (PASS, FAIL):
        return ""
    if bool(row.passed) == (row.state == PASS):
        return ""
    word = "passes" if row.passed else "fails"
    return f"{word} the published rule ({row.rule} {row.threshold:g})"
