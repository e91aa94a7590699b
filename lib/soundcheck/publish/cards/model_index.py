"""How good a model is, as the metadata of a hub have it: the key figures, each with its interval and counts.

Conventions
-----------
- Error rates are in per cent, as hubs show them; all other measures are as in the results. ``unit`` says so.
- A result that carries ``results_sha256`` in all of its metrics was made here, and may be replaced here.
"""

from __future__ import annotations

from typing import Any

from soundcheck.common import files
from soundcheck.common.escaping import shorten, xml_text
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.hub_tasks import task_type
from soundcheck.publish.cards.json_text import filled
from soundcheck.publish.facts import ModelFacts
from soundcheck.report.key_figures import RATES
from soundcheck.results.record import KeyFigure

INDEX, MARK = "model-index", "results_sha256"
_LONGEST = 500
_DIGITS = 4
_METRICS = {
    "word error rate": "wer",
    "character error rate": "cer",
    "mixed error rate": "mixed_error_rate",
    "concordance": "ccc",
    "unweighted average recall": "uar",
    "equal error rate": "eer",
    "false acceptance rate": "far",
    "false rejection rate": "frr",
}


def plain(text: object) -> str:
    """Make a text fit for metadata: one line, nothing that YAML or a hub could trip over."""
    return shorten(" ".join(xml_text(text).split()), _LONGEST)


def value_of(figure: KeyFigure, number: float | None) -> float | None:
    """Give a number of a figure in the unit in which hubs show it, with four significant digits."""
    if number is None:
        return None
    return float(f"{number * (100 if figure.measure in RATES else 1):.{_DIGITS}g}")


def results_of(facts: ModelFacts, context: CardContext) -> list[dict[str, Any]]:
    """List one result a task and corpus, in the order of the record; figures without value are left out."""
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for figure in facts.figures:
        if figure.value is None:
            continue
        key = figure.task, figure.corpus
        if key not in results:
            results[key] = {
                "task": {"type": task_type(facts.record, figure.task), "name": plain(figure.task)},
                "dataset": _dataset(facts, figure.corpus),
                "metrics": [],
            }
            page = context.link(facts.page())
            results[key] |= {"source": {"name": "Soundcheck", "url": page}} if page else {}
        results[key]["metrics"].append(_metric(facts, figure))
    return list(results.values())


def is_ours(result: object) -> bool:
    """Say whether a result was made here."""
    metrics = result.get("metrics") if isinstance(result, dict) else None
    if not isinstance(metrics, list) or not metrics:
        return False
    args = [metric.get("args") if isinstance(metric, dict) else None for metric in metrics]
    return all(isinstance(one, dict) and MARK in one for one in args)


def _dataset(facts: ModelFacts, name: str) -> dict[str, Any]:
    about = next((corpus for corpus in facts.record.corpora if corpus.name == name), None)
    benchmark = about.benchmark if about else None
    split = facts.record.suite.get("corpora", {}).get(name, {}).get("split")
    return filled(
        type=benchmark.id if benchmark else files.slug(name),
        name=plain(about.title if about and about.title else name),
        split=plain(split) if split and split != "all" else "",
        revision=plain(benchmark.revision) if benchmark else "",
    )


def _metric(facts: ModelFacts, figure: KeyFigure) -> dict[str, Any]:
    of = "" if figure.measure in RATES else f" of {plain(figure.task)}"
    low, high = (value_of(figure, bound) for bound in (figure.low, figure.high))
    args = filled(
        low=low,
        high=high,
        interval=f"none: {plain(figure.reason)}" if low is None else f"95 % {facts.record.interval} interval",
        blocks=figure.blocks,
        block=figure.block,
        segments=figure.segments,
        guessing=value_of(figure, figure.guessing),
        standing=figure.standing,
        threshold=figure.threshold,
        unit="%" if figure.measure in RATES else "",
    )
    return {
        "type": _METRICS.get(figure.measure, plain(figure.measure)),
        "value": value_of(figure, figure.value),
        "name": f"{figure.measure[:1].upper()}{figure.measure[1:]}{of}",
        "args": args | {MARK: facts.sha256},
    }
