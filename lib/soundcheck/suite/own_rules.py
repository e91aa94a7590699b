"""What a suite decides itself: other thresholds and margins, tests that it leaves out, accepted failures.

Conventions
-----------
- The threshold files stay as they are. A test that is judged otherwise remembers the shipped one, so that
  every page can say what was changed, to what, and why.
- An accepted failure stays a failure: only pipelines look past it, and only until its date.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import re
from collections.abc import Mapping

from soundcheck.common.errors import did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import CLASSIFICATION
from soundcheck.statistics.rules import WITHIN
from soundcheck.suite import schema
from soundcheck.suite.families import Family
from soundcheck.suite.measures import Margin, measure_of

WHERE = ("model", "corpus", "family", "task", "test", "group", "label")  # what an accepted failure may name
_EXAMPLE = "Write {threshold: 0.9, why: agreed with the customer}, or false to leave the test out"
_EXAMPLE_ACCEPTED = "Write - {model: ours, family: fairness_accent, why: being collected, until: 2027-03-01}"


def _read_date(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        with contextlib.suppress(ValueError):
            return datetime.date.fromisoformat(value)
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


def read_margin(reader: schema.EntryReader, path: tuple, value: object, usual: Margin) -> Margin:
    """Read a margin: a number is the absolute margin alone, a mapping names parts of it."""
    if not isinstance(value, dict):
        return Margin(reader.check(path, value, schema.number(0, 1, positive=True)), None)
    given = reader.check(path, value, Margin)
    if given is None:
        return usual
    margin = dataclasses.replace(usual, **{key: part for key, part in vars(given).items() if key in value})
    if None not in (margin.absolute, margin.relative) and margin.floor > margin.absolute:
        what = f"the floor {margin.floor:g} lies above the absolute margin {margin.absolute:g}"
        reader.note(path, what, f"Write floor: {margin.absolute:g}, or less")
    return margin


def read_accepted(reader: schema.EntryReader) -> tuple[AcceptedFailure, ...]:
    """Read ``accepted``, a list of failures that are known and accepted."""
    value = reader.document.data.get("accepted", [])
    if not isinstance(value, list):
        reader.note(("accepted",), f"{schema.display(value)} is not a list", _EXAMPLE_ACCEPTED)
        return ()
    accepted = []
    for position, item in enumerate(value):
        path = ("accepted", position)
        accepted.append(reader.check(path, item, AcceptedFailure, needed=("why",)))
        if isinstance(item, dict) and not set(item) & set(WHERE):
            what = "nothing is named, so that every failure would be accepted"
            reader.note(path, what, f"Name one or more of {', '.join(WHERE)}")
    return tuple(filter(None, accepted))


def read_tests(
    reader: schema.EntryReader, tested: Mapping[str, set[str]], margin: Margin
) -> dict[str, dict[str, OwnTest]]:
    """Read ``tests``: family -> test -> what is changed.

    - ``tested``: family -> tasks that models of the suite predict for it. ``margin``: that of the suite.
    """
    names = reader.known_names(("tests",), dict(reader.entries("tests")), reader.families, "family")
    if not names:
        return {}
    from soundcheck.suite.thresholds import read_family  # heavy, and most suites change nothing

    changes: dict[str, dict[str, OwnTest]] = {}
    for name in names:
        changes[name] = {}
        with reader.problems.collected():
            family = read_family(name, reader.root)
            for test, change in reader.entries("tests", name):
                path = ("tests", name, test)
                if test not in family.tests:
                    what = f"{name} has no test {quoted(test)}"
                    reader.note(path, what, did_you_mean(test, family.tests))
                elif changed := _TestReader(reader, path, family, tested.get(name), margin).read(change):
                    changes[name][test] = changed
    return changes


@dataclasses.dataclass(frozen=True)
class _TestReader:
    """Reads what a suite changes about a test of a family, at a path of its file."""

    reader: schema.EntryReader
    path: tuple
    family: Family
    predicted: set[str] | None  # tasks that models predict for the family; ``None``: it is not run
    margin: Margin  # of the suite

    def read(self, value: object) -> OwnTest | None:
        """Read all; ``None`` if it cannot be used."""
        reader, path = self.reader, self.path
        if schema.plain_value(value) is False:
            return OwnTest(run=False)
        if not isinstance(value, dict):
            reader.note(path, f"{schema.display(value)} does not say what is changed and why", _EXAMPLE)
            return None
        fixed = {"thresholds": {}, "margin": None, "labels": ()}
        if "run" in value:
            if "hard" in value:
                reader.note(path, "a test that is left out cannot be a hard bar", "Remove run, or hard")
                return None
            left = reader.check(path, value, OwnTest, more=fixed | {"hard": False})
            if left is not None and left.run:
                what = "a test is run unless it is left out"
                reader.note((*path, "run"), what, "Remove it, or write false")
            return left
        others = ("threshold", "matters", "label")
        change = reader.check(path, value, OwnTest, others, fixed | {"run": True}, ("why",))
        labels = reader.check((*path, "label"), value.get("label"), schema.Names)
        thresholds = self.thresholds(value.get("threshold"))
        if change is None:
            return None
        if not {"threshold", "matters"} & value.keys() and not change.hard:
            reader.note(path, "nothing is changed", _EXAMPLE)
        margin, matters = None, value.get("matters")
        if matters is not None:
            margin = read_margin(reader, (*path, "matters"), matters, self.margin)
            named = isinstance(matters, dict) and {"relative", "floor"} & {*matters}
            if named and margin.relative is not None and not measure_of(path[-1], self.family.name).error:
                what = f"{path[-1]} is no error rate that a margin could be relative to"
                reader.note((*path, "matters"), what, "Write a number, the absolute margin")
        change = dataclasses.replace(change, thresholds=thresholds, margin=margin, labels=labels or ())
        if change.hard:
            self.check_hard(change, "threshold" in value)
        elif change.labels:
            reader.note((*path, "label"), "a label narrows a hard bar only", "Add hard: true, or remove it")
        return change

    def check_hard(self, change: OwnTest, has_threshold: bool) -> None:
        """Note a hard bar that nothing in the suite could be compared with."""
        note, place, label_place = self.reader.note, (*self.path, "hard"), (*self.path, "label")
        tasks = [self.reader.tasks[name] for name in sorted(self.predicted or ())]
        judged = [task for task in tasks if {task.name, task.kind} & change.thresholds.keys()]
        if not has_threshold:
            note(place, "a hard bar needs a threshold", "Add threshold: 0.7")
        elif self.predicted is None:
            what = f"the suite does not run {self.family.name}"
            note(place, what, "Add it to families, or remove hard")
        elif change.thresholds and not judged:
            names = ", ".join(sorted(task.name for task in tasks)) or "none"
            note(place, "no model predicts a task that this is a threshold for", f"Models predict: {names}")
        classes = list(dict.fromkeys(name for task in judged for name in task.classes))
        if not classes or not all(task.classes for task in judged):
            return
        for label in [label for label in change.labels if label not in classes]:
            note(label_place, f"{quoted(label)} is no class", did_you_mean(label, classes))
        if change.labels and "Class" not in self.path[-1]:
            what = f"{self.path[-1]} has one value, not one a class"
            note(label_place, what, "Remove label, or name a test per class")

    def thresholds(self, given: object) -> dict[str, float]:
        """Read one threshold for all tasks that have one, or one a task."""
        path, kinds = (*self.path, "threshold"), self.family.kinds
        if given is None:
            return {}
        if not isinstance(given, dict):
            threshold = self.threshold(path, given)
            names = self.family.tests[self.path[-1]].thresholds
            return {} if threshold is None else dict.fromkeys(names, threshold)
        allowed = [*(task.name for task in self.reader.tasks.values() if task.kind in kinds), *kinds]
        for task in [task for task in given if task not in allowed]:
            what = f"{quoted(task)} is no task that {self.family.name} tests"
            self.reader.note((*path, task), what, did_you_mean(task, allowed))
        read = {task: self.threshold((*path, task), given[task]) for task in given if task in allowed}
        return {task: threshold for task, threshold in read.items() if threshold is not None}

    def threshold(self, path: tuple, value: object) -> float | None:
        """Read a threshold that a score can be on either side of."""
        threshold, test = self.reader.check(path, value, schema.Number), self.family.tests[self.path[-1]]
        if threshold is not None and test.rule == WITHIN and threshold <= 0:
            what = f"no size of a value lies below {threshold:g}"
            self.reader.note(path, what, "Give a threshold above 0")
        elif threshold is not None:
            self.reader.check_possible(path, threshold, test.range)
        return threshold
