"""Tables of a run: columns and types are the fields of the dataclass of their rows; written and read here.

In a row a missing number or truth is ``None`` and a missing text empty. In a data frame a missing number is
NaN, in a CSV an empty cell.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.common.errors import Problems, input_error
from soundcheck.common.escaping import quoted, spreadsheet
from soundcheck.metrics.additive import round_significant

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
    return pd.DataFrame(
        {name: pd.Series(list(columns[name]), dtype=_DTYPES[kind]) for name, kind in schema.items()}
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
    try:
        text = files.require_regular(path, path.name).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not UTF-8"
        raise input_error(path.name, what, "Use the file as the run wrote it") from error
    if not text.endswith("\n"):
        what = "the file ends in the middle of a line" if text.strip() else "the file is empty"
        raise input_error(path.name, what, AGAIN)
    reader, problems = csv.reader(io.StringIO(text, newline=""), strict=True), Problems()
    lines, columns = [], {name: [] for name in schema}
    try:
        header = next(reader)
        _check_columns(path, header, [name for name in schema if name not in newer])
        line = reader.line_num + 1
        for cells in reader:
            lines.append(line)
            where, line = f"{path.name} line {line}", reader.line_num + 1
            if len(cells) != len(header):
                problems.add(where, f"{len(cells)} cells instead of {len(header)}", AGAIN)
                continue
            row = dict(zip(header, cells, strict=True))
            for name, kind in schema.items():
                try:
                    columns[name].append(parsed(row.get(name, ""), kind))
                except ValueError as error:
                    problems.add(f"{where}, column {name}", f"{quoted(row[name])} {error}", AGAIN)
    except csv.Error as error:
        raise input_error(f"{path.name} line {reader.line_num}", str(error), AGAIN) from error
    problems.raise_if_any()
    return frame_of(schema, columns).set_axis(lines)


def _check_columns(path: Path, header: Sequence[str], needed: Iterable[str]) -> None:
    remedy = "Give a results table that `soundcheck run` wrote"
    if path.suffix in (".yml", ".yaml"):
        hint = f"`soundcheck run {path.name} --plan` says what is wrong with it and what a run would do"
        raise input_error(path.name, "this is a suite, and results are expected", hint)
    if missing := [name for name in needed if name not in header]:
        of_before = " in this version, or run the suite again" if len(missing) < len(header) else ""
        named = ", ".join(missing[:_NAMED])
        raise input_error(path.name, f"columns are missing: {named}", f"{remedy}{of_before}")
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise input_error(path.name, f"columns twice: {', '.join(twice)}", remedy)
