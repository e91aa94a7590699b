"""The results table: as a data frame, ``results.csv`` and ``results.parquet``."""

from __future__ import annotations

import dataclasses
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

from soundcheck.common import files
from soundcheck.common.escaping import spreadsheet
from soundcheck.metrics.additive import round_significant
from soundcheck.results.verdict import COUNTS, KEY, NUMBERS, RESULT_COLUMNS, TEXTS, Verdict


def to_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Make the results table: columns :data:`RESULT_COLUMNS`, sorted by what was tested.

    Returns
    -------
    pandas.DataFrame
        Texts as ``str``, numbers as float64 with NaN for missing, counts as int64, ``passed`` and
        ``reference_passed`` as ``object`` of True, False and None.

    Raises
    ------
    ValueError
        If two rows say what they tested in the same words.
    """
    verdicts = sorted(verdicts, key=_key)
    for one, other in zip(verdicts, verdicts[1:], strict=False):
        if _key(one) == _key(other):
            raise ValueError(f"Two verdicts for {' / '.join(filter(None, _key(one)))}.")
    return frame_of(Verdict, verdicts)


def to_verdicts(frame: pd.DataFrame) -> dict[tuple[str, ...], Verdict]:
    """Make the verdicts of a results table again, by what was tested (:data:`KEY`)."""
    columns = [_plain(name, frame[name]) for name in RESULT_COLUMNS]
    verdicts = [Verdict(*cells) for cells in zip(*columns, strict=True)]
    return {_key(verdict): verdict for verdict in verdicts}


def _key(row: Verdict) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in KEY)


def typed(columns: dict[str, Sequence]) -> pd.DataFrame:
    """Make a table of plain values, ``None`` for missing; see :func:`to_frame` for its types."""
    return frame_with(types_of(Verdict), columns)


def types_of(kind: type) -> dict[str, str]:
    """Give the annotations of the fields of a dataclass of rows."""
    return {field.name: str(field.type) for field in dataclasses.fields(kind)}


def frame_of(kind: type, rows: Iterable[object]) -> pd.DataFrame:
    """Make a table of rows that are dataclasses, a column a field."""
    rows, types = list(rows), types_of(kind)
    return frame_with(types, {name: [getattr(row, name) for row in rows] for name in types})


def frame_with(types: Mapping[str, str], columns: Mapping[str, Sequence]) -> pd.DataFrame:
    """Make a table of columns with some annotations; missing numbers are NaN, all else missing ``None``."""
    found = {}
    for name, written in types.items():
        cells = list(columns[name])
        if written.startswith("float"):
            numbers = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
            found[name] = pd.Series(round_significant(numbers))
        else:
            found[name] = pd.Series(cells, dtype={"int": np.int64, "str": "str"}.get(written, object))
    return pd.DataFrame(found, columns=list(types))


def write_results(frame: pd.DataFrame, folder: str | os.PathLike) -> str:
    """Write ``results.csv`` and ``results.parquet``.

    The CSV is for people too: text that a spreadsheet would run gets an apostrophe. Parquet keeps the true
    text.

    Parameters
    ----------
    frame
        From :func:`to_frame`, or several of these one after the other.
    folder
        Where to.

    Returns
    -------
    str
        Digest of ``results.csv``.
    """
    frame = frame[RESULT_COLUMNS].sort_values(list(KEY), kind="stable", ignore_index=True)
    columns = {name: _plain(name, frame[name]) for name in RESULT_COLUMNS}
    cells = [_cells(name, column) for name, column in columns.items()]
    lines = [",".join(row) for row in [RESULT_COLUMNS, *zip(*cells, strict=True)]]
    schema = pyarrow.schema([(name, arrow_type(name)) for name in RESULT_COLUMNS])
    table = pyarrow.Table.from_pydict(columns, schema=schema)
    parquet = io.BytesIO()
    pyarrow.parquet.write_table(table, parquet, write_page_checksum=True)
    files.write_bytes(Path(folder) / "results.parquet", parquet.getvalue())
    return files.write_text(Path(folder) / "results.csv", "\n".join(lines) + "\n")


def arrow_type(name: str) -> pyarrow.DataType:
    """Give the type of a column in the Parquet file."""
    if name in TEXTS:
        return pyarrow.string()
    if name in COUNTS:
        return pyarrow.int64()
    return pyarrow.float64() if name in NUMBERS else pyarrow.bool_()


def _plain(name: str, column: pd.Series) -> list:
    """Give plain Python values, ``None`` for missing; a lone surrogate, which cannot be written, escaped."""
    there = column.notna().tolist()
    if name in TEXTS:
        texts = [str(value) if known else "" for value, known in zip(column, there, strict=True)]
        return [text.encode("utf-8", "backslashreplace").decode("utf-8") for text in texts]
    kind = int if name in COUNTS else float if name in NUMBERS else bool
    return [kind(value) if known else None for value, known in zip(column, there, strict=True)]


def _cells(name: str, column: list) -> list[str]:
    """Write the cells of a column of the CSV."""
    if name not in TEXTS:
        return ["" if value is None else repr(value) for value in column]
    made = {text: _quoted(spreadsheet(text)) for text in set(column)}
    return [made[text] for text in column]


def _quoted(text: str) -> str:
    # csv.writer leaves a lone carriage return unquoted, and then no reader takes the file.
    return '"' + text.replace('"', '""') + '"' if re.search('[",\r\n]', text) else text
