"""All numbers that a run found of a model, in one list: what records for other programs are made of.

Conventions
-----------
- Key figures come first, then the values of groups, then the tests in the order of the results table.
  Tests without a value are no measurements; formats say how many there are.
- The number of a test is the one that its rule is about: a difference of groups, or the value.
- A name that the field shares, such as ``"wer"``, is given only where the number is just that. A difference
  between groups, or a change under noise, has a name of its own, ``"soundcheck.fairness_sex.mean_value"``.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from typing import NamedTuple
from urllib.parse import quote

import pandas as pd

from soundcheck.common.errors import InputError
from soundcheck.common.wording import counted
from soundcheck.publish.cards.hub_tasks import described_tasks
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.record import FamilyRecord
from soundcheck.statistics.rules import ABOVE, GAP_RULES, GAP_WITHIN, WITHIN
from soundcheck.suite.families import Family
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
_SAME = ("family", "corpus", "task", "group", "label", "rule", "state", "standing", "accepted")
_FURTHER = {
    "group value": "group_value",
    "value of the reference": "others_value",
    "margin": "matters",
    "p value": "p_value",
    "certainty": "certainty",
    "random reference": "reference",
    "adjusted gap": "adjusted",
}
_OWN = ("recall", "precision", "min_dcf", "cllr")  # that it calls as we do


class Measure(NamedTuple):
    """What a number means to other programs."""

    id: str
    name: str  # for people
    lower_is_better: bool  # of numbers that should be near 0 it is their size
    limits: tuple[float, float]  # infinite if there is no such limit
    near_zero: bool = False  # whether 0 is best, whatever the sign
    note: str = ""  # what the test does, as its threshold file says


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measurement:
    """A number with its interval and its counts; ``None`` or ``""`` where there is nothing."""

    measure: Measure
    family: str = ""  # of key figures there is none
    corpus: str
    task: str
    test: str  # of key figures the measure
    group: str = ""
    label: str = ""
    value: float
    low: float | None  # the 95 % interval
    high: float | None
    segments: int
    blocks: int
    unit: str  # what is counted as segments, in the singular: "trial" for verification
    block: str = "speaker"
    rule: str = ""
    threshold: float | None = None
    state: str = ""
    standing: str = ""
    accepted: str = ""  # why the suite accepts the failure
    remark: str = ""  # why there is no interval, or what else to know
    further: dict[str, float]  # more numbers, by name

    @property
    def counts(self) -> str:
        """Say how much was measured: ``"976 segments, 40 speakers"``."""
        return f"{counted(self.segments, self.unit)}, {counted(self.blocks, self.block)}"

    @property
    def key(self) -> str:
        """Name it in one word that no other measurement of the model has, the same in each run."""
        parts = (self.family or "key figure", self.corpus, self.task, self.test, self.group, self.label)
        return "/".join(quote(part, safe="", errors="backslashreplace") for part in parts).rstrip("/")


def measurements(facts: ModelFacts) -> list[Measurement]:
    """List all numbers of a model."""
    trials = {name for name, task in described_tasks(facts.record).items() if task.is_embedding}
    families = {family.name: family for family in facts.record.families}

    def of(row: object, measure: Measure, numbers: tuple, further: dict, **about: object) -> Measurement:
        value, low, high = (None if pd.isna(number) else float(number) for number in numbers)
        least, most = measure.limits  # the scale of a task may be longer
        limits = (least if least <= value else -math.inf, most if value <= most else math.inf)
        return Measurement(
            **{name: getattr(row, name) for name in _SAME if hasattr(row, name)} | about,
            measure=measure._replace(limits=limits),
            value=value,
            low=low,
            high=high,
            segments=int(row.segments),
            unit="trial" if row.task in trials else "segment",
            further={name: float(number) for name, number in further.items() if not pd.isna(number)},
        )

    def sample(row: object) -> dict[str, float]:
        return {"low for these speakers": row.low_sample, "high for these speakers": row.high_sample}

    found = []
    for row in facts.figures:
        if row.value is not None:
            numbers, measure = (row.value, row.low, row.high), measure_of_figure(row.measure)
            further = {"decision threshold": row.threshold, "chance": row.guessing} | sample(row)
            about = {"blocks": row.blocks, "block": row.block, "remark": row.reason}
            found.append(of(row, measure, numbers, further, test=row.measure, **about))
    for row in facts.group_values.itertuples():
        numbers, measure = (row.value, row.low, row.high), measure_of_figure(row.title)
        about = {"group": row.part, "blocks": row.speakers, "remark": row.excluded}
        found.append(of(row, measure, numbers, sample(row), test=row.title, **about))
    for row in facts.rows[facts.rows["value"].notna()].itertuples():
        of_gap = row.rule in GAP_RULES and not pd.isna(row.gap)
        numbers = (row.gap, row.gap_low, row.gap_high) if of_gap else (row.value, row.low, row.high)
        measure = measure_of_test(families[row.family], row.test, row.rule, bool(row.against))
        further = {name: getattr(row, column) for name, column in _FURTHER.items()}
        threshold = None if pd.isna(row.threshold) else float(row.threshold)
        about = {"blocks": int(row.blocks), "block": facts.record.block_of(row.corpus), "remark": row.skipped}
        found.append(of(row, measure, numbers, further, test=row.test, threshold=threshold, **about))
    return found


def measure_of_figure(title: str) -> Measure:
    """Say what a key figure means, or the value of a group.

    Examples
    --------
    >>> measure = measure_of_figure("word error rate")
    >>> measure.id, measure.lower_is_better, measure.limits
    ('wer', True, (0.0, inf))
    """
    info = info_of(named(title))
    return Measure(_SHARED.get(info.name, info.name), title, info.better != HIGHER, (info.low, info.high))


def measure_of_test(family: FamilyRecord, test: str, rule: str, compares: bool) -> Measure:
    """Say what the number of a test means; ``compares`` is whether it is a difference between groups."""
    info = measure_of(test, family.name)
    shared = _SHARED.get(info.name, info.name if info.name in _OWN else "")
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
    shipped = _shipped(family.name)
    same = shipped is not None and shipped.digest == family.digest and test in shipped.tests
    return " ".join(shipped.tests[test].note.split()) if same else ""


@functools.cache
def _shipped(family: str) -> Family | None:
    """Read the threshold file that comes with the library; ``None`` for families that only a suite has."""
    try:
        return read_family(family)
    except InputError:
        return None


def interval_methods(facts: ModelFacts) -> list[str]:
    """Say how the intervals of a run are computed, for each kind of block that its corpora have."""
    blocks = sorted({facts.record.block_of(corpus.name) for corpus in facts.corpora})
    return [interval_method(facts.record.interval, block) for block in blocks]


def interval_method(interval: str, block: str) -> str:
    """Say how intervals are computed.

    Examples
    --------
    >>> interval_method("t", "speaker")
    't interval, whole speakers resampled (blockwise bootstrap)'
    """
    return f"{interval} interval, whole {block}s resampled (blockwise bootstrap)"


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "unnamed"
