"""A model whose predictions exist: ``predictions: file.csv`` or ``.parquet``, or a file of transcripts.

The table has a column ``file``, optionally ``start`` and ``end`` (seconds or ``H:MM:SS``), optionally
``corpus``, and one column for each task, in the task's nominal range; and further columns for what the model
says of its predictions, such as ``emotion.anger`` or ``confidence``. Rows may stand in any order. The content
tells what a file is: a CSV text in UTF-8 or Parquet; nothing else is opened, above all no pickle.
Transcripts alone may also come in formats of recognisers, see :mod:`soundcheck.models.tables.transcripts` and
:mod:`soundcheck.models.tables.timed_transcripts`.

A run keeps the predictions of each model in one Parquet table a corpus (:mod:`soundcheck.predict.tables`);
such a table, or the folder of all tables of a model, may be given back like any other. Its column ``key``
names file and times of a segment, ``change`` what was done to the signal.

Conventions
-----------
- With ``columns:`` a suite says what the table calls a column.
- Everything is read as text and taken as written; lines count from 1, the header is line 1.
- An empty cell or ``nan`` is a missing prediction. A segment without a prediction is listed, a row without a
  segment counted, a segment predicted twice refused.
- Transcripts differ: an empty cell says that nothing was recognised, ``nan`` is a word. Where the model gave
  no prediction, there is no row.
- An embedding is a cell of numbers with blanks or commas between them; a Parquet table may have lists. One
  without direction (``nan``, infinite, zeros) is a missing prediction; one of another length is refused.
- A table has no predictions for changed signals, unless a run wrote it and asked about them.
- Numbers are in the task's nominal range, or on the scale that the suite gives with ``range:``.
- In a folder, the name of a table is that of its corpus; a single table fits any corpus. A row with an
  ``error`` is a missing prediction, and its reason is kept. Rows for changed signals belong to the changes of
  the same identity, with the random draws of the run that wrote them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import multimode
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.messages import Problems, did_you_mean, input_error, nearest, quoted
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import (
    TextTable,
    parse_column,
    parse_number,
    parse_seconds,
    parse_text_table,
)
from soundcheck.models import answers
from soundcheck.models.answers import CONFIDENCE
from soundcheck.models.base import DRAWN
from soundcheck.models.tables import transcripts
from soundcheck.models.tables.rows import FileModel, Rows, problems_of, sort_rows
from soundcheck.models.tables.timed_transcripts import read_timed_transcripts
from soundcheck.suite import schema
from soundcheck.suite.entries import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    from soundcheck.corpora.load import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

SUFFIX = ".parquet"
_MISSING = ("", "nan", "NaN")
_LEFT_EMPTY = "or leave all cells of this row and task empty"
_SURE = "Give a number from 0 to 1, leave the cell empty, or give the column another name"
_WORDS = 'Write such as [["turn", 0.9], ["left", 0.4]], leave the cell empty, or rename the column'


class PredictionKeys(ModelKeys):
    """Keys of a table of predictions; ``columns`` gives its columns our names."""

    columns: dict[str, schema.Text] = {}


class TableModel(FileModel):
    """Predictions in a file; what :meth:`load` gives is made for its format."""

    keyword = "predictions"
    keys = PredictionKeys

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Find the file, or the folder of tables that a run wrote."""
        place, what, remedy = find_place(suite_file, target, folder=True)
        if place is not None and tables_in(place):
            return place, what, remedy
        return find_place(suite_file, target, folder=False)

    @classmethod
    def known_changes(cls, path: Path | None) -> frozenset[str]:
        """Name the changes of the signal that tables have predictions for; none if no run wrote them."""
        places = [place for place in (tables_in(path) or [path] if path else []) if place.is_file()]
        return frozenset().union(*(_changes(place, place.stat().st_mtime_ns) for place in places))

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> FileModel:
        """Read the file."""
        tasks = suite.tasks_of(entry)
        digest, model = _read(entry, suite, tasks)
        model.fingerprint = files.digest(repr((digest, tuple(tasks))))
        return model

    @classmethod
    def checked(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus]) -> FileModel:
        """Read the file and make sure that it has to do with the corpora, and of its scale."""
        heard = [corpus for corpus in corpora if entry.listens_to(corpus.entry)]
        model = super().checked(entry, suite, heard)
        for task in suite.tasks_of(entry):
            if task.is_regression:
                predictions = model.answers[task.name]
                which = f"{np.isfinite(predictions).sum()} predictions in {model.source}"
                answers.check_scale(predictions, task, entry, suite, which)
        return model


def _read(entry: ModelEntry, suite: Suite, tasks: Sequence[Task]) -> tuple[str, FileModel]:
    """Read the file of a model; gives the digest of its content and format as well."""
    path, source, columns = entry.path, entry.target, entry.options.get("columns", {})
    where = f"{suite.file.name}, models.{entry.name}"
    bounds = {task.name: entry.range_of(task) for task in tasks if task.is_regression}
    if tables := tables_in(path):
        digest = files.digest(repr([(place.name, files.digest(place)) for place in tables]))
        return digest, read_table(read_folder(path, source), tasks, bounds)
    content = files.require_regular(path, source).read_bytes()
    digest = files.digest(content)
    form = transcripts.transcript_format(path.name, content, columns.get("file", "file"))
    if not form:
        table = with_own_names(parse_text_table(content, source), columns, tasks, f"{where}.columns")
        digest = files.digest(f"{digest} {columns}") if columns else digest
        return digest, read_table(table, tasks, bounds)
    if others := ", ".join(task.name for task in tasks if not task.is_transcription):
        what = f"{source} holds transcripts only ({form}), but the model has the tasks {others}"
        remedy = "Give their predictions in a CSV table with the column file and one a task"
        raise input_error(f"{where}.tasks", what, remedy)
    if columns:
        what = f"{source} is no table with columns, but a file of transcripts ({form})"
        remedy = "Remove the key, or give the file a name that ends in .csv"
        raise input_error(f"{where}.columns", what, remedy)
    if form in (transcripts.STM, transcripts.CTM, transcripts.SEGLST):
        model = read_timed_transcripts(content, source, form, tasks)
    elif form == transcripts.JSONL:
        model = transcripts.read_results(content, source, tasks)
    else:
        model = transcripts.read_transcripts(content, source, form, tasks)
    return files.digest(f"{form} {digest}"), model


# Cells: values and times as numbers, classes and texts as they are written ----------------------------------


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
    renamed = {name: cells.columns[theirs] for name, theirs in columns.items()}
    taken = {*columns, *columns.values()}
    renamed |= {name: column for name, column in cells.columns.items() if name not in taken}
    return dataclasses.replace(cells, columns=renamed, headings=columns)


def read_table(table: TextTable, tasks: Sequence[Task], bounds: Mapping[str, tuple[float, float]]) -> Rows:
    """Read the rows of a table and the predictions in them; raises all problems of the table at once.

    ``bounds`` are the ends of the scale of each regression task, for messages.
    """
    of_run = is_of_run(table.columns)
    table = with_places(table) if of_run else table
    cells, columns, names = _Cells(table), table.columns, [task.name for task in tasks]
    cells.require("file", *names)
    cells.check_names(tasks)
    values, reasons = {}, {}
    for task in tasks:
        if task.is_regression:
            low, high = bounds[task.name]
            remedy = f"Give a number from {low:g} to {high:g} with a point, or leave the cell empty"
            values[task.name] = cells.numbers(task.name, remedy)
        elif task.is_embedding:
            values[task.name], reasons[task.name] = cells.embeddings(task)
        else:
            texts = [text.strip() for text in columns[task.name]]
            if task.classes:  # an empty transcript is a prediction, too
                texts = [text[: answers.CLASS_LIMIT] or None for text in texts]
            values[task.name] = np.array(texts, dtype=object)
    for task in tasks:
        values |= cells.words(task) if task.is_transcription else cells.shares(task)
    if CONFIDENCE in columns and CONFIDENCE not in names:
        values[CONFIDENCE] = cells.numbers(CONFIDENCE, _SURE)
        given = np.flatnonzero(~np.isnan(values[CONFIDENCE])).tolist()
        wrong = ((row, answers.confidence_problem(values[CONFIDENCE][row])) for row in given)
        cells.note_first(CONFIDENCE, wrong, _SURE)
    times = [cells.numbers(name, "Give seconds, or H:MM:SS", parse_seconds) for name in ("start", "end")]
    frame = sort_rows(table, *times, cells.problems, names, columns["change"] if of_run else "")
    cells.problems.raise_if_any()
    more: dict[str, Any] = {}
    if of_run:
        errors = {row: error for row, error in enumerate(columns.get("error", ())) if error}
        reasons = {name: reasons.get(name, {}) | errors for name in names}
        for texts in (values[task.name] for task in tasks if task.is_transcription):
            texts[[row for row in errors if not texts[row]]] = None  # beside an error an empty text is none
        changes = [*dict.fromkeys(["", *columns["change"]])]
        what = f"predictions for changed signals are those of the run that wrote {table.source}"
        remarks = [what] if len(changes) > 1 else []
        drawn = np.array(columns.get(DRAWN, [""] * len(table)), dtype=object)
        more = {"changes": changes, "drawn": drawn, "remarks": remarks}
    return Rows(table, values, problems_of(table, values, tasks, reasons), frame, **more)


class _Cells:
    """A table that is read column by column; what is wrong is noted."""

    def __init__(self, table: TextTable) -> None:
        self.table, self.columns, self.problems = table, table.columns, Problems()

    def require(self, *names: str) -> None:
        for name in names:
            if name not in self.columns:
                remedy = f"{did_you_mean(name, self.columns)}; `columns: {{{name}: ...}}` takes one of them"
                self.problems.add(f"{self.table.header}, column {name}", "the column is missing", remedy)
        self.problems.raise_if_any()

    def check_names(self, tasks: Sequence[Task]) -> None:
        """Refuse columns that are called nearly like those that may be there: nobody would miss them."""
        known = ["start", "end", "corpus", *answers.stated_names(tasks)]
        plain = {_plain(name): name for name in known}
        for name in self.columns:
            of_task = any(name.startswith(f"{task.name}.") for task in tasks if not task.classes)
            meant = plain.get(_plain(name)) or (nearest(name, known) if of_task else "")
            if name not in known and meant and meant not in self.columns:
                what = f"it is called nearly like {quoted(meant)}, which would be read"
                remedy = f"Rename it to {meant} if that is what it means, else to anything else"
                self.problems.add(f"{self.table.header}, column {name}", what, remedy)

    def numbers(self, name: str, remedy: str, parse: Callable[[str], float] = parse_number) -> np.ndarray:
        """Read a column of numbers, float64 ``(rows,)``, NaN = missing, as where there is no column."""
        cells = self.columns.get(name, [""] * len(self.table))
        values, wrong = parse_column(cells, lambda text: math.nan if text in _MISSING else parse(text))
        for row, what in wrong:
            self.problems.add(self.table.where(row, name), what, remedy)
        return values

    def embeddings(self, task: Task) -> tuple[np.ndarray, dict[int, str]]:
        """Read numbers with blanks or commas between them, as packed text; and why some are no embedding."""
        values, errors = np.full(len(self.table), None, dtype=object), {}
        lengths: dict[int, int] = {}
        for row, text in enumerate(self.columns[task.name]):
            words = text.strip().strip("[]").replace(",", " ").split()
            if not words:
                continue
            try:
                vector = np.array([float(word) for word in words])
            except ValueError as error:
                errors[row] = f"{task.name}: {error}"
                continue
            output, errors[row] = answers.check_output({task.name: vector}, [task])
            if output:
                values[row], lengths[row] = output[task.name], len(vector)
        errors = {row: what for row, what in errors.items() if what}
        if not lengths:
            remedy = "Write the numbers with blanks between them, as many in each row, such as 0.1 -0.2 0.3"
            self.note_first(task.name, errors.items(), remedy)
        usual = max(multimode(lengths.values()), default=0)
        what = "the embedding has {} numbers, most have {}"
        wrong = [(row, what.format(n, usual)) for row, n in lengths.items() if n != usual]
        self.note_first(task.name, wrong, "Give the embeddings of one model")
        return values, errors

    def shares(self, task: Task) -> dict[str, np.ndarray]:
        """Read the probabilities of classes, or the bounds of values, NaN where nothing is said."""
        names, prefix = answers.share_names(task), f"{task.name}."
        given = [name for name in self.columns if name.startswith(prefix)]
        missing = [name for name in names if name not in given]
        if len(missing) == len(names) or not names:
            return {}
        if task.classes:
            what = answers.unknown_class([name.removeprefix(prefix) for name in given], task)
            remedy = "Give a probability of each class, together 1 and not logits or per cent"
            where, check = self.table.header, answers.probability_problem
        else:
            what = "the column is missing beside the other bound" if missing else ""
            remedy = "Give the low and the high bound"
            where, check = f"{self.table.header}, column {''.join(missing)}", answers.bounds_problem
        if what:
            self.problems.add(where, what, remedy)
            return {}
        before = len(self.problems)
        values = np.array([self.numbers(name, f"Give a number, {_LEFT_EMPTY}") for name in names])
        filled = ~np.isnan(values).all(axis=0)
        if task.classes:
            values[:, filled] = np.nan_to_num(values[:, filled])  # a class without number has no probability
        if len(self.problems) == before:
            problems = ((row, check(values[:, row].tolist())) for row in np.flatnonzero(filled).tolist())
            wrong = ((row, f"{task.name} has {what}") for row, what in problems if what)
            self.note_first(next(name for name in names if name in given), wrong, f"{remedy}, {_LEFT_EMPTY}")
        return dict(zip(names, values, strict=True))

    def words(self, task: Task) -> dict[str, np.ndarray]:
        """Read the confidences of words, as they are written; ``None`` where nothing is said."""
        (name,) = answers.word_names([task])
        if name not in self.columns:
            return {}
        values = np.full(len(self.table), None, dtype=object)
        for row, text in enumerate(self.columns[name]):
            try:
                words = answers.read_words("" if text in _MISSING else text)
                what = answers.words_problem(words, self.columns[task.name][row]) if words else ""
                values[row] = text if words else None
            except ValueError as error:
                what = str(error)
            if what:
                self.problems.add(self.table.where(row, name), what, _WORDS)
        return {name: values}

    def note_first(self, name: str, problems: Iterable[tuple[int, str]], remedy: str) -> None:
        """Note the first of some problems of rows, and how many there are."""
        wrong = [(row, what) for row, what in problems if what]
        for row, what in wrong[:1]:
            more = f"; so or alike in {len(wrong)} rows" if len(wrong) > 1 else ""
            self.problems.add(self.table.where(row, name), what + more, remedy)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


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
        if not is_of_run(cells.columns):
            what = "in a folder, each table must be one that a run wrote, with the columns key and change"
            raise input_error(name, what, "Name the table itself, or remove it from the folder")
        added = cells.columns | {"corpus": [place.stem] * len(cells)}
        if columns and (others := added.keys() ^ columns.keys()):
            what = f"not all tables of the folder have the same columns ({', '.join(sorted(others))})"
            raise input_error(name, what, "Name a folder with the tables of one model")
        columns = {column: [*columns.get(column, ()), *added[column]] for column in added}
        places += [f"{number} of {place.name}" for number in cells.places]
    return TextTable(columns, places, "row", source)


def is_of_run(columns: Collection[str]) -> bool:
    """Whether a run wrote the table with these columns: it names segments by key instead of file."""
    return {"key", "change"} <= {*columns} and "file" not in columns


def with_places(cells: TextTable) -> TextTable:
    """Add the columns ``file``, ``start`` and ``end`` that the keys of segments stand for."""
    parts = [key.rsplit("|", 2) for key in cells.columns["key"]]
    odd = next((row for row, part in enumerate(parts) if len(part) != 3), None)
    if odd is not None:
        what = f"{cells.columns['key'][odd]!r:.60} names no segment"
        remedy = "Give predictions for segments; scores go to `scores:`"
        raise input_error(cells.where(odd, "key"), what, remedy)
    named = dict(zip(("file", "start", "end"), map(list, zip(*parts, strict=True)), strict=True))
    return dataclasses.replace(cells, columns=cells.columns | named)


@functools.cache
def _changes(path: Path, _written: int) -> frozenset[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with contextlib.suppress(pa.ArrowException, OSError, ValueError):  # said when the table is read
        if is_of_run(pq.read_schema(path).names):
            changes = pq.read_table(path, columns=["change"]).column(0).unique()
            return frozenset(filter(None, changes.to_pylist()))
    return frozenset()
