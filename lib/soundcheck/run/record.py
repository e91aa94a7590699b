"""The record of a run, ``run.json``: what was tested, with which versions, seeds and data.

Everything that pages say about models and corpora comes from here. It holds no absolute paths, no user, host
or time, so that the same suite on the same data gives the same record.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.corpora.corpus import Corpus
from soundcheck.predict.report import PredictionReport
from soundcheck.results import BETTER, NO_EVIDENCE, WORSE
from soundcheck.run.output import Output
from soundcheck.run.runner import Outcome
from soundcheck.sounds.sound import Sounds, SoundSet
from soundcheck.suite.entries import ComparisonEntry, Suite, public_target
from soundcheck.suite.families import Family

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


def versions() -> dict[str, str]:
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
    fingerprints: Mapping[str, str],
    outcomes: Sequence[Outcome],
    *,
    comparisons: Sequence[Outcome] = (),
    studies: Sequence[Outcome] = (),
    contrasts: pd.DataFrame | None = None,
    sounds: Sounds | None = None,
    results: str,
) -> dict:
    """Put the record together; plain JSON values only."""
    return {
        "version": __version__,
        "title": suite.title,
        "run": results[:12],
        "results": results,
        "seed": suite.seed,
        "replicates": suite.replicates,
        "interval": suite.interval,
        "suite": suite.describe(),
        "order": list(suite.models),
        "families": [_family(family) for family in families],
        "models": [_model(suite, name, reports[name], fingerprints[name]) for name in suite.models],
        "corpora": [_corpus(corpus) for corpus in corpora],
        "sounds": [_sounds(group) for group in (sounds.sets.values() if sounds else ())],
        "notebooks": [
            {"model": o.model, "family": o.family, "status": o.status, "error": o.error} for o in outcomes
        ],
        "comparisons": [_comparison(suite.comparisons[o.model], o, contrasts) for o in comparisons],
        "studies": [{"name": o.family, "status": o.status, "error": o.error} for o in studies],
        "versions": versions(),
    }


def failed_notebooks(content: Mapping) -> list[tuple[str, str]]:
    """List the notebooks of a record that failed: what they were about, and the error."""
    entries = [(f"{entry['family']} of {entry['model']}", entry) for entry in content["notebooks"]]
    entries += [(f"comparison {entry['name']}", entry) for entry in content["comparisons"]]
    entries += [(entry["name"], entry) for entry in content["studies"]]
    return [(name, entry["error"]) for name, entry in entries if entry["status"] != "ok"]


def _comparison(entry: ComparisonEntry, outcome: Outcome, contrasts: pd.DataFrame | None) -> dict:
    counts = {}
    if contrasts is not None:
        both = contrasts["baseline"].eq(entry.baseline) & contrasts["candidate"].eq(entry.candidate)
        found = contrasts.loc[both, "outcome"].value_counts()
        counts = {name: int(found.get(name, 0)) for name in (BETTER, WORSE, NO_EVIDENCE)}
    return {
        "name": entry.name,
        "slug": files.slug(entry.name),
        "baseline": entry.baseline,
        "candidate": entry.candidate,
        "status": outcome.status,
        "error": outcome.error,
        "outcomes": counts,
    }


def write(output: Output, content: Mapping) -> str:
    """Write ``run.json``; returns its digest."""
    return files.write_text(output.record, json.dumps(content, indent=1, ensure_ascii=True) + "\n")


def _family(family: Family) -> dict:
    return {
        "name": family.name,
        "title": family.title,
        "category": family.category,
        "question": family.question,
        "digest": family.digest,
    }


def _model(suite: Suite, name: str, report: PredictionReport, fingerprint: str) -> dict:
    entry = suite.models[name]
    return {
        "name": name,
        "slug": files.slug(name),
        "kind": entry.kind,
        "target": public_target(entry.kind, entry.target),
        "tasks": list(entry.tasks),
        "description": entry.description,
        "license": entry.license,
        "fingerprint": fingerprint,
        "inputs": report.inputs,
        "failed": report.failed,
        "unusable": report.unusable,
        "notes": report.notes(),
        "failures": [
            {"corpus": corpus, "item": item, "change": change, "reason": reason}
            for corpus, item, change, reason in report.failures
        ],
        "repeated": report.repeated,
        "repeated_different": report.repeated_different,
        "out_of_range": report.out_of_range,
        "unknown_classes": dict(report.unknown_classes),
    }


def _sounds(group: SoundSet) -> dict:
    return {
        "kind": group.kind,
        "source": group.source,
        "synthetic": group.synthetic,
        "sounds": len(group.sounds),
        "seconds": round(group.duration, 3),
        "left_out": [{"item": item, "reason": reason} for item, reason in group.left_out],
        "digest": group.digest,
    }


def _corpus(corpus: Corpus) -> dict:
    segments = corpus.segments
    return {
        "name": corpus.name,
        "slug": files.slug(corpus.name),
        "format": corpus.entry.format,
        "title": corpus.entry.title,
        "description": corpus.description,
        "synthetic": corpus.synthetic,
        "segments": len(segments),
        "speakers": int(segments["speaker"].nunique()) if "speaker" in segments else 0,
        "seconds": round(float(segments["duration"].sum()), 3),
        "left_out": [
            {"item": item.item, "reason": item.reason, "stage": item.stage} for item in corpus.left_out
        ],
        "notices": list(corpus.notices),
        "digest": files.digest("\n".join(segments["audio"])),
    }
