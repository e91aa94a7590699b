"""The results table: as a data frame, and written and read as ``results.csv`` and ``results.parquet``.

Reading is strict: nothing that was cut, edited or contradicts itself gets through.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from soundcheck.common.errors import Problems
from soundcheck.common.escaping import quoted
from soundcheck.results.schema import AGAIN, columns_of, frame_of_rows, plain, read_csv, rounded, write_table
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, STATES
from soundcheck.results.verdict import EVIDENCE, KEY, RESULT_COLUMNS, RESULTS, UNJUDGED, Verdict
from soundcheck.statistics.evidence import CLEAR_PASS
from soundcheck.statistics.rules import GAP_RULES, RULES, passes

key_of = operator.attrgetter(*KEY)  # of a verdict: what was tested
_NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group") :]
_ALLOWED = {"rule": (*RULES, *GAP_RULES), "evidence": EVIDENCE, "state": STATES, "state_sample": STATES}
_SHARES = ("certainty", "p_value", "p_sample", "least_p", "counterpart")
_LOWER_ENDS = [name for name in RESULT_COLUMNS if "low" in name.split("_")]


def to_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Make the results table, sorted by what was tested; two rows about the same test are a ``ValueError``.

    Texts are ``str``, numbers float64 with NaN for missing, counts int64, truths ``object`` of True, False
    and None.
    """
    verdicts = sorted(verdicts, key=key_of)
    for one, other in zip(verdicts, verdicts[1:], strict=False):
        if key_of(one) == key_of(other):
            raise ValueError(f"Two verdicts for {' / '.join(filter(None, key_of(one)))}.")
    return rounded(frame_of_rows(RESULTS, verdicts), RESULTS)


def to_verdicts(frame: pd.DataFrame) -> dict[tuple[str, ...], Verdict]:
    """Make the verdicts of a results table again, by what was tested."""
    verdicts = [Verdict(*cells) for cells in zip(*plain(frame, RESULTS).values(), strict=True)]
    return {key_of(verdict): verdict for verdict in verdicts}


def write_results(frame: pd.DataFrame, folder: str | os.PathLike) -> str:
    """Write ``results.csv``, whose digest it gives, and ``results.parquet``."""
    frame = frame.sort_values(list(KEY), kind="stable", ignore_index=True)
    return write_table(frame, RESULTS, Path(folder) / "results.csv")


def read_results(path: str | os.PathLike, *, older: bool = False) -> pd.DataFrame:
    """Read ``results.csv`` as :func:`to_frame` makes it; refused if a row contradicts itself.

    With ``older`` also the table of a version that had no groups or states, which follow its rules.
    """
    path = Path(path)
    frame = read_csv(path, RESULTS, _NEWER if older else ())
    problems = Problems()
    for column, what, rows in _contradictions(frame):
        for line, cell in frame.loc[rows, column].items():
            text = quoted("" if pd.isna(cell) else cell)
            problems.add(f"{path.name} line {line}, column {column}", f"{text} {what}", _DO_NOT_EDIT)
    for line in frame.index[frame.duplicated(list(KEY))]:
        problems.add(f"{path.name} line {line}", "the same test as in an earlier line", _DO_NOT_EDIT)
    problems.raise_if_any()
    frame = rounded(frame.reset_index(drop=True), RESULTS)
    return _with_states(frame) if frame["state"].eq("").all() else frame


def _with_states(frame: pd.DataFrame) -> pd.DataFrame:
    """Conclude from the rows of a version without states what that version concluded."""
    passed, known = frame["passed"], frame["p_value"].notna().any()
    state = pd.Series(INCONCLUSIVE, index=frame.index, dtype="str")
    state[passed.eq(True) & frame["evidence"].eq(CLEAR_PASS)] = PASS
    state[passed.isna()] = NOT_EVALUATED
    state[passed.isna() & frame["evidence"].eq(UNJUDGED)] = REPORTED
    state[frame["holds"].eq(True) if known else passed.eq(False)] = FAIL  # the first had no p-values
    return frame.assign(state=state)


_DO_NOT_EDIT = f"{AGAIN}; do not edit or join results"


def _contradictions(frame: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series]]:
    """Give for each check a column, what is wrong with its cell, and in which rows it is, bool."""
    for name in ("model", "corpus", "family", "task", "test"):
        yield name, "is empty", frame[name].eq("")
    for name, allowed in _ALLOWED.items():
        yield name, f"is none of {', '.join(allowed)}", ~frame[name].isin([*allowed, ""])
    for name in columns_of(RESULTS, "int"):
        yield name, "is negative", frame[name].lt(0)
    for name in _SHARES:
        yield name, "is not between 0 and 1", frame[name].notna() & ~frame[name].between(0, 1)
    for low in _LOWER_ENDS:
        high = low.replace("low", "high")
        wrong = frame[low].gt(frame[high]) | frame[low].isna().ne(frame[high].isna())
        yield low, f"is above {high}, or one of them is missing", wrong
    of_gap = frame["rule"].isin(GAP_RULES)  # a reference has no gap
    numbers = {"passed": frame["gap"].where(of_gap, frame["value"]), "reference_passed": frame["reference"]}
    for name, number in numbers.items():
        checked = frame[name].notna() & ((name == "passed") | ~of_gap)
        known = checked & number.notna() & frame["threshold"].notna() & frame["rule"].isin(_ALLOWED["rule"])
        cells = frame.assign(number=number).loc[known, ["rule", "number", "threshold"]]
        again = pd.Series([passes(*row) for row in cells.itertuples(index=False)], cells.index, dtype=object)
        yield (
            name,
            "contradicts its number, rule or threshold",
            checked & frame[name].ne(again.reindex(frame.index)),
        )
    yield (
        "passed",
        "and neither a verdict nor, in column skipped, a reason",
        frame["passed"].isna() & frame["skipped"].eq(""),
    )
