"""One verdict: what was tested, the value with its company, and whether it passed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from soundcheck.common.tasks import Task
from soundcheck.metrics.additive import round_significant
from soundcheck.metrics.classification import ONE_CLASS
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS, FREE, NO_INTERVAL, OPEN, Scale
from soundcheck.statistics.rules import passes
from soundcheck.suite.families import Family

NOT_ADJUSTED = "none: "  # before the reason why there is no adjusted gap

TEXTS = (
    *("model", "corpus", "family", "category", "task", "test", "label", "rule", "skipped", "group"),
    *("evidence", "adjusted_by", "against", "state", "state_sample", "mirrors"),
)
NUMBERS = (
    *("value", "low", "high", "threshold", "certainty", "reference"),
    *("gap", "gap_low", "gap_high", "bound", "p_value", "matters", "least_p"),
    *("adjusted", "adjusted_low", "adjusted_high", "counterpart"),
    *("group_value", "others_value", "ratio", "ratio_low", "ratio_high"),
    *("gap_low_sample", "gap_high_sample", "p_sample"),
)
COUNTS = ("segments", "blocks")
TRUTHS = ("passed", "reference_passed", "holds")
SHOWN = "shown"  # evidence of a value that nothing judges
EVIDENCE = (CLEAR_PASS, CLEAR_FAIL, OPEN, SHOWN, NO_INTERVAL)
OTHERS = "others"  # what a group is compared with: the segments of all other groups together
KEY = ("model", "corpus", "family", "task", "test", "group", "label")  # no two rows agree in all of these


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One row of the results table.

    Parameters
    ----------
    model, corpus, family, category, task, test
        What was tested on what.
    label
        Class or bin; ``""`` if the test has one value.
    value, low, high
        Value and bounds of its 95 % interval.
    segments, blocks
        How many segments and blocks the value rests on.
    threshold, rule
        What the value is compared with: ``">"``, ``"<"`` or ``"|value| <"``.
    passed
        The verdict; ``None`` if skipped.
    certainty
        From 0 to 1, share of replicates on the verdict's side of the threshold.
    reference, reference_passed
        Value and verdict of the random reference model.
    skipped
        Why there is no verdict, no interval or no information, or that the threshold is not the one that a
        reader expects; of a search, what it named; else ``""``.
    group
        Column and group that the value is about, such as ``"sex: female"``; the column alone if none of its
        groups was judged; ``""`` if the test compares no groups.
    gap, gap_low, gap_high
        Of a test that compares a group: its value minus that of all other groups' segments together. Of any
        other test: the value minus the threshold, with ``"|value| <"`` the threshold on the value's side.
        With the bounds of its 95 % interval.
    evidence
        What the interval says whatever side the value is on, see :data:`EVIDENCE`; ``"shown"`` of a value
        that is shown without verdict, because nobody set a threshold; ``""`` without value.
    bound
        The worst that the interval leaves possible: of a group the larger end of the gap's interval in size,
        of any other test the end of the value's interval on the failing side.
    p_value
        How often a gap like this one arises if speakers could belong to any group, or if the true value
        passes.
    holds
        Whether the failure stands among all tests of the model and category, see
        :mod:`soundcheck.results.states`; ``None`` before they are together or without ``p_value``.
    matters
        The gap of a group that matters; ``None`` if the test compares no groups.
    least_p
        The smallest ``p_value`` that so many speakers can give; ``None`` where there is no such limit.
    adjusted, adjusted_low, adjusted_high
        What the gap of a group would be if the group and the others had the same of what the suite adjusts
        by, with the bounds of its 95 % interval. Shown beside the gap; no verdict rests on it.
    counterpart
        Share of the group's segments, from 0 to 1, that others can be compared with for it.
    adjusted_by
        Columns that the gap is adjusted by, such as ``"signal_to_noise"``; ``"none: "`` and the reason if
        there is no adjusted gap; ``""`` if the suite adjusts by nothing.
    group_value, others_value, against
        Of a test that compares a group: the measure of the group, that of those it is compared with, and who
        they are: :data:`OTHERS` or a group. ``gap`` is their difference.
    ratio, ratio_low, ratio_high
        ``group_value`` divided by ``others_value``, of error rates with five errors or more on either side.
    state, state_sample
        What may be concluded for new speakers and for these, see :mod:`soundcheck.results.states`; ``""``
        before all rows of a run are together.
    gap_low_sample, gap_high_sample, p_sample
        Interval of ``gap`` and p-value for these speakers, see :mod:`soundcheck.statistics.fixed_speakers`.
    mirrors
        Of two groups that are one test: the group whose row counts, where it is not this one.
    """

    model: str
    corpus: str
    family: str
    category: str
    task: str
    test: str
    label: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    segments: int = 0
    blocks: int = 0
    threshold: float | None = None
    rule: str = ""
    passed: bool | None = None
    certainty: float | None = None
    reference: float | None = None
    reference_passed: bool | None = None
    skipped: str = ""
    group: str = ""
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    evidence: str = ""
    bound: float | None = None
    p_value: float | None = None
    holds: bool | None = None
    matters: float | None = None
    least_p: float | None = None
    adjusted: float | None = None
    adjusted_low: float | None = None
    adjusted_high: float | None = None
    counterpart: float | None = None
    adjusted_by: str = ""
    group_value: float | None = None
    others_value: float | None = None
    against: str = ""
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    state: str = ""
    state_sample: str = ""
    gap_low_sample: float | None = None
    gap_high_sample: float | None = None
    p_sample: float | None = None
    mirrors: str = ""

    def __post_init__(self) -> None:
        for name in NUMBERS:
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"{name} of {self.test} is {number}; give None and a reason.")
        if self.passed is None and not self.skipped:
            raise ValueError(f"{self.test} has neither a verdict nor a reason.")
        if self.passed is not None and (self.value is None or self.threshold is None):
            raise ValueError(f"{self.test} has a verdict without value or threshold.")


def no_threshold(task: str) -> str:
    """Say why a value is shown without verdict."""
    return f"no threshold for {task}: shown without verdict"


RESULT_COLUMNS = [field.name for field in dataclasses.fields(Verdict)]


def judge(
    result: Resampled,
    *,
    task: str,
    rule: str,
    threshold: float | None,
    reference: Sequence[float] | None = None,
    kind: str = "percentile",
    scale: Scale = FREE,
    untestable: str = "",
    **about: str,
) -> list[Verdict]:
    """Compare values with a threshold.

    Parameters
    ----------
    result
        Values with their replicates, ``m`` in all.
    task
        Name of the task.
    rule, threshold
        The comparison; without a threshold the values are shown without verdict.
    reference
        Values of the random reference model for the same labels, ``(m,)``; NaN where undefined.
    kind
        Kind of interval, see :func:`soundcheck.statistics.intervals.interval`.
    scale
        Where values may lie.
    untestable
        Why there is no threshold although the test has one; values are skipped then.
    **about
        What else was tested on what: model, corpus, family, category, test, and the group that all values
        are about.

    Returns
    -------
    list of Verdict
        One a label, in their order.
    """
    low, high = result.interval(kind, scale=scale)
    reference = np.full(len(result.labels), np.nan) if reference is None else round_significant(reference)
    if len(reference) != len(result.labels):
        raise ValueError(f"{len(reference)} reference values do not fit {len(result.labels)} labels.")
    verdicts = []
    for n, label in enumerate(result.labels):
        value, random = _some(result.value[n]), _some(reference[n])
        passed = reference_passed = certainty = None
        one_class = result.notes[n].startswith(ONE_CLASS)
        bar = None if one_class else threshold
        if bar is not None and random is not None:
            reference_passed = bool(passes(rule, random, bar))
        if bar is not None and value is not None:
            passed = bool(passes(rule, value, bar))
            certainty = _some(result.certainty(n, rule, bar, passed))
        shown = bar is None and value is not None and not untestable
        without = result.notes[n] if one_class else no_threshold(task)
        remarks = [result.reasons[n] or (without if shown else untestable), result.withheld[n]]
        verdicts.append(
            Verdict(
                **about,
                task=task,
                label=label,
                value=value,
                low=_some(low[n]),
                high=_some(high[n]),
                segments=int(result.segments[n]),
                blocks=int(result.blocks[n]),
                threshold=bar,
                rule=rule,
                passed=passed,
                certainty=certainty,
                reference=random,
                reference_passed=reference_passed,
                skipped="; ".join(filter(None, remarks)),
                evidence=SHOWN if shown else "",
            )
        )
    return verdicts


def skip(reason: str, **about: Any) -> Verdict:
    """Make the row of a test that could not be computed, of fields of :class:`Verdict`."""
    return Verdict(skipped=reason, **about)


def skipped_rows(model: str, corpus: str, family: Family, task: Task, reason: str) -> list[Verdict]:
    """Make the rows of all tests that a family has for a task, skipped for the same reason."""
    return [
        skip(
            test.off or reason,
            model=model,
            corpus=corpus,
            family=family.name,
            category=family.category,
            task=task.name,
            test=test.name,
            rule=test.rule,
            threshold=test.threshold_for(task),
        )
        for test in family.tests.values()
        if test.fits(task)
    ]


def _some(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
