r"""Records for other programs: how they are laid out, and what hubs call tasks, measures and key figures.

- YAML files in ``templates/cards`` say which value stands where.
- A text that begins with ``=`` is an expression of Jinja2. ``each: one in many`` repeats an item of a list.
- What is empty or NaN is left out: no format has a place for what nobody said.
- JSON is ASCII: what is invisible, or turns the order of letters round, is shown as ``\u202e``. No character
  that begins HTML is left, so that the text may stand inside of a page's script element.
- Error rates are in per cent, as hubs show them; all other measures are as in the results. ``unit`` says so.
- A result that carries ``results_sha256`` in all of its metrics was made here, and may be replaced here.
"""

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import jinja2
import yaml

from soundcheck.common import files, templates
from soundcheck.common.escaping import shorten, xml_text
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, EMBEDDING, REGRESSION, TRANSCRIPTION, Task
from soundcheck.publish.cards.card_format import CardContext
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
_EMPTY = ("", None, [], {}, ())
_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def record(name: str, filters: Mapping[str, Callable], **values: object) -> dict[str, Any]:
    """Make the record of a file from values, which its expressions name."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    environment.filters |= filters
    expression = functools.cache(environment.compile_expression)
    layout = yaml.safe_load((templates.FOLDER / "cards" / f"{name}.yml").read_text("utf-8"))

    def made(part: object, values: Mapping) -> object:
        if isinstance(part, str):
            return expression(part[1:])(**values) if part.startswith("=") else part
        if isinstance(part, dict):
            return filled(**{key: made(value, values) for key, value in part.items() if key != "each"})
        return [one for item in part for one in items(item, values)] if isinstance(part, list) else part

    def items(item: dict, values: Mapping) -> list:
        if "each" not in item:
            return [made(item, values)]
        names, _, many = item["each"].partition(" in ")
        names = names.split(", ")
        rows = (one if len(names) > 1 else (one,) for one in expression(many)(**values))
        return [made(item, {**values, **dict(zip(names, one, strict=True))}) for one in rows]

    return made(layout, values)


def filled(**values: object) -> dict[str, object]:
    """Keep what is neither empty nor NaN, of lists, too."""
    cleaned = {
        name: [one for one in value if one not in _EMPTY] if isinstance(value, list) else value
        for name, value in values.items()
    }
    return {name: value for name, value in cleaned.items() if value == value and value not in _EMPTY}


def json_text(content: dict) -> str:
    r"""Write content as JSON with a line feed at its end; numbers that are NaN or infinite are refused.

    >>> print(json_text({"name": "<b>ü"}), end="")
    {
     "name": "\u003cb\u003e\u00fc"
    }
    """
    return json.dumps(_cleaned(content), indent=1, allow_nan=False).translate(_HTML) + "\n"


def _cleaned(content: object) -> object:
    """Make control characters, marks of direction and lone surrogates visible in all texts."""
    if isinstance(content, dict):
        return {xml_text(key): _cleaned(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_cleaned(value) for value in content]
    return xml_text(content) if isinstance(content, str) else content


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
    answers = {
        TRANSCRIPTION: "text",
        EMBEDDING: "vector whose direction stands for the speaker",
        REGRESSION: f"{task.name}: number from {task.low:g} to {task.high:g}",
    }
    return answers.get(task.kind, f"{task.name}: one of {', '.join(task.classes)}")


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
