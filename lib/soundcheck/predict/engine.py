"""Predicts all segments of all corpora with one model, clean and changed.

What was answered before is taken from the cache, after a few inputs were asked again; the rest is divided
among worker processes. Every input ends in a row of the prediction table: with an answer, or with the reason
why there is none.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.class_words import meanings
from soundcheck.common.scales import FAR, outside
from soundcheck.common.tasks import Task
from soundcheck.models.answer_scale import nominal
from soundcheck.models.load import check_model
from soundcheck.models.stated import BOUNDS, CONFIDENCE, stated_names
from soundcheck.predict.ahead import Ahead
from soundcheck.predict.cluster import Cluster
from soundcheck.predict.look_up import look_up
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import Result
from soundcheck.predict.questions import Questions
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.tables import Columns, said_in, write_predictions

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry


def predict_model(questions: Questions, **options: Any) -> PredictionReport:
    """Predict all segments with one model and write its prediction tables; see :func:`begin_model`."""
    return begin_model(questions, **options)()


def begin_model(
    questions: Questions,
    *,
    jobs: int = 1,
    progress: bool = False,
    log: str = "",
    fresh: bool = False,
    confirm: bool = True,
    failed: Iterable[Result] = (),
    cluster: Cluster | None = None,
    ahead: Ahead | None = None,
) -> Callable[[], PredictionReport]:
    """Find what one model has answered before, to predict all segments when it is its turn.

    Parameters
    ----------
    questions
        The model and what it is asked.
    jobs
        Worker processes.
    progress
        Whether to tell how far it is.
    log
        Part of the name of the log, for models that are asked in several rounds.
    fresh
        Whether to forget what the model answered before.
    confirm
        Whether to ask some inputs again before kept answers are believed.
    failed
        Inputs that are known to have no answer, and are not asked again.
    cluster
        Whose workers are asked instead of those of this machine; the few inputs that are asked twice are
        asked here all the same.
    ahead
        Threads in which some inputs are asked again from now on.

    Returns
    -------
    function
        Predicts all segments and writes the prediction tables; says what became of the inputs.

    Raises
    ------
    InputError
        If the model cannot be loaded at all, or answers on another scale than the suite says; what it has
        answered is kept.
    OutputError
        If there is no space; answers that were kept are found again in the next run.
    """
    start = time.monotonic()
    prediction = None
    entry, suite = questions.entry, questions.suite
    if entry.about.needs_audio:
        checked = questions.fingerprint or check_model(entry, suite)
        questions = dataclasses.replace(questions, fingerprint=checked)
        prediction = Prediction(questions, log=questions.log(log), failed=failed, cluster=cluster)
        prediction.begin(fresh=fresh, confirm=confirm, ahead=ahead)
    seconds = time.monotonic() - start

    def finish() -> PredictionReport:
        start = time.monotonic() - seconds
        kind, tasks = entry.about, [suite.tasks[name] for name in entry.tasks]
        if prediction is not None:
            prediction.run(kind, jobs=jobs, progress=progress)
            prediction.check_scale()
            prediction.refuse_odd_lengths()
            report, rows = prediction.report(), prediction.rows()
            said = said_in(itertools.chain(*rows.values()), tasks)
            answered = {corpus: Columns.of_rows(own, tasks, said) for corpus, own in rows.items()}
        else:
            model = kind.load(entry, suite)
            report, answered = look_up(model, questions.corpora, questions.changes, questions.wanted)
            tasks = model.table_tasks(tasks)
        far = _far_outside(answered.values(), tasks, entry)
        answered = {corpus: _in_our_terms(table, tasks, entry) for corpus, table in answered.items()}
        unknown = _unknown_classes(answered.values(), tasks)
        folder = questions.out / "predictions" / files.slug(entry.name)
        tables = {}
        for corpus, table in answered.items():
            tables[corpus] = folder / f"{files.slug(corpus)}.parquet"
            write_predictions(tables[corpus], table, tasks)
        return dataclasses.replace(
            report,
            model=entry.name,
            tables=tables,
            inputs=sum(map(len, answered.values())),
            out_of_range=sum(_out_of_range(table, tasks) for table in answered.values()),
            far_outside=far,
            unknown_classes=unknown,
            meant={task.name: words for task in tasks if (words := meanings(unknown, task.classes))},
            seconds=round(time.monotonic() - start, 3),
        )

    return finish


def _in_our_terms(table: Columns, tasks: Sequence[Task], entry: ModelEntry) -> Columns:
    """Map numbers from the scale of a model to that of the tasks, and words to classes."""
    mapped = {
        name: np.array([entry.values[name].get(word, word) for word in table.answers[name]], dtype=object)
        for name in entry.values
    } | {
        name: nominal(table.answers[name], task, entry.ranges[task.name])
        for task in tasks
        if task.name in entry.ranges
        for name in (task.name, *stated_names([task]))
        if name in table.answers and name != CONFIDENCE
    }
    for task in tasks:
        low, high = (f"{task.name}.{end}" for end in BOUNDS)
        if low in mapped:
            ends = np.sort([mapped[low], mapped[high]], axis=0)
            mapped[low], mapped[high] = ends if task.low < task.high else ends[::-1]
    return dataclasses.replace(table, answers=table.answers | mapped)


def _far_outside(
    tables: Iterable[Columns], tasks: Sequence[Task], entry: ModelEntry
) -> dict[str, list[float]]:
    """Count the answers far outside of their scale: task -> count, of how many, lowest, highest."""
    found = {}
    for task in (task for task in tasks if task.is_regression):
        values = np.concatenate([table.answers[task.name][table.answered] for table in tables])
        values = values[np.isfinite(values)]
        if count := int(outside(values, entry.range_of(task), FAR).sum()):
            found[task.name] = [count, len(values), float(values.min()), float(values.max())]
    return found


def _out_of_range(table: Columns, tasks: Sequence[Task]) -> int:
    count = 0
    for task in tasks:
        if task.is_regression:
            values = table.answers[task.name][table.answered]
            count += int(outside(values, (task.low, task.high)).sum())
    return count


def _unknown_classes(tables: Iterable[Columns], tasks: Sequence[Task]) -> dict[str, int]:
    counts: collections.Counter[str] = collections.Counter()
    for table in tables:
        for task in tasks:
            if task.classes:
                given = collections.Counter(table.answers[task.name][table.answered].tolist())
                counts.update({name: count for name, count in given.items() if name not in task.classes})
    return dict(sorted(counts.items()))
