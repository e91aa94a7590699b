"""One run: suite, corpora, models, predictions, spoken words, notebooks, results, book.

Everything that can be refused is refused before a model runs, all problems at once. After that nothing stops
the run: what fails is listed, and the exit code says so.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from soundcheck import results
from soundcheck.common import files
from soundcheck.common.errors import (
    EXIT_INCOMPLETE,
    EXIT_OK,
    EXIT_TEST_FAILED,
    InputError,
    Problem,
    Problems,
)
from soundcheck.common.store import CACHE_VARIABLE
from soundcheck.corpora.corpus import Corpus
from soundcheck.corpora.group_columns import add_groups, check_groups, measured_columns
from soundcheck.corpora.load import load_corpus
from soundcheck.corpora.measured import measure
from soundcheck.corpora.trials.trial_lists import trial_lists
from soundcheck.models.load import check_model
from soundcheck.predict.engine import predict_model
from soundcheck.predict.report import PredictionReport
from soundcheck.report.run_summary import summary_lines
from soundcheck.results.record import RunRecord
from soundcheck.results.standing import standings
from soundcheck.run import adding, notebook_jobs, planning, runner, tables
from soundcheck.run.key_figures import key_figures
from soundcheck.run.keyword_sentences import keyword_corpora
from soundcheck.run.lock import FolderLock
from soundcheck.run.output import Output
from soundcheck.run.record import compose
from soundcheck.run.selection import comparing, corpus_folders, read_families, refuse_code, select
from soundcheck.run.stages import Stages
from soundcheck.sounds.load import load_sounds
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Family
from soundcheck.suite.suite_file import read_suite

WORD_ERRORS = "asr_word_errors"  # the family whose groups are told apart in a table file


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    exit_code: int
    summary: str
    worse: int = 0  # tests on which a candidate is worse than its baseline


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

    Raises
    ------
    InputError
        If anything that the suite names cannot be used; nothing has run then. If a model answers on another
        scale than the suite says; its answers are kept.
    """
    suite, output = read_suite(suite_file), Output(out)
    chosen = select(suite, models, families)
    output.check(corpus_folders(suite))
    with FolderLock(output.folder, output.display_name) as lock:
        plan = adding.add(suite, chosen, output) if models or families else adding.whole(suite)
        return _run(plan, output, lock, jobs=jobs, no_code=no_code, fresh=fresh, book=book)


def compare(
    suite_file: Path,
    out: Path,
    pair: tuple[str, str] | None = None,
    *,
    families: Sequence[str] = (),
    jobs: int = 1,
    no_code: bool = False,
    strict: bool = False,
) -> Outcome:
    """Run the models that are to be compared, and compare them.

    Parameters
    ----------
    suite_file, out, families, jobs, no_code
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
    suite = comparing(select(read_suite(suite_file), (), families), pair)
    output = Output(out)
    output.check(corpus_folders(suite))
    with FolderLock(output.folder, output.display_name) as lock:
        outcome = _run(adding.whole(suite), output, lock, jobs=jobs, no_code=no_code)
    if strict and outcome.exit_code == EXIT_OK and outcome.worse:
        return dataclasses.replace(outcome, exit_code=EXIT_TEST_FAILED)
    return outcome


def _run(
    plan: adding.Plan,
    output: Output,
    lock: FolderLock,
    *,
    jobs: int,
    no_code: bool,
    fresh: bool = False,
    book: bool = True,
) -> Outcome:
    """Run a suite, or a part of it."""
    suite = plan.suite
    asked = [entry for name, entry in suite.models.items() if name in plan.asked]
    tested = read_families(suite)
    if no_code:
        refuse_code(suite, asked)
    output.prepare()
    lock.take()
    stages = Stages()
    stages.begin("corpora")
    os.environ[CACHE_VARIABLE] = str(output.cache)  # for models that keep things, and for all children
    corpora, fingerprints, sounds = _load(suite, asked, tested, output, jobs)
    kept = adding.keep_answers(plan, tested, corpora, sounds, output)

    measured = [(corpus, measured_columns(corpus.entry, tested)) for corpus in corpora]
    corpora = [measure(corpus, names, output.cache, jobs, progress=True) for corpus, names in measured]
    corpora = [add_groups(corpus) for corpus in corpora]
    lists = trial_lists(suite, tested, corpora)
    tables.write_segments(corpora, lists, output)

    def predict(entry: ModelEntry, predicted_corpora: Sequence[Corpus], log: str = "") -> PredictionReport:
        tasks = planning.tasks_of(suite, entry)
        families = [family for family in tested if entry.is_for(family.name)]
        answered = [family for family in families if planning.answers_changes(entry, family, sounds)]
        changes = planning.changes_of(answered, tasks, sounds)
        return predict_model(
            entry,
            suite,
            predicted_corpora,
            changes,
            output.folder,
            output.cache,
            jobs=jobs,
            progress=True,
            fingerprint=fingerprints[entry.name],
            wanted=functools.partial(planning.needed_segments, families, tasks, suite.seed),
            sounds=sounds,
            log=log,
            fresh=fresh and not log,  # a second round goes on with what the first has checked or asked anew
            confirm=not log,
        )

    stages.begin("predictions")
    reports = {
        entry.name: predict(entry, planning.predicted_corpora(suite, entry, tested, corpora))
        for entry in asked
    }
    reports = {name: (reports | kept)[name] for name in suite.models}
    # What is spoken around words depends on which of them each model loses.
    localising = notebook_jobs.family_jobs(suite, [f for f in tested if f.probes], corpora, output, sounds)
    probes = keyword_corpora(suite, localising, output.cache, jobs, progress=True)
    corpora += probes
    tables.write_segments(corpora, lists, output)
    kept_words = adding.keep_answers(plan, tested, probes, sounds, output)
    for name, report in kept_words.items():
        reports[name] = dataclasses.replace(reports[name], tables=reports[name].tables | report.tables)
    for entry in asked:
        own = planning.predicted_corpora(suite, entry, tested, probes)
        if own:
            reports[entry.name] = reports[entry.name].joined(predict(entry, own, "words"))
    output.prune(output.predictions, {files.slug(name) for name in suite.models})
    for name, report in reports.items():
        output.prune(output.predictions / files.slug(name), {path.name for path in report.tables.values()})
    tables.write_scores(lists, tested, corpora, reports, output)
    stages.begin("notebooks")
    figures = key_figures(suite, tested, corpora, lists, reports)

    judging = notebook_jobs.family_jobs(suite, tested, corpora, output, sounds)
    studying = notebook_jobs.study_jobs(output) if suite.studies and book else []  # pages, no results
    done = _execute([*judging, *studying], output, jobs, "notebooks")
    judged, studied = done[: len(judging)], done[len(judging) :]
    tables.write_word_errors([job for job in judging if job.family == WORD_ERRORS], output)
    fine = [outcome.job for outcome in judged if not outcome.failed]
    comparing = notebook_jobs.comparison_jobs(suite, tested, corpora, output, fine)
    compared = _execute(comparing, output, jobs, "comparisons")
    _prune_notebooks(output, judging)
    output.prune(output.comparisons, {path.name for job in comparing for path in job.files})

    stages.begin("results")
    frame = _results(suite, tested, corpora, judged)
    contrasts = _contrasts(compared)
    results_digest = results.write_results(frame, output.folder)
    tables.write_left_out(corpora, sounds, reports, output)
    files.write_bytes(output.comparison_table, results.contrast_csv(contrasts))
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
        figures=figures,
    )
    record.write(output.record)

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
        )
    stages.end()
    record = dataclasses.replace(record, seconds=stages.seconds, book=book and not problems)
    record.write(output.record)
    last = _about_book(output, wanted=book, problems=problems)
    last += [f"Results: {Path(output.display_name) / 'results.csv'}", stages.account]
    return _outcome(output, frame, record, reports, problems, plan, last)


def _execute(jobs: Sequence[runner.Job], output: Output, workers: int, what: str) -> list[runner.Outcome]:
    """Execute notebooks, and take folders out of what they failed with: that is published."""
    if not jobs:
        return []
    with tqdm(total=len(jobs), desc=what, unit="", disable=None) as bar:
        outcomes = runner.execute(
            jobs, cache=output.cache, log=output.log, workers=workers, finished=lambda _: bar.update()
        )
    from soundcheck.book.executed import without_paths  # heavy, like all of the book

    return [dataclasses.replace(o, error=without_paths(o.error, output.folder)) for o in outcomes]


def _load(
    suite: Suite, asked: Iterable[ModelEntry], families: Sequence[Family], output: Output, jobs: int
) -> tuple[list[Corpus], dict[str, str], Sounds]:
    """Load all corpora and sounds, check the models that are asked, and tell all problems at once."""
    problems = Problems()
    sounds = Sounds()
    corpora, fingerprints = [], {}
    for entry in suite.corpora.values():
        try:
            corpora.append(load_corpus(entry, suite, output.cache, jobs, progress=True))
        except InputError as error:
            problems.extend(error)
    if not len(problems):
        try:
            check_groups(suite, corpora)
        except InputError as error:
            problems.extend(error)
    for entry in asked:
        try:
            fingerprints[entry.name] = check_model(entry, suite, corpora)
        except InputError as error:
            problems.extend(error)
    if suite.sounds or not len(problems):  # nothing is synthesised for a suite that is refused
        try:
            kinds = planning.sounds_of(families)
            sounds = load_sounds(suite, kinds, output.cache, jobs=jobs, progress=True)
        except InputError as error:
            problems.extend(error)
    problems.raise_if_any()
    return corpora, fingerprints, sounds


def _prune_notebooks(output: Output, planned: Iterable[runner.Job]) -> None:
    """Remove executed notebooks of models and families that the suite no longer has."""
    planned = list(planned)
    output.prune(output.notebooks, {job.target.parent.name for job in planned})
    for folder in {job.target.parent for job in planned}:
        mine = [job for job in planned if job.target.parent == folder]
        output.prune(folder, {path.name for job in mine for path in job.files})


def _results(
    suite: Suite,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    outcomes: Sequence[runner.Outcome],
) -> pd.DataFrame:
    """Collect the rows of all notebooks; a failed notebook's tests become rows with its error."""
    by_name = {family.name: family for family in families}
    rows: list[results.Verdict] = []
    for outcome in outcomes:
        job = outcome.job
        if not outcome.failed:
            rows += results.load(job.rows)
            continue
        family = by_name[job.family]
        for corpus in planning.evaluated_corpora(family, suite.models[job.model], corpora):
            if corpus.entry.probes_of:
                continue  # has no tests of its own
            for task in planning.supported_tasks(family, planning.tasks_of(suite, suite.models[job.model])):
                rows += results.skipped_rows(
                    job.model, corpus.name, family, task, f"error: the notebook failed: {outcome.error}"
                )
    return results.settle(results.to_frame(rows))


def _contrasts(outcomes: Sequence[runner.Outcome]) -> pd.DataFrame:
    """Collect the rows of all comparisons."""
    rows: list[results.Contrast] = []
    for outcome in outcomes:
        if not outcome.failed:
            rows += results.load_contrasts(outcome.job.rows)
    return results.contrast_frame(rows)


def _outcome(
    output: Output,
    frame: pd.DataFrame,
    record: RunRecord,
    reports: dict[str, PredictionReport],
    problems: Sequence[Problem],
    plan: adding.Plan,
    last: Sequence[str],
) -> Outcome:
    """Sum up a run in a few lines, and give its exit code."""
    lines = []
    standing = standings(frame, record.figures)
    for model in record.models:
        lines += summary_lines(model, record, frame[frame["model"].eq(model.name)], standing)
    lines += [f"{model.name}: answers {model.origin}" for model in record.models if model.origin]
    for comparison in record.comparisons:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in comparison.outcomes.items())
        lines.append(f"{comparison.candidate} against {comparison.baseline}: {counts}")
    for notebook in record.failed:
        first = "".join(notebook.error.splitlines()[:1])
        lines.append(f"The notebook {notebook.display_name} failed: {first[:200]}")
    for name in (entry.name for entry in plan.kept):
        lines.append(f"{name} was not asked in this run: its answers are those of {reports[name].answers_of}")
    lines += plan.notices
    failed_inputs = {name: reports[name].failed for name in plan.asked if reports[name].failed}
    for name, count in failed_inputs.items():
        lines.append(f"{name} gave no answer for {count} inputs; the book lists them")
    lines += [f"{name}: {told}" for name, report in reports.items() for told in report.class_notes()]
    lines += [f"{corpus.name}: {told}" for corpus in record.corpora for told in corpus.unlabelled]
    left_out = sum(len(corpus.unused) for corpus in record.corpora)
    if left_out:
        lines.append(f"{left_out} items of the corpora were left out; the book and left_out.csv list them")
    lines += last
    fine = not (record.failed or failed_inputs or problems)
    worse = sum(comparison.outcomes[results.WORSE] for comparison in record.comparisons)
    return Outcome(EXIT_OK if fine else EXIT_INCOMPLETE, "\n".join(lines), worse)


def _about_book(output: Output, *, wanted: bool, problems: Sequence[Problem]) -> list[str]:
    """Say where the book is, or why there is none of this run."""
    place = Path(output.display_name) / "html" / "index.html"
    if problems:
        why = f"The book could not be built; {output.log.name} in {output.display_name} tells more."
        return [*map(str, problems), why]
    if wanted:
        return [f"Book: {place}"]
    old = f"; {place} is the book of an earlier run" if output.html.exists() else ""
    return [f"Book: not built{old}"]
