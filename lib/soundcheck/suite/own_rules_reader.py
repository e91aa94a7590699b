"""Reads the keys ``matters``, ``tests`` and ``accepted`` of a suite, see :mod:`.own_rules`."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common import resources
from soundcheck.common.errors import InputError, Problems, did_you_mean
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import Task
from soundcheck.statistics.rules import WITHIN
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.families import Family, TestDefinition
from soundcheck.suite.margins import Margin
from soundcheck.suite.measures import measure_of
from soundcheck.suite.own_rules import WHERE, AcceptedFailure, OwnTest
from soundcheck.suite.yaml_reader import Document

_EXAMPLE = "Write {threshold: 0.9, why: agreed with the customer}, or false to leave the test out"


def _read_relative(value: object) -> object:
    given = schema.plain_value(value)
    if given == 0 and given is not False:
        raise schema.wrong("0 is no share of an error rate", "Write false for the absolute margin alone")
    return None if given is False else value


class _Margin(schema.Section):
    absolute: schema.number(0, 1, positive=True) | None = None
    relative: schema.parsed(schema.number(0, 1, positive=True) | None, _read_relative) = None
    floor: schema.number(0, 1) = 0.0


class _Test(schema.Section):
    why: schema.Text
    threshold: object = None
    matters: object = None
    hard: schema.Boolean = False
    label: schema.Names = ()


class _Left(schema.Section):
    run: schema.Boolean
    why: schema.Text = ""


def _read_date(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            pass
    raise schema.wrong(f"{schema.shown(value)} is not a date", "Write year-month-day, such as 2027-03-01")


class _Accepted(schema.Section):
    why: schema.Text
    until: schema.parsed(datetime.date, _read_date) | None = None
    model: schema.Text = ""
    corpus: schema.Text = ""
    family: schema.Text = ""
    task: schema.Text = ""
    test: schema.Text = ""
    group: schema.Text = ""
    label: schema.Text = ""


class OwnRulesReader(DocumentReader):
    """Reads the two sections of one suite.

    - ``document, problems``: the suite, and where problems are noted.
    - ``root``: folder of the suite, which may hold threshold files of its own.
    - ``tasks``: all tasks of the suite.
    """

    def __init__(self, document: Document, problems: Problems, root: Path, tasks: Mapping[str, Task]) -> None:
        super().__init__(document, problems)
        self.root = root
        self.tasks = tasks
        self.tested: Mapping[str, set[str]] = {}
        self.margin = self.read_margin(("matters",), document.data.get("matters", {}), Margin())

    def read_margin(self, path: tuple, value: object, usual: Margin) -> Margin:
        """Read a margin: a number is the absolute margin alone, a mapping names parts of it."""
        if not isinstance(value, dict):
            absolute = self.check(path, value, schema.number(0, 1, positive=True))
            return Margin(absolute, None)
        given = self.section(path, value, _Margin)
        if given is None:
            return usual
        margin = dataclasses.replace(usual, **{key: getattr(given, key) for key in given.model_fields_set})
        if None not in (margin.absolute, margin.relative) and margin.floor > margin.absolute:
            what = f"the floor {margin.floor:g} lies above the absolute margin {margin.absolute:g}"
            self.note(path, what, f"Write floor: {margin.absolute:g}, or less")
        return margin

    def read_tests(self, tested: Mapping[str, set[str]]) -> dict[str, dict[str, OwnTest]]:
        """Read ``tests``: family -> test -> what is changed; models are asked for the tasks of ``tested``."""
        self.tested = tested
        if "tests" not in self.document.data:
            return {}
        from soundcheck.suite.thresholds import read_family  # heavy, and most suites change nothing

        found: dict[str, dict[str, OwnTest]] = {}
        known = resources.names("thresholds", ".yml", own=self.root)
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
            found[name] = {}
            for test, change in self._mapping(path, value).items():
                if test not in family.tests:
                    what = f"{name} has no test {quoted(test)}"
                    self.note((*path, test), what, did_you_mean(test, family.tests))
                elif own := self._read_test((*path, test), change, family, family.tests[test]):
                    found[name][test] = own
        return found

    def read_accepted(self) -> tuple[AcceptedFailure, ...]:
        """Read ``accepted``, a list of failures that are known and accepted."""
        value = self.document.data.get("accepted", [])
        example = "Write - {model: ours, family: fairness_accent, why: being collected, until: 2027-03-01}"
        if not isinstance(value, list):
            self.note(("accepted",), f"{schema.shown(value)} is not a list", example)
            return ()
        found = []
        for position, item in enumerate(value):
            path = ("accepted", position)
            entry = self.section(path, item, _Accepted)
            if isinstance(item, dict) and not set(item) & set(WHERE):
                what = "nothing is named, so that every failure would be accepted"
                self.note(path, what, f"Name one or more of {', '.join(WHERE)}")
            elif entry is not None:
                found.append(AcceptedFailure(**dict(entry)))
        return tuple(found)

    def _mapping(self, path: tuple, value: object) -> dict:
        if isinstance(value, dict):
            return value
        self.note(path, f"{schema.shown(value)} is not a mapping", "Write name: {...}")
        return {}

    def _read_test(self, path: tuple, value: object, family: Family, test: TestDefinition) -> OwnTest | None:
        """Read what is changed about a test."""
        if schema.plain_value(value) is False:
            return OwnTest(run=False)
        if not isinstance(value, dict):
            self.note(path, f"{schema.shown(value)} does not say what is changed and why", _EXAMPLE)
            return None
        if "run" in value and "hard" in value:
            self.note(path, "a test that is left out cannot be a hard bar", "Remove run, or hard")
            return None
        if "run" in value:
            left = self.section(path, value, _Left)
            if left is not None and left.run:
                self.note((*path, "run"), "a test is run unless it is left out", "Remove it, or write false")
            return left and OwnTest(run=left.run, why=left.why)
        given = self.section(path, value, _Test)
        thresholds = self._read_thresholds((*path, "threshold"), value, family, test)
        if given is None:
            return None
        if given.threshold is None and given.matters is None and not given.hard:
            self.note(path, "nothing is changed", _EXAMPLE)
        margin = None
        if given.matters is not None:
            margin = self.read_margin((*path, "matters"), given.matters, self.margin)
            named = isinstance(given.matters, dict) and {"relative", "floor"} & {*given.matters}
            if named and margin.relative is not None and not measure_of(test.name, family.name).error:
                what = f"{test.name} is no error rate that a margin could be relative to"
                self.note((*path, "matters"), what, "Write a number, the absolute margin")
        if given.hard:
            self._check_hard(path, given, thresholds, family)
        elif given.label:
            self.note((*path, "label"), "a label narrows a hard bar only", "Add hard: true, or remove it")
        return OwnTest(thresholds, margin, given.why, hard=given.hard, labels=tuple(given.label))

    def _check_hard(self, path: tuple, given: _Test, thresholds: dict[str, float], family: Family) -> None:
        """Note a hard bar that nothing in the suite could be compared with."""
        place = (*path, "hard")
        tasks = [self.tasks[name] for name in self.tested.get(family.name, ())]
        judged = [task for task in tasks if task.name in thresholds or task.kind in thresholds]
        if given.threshold is None:
            self.note(place, "a hard bar needs a threshold", "Add threshold: 0.7")
        elif family.name not in self.tested:
            self.note(place, f"the suite does not run {family.name}", "Add it to families, or remove hard")
        elif thresholds and not judged:
            what = "no model is asked for a task that this is a threshold for"
            asked = ", ".join(sorted(task.name for task in tasks)) or "none"
            self.note(place, what, f"Models are asked for: {asked}")
        classes = {name for task in judged for name in task.classes}
        if not classes or not all(task.classes for task in judged):
            return
        for label in given.label:
            if label not in classes:
                self.note((*path, "label"), f"{quoted(label)} is no class", did_you_mean(label, classes))
        if given.label and "Class" not in path[-1]:
            what = f"{path[-1]} has one value, not one a class"
            self.note((*path, "label"), what, "Remove label, or name a test per class")

    def _read_thresholds(
        self, path: tuple, value: dict, family: Family, test: TestDefinition
    ) -> dict[str, float]:
        """Read one threshold for all tasks that have one, or one a task."""
        given = value.get("threshold")
        if given is None:
            return {}
        if not isinstance(given, dict):
            threshold = self._read_threshold(path, given, test)
            return {} if threshold is None else dict.fromkeys(test.thresholds, threshold)
        fitting = [task.name for task in self.tasks.values() if task.kind in family.kinds]
        allowed = [*fitting, *family.kinds]
        found = {}
        for task, item in given.items():
            if task not in allowed:
                what = f"{quoted(task)} is no task that {family.name} tests"
                self.note((*path, task), what, did_you_mean(task, allowed))
            elif (threshold := self._read_threshold((*path, task), item, test)) is not None:
                found[str(task)] = threshold
        return found

    def _read_threshold(self, path: tuple, value: object, test: TestDefinition) -> float | None:
        threshold = self.check(path, value, schema.Number)
        low, high = test.range or (None, None)
        if threshold is None:
            return None
        if low is not None and not low <= threshold <= high:
            what = f"{threshold:g} is impossible, scores lie from {low:g} to {high:g}"
            self.note(path, what, "Give a threshold in between")
        elif test.rule == WITHIN and threshold <= 0:
            self.note(path, f"no size of a value lies below {threshold:g}", "Give a threshold above 0")
        return threshold
