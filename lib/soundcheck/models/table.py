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
import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck import files
from soundcheck.errors import Problems, did_you_mean, refuse
from soundcheck.escaping import quoted
from soundcheck.models.base import CLASS_LIMIT, LookUpModel
from soundcheck.tasks import Task
from soundcheck.text_table import TextTable, parse_number, parse_seconds, read_text_table

if TYPE_CHECKING:
    from soundcheck.corpora.segments import Corpus
    from soundcheck.suite import ModelEntry, Suite

SAME_SECONDS = 0.001  # times that differ by less are the same
_MISSING = ("", "nan", "NaN")


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
        cells = read_text_table(path, shown)
        problems = Problems()
        tasks = [suite.tasks[name] for name in entry.tasks]
        for name in ("file", *entry.tasks):
            if name not in cells.columns:
                where = f"{cells.header}, column {name}"
                problems.add(where, "the column is missing", did_you_mean(name, cells.columns))
        problems.raise_if_any()
        answers = {
            task.name: _numbers(cells, task, problems) if task.is_regression else _classes(cells, task)
            for task in tasks
        }
        rows = _place(cells, problems)
        problems.raise_if_any()
        return cls(entry.name, shown, files.digest(Path(path)), tasks, rows, answers)

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


# Cells ------------------------------------------------------------------------------------------------------


def _numbers(cells: TextTable, task: Task, problems: Problems) -> np.ndarray:
    """Read the answers of a regression task; a missing one is NaN."""

    def read(text: str) -> float:
        if text in _MISSING:
            return math.nan
        return parse_number(text)

    remedy = f"Give a number from {task.low:g} to {task.high:g} with a point, or leave the cell empty"
    return np.array(_column(cells, task.name, read, remedy, problems), dtype=np.float64)


def _classes(cells: TextTable, task: Task) -> np.ndarray:
    """Read the answers of a classification task as they are written; a missing one is ``None``."""
    values = np.full(len(cells.places), None, dtype=object)
    for position, text in enumerate(cells.columns[task.name]):
        if text.strip():
            values[position] = text.strip()[:CLASS_LIMIT]
    return values


def _seconds(text: str) -> float:
    return math.nan if text in _MISSING else parse_seconds(text)


def _column(
    cells: TextTable,
    name: str,
    read: Callable[[str], float],
    remedy: str,
    problems: Problems,
) -> list[float]:
    values = []
    for row, text in enumerate(cells.columns[name]):
        try:
            values.append(read(text.strip()))
        except ValueError as error:
            problems.add(cells.where(row, name), str(error), remedy)
            values.append(math.nan)
    return values


def _place(cells: TextTable, problems: Problems) -> dict[tuple[str, str], list[_Row]]:
    """Sort the rows under their files and refuse what is there twice."""
    count = len(cells.places)
    times = {}
    for name in ("start", "end"):
        times[name] = [math.nan] * count
        if name in cells.columns:
            times[name] = _column(cells, name, _seconds, "Give seconds, or H:MM:SS", problems)
    corpora = cells.columns.get("corpus", [""] * count)
    rows: dict[tuple[str, str], list[_Row]] = {}
    for number, (corpus, file) in enumerate(zip(corpora, cells.columns["file"], strict=True)):
        if not file:
            problems.add(cells.where(number, "file"), "the cell is empty")
        row = _Row(times["start"][number], times["end"][number], number)
        rows.setdefault((corpus.strip(), file), []).append(row)
    for (_, file), same in rows.items():
        same.sort(key=lambda row: (_zero(row.start), row.end if row.end == row.end else math.inf, row.number))
        for one, other in zip(same, same[1:], strict=False):
            if _same_time(_zero(one.start), _zero(other.start)) and _same_time(one.end, other.end):
                first, second = sorted(cells.places[row.number] for row in (one, other))
                problems.add(
                    f"{cells.shown} {cells.unit}s {first} and {second}",
                    f"the segment {quoted(file)} is there twice",
                    "Keep one of the rows",
                )
    return rows


def _same_time(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= SAME_SECONDS
