"""A model whose answers already exist: ``predictions: file.csv`` or ``.parquet``.

The table has a column ``file``, optionally ``start`` and ``end`` (seconds or ``H:MM:SS``), optionally
``corpus``, and one column for each task, in the task's nominal range. Rows may stand in any order. The
content tells what a file is: a CSV text in UTF-8 or Parquet; nothing else is opened, above all no pickle.

Conventions
-----------
- Everything is read as text and taken as written; lines count from 1, the header is line 1.
- An empty cell or ``nan`` is a missing answer. A segment without an answer is listed, a row without a
  segment counted, a segment answered twice refused.
- A table cannot answer for changed signals.
"""

from __future__ import annotations

import bisect
import csv
import dataclasses
import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck import files
from soundcheck.errors import Problems, did_you_mean, refuse
from soundcheck.escaping import quoted
from soundcheck.models.base import CLASS_LIMIT, LookUpModel
from soundcheck.tasks import Task

if TYPE_CHECKING:
    import pyarrow as pa

    from soundcheck.corpora.segments import Corpus
    from soundcheck.suite import ModelEntry, Suite

SAME_SECONDS = 0.001  # times that differ by less are the same
_MISSING = ("", "nan", "NaN")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_CLOCK = re.compile(r"(?:(\d+) days?,? )?(\d+):([0-5]?\d):([0-5]?\d(?:\.\d+)?)")
_FOREIGN = {  # first bytes -> what the file is
    b"\x80": "a Python pickle, which is never opened",
    b"PK": "a zip archive (perhaps a spreadsheet)",
    b"\x93NUMPY": "a NumPy array",
    b"\x1f\x8b": "a gzip archive",
    b"\x89HDF": "an HDF5 file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


@dataclasses.dataclass(frozen=True)
class _Cells:
    """The cells of a table as text, with the place of each row for messages."""

    columns: dict[str, Sequence[str]]
    places: Sequence[int]
    unit: str  # "line" or "row"


@dataclasses.dataclass(frozen=True)
class _Row:
    """Where a row belongs: times in seconds, NaN = not given."""

    start: float
    end: float
    number: int


class TableModel(LookUpModel):
    """Answers from a table.

    Parameters
    ----------
    name
        Name in the suite.
    shown
        Name of the file, for messages.
    fingerprint
        Digest of the file's content.
    tasks
        What it answers.
    rows
        ``(corpus or "", file)`` -> its rows, sorted by start.
    answers
        Task -> one value a row: float64 (NaN = none) or object (``None`` = none).
    """

    changes_audio = False

    def __init__(
        self,
        name: str,
        shown: str,
        fingerprint: str,
        tasks: Sequence[Task],
        rows: dict[tuple[str, str], list[_Row]],
        answers: dict[str, np.ndarray],
    ) -> None:
        self.name = name
        self.tasks = tuple(task.name for task in tasks)
        self._shown = shown
        self._fingerprint = fingerprint
        self._tasks = tuple(tasks)
        self._rows = rows
        self._answers = answers

    @property
    def fingerprint(self) -> str:
        """Digest of the file's content and of the tasks."""
        return files.digest(repr((self._fingerprint, self._tasks)))

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> TableModel:
        """Read and check the table.

        Raises
        ------
        InputError
            If it is no table, lacks a column, holds text instead of numbers or a segment twice.
        """
        shown = entry.target
        path = entry.path if entry.path is not None else suite.root / entry.target
        files.require_regular(path, shown)
        content = Path(path).read_bytes()
        cells = _read(content, shown)
        problems = Problems()
        tasks = [suite.tasks[name] for name in entry.tasks]
        for name in ("file", *entry.tasks):
            if name not in cells.columns:
                where = f"{shown} line 1" if cells.unit == "line" else shown
                problems.add(
                    f"{where}, column {name}", "the column is missing", did_you_mean(name, cells.columns)
                )
        problems.raise_if_any()
        answers = {
            task.name: _numbers(cells, task, shown, problems) if task.is_regression else _classes(cells, task)
            for task in tasks
        }
        rows = _place(cells, shown, problems)
        problems.raise_if_any()
        return cls(entry.name, shown, files.digest(content), tasks, rows, answers)

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Read the table and make sure that it has to do with the corpora."""
        model = cls.load(entry, suite)
        model.notices(corpora)
        return model.fingerprint

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus.

        Raises
        ------
        ValueError
            If asked about changed signals.
        InputError
            If several segments of a file are meant, but the table gives no times.
        """
        if change:
            raise ValueError("a table of predictions cannot answer for changed signals")
        found = self._find(corpus)
        problems = ["" if row >= 0 else f"no row in {self._shown}" for row in found]
        answers = {}
        for task in self._tasks:
            empty = np.nan if task.is_regression else None
            dtype = np.float64 if task.is_regression else object
            values = np.full(len(found), empty, dtype=dtype)
            values[found >= 0] = self._answers[task.name][found[found >= 0]]
            answers[task.name] = values
            for position in np.flatnonzero(found >= 0):
                value = values[position]
                if value is None or value != value:
                    what = f"{self._shown} has no value for {task.name}"
                    problems[position] = "; ".join(filter(None, (problems[position], what)))
        return answers, problems

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Compare the table with all corpora of a suite.

        Returns
        -------
        list of str
            What is worth telling: rows that belong to no segment.

        Raises
        ------
        InputError
            If no row belongs to any segment; shows one name of each side.
        """
        used = np.zeros(self._count(), dtype=bool)
        for corpus in corpora:
            found = self._find(corpus)
            used[found[found >= 0]] = True
        segments = [str(file) for corpus in corpora for file in corpus.segments["file"][:1]]
        if not used.any() and segments and len(used):
            theirs, ours = next(iter(self._rows))[1], segments[0]
            raise refuse(
                f"{self._shown}, column file",
                f"no row belongs to a segment: the table has {quoted(theirs)}, the corpus {quoted(ours)}",
                "Write the names as in the corpus, relative to its folder; start and end in seconds",
            )
        extra = int((~used).sum())
        noun = "row belongs" if extra == 1 else "rows belong"
        return [f"{extra} {noun} to no segment of the corpora"] if extra else []

    def _count(self) -> int:
        return len(next(iter(self._answers.values())))

    def _find(self, corpus: Corpus) -> np.ndarray:
        """Find the row of each segment, -1 if there is none."""
        segments = corpus.segments
        found = np.full(len(segments), -1, dtype=np.int64)
        columns = (segments[name].tolist() for name in ("file", "start", "end", "duration"))
        several = segments["file"].duplicated(keep=False).tolist()
        for position, (file, start, end, duration) in enumerate(zip(*columns, strict=True)):
            rows = self._rows.get((corpus.name, file)) or self._rows.get(("", file)) or []
            if len(rows) == 1 and math.isnan(rows[0].start) and math.isnan(rows[0].end) and several[position]:
                raise refuse(
                    f"{self._shown}, file {quoted(file)}",
                    "the corpus has several segments of this file, the table gives no times",
                    "Add the columns start and end, in seconds",
                )
            found[position] = _match(rows, start, end, duration)
        return found


def _match(rows: list[_Row], start: float, end: float, duration: float) -> int:
    """Find the row with the times of a segment, -1 if there is none; rows without times fit any."""
    if len(rows) == 1 and math.isnan(rows[0].start) and math.isnan(rows[0].end):
        return rows[0].number
    begin = 0.0 if math.isnan(start) else start
    first = bisect.bisect_left(rows, begin - SAME_SECONDS, key=lambda row: _zero(row.start))
    best, distance = -1, math.inf
    for row in rows[first:]:
        if _zero(row.start) > begin + SAME_SECONDS:
            break
        if math.isnan(row.end):
            away = 0.0 if math.isnan(end) else math.inf
        else:
            away = abs(row.end - (begin + duration if math.isnan(end) else end))
        if away <= SAME_SECONDS and away < distance:
            best, distance = row.number, away
    return best


def _zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


# Reading ----------------------------------------------------------------------------------------------------


def _read(content: bytes, shown: str) -> _Cells:
    if content[:4] == b"PAR1":
        return _read_parquet(content, shown)
    if not content.strip():
        raise refuse(shown, "the file is empty", "Give a CSV or Parquet table")
    for start, what in _FOREIGN.items():
        if content.startswith(start):
            raise refuse(shown, f"this is {what}", "Give a CSV text in UTF-8 or a Parquet table")
    return _read_csv(content, shown)


def _read_csv(content: bytes, shown: str) -> _Cells:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} is not UTF-8 text"
        raise refuse(f"{shown} line {line}", what, "Save the table as CSV in UTF-8") from error
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise refuse(f"{shown} line {line}", "there is a NUL character, this is no text", "Give a CSV table")
    problems = Problems()
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    rows, places = [], []
    line = 1
    try:
        for row in reader:
            if not header:
                header = [cell.strip() for cell in row]
            elif row:
                if len(row) != len(header):
                    what = f"the row has {len(row)} cells, the header {len(header)}"
                    problems.add(f"{shown} line {line}", what, "Correct the row")
                rows.append(row)
                places.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        what = f"the row that begins here is no CSV ({error})"
        raise refuse(f"{shown} line {line}", what, "Check its quotes") from error
    for name in sorted({name for name in header if header.count(name) > 1}):
        problems.add(f"{shown} line 1", f"two columns are called {quoted(name)}", "Keep one of them")
    if "file" not in header and any(mark in header[0] for mark in ";\t") and len(header) == 1:
        mark = "semicolons" if ";" in header[0] else "tabs"
        problems.add(f"{shown} line 1", f"the cells are separated by {mark}", "Save it with commas")
    problems.raise_if_any()
    if not rows:
        raise refuse(shown, "the table has no rows", "Give one row a segment")
    columns = {name: [row[position] for row in rows] for position, name in enumerate(header)}
    return _Cells(columns, places, "line")


def _read_parquet(content: bytes, shown: str) -> _Cells:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"the file is no readable Parquet table ({str(error).splitlines()[0][:100]})"
        raise refuse(shown, what, "Write it again") from error
    columns: dict[str, Sequence[str]] = {}
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise refuse(shown, f"two columns are called {quoted(name)}", "Keep one of them")
        columns[name] = _texts(table.column(name))
    return _Cells(columns, range(1, table.num_rows + 1), "row")


def _texts(column: pa.ChunkedArray) -> list[str]:
    """Write the values of a column as the text that a CSV file would hold."""
    import pyarrow as pa

    if pa.types.is_duration(column.type):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
        ticks = column.cast(pa.int64()).to_pylist()
        return ["" if tick is None else repr(tick / per_second) for tick in ticks]
    return ["" if value is None else str(value) for value in column.to_pylist()]


# Cells ------------------------------------------------------------------------------------------------------


def _numbers(cells: _Cells, task: Task, shown: str, problems: Problems) -> np.ndarray:
    """Read the answers of a regression task; a missing one is NaN."""

    def read(text: str) -> float:
        if text in _MISSING:
            return math.nan
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"{quoted(text)} is not a number")
        if not math.isfinite(number := float(text)):
            raise ValueError(f"{quoted(text)} is not a finite number")
        return number

    remedy = f"Give a number from {task.low:g} to {task.high:g} with a point, or leave the cell empty"
    return np.array(_column(cells, task.name, read, remedy, shown, problems), dtype=np.float64)


def _classes(cells: _Cells, task: Task) -> np.ndarray:
    """Read the answers of a classification task as they are written; a missing one is ``None``."""
    values = np.full(len(cells.places), None, dtype=object)
    for position, text in enumerate(cells.columns[task.name]):
        if text.strip():
            values[position] = text.strip()[:CLASS_LIMIT]
    return values


def _seconds(text: str) -> float:
    if text in ("", "NaT", *_MISSING):
        return math.nan
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = clock.groups(default="0")
        return int(days) * 86400.0 + int(hours) * 3600.0 + int(minutes) * 60.0 + float(seconds)
    if not _NUMBER.fullmatch(text) or not 0 <= float(text) < math.inf:
        raise ValueError(f"{quoted(text)} is not a time")
    return float(text)


def _column(
    cells: _Cells,
    name: str,
    read: Callable[[str], float],
    remedy: str,
    shown: str,
    problems: Problems,
) -> list[float]:
    values = []
    for place, text in zip(cells.places, cells.columns[name], strict=True):
        try:
            values.append(read(text.strip()))
        except ValueError as error:
            problems.add(f"{shown} {cells.unit} {place}, column {name}", str(error), remedy)
            values.append(math.nan)
    return values


def _place(cells: _Cells, shown: str, problems: Problems) -> dict[tuple[str, str], list[_Row]]:
    """Sort the rows under their files and refuse what is there twice."""
    count = len(cells.places)
    times = {}
    for name in ("start", "end"):
        times[name] = [math.nan] * count
        if name in cells.columns:
            times[name] = _column(cells, name, _seconds, "Give seconds, or H:MM:SS", shown, problems)
    corpora = cells.columns.get("corpus", [""] * count)
    rows: dict[tuple[str, str], list[_Row]] = {}
    for number, (corpus, file) in enumerate(zip(corpora, cells.columns["file"], strict=True)):
        if not file:
            problems.add(f"{shown} {cells.unit} {cells.places[number]}, column file", "the cell is empty")
        row = _Row(times["start"][number], times["end"][number], number)
        rows.setdefault((corpus.strip(), file), []).append(row)
    for (_, file), same in rows.items():
        same.sort(key=lambda row: (_zero(row.start), row.end if row.end == row.end else math.inf, row.number))
        for one, other in zip(same, same[1:], strict=False):
            if _same_time(_zero(one.start), _zero(other.start)) and _same_time(one.end, other.end):
                first, second = sorted(cells.places[row.number] for row in (one, other))
                problems.add(
                    f"{shown} {cells.unit}s {first} and {second}",
                    f"the segment {quoted(file)} is there twice",
                    "Keep one of the rows",
                )
    return rows


def _same_time(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= SAME_SECONDS
