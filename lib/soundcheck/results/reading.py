"""Reads a results table strictly: nothing that was cut, edited or contradicts itself gets through."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted, spreadsheet
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, STATES
from soundcheck.results.table import arrow_type, typed
from soundcheck.results.verdict import COUNTS, EVIDENCE, KEY, NUMBERS, RESULT_COLUMNS, SHOWN, TEXTS, TRUTHS
from soundcheck.statistics.evidence import CLEAR_PASS
from soundcheck.statistics.rules import GAP_RULES, RULES, passes

# Columns that older tables lack; their cells count as empty.
_NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group") :]
_AGAIN = "Run the suite again"
_UNEDITED = f"{_AGAIN}; do not edit results"
_RULES = (*RULES, *GAP_RULES)
_ALLOWED = {"rule": _RULES, "evidence": EVIDENCE, "state": STATES, "state_sample": STATES}
_SHARES = ("certainty", "p_value", "p_sample", "least_p", "counterpart")
_INTERVALS = [(name, name.replace("low", "high")) for name in NUMBERS if "low" in name.split("_")]


def read_results(path: str | os.PathLike) -> pd.DataFrame:
    """Read a results table and make sure that it can be trusted as far as it goes.

    Parameters
    ----------
    path
        ``results.csv`` or ``results.parquet``.

    Returns
    -------
    pandas.DataFrame
        As :func:`to_frame` makes it, in the order of the file.

    Raises
    ------
    InputError
        If the file was cut, columns are missing, a number is none, a verdict contradicts its value, threshold
        and rule, a row has neither verdict nor reason, or two rows are about the same test.
    """
    path = Path(path)
    files.require_regular(path, path.name)
    rows, lines = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    problems = Problems()
    for line, row in zip(lines, rows, strict=True):
        for column, what in _contradictions(row):
            problems.add(f"{path.name} {line}, column {column}", what, _UNEDITED)
    first: dict[tuple, str] = {}
    for line, row in zip(lines, rows, strict=True):
        key = tuple(row[name] for name in KEY)
        if key in first:
            problems.add(
                f"{path.name} {line}",
                f"the same test as {first[key]}",
                "Run the suite again; do not join tables",
            )
        first.setdefault(key, line)
    problems.raise_if_any()
    frame = typed({name: [row[name] for row in rows] for name in RESULT_COLUMNS})
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


def _read_csv(path: Path) -> tuple[list[dict], list[str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise input_error(
            path.name, f"byte {error.start} is not UTF-8", "Use the file as the run wrote it"
        ) from error
    if not text.endswith("\n"):
        what = "the file ends in the middle of a line" if text.strip() else "the file is empty"
        raise input_error(path.name, what, _AGAIN)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    problems = Problems()
    rows: list[dict] = []
    lines: list[str] = []
    try:
        header = next(reader)
        _check_columns(path, header)
        line = reader.line_num + 1
        for cells in reader:
            where = f"line {line}"
            line = reader.line_num + 1
            if len(cells) != len(header):
                problems.add(f"{path.name} {where}", f"{len(cells)} cells instead of {len(header)}", "")
                continue
            cell = dict(zip(header, cells, strict=True))
            found = {}
            for name in RESULT_COLUMNS:
                place = f"{path.name} {where}, column {name}"
                found[name] = _parse(name, cell.get(name, ""), place, problems)
            rows.append(found)
            lines.append(where)
    except csv.Error as error:
        raise input_error(f"{path.name} line {reader.line_num}", str(error), _AGAIN) from error
    problems.raise_if_any()
    return rows, lines


def _check_columns(path: Path, header: Sequence[str]) -> None:
    if path.suffix in (".yml", ".yaml"):
        hint = f"`soundcheck run {path.name} --plan` says what is wrong with it and what a run would do"
        raise input_error(path.name, "this is a suite, and results are expected", hint)
    missing = [name for name in RESULT_COLUMNS if name not in (*header, *_NEWER)]
    twice = sorted({name for name in header if header.count(name) > 1})
    if missing or twice:
        what = (
            f"columns are missing: {', '.join(missing)}" if missing else f"columns twice: {', '.join(twice)}"
        )
        raise input_error(path.name, what, "Give a results table that `soundcheck run` wrote")


def _parse(name: str, cell: str, where: str, problems: Problems) -> object:
    """Turn a cell into a plain value; notes a problem and gives ``None`` if it cannot be."""
    if name in TEXTS:
        return unescaped(cell)
    if name in TRUTHS:
        if cell not in ("True", "False", ""):
            problems.add(where, f"{quoted(cell)} is not a valid verdict", "Allowed: True, False, empty")
        return {"True": True, "False": False}.get(cell)
    if cell == "" and name in NUMBERS:
        return None
    try:
        number = int(cell) if name in COUNTS else float(cell)
    except ValueError:
        problems.add(where, f"{quoted(cell)} is not a number", _AGAIN)
        return 0 if name in COUNTS else None
    if not math.isfinite(number):
        problems.add(where, f"{quoted(cell)} is not a finite number", _AGAIN)
        return None
    return number


def unescaped(cell: str) -> str:
    """Take away the apostrophe that keeps a spreadsheet from running a text."""
    return cell[1:] if cell[:1] == "'" and spreadsheet(cell[1:]) == cell else cell


def _read_parquet(path: Path) -> tuple[list[dict], list[str]]:
    try:
        table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise input_error(path.name, f"this is not a whole Parquet file ({error})", _AGAIN) from error
    _check_columns(path, table.column_names)
    for name in _NEWER:
        if name not in table.column_names:
            empty = "" if name in TEXTS else None
            table = table.append_column(name, pyarrow.array([empty] * len(table), arrow_type(name)))
    for name in RESULT_COLUMNS:
        held = table.schema.field(name).type
        if held != arrow_type(name) and not (name in TEXTS and pyarrow.types.is_large_string(held)):
            raise input_error(
                path.name,
                f"column {name} holds {held}, not {arrow_type(name)}",
                "Give a results table that `soundcheck run` wrote",
            )
    if absent := [name for name in (*TEXTS, *COUNTS) if table[name].null_count]:
        raise input_error(path.name, f"values are missing in {', '.join(absent)}", _AGAIN)
    rows = table.select(RESULT_COLUMNS).to_pylist()
    return rows, [f"row {number}" for number in range(1, len(rows) + 1)]


def _contradictions(row: dict) -> Iterator[tuple[str, str]]:
    """Say what is wrong in a row of plain values: column and what."""
    for name in ("model", "corpus", "family", "task", "test"):
        if not row[name]:
            yield name, "the cell is empty"
    for name, allowed in _ALLOWED.items():
        if row[name] not in (*allowed, ""):
            yield name, f"{quoted(row[name])} is none of {', '.join(allowed)}"
    for name in COUNTS:
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
