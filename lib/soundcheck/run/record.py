"""Puts the record of a run together."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from soundcheck import __version__
from soundcheck.augment.sounds import Sounds, SoundSet
from soundcheck.common import files
from soundcheck.common.caveats import Caveat
from soundcheck.common.resources import library_digest
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.report import PredictionReport
from soundcheck.report.key_figures import reversed_caveats
from soundcheck.results.conclusion import summary_of
from soundcheck.results.facts import counts
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
from soundcheck.run.made_of import made_of
from soundcheck.run.notebooks import Outcome
from soundcheck.suite.entries import QUICK_LEVELS, QUICK_SEGMENTS, ComparisonEntry, ModelEntry, Suite
from soundcheck.suite.families import Family
from soundcheck.suite.groups import numbers_of

PACKAGES = "numpy pandas scipy pyarrow audiofile audresample audformat praat-parselmouth av"
PACKAGES += " pyroomacoustics scikit-learn papermill jupyter-book"


def _versions() -> dict[str, str]:
    """Versions of Python and of the libraries that numbers depend on."""
    versions = {"soundcheck": __version__, "Python": platform.python_version()}
    for name in PACKAGES.split():
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


QUICK = (
    f"A quick run: at most {QUICK_SEGMENTS} segments under each change of the sound, {QUICK_LEVELS} levels, "
    "no sweeps. Run without --quick before anything depends on it"
)


def compose(
    suite: Suite,
    families: Sequence[Family],
    corpora: Sequence[Corpus],
    reports: Mapping[str, PredictionReport],
    notebooks: Sequence[Outcome],
    *,
    comparisons: Sequence[Outcome],
    studies: Sequence[Outcome],
    contrasts: pd.DataFrame,
    sounds: Sounds,
    results: str,
    rows: pd.DataFrame,
    figures: Sequence[KeyFigure],
) -> RunRecord:
    """Put the record together; ``results`` is the digest of ``results.csv``, ``rows`` is that table."""
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
        families=tuple(made_of(FamilyRecord, family) for family in families),
        models=models,
        corpora=tuple(map(_corpus, corpora)),
        sounds=tuple(map(_sounds, sounds.sets.values())),
        notebooks=tuple(made_of(NotebookRecord, o, o.job) for o in notebooks),
        comparisons=tuple(_comparison(suite.comparisons[o.job.model], o, contrasts) for o in comparisons),
        studies=tuple(made_of(StudyRecord, o, name=o.job.family) for o in studies),
        versions=_versions(),
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


def _comparison(entry: ComparisonEntry, outcome: Outcome, contrasts: pd.DataFrame) -> ComparisonRecord:
    both = contrasts["baseline"].eq(entry.baseline) & contrasts["candidate"].eq(entry.candidate)
    return made_of(
        ComparisonRecord, entry, outcome, slug=files.slug(entry.name), **summary_of(contrasts[both])
    )


def _model(entry: ModelEntry, report: PredictionReport) -> ModelRecord:
    failures = [
        FailedInput(corpus=corpus, item=item, change=change, reason=reason)
        for corpus, item, change, reason in report.failures
    ]
    return made_of(
        ModelRecord,
        entry,
        report,
        slug=files.slug(entry.name),
        target=entry.public_target,
        notes=tuple(report.notes()),
        confirmed=report.confirmation.asked,
        confirmed_different=report.confirmation.different,
        failures=tuple(failures),
    )


def _sounds(group: SoundSet) -> SoundsRecord:
    return made_of(
        SoundsRecord,
        group,
        sounds=len(group.sounds),
        seconds=round(group.duration, 3),
        left_out=tuple(ExcludedSound(item=item, reason=reason) for item, reason in group.left_out),
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
