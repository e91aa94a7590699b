"""What hubs call tasks and measures, and their metadata of how good a model is: its key figures.

Conventions
-----------
- Error rates are in per cent, as hubs show them; all other measures are as in the results. ``unit`` says so.
- A result that carries ``results_sha256`` in all of its metrics was made here, and may be replaced here.
"""

from __future__ import annotations

import functools
from typing import Any

from soundcheck.common import files
from soundcheck.common.escaping import shorten, xml_text
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, EMBEDDING, REGRESSION, TRANSCRIPTION, Task
from soundcheck.publish.cards.card_format import CardContext
from soundcheck.publish.cards.records import filled, record
from soundcheck.publish.facts import page
from soundcheck.report.key_figures import RATES
from soundcheck.results.facts import ModelFacts
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
_TYPES = {
    TRANSCRIPTION: "automatic-speech-recognition",
    CLASSIFICATION: "audio-classification",
    REGRESSION: "audio-regression",
    EMBEDDING: "speaker-verification",
}


def described_tasks(facts: ModelFacts) -> dict[str, Task]:
    """Read the tasks that a suite declares, beside those that every suite has."""
    declared = {
        name: Task(name, about["kind"], tuple(about["classes"]), float(about["low"]), float(about["high"]))
        for name, about in facts.record.suite.get("tasks", {}).items()
    }
    return BUILTIN | declared


def task_type(facts: ModelFacts, task: str) -> str:
    """Name the kind of a task as hubs do."""
    known = described_tasks(facts).get(task)
    return _TYPES[known.kind] if known else "other"


def answer(task: Task) -> str:
    """Say what a model answers.

    >>> answer(BUILTIN["arousal"]), answer(BUILTIN["transcript"])
    ('arousal: number from 0 to 1', 'text')
    """
    if task.kind == TRANSCRIPTION:
        return "text"
    if task.kind == EMBEDDING:
        return "vector whose direction stands for the speaker"
    if task.kind == REGRESSION:
        return f"{task.name}: number from {task.low:g} to {task.high:g}"
    return f"{task.name}: one of {', '.join(task.classes)}"


def plain(text: object) -> str:
    """Make a text fit for metadata: one line, nothing that YAML or a hub could trip over."""
    return shorten(" ".join(xml_text(text).split()), _LONGEST)


def in_unit(number: float | None, measure: str) -> float | None:
    """Give a number of a measure in the unit in which hubs show it, with four significant digits."""
    scale = 100 if measure in RATES else 1
    return None if number is None else float(f"{number * scale:.{_DIGITS}g}")


def results_of(facts: ModelFacts, context: CardContext) -> list[dict[str, Any]]:
    """List one result a task and corpus, in the order of the record; figures without value are left out."""
    by_task: dict[tuple[str, str], list[KeyFigure]] = {}
    for figure in facts.figures:
        if figure.value is not None:
            by_task.setdefault((figure.task, figure.corpus), []).append(figure)

    def interval(figure: KeyFigure) -> str:
        none = f"none: {plain(figure.reason)}"
        return none if figure.low is None else f"95 % {facts.record.interval} interval"

    def title(figure: KeyFigure) -> str:
        of = "" if figure.measure in RATES else f" of {plain(figure.task)}"
        return f"{figure.measure[:1].upper()}{figure.measure[1:]}{of}"

    filters = {
        "dataset": functools.partial(_dataset, facts),
        "in_unit": in_unit,
        "interval": interval,
        "metric": lambda measure: _METRICS.get(measure, plain(measure)),
        "plain": plain,
        "task_type": functools.partial(task_type, facts),
        "title": title,
    }
    values = {"by_task": by_task.values(), "facts": facts, "rates": RATES, "page": context.link(page(facts))}
    return record("model_index", filters, **values).get("results", [])


def is_ours(result: Any) -> bool:
    """Say whether a result was made here."""
    try:
        return bool(result["metrics"]) and all(MARK in metric["args"] for metric in result["metrics"])
    except (KeyError, TypeError):
        return False


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
