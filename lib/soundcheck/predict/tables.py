"""The prediction table of one model and one corpus: what notebooks read.

Conventions
-----------
- Columns: ``key`` of the segment; ``change``, empty for the signal as it is; one column a task; ``error``,
  why there is no answer, else empty; ``drawn``, the options that were drawn for the change, as JSON.
- Regression: float64 in the task's nominal range, not clipped; missing = NaN. Classes: text; missing = None.
  Embeddings: lists of float32; missing = None.
- A model of scores has a row a trial instead: its number as ``key``, and the column ``score``.
- Rows: in the order of the segment table, for each segment clean first, then the changes in their order.
- The same answers give the same bytes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from soundcheck.common import files
from soundcheck.common.tasks import EMBEDDING, REGRESSION, Task
from soundcheck.models.packing import unpack

_TYPES = {REGRESSION: pa.float64(), EMBEDDING: pa.list_(pa.float32())}


@dataclasses.dataclass
class Row:
    """One row: answer empty if there is an error."""

    key: str
    change: str
    answer: dict[str, float | str]
    error: str = ""
    drawn: dict[str, Any] = dataclasses.field(default_factory=dict)


def write_predictions(path: Path, rows: Sequence[Row], tasks: Sequence[Task]) -> str:
    """Write a prediction table.

    Returns
    -------
    str
        Digest of the file.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    fields = {"key": pa.string(), "change": pa.string()}
    fields |= {task.name: _TYPES.get(task.kind, pa.string()) for task in tasks}
    fields |= {"error": pa.string(), "drawn": pa.string()}
    columns = {
        "key": [_text(row.key) for row in rows],
        "change": [_text(row.change) for row in rows],
        "error": [_text(row.error) for row in rows],
        "drawn": [json.dumps(row.drawn, sort_keys=True) if row.drawn else "" for row in rows],
    }
    for task in tasks:
        values = [row.answer.get(task.name) for row in rows]
        if task.is_embedding:
            values = [None if value is None else unpack(value) for value in values]
        columns[task.name] = values
    schema = pa.schema(list(fields.items()))
    table = pa.table([pa.array(columns[name], fields[name]) for name in fields], schema=schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return files.write_bytes(path, sink.getvalue().to_pybytes())


def read_predictions(path: Path) -> pd.DataFrame:
    """Read a prediction table.

    Returns
    -------
    pandas.DataFrame
        Columns as in the conventions of this module; text columns are of dtype object, embeddings float32
        arrays.
    """
    table = pq.read_table(path)
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_floating(column.type):
            columns[name] = pd.Series(column.to_numpy())
        elif pa.types.is_list(column.type):
            columns[name] = pd.Series(_vectors(column.combine_chunks()), dtype=object)
        else:
            columns[name] = pd.Series(column.to_pylist(), dtype=object)
    return pd.DataFrame(columns)


def _vectors(column: pa.ListArray) -> np.ndarray:
    """Cut the numbers of a column of lists into one array a row, ``None`` where there is none."""
    numbers, offsets = column.values.to_numpy(zero_copy_only=False), column.offsets.to_numpy()
    found = np.empty(len(column), dtype=object)
    for row in np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)):
        found[row] = numbers[offsets[row] : offsets[row + 1]]
    return found


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
