"""What the tests measure: the field's name of a measure, which side is better, where its values may lie.

``measures.csv`` beside this file has a row a test, with ``FAMILY/`` before its name where a family measures
something else under it, and ``*`` for any words. Tests of differences name what they compare; a row without
measure is of a test whose value is a difference itself, which the results hold and the estimates do not.
"""

from __future__ import annotations

import csv
import dataclasses
import fnmatch
import functools
import re
from pathlib import Path

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
