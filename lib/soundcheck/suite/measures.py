"""What the tests measure: which side is better, where values may lie, which differences matter.

``measures.csv`` beside this file has a row a test, with ``FAMILY/`` before its name where a family measures
something else under it, and ``*`` for any words. Tests of differences name what they compare; a row without
measure is of a test whose value is a difference itself, which the results hold and the estimates do not.

From which size a difference between groups is a failure, ``matters:`` of a suite or test says::

    matters: {absolute: 0.05, relative: 0.25, floor: 0.005}
"""

from __future__ import annotations

import csv
import dataclasses
import fnmatch
import functools
import math
import re
from pathlib import Path

from soundcheck.suite import schema

HIGHER, LOWER = "higher", "lower"
UNCHANGED = "unchanged_predictions"
_SHARES = (
    *(UNCHANGED, "recall", "precision", "predicted_share", "sentence_error_rate", "interval_coverage"),
    *("share_of_empty_answers", "repeated_words", "taken_for"),
)


@dataclasses.dataclass(frozen=True)
class MeasureInfo:
    """A measure."""

    name: str  # as in the estimates; empty if the value of the test is a difference
    title: str  # for people
    better: str = ""  # which values are better, "higher" or "lower"; empty if neither
    error: bool = False  # whether relative margins apply: it is a rate of errors, or 1 minus one
    low: float = -float("inf")  # limits of its values
    high: float = float("inf")

    @property
    def share(self) -> bool:
        """Whether values are shares of recordings, each of which counts or does not."""
        return self.name.partition(" (")[0] in _SHARES

    @property
    def rate(self) -> bool:
        """Whether it is a rate of errors, whose values are written in per cent."""
        return self.error and self.better == LOWER

    def within(self, value: float, low: float, high: float) -> tuple[float, float]:
        """Keep an interval where values may lie; that of a value beyond it stays as it is."""
        if not self.low <= value <= self.high:
            return low, high
        return max(low, self.low), min(high, self.high)


@functools.cache
def measure_of(test: str, family: str = "") -> MeasureInfo:
    """Give what a test of a family measures; of tests that nobody listed the name says it.

    >>> measure_of("Word Error Rate Difference").name, measure_of("Own Score").name
    ('word_error_rate', 'own_score')
    """
    for name in (f"{family}/{test}", test):
        for pattern, info in _table().items():
            if fnmatch.fnmatchcase(name, pattern):
                return info
    words = re.findall(r"\w+", test.lower())
    return MeasureInfo("_".join(words), " ".join(words))


@functools.cache
def info_of(measure: str) -> MeasureInfo:
    """Give a measure by its name, also where a remark follows it: ``concordance_cc (balanced)``."""
    known = {info.name: info for info in _table().values()}
    plain = measure.partition(" (")[0]
    return known.get(measure) or known.get(plain) or MeasureInfo(measure, measure.replace("_", " "))


def named(title: str) -> str:
    """Give the name of a measure by its title: ``concordance_cc`` of ``concordance``."""
    return next(info.name for info in _table().values() if info.title == title)


@functools.cache
def _table() -> dict[str, MeasureInfo]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return {
            row["test"]: MeasureInfo(
                row["measure"],
                row["title"],
                row["better"],
                bool(row["error"]),
                float(row["low"] or "-inf"),
                float(row["high"] or "inf"),
            )
            for row in csv.DictReader(file)
        }


ABSOLUTE = 0.05  # of error rates without a published threshold


def _read_relative(value: object) -> object:
    given = schema.plain_value(value)
    if given == 0 and given is not False:
        raise schema.wrong("0 is no share of an error rate", "Write false for the absolute margin alone")
    return None if given is False else value


@dataclasses.dataclass(frozen=True)
class Margin:
    """The size of a difference that counts."""

    # the largest margin; ``None`` = the published threshold of the test
    absolute: schema.number(0, 1, positive=True) | None = None
    # of error rates: share of the rate of the reference; ``None`` = the absolute margin alone
    relative: schema.parsed(schema.number(0, 1, positive=True) | None, _read_relative) = 0.25
    floor: schema.number(0, 1) = 0.005  # of error rates: the smallest margin

    def of(self, published: float | None, reference: float | None, info: MeasureInfo) -> float | None:
        """Give the margin of a test; ``None`` if there is nothing to judge by.

        - ``published``: threshold of the test, if it has one.
        - ``reference``: value of the reference group: of a recall 0.98 the error rate is 0.02.

        >>> errors = MeasureInfo("word_error_rate", "word error rate", "lower", error=True)
        >>> [Margin().of(0.05, rate, errors) for rate in (0.45, 0.08, 0.003)]
        [0.05, 0.02, 0.005]
        """
        absolute = published if self.absolute is None else self.absolute
        if not info.error:
            return absolute
        absolute = ABSOLUTE if absolute is None else absolute
        if self.relative is None or reference is None or math.isnan(reference):
            return absolute
        rate = 1 - reference if info.better == "higher" else reference
        return max(self.floor, min(absolute, self.relative * rate))

    def __str__(self) -> str:
        absolute = "the threshold" if self.absolute is None else f"{self.absolute:g}"
        if self.relative is None:
            return absolute
        return f"{absolute}, of error rates {self.relative:g} of the rate if that is less"
