"""The results table: as a data frame, and written and read as ``results.csv`` and ``results.parquet``.

Reading is strict: nothing that was cut, edited or contradicts itself gets through.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from soundcheck.common.errors import Problems
from soundcheck.common.escaping import quoted
from soundcheck.results.schema import AGAIN, columns_of, frame_of_rows, plain, read_csv, rounded, write_table
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, STATES
from soundcheck.results.verdict import EVIDENCE, KEY, RESULT_COLUMNS, RESULTS, SHOWN, Verdict
from soundcheck.statistics.evidence import CLEAR_PASS
from soundcheck.statistics.rules import GAP_RULES, RULES, passes

_NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group") :]
_RULES = (*RULES, *GAP_RULES)
_ALLOWED = {"rule": _RULES, "evidence": EVIDENCE, "state": STATES, "state_sample": STATES}
_SHARES = ("certainty", "p_value", "p_sample", "least_p", "counterpart")
_LOWER_ENDS = [name for name in RESULT_COLUMNS if "low" in name.split("_")]


def to_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Make the results table, sorted by what was tested; two rows about the same test are a ``ValueError``.

    Texts are ``str``, numbers float64 with NaN for missing, counts int64, truths ``object`` of True, False
    and None.
    """
    verdicts = sorted(verdicts, key=_key)
    for one, other in zip(verdicts, verdicts[1:], strict=False):
        if _key(one) == _key(other):
            raise ValueError(f"Two verdicts for {' / '.join(filter(None, _key(one)))}.")
    return rounded(frame_of_rows(RESULTS, verdicts), RESULTS)


def to_verdicts(frame: pd.DataFrame) -> dict[tuple[str, ...], Verdict]:
    """Make the verdicts of a results table again, by what was tested (:data:`KEY`)."""
    verdicts = [Verdict(*cells) for cells in zip(*plain(frame, RESULTS).values(), strict=True)]
    return {_key(verdict): verdict for verdict in verdicts}


def _key(row: Verdict) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in KEY)


def write_results(frame: pd.DataFrame, folder: str | os.PathLike) -> str:
    """Write ``results.csv``, whose digest it gives, and ``results.parquet``."""
    frame = frame.sort_values(list(KEY), kind="stable", ignore_index=True)
    return write_table(frame, RESULTS, Path(folder) / "results.csv")


def read_results(path: str | os.PathLike) -> pd.DataFrame:
    """Read ``results.csv`` as :func:`to_frame` makes it; refused if a row contradicts itself."""
    path = Path(path)
    frame, places = read_csv(path, RESULTS, _NEWER)
    problems = Problems()
    first: dict[tuple, str] = {}
    for place, cells in zip(places, zip(*plain(frame, RESULTS).values(), strict=True), strict=True):
        row = dict(zip(RESULTS, cells, strict=True))
        for column, what in _contradictions(row):
            problems.add(f"{path.name} {place}, column {column}", what, f"{AGAIN}; do not edit results")
        known = first.setdefault(tuple(row[name] for name in KEY), place)
        if known != place:
            problems.add(f"{path.name} {place}", f"the same test as {known}", f"{AGAIN}; do not join tables")
    problems.raise_if_any()
    frame = rounded(frame, RESULTS)
    return _with_states(frame) if frame["state"].eq("").all() else frame


def is_older(frame: pd.DataFrame) -> bool:
    """Whether a table is of a version that said nothing of these speakers."""
    return bool(frame["state_sample"].eq("").all())


def _with_states(frame: pd.DataFrame) -> pd.DataFrame:
    """Conclude from the rows of a version without states what that version concluded."""
    passed, known = frame["passed"], frame["p_value"].notna().any()
    state = pd.Series(INCONCLUSIVE, index=frame.index, dtype="str")
    state[passed.eq(True) & frame["evidence"].eq(CLEAR_PASS)] = PASS
    state[passed.isna()] = NOT_EVALUATED
    state[passed.isna() & frame["evidence"].eq(SHOWN)] = REPORTED
    state[frame["holds"].eq(True) if known else passed.eq(False)] = FAIL  # the first had no p-values
    return frame.assign(state=state)


def _contradictions(row: dict) -> Iterator[tuple[str, str]]:
    """Say what is wrong in a row of plain values: column and what."""
    for name in ("model", "corpus", "family", "task", "test"):
        if not row[name]:
            yield name, "the cell is empty"
    for name, allowed in _ALLOWED.items():
        if row[name] not in (*allowed, ""):
            yield name, f"{quoted(row[name])} is none of {', '.join(allowed)}"
    for name in columns_of(RESULTS, "int"):
        if row[name] < 0:
            yield name, "the number is negative"
    for name in _SHARES:
        if row[name] is not None and not 0 <= row[name] <= 1:
            yield name, f"{row[name]} is not between 0 and 1"
    for low in _LOWER_ENDS:
        high = low.replace("low", "high")
        if None in (row[low], row[high]):
            if row[low] != row[high]:
                yield low if row[low] is None else high, "one bound of the interval is missing"
        elif row[low] > row[high]:
            yield low, f"{row[low]} is above {high}, {row[high]}"
    judged = "gap" if row["rule"] in GAP_RULES else "value"
    for name, number in (("passed", judged), ("reference_passed", "reference")):
        if row[name] is None or (name != "passed" and row["rule"] in GAP_RULES):
            continue  # a reference has no gap
        if absent := [one for one in (number, "threshold", "rule") if row[one] in (None, "")]:
            yield name, f"{row[name]}, but {absent[0]} is missing"
        elif row["rule"] in _RULES and passes(row["rule"], row[number], row["threshold"]) != row[name]:
            limit = f"rule {row['rule']} and threshold {row['threshold']}"
            yield name, f"{row[name]} contradicts {number} {row[number]}, {limit}"
    if row["passed"] is None and not row["skipped"]:
        yield "passed", "neither a verdict nor, in column skipped, a reason"
