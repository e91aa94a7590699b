"""The record of a run, ``run.json``: what was tested, with which versions, seeds and data.

Everything that pages say about models and corpora comes from here. It holds no absolute paths, no user, host
or time, so that the same suite on the same data gives the same record.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from soundcheck import __version__, files
from soundcheck.corpora.segments import Corpus
from soundcheck.entries import Suite
from soundcheck.output import Output
from soundcheck.predict.engine import PredictionReport
from soundcheck.runner import Outcome
from soundcheck.thresholds import Family

PACKAGES = (
    "numpy",
    "pandas",
    "scipy",
    "pyarrow",
    "audiofile",
    "audresample",
    "audformat",
    "praat-parselmouth",
    "scikit-learn",
    "papermill",
    "jupyter-book",
)


def library_digest() -> str:
    """Digest of all source files of the library: what was computed with other code is not kept."""
    root = Path(__file__).parent
    sources = sorted(path for path in root.rglob("*.py"))
    return files.digest("\n".join(f"{path.relative_to(root)} {files.digest(path)}" for path in sources))


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
        "notebooks": [
            {"model": o.model, "family": o.family, "status": o.status, "error": o.error} for o in outcomes
        ],
        "versions": versions(),
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
        "target": entry.target,
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
