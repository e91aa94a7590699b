"""Trials whose segments are known: what is compared with what, in memory and as a file."""

from __future__ import annotations

import dataclasses
import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from soundcheck.common import files
from soundcheck.corpora.raw_table import Excluded
from soundcheck.corpora.segments import segment_name

LISTED = "list"  # origin of trials that a corpus brings
_METADATA = b"soundcheck"
_TYPES = {
    **dict.fromkeys(("key", "enrol", "test"), pa.string()),
    **{"target": pa.bool_(), "enrolment": pa.int64(), "segment": pa.int64()},
    **dict.fromkeys(("enrol_speaker", "test_speaker"), pa.string()),
}


@dataclasses.dataclass(frozen=True, eq=False)
class TrialTable:
    """Trials whose segments are known."""

    # RangeIndex, one row a trial. Columns: ``key`` (number in the list, counted from 0 with what is left out,
    # as text; unique), ``enrol``, ``test`` (names as written), ``target`` (bool), ``enrolment`` (int64; its
    # number), ``segment`` (int64; row of the test side in the segment table), ``enrol_speaker``,
    # ``test_speaker`` (text). Text is of dtype object.
    frame: pd.DataFrame
    members: np.ndarray  # rows of the segment table that enrolments are made of, int64 ``(M,)``
    # number of the enrolment of each, ascending from 0 without gap, int64 ``(M,)``; each is in a trial
    member_of: np.ndarray
    origin: str  # ``"list"`` or ``"generated"``
    notices: tuple[str, ...] = ()  # what a reader of results must know
    left_out: tuple[Excluded, ...] = ()  # trials that are not evaluated, summed up by reason
    listed: int = 0  # how many trials the list has, with those that are left out

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def numbers(self) -> np.ndarray:
        """Number of each trial in the list, int64 ``(T,)``."""
        return self.frame["key"].to_numpy().astype(np.int64)


def of_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Order the columns of a frame of trials, and make their text that of objects."""
    texts = [name for name, kind in _TYPES.items() if kind == pa.string()]
    return frame[[*_TYPES]].astype(dict.fromkeys(texts, object))


def segment_names(segments: pd.DataFrame, rows: np.ndarray) -> dict[int, str]:
    """Name rows of a segment table: the file, with times if it has any."""
    table = segments[["file", "start", "end"]].iloc[rows]
    return {row: segment_name(*cells) for row, cells in zip(rows.tolist(), table.to_numpy(), strict=True)}


def write_table(path: str | os.PathLike, table: TrialTable) -> str:
    """Write trials as Parquet; the same trials give the same bytes.

    The rows of an enrolment stand in the column ``members`` of its first trial, a list that is empty in all
    others; everything else about the table is in the file's metadata.
    """
    members = np.split(table.members, np.flatnonzero(np.diff(table.member_of)) + 1)
    enrolments = table.frame["enrolment"]
    lists = [
        [] if again else members[number]
        for number, again in zip(enrolments, enrolments.duplicated(), strict=True)
    ]
    about = {
        "origin": table.origin,
        "listed": table.listed,
        "notices": table.notices,
        "left_out": [dataclasses.astuple(item) for item in table.left_out],
    }
    frame = table.frame.assign(members=pd.Series(lists, index=table.frame.index, dtype=object))
    types = _TYPES | {"members": pa.list_(pa.int64())}
    columns = {name: pa.array(frame[name], types.get(name)) for name in frame}
    plain = pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(about)})
    sink = pa.BufferOutputStream()
    pq.write_table(plain, sink, compression="zstd")
    return files.write_bytes(path, sink.getvalue().to_pybytes())


def read_table(path: str | os.PathLike) -> TrialTable:
    """Read what :func:`write_table` wrote."""
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[_METADATA])
    frame = table.replace_schema_metadata().to_pandas()
    members = frame.pop("members")
    frame = frame.astype(dict.fromkeys(frame.select_dtypes("str"), object))
    of_enrolment = members[members.map(len) > 0].groupby(frame["enrolment"]).first()
    return TrialTable(
        frame,
        np.concatenate([np.zeros(0, np.int64), *of_enrolment]),
        np.repeat(of_enrolment.index.to_numpy(np.int64), of_enrolment.map(len)),
        about["origin"],
        tuple(about["notices"]),
        tuple(Excluded(*item) for item in about["left_out"]),
        about["listed"],
    )
