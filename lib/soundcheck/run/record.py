"""Puts the record of a run together."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.report import PredictionReport
from soundcheck.results import BETTER, NO_EVIDENCE, WORSE
from soundcheck.results.record import (
    ComparisonRecord,
    CorpusRecord,
    ExcludedSound,
    FailedInput,
    FamilyRecord,
    ModelRecord,
    NotebookRecord,
    RunRecord,
    SoundsRecord,
    StudyRecord,
)
from soundcheck.run.runner import Outcome
from soundcheck.sounds.sound import Sounds, SoundSet
from soundcheck.suite.entries import ComparisonEntry, ModelEntry, Suite, public_target
from soundcheck.suite.families import Family

__all__ = ["compose"]

PACKAGES = (
    "numpy",
    "pandas",
    "scipy",
    "pyarrow",
    "audiofile",
    "audresample",
    "audformat",
    "praat-parselmouth",
    "av",
    "pyroomacoustics",
    "scikit-learn",
    "papermill",
    "jupyter-book",
)


def _versions() -> dict[str, str]:
    """Versions of Python and of the libraries that numbers depend on."""
    found = {"soundcheck": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


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
) -> RunRecord:
    """Put the record together.

    Parameters
    ----------
    suite, families, corpora, reports, sounds
        What was run: what the models predicted, and with which noises and impulse responses.
    notebooks, comparisons, studies
        How the notebooks ended.
    contrasts
        Rows of the comparisons.
    results
        Digest of ``results.csv``.
    """
    return RunRecord(
        version=__version__,
        title=suite.title,
        run=results[:12],
        results=results,
        seed=suite.seed,
        replicates=suite.replicates,
        interval=suite.interval,
        suite=suite.describe(),
        order=tuple(suite.models),
        families=tuple(map(_family, families)),
        models=tuple(_model(entry, reports[name]) for name, entry in suite.models.items()),
        corpora=tuple(map(_corpus, corpora)),
        sounds=tuple(map(_sounds, sounds.sets.values())),
        notebooks=tuple(
            NotebookRecord(model=o.model, family=o.family, status=o.status, error=o.error) for o in notebooks
        ),
        comparisons=tuple(_comparison(suite.comparisons[o.model], o, contrasts) for o in comparisons),
        studies=tuple(StudyRecord(name=o.family, status=o.status, error=o.error) for o in studies),
        versions=_versions(),
    )


def _comparison(entry: ComparisonEntry, outcome: Outcome, contrasts: pd.DataFrame) -> ComparisonRecord:
    both = contrasts["baseline"].eq(entry.baseline) & contrasts["candidate"].eq(entry.candidate)
    found = contrasts.loc[both, "outcome"].value_counts()
    return ComparisonRecord(
        name=entry.name,
        slug=files.slug(entry.name),
        baseline=entry.baseline,
        candidate=entry.candidate,
        status=outcome.status,
        error=outcome.error,
        outcomes={name: int(found.get(name, 0)) for name in (BETTER, WORSE, NO_EVIDENCE)},
    )


def _family(family: Family) -> FamilyRecord:
    return FamilyRecord(
        name=family.name,
        title=family.title,
        category=family.category,
        question=family.question,
        digest=family.digest,
    )


def _model(entry: ModelEntry, report: PredictionReport) -> ModelRecord:
    return ModelRecord(
        name=entry.name,
        slug=files.slug(entry.name),
        kind=entry.kind,
        target=public_target(entry.kind, entry.target),
        tasks=entry.tasks,
        description=entry.description,
        license=entry.license,
        fingerprint=report.fingerprint,
        inputs=report.inputs,
        failed=report.failed,
        unusable=report.unusable,
        notes=tuple(report.notes()),
        failures=tuple(
            FailedInput(corpus=corpus, item=item, change=change, reason=reason)
            for corpus, item, change, reason in report.failures
        ),
        repeated=report.repeated,
        repeated_different=report.repeated_different,
        out_of_range=report.out_of_range,
        unknown_classes=report.unknown_classes,
    )


def _sounds(group: SoundSet) -> SoundsRecord:
    return SoundsRecord(
        kind=group.kind,
        source=group.source,
        synthetic=group.synthetic,
        sounds=len(group.sounds),
        seconds=round(group.duration, 3),
        left_out=tuple(ExcludedSound(item=item, reason=reason) for item, reason in group.left_out),
        digest=group.digest,
    )


def _corpus(corpus: Corpus) -> CorpusRecord:
    segments = corpus.segments
    return CorpusRecord(
        name=corpus.name,
        slug=files.slug(corpus.name),
        format=corpus.entry.format,
        title=corpus.entry.title,
        description=corpus.description,
        synthetic=corpus.synthetic,
        segments=len(segments),
        speakers=int(segments["speaker"].nunique()) if "speaker" in segments else 0,
        seconds=round(float(segments["duration"].sum()), 3),
        left_out=corpus.left_out,
        notices=corpus.notices,
        digest=files.digest("\n".join(segments["audio"])),
    )
