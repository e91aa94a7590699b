"""Reads what a finished run found in a comparison of two of its models, from ``comparisons.csv``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from soundcheck.common import files
from soundcheck.common.errors import did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.results.contrast import CONTRAST_COLUMNS, CONTRAST_TYPES
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.record import ComparisonRecord
from soundcheck.results.schema import frame_of, unescaped

_TABLE = "comparisons.csv"
_TRUTHS = {"True": True, "False": False}


def comparison_of(run: FinishedRun, name: str) -> ComparisonRecord:
    """Find a comparison of a run by its name.

    Raises
    ------
    InputError
        If the run has none of this name.
    """
    known = {one.name: one for one in run.record.comparisons}
    if name in known:
        return known[name]
    remedy = did_you_mean(name, known) if known else "List it under `comparisons:` in the suite and run again"
    raise input_error(f"--comparison {quoted(name)}", "the run has no such comparison", remedy)


def read_comparison(run: FinishedRun, entry: ComparisonRecord) -> pd.DataFrame:
    """Read the rows of a comparison.

    Parameters
    ----------
    run
        The finished run; it has a record.
    entry
        A comparison of it.

    Returns
    -------
    pandas.DataFrame
        As :func:`soundcheck.results.contrast.contrast_frame` makes it; empty if the comparison failed.

    Raises
    ------
    InputError
        If the table is missing or was changed: columns are missing, or its outcomes are not as many as the
        record of the run counted.
    """
    path = run.path.with_name(_TABLE)
    if entry.failed:
        return _typed(pd.DataFrame(columns=CONTRAST_COLUMNS, dtype=str))
    files.require_regular(path, _TABLE)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except (ValueError, pd.errors.ParserError) as error:
        raise input_error(_TABLE, f"it cannot be read ({type(error).__name__})", _AGAIN) from error
    missing = [name for name in CONTRAST_COLUMNS if name not in table.columns]
    if missing:
        raise input_error(_TABLE, f"columns are missing: {', '.join(missing)}", _AGAIN)
    table = table[CONTRAST_COLUMNS]
    table = table.assign(**{name: table[name].map(unescaped) for name in CONTRAST_COLUMNS})
    own = table[table["baseline"].eq(entry.baseline) & table["candidate"].eq(entry.candidate)]
    try:
        frame = _typed(own.reset_index(drop=True))
    except ValueError as error:
        raise input_error(_TABLE, f"a number of {quoted(entry.name)} is none ({error})", _AGAIN) from error
    found = {name: int(frame["outcome"].eq(name).sum()) for name in entry.outcomes}
    if found != entry.outcomes:
        what = f"the rows of {quoted(entry.name)} are not those that the run counted: it was cut or edited"
        raise input_error(_TABLE, what, _AGAIN)
    return frame


_AGAIN = "Run the suite again"


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    read = {"int": int, "str": str, "bool": _TRUTHS.get, "float": _number}
    return frame_of(
        CONTRAST_TYPES, {name: table[name].map(read[kind]) for name, kind in CONTRAST_TYPES.items()}
    )


def _number(cell: str) -> float:
    return float(cell) if cell else np.nan
