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
from soundcheck.results.schema import columns_of, schema_of
from soundcheck.statistics.bootstrap import Resampled
from soundcheck.statistics.evidence import CLEAR_FAIL, CLEAR_PASS, FREE, NO_INTERVAL, OPEN, Scale
from soundcheck.statistics.rules import passes
from soundcheck.suite.families import Family

NOT_ADJUSTED = "none: "  # before the reason why there is no adjusted gap

UNJUDGED = "shown"  # evidence of a value that nothing judges
EVIDENCE = (CLEAR_PASS, CLEAR_FAIL, OPEN, UNJUDGED, NO_INTERVAL)
OTHERS = "others"  # what a group is compared with: the segments of all other groups together
KEY = ("model", "corpus", "family", "task", "test", "group", "label")  # no two rows agree in all of these


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One row of the results table."""

    model: str
    corpus: str
    family: str
    category: str
    task: str
    test: str
    label: str = ""  # class or bin; empty if the test has one value
    value: float | None = None
    low: float | None = None  # its 95 % interval for new speakers
    high: float | None = None
    segments: int = 0  # that the value rests on
    blocks: int = 0  # that it rests on, usually speakers
    threshold: float | None = None
    rule: str = ""  # how the value is compared with the threshold: ">", "<" or "|value| <"
    passed: bool | None = None  # None if skipped
    certainty: float | None = None  # share of replicates on the value's side of the threshold
    reference: float | None = None  # value of the random reference model
    reference_passed: bool | None = None
    # Why there is no verdict, no interval or no information, that the threshold is not the one that a reader
    # expects, or what a search named.
    skipped: str = ""
    group: str = ""  # "sex: female"; the column alone if none of its groups was judged
    # Of a test that compares a group: group_value - others_value. Of any other test: value - threshold, under
    # "|value| <" with the threshold on the value's side.
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    evidence: str = ""  # what the interval says, one of EVIDENCE; empty without value
    # The worst that the interval does not exclude: the end of the gap's interval that is larger in size, or
    # the end of the value's interval on the failing side.
    bound: float | None = None
    p_value: float | None = None  # of such a gap if speakers could be of any group, or if the value passes
    holds: bool | None = None  # whether state is fail; None before all rows are together or without p_value
    matters: float | None = None  # margin of a group's gap
    least_p: float | None = None  # smallest p_value that so many speakers can give, where there is a limit
    adjusted: float | None = None  # the gap if both sides had the same of what adjusted_by names
    adjusted_low: float | None = None
    adjusted_high: float | None = None
    counterpart: float | None = None  # share of the group's segments that others can be compared with for it
    adjusted_by: str = ""  # "signal_to_noise"; "none: " and the reason if there is no adjusted gap
    group_value: float | None = None
    others_value: float | None = None
    against: str = ""  # whom a group is compared with: OTHERS or a group
    ratio: float | None = None  # group_value / others_value, of error rates with 5 errors a side or more
    ratio_low: float | None = None
    ratio_high: float | None = None
    state: str = ""  # for new speakers, see results.states; empty before all rows of a run are together
    state_sample: str = ""  # for these speakers
    gap_low_sample: float | None = None  # interval and p-value for these speakers
    gap_high_sample: float | None = None
    p_sample: float | None = None
    mirrors: str = ""  # of two groups that are one test: the group whose row counts, if it is not this one

    def __post_init__(self) -> None:
        for name in columns_of(RESULTS, "float"):
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


RESULTS = schema_of(Verdict)
RESULT_COLUMNS = list(RESULTS)


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
    """Compare values with a threshold; without one they are shown without verdict. One verdict a label.

    ``reference`` are values of the random reference model, NaN where undefined; ``untestable`` says why there
    is no threshold although the test has one; ``about`` are other fields of :class:`Verdict`.
    """
    low, high = result.interval(kind, scale=scale)
    reference = np.full(len(result.labels), np.nan) if reference is None else round_significant(reference)
    if len(reference) != len(result.labels):
        raise ValueError(f"{len(reference)} reference values do not fit {len(result.labels)} labels.")
    verdicts = []
    for n, label in enumerate(result.labels):
        value, random = _cell(result.value[n]), _cell(reference[n])
        one_class = result.notes[n].startswith(ONE_CLASS)
        limit = None if one_class else threshold
        passed, reference_passed = (
            None if None in (limit, number) else passes(rule, number, limit) for number in (value, random)
        )
        reported = limit is None and value is not None and not untestable
        without = result.notes[n] if one_class else no_threshold(task)
        remarks = [result.reasons[n] or (without if reported else untestable), result.withheld[n]]
        verdict = Verdict(
            **about,
            task=task,
            label=label,
            value=value,
            low=_cell(low[n]),
            high=_cell(high[n]),
            segments=int(result.segments[n]),
            blocks=int(result.blocks[n]),
            threshold=limit,
            rule=rule,
            passed=passed,
            certainty=None if passed is None else _cell(result.certainty(n, rule, limit, passed)),
            reference=random,
            reference_passed=reference_passed,
            skipped="; ".join(filter(None, remarks)),
            evidence=UNJUDGED if reported else "",
        )
        verdicts.append(verdict)
    return verdicts


def _cell(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def skip(reason: str, **about: Any) -> Verdict:
    """Make the row of a test that could not be computed, of fields of :class:`Verdict`."""
    return Verdict(skipped=reason, **about)


def skipped_rows(model: str, corpus: str, family: Family, task: Task, reason: str) -> list[Verdict]:
    """Make the rows of all tests that a family has for a task, skipped for the same reason."""
    about = {"model": model, "corpus": corpus, "family": family.name, "category": family.category}
    rows = []
    for test in family.tests.values():
        if test.fits(task):
            limit = {"rule": test.rule, "threshold": test.threshold_for(task)}
            rows.append(skip(test.off or reason, **about, task=task.name, test=test.name, **limit))
    return rows
