"""The tables of a run: results and estimates as data frames, and written and read as CSV and Parquet.

Columns and types are the fields of the dataclass of the rows. In a row a missing number or truth is ``None``
and a missing text empty. In a data frame a missing number is NaN, in a CSV an empty cell. Reading is strict:
nothing that was cut, edited or contradicts itself gets through.

- The columns of estimates before ``value`` identify a row, but for ``family``, which names the family that
  computed it.
- ``part`` is ``all`` or a group (``sex: female``), ``condition`` empty for clean signals, a change with its
  level, ``chance``, or ``common with NAME``.
- ``low, high`` are the 95 % interval for new speakers, ``low_sample, high_sample`` that for these speakers;
  ``excluded`` says why there is no value or no interval.
- Differences are in the results, before and after in the comparisons.
"""

import csv
import dataclasses
import io
import math
import operator
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.common.messages import Problems, input_error, quoted, spreadsheet
from soundcheck.common.text_table import csv_table, decode_text
from soundcheck.metrics.additive import round_significant
from soundcheck.results.rows import EVIDENCE, KEY, UNJUDGED, Estimate, Verdict
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED, STATES
from soundcheck.statistics.evidence import CLEAR_PASS
from soundcheck.statistics.rules import GAP_RULES, RULES, passes

Schema = Mapping[str, str]  # column -> "str", "int", "float" or "bool"
_PYTHON = {"str": str, "int": int, "float": float, "bool": bool}
_DTYPES = {"str": "str", "int": "int64", "float": "float64", "bool": "object"}
_ARROW = {"str": "string", "int": "int64", "float": "float64", "bool": "bool"}
AGAIN = "Run the suite again"
_NAMED = 19  # missing columns that a message names


def schema_of(row: type) -> dict[str, str]:
    """Give the columns of rows of a dataclass, whose annotations are texts."""
    return {field.name: str(field.type).removesuffix(" | None") for field in dataclasses.fields(row)}


def columns_of(schema: Schema, *kinds: str) -> list[str]:
    """Give the columns of some types."""
    return [name for name, kind in schema.items() if kind in kinds]


def frame_of(schema: Schema, columns: Mapping[str, Sequence]) -> pd.DataFrame:
    """Make a table of plain values; truths stay ``True``, ``False`` and ``None``."""
    return pd.DataFrame(  # of arrays: indices of series would be compared with each other
        {name: pd.Series(list(columns[name]), dtype=_DTYPES[kind]).array for name, kind in schema.items()}
    )


def frame_of_rows(schema: Schema, rows: Iterable[object]) -> pd.DataFrame:
    """Make a table of rows of a dataclass."""
    rows = list(rows)
    return frame_of(schema, {name: [getattr(row, name) for row in rows] for name in schema})


def rounded(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Round its numbers to the digits above float noise."""
    numbers = columns_of(schema, "float")
    return frame.assign(**{name: round_significant(frame[name].to_numpy()) for name in numbers})


def plain(frame: pd.DataFrame, schema: Schema) -> dict[str, list]:
    """Give columns of Python values, texts with lone surrogates escaped, which cannot be written."""
    columns: dict[str, list] = {}
    for name, kind in schema.items():
        if kind == "str":
            texts = frame[name].fillna("")
            columns[name] = [text.encode("utf-8", "backslashreplace").decode() for text in texts]
        else:
            cells = zip(frame[name], frame[name].notna(), strict=True)
            columns[name] = [_PYTHON[kind](value) if known else None for value, known in cells]
    return columns


def csv_text(columns: Mapping[str, Sequence], schema: Schema) -> str:
    """Write a CSV of plain values; a text that a spreadsheet would run gets an apostrophe."""
    cells, lines = [], []
    for name, kind in schema.items():
        safe = {text: spreadsheet(text) for text in set(columns[name])} if kind == "str" else {}
        cells.append([safe.get(value, value) for value in columns[name]])
    # Its lines end in \r\n, so that it quotes a lone carriage return: without, no reader takes the file.
    writer = csv.writer(SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n"))))
    writer.writerows([list(schema), *zip(*cells, strict=True)])
    return "".join(f"{line}\n" for line in lines)


def frame_csv(frame: pd.DataFrame, schema: Schema) -> bytes:
    """Write the CSV of a table."""
    return csv_text(plain(frame, schema), schema).encode()


def write_table(frame: pd.DataFrame, schema: Schema, path: Path) -> str:
    """Write a CSV, whose digest it gives, and beside it a Parquet file, which keeps the true texts."""
    columns, parquet = plain(frame, schema), io.BytesIO()
    types = pyarrow.schema([(name, pyarrow.type_for_alias(_ARROW[kind])) for name, kind in schema.items()])
    table = pyarrow.Table.from_pydict(columns, schema=types)
    pyarrow.parquet.write_table(table, parquet, write_page_checksum=True)
    files.write_bytes(path.with_suffix(".parquet"), parquet.getvalue())
    return files.write_text(path, csv_text(columns, schema))


def read_parquet(path: str | os.PathLike, schema: Schema) -> pd.DataFrame:
    """Read the Parquet file that :func:`write_table` wrote."""
    return frame_of(schema, pyarrow.parquet.ParquetFile(path).read().to_pydict())


def parsed(cell: str, kind: str) -> object:
    """Read a cell of a CSV; a ``ValueError`` says what is wrong."""
    if kind == "str":  # an apostrophe keeps a spreadsheet from running a text
        return cell[1:] if cell[:1] == "'" and spreadsheet(cell[1:]) == cell else cell
    if not cell and kind != "int":
        return None
    if kind == "bool":
        if cell not in ("True", "False"):
            raise ValueError("is not a valid verdict")
        return cell == "True"
    try:
        number = _PYTHON[kind](cell)
    except ValueError as error:
        raise ValueError("is not a number") from error
    if not math.isfinite(number):
        raise ValueError("is not a finite number")
    return number


def read_csv(path: Path, schema: Schema, newer: Collection[str] = ()) -> pd.DataFrame:
    """Read a table that a run wrote, by lines of the file; refused if it was cut or edited.

    Columns of ``newer`` may be missing, as in tables of older versions; their cells count as empty.
    """
    if path.suffix in (".yml", ".yaml"):
        hint = f"`soundcheck run {path.name} --plan` says what is wrong with it and what a run would do"
        raise input_error(path.name, "this is a suite, and results are expected", hint)
    text = decode_text(files.require_regular(path, path.name).read_bytes(), path.name)
    if not text.strip():
        raise input_error(path.name, "the file is empty", AGAIN)
    if not text.endswith("\n"):
        raise input_error(path.name, "the file ends in the middle of a line", AGAIN)
    table, problems = csv_table(text, path.name, remedy=AGAIN, least=0), Problems()
    if missing := [name for name in schema if name not in newer and name not in table.columns]:
        remedy = "Give a results table that `soundcheck run` wrote in this version, or run the suite again"
        raise input_error(path.name, f"columns are missing: {', '.join(missing[:_NAMED])}", remedy)
    columns = {}
    for name, kind in schema.items():
        columns[name] = []
        for row, cell in enumerate(table.columns.get(name, [""] * len(table))):
            try:
                columns[name].append(parsed(cell, kind))
            except ValueError as error:
                problems.add(table.where(row, name), f"{quoted(cell)} {error}", AGAIN)
    problems.raise_if_any()
    return frame_of(schema, columns).set_axis(table.places)


# Results

RESULTS = schema_of(Verdict)
RESULT_COLUMNS = list(RESULTS)
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
    for verdict, other in zip(verdicts, verdicts[1:], strict=False):
        if key_of(verdict) == key_of(other):
            raise ValueError(f"Two verdicts for {' / '.join(filter(None, key_of(verdict)))}.")
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
        for line, cell in frame.loc[rows, column].items() if rows.any() else ():
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
        yield name, "is not between 0 and 1", (frame[name] < 0) | (frame[name] > 1)
    for low in _LOWER_ENDS:
        high = low.replace("low", "high")
        lowest, highest = frame[low].to_numpy(), frame[high].to_numpy()
        wrong = (lowest > highest) | (pd.isna(lowest) != pd.isna(highest))
        yield low, f"is above {high}, or one of them is missing", pd.Series(wrong, frame.index)
    of_gap = frame["rule"].isin(GAP_RULES)  # a reference has no gap
    numbers = {"passed": frame["gap"].where(of_gap, frame["value"]), "reference_passed": frame["reference"]}
    for name, number in numbers.items():
        checked = frame[name].notna() & ((name == "passed") | ~of_gap)
        known = checked & number.notna() & frame["threshold"].notna() & frame["rule"].isin(_ALLOWED["rule"])
        cells = frame.assign(number=number).loc[known, ["rule", "number", "threshold"]]
        again = pd.Series([passes(*row) for row in cells.itertuples(index=False)], cells.index, dtype=object)
        wrong = checked & frame[name].ne(again.reindex(frame.index))
        yield name, "contradicts its number, rule or threshold", wrong
    without = frame["passed"].isna() & frame["skipped"].eq("")
    yield "passed", "and neither a verdict nor, in column skipped, a reason", without


# Estimates

ESTIMATES = schema_of(Estimate)
COLUMNS = list(ESTIMATES)
_ESTIMATED = ("model", "corpus", "task", "measure", "label", "part", "condition")  # what it is a value of
_estimated_of = operator.attrgetter(*_ESTIMATED)
_numbers_of = operator.attrgetter(*columns_of(ESTIMATES, "float", "int"))


def collected(rows: Iterable[Estimate]) -> list[Estimate]:
    """Keep one row of each value; where two families measure otherwise, the later one says so in its name.

    Of two families one may need more segments than the other for an interval: the row that has it is kept.
    """
    rows_by_key: dict[tuple[str, ...], Estimate] = {}
    for row in rows:
        known = rows_by_key.setdefault(_estimated_of(row), row)
        both = list(zip(_numbers_of(known), _numbers_of(row), strict=True))
        if any(old != new for old, new in both if None not in (old, new)):
            row = dataclasses.replace(row, measure=f"{row.measure} ({row.family})")
            rows_by_key[_estimated_of(row)] = row
        elif sum(old is None for old, _ in both) > sum(new is None for _, new in both):
            rows_by_key[_estimated_of(row)] = row
    return list(rows_by_key.values())


def estimate_frame(rows: Iterable[Estimate]) -> pd.DataFrame:
    """Make the table: texts as ``str``, numbers as float64 with NaN for missing, counts as int64."""
    return rounded(frame_of_rows(ESTIMATES, rows), ESTIMATES)


def write_estimates(frame: pd.DataFrame, folder: str | os.PathLike) -> None:
    """Write ``estimates.csv`` and ``estimates.parquet``, sorted by what is estimated."""
    frame = frame.sort_values(list(_ESTIMATED), kind="stable")
    write_table(frame, ESTIMATES, Path(folder) / "estimates.csv")


def read_estimates(folder: str | os.PathLike) -> pd.DataFrame:
    """Read the estimates of an output folder; without any row if the run is of a version that wrote none."""
    path = Path(folder) / "estimates.parquet"
    return read_parquet(path, ESTIMATES) if path.is_file() else estimate_frame([])
