"""Columns of the tables of a run and their types: those of the fields of the dataclass of their rows.

In a row a missing number or truth is ``None`` and a missing text empty. In a data frame a missing number is
NaN, in a CSV an empty cell.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck.common.escaping import spreadsheet
from soundcheck.metrics.additive import round_significant

Schema = Mapping[str, str]  # column -> "str", "int", "float" or "bool"
_DTYPES = {"str": "str", "int": "int64", "float": "float64", "bool": "object"}


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


def plain(column: pd.Series, kind: str) -> list:
    """Give plain Python values, texts with lone surrogates escaped, which cannot be written."""
    if kind == "str":
        return [text.encode("utf-8", "backslashreplace").decode() for text in column.fillna("")]
    python = {"int": int, "float": float, "bool": bool}[kind]
    known = column.notna()
    return [python(value) if there else None for value, there in zip(column, known, strict=True)]


def csv_text(columns: Mapping[str, Sequence], schema: Schema) -> str:
    """Write a CSV of plain values; a text that a spreadsheet would run gets an apostrophe."""
    cells = []
    for name, kind in schema.items():
        if kind == "str":
            made = {text: _quoted(spreadsheet(text)) for text in set(columns[name])}
            cells.append([made[text] for text in columns[name]])
        else:
            cells.append(["" if value is None else repr(value) for value in columns[name]])
    return "".join(",".join(row) + "\n" for row in [list(schema), *zip(*cells, strict=True)])


def frame_csv(frame: pd.DataFrame, schema: Schema) -> bytes:
    """Write the CSV of a table."""
    return csv_text({name: plain(frame[name], kind) for name, kind in schema.items()}, schema).encode()


def _quoted(text: str) -> str:
    # csv.writer leaves a lone carriage return unquoted, and then no reader takes the file.
    return '"' + text.replace('"', '""') + '"' if re.search('[",\r\n]', text) else text


def unescaped(cell: str) -> str:
    """Take away the apostrophe that keeps a spreadsheet from running a text."""
    return cell[1:] if cell[:1] == "'" and spreadsheet(cell[1:]) == cell else cell


def parsed(cell: str, kind: str) -> object:
    """Read a cell of a CSV; a ``ValueError`` says what is wrong."""
    if kind == "str":
        return unescaped(cell)
    if not cell and kind != "int":
        return None
    if kind == "bool":
        if cell not in ("True", "False"):
            raise ValueError("is not a valid verdict")
        return cell == "True"
    try:
        number = int(cell) if kind == "int" else float(cell)
    except ValueError as error:
        raise ValueError("is not a number") from error
    if not np.isfinite(number):
        raise ValueError("is not a finite number")
    return number
