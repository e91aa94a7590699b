"""All numbers that a run found of a model, in one list: what records for other programs are made of.

Conventions
-----------
- Key figures come first, then the values of groups, then the tests in the order of the results table.
  Tests without a value are no measurements; formats say how many there are.
- The number of a test is the one that its rule is about: a difference of groups, or the value.
- A name that the field shares, such as ``"wer"``, is given only where the number is just that. A difference
  between groups, or a change under noise, has a name of its own, ``"soundcheck.fairness_sex.mean_value"``.
"""

import functools
import math
import re
from typing import NamedTuple
from urllib.parse import quote

import pandas as pd

from soundcheck.common.errors import InputError
from soundcheck.publish.cards.records import described_tasks
from soundcheck.results.facts import ModelFacts
from soundcheck.results.record import FamilyRecord
from soundcheck.statistics.rules import ABOVE, GAP_RULES, GAP_WITHIN, WITHIN
from soundcheck.suite.measures import HIGHER, info_of, measure_of, named
from soundcheck.suite.thresholds import read_family

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
