"""All numbers that a run found of a model, in one list: what records for other programs are made of.

Conventions
-----------
- Key figures come first, then the values of groups, then the tests in the order of the results table.
  Tests without a value are no measurements; formats say how many there are.
- The number of a test is the one that its rule is about: a difference of groups, or the value.
  So number, interval, threshold and state always belong together.
"""

from __future__ import annotations

import dataclasses
from urllib.parse import quote

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.publish.cards.described_tasks import described_tasks
from soundcheck.publish.cards.measures import Measure, measure_of_figure, measure_of_test
from soundcheck.publish.facts import ModelFacts
from soundcheck.report.failures import blocks_of
from soundcheck.results.record import KeyFigure
from soundcheck.statistics.rules import GAP_RULES

LEVEL = 0.95  # of all intervals


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measurement:
    """A number with its company.

    Parameters
    ----------
    measure
        What it means.
    family
        Name of the family; ``""`` of key figures.
    corpus, task, test, group, label
        What was measured on what; texts from data as they are. Of key figures, ``test`` is the measure.
    value, low, high
        The number and its 95 % interval; ``None`` without one.
    segments, blocks
        What it rests on.
    unit, block
        What is counted as segments and as blocks, in the singular: ``"trial"`` for verification.
    interval
        Kind of interval.
    rule, threshold
        What it is compared with; ``""`` and ``None`` if nothing judges it.
    state
        One of :data:`soundcheck.results.states.STATES`; ``""`` of key figures.
    standing
        How the model stands at the task, see :mod:`soundcheck.results.standing`.
    accepted
        Why the suite accepts the failure; else ``""``.
    remark
        Why there is no interval or what else to know; else ``""``.
    further
        More numbers of it, by name.
    """

    measure: Measure
    family: str
    corpus: str
    task: str
    test: str
    group: str = ""
    label: str = ""
    value: float
    low: float | None
    high: float | None
    segments: int
    blocks: int
    unit: str
    block: str
    interval: str
    rule: str = ""
    threshold: float | None = None
    state: str = ""
    standing: str = ""
    accepted: str = ""
    remark: str = ""
    further: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def counts(self) -> str:
        """Say what it rests on: ``"976 segments, 40 speakers"``."""
        return f"{counted(self.segments, self.unit)}, {counted(self.blocks, self.block)}"

    @property
    def key(self) -> str:
        """Name it in one word that no other measurement of the model has, the same in each run."""
        parts = (self.family or "key figure", self.corpus, self.task, self.test, self.group, self.label)
        return "/".join(quote(part, safe="", errors="backslashreplace") for part in parts).rstrip("/")


def measurements(facts: ModelFacts) -> list[Measurement]:
    """List all numbers of a model."""
    tasks = described_tasks(facts.record)
    units = {name: "trial" if task.is_embedding else "segment" for name, task in tasks.items()}
    figures = [_of_figure(figure, units, facts) for figure in facts.figures if figure.value is not None]
    families = {family.name: family for family in facts.record.families}
    found = []
    for row in facts.rows[facts.rows["value"].notna()].itertuples():
        measure = measure_of_test(families[row.family], row.test, row.rule)
        found.append(_of_row(row, measure, units, facts))
    return [*figures, *(_of_group(row, units, facts) for row in facts.group_values.itertuples()), *found]


def _of_group(row: object, units: dict[str, str], facts: ModelFacts) -> Measurement:
    """Give the value of a group, an estimate."""
    sample = {"low for these speakers": row.low_sample, "high for these speakers": row.high_sample}
    return Measurement(
        measure=measure_of_figure(row.title),
        family="",
        corpus=row.corpus,
        task=row.task,
        test=row.title,
        group=row.part,
        value=row.value,
        low=_some(row.low),
        high=_some(row.high),
        segments=row.segments,
        blocks=row.speakers,
        unit=units.get(row.task, "segment"),
        block="speaker",
        interval=facts.record.interval,
        remark=row.excluded,
        further={name: number for name, number in sample.items() if not pd.isna(number)},
    )


def _of_figure(figure: KeyFigure, units: dict[str, str], facts: ModelFacts) -> Measurement:
    further = {"decision threshold": figure.threshold, "chance": figure.guessing}
    further |= {"low for these speakers": figure.low_sample, "high for these speakers": figure.high_sample}
    return Measurement(
        measure=measure_of_figure(figure.measure),
        family="",
        corpus=figure.corpus,
        task=figure.task,
        test=figure.measure,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        segments=figure.segments,
        blocks=figure.blocks,
        unit=units.get(figure.task, "segment"),
        block=figure.block,
        interval=facts.record.interval,
        standing=figure.standing,
        remark=figure.reason,
        further={name: number for name, number in further.items() if number is not None},
    )


def _of_row(row: object, measure: Measure, units: dict[str, str], facts: ModelFacts) -> Measurement:
    of_gap = row.rule in GAP_RULES and not pd.isna(row.gap)
    names = ("gap", "gap_low", "gap_high") if of_gap else ("value", "low", "high")
    value, low, high = (_some(getattr(row, name)) for name in names)
    further = {
        **{"group value": row.group_value, "value of the reference": row.others_value},
        **{"margin": row.matters, "p value": row.p_value, "certainty": row.certainty},
        **{"random reference": row.reference, "adjusted gap": row.adjusted},
    }
    return Measurement(
        measure=measure.within(value),
        family=row.family,
        corpus=row.corpus,
        task=row.task,
        test=row.test,
        group=row.group,
        label=row.label,
        value=value,
        low=low,
        high=high,
        segments=int(row.segments),
        blocks=int(row.blocks),
        unit=units.get(row.task, "segment"),
        block=blocks_of(facts.record, row.corpus),
        interval=facts.record.interval,
        rule=row.rule,
        threshold=_some(row.threshold),
        state=row.state,
        standing=row.standing,
        accepted=row.accepted,
        remark=row.skipped,
        further={name: float(number) for name, number in further.items() if not pd.isna(number)},
    )


def interval_methods(facts: ModelFacts) -> list[str]:
    """Say how the intervals of a run are computed, for each kind of block that its corpora have."""
    blocks = sorted({blocks_of(facts.record, corpus.name) for corpus in facts.corpora})
    return [interval_method(facts.record.interval, block) for block in blocks]


def interval_method(interval: str, block: str) -> str:
    """Say how intervals are computed.

    Examples
    --------
    >>> interval_method("t", "speaker")
    't interval, whole speakers resampled (blockwise bootstrap)'
    """
    return f"{interval} interval, whole {block}s resampled (blockwise bootstrap)"


def _some(number: float) -> float | None:
    return None if pd.isna(number) else float(number)
