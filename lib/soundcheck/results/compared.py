"""Reads what a finished run found in a comparison of two of its models, from ``comparisons.csv``."""

from __future__ import annotations

import pandas as pd

from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.results.contrast import CONTRAST_TYPES, contrast_frame
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.record import ComparisonRecord
from soundcheck.results.schema import AGAIN, read_csv

_TABLE = "comparisons.csv"


def comparison_of(run: FinishedRun, name: str) -> ComparisonRecord:
    """Find a comparison of a run by its name."""
    known = {one.name: one for one in run.record.comparisons}
    if name in known:
        return known[name]
    remedy = did_you_mean(name, known) if known else "List it under `comparisons:` in the suite and run again"
    raise input_error(f"--comparison {quoted(name)}", "the run has no such comparison", remedy)


def read_comparison(run: FinishedRun, entry: ComparisonRecord) -> pd.DataFrame:
    """Read the rows of a comparison of a run; none if it failed.

    Refused with an ``InputError`` if the table is missing or was changed: columns are missing, or its
    outcomes are not as many as the record of the run counted.
    """
    if entry.failed:
        return contrast_frame([])
    frame, _ = read_csv(run.path.with_name(_TABLE), CONTRAST_TYPES)
    models = frame[["baseline", "candidate"]].eq([entry.baseline, entry.candidate])
    frame = frame[models.all(axis="columns")].reset_index(drop=True)
    found = {name: int(frame["outcome"].eq(name).sum()) for name in entry.outcomes}
    if found != entry.outcomes:
        what = f"the rows of {quoted(entry.name)} are not those that the run counted: it was cut or edited"
        raise input_error(_TABLE, what, AGAIN)
    return frame
