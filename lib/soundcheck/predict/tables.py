"""The prediction table of one model and one corpus: what notebooks read.

Conventions
-----------
- Columns: ``key`` of the segment; ``change``, empty for the signal as it is; one column a task; ``error``,
  why an answer is missing, else empty; ``drawn``, the options that were drawn for the change, as JSON, with
  ``"unchanged": true`` if it left the signal as it was, sample by sample. Where
  the model says something of its answers, one float64 column for each, such as ``emotion.anger`` or
  ``confidence``, or of words a text; see :mod:`soundcheck.models.answers`.
- Regression: float64 in the task's nominal range, not clipped; missing = NaN. Classes: text; missing = None.
  Embeddings: lists of float32; missing = None.
- A model of scores has a row a trial instead: its number as ``key``, and the column ``score``.
- Rows: in the order of the segment table, for each segment clean first, then the changes in their order.
- The same answers give the same bytes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from soundcheck.common import files
from soundcheck.common.tasks import EMBEDDING, REGRESSION, Task
from soundcheck.models.answers import NOT_ASKED, stated_names, unpack, word_names

_ABOUT_ROWS = {"key", "change", "error", "drawn"}  # all other columns are answers
_TRANSCRIPT = "transcript"
_BY_OTHER = pa.scalar(f"{NOT_ASKED}: the other model has no answer")
_encode = json.JSONEncoder(sort_keys=True).encode  # json.dumps would make one for each row
_TYPES = {REGRESSION: pa.float64(), EMBEDDING: pa.list_(pa.float32())}


@dataclasses.dataclass(frozen=True)
class Columns:
    """The rows of a table, column by column."""

    key: Sequence[str]
    change: Sequence[str]
    error: Sequence[str]
    # task -> one value a row: float64 for regression, else objects; NaN or ``None`` where there is no answer.
    # What the model says of its answers by name, float64, NaN where it says nothing; of words texts.
    answers: dict[str, np.ndarray]
    drawn: Sequence[str] = ()  # one text a row, or none if nothing was drawn

    def __len__(self) -> int:
        return len(self.key)


def answer_columns(
    answers: Sequence[Mapping[str, float | str]], tasks: Sequence[Task], stated: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """Turn the answers of rows, empty where there is none, into columns; ``stated``: what they state."""
    texts = word_names(tasks)
    numeric = {task.name: task.is_regression for task in tasks} | {name: name not in texts for name in stated}
    return {
        name: np.array([answer.get(name) for answer in answers], np.float64 if number else object)
        for name, number in numeric.items()
    }


def drawn_text(drawn: Mapping[str, Any]) -> str:
    """Write what was drawn for a change; empty if that is nothing."""
    return _encode(drawn) if drawn else ""


def write_predictions(path: Path, columns: Columns, tasks: Sequence[Task]) -> str:
    """Write a prediction table; gives the digest of the file."""
    texts = {"key": columns.key, "change": columns.change}
    arrays = {name: pa.array(map(_text, cells), pa.string()) for name, cells in texts.items()}
    for task in tasks:
        values = columns.answers[task.name]
        if task.is_embedding:
            values = [None if value is None else unpack(value) for value in values]
        arrays[task.name] = pa.array(values, _TYPES.get(task.kind, pa.string()), from_pandas=True)
    arrays["error"] = pa.array(map(_text, columns.error), pa.string())
    arrays["drawn"] = pa.array(columns.drawn or [""] * len(columns), pa.string())
    for name in stated_names(tasks):
        if name in columns.answers:
            kind = pa.string() if name in word_names(tasks) else pa.float64()
            arrays[name] = pa.array(columns.answers[name], kind, from_pandas=True)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays), sink, compression="zstd")
    return files.write_bytes(path, sink.getvalue().to_pybytes())


def column_names(path: Path) -> list[str]:
    """Name the columns of a prediction table without reading it."""
    return pq.read_schema(path).names


def failed(predictions: pd.DataFrame) -> pd.Series:
    """Say which inputs a model was asked about in vain, bool, one a row."""
    return predictions["error"].ne("") & ~predictions["error"].str.startswith(NOT_ASKED)


def read_predictions(path: Path) -> pd.DataFrame:
    """Read a prediction table.

    Returns columns as in the conventions of this module; text columns are of dtype object, embeddings float32
    arrays.
    """
    table = pq.read_table(path)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return pd.DataFrame({name: pd.Series(cells, dtype=cells.dtype) for name, cells in columns.items()})


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def reduced(
    first: Path, second: Path, counted: tuple[bool, bool] = (True, True)
) -> tuple[pa.Table, set[str]]:
    """Take those answers out of a prediction table that another model did not give.

    Answers under changes that the other model was not asked about stay. Also gives the names of the columns
    that lost answers. ``counted`` says of both models whether inputs without an answer count as errors.
    """
    table, partner = pq.read_table(first), pq.read_table(second)
    shared = {*table.column_names} & {*partner.column_names} - _ABOUT_ROWS
    absent = {name: _absent(partner, name, counted[1]) for name in shared}
    lost: set[str] = set()
    if any(missing.any() for missing in absent.values()):
        keys = [model.select(["key", "change"]).to_pandas() for model in (table, partner)]
        rows, known = map(pd.MultiIndex.from_frame, keys)
        place = known.get_indexer(rows)  # -1, the last one, where the partner has no such row
        with_change = rows.isin(known.unique("change"), level="change")
        for name, missing in absent.items():
            taken = with_change & np.append(missing, True)[place]
            if (taken & ~_absent(table, name, counted[0])).any():
                lost.add(name)
                column = table.column(name).take(pa.array(np.arange(len(table)), mask=taken))
                table = table.set_column(table.column_names.index(name), name, column)
                if name == _TRANSCRIPT:  # else what has no answer would count as an error here
                    silent = pc.and_(pa.array(taken), pc.not_equal(table.column("error"), ""))
                    error = pc.if_else(silent, _BY_OTHER, table.column("error"))
                    table = table.set_column(table.column_names.index("error"), "error", error)
    return table, lost


def differ(first: Path, second: Path, counted: tuple[bool, bool] = (True, True)) -> bool:
    """Whether two models answered for different segments, or in ways that have no answer in common."""
    shared = {*pq.read_schema(first).names} & {*pq.read_schema(second).names} - _ABOUT_ROWS
    return (
        not shared
        or bool(reduced(first, second, counted)[1])
        or bool(reduced(second, first, counted[::-1])[1])
    )


def _absent(table: pa.Table, name: str, counted: bool) -> np.ndarray:
    absent = pc.is_null(table.column(name), nan_is_null=True)
    if counted and name == _TRANSCRIPT:
        error = table.column("error")
        absent = pc.and_(absent, pc.or_(pc.equal(error, ""), pc.starts_with(error, NOT_ASKED)))
    return absent.to_numpy()
