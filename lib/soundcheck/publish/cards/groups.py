"""Cells of estimates."""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report import key_figures


def number_cells(row: object) -> tuple[str, str, str, str]:
    """Write an estimate: its value, both intervals, and what it rests on; rates in per cent."""
    factor, unit = (100, "\xa0%") if row.title in key_figures.RATES else (1, "")

    def span(low: float, high: float) -> str:
        written = [key_figures.significant(factor * end) for end in (low, high)]
        return "none" if pd.isna(low) else f"{written[0]} to {written[1]}{unit}"

    rests = [counted(row.segments, "segment"), *([counted(row.speakers, "speaker")] if row.speakers else [])]
    value = f"{key_figures.significant(factor * row.value)}{unit}"
    return value, span(row.low, row.high), span(row.low_sample, row.high_sample), ", ".join(rests)
