"""Makes the output folder of a run from a few rows, for what only reads results: cards, sheets, histories."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from soundcheck.common import store
from soundcheck.results.record import RunRecord
from soundcheck.results.rows import Verdict
from soundcheck.results.table import to_frame, write_results

FAMILY = {"question": "How good?", "digest": "0" * 40}
NAMES = ["model", "corpus", "family", "category", "task"]
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


def record(**content: object) -> RunRecord:
    """Make the record of a run from plain values, as in ``run.json``: ``record(notebooks=[...])``."""
    usual = {
        **{"version": "0.1.0", "title": "", "run": "0123456789ab", "results": "0" * 40, "seed": 0},
        **{"replicates": 100, "interval": "percentile", "suite": {"digest": "s" * 40}, "order": []},
        **dict.fromkeys(("families", "models", "corpora", "sounds"), ()),
        **dict.fromkeys(("notebooks", "comparisons", "studies"), ()),
        "versions": {"numpy": "2"},
    }
    return store.adapter(RunRecord).validate_python(usual | content)


def finished(
    folder: Path, rows: Iterable[Verdict], kinds: dict[str, str] | None = None, **changes: object
) -> Path:
    """Write ``results.csv`` and ``run.json``."""
    rows = list(rows)
    listed = pd.DataFrame([[getattr(row, name) for name in NAMES] for row in rows], columns=NAMES)
    families = listed.drop_duplicates("family").set_index("family")["category"]
    digest = write_results(to_frame(rows), folder)
    usual = {
        "results": digest,
        "run": digest[:12],
        "order": [*listed["model"].unique()],
        "models": models_of(listed, kinds or {}),
        "families": [
            {"name": name, "title": name.replace("_", " ").capitalize(), "category": category, **FAMILY}
            for name, category in families.items()
        ],
        "corpora": corpora_of(listed),
    }
    record(**(usual | changes)).write(folder / "run.json")
    return folder


def models_of(results: pd.DataFrame, kinds: dict[str, str]) -> list[dict[str, object]]:
    """Make what a record has of the models of a table, whose kinds are these or tables of predictions."""
    usual = {
        **{"description": "", "license": "", "fingerprint": "f" * 40, "inputs": 200, "failed": 0},
        **{"unusable": 0, "notes": (), "failures": (), "repeated": 0, "repeated_different": 0},
        **{"out_of_range": 0, "unknown_classes": {}},
    }
    return [
        {"name": name, "slug": name, "kind": kinds.get(name, "predictions"), "target": f"{name}.csv"}
        | {"tasks": tuple(rows["task"].unique()), **usual}
        for name, rows in results.groupby("model", sort=False)
    ]


def corpora_of(results: pd.DataFrame) -> list[dict[str, object]]:
    """Make what a record has of the corpora of a table."""
    usual = {
        **{"format": "csv", "description": "", "synthetic": False, "segments": 200, "speakers": 20},
        **{"seconds": 600.0, "left_out": (), "notices": (), "digest": "d" * 40},
    }
    return [usual | {"name": name, "slug": name, "title": name} for name in results["corpus"].unique()]
