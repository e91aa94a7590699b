"""A model whose answers already exist: ``predictions: file.csv`` or ``.parquet``, or a file of transcripts.

The table has a column ``file``, optionally ``start`` and ``end`` (seconds or ``H:MM:SS``), optionally
``corpus``, and one column for each task, in the task's nominal range. Rows may stand in any order. The
content tells what a file is: a CSV text in UTF-8 or Parquet; nothing else is opened, above all no pickle.
Transcripts alone may also come as ``.trn`` or as Kaldi's ``text``, see :mod:`soundcheck.models.transcripts`;
tables that a run wrote may be given back, see :mod:`soundcheck.models.run_tables`.

Conventions
-----------
- Everything is read as text and taken as written; lines count from 1, the header is line 1.
- An empty cell or ``nan`` is a missing answer. A segment without an answer is listed, a row without a
  segment counted, a segment answered twice refused.
- Transcripts differ: an empty cell says that nothing was recognised, ``nan`` is a word. Where the model gave
  no answer, there is no row.
- An embedding is a cell of numbers with blanks or commas between them; a Parquet table may have lists. One of
  another length than most is refused.
- A table cannot answer for changed signals, unless a run wrote it and asked about them.
- Numbers are in the task's nominal range, or on the scale that the suite gives with ``range:``.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import TextTable, parse_number, parse_seconds, parse_text_table
from soundcheck.models import run_tables
from soundcheck.models.answer_scale import check_scale
from soundcheck.models.base import CLASS_LIMIT, TEXT_LIMIT, LookUpModel, check_output
from soundcheck.models.transcripts import TRN, read_transcripts, transcript_format
from soundcheck.suite.groups import numbers_of
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

SAME_SECONDS = 0.001  # times that differ by less are the same
_MISSING = ("", "nan", "NaN")


class Index(Protocol):
    """Tells which of the answers of a file belongs to a segment.

    Attributes
    ----------
    noun
        What messages call the place of an answer, such as ``"row"``.
    """

    noun: str

    def __len__(self) -> int:
        """Count the answers."""

    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the number of each segment's answer: int64 ``(segments,)``, -1 = none."""

    def find_everywhere(self, corpora: Sequence[Corpus]) -> list[np.ndarray]:
        """Do the same for all corpora, and refuse what cannot belong to several."""

    def misfit(self, file: str) -> InputError:
        """Make the error if nothing fits the corpora; ``file`` is one of theirs."""


class TableModel(LookUpModel):
    """Answers from a file.

    Parameters
    ----------
    name
        Name in the suite.
    shown
        Name of the file, for messages.
    fingerprint
        Digest of the file's content and format.
    tasks
        What it answers.
    index
        Which answer belongs to which segment.
    answers
        Task -> one value for each number of the index: float64 (NaN = none) or object (``None`` = none).
    changed
        Change -> which answer belongs to which segment under this change.
    errors
        Number of the index -> why there is no answer, where the table says so.
    """

    keyword = "predictions"
    changes_audio = False

    def __init__(
        self,
        name: str,
        shown: str,
        fingerprint: str,
        tasks: Sequence[Task],
        index: Index,
        answers: dict[str, np.ndarray],
        changed: Mapping[str, Index] | None = None,
        errors: Mapping[int, str] | None = None,
    ) -> None:
        self.name = name
        self.tasks = tuple(task.name for task in tasks)
        self._shown = shown
        self._fingerprint = fingerprint
        self._tasks = tuple(tasks)
        self._index = index
        self._answers = answers
        self._changed = dict(changed or {})
        self._errors = dict(errors or {})
        self.changes_audio = bool(self._changed)

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Find the file, or the folder of tables that a run wrote."""
        place, what, remedy = find_place(suite_file, target, folder=True)
        if place is not None and run_tables.tables_in(place):
            return place, what, remedy
        return find_place(suite_file, target, folder=False)

    @classmethod
    def known_changes(cls, path: Path | None) -> frozenset[str]:
        """Name the changes that a table of a run has answers for."""
        return run_tables.changes_in(path) if path is not None else frozenset()

    @property
    def fingerprint(self) -> str:
        """Digest of the file's content and format and of the tasks."""
        return files.digest(repr((self._fingerprint, self._tasks)))

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> TableModel:
        """Read and check the file.

        Raises
        ------
        InputError
            If it is no table, lacks a column, holds text instead of numbers or a segment twice; if it is a
            file of transcripts and cannot be read as such, or the model has other tasks.
        """
        shown = entry.target
        path = Path(entry.path if entry.path is not None else suite.root / entry.target)
        tasks = [suite.tasks[name] for name in entry.tasks]
        bounds = {task.name: entry.range_of(task) for task in tasks if task.is_regression}
        if run_tables.tables_in(path):
            cells = run_tables.read_folder(path, shown)
            digests = [(place.name, files.digest(place)) for place in run_tables.tables_in(path)]
            return cls(
                entry.name, shown, files.digest(repr(digests)), tasks, *_read_table(cells, tasks, bounds)
            )
        files.require_regular(path, shown)
        content = path.read_bytes()
        form = transcript_format(path.name, content)
        if not form:
            cells = parse_text_table(content, shown)
            return cls(entry.name, shown, files.digest(content), tasks, *_read_table(cells, tasks, bounds))
        others = ", ".join(task.name for task in tasks if not task.is_transcription)
        if others:
            why = "its name ends in .trn" if form == TRN else "its first line has no column file"
            what = f"{shown} holds transcripts only ({why}), but the model has the tasks {others}"
            where = f"{suite.file.name}, models.{entry.name}.tasks"
            raise input_error(
                where, what, "Give their answers in a CSV table with the column file and one a task"
            )
        utterances = read_transcripts(content, shown, form)
        answers = {task.name: np.array(utterances.texts, dtype=object) for task in tasks}
        fingerprint = files.digest(f"{form} {files.digest(content)}")
        return cls(entry.name, shown, fingerprint, tasks, utterances, answers)

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Read the file and make sure that it has to do with the corpora, and of its scale."""
        model = cls.load(entry, suite)
        model.notices(corpora)
        for task in model._tasks:
            if task.is_regression:
                given = model._answers[task.name]
                which = f"{np.isfinite(given).sum()} answers in {model._shown}"
                check_scale(given, task, entry, suite, which)
        return model.fingerprint

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus.

        Raises
        ------
        ValueError
            If asked about changed signals that it has no answers for.
        InputError
            If several segments of a file are meant, but the table gives no times; if an id is ambiguous.
        """
        if change and change not in self._changed:
            raise ValueError("a table of predictions cannot answer for changed signals")
        found = (self._changed[change] if change else self._index).find(corpus)
        problems = ["" if number >= 0 else f"no {self._index.noun} in {self._shown}" for number in found]
        answers = {}
        for task in self._tasks:
            empty = np.nan if task.is_regression else None
            dtype = np.float64 if task.is_regression else object
            values = np.full(len(found), empty, dtype=dtype)
            values[found >= 0] = self._answers[task.name][found[found >= 0]]
            answers[task.name] = values
            for position in np.flatnonzero(found >= 0):
                if found[position] in self._errors:
                    values[position], problems[position] = empty, self._errors[found[position]]
                    continue
                problem = self._problem(values[position], task)
                if problem:
                    values[position] = empty
                    problems[position] = "; ".join(filter(None, (problems[position], problem)))
        return answers, problems

    def _problem(self, value: float | str | None, task: Task) -> str:
        """Say why a value is no answer; empty if it is one."""
        if value is None or value != value:
            return f"{self._shown} has no value for {task.name}"
        if task.is_transcription and len(value) > TEXT_LIMIT:
            what = f"{self._shown} has a text of {len(value)} characters for {task.name}"
            return f"{what}; at most {TEXT_LIMIT} are a transcript"
        return ""

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Compare the file with all corpora of a suite.

        Returns
        -------
        list of str
            What is worth telling: rows or utterances that belong to no segment.

        Raises
        ------
        InputError
            If none belongs to any segment; shows one name of each side. If it is ambiguous what they mean.
        """
        used = np.zeros(len(self._index), dtype=bool)
        for index in (self._index, *self._changed.values()):
            for found in index.find_everywhere(corpora):
                used[found[found >= 0]] = True
        segments = [str(file) for corpus in corpora for file in corpus.segments["file"][:1]]
        if not used.any() and segments and len(used):
            raise self._index.misfit(segments[0])
        extra = int((~used).sum())
        noun = f"{self._index.noun} belongs" if extra == 1 else f"{self._index.noun}s belong"
        told = [f"{extra} {noun} to no segment of the corpora"] if extra else []
        if self._changed:
            told.append(f"answers for changed signals are those of the run that wrote {self._shown}")
        return told


# Rows -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Row:
    """Where a row belongs: times in seconds, NaN = not given."""

    start: float
    end: float
    number: int


@dataclasses.dataclass(frozen=True)
class _Rows:
    """The rows of a table by file and time.

    Parameters
    ----------
    shown
        How messages call the table.
    count
        How many rows there are.
    rows
        ``(corpus or "", file)`` -> its rows, sorted by start.
    """

    shown: str
    count: int
    rows: dict[tuple[str, str], list[_Row]]

    noun = "row"

    def __len__(self) -> int:
        return self.count

    def find(self, corpus: Corpus) -> np.ndarray:
        """Find the row of each segment, -1 if there is none."""
        segments = corpus.segments
        found = np.full(len(segments), -1, dtype=np.int64)
        columns = [segments[name].tolist() for name in ("file", "start", "end")]
        columns.append(numbers_of(segments, "duration").tolist())
        several = segments["file"].duplicated(keep=False).tolist()
        for position, (file, start, end, duration) in enumerate(zip(*columns, strict=True)):
            names = (corpus.name, files.slug(corpus.name), "")
            rows = next(filter(None, (self.rows.get((name, file)) for name in names)), [])
            if len(rows) == 1 and math.isnan(rows[0].start) and math.isnan(rows[0].end) and several[position]:
                raise input_error(
                    f"{self.shown}, file {quoted(file)}",
                    "the corpus has several segments of this file, the table gives no times",
                    "Add the columns start and end, in seconds",
                )
            found[position] = _match(rows, start, end, duration)
        return found

    def find_everywhere(self, corpora: Sequence[Corpus]) -> list[np.ndarray]:
        """Find the rows for all corpora; one without corpus may belong to segments of several."""
        return [self.find(corpus) for corpus in corpora]

    def misfit(self, file: str) -> InputError:
        """Make the error if no row fits the corpora; ``file`` is one of theirs."""
        theirs = next(iter(self.rows))[1]
        return input_error(
            f"{self.shown}, column file",
            f"no row belongs to a segment: the table has {quoted(theirs)}, the corpus {quoted(file)}",
            "Write the names as in the corpus, relative to its folder; start and end in seconds",
        )


def _match(rows: list[_Row], start: float, end: float, duration: float) -> int:
    """Find the row with the times of a segment, -1 if there is none; rows without times fit any."""
    if len(rows) == 1 and math.isnan(rows[0].start) and math.isnan(rows[0].end):
        return rows[0].number
    begin = 0.0 if math.isnan(start) else start
    first = bisect.bisect_left(rows, begin - SAME_SECONDS, key=lambda row: _zero(row.start))
    best, distance = -1, math.inf
    for place in range(first, len(rows)):  # a slice would copy all that follow, for each segment
        row = rows[place]
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


def _read_table(
    cells: TextTable, tasks: Sequence[Task], bounds: Mapping[str, tuple[float, float]]
) -> tuple[_Rows, dict[str, np.ndarray], dict[str, _Rows], dict[int, str]]:
    """Read which rows a table has, and the answers in them; of a run also those under changes, and errors.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    of_run = run_tables.is_of_run(cells)
    if of_run:
        cells = run_tables.with_places(cells)
    problems = Problems()
    for name in ("file", *(task.name for task in tasks)):
        if name not in cells.columns:
            where = f"{cells.header}, column {name}"
            problems.add(where, "the column is missing", did_you_mean(name, cells.columns))
    problems.raise_if_any()
    answers = {task.name: _answers(cells, task, bounds, problems) for task in tasks}
    rows: dict[str, list[int]] = {"": []}
    for number, change in enumerate(cells.columns["change"] if of_run else [""] * len(cells)):
        rows.setdefault(change, []).append(number)
    times = _times(cells, problems)
    indices = {
        change: _Rows(cells.shown, len(cells), _place(cells, own, times, problems))
        for change, own in rows.items()
    }
    problems.raise_if_any()
    told = cells.columns.get("error", ()) if of_run else ()
    errors = {number: error for number, error in enumerate(told) if error}
    return indices.pop(""), answers, indices, errors


def _answers(
    cells: TextTable, task: Task, bounds: Mapping[str, tuple[float, float]], problems: Problems
) -> np.ndarray:
    """Read the answers of a task."""
    if task.is_regression:
        return _numbers(cells, task, bounds[task.name], problems)
    if task.is_transcription:  # as they are written; an empty one is an answer, too
        return np.array([text.strip() for text in cells.columns[task.name]], dtype=object)
    if task.is_embedding:
        return _embeddings(cells, task, problems)
    return _classes(cells, task)


def _embeddings(cells: TextTable, task: Task, problems: Problems) -> np.ndarray:
    """Read embeddings, numbers with blanks or commas between them, as packed text; missing = ``None``."""
    remedy = "Write the numbers with blanks between them, as many in each row, such as 0.1 -0.2 0.3"
    values = np.full(len(cells), None, dtype=object)
    lengths: dict[int, int] = {}
    for row, text in enumerate(cells.columns[task.name]):
        words = text.strip().strip("[]").replace(",", " ").split()
        if not words:
            continue
        try:
            vector = np.array([parse_number(word) for word in words])
        except ValueError as error:
            problems.add(cells.where(row, task.name), str(error), remedy)
            continue
        answer, problem = check_output({task.name: vector}, [task])
        if problem:
            problems.add(cells.where(row, task.name), problem, remedy)
        else:
            values[row], lengths[row] = answer[task.name], len(vector)
    counts = Counter(lengths.values())
    usual = max(counts, key=lambda length: (counts[length], length), default=0)
    for row, length in lengths.items():
        if length != usual:
            what = f"the embedding has {length} numbers, most have {usual}"
            problems.add(cells.where(row, task.name), what, remedy)
    return values


def _numbers(cells: TextTable, task: Task, bounds: tuple[float, float], problems: Problems) -> np.ndarray:
    """Read the answers of a regression task; a missing one is NaN."""

    def read(text: str) -> float:
        if text in _MISSING:
            return math.nan
        return parse_number(text)

    low, high = bounds
    remedy = f"Give a number from {low:g} to {high:g} with a point, or leave the cell empty"
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


def _times(cells: TextTable, problems: Problems) -> dict[str, list[float]]:
    """Read start and end of each row in seconds, NaN = not given."""
    times = {}
    for name in ("start", "end"):
        times[name] = [math.nan] * len(cells)
        if name in cells.columns:
            times[name] = _column(cells, name, _seconds, "Give seconds, or H:MM:SS", problems)
    return times


def _place(
    cells: TextTable, numbers: Iterable[int], times: Mapping[str, Sequence[float]], problems: Problems
) -> dict[tuple[str, str], list[_Row]]:
    """Sort some rows under their files and refuse duplicates."""
    corpora = cells.columns.get("corpus", [""] * len(cells))
    rows: dict[tuple[str, str], list[_Row]] = {}
    for number in numbers:
        corpus, file = corpora[number], cells.columns["file"][number]
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
                    f"the segment {quoted(file)} is a duplicate",
                    "Keep one of the rows",
                )
    return rows


def _same_time(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= SAME_SECONDS
