"""One run: suite, corpora, models, predictions, spoken words, notebooks, results, book.

Everything that can be refused is refused before a model runs, all problems at once. After that nothing stops
the run: what fails is listed, and the exit code says so. All commands raise ``InputError`` if anything that
the suite names cannot be used; nothing has run then.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from soundcheck.common import files
from soundcheck.common.day import given_day, today
from soundcheck.common.errors import EXIT_INCOMPLETE, EXIT_OK, EXIT_TEST_FAILED, Problem, SoundcheckError
from soundcheck.common.manifest import MANIFEST, sha256
from soundcheck.common.progress import Progress
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.cluster import Cluster, connect
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import Share
from soundcheck.results.contrast import Contrast, contrast_csv, contrast_frame, load_contrasts
from soundcheck.results.estimates import Estimate, collected, estimate_frame, write_estimates
from soundcheck.results.judged import load_all
from soundcheck.results.past_runs import check_place, keep
from soundcheck.results.record import KeyFigure, RunRecord
from soundcheck.results.states import decide
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import Verdict, skipped_rows
from soundcheck.run import key_figures, notebook_jobs, planning, tables
from soundcheck.run.derived import Derived, of_notebooks, of_rows, read_frame
from soundcheck.run.forecast import forecast
from soundcheck.run.material import Material, load
from soundcheck.run.notebook_jobs import common_estimates, common_jobs
from soundcheck.run.notebooks import Job, Notebooks, without_outputs
from soundcheck.run.notebooks import Outcome as NotebookOutcome
from soundcheck.run.options import RunOptions
from soundcheck.run.outcome import Outcome, Stages, about_book, sum_up
from soundcheck.run.output import Output, seal
from soundcheck.run.predictions import predict_all
from soundcheck.run.record import compose
from soundcheck.run.selection import Opened, comparing, corpus_folders, opened, select
from soundcheck.run.shards import Shards, ask_shard, read_shards
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Family
from soundcheck.suite.suite_file import read_suite

WORD_ERRORS = "asr_word_errors"  # the family whose groups are told apart in a table file


def run(options: RunOptions) -> Outcome:
    """Run a suite and build its book.

    Raises InputError: also if a model answers on another scale than the suite says; its answers are kept.
    """
    suite = _suite(options)
    suite = suite if options.keep else dataclasses.replace(suite, history=None)
    _check_before(suite, options)
    with _connected(options.cluster) as cluster, opened(suite, options) as folder:
        return _run(folder, options, cluster=cluster, history=suite.history)


def plan_run(options: RunOptions, share: Share | None = None) -> Outcome:
    """Say what a run, or a share of its predictions, would do, and how long it would take.

    Corpora are loaded and a few inputs of each model are asked, which only the cache remembers.
    """
    with opened(_suite(options), options) as folder:
        start = time.monotonic()
        material = load(folder.plan, folder.families, folder.output, options.jobs)
        took = time.monotonic() - start
        jobs, fresh = options.jobs, options.fresh
        return Outcome(
            EXIT_OK, forecast(material, folder.output, jobs=jobs, took=took, fresh=fresh, share=share)
        )


def run_shard(options: RunOptions, share: Share) -> Outcome:
    """Ask all models about a share of their inputs, for :func:`merge`; no notebook and no book."""
    with opened(read_suite(options.suite), options) as folder:
        stages = Stages()
        stages.begin("corpora")
        material = load(folder.plan, folder.families, folder.output, options.jobs)
        stages.begin("predictions")
        code, summary = ask_shard(material, folder.output, share, jobs=options.jobs)
        stages.end()
    return Outcome(code, f"{summary}\n{stages.account}")


def merge(options: RunOptions, shards: Sequence[Path]) -> Outcome:
    """Take the answers of all shards over from their output folders, and go on as :func:`run`."""
    suite = _suite(options)
    _check_before(suite, options)
    loaded = read_shards(shards)
    with opened(suite, options) as folder:
        return _run(folder, options, shards=loaded, history=suite.history)


def compare(options: RunOptions, pair: tuple[str, str] | None = None, *, strict: bool = False) -> Outcome:
    """Run the models that are to be compared, and compare them.

    ``pair`` are the names of baseline and candidate; ``None`` for the comparisons that the suite lists.
    """
    suite = comparing(select(_suite(options), (), options.families), pair)
    given_day()
    options = dataclasses.replace(options, families=())  # the suite has no others
    with _connected(options.cluster) as cluster, opened(suite, options) as folder:
        outcome = _run(folder, options, cluster=cluster)
    if strict and outcome.exit_code == EXIT_OK and outcome.worse:
        return dataclasses.replace(outcome, exit_code=EXIT_TEST_FAILED)
    return outcome


def _suite(options: RunOptions) -> Suite:
    suite = read_suite(options.suite)
    suite = suite.quickened() if options.quick else suite
    return dataclasses.replace(suite, voices=options.voices) if options.voices else suite


def _check_before(suite: Suite, options: RunOptions) -> None:
    """Refuse what only the end of the run would come across: its day, and the place where it is kept."""
    given_day()
    if suite.history is not None:
        check_place(suite.history, suite.shown_history, options.out, corpus_folders(suite))


def _connected(cluster: str) -> contextlib.AbstractContextManager[Cluster | None]:
    return connect(cluster) if cluster else contextlib.nullcontext()


class _Predicted(NamedTuple):
    """What notebooks judge, and what follows from it alone."""

    material: Material
    reports: dict[str, PredictionReport]
    depends: list[object]  # all that the figures depend on
    figures: tuple[KeyFigure, ...]


class _Executed(NamedTuple):
    """How notebooks ended."""

    judged: list[NotebookOutcome]  # of models and families
    again: list[NotebookOutcome]  # the same on what two models both answered
    compared: list[NotebookOutcome]
    studied: list[NotebookOutcome]


def _run(
    folder: Opened,
    options: RunOptions,
    *,
    cluster: Cluster | None = None,
    shards: Shards | None = None,
    history: Path | None = None,
) -> Outcome:
    """Run a suite, or a part of it; what shards have answered is not asked."""
    output, stages, derived = folder.output, Stages(), Derived(folder.output)
    with Notebooks(output.cache, output.log, options.jobs) as notebooks:
        if folder.has_run and folder.anew and not options.fresh:  # notebooks come soon: answers are kept
            notebooks.start()
        predicted = _predict(folder, options, stages, derived, cluster, shards)
        stages.begin("notebooks")
        executed = _execute_all(predicted.material, output, notebooks, derived, book=options.book)
    stages.begin("results")
    record, frame = _write(predicted, executed, output, derived)
    derived.save()
    problems = [] if history is None else _keep(history, output)

    broken: list[Problem] = []
    if options.book:
        stages.begin("book")
        from soundcheck.book import build  # heavy, and of no use when anything above was refused

        material = predicted.material
        broken = build.build(
            output,
            record,
            frame,
            suite_root=material.suite.root,
            families=material.families,
            corpora=material.corpora,
            tasks=material.suite.tasks,
            sounds=material.sounds,
            jobs=options.jobs,
            history=history,
        )
    stages.end()
    built = options.book and not broken
    digest = sha256(output.html / MANIFEST) if built else ""
    record = dataclasses.replace(record, seconds=dict(stages.seconds), book=built, book_digest=digest)
    record.write(output.record)
    seal(output)

    measured: list[str] = []
    if options.efficiency is not None:
        stages.begin("efficiency")
        try:
            measured = _measure(predicted, output, options.efficiency)
        except (SoundcheckError, OSError, ValueError) as error:  # the run is whole all the same
            problems.append(f"Efficiency could not be measured: {error}")
        stages.end()
    lines = _unloaded(predicted.material)
    lines += [line for one in (*executed.judged, *sum(executed[1:], [])) if (line := without_outputs(one))]
    lines += [*problems, *about_book(output, wanted=options.book, problems=broken, digest=digest)]
    lines += [f"Results: {Path(output.display_name) / 'results.csv'}", stages.account, *measured]
    outcome = sum_up(output, frame, record, predicted.reports, broken, folder.plan, lines)
    return dataclasses.replace(outcome, exit_code=EXIT_INCOMPLETE) if problems else outcome


def _predict(
    folder: Opened,
    options: RunOptions,
    stages: Stages,
    derived: Derived,
    cluster: Cluster | None,
    shards: Shards | None,
) -> _Predicted:
    """Load what is tested, and ask the models."""
    output, jobs = folder.output, options.jobs
    stages.begin("corpora")
    answered = shards.fingerprints if shards else None
    material = load(folder.plan, folder.families, output, jobs, answered)
    failed = shards.take_over(material, output) if shards else None
    tables.write_segments(material.corpora, material.lists, output)
    stages.begin("predictions")
    material, reports = predict_all(
        material, output, jobs=jobs, fresh=options.fresh, failed=failed, cluster=cluster, derived=derived
    )
    about = (material.suite, material.families, material.corpora, material.lists, reports)
    depends = derived.tables(*about)
    figures = derived.find("key figures", depends, lambda: [*map(vars, key_figures.key_figures(*about))])
    return _Predicted(material, reports, depends, tuple(KeyFigure(**values) for values in figures))


def _execute_all(
    material: Material, output: Output, notebooks: Notebooks, derived: Derived, *, book: bool
) -> _Executed:
    """Execute the notebooks of all families, then those of comparisons and studies."""
    suite, families, corpora = material.suite, material.families, material.corpora
    judging = notebook_jobs.family_jobs(suite, families, corpora, output, material.sounds)
    studying = notebook_jobs.study_jobs(output) if suite.studies and book else []  # pages, no results
    common = {name: [*common_jobs(entry, judging, output)] for name, entry in suite.comparisons.items()}
    planned = [*judging, *(job for jobs in common.values() for job in jobs)]
    with Progress("notebooks", "in all", len(planned) + len(studying) + len(suite.comparisons)) as progress:
        execute = functools.partial(_execute, notebooks, output, progress)
        done = execute(planned, _import_book if book else bool)
        judged, again = done[: len(judging)], done[len(judging) :]
        comparing = [
            notebook_jobs.comparison_job(entry, suite, families, corpora, output, judged, again)
            for entry in suite.comparisons.values()
        ]
        done = execute([*comparing, *studying])
    compared, studied = done[: len(comparing)], done[len(comparing) :]
    recognising = [job for job in judging if job.family == WORD_ERRORS]
    make = functools.partial(tables.write_word_errors, recognising, output)
    if not derived.write("word errors", of_notebooks(recognising), make):
        output.word_errors.unlink(missing_ok=True)
    _prune_notebooks(output, judging)
    folders = {files.slug(name) for name, jobs in common.items() if jobs}
    output.prune(output.comparisons, {path.name for one in compared for path in one.job.files} | folders)
    return _Executed(judged, again, compared, studied)


def _execute(
    notebooks: Notebooks,
    output: Output,
    progress: Progress,
    jobs: Sequence[Job],
    meanwhile: Callable[[], object] = bool,
) -> list[NotebookOutcome]:
    """Execute notebooks, and take folders out of what they failed with: that is published."""
    outcomes = notebooks.execute(jobs, lambda _: progress.update(), meanwhile)
    if not any(outcome.error for outcome in outcomes):
        return outcomes
    from soundcheck.book.site import without_paths

    return [dataclasses.replace(o, error=without_paths(o.error, output.folder)) for o in outcomes]


def _import_book() -> None:
    """Import what writes the pages, which takes a second, while notebooks are executed."""
    from soundcheck.book import assembly, build  # noqa: F401


def _write(
    predicted: _Predicted, executed: _Executed, output: Output, derived: Derived
) -> tuple[RunRecord, pd.DataFrame]:
    """Write results, comparisons, what was left out and the record; gives the record and the results."""
    material, (judged, again, compared, studied) = predicted.material, executed
    suite, families, corpora = material.suite, material.families, material.corpora
    make = functools.partial(
        _write_results, suite, families, corpora, judged, again, predicted.figures, output
    )
    seen = [of_rows(judged), of_rows(again), families, predicted.depends, list(map(vars, predicted.figures))]
    written = derived.write("results", seen, make)
    frame = read_frame(written[2])
    contrasts = _contrasts(compared)
    tables.write_left_out(corpora, material.sounds, predicted.reports, output)
    files.write_bytes(output.comparison_table, contrast_csv(contrasts))
    record = compose(
        suite,
        families,
        corpora,
        predicted.reports,
        judged,
        comparisons=compared,
        studies=studied,
        contrasts=contrasts,
        sounds=material.sounds,
        results=files.digest(written[0]),
        rows=frame,
        figures=predicted.figures,
    )
    record.write(output.record)
    return record, frame


def _keep(history: Path, output: Output) -> list[str]:
    """Keep a finished run; says why if it could not be kept, which does not lose the run."""
    try:
        keep(history, output.folder, datetime.datetime.now(datetime.UTC))
    except (SoundcheckError, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        what = f"This run was not saved in the history: {why}"
        return [f"{what}. Its results are complete; run again to save it"]
    return []


def _measure(predicted: _Predicted, output: Output, seconds: float) -> list[str]:
    from soundcheck.efficiency.step import measure_run  # late: most runs do without

    return measure_run(predicted.material, output, predicted.figures, seconds=seconds, day=today())


def _unloaded(material: Material) -> list[str]:
    earlier = material.plan.fingerprints
    return [
        f"{name} could not be loaded here, its predictions are those of "
        f"{'an earlier run' if name in earlier else 'the shards'}: {why}"
        for name, why in material.unloaded.items()
    ]


def _prune_notebooks(output: Output, planned: Iterable[Job]) -> None:
    """Remove executed notebooks of models and families that the suite no longer has."""
    planned = list(planned)
    output.prune(output.notebooks, {job.target.parent.name for job in planned})
    for folder in {job.target.parent for job in planned}:
        mine = [job for job in planned if job.target.parent == folder]
        output.prune(folder, {path.name for job in mine for path in job.files})


def _write_results(
    suite: Suite,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    outcomes: Sequence[NotebookOutcome],
    again: Sequence[NotebookOutcome],
    figures: Sequence[KeyFigure],
    output: Output,
) -> list[Path]:
    """Write the rows of all notebooks; a failed notebook's tests become rows with its error."""
    by_name = {family.name: family for family in families}
    rows: list[Verdict] = []
    estimates: list[Estimate] = []
    drawn: dict[tuple, None] = {}
    for outcome in outcomes:
        job = outcome.job
        if not outcome.failed:
            verdicts, values, segments = load_all(job.rows)
            rows, estimates = rows + verdicts, estimates + values
            drawn |= dict.fromkeys(segments)
            continue
        family = by_name[job.family]
        for corpus in planning.evaluated_corpora(family, suite.models[job.model], corpora):
            if corpus.entry.probes_of:
                continue  # has no tests of its own
            for task in planning.supported_tasks(family, planning.tasks_of(suite, suite.models[job.model])):
                rows += skipped_rows(
                    job.model, corpus.name, family, task, f"error: the notebook failed: {outcome.error}"
                )
    write_results(decide(to_frame(rows)), output.folder)
    estimates += key_figures.estimates(figures)
    for outcome in again:
        if not outcome.failed:
            estimates += common_estimates(outcome.job, suite.comparisons)
    write_estimates(estimate_frame(collected(estimates)), output.folder)
    tables.write_drawn(drawn, output)
    written = [output.results, output.estimates]
    return [*written, *(path.with_suffix(".parquet") for path in written)]


def _contrasts(outcomes: Sequence[NotebookOutcome]) -> pd.DataFrame:
    """Collect the rows of all comparisons."""
    rows: list[Contrast] = []
    for outcome in outcomes:
        if not outcome.failed:
            rows += load_contrasts(outcome.job.rows)
    return contrast_frame(rows)
