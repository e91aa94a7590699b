"""Finished runs of models of each kind, for formats of cards; one has hostile names everywhere."""

from __future__ import annotations

import datetime
from pathlib import Path

from tests.support.finished import FAILED, finished, verdict

from soundcheck.publish.cards.card_format import CardContext
from soundcheck.results.facts import ModelFacts
from soundcheck.results.verdict import Verdict

DAY = datetime.date(2026, 11, 5)
HOSTILE = '</script><img src=x onerror=alert(1)>|`"*_\n# [y](javascript:z) {{7*7}} ${x}$ \u202e --- & \\'
_HELD = {"evidence": "clear fail", "holds": True, "p_value": 0.001, "passed": False, "state": "fail"}
_NOBODY = {"reference": None, "reference_passed": None}  # guessing was not tested
_GAP = {
    **{"category": "fairness", "rule": "|gap| <", "value": 0.1, "low": 0.05, "high": 0.15, "segments": 90},
    **{"gap": 0.2, "gap_low": 0.1, "gap_high": 0.3, "matters": 0.075, "threshold": 0.075, "blocks": 7},
    **{"group_value": 0.1, "others_value": -0.1, "against": "others"},
}


def gap(model: str, group: str, **changes: object) -> Verdict:
    """Make a row whose difference fails."""
    usual = {"family": "fairness_accent", "test": "Mean Value", "group": group}
    return verdict(model, **(usual | _GAP | _HELD | changes))


def figure(model: str, task: str, measure: str, **changes: object) -> dict[str, object]:
    """Make a key figure."""
    usual = {
        **{"model": model, "corpus": "c", "task": task, "measure": measure, "value": 0.25, "low": 0.125},
        **{"high": 0.375, "segments": 200, "blocks": 20, "guessing": 1.0, "standing": "proven"},
    }
    return usual | changes


def _unlabelled() -> dict:
    return {"rows": [gap("m", "accent: welsh"), gap("m", "accent", **_skipped("fewer than 2 groups"))]}


def _skipped(reason: str) -> dict[str, object]:
    names = ("value", "low", "high", "gap", "gap_low", "gap_high", "matters", "p_value", "passed", "holds")
    names += ("group_value", "others_value")
    return {**dict.fromkeys(names), "evidence": "", "state": "not evaluated", "skipped": reason,
            "certainty": None, "reference": None,
            "reference_passed": None, "segments": 0, "blocks": 0}  # fmt: skip


def _verification() -> dict:
    of = {"family": "speaker_verification", "task": "embedding", "rule": "<", "segments": 9000} | _NOBODY
    rows = [
        verdict("m", "Equal Error Rate", **of | FAILED | {"threshold": 0.1}),
        verdict("m", "Change Eer White Noise", **of | {"value": -0.1, "low": -0.2, "high": 0.01}),
        gap("m", "sex: female", **of | {"test": "False Rejection Rate Difference", "rule": "gap <"}),
    ]
    rates = [figure("m", "embedding", "equal error rate", segments=9000, guessing=0.5)]
    rates.append(
        figure("m", "embedding", "false rejection rate")
        | {"segments": 9000, "guessing": None, "standing": "", "threshold": 0.33}
    )
    return {"rows": rows, "figures": rates, "kinds": {"m": "onnx"}}


def _recogniser() -> dict:
    of = {"family": "asr_word_errors", "task": "transcript", "rule": "<"} | _NOBODY
    rows = [
        verdict("m", "Word Error Rate", **of | FAILED | {"value": 1.5, "low": 1.2, "high": 1.8}),
        verdict("m", "Character Error Rate", **of | {"value": 0.25, "low": 0.2, "high": 0.375}),
        gap(
            "m", "accent: welsh", **of | {"test": "Word Error Rate Difference", "rule": "gap <", "gap": 1.25}
        ),
    ]
    return {"rows": rows, "figures": [figure("m", "transcript", "word error rate", value=1.5, high=1.8)]}


def _hostile() -> dict:
    of = {"corpus": HOSTILE, "task": HOSTILE, "family": HOSTILE, "category": "correctness"}
    rows = [
        verdict(HOSTILE, HOSTILE, **of | FAILED | {"label": HOSTILE}),
        gap(HOSTILE, f"{HOSTILE}: {HOSTILE}", corpus=HOSTILE, label=HOSTILE),
        gap(HOSTILE, "accent: b", **_skipped(HOSTILE)),
    ]
    figures = [figure(HOSTILE, HOSTILE, "concordance", corpus=HOSTILE)]
    card = dict.fromkeys(
        ("intended_use", "license", "owner", "training_data", "limitations", "version", "contact", "id"),
        HOSTILE,
    )
    return {"rows": rows, "figures": figures, "title": HOSTILE, "card": card}


MODELS = {
    "fairness only": _unlabelled,
    "verification": _verification,
    "recogniser": _recogniser,
    "hostile": _hostile,
}


def facts_of(name: str, folder: Path, recorded: object, **changes: object) -> ModelFacts:
    """Write the run of one of :data:`MODELS` and read the facts of its model."""
    content = MODELS[name]() | changes
    return ModelFacts.read(finished(folder, recorded, **content))


def context_of(facts: ModelFacts, book_url: str = "https://example.org/book") -> CardContext:
    """Give what cards say beside the facts, on a fixed day."""
    return CardContext.of(facts, book_url, DAY)
