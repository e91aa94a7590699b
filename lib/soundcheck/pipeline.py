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
import itertools
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from soundcheck.common import files, messages
from soundcheck.common.day import given_day, today
from soundcheck.common.manifest import MANIFEST, sha256
from soundcheck.common.messages import Outcome, Problem, SoundcheckError
from soundcheck.common.progress import Progress
from soundcheck.predict.cluster import Cluster, connect
from soundcheck.predict.request import Share
from soundcheck.results.contrast import CONTRAST_TYPES, ContrastsFile, contrast_frame
from soundcheck.results.finished_run import check_place, keep
from soundcheck.results.record import KeyFigure, RunRecord
from soundcheck.results.rows import Estimate, SavedRows, Verdict, skipped_rows
from soundcheck.results.states import decide
from soundcheck.results.table import (
    RESULTS,
    collected,
    estimate_frame,
    frame_csv,
    read_parquet,
    to_frame,
    write_estimates,
    write_results,
)
from soundcheck.run import key_figures, notebook_jobs, tables
from soundcheck.run.material import Material, Opened, evaluated_corpora, load, supported_tasks
from soundcheck.run.notebook_jobs import common_estimates, common_jobs
from soundcheck.run.notebooks import Job, Notebooks, Outcomes, last_execution, without_outputs
from soundcheck.run.notebooks import Outcome as NotebookOutcome
from soundcheck.run.output import Output, seal
from soundcheck.run.predictions import Shards, ask_shard, forecast, predict_all, read_shards
from soundcheck.run.selection import RunOptions, comparing, corpus_folders, opened, select
from soundcheck.suite.entries import Suite
from soundcheck.suite.suite_file import read_suite

WORD_ERRORS = "asr_word_errors"  # the family whose groups are told apart in a table file


def run(options: RunOptions, shards: Sequence[Path] = ()) -> Outcome:
    """Run a suite and build its book.

    What shards have answered is taken over from their output folders, if there are any. Raises InputError:
    also if a model answers on another scale than the suite says; its answers are kept.
    """
    suite = _suite(options)
    suite = suite if options.keep else dataclasses.replace(suite, history=None)
    return _run(suite, options, read_shards(shards) if shards else None)


def plan_run(options: RunOptions, share: Share | None = None) -> Outcome:
    """Say what a run, or a share of its predictions, would do, and how long it would take.

    Corpora are loaded and a few inputs of each model are asked, which only the cache remembers.
    """
    with opened(_suite(options), options) as folder:
        start = time.monotonic()
        material = load(folder, options.jobs)
        took = time.monotonic() - start
        return Outcome(messages.EXIT_OK, forecast(material, options, took, share))


def run_shard(options: RunOptions, share: Share) -> Outcome:
    """Ask all models about a share of their inputs, which a run takes over; no notebook and no book."""
    with opened(read_suite(options.suite), options) as folder:
        stages = tables.Stages()
        stages.begin("corpora")
        material = load(folder, options.jobs)
        stages.begin("predictions")
        code, summary = ask_shard(material, share, jobs=options.jobs)
        stages.end()
    return Outcome(code, f"{summary}\n{stages.account}")


def compare(options: RunOptions, pair: tuple[str, str] | None = None, *, strict: bool = False) -> Outcome:
    """Run the models that are to be compared, and compare them.

    ``pair`` are the names of baseline and candidate; ``None`` for the comparisons that the suite lists.
    """
    suite = comparing(select(_suite(options), (), options.families), pair)
    suite = dataclasses.replace(suite, history=None)
    outcome = _run(suite, dataclasses.replace(options, families=()))  # the suite has no others
    if strict and outcome.exit_code == messages.EXIT_OK and outcome.worse:
        return dataclasses.replace(outcome, exit_code=messages.EXIT_TEST_FAILED)
    return outcome


def _suite(options: RunOptions) -> Suite:
    suite = read_suite(options.suite)
    suite = suite.quickened() if options.quick else suite
    return dataclasses.replace(suite, voices=options.voices) if options.voices else suite


def _run(suite: Suite, options: RunOptions, shards: Shards | None = None) -> Outcome:
    """Run all stages; what the last would come across is refused before: the day, the place of kept runs."""
    given_day()
    if suite.history is not None:
        check_place(suite.history, options.out, corpus_folders(suite))
    cluster = connect(options.cluster) if options.cluster else contextlib.nullcontext()
    with cluster as workers, opened(suite, options) as folder:
        return _Run(folder, options).outcome(workers, shards)


class _Run:
    """A run of a suite, or of a part of it, stage after stage; each takes what those before have left."""

    def __init__(self, folder: Opened, options: RunOptions) -> None:
        self.folder, self.families, self.output = folder, folder.families, folder.output
        self.options, self.stages, self.derived = options, tables.Stages(), tables.Derived(folder.output)

    def outcome(
        self,
        cluster: Cluster | None,
        shards: Shards | None,  # what they have answered is not asked
    ) -> Outcome:
        """Run all stages."""
        output, options, history = self.output, self.options, self.folder.plan.suite.history
        with Notebooks(output.cache, output.log, options.jobs) as notebooks:
            self.predict(notebooks, cluster, shards)
            self.stages.begin("notebooks")
            self.execute(notebooks)
        self.stages.begin("results")
        record, frame = self.write()
        problems = [] if history is None else self.keep(history)
        broken = self.build(record, frame) if options.book else []
        self.stages.end()
        built = options.book and not broken
        digest = sha256(output.html / MANIFEST) if built else ""
        seconds = dict(self.stages.seconds)
        record = dataclasses.replace(record, seconds=seconds, book=built, book_digest=digest)
        record.write(output.record)
        seal(output)
        measured: list[str] = []
        if options.efficiency is not None:
            self.stages.begin("efficiency")
            from soundcheck.efficiency.step import measure_run  # late: most runs do without

            try:
                measured = measure_run(self.material, self.figures, options.efficiency, today())
            except (SoundcheckError, OSError, ValueError) as error:  # the run is whole all the same
                problems.append(f"Efficiency could not be measured: {error}")
            self.stages.end()
        lines = [
            f"{name} could not be loaded here, its predictions are those of "
            f"{'an earlier run' if name in self.material.plan.fingerprints else 'the shards'}: {why}"
            for name, why in self.material.unloaded.items()
        ]
        lines += filter(None, map(without_outputs, itertools.chain(*self.outcomes)))
        lines += [*problems, *tables.about_book(output, wanted=options.book, problems=broken, digest=digest)]
        results = f"Results: {Path(output.display_name) / 'results.csv'}"
        lines += [results, self.stages.account, *measured]
        outcome = tables.sum_up(self.material, frame, record, broken, lines, self.derived)
        return dataclasses.replace(outcome, exit_code=messages.EXIT_INCOMPLETE) if problems else outcome

    def predict(self, notebooks: Notebooks, cluster: Cluster | None, shards: Shards | None) -> None:
        """Load what is tested, ask the models, and compute the key figures."""
        output, derived = self.output, self.derived
        self.stages.begin("corpora")
        answered = shards.fingerprints if shards else None
        material = load(self.folder, self.options.jobs, answered)
        failed = shards.take_over(material) if shards else None
        tables.write_segments(material.corpora, material.lists, output)
        if output.record.is_file() and not _all_executed(material):
            notebooks.start()  # its imports take as long as predictions
        self.stages.begin("predictions")
        material = predict_all(material, self.options, derived, cluster, failed)
        depends = derived.tables(material)
        make = functools.partial(tables.write_scores, material)
        output.prune_below(output.scores, derived.write("scores", depends, make))
        figures = derived.find(
            "key figures", depends, lambda: [*map(vars, key_figures.key_figures(material))]
        )
        self.depends = depends  # all that the figures depend on
        self.material = material
        self.figures = tuple(KeyFigure(**values) for values in figures)

    def execute(self, notebooks: Notebooks) -> None:
        """Execute the notebooks of all families, then those of comparisons and studies."""
        output, suite = self.output, self.material.suite
        judging = notebook_jobs.family_jobs(self.material, self.families)
        wanted = suite.studies and self.options.book  # they are pages, and have no results
        studying = notebook_jobs.study_jobs(output) if wanted else []
        common = {name: [*common_jobs(entry, judging, output)] for name, entry in suite.comparisons.items()}
        planned = [*judging, *(job for jobs in common.values() for job in jobs)]
        count = len(planned) + len(studying) + len(suite.comparisons)
        with Progress("notebooks", "in all", count) as progress:
            execute = functools.partial(_execute, notebooks, output, progress)
            done = execute(planned)
            judged, on_common = done[: len(judging)], done[len(judging) :]
            comparing = [
                notebook_jobs.comparison_job(entry, self.material, judged, on_common)
                for entry in suite.comparisons.values()
            ]
            done = execute([*comparing, *studying])
        compared, studied = done[: len(comparing)], done[len(comparing) :]
        self.outcomes = Outcomes(judged, on_common, compared, studied)
        recognising = [job for job in judging if job.family == WORD_ERRORS]
        make = functools.partial(tables.write_word_errors, recognising, output)
        if not self.derived.write("word errors", tables.job_fingerprints(recognising), make):
            output.word_errors.unlink(missing_ok=True)
        output.prune_below(output.notebooks, (path for job in judging for path in job.files))
        folders = {files.slug(name) for name, jobs in common.items() if jobs}
        notebooks_of_comparisons = {path.name for outcome in compared for path in outcome.job.files}
        output.prune(output.comparisons, notebooks_of_comparisons | folders)

    def write(self) -> tuple[RunRecord, pd.DataFrame]:
        """Write results, comparisons, what was left out and the record; gives the record and the results."""
        output, (judged, on_common, compared, _) = self.output, self.outcomes
        ended = map(tables.outcome_digests, (judged, on_common))
        seen = [*ended, self.families, self.depends, list(map(vars, self.figures))]
        written = self.derived.write("results", seen, self.write_results)
        frame = read_parquet(written[2], RESULTS)
        paired = [outcome.job for outcome in compared if not outcome.failed]
        contrasts = contrast_frame([row for job in paired for row in ContrastsFile.read(job.rows).rows])
        tables.write_left_out(self.material)
        files.write_bytes(output.comparison_table, frame_csv(contrasts, CONTRAST_TYPES))
        digest = files.digest(written[0])
        record = tables.compose(self.material, self.outcomes, self.figures, frame, contrasts, digest)
        record.write(output.record)
        return record, frame

    def write_results(self) -> list[Path]:
        """Write the rows of all notebooks; a failed notebook's tests become rows with its error."""
        suite, by_name = self.material.suite, {family.name: family for family in self.families}
        rows: list[Verdict] = []
        estimates: list[Estimate] = []
        drawn: dict[tuple, None] = {}
        for outcome in self.outcomes.judged:
            job = outcome.job
            if not outcome.failed:
                saved = SavedRows.read(job.rows)
                rows += saved.rows
                estimates += saved.estimates
                drawn |= dict.fromkeys(saved.drawn)
                continue
            family, entry = by_name[job.family], suite.models[job.model]
            for corpus in evaluated_corpora(family, entry, self.material.corpora):
                if corpus.entry.probes_of:
                    continue  # has no tests of its own
                for task in supported_tasks(family, suite.tasks_of(entry)):
                    reason = f"error: the notebook failed: {outcome.error}"
                    rows += skipped_rows(job.model, corpus.name, family, task, reason)
        write_results(decide(to_frame(rows)), self.output.folder)
        estimates += key_figures.estimates(self.figures)
        for outcome in self.outcomes.on_common:
            if not outcome.failed:
                estimates += common_estimates(outcome.job, suite.comparisons)
        write_estimates(estimate_frame(collected(estimates)), self.output.folder)
        tables.write_drawn(drawn, self.output)
        written = [self.output.results, self.output.estimates]
        return [*written, *(path.with_suffix(".parquet") for path in written)]

    def keep(self, history: Path) -> list[str]:
        """Keep the run; says why if it could not be kept, which does not lose it."""
        try:
            keep(history, self.output.folder, datetime.datetime.now(datetime.UTC))
        except (SoundcheckError, OSError) as error:
            why = getattr(error, "strerror", None) or str(error)
            what = f"This run was not saved in the history: {why}"
            return [f"{what}. Its results are complete; run again to save it"]
        return []

    def build(self, record: RunRecord, frame: pd.DataFrame) -> list[Problem]:
        """Build the book; gives what is wrong with it."""
        self.stages.begin("book")
        from soundcheck.book import build  # heavy, and of no use when anything above was refused

        return build.build(self.material, record, frame, jobs=self.options.jobs)


def _all_executed(material: Material) -> bool:
    """Whether all notebooks were executed before, as far as that is known before models are asked."""
    families = [family for family in material.families if not family.probes]
    return all(map(last_execution, notebook_jobs.family_jobs(material, families)))


def _execute(
    notebooks: Notebooks, output: Output, progress: Progress, jobs: Sequence[Job]
) -> list[NotebookOutcome]:
    """Execute notebooks, and take folders out of what they failed with: that is published."""
    outcomes = notebooks.execute(jobs, lambda _: progress.update())
    if not any(outcome.error for outcome in outcomes):
        return outcomes
    from soundcheck.book.site import without_paths

    return [dataclasses.replace(o, error=without_paths(o.error, output.folder)) for o in outcomes]
