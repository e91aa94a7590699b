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
from soundcheck.models.answers import check_scale
from soundcheck.models.tables import cells, transcripts
from soundcheck.models.tables.rows import FileModel
from soundcheck.models.tables.timed_transcripts import read_timed_transcripts
from soundcheck.suite import schema
from soundcheck.suite.model_kind import ModelKeys
from soundcheck.suite.paths import find_place

if TYPE_CHECKING:
    from soundcheck.corpora.load import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite


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
        if place is not None and cells.tables_in(place):
            return place, what, remedy
        return find_place(suite_file, target, folder=False)

    @classmethod
    def known_changes(cls, path: Path | None) -> frozenset[str]:
        """Name the changes that a table of a run has predictions for."""
        return cells.changes_in(path) if path is not None else frozenset()

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> FileModel:
        """Read and check the file."""
        tasks = [suite.tasks[name] for name in entry.tasks]
        digest, model = _read(entry, suite, tasks)
        model.fingerprint = files.digest(repr((digest, tuple(tasks))))
        return model

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Read the file and make sure that it has to do with the corpora, and of its scale."""
        model = cls.load(entry, suite)
        model.notices([corpus for corpus in corpora if entry.listens_to(corpus.entry)])
        for task in [suite.tasks[name] for name in entry.tasks]:
            if task.is_regression:
                predictions = model.answers[task.name]
                which = f"{np.isfinite(predictions).sum()} predictions in {model.source}"
                check_scale(predictions, task, entry, suite, which)
        return model.fingerprint


def _read(entry: ModelEntry, suite: Suite, tasks: Sequence[Task]) -> tuple[str, FileModel]:
    """Read the file of a model; gives the digest of its content and format as well."""
    path, source, columns = entry.path, entry.target, entry.options.get("columns", {})
    where = f"{suite.file.name}, models.{entry.name}"
    bounds = {task.name: entry.range_of(task) for task in tasks if task.is_regression}
    if tables := cells.tables_in(path):
        digest = files.digest(repr([(place.name, files.digest(place)) for place in tables]))
        return digest, cells.read_table(cells.read_folder(path, source), tasks, bounds)
    content = files.require_regular(path, source).read_bytes()
    digest = files.digest(content)
    form = transcripts.transcript_format(path.name, content, columns.get("file", "file"))
    if not form:
        table = cells.with_own_names(parse_text_table(content, source), columns, tasks, f"{where}.columns")
        digest = files.digest(f"{digest} {columns}") if columns else digest
        return digest, cells.read_table(table, tasks, bounds)
    if others := ", ".join(task.name for task in tasks if not task.is_transcription):
        why = "it is JSON" if form in (transcripts.JSONL, transcripts.SEGLST) else f"its name ends in .{form}"
        why = "its first line has no column file" if form == transcripts.KALDI else why
        what = f"{source} holds transcripts only ({why}), but the model has the tasks {others}"
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
