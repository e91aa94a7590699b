"""Predicts all segments of all corpora with one model, clean and changed.

What was predicted before is taken from the cache, after a few inputs were predicted again; the rest is
divided among processes. Every input ends in a row of the prediction table: with an answer, or with the reason
why there is none.
"""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from soundcheck.common import files
from soundcheck.common.tasks import FAR, Task, meanings, outside
from soundcheck.corpora.load import Corpus
from soundcheck.models.answers import BOUNDS, CONFIDENCE, nominal, stated_names
from soundcheck.models.base import DRAWN, LookUpModel, check_model
from soundcheck.predict.cluster import Cluster
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import PredictionRequest, Share, Wanted, asked_changes, segment_label
from soundcheck.predict.tables import Columns, write_predictions
from soundcheck.predict.workers import Result
from soundcheck.suite.entries import ModelEntry
from soundcheck.suite.families import Perturbation

AHEAD = 2  # models of which a few inputs are predicted again while another one predicts


def predict_models(
    requests: Iterable[PredictionRequest],
    *,
    jobs: int = 1,
    cluster: Cluster | None = None,  # whose workers predict; the few inputs predicted twice are done here
) -> Iterator[PredictionReport]:
    """Predict with one model after the other, and write their prediction tables.

    Whether kept answers of a model can be believed is found out before its turn.

    - Raises InputError: if a model cannot be loaded at all, or answers on another scale than the suite
      says; what it has answered is kept.
    - Raises OutputError: if there is no space; answers that were kept are found again in the next run.
    """
    ahead = AHEAD if jobs > 1 else 0  # with one job, one model is in memory at a time
    stopped = threading.Event()
    begun: collections.deque[tuple[PredictionRequest, Prediction | None]] = collections.deque()
    with ThreadPoolExecutor(AHEAD) as pool:
        try:
            for request in requests:
                prediction = None
                if request.entry.about.needs_audio:
                    known = request.fingerprint or check_model(request.entry, request.suite)
                    request = dataclasses.replace(request, fingerprint=known)
                    while any(twin.fingerprint == known for twin, _ in begun):  # its answers count here, too
                        yield _predicted(*begun.popleft(), jobs, cluster)
                    prediction = Prediction(request)
                    prediction.begin(pool, stopped)
                begun.append((request, prediction))
                if len(begun) > ahead:
                    yield _predicted(*begun.popleft(), jobs, cluster)
            while begun:
                yield _predicted(*begun.popleft(), jobs, cluster)
        except BaseException:
            stopped.set()
            raise


def _predicted(
    request: PredictionRequest,
    prediction: Prediction | None,  # of a model that listens
    jobs: int,
    cluster: Cluster | None,
) -> PredictionReport:
    start = time.monotonic()
    entry, tasks = request.entry, request.suite.tasks_of(request.entry)
    if prediction is not None:
        prediction.run(jobs=jobs, cluster=cluster)
        prediction.check_scale()
        prediction.refuse_odd_lengths()
        report, answered = prediction.report(), prediction.tables()
    else:
        model = request.model or entry.about.load(entry, request.suite)
        report, answered = look_up(model, request.corpora, request.changes, request.wanted)
        tasks = model.table_tasks(tasks)
    far = _far_outside(answered, tasks, entry)
    answered = {corpus: _in_our_terms(table, tasks, entry) for corpus, table in answered.items()}
    numbers = _values(answered, [task for task in tasks if task.is_regression])
    named = _values(answered, [task for task in tasks if task.classes])
    unknown = collections.Counter(
        name for task, names in named for name in names.tolist() if name and name not in task.classes
    )
    folder = request.out / "predictions" / files.slug(entry.name)
    tables = {corpus: folder / f"{files.slug(corpus)}.parquet" for corpus in answered}
    for corpus, table in answered.items():
        write_predictions(tables[corpus], table, tasks)
    return dataclasses.replace(
        report,
        model=entry.name,
        tables=tables,
        inputs=sum(map(len, answered.values())),
        out_of_range=sum(int(outside(values, (task.low, task.high)).sum()) for task, values in numbers),
        far_outside=far,
        unknown_classes=dict(sorted(unknown.items())),
        meant={task.name: words for task in tasks if (words := meanings(unknown, task.classes))},
        seconds=round(time.monotonic() - start, 3),
    )


def predict_share(
    request: PredictionRequest, share: Share, *, jobs: int
) -> tuple[PredictionReport, list[Result]]:
    """Predict a share of the inputs of a model that listens; only the cache keeps what it answers.

    Also gives the inputs of the share that have no answer.
    """
    prediction = Prediction(request, share)
    with ThreadPoolExecutor(1) as pool:
        prediction.begin(pool)
    prediction.run(jobs=jobs)
    report = dataclasses.replace(prediction.report(), inputs=len(prediction.inputs))
    return report, sorted(prediction.failures, key=lambda result: result.key)


def look_up(
    model: LookUpModel, corpora: Sequence[Corpus], changes: Mapping[str, Perturbation], wanted: Wanted | None
) -> tuple[PredictionReport, dict[str, Columns]]:
    """Collect the answers of a model that does not listen."""
    tables: dict[str, Columns] = {}
    failures = []
    changed = list(changes) if model.changes_audio else []
    names = {change: changes[change].name if change else "" for change in ["", *changed]}
    notices = tuple(model.notices(corpora))
    for corpus in corpora:
        keys = model.input_keys(corpus)
        wanted_changes = np.ones((len(keys), len(names)), dtype=bool)
        if changed:
            wanted_changes[:, 1:] = asked_changes(corpus, changed, wanted).T
        clean = model.look_up(corpus, "")  # of a change that nobody asks for as well
        looked_up = [
            model.look_up(corpus, name) if name and some else clean
            for name, some in zip(names, wanted_changes.any(axis=0), strict=True)
        ]
        # Row after row: for each segment clean first, then its changes in their order
        number, which = np.nonzero(wanted_changes)
        change = np.array(list(names), dtype=object)[which]
        problems = np.stack([np.array(reasons, dtype=object) for _, reasons in looked_up])[which, number]
        answers = {
            name: np.stack([values[name] for values, _ in looked_up])[which, number] for name in clean[0]
        }
        drawn = answers.pop(DRAWN, np.array([])).tolist()
        tables[corpus.name] = Columns(keys[number], change, problems, answers, drawn)
        failed = np.flatnonzero(problems)
        places = (corpus.segments[name].to_numpy()[number[failed]] for name in ("file", "start", "end"))
        failures += [
            (corpus.name, segment_label(*place), names[change[row]], problems[row])
            for row, *place in zip(failed, *places, strict=True)
        ]
    count = sum(len(table) for table in tables.values())
    report = PredictionReport(
        "",
        model.fingerprint,
        computed=count - len(failures),
        unusable=len(failures),
        failures=failures,
        notices=notices,
    )
    return report, tables


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


def _values(tables: Mapping[str, Columns], tasks: Sequence[Task]) -> Iterator[tuple[Task, np.ndarray]]:
    """Give the answers of all tables to each task, NaN or ``None`` where there is none."""
    for task in tasks:
        parts = [table.answers[task.name] for table in tables.values()]
        yield task, np.concatenate(parts) if parts else np.array([])


def _far_outside(
    tables: Mapping[str, Columns], tasks: Sequence[Task], entry: ModelEntry
) -> dict[str, list[float]]:
    """Count the answers far outside of their scale: task -> count, of how many, lowest, highest."""
    counts = {}
    for task, values in _values(tables, [task for task in tasks if task.is_regression]):
        values = values[np.isfinite(values)]
        if count := int(outside(values, entry.range_of(task), FAR).sum()):
            counts[task.name] = [count, len(values), float(values.min()), float(values.max())]
    return counts
