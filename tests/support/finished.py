"""Makes the output folder of a run from a few rows, for what only reads results: cards, sheets, histories."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from soundcheck.results.record import RunRecord
from soundcheck.results.table import to_frame, write_results
from soundcheck.results.verdict import Verdict

FAILED = {
    **{"value": 0.4, "low": 0.3, "high": 0.45, "passed": False, "evidence": "clear fail"},
    **{"gap": -0.1, "gap_low": -0.2, "gap_high": -0.05, "p_value": 0.001, "holds": True},
    "state": "fail",
}


def verdict(model: str = "m", test: str = "Concordance Correlation Coeff", **changes: object) -> Verdict:
    """Make a row: a pass, with ``**FAILED`` a failure."""
    row = {
        **{"model": model, "corpus": "c", "family": "correctness_regression", "category": "correctness"},
        **{"task": "arousal", "test": test, "value": 0.6, "low": 0.55, "high": 0.7, "segments": 200},
        **{"blocks": 20, "threshold": 0.5, "rule": ">", "passed": True, "certainty": 0.99},
        **{"reference": 0.0, "reference_passed": False, "evidence": "clear pass", "state": "pass"},
    }
    return Verdict(**(row | changes))


def finished(
    folder: Path,
    recorded: Callable[..., RunRecord],
    rows: Iterable[Verdict],
    kinds: dict[str, str] | None = None,
    **changes: object,
) -> Path:
    """Write ``results.csv`` and ``run.json``."""
    rows = list(rows)
    digest = write_results(to_frame(rows), folder)
    models = list(dict.fromkeys(row.model for row in rows))
    kinds = kinds or {}
    usual = {
        "results": digest,
        "run": digest[:12],
        "order": models,
        "models": [_model(name, kinds.get(name, "predictions"), rows) for name in models],
        "families": [_family(name, rows) for name in dict.fromkeys(row.family for row in rows)],
        "corpora": [_corpus(name) for name in dict.fromkeys(row.corpus for row in rows)],
    }
    recorded(**(usual | changes)).write(folder / "run.json")
    return folder


def _model(name: str, kind: str, rows: list[Verdict]) -> dict[str, object]:
    tasks = tuple(dict.fromkeys(row.task for row in rows if row.model == name))
    return {
        **{"name": name, "slug": name, "kind": kind, "target": f"{name}.csv", "tasks": tasks},
        **{"description": "", "license": "", "fingerprint": "f" * 40, "inputs": 200, "failed": 0},
        **{"unusable": 0, "notes": (), "failures": (), "repeated": 0, "repeated_different": 0},
        **{"out_of_range": 0, "unknown_classes": {}},
    }


def _family(name: str, rows: list[Verdict]) -> dict[str, object]:
    category = next(row.category for row in rows if row.family == name)
    title = name.replace("_", " ").capitalize()
    return {"name": name, "title": title, "category": category, "question": "How good?", "digest": "0" * 40}


def _corpus(name: str) -> dict[str, object]:
    return {
        **{"name": name, "slug": name, "format": "csv", "title": name, "description": ""},
        **{"synthetic": False, "segments": 200, "speakers": 20, "seconds": 600.0},
        **{"left_out": (), "notices": (), "digest": "d" * 40},
    }
