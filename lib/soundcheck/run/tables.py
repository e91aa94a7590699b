"""What a run writes beside its results: segments, trials, scores, word errors, what was left out, its record.

And how it ended: its exit code, and the lines that the command prints.

Key figures, the words that are spoken, word errors, scores of trials and the results table follow from files
of the output folder and from the suite. So what came out is remembered under the digest of all that it
depends on: contents of files, never their names or times. A table that was written is left as it is if it
still has the digest that it was written with.
"""

from __future__ import annotations

import dataclasses
import itertools
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from soundcheck import __version__
from soundcheck.augment.sounds import SoundSet
from soundcheck.common import files
from soundcheck.common.messages import (
    EXIT_INCOMPLETE,
    EXIT_OK,
    Caveat,
    Outcome,
    Problem,
    counted,
    duration,
    shorten,
    spreadsheet,
)
from soundcheck.common.resources import library_digest, made_here, versions
from soundcheck.common.store import JsonCache, made_of
from soundcheck.corpora.load import Corpus
from soundcheck.corpora.trials.trial_files import score_text
from soundcheck.corpora.trials.trial_table import TrialTable, write_table
from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.evaluation.subset import SCORE, score_trials
from soundcheck.evaluation.trials import threshold_in_use
from soundcheck.evaluation.words import group_rates
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.tables import read_predictions
from soundcheck.report.failures import summary_lines
from soundcheck.report.key_figures import reversed_caveats
from soundcheck.results import record as records
from soundcheck.results.contrast import WORSE, summary_of
from soundcheck.results.facts import counts, facts_by_model
from soundcheck.results.table import read_estimates
from soundcheck.run.material import Material
from soundcheck.run.notebooks import Job, Outcomes
from soundcheck.run.notebooks import Outcome as NotebookOutcome
from soundcheck.run.output import Output
from soundcheck.suite.corpus_format import numbers_of
from soundcheck.suite.entries import QUICK_LEVELS, QUICK_SEGMENTS, ComparisonEntry, ModelEntry


def write_segments(
    corpora: Iterable[Corpus], lists: Mapping[tuple[str, str], TrialTable], output: Output
) -> None:
    """Keep each segment table and each list of trials as Parquet, where notebooks and readers find it."""
    for corpus in corpora:
        with files.replacing(output.segments(corpus.name)) as part:
            corpus.segments.to_parquet(part, index=False)
    for place, table in lists.items():
        write_table(output.trials(*place), table)


def write_scores(material: Material) -> list[Path]:
    """Keep the scores of all trials as text for other tools, with what is decided at the threshold in use.

    A line is ``0.107 enrolled tested reject 0.4`` under a header; with trials of one kind only, which give
    no threshold, ``0.107 enrolled tested``. Lists the files.
    """
    tested = {family.name: family for family in material.families}
    keys = {corpus.name: corpus.segments["key"].tolist() for corpus in material.corpora}
    folder, written = material.output.scores, []
    for model, report in material.reports.items():
        for (corpus, family), table in material.lists.items():
            predictions = read_predictions(report.tables[corpus]) if corpus in report.tables else None
            if predictions is None or not {"embedding", SCORE} & set(predictions.columns):
                continue
            path = folder / files.slug(model) / f"{files.slug(corpus)}.{files.slug(family)}.txt"
            scores = score_trials(predictions, keys[corpus], table)
            target = table.frame["target"].to_numpy(dtype=bool)
            threshold = threshold_in_use(tested[family], model, scores, target)
            scored = ~np.isnan(scores)
            names = (table.frame.loc[scored, side].tolist() for side in ("enrol", "test"))
            files.write_bytes(path, score_text(*names, scores[scored], threshold)[0])
            written.append(path)
    return written


def write_word_errors(jobs: Iterable[Job], output: Output) -> list[Path]:
    """Keep the word errors of each recogniser, group and speaker as ``tables/word_errors.csv``, if any.

    Rates are shares of the words of the references, with all digits. Lists the file.
    """
    rows = []
    for job in jobs:
        evaluation = Evaluation(job.description)
        columns = (*evaluation.family.options.get("groups", ()), "speaker")
        for subset in evaluation.subsets():
            rows += [{"model": job.model} | row for row in group_rates(evaluation, subset, columns)]
    if not rows:
        return []
    frame = pd.DataFrame(rows)
    texts = ["model", "corpus", "column", "group"]
    frame[texts] = frame[texts].astype(str).map(spreadsheet)
    _write(frame, output.word_errors)
    return [output.word_errors]


def write_left_out(material: Material) -> None:
    """List everything that was left out of the evaluation, with its reason, as ``left_out.csv``."""
    rows = [
        (item.stage, "", corpus.name, item.item, item.reason)
        for corpus in material.corpora
        for item in corpus.left_out
    ]
    rows += [
        ("sounds", "", "", f"{group.kind}: {item}", reason)
        for group in material.sounds.sets.values()
        for item, reason in group.left_out
    ]
    rows += [
        ("model", name, corpus, f"{item} {change}".strip(), reason)
        for name, report in material.reports.items()
        for corpus, item, change, reason in report.failures
    ]
    frame = pd.DataFrame(rows, columns=["stage", "model", "corpus", "item", "reason"])
    _write(frame.map(spreadsheet), material.output.left_out)


def write_drawn(drawn: Iterable[tuple[str, str, str, Sequence[str]]], output: Output) -> None:
    """List the segments that were drawn so that groups are alike, as ``drawn_segments.csv``, if any were."""
    rows = [(*place, key) for *place, keys in sorted(drawn) for key in keys]
    if not rows:
        output.drawn.unlink(missing_ok=True)
        return
    _write(pd.DataFrame(rows, columns=["corpus", "family", "task", "segment"]).map(spreadsheet), output.drawn)


def _write(frame: pd.DataFrame, path: Path) -> None:
    files.write_text(path, frame.to_csv(index=False, lineterminator="\n"))


# What follows from files that are as they were --------------------------------------------------------------


class Derived:
    """What earlier runs into an output folder have computed; what it depends on is compared by its repr."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._known = JsonCache(output.folder / "derived.json", made_here())

    def save(self) -> None:
        """Keep what this run has used or computed."""
        self._known.save()

    def find(self, name: str, depends: object, make: Callable[[], Any]) -> Any:
        """Give a value that JSON knows, not ``None``, or make it."""
        return self._known.find(_name(name, depends), make)

    def write(self, name: str, depends: object, paths: Callable[[], Iterable[Path]]) -> list[Path]:
        """Write files, unless they are as they were written when they depended on the same."""
        entry, root = _name(name, depends), self._output.folder
        known = self._known.get(entry)
        if known is None or any(_content(root / place) != digest for place, digest in known.items()):
            known = {path.relative_to(root).as_posix(): files.digest(path) for path in paths()}
            self._known.put(entry, known)
        return [root / place for place in known]

    def tables(self, material: Material) -> list[object]:
        """List what follows from the tables that models were asked about, and from their answers, depends on.

        Segments and trials count as they were written for notebooks. Tests and thresholds of families do not
        count: they judge answers, and nobody is asked anything else because of them.
        """
        output, suite = self._output, material.suite
        segments = [
            (corpus.name, repr(corpus.entry), files.digest(output.segments(corpus.name)))
            for corpus in material.corpora
        ]
        trials = [(place, files.digest(output.trials(*place))) for place in material.lists]
        answers = [
            (model, corpus, files.digest(path))
            for model, report in material.reports.items()
            for corpus, path in report.tables.items()
        ]
        settings = [getattr(suite, field.name) for field in dataclasses.fields(suite)]
        asking = [dataclasses.replace(family, tests={}, digest="") for family in material.families]
        return [settings, asking, segments, trials, answers]


def _name(name: str, depends: object) -> str:
    return f"{name} {files.digest(repr(depends))}"


def _content(path: Path) -> str:
    return files.digest(path) if path.is_file() and not path.is_symlink() else ""


def job_fingerprints(jobs: Iterable[Job]) -> list[tuple[str, str, str]]:
    """Say what follows from the descriptions of notebooks depends on."""
    return [(job.model, job.family, job.fingerprint) for job in jobs]


def outcome_digests(outcomes: Iterable[NotebookOutcome]) -> list[tuple[str, ...]]:
    """Say what follows from how notebooks ended, and from the rows that they saved, depends on."""
    return [
        (one.job.model, one.job.family, one.status, one.error, _content(one.job.rows)) for one in outcomes
    ]


# The record of a run  --------------------------------------------------------------------------------


# that numbers depend on
PACKAGES = "numpy pandas scipy pyarrow audiofile audresample audformat praat-parselmouth av"
PACKAGES += " pyroomacoustics scikit-learn papermill jupyter-book"


QUICK = (
    f"A quick run: at most {QUICK_SEGMENTS} segments under each change of the sound, {QUICK_LEVELS} levels, "
    "no sweeps. Run without --quick before anything depends on it"
)


def compose(
    material: Material,
    outcomes: Outcomes,
    figures: Sequence[records.KeyFigure],
    rows: pd.DataFrame,
    contrasts: pd.DataFrame,
    results: str,
) -> records.RunRecord:
    """Put the record together; ``results`` is the digest of ``results.csv``, ``rows`` is that table."""
    suite, corpora, reports = material.suite, material.corpora, material.reports
    models = tuple(_model(entry, reports[name]) for name, entry in suite.models.items())
    return made_of(
        records.RunRecord,
        suite,
        version=__version__,
        run=results[:12],
        results=results,
        suite=suite.describe(),
        own_tests=suite.tests,
        order=tuple(suite.models),
        families=tuple(made_of(records.FamilyRecord, family) for family in material.families),
        models=models,
        corpora=tuple(map(_corpus, corpora)),
        sounds=tuple(map(_sounds, material.sounds.sets.values())),
        notebooks=tuple(made_of(records.NotebookRecord, o, o.job) for o in outcomes.judged),
        comparisons=tuple(
            _comparison(suite.comparisons[o.job.model], o, contrasts) for o in outcomes.compared
        ),
        studies=tuple(made_of(records.StudyRecord, o, name=o.job.family) for o in outcomes.studied),
        versions={
            "soundcheck": __version__,
            "Python": platform.python_version(),
            **{name: version for name, version in versions(PACKAGES.split()).items() if version},
        },
        figures=tuple(figures),
        seconds={},  # the run is not over
        book=False,
        book_digest="",
        library=library_digest(),
        caveats=(
            *([Caveat(QUICK)] if suite.quick else ()),
            *(caveat for corpus in corpora for caveat in corpus.caveats),
            *(caveat for name in suite.models for caveat in reports[name].caveats()),
            *reversed_caveats(figures, models),
        ),
        verdicts={model: dict(counts(model_rows)) for model, model_rows in rows.groupby("model", sort=True)},
    )


def _comparison(
    entry: ComparisonEntry, outcome: NotebookOutcome, contrasts: pd.DataFrame
) -> records.ComparisonRecord:
    both = contrasts["baseline"].eq(entry.baseline) & contrasts["candidate"].eq(entry.candidate)
    return made_of(
        records.ComparisonRecord, entry, outcome, slug=files.slug(entry.name), **summary_of(contrasts[both])
    )


def _model(entry: ModelEntry, report: PredictionReport) -> records.ModelRecord:
    return made_of(
        records.ModelRecord,
        entry,
        report,
        slug=files.slug(entry.name),
        target=entry.public_target,
        notes=tuple(report.notes()),
        confirmed=report.confirmation.asked,
        confirmed_different=report.confirmation.different,
        failures=tuple(itertools.starmap(records.FailedInput, report.failures)),
    )


def _sounds(group: SoundSet) -> records.SoundsRecord:
    return made_of(
        records.SoundsRecord,
        group,
        sounds=len(group.sounds),
        seconds=round(group.duration, 3),
        left_out=tuple(itertools.starmap(records.ExcludedSound, group.left_out)),
    )


def _corpus(corpus: Corpus) -> records.CorpusRecord:
    segments = corpus.segments
    return made_of(
        records.CorpusRecord,
        corpus,
        corpus.entry,
        slug=files.slug(corpus.name),
        segments=len(segments),
        speakers=int(segments["speaker"].nunique()) if "speaker" in segments else 0,
        seconds=round(float(np.nansum(numbers_of(segments, "duration"))), 3),  # without audio there is none
        digest=files.digest("\n".join(segments["audio"])),
    )


# What the command prints -----------------------------------------------------------------------------------


class Stages:
    """The stages of one run, one after the other.

    Where nobody looks at a terminal, the beginning of each stage is a line of the log.
    """

    def __init__(self) -> None:
        self._first = self._begin = time.monotonic()
        self._name = ""
        self.seconds: dict[str, float] = {}

    def begin(self, name: str) -> None:
        """Begin a stage, which ends the one before; a name may come again."""
        self.end()
        self._name, self._begin = name, time.monotonic()
        if not sys.stderr.isatty():
            print(f"[{duration(self._begin - self._first)}] {name}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the present stage, if there is one."""
        if self._name:
            took = time.monotonic() - self._begin
            self.seconds[self._name] = round(self.seconds.get(self._name, 0.0) + took, 1)
        self._name = ""

    @property
    def account(self) -> str:
        """All stages that took a second or more, in a sentence."""
        parts = [f"{name} {duration(took)}" for name, took in self.seconds.items() if took >= 1]
        total = f"Time: {duration(sum(self.seconds.values()))}"
        return f"{total} ({', '.join(parts)})" if parts else total


def sum_up(
    material: Material,
    frame: pd.DataFrame,
    record: records.RunRecord,
    problems: Sequence[Problem],
    last: Sequence[str],
    derived: Derived,
) -> Outcome:
    """Sum up a run in a few lines, and give its exit code."""

    def of_models() -> list[str]:
        facts = facts_by_model(record, frame, read_estimates(material.output.folder))
        return [line for of_model in facts.values() for line in summary_lines(of_model)]

    depends = [dataclasses.replace(record, seconds={}), files.digest(material.output.estimates)]
    lines = [*derived.find("summary", depends, of_models)]
    derived.save()
    lines += [f"Caveat: {caveat}" for caveat in record.caveats]
    lines += [f"{model.name}: predictions: {model.origin}" for model in record.models if model.origin]
    for comparison in record.comparisons:
        answers = (comparison.outcomes, comparison.outcomes_sample)
        new, here = (", ".join(f"{count} {name}" for name, count in counts.items()) for counts in answers)
        about = f"{comparison.candidate} against {comparison.baseline}"
        lines.append(f"{about}: {new} for new speakers; {here} with these speakers")
        lines += [f"  {sentence}" for sentence in comparison.headlines]
    for notebook in record.failed:
        first = "".join(notebook.error.splitlines()[:1])
        lines.append(f"The notebook {notebook.display_name} failed: {first[:200]}")
    lines += material.plan.notices
    reports = material.reports
    failed = [reports[model.name] for model in record.models if reports[model.name].failed]
    for report in failed:
        inputs = counted(report.failed, "input")
        most = "" if report.unusable else f" (most often: {shorten(report.reasons()[0][0], 120)})"
        lines.append(f"{report.model} gave no prediction for {inputs}{most}; left_out.csv lists them")
    lines += [f"{name}: {note}" for name, report in reports.items() for note in report.class_notes()]
    lines += [f"{corpus.name}: {note}" for corpus in record.corpora for note in corpus.unlabelled]
    left_out = sum(len(corpus.unused) for corpus in record.corpora)
    if left_out:
        lines.append(f"{left_out} items of the corpora were left out; the book and left_out.csv list them")
    lines += last
    fine = not (record.failed or failed or problems)
    answers = [counts for pair in record.comparisons for counts in (pair.outcomes, pair.outcomes_sample)]
    worse = sum(counts.get(WORSE, 0) for counts in answers)
    return Outcome(EXIT_OK if fine else EXIT_INCOMPLETE, "\n".join(lines), worse)


def about_book(output: Output, *, wanted: bool, problems: Sequence[Problem], digest: str = "") -> list[str]:
    """Say where the book is, with its digest if it has one, or why there is none of this run."""
    place = Path(output.display_name) / "html" / "index.html"
    if problems:
        why = f"The book could not be built; {output.log.name} in {output.display_name} says more."
        return [*map(str, problems), why]
    if wanted:
        return [f"Book: {place}", *([f"Digest of the book: {digest}"] if digest else [])]
    old = f"; {place} is the book of an earlier run" if output.html.exists() else ""
    return [f"Book: not built{old}"]
