"""The table of estimates: every value of a measure with its intervals, ``estimates.csv`` and ``.parquet``.

Conventions
-----------
- The columns before ``value`` identify a row, but for ``family``, which names the family that computed it.
- ``part`` is ``all`` or a group (``sex: female``), ``condition`` empty for clean signals, a change with its
  level, ``chance``, or ``common with NAME``.
- ``low, high`` are the 95 % interval for new speakers, ``low_sample, high_sample`` that for these speakers;
  ``excluded`` says why there is no value or no interval.
- Differences are in the results, before and after in the comparisons.
"""

from __future__ import annotations

import dataclasses
import operator
import os
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from soundcheck.results.schema import columns_of, frame_of_rows, read_parquet, rounded, schema_of, write_table

ALL = "all"  # the part of everything
CHANCE = "chance"  # the condition of guesses


@dataclasses.dataclass(frozen=True)
class Estimate:
    """One row."""

    model: str
    corpus: str
    family: str
    task: str
    measure: str
    label: str = ""
    part: str = ALL
    condition: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    low_sample: float | None = None
    high_sample: float | None = None
    segments: int = 0
    speakers: int = 0
    excluded: str = ""


ESTIMATES = schema_of(Estimate)
COLUMNS = list(ESTIMATES)
KEY = ("model", "corpus", "task", "measure", "label", "part", "condition")
_key_of = operator.attrgetter(*KEY)  # what it is a value of
_numbers_of = operator.attrgetter(*columns_of(ESTIMATES, "float", "int"))


def collected(rows: Iterable[Estimate]) -> list[Estimate]:
    """Keep one row of each value; where two families measure otherwise, the later one says so in its name.

    Of two families one may need more segments than the other for an interval: the row that has it is kept.
    """
    rows_by_key: dict[tuple[str, ...], Estimate] = {}
    for row in rows:
        known = rows_by_key.setdefault(_key_of(row), row)
        both = list(zip(_numbers_of(known), _numbers_of(row), strict=True))
        if any(one != other for one, other in both if None not in (one, other)):
            row = dataclasses.replace(row, measure=f"{row.measure} ({row.family})")
            rows_by_key[_key_of(row)] = row
        elif sum(one is None for one, _ in both) > sum(other is None for _, other in both):
            rows_by_key[_key_of(row)] = row
    return list(rows_by_key.values())


def estimate_frame(rows: Iterable[Estimate]) -> pd.DataFrame:
    """Make the table: texts as ``str``, numbers as float64 with NaN for missing, counts as int64."""
    return rounded(frame_of_rows(ESTIMATES, rows), ESTIMATES)


def write_estimates(frame: pd.DataFrame, folder: str | os.PathLike) -> None:
    """Write ``estimates.csv`` and ``estimates.parquet``, sorted by what is estimated."""
    frame = frame.sort_values(list(KEY), kind="stable")
    write_table(frame, ESTIMATES, Path(folder) / "estimates.csv")


def read_estimates(folder: str | os.PathLike) -> pd.DataFrame:
    """Read the estimates of an output folder; without any row if the run is of a version that wrote none."""
    path = Path(folder) / "estimates.parquet"
    return read_parquet(path, ESTIMATES) if path.is_file() else estimate_frame([])
