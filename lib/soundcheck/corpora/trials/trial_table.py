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
from soundcheck.corpora.segments import Excluded, segment_name

LISTED = "list"  # origin of trials that a corpus brings
_TEXTS = ("key", "enrol", "test", "enrol_speaker", "test_speaker")
_METADATA = b"soundcheck"


@dataclasses.dataclass(frozen=True, eq=False)
class TrialTable:
    """Trials whose segments are known.

    Raises ValueError: if an enrolment has no members or no trial, or numbers have gaps.
    """

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

    def __post_init__(self) -> None:
        used = np.unique(self.frame["enrolment"])
        numbers, first = np.unique(self.member_of, return_index=True)
        if not (
            np.array_equal(used, np.arange(len(used)))
            and np.array_equal(used, numbers)
            and np.all(np.diff(first) > 0)
            and len(self.members) == len(self.member_of)
        ):
            raise ValueError("Enrolments are numbered from 0, each with members and trials.")

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def numbers(self) -> np.ndarray:
        """Number of each trial in the list, int64 ``(T,)``."""
        return self.frame["key"].to_numpy().astype(np.int64)


def segment_names(segments: pd.DataFrame, rows: np.ndarray) -> dict[int, str]:
    """Name rows of a segment table: the file, with times if it has any."""
    table = segments[["file", "start", "end"]].iloc[rows]
    timed = table[["start", "end"]].notna().any(axis=1).tolist()
    cells = zip(rows.tolist(), table.itertuples(index=False), timed, strict=True)
    return {row: segment_name(*own) if times else own.file for row, own, times in cells}


def write_table(path: str | os.PathLike, table: TrialTable) -> str:
    """Write trials as Parquet; the same trials give the same bytes.

    The rows of an enrolment stand in the column ``members`` of its first trial, a list that is empty in all
    others; everything else about the table is in the file's metadata.
    """
    frame = table.frame
    enrolments, first = np.unique(frame["enrolment"].to_numpy(), return_index=True)
    sizes = np.bincount(table.member_of, minlength=len(enrolments))
    lengths = np.zeros(len(frame) + 1, dtype=np.int32)
    lengths[first + 1] = sizes
    order = np.argsort(first[table.member_of], kind="stable")
    columns = {
        name: pa.array(frame[name].tolist(), pa.string()) if name in _TEXTS else pa.array(frame[name])
        for name in frame.columns
    }
    columns["members"] = pa.ListArray.from_arrays(np.cumsum(lengths, dtype=np.int32), table.members[order])
    about = {
        "origin": table.origin,
        "listed": table.listed,
        "notices": table.notices,
        "left_out": [dataclasses.astuple(item) for item in table.left_out],
    }
    plain = pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(about)})
    sink = pa.BufferOutputStream()
    pq.write_table(plain, sink, compression="zstd")
    return files.write_bytes(path, sink.getvalue().to_pybytes())


def read_table(path: str | os.PathLike) -> TrialTable:
    """Read what :func:`write_table` wrote."""
    table = pq.read_table(path).combine_chunks()
    about = json.loads(table.schema.metadata[_METADATA])
    frame = pd.DataFrame(
        {
            name: pd.Series(table.column(name).to_pylist(), dtype=object)
            if name in _TEXTS
            else table.column(name).to_numpy()
            for name in table.column_names
            if name != "members"
        }
    )
    members = table.column("members").combine_chunks()
    member_of = np.repeat(frame["enrolment"].to_numpy(), members.value_lengths().to_numpy())
    order = np.argsort(member_of, kind="stable")
    return TrialTable(
        frame,
        members.flatten().to_numpy()[order],
        member_of[order],
        about["origin"],
        tuple(about["notices"]),
        tuple(Excluded(*item) for item in about["left_out"]),
        about["listed"],
    )
