"""A model whose predictions exist: ``predictions: file.csv`` or ``.parquet``, or a file of transcripts.

The table has a column ``file``, optionally ``start`` and ``end`` (seconds or ``H:MM:SS``), optionally
``corpus``, and one column for each task, in the task's nominal range; and further columns for what the model
says of its predictions, such as ``emotion.anger`` or ``confidence``. Rows may stand in any order. The content
tells what a file is: a CSV text in UTF-8 or Parquet; nothing else is opened, above all no pickle.
Transcripts alone may also come in formats of recognisers, see :mod:`soundcheck.models.tables.transcripts` and
:mod:`soundcheck.models.tables.timed_transcripts`; tables that a run wrote may be given back, see
:mod:`soundcheck.models.tables.cells`.

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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import input_error
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import parse_text_table
from soundcheck.models.answers import NOT_ASKED, check_scale
from soundcheck.models.base import LookUpModel
from soundcheck.models.tables.cells import (
    changes_in,
    read_folder,
    read_table,
    tables_in,
    with_own_names,
)
from soundcheck.models.tables.rows import FileAnswers, compared, used_by, uses_of
from soundcheck.models.tables.timed_transcripts import TimedTranscripts, read_timed_texts
from soundcheck.models.tables.transcripts import (
    CTM,
    JSONL,
    KALDI,
    SEGLST,
    STM,
    long_text,
    read_results,
    read_transcripts,
    transcript_format,
)
from soundcheck.suite import schema
from soundcheck.suite.model_kind import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    import pandas as pd

    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite


class PredictionKeys(ModelKeys):
    """Keys of a table of predictions; ``columns`` gives its columns our names."""

    columns: dict[str, schema.Text] = {}


class TableModel(LookUpModel):
    """Answers from a file, ``source`` in messages; ``digest`` is that of its content and format."""

    keyword = "predictions"
    keys = PredictionKeys
    changes_audio = False

    def __init__(self, source: str, digest: str, tasks: Sequence[Task], held: FileAnswers) -> None:
        self._source, self._tasks, self._held = source, tuple(tasks), held
        self.fingerprint = files.digest(repr((digest, self._tasks)))
        self._rows = held.rows[""]
        self.changes_audio = len(held.rows) > 1

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Find the file, or the folder of tables that a run wrote."""
        place, what, remedy = find_place(suite_file, target, folder=True)
        if place is not None and tables_in(place):
            return place, what, remedy
        return find_place(suite_file, target, folder=False)

    @classmethod
    def known_changes(cls, path: Path | None) -> frozenset[str]:
        """Name the changes that a table of a run has predictions for."""
        return changes_in(path) if path is not None else frozenset()

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> TableModel | TimedTranscripts:
        """Read and check the file."""
        path, source = entry.path, entry.target
        tasks = [suite.tasks[name] for name in entry.tasks]
        bounds = {task.name: entry.range_of(task) for task in tasks if task.is_regression}
        if tables := tables_in(path):
            cells = read_folder(path, source)
            digest = files.digest(repr([(place.name, files.digest(place)) for place in tables]))
            return cls(source, digest, tasks, read_table(cells, tasks, bounds))
        files.require_regular(path, source)
        content = path.read_bytes()
        columns, where = entry.options.get("columns", {}), f"{suite.file.name}, models.{entry.name}"
        form = transcript_format(path.name, content, columns.get("file", "file"))
        if not form:
            cells = with_own_names(parse_text_table(content, source), columns, tasks, f"{where}.columns")
            digest = files.digest(f"{files.digest(content)} {columns}") if columns else files.digest(content)
            return cls(source, digest, tasks, read_table(cells, tasks, bounds))
        if others := ", ".join(task.name for task in tasks if not task.is_transcription):
            why = "it is JSON" if form in (JSONL, SEGLST) else f"its name ends in .{form}"
            why = "its first line has no column file" if form == KALDI else why
            what = f"{source} holds transcripts only ({why}), but the model has the tasks {others}"
            remedy = "Give their predictions in a CSV table with the column file and one a task"
            raise input_error(f"{where}.tasks", what, remedy)
        if columns:
            what = f"{source} is no table with columns, but a file of transcripts ({form})"
            remedy = "Remove the key, or give the file a name that ends in .csv"
            raise input_error(f"{where}.columns", what, remedy)
        digest = files.digest(f"{form} {files.digest(content)}")
        if form in (STM, CTM, SEGLST):
            return TimedTranscripts(digest, tasks, read_timed_texts(content, source, form))
        if form == JSONL:
            return cls(source, digest, tasks, read_results(content, source, tasks))
        return cls(source, digest, tasks, read_transcripts(content, source, form, tasks))

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Read the file and make sure that it has to do with the corpora, and of its scale."""
        model = cls.load(entry, suite)
        model.notices([corpus for corpus in corpora if entry.listens_to(corpus.entry)])
        for task in model._tasks if isinstance(model, cls) else ():
            if task.is_regression:
                predictions = model._held.answers[task.name]
                which = f"{np.isfinite(predictions).sum()} predictions in {model._source}"
                check_scale(predictions, task, entry, suite, which)
        return model.fingerprint

    def computing_times(self) -> np.ndarray:
        """Give those of the file, if it tells any."""
        return self._held.computing_times

    def drawn(self, corpus: Corpus, change: str) -> np.ndarray:
        """Give what the run drew that wrote the table."""
        if not change or change not in self._held.rows or not len(self._held.drawn):
            return super().drawn(corpus, change)
        drawn = np.array([*self._held.drawn, ""], dtype=object)  # the last one of segments without a row
        return drawn[self._held.rows[change].find(corpus)]

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus."""
        if change not in self._held.rows:
            raise ValueError("a table of predictions cannot answer for changed signals")
        numbers = self._held.rows[change].find(corpus)
        present = np.flatnonzero(numbers >= 0)
        problems = np.full(len(numbers), f"{NOT_ASKED}: no {self._rows.noun} in {self._source}", dtype=object)
        problems[present] = ""
        values_of = {}
        for name, column in self._held.answers.items():
            missing = np.nan if column.dtype.kind == "f" else None
            values_of[name] = np.full(len(numbers), missing, column.dtype)
            values_of[name][present] = column[numbers[present]]
        for task in self._tasks:
            values = values_of[task.name]
            for position, problem in self._problems(values, present, numbers, task):
                values[position] = np.nan if task.is_regression else None
                known = problems[position]
                problems[position] = known if problem == known else "; ".join(filter(None, (known, problem)))
        return values_of, problems.tolist()

    def _problems(
        self, values: np.ndarray, present: np.ndarray, numbers: np.ndarray, task: Task
    ) -> Iterator[tuple[int, str]]:
        """Say which values are no predictions, and why."""
        missing = np.isnan(values) if task.is_regression else np.equal(values, None).astype(bool)
        errors = self._held.errors.get(task.name, {})
        for position in present if errors or task.is_transcription else present[missing[present]]:
            what = errors.get(int(numbers[position]), "")
            if not what and missing[position]:
                what = f"{self._source} has no value for {task.name}"
            elif not what and task.is_transcription:
                what = long_text(values[position], self._source, task.name)
            if what:
                yield position, what

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Say how many rows belong to no segment; refuses files of which none does, or unclear ones."""
        rows = self._rows

        def uses(corpus: Corpus) -> list[pd.DataFrame]:
            numbers = [one.find(corpus) for one in self._held.rows.values()]
            return [uses_of(corpus, np.flatnonzero(one >= 0), one[one >= 0]) for one in numbers]

        used, count = used_by(corpora, uses)
        if not count and len(rows) and any(len(one.segments) for one in corpora):
            raise rows.misfit(corpora)
        extra = len(rows) - count
        noun = f"{rows.noun} belongs" if extra == 1 else f"{rows.noun}s belong"
        notices = [f"{extra} {noun} to no segment of the corpora"] if extra else []
        notices += compared(used, rows.names, rows.where, self._source, rows.frame is None)
        notices += self._held.remarks
        if self.changes_audio:
            notices.append(f"predictions for changed signals are those of the run that wrote {self._source}")
        return notices
