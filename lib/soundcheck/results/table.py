"""The results table: as a data frame, and written and read as ``results.csv`` and ``results.parquet``.

Reading is strict: nothing that was cut, edited or contradicts itself gets through.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted
from soundcheck.results.schema import columns_of, csv_text, frame_of, frame_of_rows, parsed, plain, rounded
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, STATES
from soundcheck.results.verdict import EVIDENCE, KEY, RESULT_COLUMNS, RESULTS, SHOWN, Verdict
from soundcheck.statistics.evidence import CLEAR_PASS
from soundcheck.statistics.rules import GAP_RULES, RULES, passes

_ARROW = {
    "str": pyarrow.string(),
    "int": pyarrow.int64(),
    "float": pyarrow.float64(),
    "bool": pyarrow.bool_(),
}
ARROW_TYPES = {name: _ARROW[kind] for name, kind in RESULTS.items()}
_NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group") :]  # older tables lack some, whose cells count as empty
_AGAIN = "Run the suite again"
_UNEDITED = f"{_AGAIN}; do not edit results"
_NOT_OURS = "Give a results table that `soundcheck run` wrote"
_REMEDIES = {"bool": "Allowed: True, False, empty"}
_RULES = (*RULES, *GAP_RULES)
_ALLOWED = {"rule": _RULES, "evidence": EVIDENCE, "state": STATES, "state_sample": STATES}
_SHARES = ("certainty", "p_value", "p_sample", "least_p", "counterpart")
_INTERVALS = [(name, name.replace("low", "high")) for name in RESULT_COLUMNS if "low" in name.split("_")]


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


def typed(columns: dict[str, Sequence]) -> pd.DataFrame:
    """Make a table of plain values, ``None`` for missing; see :func:`to_frame` for its types."""
    return rounded(frame_of(RESULTS, columns), RESULTS)


def to_verdicts(frame: pd.DataFrame) -> dict[tuple[str, ...], Verdict]:
    """Make the verdicts of a results table again, by what was tested (:data:`KEY`)."""
    columns = [plain(frame[name], kind) for name, kind in RESULTS.items()]
    verdicts = [Verdict(*cells) for cells in zip(*columns, strict=True)]
    return {_key(verdict): verdict for verdict in verdicts}


def _key(row: Verdict) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in KEY)


def write_results(frame: pd.DataFrame, folder: str | os.PathLike) -> str:
    """Write ``results.csv``, whose digest it gives, and ``results.parquet``, which keeps the true texts."""
    frame = frame[RESULT_COLUMNS].sort_values(list(KEY), kind="stable", ignore_index=True)
    columns = {name: plain(frame[name], kind) for name, kind in RESULTS.items()}
    table = pyarrow.Table.from_pydict(columns, schema=pyarrow.schema(ARROW_TYPES.items()))
    parquet = io.BytesIO()
    pyarrow.parquet.write_table(table, parquet, write_page_checksum=True)
    files.write_bytes(Path(folder) / "results.parquet", parquet.getvalue())
    return files.write_text(Path(folder) / "results.csv", csv_text(columns, RESULTS))


def read_results(path: str | os.PathLike) -> pd.DataFrame:
    """Read ``results.csv`` or ``results.parquet`` in the order of the file, as ``to_frame`` makes it.

    Refused with an ``InputError`` if it was cut or edited so that a row contradicts itself.
    """
    path = Path(path)
    files.require_regular(path, path.name)
    rows = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    problems = Problems()
    for where, row in rows.items():
        for column, what in _contradictions(row):
            problems.add(f"{path.name} {where}, column {column}", what, _UNEDITED)
    first: dict[tuple, str] = {}
    for where, row in rows.items():
        known = first.setdefault(tuple(row[name] for name in KEY), where)
        if known != where:
            remedy = f"{_AGAIN}; do not join tables"
            problems.add(f"{path.name} {where}", f"the same test as {known}", remedy)
    problems.raise_if_any()
    frame = typed({name: [row[name] for row in rows.values()] for name in RESULT_COLUMNS})
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


def _read_csv(path: Path) -> dict[str, dict]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what, remedy = f"byte {error.start} is not UTF-8", "Use the file as the run wrote it"
        raise input_error(path.name, what, remedy) from error
    if not text.endswith("\n"):
        what = "the file ends in the middle of a line" if text.strip() else "the file is empty"
        raise input_error(path.name, what, _AGAIN)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    problems = Problems()
    rows: dict[str, dict] = {}
    try:
        header = next(reader)
        _check_columns(path, header)
        line = reader.line_num + 1
        for cells in reader:
            where, line = f"line {line}", reader.line_num + 1
            if len(cells) != len(header):
                problems.add(f"{path.name} {where}", f"{len(cells)} cells instead of {len(header)}", "")
                continue
            row = rows[where] = dict.fromkeys(RESULT_COLUMNS) | dict(zip(header, cells, strict=True))
            for name, kind in RESULTS.items():
                try:
                    row[name] = parsed(row[name] or "", kind)
                except ValueError as error:
                    what, remedy = f"{quoted(row[name])} {error}", _REMEDIES.get(kind, _AGAIN)
                    problems.add(f"{path.name} {where}, column {name}", what, remedy)
    except csv.Error as error:
        raise input_error(f"{path.name} line {reader.line_num}", str(error), _AGAIN) from error
    problems.raise_if_any()
    return rows


def _check_columns(path: Path, header: Sequence[str]) -> None:
    if path.suffix in (".yml", ".yaml"):
        hint = f"`soundcheck run {path.name} --plan` says what is wrong with it and what a run would do"
        raise input_error(path.name, "this is a suite, and results are expected", hint)
    if missing := [name for name in RESULT_COLUMNS if name not in (*header, *_NEWER)]:
        raise input_error(path.name, f"columns are missing: {', '.join(missing)}", _NOT_OURS)
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise input_error(path.name, f"columns twice: {', '.join(twice)}", _NOT_OURS)


def _read_parquet(path: Path) -> dict[str, dict]:
    try:
        table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise input_error(path.name, f"this is not a whole Parquet file ({error})", _AGAIN) from error
    _check_columns(path, table.column_names)
    for name, wanted in ARROW_TYPES.items():
        text = RESULTS[name] == "str"
        if name not in table.column_names:
            table = table.append_column(name, pyarrow.array([("" if text else None)] * len(table), wanted))
        found = table.schema.field(name).type
        if found != wanted and not (text and pyarrow.types.is_large_string(found)):
            raise input_error(path.name, f"column {name} holds {found}, not {wanted}", _NOT_OURS)
    if absent := [name for name in columns_of(RESULTS, "str", "int") if table[name].null_count]:
        raise input_error(path.name, f"values are missing in {', '.join(absent)}", _AGAIN)
    rows = table.select(RESULT_COLUMNS).to_pylist()
    return {f"row {number}": row for number, row in enumerate(rows, start=1)}


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
    for low, high in _INTERVALS:
        if (row[low] is None) != (row[high] is None):
            yield low if row[low] is None else high, "one bound of the interval is missing"
        elif row[low] is not None and row[low] > row[high]:
            yield low, f"{row[low]} is above {high}, {row[high]}"
    if row["holds"] is not None and row["p_value"] is None:
        yield "holds", "a failure that holds or not without p_value"
    judged = "gap" if row["rule"] in GAP_RULES else "value"
    for name, number, rules in (("passed", judged, _RULES), ("reference_passed", "reference", RULES)):
        absent = [one for one in (number, "threshold", "rule") if row[one] in (None, "")]
        if row[name] is not None and absent:
            yield name, f"{row[name]}, but {absent[0]} is missing"
        elif row[name] is not None and row["rule"] in rules:
            if bool(passes(row["rule"], row[number], row["threshold"])) != row[name]:
                limit = f"rule {row['rule']} and threshold {row['threshold']}"
                yield name, f"{row[name]} contradicts {number} {row[number]}, {limit}"
    if row["passed"] is None and not row["skipped"]:
        yield "passed", "neither a verdict nor, in column skipped, a reason"
