"""What a suite decides itself: other thresholds and margins, tests that it leaves out, accepted failures.

Conventions
-----------
- The threshold files stay as they are. A test that is judged otherwise remembers the shipped one, so that
  every page can say what was changed, to what, and why.
- An accepted failure stays a failure: only pipelines look past it, and only until its date.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common import resources
from soundcheck.common.errors import InputError, Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import CLASSIFICATION, Task
from soundcheck.statistics.rules import WITHIN
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.families import Family, TestDefinition
from soundcheck.suite.margins import Margin
from soundcheck.suite.measures import measure_of
from soundcheck.suite.yaml_reader import Document

WHERE = ("model", "corpus", "family", "task", "test", "group", "label")  # what an accepted failure may name
_EXAMPLE = "Write {threshold: 0.9, why: agreed with the customer}, or false to leave the test out"
_EXAMPLE_ACCEPTED = "Write - {model: ours, family: fairness_accent, why: being collected, until: 2027-03-01}"


def _read_date(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            pass
    raise schema.wrong(f"{schema.display(value)} is not a date", "Write year-month-day, such as 2027-03-01")


@dataclasses.dataclass(frozen=True)
class OwnTest:
    """What a suite changes about a test."""

    # task or kind of task -> its threshold; those that are not named stay
    thresholds: dict[str, float] = dataclasses.field(default_factory=dict)
    # from which size a difference between groups is a failure; ``None`` = as in all tests
    margin: Margin | None = None
    why: schema.Text = ""  # the reason, for the reader
    run: schema.Boolean = True  # whether the test is judged at all
    # whether pipelines fail when the value is on the wrong side of the threshold, whatever its interval
    hard: schema.Boolean = False
    labels: tuple[str, ...] = ()  # classes that this is about; empty = all


@dataclasses.dataclass(frozen=True)
class AcceptedFailure:
    """Failures that are known and accepted: those of all tests that agree in what is named."""

    model: schema.Text = ""  # these as in the results table; empty = any
    corpus: schema.Text = ""
    family: schema.Text = ""
    task: schema.Text = ""
    test: schema.Text = ""
    group: schema.Text = ""
    label: schema.Text = ""
    why: schema.Text = ""  # the reason, for the reader
    # the last day on which they are accepted; ``None`` = without end
    until: schema.parsed(datetime.date, _read_date) | None = None

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


def with_own_tests(family: Family, changes: Mapping[str, OwnTest]) -> Family:
    """Give a family the thresholds of a suite: name of a test -> what the suite changes about it."""
    tests = dict(family.tests)
    for name, change in changes.items():
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


class OwnRulesReader(DocumentReader):
    """Reads ``matters``, ``tests`` and ``accepted`` of one suite.

    - ``root``: folder of the suite, which may hold threshold files of its own.
    - ``tasks``: all tasks of the suite.
    """

    def __init__(self, document: Document, problems: Problems, root: Path, tasks: Mapping[str, Task]) -> None:
        super().__init__(document, problems)
        self.root = root
        self.tasks = tasks
        self.margin = self.read_margin(("matters",), document.data.get("matters", {}), Margin())

    def read_margin(self, path: tuple, value: object, usual: Margin) -> Margin:
        """Read a margin: a number is the absolute margin alone, a mapping names parts of it."""
        if not isinstance(value, dict):
            return Margin(self.check(path, value, schema.number(0, 1, positive=True)), None)
        given = self.section(path, value, Margin)
        if given is None:
            return usual
        named = {key: part for key, part in vars(given).items() if key in value}
        margin = dataclasses.replace(usual, **named)
        if None not in (margin.absolute, margin.relative) and margin.floor > margin.absolute:
            what = f"the floor {margin.floor:g} lies above the absolute margin {margin.absolute:g}"
            self.note(path, what, f"Write floor: {margin.absolute:g}, or less")
        return margin

    def read_tests(self, tested: Mapping[str, set[str]]) -> dict[str, dict[str, OwnTest]]:
        """Read ``tests``: family -> test -> what is changed.

        - ``tested``: family -> tasks that models of the suite predict for it.
        """
        if "tests" not in self.document.data:
            return {}
        from soundcheck.suite.thresholds import read_family  # heavy, and most suites change nothing

        changes: dict[str, dict[str, OwnTest]] = {}
        known = resources.names("thresholds", ".yml", first=self.root)
        for name, value in self._mapping(("tests",), self.document.data["tests"]).items():
            path = ("tests", name)
            if name not in known:
                self.note(path, f"unknown family {quoted(name)}", did_you_mean(name, known))
                continue
            try:
                family = read_family(name, self.root)
            except InputError as error:
                self.problems.extend(error)
                continue
            changes[name] = {}
            for test, change in self._mapping(path, value).items():
                if test not in family.tests:
                    what = f"{name} has no test {quoted(test)}"
                    self.note((*path, test), what, did_you_mean(test, family.tests))
                elif changed := self._read_test((*path, test), change, family, tested.get(name)):
                    changes[name][test] = changed
        return changes

    def read_accepted(self) -> tuple[AcceptedFailure, ...]:
        """Read ``accepted``, a list of failures that are known and accepted."""
        value = self.document.data.get("accepted", [])
        if not isinstance(value, list):
            self.note(("accepted",), f"{schema.display(value)} is not a list", _EXAMPLE_ACCEPTED)
            return ()
        accepted = []
        for position, item in enumerate(value):
            path = ("accepted", position)
            entry = self.section(path, item, AcceptedFailure, needed=("why",))
            if isinstance(item, dict) and not set(item) & set(WHERE):
                what = "nothing is named, so that every failure would be accepted"
                self.note(path, what, f"Name one or more of {', '.join(WHERE)}")
            elif entry is not None:
                accepted.append(entry)
        return tuple(accepted)

    def _mapping(self, path: tuple, value: object) -> dict:
        if isinstance(value, dict):
            return value
        self.note(path, f"{schema.display(value)} is not a mapping", "Write name: {...}")
        return {}

    def _read_test(
        self, path: tuple, value: object, family: Family, predicted: set[str] | None
    ) -> OwnTest | None:
        """Read what is changed about a test; ``predicted`` = tasks, ``None``: the family is not run."""
        if schema.plain_value(value) is False:
            return OwnTest(run=False)
        if not isinstance(value, dict):
            self.note(path, f"{schema.display(value)} does not say what is changed and why", _EXAMPLE)
            return None
        if "run" in value and "hard" in value:
            self.note(path, "a test that is left out cannot be a hard bar", "Remove run, or hard")
            return None
        fixed = {"thresholds": {}, "margin": None, "labels": ()}
        if "run" in value:
            left = self.section(path, value, OwnTest, more=fixed | {"hard": False})
            if left is not None and left.run:
                self.note((*path, "run"), "a test is run unless it is left out", "Remove it, or write false")
            return left
        others = ("threshold", "matters", "label")
        change = self.section(path, value, OwnTest, others, fixed | {"run": True}, ("why",))
        labels = self.check((*path, "label"), value["label"], schema.Names) if "label" in value else ()
        test = family.tests[path[-1]]
        thresholds = self._read_thresholds((*path, "threshold"), value.get("threshold"), family, test)
        if change is None:
            return None
        if not {"threshold", "matters"} & value.keys() and not change.hard:
            self.note(path, "nothing is changed", _EXAMPLE)
        margin, matters = None, value.get("matters")
        if matters is not None:
            margin = self.read_margin((*path, "matters"), matters, self.margin)
            named = isinstance(matters, dict) and {"relative", "floor"} & {*matters}
            if named and margin.relative is not None and not measure_of(test.name, family.name).error:
                what = f"{test.name} is no error rate that a margin could be relative to"
                self.note((*path, "matters"), what, "Write a number, the absolute margin")
        change = dataclasses.replace(change, thresholds=thresholds, margin=margin, labels=labels or ())
        if change.hard:
            self._check_hard(path, change, "threshold" in value, family.name, predicted)
        elif change.labels:
            self.note((*path, "label"), "a label narrows a hard bar only", "Add hard: true, or remove it")
        return change

    def _check_hard(
        self, path: tuple, change: OwnTest, has_threshold: bool, family: str, predicted: set[str] | None
    ) -> None:
        """Note a hard bar that nothing in the suite could be compared with."""
        place = (*path, "hard")
        tasks = [self.tasks[name] for name in predicted or ()]
        judged = [task for task in tasks if {task.name, task.kind} & change.thresholds.keys()]
        if not has_threshold:
            self.note(place, "a hard bar needs a threshold", "Add threshold: 0.7")
        elif predicted is None:
            self.note(place, f"the suite does not run {family}", "Add it to families, or remove hard")
        elif change.thresholds and not judged:
            what = "no model predicts a task that this is a threshold for"
            names = ", ".join(sorted(task.name for task in tasks)) or "none"
            self.note(place, what, f"Models predict: {names}")
        classes = list(dict.fromkeys(name for task in judged for name in task.classes))
        if not classes or not all(task.classes for task in judged):
            return
        for label in [label for label in change.labels if label not in classes]:
            self.note((*path, "label"), f"{quoted(label)} is no class", did_you_mean(label, classes))
        if change.labels and "Class" not in path[-1]:
            what = f"{path[-1]} has one value, not one a class"
            self.note((*path, "label"), what, "Remove label, or name a test per class")

    def _read_thresholds(
        self, path: tuple, given: object, family: Family, test: TestDefinition
    ) -> dict[str, float]:
        """Read one threshold for all tasks that have one, or one a task."""
        if given is None:
            return {}
        if not isinstance(given, dict):
            threshold = self._read_threshold(path, given, test)
            return {} if threshold is None else dict.fromkeys(test.thresholds, threshold)
        allowed = [*(task.name for task in self.tasks.values() if task.kind in family.kinds), *family.kinds]
        thresholds = {}
        for task, item in given.items():
            if task not in allowed:
                what = f"{quoted(task)} is no task that {family.name} tests"
                self.note((*path, task), what, did_you_mean(task, allowed))
            elif (threshold := self._read_threshold((*path, task), item, test)) is not None:
                thresholds[task] = threshold
        return thresholds

    def _read_threshold(self, path: tuple, value: object, test: TestDefinition) -> float | None:
        threshold = self.check(path, value, schema.Number)
        if threshold is None:
            return None
        if test.range and not test.range[0] <= threshold <= test.range[1]:
            low, high = test.range
            what = f"{threshold:g} is impossible, scores lie from {low:g} to {high:g}"
            self.note(path, what, "Give a threshold in between")
        elif test.rule == WITHIN and threshold <= 0:
            self.note(path, f"no size of a value lies below {threshold:g}", "Give a threshold above 0")
        return threshold
