r"""Records for other programs: how they are laid out, all numbers of a model, what hubs call them.

- YAML files in ``templates/cards`` say which value stands where.
- A text that begins with ``=`` is an expression of Jinja2. ``each: one in many`` repeats an item of a list.
- What is empty or NaN is left out: no format has a place for what nobody said.
- JSON is ASCII: what is invisible, or turns the order of letters round, is shown as ``\u202e``. No character
  that begins HTML is left, so that the text may stand inside of a page's script element.
- Error rates are in per cent, as hubs show them; all other measures are as in the results. ``unit`` says so.
- A result that carries ``results_sha256`` in all of its metrics was made here, and may be replaced here.

Of all numbers, key figures come first, then the values of groups, then the tests in the order of the results
table. Tests without a value are no measurements; formats say how many there are. The number of a test is the
one that its rule is about: a difference of groups, or the value. A name that the field shares, such as
``"wer"``, is given only where the number is just that. A difference between groups, or a change under noise,
has a name of its own, ``"soundcheck.fairness_sex.mean_value"``.
"""

import functools
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import jinja2
import pandas as pd
import yaml

from soundcheck.common import files, templates
from soundcheck.common.messages import InputError, shorten, xml_text
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, EMBEDDING, REGRESSION, TRANSCRIPTION, Task
from soundcheck.publish.cards.card_format import CardContext
from soundcheck.publish.facts import page
from soundcheck.report.key_figures import RATES
from soundcheck.results.facts import ModelFacts
from soundcheck.results.record import FamilyRecord, KeyFigure
from soundcheck.statistics.rules import ABOVE, GAP_RULES, GAP_WITHIN, WITHIN
from soundcheck.suite.families import HIGHER, info_of, measure_of, named
from soundcheck.suite.thresholds import read_family

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
_SHARED = {  # measures that the whole field calls by another name
    "concordance_cc": "ccc",
    "pearson_cc": "pearson_correlation",
    "mean_absolute_error": "mae",
    "unweighted_average_recall": "balanced_accuracy",
    "unweighted_average_precision": "precision_macro",
    "word_error_rate": "wer",
    "character_error_rate": "cer",
    "equal_error_rate": "eer",
    "actual_dcf": "act_dcf",
}
TEXTS = ("family", "group", "label", "rule", "state", "standing", "accepted", "remark")
FURTHER = ("threshold", "decision_threshold", "chance", "low_for_these_speakers", "high_for_these_speakers")
FURTHER += ("group_value", "value_of_the_reference", "margin", "p_value", "certainty", "random_reference")
FURTHER += ("adjusted_gap",)
_COLUMNS = ["corpus", "task", "test", "value", "low", "high", "segments", "blocks", "block", "against"]
_COLUMNS += [*TEXTS, *FURTHER]
_SAMPLE = {"low_sample": "low_for_these_speakers", "high_sample": "high_for_these_speakers"}
_OF_FIGURES = {"measure": "test", "reason": "remark", "threshold": "decision_threshold", "guessing": "chance"}
_OF_FIGURES |= _SAMPLE
_OF_GROUPS = {"part": "group", "title": "test", "speakers": "blocks", "excluded": "remark"} | _SAMPLE
_OF_TESTS = {"skipped": "remark", "others_value": "value_of_the_reference", "matters": "margin"}
_OF_TESTS |= {"reference": "random_reference", "adjusted": "adjusted_gap"}
_SAME_NAMES = ("recall", "precision", "min_dcf", "cllr")  # that it calls as we do


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
        return [entry for item in part for entry in items(item, values)] if isinstance(part, list) else part

    def items(item: dict, values: Mapping) -> list:
        if "each" not in item:
            return [made(item, values)]
        names, _, many = item["each"].partition(" in ")
        names = names.split(", ")
        rows = (row if len(names) > 1 else (row,) for row in expression(many)(**values))
        return [made(item, {**values, **dict(zip(names, row, strict=True))}) for row in rows]

    return made(layout, values)


def filled(**values: object) -> dict[str, object]:
    """Keep what is neither empty nor NaN, of lists, too."""
    cleaned = {
        name: [item for item in value if item not in _EMPTY] if isinstance(value, list) else value
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
    splits = facts.record.suite.get("corpora", {}).get(name, {}).get("split") or ()
    splits = (splits,) if isinstance(splits, str) else splits
    return filled(
        type=benchmark.id if benchmark else files.slug(name),
        name=plain(about.title if about and about.title else name),
        split=plain(", ".join(split for split in splits if split != "all")),
        revision=plain(benchmark.revision) if benchmark else "",
    )


class Measure(NamedTuple):
    """What a number means to other programs."""

    id: str
    name: str  # for people
    lower_is_better: bool  # of numbers that should be near 0 it is their size
    limits: tuple[float, float]  # infinite if there is no such limit
    near_zero: bool = False  # whether 0 is best, whatever the sign
    note: str = ""  # what the test does, as its threshold file says


def measurements(facts: ModelFacts) -> pd.DataFrame:
    """List all numbers of a model, one a row.

    Columns of all: ``measure`` (:class:`Measure`), ``key`` (the same in each run), ``corpus, task, test``,
    ``value, low, high, segments, blocks``, what these are in the singular, ``unit, block``. Texts that there
    are of some: :data:`TEXTS`, else empty; numbers: :data:`FURTHER`, else NaN.
    """
    figures = pd.DataFrame(map(vars, facts.figures)).rename(columns=_OF_FIGURES)
    groups = facts.group_values.rename(columns=_OF_GROUPS).assign(block="speaker", family="")
    tests = facts.rows.rename(columns=_OF_TESTS)
    tests["block"] = tests["corpus"].map(facts.record.block_of)
    of_gap = tests["rule"].isin(GAP_RULES) & tests["gap"].notna()
    for name, gap in {"value": "gap", "low": "gap_low", "high": "gap_high"}.items():
        tests[name] = tests[gap].where(of_gap, tests[name])
    parts = [part for part in (figures, groups, tests) if len(part)]
    rows = pd.concat(parts, ignore_index=True).reindex(columns=_COLUMNS)
    numbers = dict.fromkeys(("value", "low", "high", *FURTHER), float)
    rows = rows[rows["value"].notna()].astype({"segments": int, "blocks": int, **numbers})
    texts = [*TEXTS, "against"]
    rows[texts] = rows[texts].fillna("")
    trials = [name for name, task in described_tasks(facts).items() if task.is_embedding]
    families = {family.name: family for family in facts.record.families}
    measures, keys = [], []
    for row in rows.itertuples():
        family = families.get(row.family)
        of = measure_of_test(family, row.test, row.rule, bool(row.against)) if family else None
        measure = of or measure_of_figure(row.test)
        # A limit that a number is beyond is none: the scale of a task may be longer.
        low, high = measure.limits
        limits = (low if low <= row.value else -math.inf, high if row.value <= high else math.inf)
        measures.append(measure._replace(limits=limits))
        names = (row.family or "key figure", row.corpus, row.task, row.test, row.group, row.label)
        keys.append("/".join(quote(name, safe="", errors="backslashreplace") for name in names).rstrip("/"))
    units = rows["task"].isin(trials).map({True: "trial", False: "segment"})
    return rows.assign(measure=measures, key=keys, unit=units)


def measure_of_figure(title: str) -> Measure:
    """Say what a key figure means, or the value of a group.

    >>> measure = measure_of_figure("word error rate")
    >>> measure.id, measure.lower_is_better, measure.limits
    ('wer', True, (0.0, inf))
    """
    info = info_of(named(title))
    return Measure(_SHARED.get(info.name, info.name), title, info.better != HIGHER, (info.low, info.high))


def measure_of_test(family: FamilyRecord, test: str, rule: str, compares: bool) -> Measure:
    """Say what the number of a test means; ``compares`` is whether it is a difference between groups."""
    info = measure_of(test, family.name)
    shared = _SHARED.get(info.name, info.name if info.name in _SAME_NAMES else "")
    limits = (info.low, info.high)
    if compares or rule in GAP_RULES:
        shared, limits = "", (info.low - info.high, info.high - info.low)
    ours = f"soundcheck.{_word(family.name)}.{_word(test)}{'.gap' if rule in GAP_RULES else ''}"
    return Measure(
        id=shared or ours,
        name=f"{test}, group minus its reference" if rule in GAP_RULES else test,
        lower_is_better=rule != ABOVE,
        limits=limits,
        near_zero=rule in (WITHIN, GAP_WITHIN),
        note=note(family, test),
    )


def note(family: FamilyRecord, test: str) -> str:
    """Say what a test does, as the threshold file says with which the run was made; else ``""``."""
    return _notes(family.name, family.digest).get(test, "")


@functools.cache
def _notes(family: str, digest: str) -> dict[str, str]:
    """Read what the tests of a family that comes with the library do; empty if its file is another one."""
    try:
        shipped = read_family(family)
    except InputError:  # of families that only a suite has
        return {}
    tests = shipped.tests if shipped.digest == digest else {}
    return {name: " ".join(test.note.split()) for name, test in tests.items()}


def interval_methods(facts: ModelFacts) -> list[str]:
    """Say how the intervals of a run are computed, for each kind of block that its corpora have."""
    blocks = sorted({facts.record.block_of(corpus.name) for corpus in facts.corpora})
    return [interval_method(facts.record.interval, block) for block in blocks]


def interval_method(interval: str, block: str) -> str:
    """Say how intervals are computed.

    >>> interval_method("t", "speaker")
    't interval, whole speakers resampled (blockwise bootstrap)'
    """
    return f"{interval} interval, whole {block}s resampled (blockwise bootstrap)"


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "unnamed"
