"""The cells of a table of predictions: values and times as numbers, classes and texts as they are written.

What the cells mean, and what an empty one is, stands in :mod:`soundcheck.models.tables.table`.

A run keeps the predictions of each model in one Parquet table a corpus (:mod:`soundcheck.predict.tables`);
such a table, or the folder of all tables of a model, may be given back like any other. Its column ``key``
names file and times of a segment, ``change`` what was done to the signal.

- In a folder, the name of a table is that of its corpus; a single table fits any corpus.
- A row with an ``error`` is a missing prediction, and its reason is kept.
- Predictions for changed signals belong to the changes of the same identity, with the random draws of the run
  that wrote them.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import (
    NUMBER,
    TextTable,
    parse_column,
    parse_number,
    parse_seconds,
    parse_text_table,
)
from soundcheck.models import answers
from soundcheck.models.answers import CLASS_LIMIT, check_output, read_words, words_problem
from soundcheck.models.tables.rows import FileAnswers, Rows, sort_rows

SUFFIX = ".parquet"
_MISSING = ("", "nan", "NaN")
_NOTHING = ("none", "null", "na", "<na>")  # beside nan, instead of a number of an embedding
_LEFT_EMPTY = "or leave all cells of this row and task empty"


def with_own_names(
    cells: TextTable, columns: Mapping[str, str], tasks: Sequence[Task], where: str
) -> TextTable:
    """Give columns of a table our names; ``columns``: ours -> theirs, as the suite says at ``where``."""
    problems = Problems()
    known = ["file", "start", "end", "corpus", *(task.name for task in tasks), *answers.stated_names(tasks)]
    for name, theirs in columns.items():
        if name not in known:
            problems.add(f"{where}.{name}", "the name of no column that is read", did_you_mean(name, known))
        elif theirs not in cells.columns:
            what = f"{cells.source} has no column {quoted(theirs)}"
            problems.add(f"{where}.{name}", what, did_you_mean(theirs, cells.columns))
    problems.raise_if_any()
    renamed = {*columns, *columns.values()}
    others = {name: column for name, column in cells.columns.items() if name not in renamed}
    renamed_columns = {name: cells.columns[theirs] for name, theirs in columns.items()}
    return dataclasses.replace(cells, columns=renamed_columns | others, headings=columns)


def read_table(
    table: TextTable, tasks: Sequence[Task], bounds: Mapping[str, tuple[float, float]]
) -> FileAnswers:
    """Read the rows of a table and the predictions in them; raises all problems of the table at once.

    ``bounds`` are the ends of the scale of each regression task, for messages.
    """
    of_run = is_of_run(table)
    cells = _Cells(with_places(table) if of_run else table)
    names = [task.name for task in tasks]
    cells.require("file", *names)
    answers, errors = {}, {}
    for task in tasks:
        answers[task.name], errors[task.name] = cells.answers(task, bounds.get(task.name))
    answers |= cells.stated(tasks)
    start, end = map(cells.times, ("start", "end"))
    columns = cells.table.columns
    changes = np.array(columns["change"] if of_run else [""] * len(table), dtype=object)
    rows = {}
    for change in dict.fromkeys(["", *changes]):
        numbers = np.flatnonzero(changes == change)
        frame = sort_rows(cells.table, numbers, start, end, cells.problems, names)

        def where(*numbers: int) -> str:
            return cells.table.where_all(numbers, "file")

        rows[change] = Rows(columns["file"], where, frame)
    cells.problems.raise_if_any()
    for reasons in errors.values() if of_run else ():
        reasons |= {number: error for number, error in enumerate(columns.get("error", ())) if error}
    return FileAnswers(rows, answers, errors, columns.get("drawn", ()) if of_run else ())


class _Cells:
    """A table that is read column by column; what is wrong is noted."""

    def __init__(self, table: TextTable) -> None:
        self.table, self.problems = table, Problems()

    def require(self, *names: str) -> None:
        columns = self.table.columns
        for name in names:
            if name not in columns:
                remedy = f"{did_you_mean(name, columns)}; `columns: {{{name}: ...}}` takes one of them"
                self.problems.add(f"{self.table.header}, column {name}", "the column is missing", remedy)
        self.problems.raise_if_any()

    def numbers(self, name: str, remedy: str, parse: Callable[[str], float] = parse_number) -> np.ndarray:
        """Read a column of numbers, NaN = missing."""
        values, wrong = parse_column(
            self.table.columns[name], lambda text: math.nan if text in _MISSING else parse(text)
        )
        for row, what in wrong:
            self.problems.add(self.table.where(row, name), what, remedy)
        return values

    def times(self, name: str) -> np.ndarray:
        """Read the start or end of each row in seconds, NaN = not given."""
        if name not in self.table.columns:
            return np.full(len(self.table), np.nan)
        return self.numbers(name, "Give seconds, or H:MM:SS", parse_seconds)

    def answers(self, task: Task, bounds: tuple[float, float] | None) -> tuple[np.ndarray, dict[int, str]]:
        """Read the predictions of a task, NaN or ``None`` = missing; and why those of some rows are none."""
        if task.is_regression:
            low, high = bounds
            remedy = f"Give a number from {low:g} to {high:g} with a point, or leave the cell empty"
            return self.numbers(task.name, remedy), {}
        if task.is_embedding:
            return self.embeddings(task)
        texts = [text.strip() for text in self.table.columns[task.name]]
        if not task.is_transcription:  # of that an empty one is a prediction, too
            texts = [text[:CLASS_LIMIT] or None for text in texts]
        return np.array(texts, dtype=object), {}

    def embeddings(self, task: Task) -> tuple[np.ndarray, dict[int, str]]:
        """Read embeddings, numbers with blanks or commas between them, as packed text."""
        values, errors = np.full(len(self.table), None, dtype=object), {}
        lengths: dict[int, int] = {}
        unreadable = 0
        for row, text in enumerate(self.table.columns[task.name]):
            words = text.strip().strip("[]").replace(",", " ").split()
            if not words:
                continue
            try:
                vector = np.array([_component(word) for word in words])
            except ValueError as error:
                errors[row] = f"{task.name}: {error}"
                unreadable += 1
                continue
            output, problem = check_output({task.name: vector}, [task])
            if problem:
                errors[row] = problem
            else:
                values[row], lengths[row] = output[task.name], len(vector)
        if errors and (unreadable > len(lengths) or not lengths):
            row, what = next(iter(errors.items()))
            what = f"{len(errors)} of {len(errors) + len(lengths)} rows have no embedding, the first: {what}"
            remedy = "Write the numbers with blanks between them, as many in each row, such as 0.1 -0.2 0.3"
            self.problems.add(self.table.where(row, task.name), what, remedy)
        counts = Counter(lengths.values())
        usual = max(counts, key=lambda length: (counts[length], length), default=0)
        for row, length in lengths.items():
            if length != usual:
                what = f"the embedding has {length} numbers, most have {usual}"
                self.problems.add(self.table.where(row, task.name), what, "Give the embeddings of one model")
        return values, errors

    def stated(self, tasks: Sequence[Task]) -> dict[str, np.ndarray]:
        """Read what the model says of its predictions, float64, NaN where it says nothing; of words texts."""
        self.check_names(tasks)
        columns, values = self.table.columns, {}
        for task in tasks:
            words = answers.word_names([task])
            values |= {name: self.words(name, task) for name in words if name in columns}
            others = (*words, answers.CONFIDENCE)
            names = [name for name in answers.stated_names([task]) if name not in others]
            present = [name for name in names if name in columns]
            if present and self.fit_together(task, names, present):
                # A class that has no column has no probability.
                numbers = self.probabilities_or_bounds(task, present)
                nothing = np.where(np.isnan(numbers).all(axis=0), np.nan, 0.0)
                values |= dict.fromkeys(names, nothing) | dict(zip(present, numbers, strict=True))
        name = answers.CONFIDENCE
        if name in columns and all(task.name != name for task in tasks):
            remedy = "Give a number from 0 to 1, leave the cell empty, or give the column another name"
            values[name] = self.numbers(name, remedy)
            beyond = np.flatnonzero((values[name] < 0) | (values[name] > 1)).tolist()
            self.note_first(
                name, [(row, answers.confidence_problem(values[name][row])) for row in beyond], remedy
            )
        return values

    def check_names(self, tasks: Sequence[Task]) -> None:
        """Refuse columns that are called nearly like those that may be there: nobody would miss them."""
        columns, known = self.table.columns, ["start", "end", "corpus", *answers.stated_names(tasks)]
        plain = {_plain(name): name for name in known}
        for name in columns:
            meant = plain.get(_plain(name))
            task = next((task for task in tasks if name.startswith(f"{task.name}.")), None)
            if name in known or meant in columns:
                continue
            where = f"{self.table.header}, column {name}"
            if meant is not None:
                remedy = f"Rename it to {meant} if that is what it means, else to anything else"
                what = f"it is called nearly like {quoted(meant)}, which would be read"
                self.problems.add(where, what, remedy)
            elif task is not None and not task.classes:  # those of classes are reported as unknown classes
                remedy = did_you_mean(name, answers.stated_names([task]))
                self.problems.add(where, f"this is nothing that can be said of {task.name}", remedy)

    def fit_together(self, task: Task, names: Sequence[str], present: Sequence[str]) -> bool:
        """Say whether all bounds are there, and only known classes; notes it if not."""
        if task.is_regression:
            for name in [name for name in names if name not in present]:
                what = f"the column is missing beside {present[0]}"
                self.problems.add(f"{self.table.header}, column {name}", what)
                return False
            return True
        prefix = f"{task.name}."
        classes = [name.removeprefix(prefix) for name in self.table.columns if name.startswith(prefix)]
        if problem := answers.unknown_class(classes, task):
            self.problems.add(self.table.header, problem)
        return not problem

    def probabilities_or_bounds(self, task: Task, names: Sequence[str]) -> np.ndarray:
        """Read columns of numbers that belong together, ``(columns, rows)``."""
        before = len(self.problems)
        values = np.array([self.numbers(name, f"Give a number, {_LEFT_EMPTY}") for name in names])
        filled = ~np.isnan(values)
        some = filled.any(axis=0)
        if len(self.problems) > before:
            return values
        if task.is_regression:
            remedy = f"Give the low and the high bound, {_LEFT_EMPTY}"
            half = some & ~filled.all(axis=0)
        else:
            remedy = f"Give a probability of each class, together 1 and not logits or per cent, {_LEFT_EMPTY}"
            values[:, some] = np.nan_to_num(values[:, some])
            half = np.zeros(len(some), dtype=bool)
        check = answers.probability_problem if task.classes else lambda ends: answers.bounds_problem(*ends)
        wrong = []
        for row in np.flatnonzero(some).tolist():
            what = "one bound without the other" if half[row] else check(values[:, row].tolist())
            if what:
                wrong.append((row, f"{task.name} has {what}"))
        self.note_first(names[0], wrong, remedy)
        return values

    def note_first(self, name: str, wrong: Sequence[tuple[int, str]], remedy: str) -> None:
        """Note what is wrong in the first of some rows, and how many there are."""
        for row, what in wrong[:1]:
            more = f"; so or alike in {len(wrong)} rows" if len(wrong) > 1 else ""
            self.problems.add(self.table.where(row, name), what + more, remedy)

    def words(self, name: str, task: Task) -> np.ndarray:
        """Read the confidences of words, as they are written; ``None`` where nothing is said."""
        values = np.full(len(self.table), None, dtype=object)
        for row, text in enumerate(self.table.columns[name]):
            try:
                words = read_words("" if text in _MISSING else text)
                what = words_problem(words, self.table.columns[task.name][row]) if words else ""
                values[row] = text if words else None
            except ValueError as error:
                what = str(error)
            if what:
                remedy = (
                    'Write such as [["turn", 0.9], ["left", 0.4]], leave the cell empty, or rename the column'
                )
                self.problems.add(self.table.where(row, name), what, remedy)
        return values


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _component(text: str) -> float:
    """Read a number of an embedding, which may be nan or infinite."""
    if NUMBER.fullmatch(text):
        return float(text)
    try:
        return float("nan" if text.lower() in _NOTHING else text.replace("_", "x"))
    except ValueError:
        return parse_number(text)  # which says what is wrong


# Tables that a run wrote ------------------------------------------------------------------------------------


def tables_in(path: Path) -> list[Path]:
    """List the tables of a folder; empty if it is no folder or holds none."""
    return sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else []


def read_folder(path: Path, source: str) -> TextTable:
    """Read all tables of a folder as one, with a column ``corpus``."""
    columns: dict[str, list[str]] = {}
    places: list[str] = []
    for place in tables_in(path):
        name = f"{source.rstrip('/')}/{place.name}"
        files.require_regular(place, name)
        cells = parse_text_table(place.read_bytes(), name)
        if not is_of_run(cells):
            what = (
                "in a folder, each table must be one that a run wrote; the columns key and change are missing"
            )
            raise input_error(name, what, "Name the table itself, or remove it from the folder")
        table_columns = cells.columns | {"corpus": [place.stem] * len(cells)}
        if columns and set(table_columns) != set(columns):
            names = ", ".join(sorted(set(table_columns) ^ set(columns)))
            what = f"not all tables of the folder have the same columns ({names})"
            raise input_error(name, what, "Name a folder with the tables of one model")
        columns = {column: [*columns.get(column, ()), *table_columns[column]] for column in table_columns}
        places += [f"{number} of {place.name}" for number in cells.places]
    return TextTable(columns, places, "row", source)


def is_of_run(cells: TextTable) -> bool:
    """Whether a run wrote a table: it names segments by key instead of file."""
    return {"key", "change"} <= set(cells.columns) and "file" not in cells.columns


def with_places(cells: TextTable) -> TextTable:
    """Add the columns ``file``, ``start`` and ``end`` that the keys of segments stand for."""
    parts = [key.rsplit("|", 2) for key in cells.columns["key"]]
    odd = next((row for row, part in enumerate(parts) if len(part) != 3), None)
    if odd is not None:
        what = f"{cells.columns['key'][odd]!r:.60} names no segment"
        raise input_error(
            cells.where(odd, "key"), what, "Give predictions for segments; scores go to `scores:`"
        )
    named = dict(zip(("file", "start", "end"), map(list, zip(*parts, strict=True)), strict=True))
    return dataclasses.replace(cells, columns=cells.columns | named)


def changes_in(path: Path) -> frozenset[str]:
    """Name the changes of the signal that tables have predictions for; empty if no run wrote them."""
    places = [place for place in tables_in(path) or [path] if place.is_file()]
    return frozenset().union(*(_changes(place, place.stat().st_mtime_ns) for place in places))


@functools.cache
def _changes(path: Path, _written: int) -> frozenset[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open(path, "rb") as file:
            if file.read(4) != b"PAR1":
                return frozenset()
        names = set(pq.read_schema(path).names)
        if not {"key", "change"} <= names or "file" in names:
            return frozenset()
        return frozenset(filter(None, pq.read_table(path, columns=["change"]).column(0).unique().to_pylist()))
    except (pa.ArrowException, OSError, ValueError):
        return frozenset()  # what is wrong with the table is said when it is read
