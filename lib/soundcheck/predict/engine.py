"""Predicts all segments of all corpora with one model, clean and changed.

What was answered before is taken from the cache, after a few inputs were asked again; the rest is divided
among worker processes. Every input ends in a row of the prediction table: with an answer, or with the reason
why there is none.
"""

from __future__ import annotations

import collections
import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.tasks import Task
from soundcheck.models.answer_scale import nominal
from soundcheck.models.load import check_model
from soundcheck.predict.ahead import Ahead
from soundcheck.predict.cluster import Cluster
from soundcheck.predict.inputs import Wanted
from soundcheck.predict.look_up import look_up
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import PlainChange, Result
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.tables import Columns, write_predictions
from soundcheck.sounds.sound import Sounds

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite
    from soundcheck.suite.families import Perturbation


def predict_model(*arguments: Any, **options: Any) -> PredictionReport:
    """Predict all segments with one model and write its prediction tables; see :func:`begin_model`."""
    return begin_model(*arguments, **options)()


def begin_model(
    entry: ModelEntry,
    suite: Suite,
    corpora: Sequence[Corpus],
    changes: Mapping[str, Perturbation],
    out: Path,
    cache: Path,
    jobs: int = 1,
    progress: bool = False,
    *,
    fingerprint: str = "",
    wanted: Wanted | None = None,
    sounds: Sounds | None = None,
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
    entry, suite
        The model; imported in child processes only.
    corpora
        Loaded corpora.
    changes
        Id in the column ``change`` -> what is done to the signals. Models that cannot answer for changed
        signals are asked about clean ones only.
    out
        Output folder: tables go to ``predictions/<model>/<corpus>.parquet``, what workers print to ``logs``.
    cache
        Folder of everything that is computed once.
    jobs
        Worker processes.
    progress
        Whether to tell how far it is.
    fingerprint
        As returned by :func:`soundcheck.models.load.check_model`, if the model has been checked.
    wanted
        Gives for a corpus, and each change, which segments anybody wants answers for under this change, bool
        ``(segments,)``; default all.
    sounds
        Noises and impulse responses that changes draw from.
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
    out, cache = Path(out).absolute(), Path(cache).absolute()
    if entry.about.needs_audio:
        prediction = Prediction(
            entry,
            suite,
            fingerprint or check_model(entry, suite),
            corpora,
            plain_changes(changes, sounds or Sounds()),
            wanted,
            sounds or Sounds(),
            cache=cache,
            out=out,
            log=log_file(out, entry, log),
            failed=failed,
            cluster=cluster,
        )
        prediction.begin(fresh=fresh, confirm=confirm, ahead=ahead)
    seconds = time.monotonic() - start

    def finish() -> PredictionReport:
        start = time.monotonic() - seconds
        kind, tasks = entry.about, [suite.tasks[name] for name in entry.tasks]
        if prediction is not None:
            prediction.run(kind, jobs=jobs, progress=progress)
            prediction.refuse_odd_lengths()
            report, rows = prediction.report(), prediction.rows()
            answered = {corpus: Columns.of_rows(own, tasks) for corpus, own in rows.items()}
        else:
            model = kind.load(entry, suite)
            report, answered = look_up(model, corpora, changes, wanted)
            tasks = model.table_tasks(tasks)
        answered = {corpus: _in_nominal_range(table, tasks, entry) for corpus, table in answered.items()}
        folder = out / "predictions" / files.slug(entry.name)
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
            unknown_classes=_unknown_classes(answered.values(), tasks),
            seconds=round(time.monotonic() - start, 3),
        )

    return finish


def log_file(out: Path, entry: ModelEntry, part: str = "") -> Path:
    """Name the file that gets what a model prints."""
    return out / "logs" / ".".join(filter(None, (files.slug(entry.name), part, "log")))


def plain_changes(changes: Mapping[str, Perturbation], sounds: Sounds) -> dict[str, PlainChange]:
    """Say of each change all that its answers depend on."""
    from soundcheck.augment.registry import kind_of_sounds  # late: loading all transforms takes half a second

    return {
        name: PlainChange(
            change.name,
            change.transform,
            dict(change.options),
            change.common,
            "|".join(map(sounds.digest, kind_of_sounds(change))),
        )
        for name, change in changes.items()
    }


def _in_nominal_range(table: Columns, tasks: Sequence[Task], entry: ModelEntry) -> Columns:
    """Map the numbers of a model from its own scale to that of the tasks."""
    mapped = {
        task.name: nominal(table.answers[task.name], task, entry.ranges[task.name])
        for task in tasks
        if task.name in entry.ranges
    }
    return dataclasses.replace(table, answers=table.answers | mapped)


def _out_of_range(table: Columns, tasks: Sequence[Task]) -> int:
    count = 0
    for task in tasks:
        if task.is_regression:
            values = table.answers[task.name][table.answered]
            count += int(np.count_nonzero(~((task.low <= values) & (values <= task.high))))
    return count


def _unknown_classes(tables: Iterable[Columns], tasks: Sequence[Task]) -> dict[str, int]:
    counts: collections.Counter[str] = collections.Counter()
    for table in tables:
        for task in tasks:
            if task.classes:
                given = collections.Counter(table.answers[task.name][table.answered].tolist())
                counts.update({name: count for name, count in given.items() if name not in task.classes})
    return dict(sorted(counts.items()))
