"""Reads what a finished run found in a comparison of two of its models, from ``comparisons.csv``."""

from __future__ import annotations

import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.results.contrast import CONTRAST_TYPES, contrast_frame
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.record import ComparisonRecord
from soundcheck.results.schema import frame_of, parsed, unescaped

_TABLE = "comparisons.csv"
_AGAIN = "Run the suite again"


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
    path = run.path.with_name(_TABLE)
    if entry.failed:
        return contrast_frame([])
    files.require_regular(path, _TABLE)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except (ValueError, pd.errors.ParserError) as error:
        raise input_error(_TABLE, f"it cannot be read ({type(error).__name__})", _AGAIN) from error
    missing = [name for name in CONTRAST_TYPES if name not in table.columns]
    if missing:
        raise input_error(_TABLE, f"columns are missing: {', '.join(missing)}", _AGAIN)
    models = table[["baseline", "candidate"]].map(unescaped)
    own = table[models.eq([entry.baseline, entry.candidate]).all(axis="columns")]
    try:
        cells = {name: [parsed(cell, kind) for cell in own[name]] for name, kind in CONTRAST_TYPES.items()}
    except ValueError as error:
        raise input_error(_TABLE, f"a cell of {quoted(entry.name)} {error}", _AGAIN) from error
    frame = frame_of(CONTRAST_TYPES, cells)
    found = {name: int(frame["outcome"].eq(name).sum()) for name in entry.outcomes}
    if found != entry.outcomes:
        what = f"the rows of {quoted(entry.name)} are not those that the run counted: it was cut or edited"
        raise input_error(_TABLE, what, _AGAIN)
    return frame
