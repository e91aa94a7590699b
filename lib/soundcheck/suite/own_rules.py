"""What a suite decides itself: other thresholds, tests that it leaves out, failures that it accepts.

Conventions
-----------
- The threshold files stay as they are. A test that is judged otherwise remembers the shipped one, so that
  every page can say what was changed, to what, and why.
- An accepted failure stays a failure: only pipelines look past it, and only until its date.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping

from soundcheck.common.tasks import CLASSIFICATION
from soundcheck.suite.families import Family
from soundcheck.suite.margins import Margin

WHERE = ("model", "corpus", "family", "task", "test", "group", "label")  # what an accepted failure may name


@dataclasses.dataclass(frozen=True)
class OwnTest:
    """What a suite changes about a test."""

    # task or kind of task -> its threshold; those that are not named stay
    thresholds: dict[str, float] = dataclasses.field(default_factory=dict)
    # from which size a difference between groups is a failure; ``None`` = as in all tests
    margin: Margin | None = None
    why: str = ""  # the reason, for the reader
    run: bool = True  # whether the test is judged at all
    # whether pipelines fail when the value is on the wrong side of the threshold, whatever its interval
    hard: bool = False
    labels: tuple[str, ...] = ()  # classes that this is about; empty = all


@dataclasses.dataclass(frozen=True)
class AcceptedFailure:
    """Failures that are known and accepted: those of all tests that agree in what is named.

    - ``model, corpus, family, task, test, group, label``: as in the results table; empty = any.
    """

    model: str = ""
    corpus: str = ""
    family: str = ""
    task: str = ""
    test: str = ""
    group: str = ""
    label: str = ""
    why: str = ""  # the reason, for the reader
    until: datetime.date | None = None  # the last day on which they are accepted; ``None`` = without end

    @property
    def named(self) -> dict[str, str]:
        """What it names: column of the results -> value."""
        return {name: getattr(self, name) for name in WHERE if getattr(self, name)}

    @property
    def reason(self) -> str:
        """Why and how long, for the reader."""
        return self.why if self.until is None else f"{self.why} (until {self.until})"

    def past(self, today: datetime.date) -> bool:
        """Say whether its last day is over."""
        return self.until is not None and today > self.until

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.named.items())


def with_own_tests(family: Family, own: Mapping[str, OwnTest]) -> Family:
    """Give a family the thresholds of a suite.

    - ``own``: name of a test -> what the suite changes about it.
    """
    tests = dict(family.tests)
    for name, change in own.items():
        test = tests[name]
        tests[name] = dataclasses.replace(
            test,
            thresholds=test.thresholds | change.thresholds,
            classes=None if CLASSIFICATION in change.thresholds else test.classes,  # the suite knows its own
            margin=change.margin or test.margin,
            off="" if change.run else ": ".join(filter(None, ("switched off in this suite", change.why))),
            why=change.why or test.why,
            shipped=test.shipped or test,
        )
    return dataclasses.replace(family, tests=tests)
