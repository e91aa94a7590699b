"""One run: suite, corpora, models, predictions, spoken words, notebooks, results, book.

Everything that can be refused is refused before a model runs, all problems at once. After that nothing stops
the run: what fails is listed, and the exit code says so.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from soundcheck.common import files
from soundcheck.common.day import given_day, today
from soundcheck.common.errors import EXIT_INCOMPLETE, EXIT_OK, EXIT_TEST_FAILED, Problem, SoundcheckError
from soundcheck.common.manifest import MANIFEST, sha256
from soundcheck.common.progress import Progress
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.ahead import Ahead
from soundcheck.predict.cluster import Cluster, connect
from soundcheck.predict.shares import Share
from soundcheck.results.contrast import Contrast, contrast_csv, contrast_frame, load_contrasts
from soundcheck.results.estimates import Estimate, collected, estimate_frame, write_estimates
from soundcheck.results.judged import load_all
from soundcheck.results.past_runs import check_place, keep
from soundcheck.results.record import KeyFigure
from soundcheck.results.states import decide
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import Verdict, skipped_rows
from soundcheck.run import key_figures, notebook_jobs, planning, tables
from soundcheck.run.common_jobs import common_estimates, common_jobs
from soundcheck.run.derived import Derived, of_notebooks, of_rows, read_frame
from soundcheck.run.early import Early
from soundcheck.run.forecast import forecast
from soundcheck.run.material import load
from soundcheck.run.merging import Shards, read_shards
from soundcheck.run.notebooks import Job, Notebooks, without_outputs
from soundcheck.run.notebooks import Outcome as NotebookOutcome
from soundcheck.run.opening import Opened, opened
from soundcheck.run.outcome import Outcome, about_book, sum_up
from soundcheck.run.output import Output
from soundcheck.run.predictions import predict_all
from soundcheck.run.record import compose
from soundcheck.run.sealing import seal
from soundcheck.run.selection import comparing, corpus_folders, select, with_voices
from soundcheck.run.shards import ask_shard
from soundcheck.run.stages import Stages
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Family
from soundcheck.suite.suite_file import read_suite

WORD_ERRORS = "asr_word_errors"  # the family whose groups are told apart in a table file


def run(
    suite_file: Path,
    out: Path,
    *,
    models: Sequence[str] = (),
    families: Sequence[str] = (),
    jobs: int = 1,
    no_code: bool = False,
    fresh: bool = False,
    book: bool = True,
    cluster: str = "",
    early: Early | None = None,
    kept: bool = True,
    voices: str = "",
    efficiency: float | None = None,
) -> Outcome:
    """Run a suite and build its book.

    Parameters
    ----------
    suite_file
        The suite.yml.
    out
        Output folder.
    models, families
        Names to restrict the run to; default all of the suite. A restricted run adds to the book of the same
        suite, see :mod:`soundcheck.run.adding`.
    jobs
        Processes for synthesis, prediction and notebooks.
    no_code
        Refuse models that run code.
    fresh
        Forget what the models answered in earlier runs, and ask everything anew.
    book
        Whether to build the book. Without, that of an earlier run stays as it is: its pages name their run,
        and the summary and ``run.json`` say that it is not of this one.
    cluster
        Address of a Dask scheduler, or its file, whose workers ask the models; empty = those of this machine.
    early
        What has begun with the same arguments.
    kept
        Whether the run is kept in the history, if the suite wants one.
    voices
        What is heard in the book, ``"all"`` or ``"none"``; ``""`` = as the suite says.
    efficiency
        Seconds that each model may take to be measured after the run; ``None`` = not at all.

    Raises
    ------
    InputError
        If anything that the suite names cannot be used; nothing has run then. If a model answers on another
        scale than the suite says; its answers are kept.
    """
    suite = read_suite(suite_file) if early is None else early.suite
    ahead = Ahead(jobs) if early is None else early.ahead
    suite = suite if kept else dataclasses.replace(suite, history=None)
    suite = with_voices(suite, voices)
    _check_before(suite, out)
    asked = {"jobs": jobs, "no_code": no_code, "fresh": fresh, "book": book, "ahead": ahead}
    asked["efficiency"] = efficiency
    with opened(suite, out, models, families) as folder, _connected(cluster) as workers:
        return _run(folder, cluster=workers, history=suite.history, **asked)


def plan_run(
    suite_file: Path,
    out: Path,
    *,
    models: Sequence[str] = (),
    families: Sequence[str] = (),
    jobs: int = 1,
    no_code: bool = False,
    fresh: bool = False,
    book: bool = True,
    share: Share | None = None,
    voices: str = "",
) -> Outcome:
    """Say what :func:`run` would do with the same arguments, and how long it would take.

    Corpora are loaded and a few inputs of each model are asked, which only the cache remembers.

    Raises
    ------
    InputError
        As a run.
    """
    with opened(with_voices(read_suite(suite_file), voices), out, models, families) as folder:
        tested, output = folder.begin(no_code=no_code), folder.output
        start = time.monotonic()
        material = load(folder.plan, tested, output, jobs)
        took = time.monotonic() - start
        return Outcome(EXIT_OK, forecast(material, output, jobs=jobs, took=took, fresh=fresh, share=share))


def run_shard(suite_file: Path, out: Path, share: Share, *, jobs: int = 1, no_code: bool = False) -> Outcome:
    """Ask all models about a share of their inputs, for :func:`merge`; no notebook and no book.

    Raises
    ------
    InputError
        As a run.
    """
    with opened(read_suite(suite_file), out) as folder:
        tested = folder.begin(no_code=no_code)
        stages = Stages()
        stages.begin("corpora")
        material = load(folder.plan, tested, folder.output, jobs)
        stages.begin("predictions")
        code, summary = ask_shard(material, folder.output, share, jobs=jobs)
        stages.end()
    return Outcome(code, f"{summary}\n{stages.account}")


def merge(
    suite_file: Path,
    shards: Sequence[Path],
    out: Path,
    *,
    jobs: int = 1,
    no_code: bool = False,
    book: bool = True,
    voices: str = "",
) -> Outcome:
    """Take the answers of all shards over, and go on as :func:`run`.

    Parameters
    ----------
    suite_file, out, jobs, no_code, book, voices
        See :func:`run`.
    shards
        Output folders of :func:`run_shard`.

    Raises
    ------
    InputError
        As a run. If shards are missing, or do not belong to the suite, the models or the data.
    """
    suite = with_voices(read_suite(suite_file), voices)
    _check_before(suite, out)
    found = read_shards(shards, suite)
    asked = {"jobs": jobs, "no_code": no_code, "book": book}
    with opened(suite, out) as folder:
        return _run(folder, shards=found, history=suite.history, **asked)


def compare(
    suite_file: Path,
    out: Path,
    pair: tuple[str, str] | None = None,
    *,
    families: Sequence[str] = (),
    jobs: int = 1,
    no_code: bool = False,
    strict: bool = False,
    book: bool = True,
    cluster: str = "",
    voices: str = "",
) -> Outcome:
    """Run the models that are to be compared, and compare them.

    Parameters
    ----------
    suite_file, out, families, jobs, no_code, book, cluster, voices
        See :func:`run`.
    pair
        Names of baseline and candidate; ``None`` for the comparisons that the suite lists.
    strict
        Whether a candidate that is worse on a test changes the exit code.

    Raises
    ------
    InputError
        If anything that is asked for cannot be used; nothing has run then.
    """
    suite = comparing(select(with_voices(read_suite(suite_file), voices), (), families), pair)
    given_day()
    with opened(suite, out) as folder, _connected(cluster) as workers:
        outcome = _run(folder, jobs=jobs, no_code=no_code, book=book, cluster=workers)
    if strict and outcome.exit_code == EXIT_OK and outcome.worse:
        return dataclasses.replace(outcome, exit_code=EXIT_TEST_FAILED)
    return outcome


def _check_before(suite: Suite, out: Path) -> None:
    """Refuse what only the end of the run would come across: its day, and the place where it is kept."""
    given_day()
    if suite.history is not None:
        check_place(suite.history, suite.shown_history, out, corpus_folders(suite))


def _connected(cluster: str) -> contextlib.AbstractContextManager[Cluster | None]:
    return connect(cluster) if cluster else contextlib.nullcontext()


def _run(folder: Opened, *, jobs: int, **asked: Any) -> Outcome:
    """Run a suite, or a part of it, see :func:`_run_in`."""
    with Notebooks(folder.output.cache, folder.output.log, jobs) as notebooks:
        return _run_in(folder, notebooks, jobs=jobs, **asked)


def _run_in(
    folder: Opened,
    notebooks: Notebooks,
    *,
    jobs: int,
    no_code: bool,
    fresh: bool = False,
    book: bool = True,
    cluster: Cluster | None = None,
    shards: Shards | None = None,
    ahead: Ahead | None = None,
    history: Path | None = None,
    efficiency: float | None = None,
) -> Outcome:
    """Run with places for notebooks; what shards have answered is not asked."""
    again = folder.output.has_run
    tested = folder.begin(no_code=no_code)
    plan, output = folder.plan, folder.output
    if again and folder.before.anew and not fresh:  # there will be notebooks, and soon: answers are kept
        notebooks.start()
    stages = Stages()
    stages.begin("corpora")
    answered = shards.fingerprints if shards else None
    confirming = jobs > 1 and not fresh and shards is None
    derived = Derived(output)
    with ahead or Ahead(jobs) as ahead:
        material = load(plan, tested, output, jobs, answered=answered, ahead=ahead if confirming else None)
        failed = shards.take_over(material, output) if shards else None
        tables.write_segments(material.corpora, material.lists, output)
        stages.begin("predictions")
        material, reports = predict_all(
            material,
            output,
            jobs=jobs,
            fresh=fresh,
            failed=failed,
            cluster=cluster,
            ahead=ahead,
            derived=derived,
        )
    suite, corpora, lists, sounds = material.suite, material.corpora, material.lists, material.sounds
    stages.begin("notebooks")
    depends = derived.tables(suite, tested, corpora, lists, reports)
    figures = tuple(
        KeyFigure(**values)
        for values in derived.find(
            "key figures",
            depends,
            lambda: [
                vars(figure) for figure in key_figures.key_figures(suite, tested, corpora, lists, reports)
            ],
        )
    )

    judging = notebook_jobs.family_jobs(suite, tested, corpora, output, sounds)
    studying = notebook_jobs.study_jobs(output) if suite.studies and book else []  # pages, no results
    common = {name: [*common_jobs(entry, judging, output)] for name, entry in suite.comparisons.items()}
    planned = [*judging, *(job for jobs in common.values() for job in jobs)]
    with Progress("notebooks", "in all", len(planned) + len(studying) + len(suite.comparisons)) as progress:
        execute = functools.partial(_execute, notebooks, output, progress)
        done = execute(planned, _import_book if book else bool)
        judged, again = done[: len(judging)], done[len(judging) :]
        comparing = [
            notebook_jobs.comparison_job(entry, suite, tested, corpora, output, judged, again)
            for entry in suite.comparisons.values()
        ]
        done += (last := execute([*comparing, *studying]))
    compared, studied = last[: len(comparing)], last[len(comparing) :]
    heard = [job for job in judging if job.family == WORD_ERRORS]
    make = functools.partial(tables.write_word_errors, heard, output)
    if not derived.write("word errors", of_notebooks(heard), make):
        output.word_errors.unlink(missing_ok=True)
    notebooks.close()
    _prune_notebooks(output, judging)
    folders = {files.slug(name) for name, jobs in common.items() if jobs}
    output.prune(output.comparisons, {path.name for one in compared for path in one.job.files} | folders)

    stages.begin("results")
    make = functools.partial(_write_results, suite, tested, corpora, judged, again, figures, output)
    seen = [of_rows(judged), of_rows(again), tested, depends, list(map(vars, figures))]
    written = derived.write("results", seen, make)
    frame, results_digest = read_frame(written[2]), files.digest(written[0])
    contrasts = _contrasts(compared)
    tables.write_left_out(corpora, sounds, reports, output)
    files.write_bytes(output.comparison_table, contrast_csv(contrasts))
    record = compose(
        suite,
        tested,
        corpora,
        reports,
        judged,
        comparisons=compared,
        studies=studied,
        contrasts=contrasts,
        sounds=sounds,
        results=results_digest,
        rows=frame,
        figures=figures,
    )
    record.write(output.record)
    derived.save()
    lost = "" if history is None else _keep(history, output)

    problems: list[Problem] = []
    if book:
        stages.begin("book")
        from soundcheck.book import build  # heavy, and of no use when anything above was refused

        problems = build.build(
            output,
            record,
            frame,
            suite_root=suite.root,
            families=tested,
            corpora=corpora,
            tasks=suite.tasks,
            sounds=sounds,
            jobs=jobs,
            history=history,
        )
    stages.end()
    built = book and not problems
    digest = sha256(output.html / MANIFEST) if built else ""
    record = dataclasses.replace(record, seconds=dict(stages.seconds), book=built, book_digest=digest)
    record.write(output.record)
    seal(output)
    last = about_book(output, wanted=book, problems=problems, digest=digest)
    unloaded = [
        f"{name} could not be loaded here, its answers are those of "
        f"{'the shards' if name in plan.asked else 'an earlier run'}: {why}"
        for name, why in material.unloaded.items()
    ]
    unloaded += [line for one in done if (line := without_outputs(one))]
    kept = [lost] if lost else []
    measured: list[str] = []
    if efficiency is not None:
        from soundcheck.efficiency.step import measure_run  # late: most runs do without

        stages.begin("efficiency")
        try:
            measured = measure_run(material, output, figures, seconds=efficiency, day=today())
        except (SoundcheckError, OSError, ValueError) as error:  # the run is whole all the same
            kept.append(f"Efficiency could not be measured: {error}")
        stages.end()
    last += [f"Results: {Path(output.display_name) / 'results.csv'}", stages.account, *measured]
    outcome = sum_up(output, frame, record, reports, problems, plan, [*unloaded, *kept, *last])
    return dataclasses.replace(outcome, exit_code=EXIT_INCOMPLETE) if kept else outcome


def _keep(history: Path, output: Output) -> str:
    """Keep a finished run; says why if it could not be kept, which does not lose the run."""
    try:
        keep(history, output.folder, datetime.datetime.now(datetime.UTC))
    except (SoundcheckError, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return f"This run was not kept in the history: {why}. Its results are whole; run again to keep it"
    return ""


def _import_book() -> None:
    """Import what writes the pages, which takes a second; notebooks begin meanwhile."""
    from soundcheck.book import assembly, build  # noqa: F401


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
    from soundcheck.book.executed import without_paths  # heavy, like all of the book

    return [dataclasses.replace(o, error=without_paths(o.error, output.folder)) for o in outcomes]


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
            own, values, segments = load_all(job.rows)
            rows, estimates = rows + own, estimates + values
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
