"""A model whose answers already exist: ``predictions: file.csv`` or ``.parquet``, or a file of transcripts.

The table has a column ``file``, optionally ``start`` and ``end`` (seconds or ``H:MM:SS``), optionally
``corpus``, and one column for each task, in the task's nominal range; and further columns for what the model
says of its answers, such as ``emotion.anger`` or ``confidence``. Rows may stand in any order. The content
tells what a file is: a CSV text in UTF-8 or Parquet; nothing else is opened, above all no pickle.
Transcripts alone may also come in formats of recognisers, see :mod:`soundcheck.models.tables.transcripts`,
:mod:`soundcheck.models.tables.result_lines` and :mod:`soundcheck.models.tables.timed_texts`; tables that a
run wrote may be given back, see :mod:`soundcheck.models.tables.run_tables`.

Conventions
-----------
- With ``columns:`` a suite says what the table calls a column.
- Everything is read as text and taken as written; lines count from 1, the header is line 1.
- An empty cell or ``nan`` is a missing answer. A segment without an answer is listed, a row without a
  segment counted, a segment answered twice refused.
- Transcripts differ: an empty cell says that nothing was recognised, ``nan`` is a word. Where the model gave
  no answer, there is no row.
- An embedding is a cell of numbers with blanks or commas between them; a Parquet table may have lists. One
  without direction (``nan``, infinite, zeros) is a missing answer; one of another length is refused.
- A table cannot answer for changed signals, unless a run wrote it and asked about them.
- Numbers are in the task's nominal range, or on the scale that the suite gives with ``range:``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, Problems, input_error
from soundcheck.common.tasks import Task
from soundcheck.common.text_table import parse_text_table
from soundcheck.models.answer_scale import check_scale
from soundcheck.models.base import NOT_ASKED, LookUpModel
from soundcheck.models.tables import run_tables
from soundcheck.models.tables.cells import read_table, with_own_names
from soundcheck.models.tables.index import Index, compared, uses_of
from soundcheck.models.tables.result_lines import read_results
from soundcheck.models.tables.timed_texts import read_timed_texts
from soundcheck.models.tables.timed_transcripts import TimedTranscripts
from soundcheck.models.tables.transcript_formats import CTM, JSONL, KALDI, SEGLST, STM, transcript_format
from soundcheck.models.tables.transcripts import long_text, read_transcripts
from soundcheck.suite import schema
from soundcheck.suite.model_keys import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite


class PredictionKeys(ModelKeys):
    """Keys of a table of predictions; ``columns`` gives its columns our names."""

    columns: dict[str, schema.Text] = {}


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
        Task -> one value for each number of the index: float64 (NaN = none) or object (``None`` = none);
        likewise what the model says of its answers, see :mod:`soundcheck.models.stated`.
    changed
        Change -> which answer belongs to which segment under this change.
    errors
        Task -> number of the index -> why there is no answer.
    """

    keyword = "predictions"
    keys = PredictionKeys
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
        errors: Mapping[str, Mapping[int, str]] | None = None,
        drawn: Sequence[str] = (),
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
        self._drawn = np.array([*drawn, ""], dtype=object)  # the last one of segments without a row
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
    def load(cls, entry: ModelEntry, suite: Suite) -> TableModel | TimedTranscripts:
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
                entry.name, shown, files.digest(repr(digests)), tasks, *read_table(cells, tasks, bounds)
            )
        files.require_regular(path, shown)
        content = path.read_bytes()
        columns, where = entry.options.get("columns", {}), f"{suite.file.name}, models.{entry.name}"
        form = transcript_format(path.name, content, columns.get("file", "file"))
        if not form:
            cells = with_own_names(parse_text_table(content, shown), columns, tasks, f"{where}.columns")
            digest = files.digest(f"{files.digest(content)} {columns}") if columns else files.digest(content)
            return cls(entry.name, shown, digest, tasks, *read_table(cells, tasks, bounds))
        others = ", ".join(task.name for task in tasks if not task.is_transcription)
        if others:
            why = "it is JSON" if form in (JSONL, SEGLST) else f"its name ends in .{form}"
            why = "its first line has no column file" if form == KALDI else why
            what = f"{shown} holds transcripts only ({why}), but the model has the tasks {others}"
            remedy = "Give their answers in a CSV table with the column file and one a task"
            raise input_error(f"{where}.tasks", what, remedy)
        if columns:
            what = f"{shown} is no table with columns, but a file of transcripts ({form})"
            raise input_error(
                f"{where}.columns", what, "Remove the key, or give the file a name that ends in .csv"
            )
        fingerprint = files.digest(f"{form} {files.digest(content)}")
        if form in (STM, CTM, SEGLST):
            return TimedTranscripts(entry.name, fingerprint, tasks, read_timed_texts(content, shown, form))
        told = read_results(content, shown) if form == JSONL else read_transcripts(content, shown, form)
        answers = {task.name: np.array(told.texts, dtype=object) for task in tasks}
        return cls(entry.name, shown, fingerprint, tasks, told, answers)

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Read the file and make sure that it has to do with the corpora, and of its scale."""
        model = cls.load(entry, suite)
        model.notices([corpus for corpus in corpora if entry.listens_to(corpus.entry)])
        for task in model._tasks if isinstance(model, cls) else ():
            if task.is_regression:
                given = model._answers[task.name]
                which = f"{np.isfinite(given).sum()} answers in {model._shown}"
                check_scale(given, task, entry, suite, which)
        return model.fingerprint

    def computing_times(self) -> np.ndarray:
        """Give those of the file, if it tells any."""
        return self._index.computing_times()

    def drawn(self, corpus: Corpus, change: str) -> np.ndarray:
        """Give what the run drew that wrote the table."""
        if change not in self._changed or len(self._drawn) == 1:
            return super().drawn(corpus, change)
        return self._drawn[self._changed[change].find(corpus)]

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
        there = np.flatnonzero(found >= 0)
        absent = f"{NOT_ASKED}: no {self._index.noun} in {self._shown}"
        problems = np.full(len(found), absent, dtype=object)
        problems[there] = ""
        answers = {}
        for task in self._tasks:
            empty = np.nan if task.is_regression else None
            values = np.full(len(found), empty, dtype=np.float64 if task.is_regression else object)
            values[there] = self._answers[task.name][found[there]]
            for position, problem in self._problems(values, there, found, task):
                values[position] = empty
                known = problems[position]
                problems[position] = known if problem == known else "; ".join(filter(None, (known, problem)))
            answers[task.name] = values
        for name in self._answers.keys() - answers.keys():  # what the table says of its answers
            kind = self._answers[name].dtype
            answers[name] = np.full(len(found), np.nan if kind.kind == "f" else None, dtype=kind)
            answers[name][there] = self._answers[name][found[there]]
        return answers, problems.tolist()

    def _problems(
        self, values: np.ndarray, there: np.ndarray, found: np.ndarray, task: Task
    ) -> Iterator[tuple[int, str]]:
        """Say which values are no answers, and why."""
        missing = np.isnan(values) if task.is_regression else np.equal(values, None).astype(bool)
        told = self._errors.get(task.name, {})
        for position in there if told or task.is_transcription else there[missing[there]]:
            what = told.get(int(found[position]), "")
            if not what and missing[position]:
                what = f"{self._shown} has no value for {task.name}"
            elif not what and task.is_transcription:
                what = long_text(values[position], self._shown, task.name)
            if what:
                yield position, what

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
        import pandas as pd  # late: a suite is read without it

        index = self._index
        indices = (index, *self._changed.values())
        problems, uses = Problems(), []
        for corpus in corpora:
            try:
                uses += [uses_of(corpus, one.find(corpus)) for one in indices]
            except InputError as error:
                problems.extend(error)
        problems.raise_if_any()
        used = pd.concat(uses) if uses else None
        if used is not None and used.empty and len(index) and any(len(one.segments) for one in corpora):
            raise index.misfit(corpora)
        extra = len(index) - (used["number"].nunique() if used is not None else 0)
        noun = f"{index.noun} belongs" if extra == 1 else f"{index.noun}s belong"
        told = [f"{extra} {noun} to no segment of the corpora"] if extra else []
        if used is not None:
            told += compared(used, index.names, index.where, self._shown, index.are_ids)
        told += self._index.remarks()
        if self._changed:
            told.append(f"answers for changed signals are those of the run that wrote {self._shown}")
        return told
