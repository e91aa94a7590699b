"""How a run ended: its record, its exit code, and the lines that the command prints."""

from __future__ import annotations

import dataclasses
import itertools
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path

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
)
from soundcheck.common.resources import library_digest, versions
from soundcheck.common.store import made_of
from soundcheck.corpora.load import Corpus
from soundcheck.predict.report import PredictionReport
from soundcheck.report.failures import summary_lines
from soundcheck.report.key_figures import reversed_caveats
from soundcheck.results.contrast import WORSE, summary_of
from soundcheck.results.facts import counts, facts_by_model
from soundcheck.results.record import (
    ComparisonRecord,
    CorpusRecord,
    ExcludedSound,
    FailedInput,
    FamilyRecord,
    KeyFigure,
    ModelRecord,
    NotebookRecord,
    RunRecord,
    SoundsRecord,
    StudyRecord,
)
from soundcheck.results.table import read_estimates
from soundcheck.run.material import Material
from soundcheck.run.notebooks import Outcome as NotebookOutcome
from soundcheck.run.notebooks import Outcomes
from soundcheck.run.output import Output
from soundcheck.run.tables import Derived
from soundcheck.suite.corpus_format import numbers_of
from soundcheck.suite.entries import QUICK_LEVELS, QUICK_SEGMENTS, ComparisonEntry, ModelEntry

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
    figures: Sequence[KeyFigure],
    rows: pd.DataFrame,
    contrasts: pd.DataFrame,
    results: str,
) -> RunRecord:
    """Put the record together; ``results`` is the digest of ``results.csv``, ``rows`` is that table."""
    suite, corpora, reports = material.suite, material.corpora, material.reports
    models = tuple(_model(entry, reports[name]) for name, entry in suite.models.items())
    return made_of(
        RunRecord,
        suite,
        version=__version__,
        run=results[:12],
        results=results,
        suite=suite.describe(),
        own_tests=suite.tests,
        order=tuple(suite.models),
        families=tuple(made_of(FamilyRecord, family) for family in material.families),
        models=models,
        corpora=tuple(map(_corpus, corpora)),
        sounds=tuple(map(_sounds, material.sounds.sets.values())),
        notebooks=tuple(made_of(NotebookRecord, o, o.job) for o in outcomes.judged),
        comparisons=tuple(
            _comparison(suite.comparisons[o.job.model], o, contrasts) for o in outcomes.compared
        ),
        studies=tuple(made_of(StudyRecord, o, name=o.job.family) for o in outcomes.studied),
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
) -> ComparisonRecord:
    both = contrasts["baseline"].eq(entry.baseline) & contrasts["candidate"].eq(entry.candidate)
    return made_of(
        ComparisonRecord, entry, outcome, slug=files.slug(entry.name), **summary_of(contrasts[both])
    )


def _model(entry: ModelEntry, report: PredictionReport) -> ModelRecord:
    return made_of(
        ModelRecord,
        entry,
        report,
        slug=files.slug(entry.name),
        target=entry.public_target,
        notes=tuple(report.notes()),
        confirmed=report.confirmation.asked,
        confirmed_different=report.confirmation.different,
        failures=tuple(itertools.starmap(FailedInput, report.failures)),
    )


def _sounds(group: SoundSet) -> SoundsRecord:
    return made_of(
        SoundsRecord,
        group,
        sounds=len(group.sounds),
        seconds=round(group.duration, 3),
        left_out=tuple(itertools.starmap(ExcludedSound, group.left_out)),
    )


def _corpus(corpus: Corpus) -> CorpusRecord:
    segments = corpus.segments
    return made_of(
        CorpusRecord,
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
    record: RunRecord,
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
