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

from collections.abc import Sequence
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
from soundcheck.models.tables.rows import Predictions, compared, used_by, uses_of
from soundcheck.models.tables.timed_transcripts import TimedTranscripts, read_timed_texts
from soundcheck.models.tables.transcripts import (
    CTM,
    JSONL,
    KALDI,
    SEGLST,
    STM,
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

    def __init__(self, digest: str, tasks: Sequence[Task], rows: Predictions) -> None:
        self._tasks, self._rows, self._source = tuple(tasks), rows, rows.cells.source
        self.fingerprint = files.digest(repr((digest, self._tasks)))
        self.changes_audio = len(rows.changes) > 1

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
            return cls(digest, tasks, read_table(cells, tasks, bounds))
        files.require_regular(path, source)
        content = path.read_bytes()
        columns, where = entry.options.get("columns", {}), f"{suite.file.name}, models.{entry.name}"
        form = transcript_format(path.name, content, columns.get("file", "file"))
        if not form:
            cells = with_own_names(parse_text_table(content, source), columns, tasks, f"{where}.columns")
            digest = files.digest(f"{files.digest(content)} {columns}") if columns else files.digest(content)
            return cls(digest, tasks, read_table(cells, tasks, bounds))
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
            return cls(digest, tasks, read_results(content, source, tasks))
        return cls(digest, tasks, read_transcripts(content, source, form, tasks))

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Read the file and make sure that it has to do with the corpora, and of its scale."""
        model = cls.load(entry, suite)
        model.notices([corpus for corpus in corpora if entry.listens_to(corpus.entry)])
        for task in model._tasks if isinstance(model, cls) else ():
            if task.is_regression:
                predictions = model._rows.answers[task.name]
                which = f"{np.isfinite(predictions).sum()} predictions in {model._source}"
                check_scale(predictions, task, entry, suite, which)
        return model.fingerprint

    def computing_times(self) -> np.ndarray:
        """Give those of the file, if it tells any."""
        return self._rows.computing_times

    def drawn(self, corpus: Corpus, change: str) -> np.ndarray:
        """Give what the run drew that wrote the table."""
        if not change or change not in self._rows.changes or not len(self._rows.drawn):
            return super().drawn(corpus, change)
        drawn = np.array([*self._rows.drawn, ""], dtype=object)  # the last one of segments without a row
        return drawn[self._rows.find(corpus, change)]

    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for the segments of a corpus."""
        if change not in self._rows.changes:
            raise ValueError("a table of predictions cannot answer for changed signals")
        numbers = self._rows.find(corpus, change)
        nobody = numbers < 0
        values = {
            name: np.where(nobody, np.nan if column.dtype.kind == "f" else None, column[numbers])
            for name, column in self._rows.answers.items()
        }
        none = f"{NOT_ASKED}: no {self._rows.noun} in {self._source}"
        return values, np.where(nobody, none, self._rows.problems[numbers]).tolist()

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Say how many rows belong to no segment; refuses files of which none does, or unclear ones."""
        rows = self._rows

        def uses(corpus: Corpus) -> pd.DataFrame:
            numbers = np.stack([rows.find(corpus, change) for change in rows.changes])
            return uses_of(corpus, np.nonzero(numbers >= 0)[1], numbers[numbers >= 0])

        used, names = used_by(corpora, uses), rows.cells.columns["file"]
        if used.empty and any(len(one.segments) for one in corpora):
            raise rows.misfit(corpora)
        extra = len(rows) - used["number"].nunique()
        belong = f"{rows.noun} belongs" if extra == 1 else f"{rows.noun}s belong"
        notices = [f"{extra} {belong} to no segment of the corpora"] if extra else []
        notices += compared(used, names, rows.where, self._source, are_ids=rows.frame is None)
        notices += rows.remarks
        if self.changes_audio:
            notices.append(f"predictions for changed signals are those of the run that wrote {self._source}")
        return notices
