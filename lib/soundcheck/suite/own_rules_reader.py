"""Reads the keys ``tests`` and ``accepted`` of a suite, see :mod:`soundcheck.suite.own_rules`."""

from __future__ import annotations

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
from soundcheck.suite.own_rules import WHERE, AcceptedFailure, OwnTest
from soundcheck.suite.yaml_reader import Document

_EXAMPLE = "Write {threshold: 0.9, why: agreed with the customer}, or false to leave the test out"


class _Test(schema.Section):
    why: schema.Text
    threshold: object = None
    matters: schema.number(0, 1e6, positive=True) | None = None


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

    Parameters
    ----------
    document, problems
        The suite, and where problems are noted.
    root
        Folder of the suite, which may hold threshold files of its own.
    tasks
        All tasks of the suite.
    """

    def __init__(self, document: Document, problems: Problems, root: Path, tasks: Mapping[str, Task]) -> None:
        super().__init__(document, problems)
        self.root = root
        self.tasks = tasks

    def read_tests(self) -> dict[str, dict[str, OwnTest]]:
        """Read ``tests``: family -> test -> what is changed."""
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
        if "run" in value:
            left = self.section(path, value, _Left)
            if left is not None and left.run:
                self.note((*path, "run"), "a test is run unless it is left out", "Remove it, or write false")
            return left and OwnTest(run=left.run, why=left.why)
        given = self.section(path, value, _Test)
        thresholds = self._read_thresholds((*path, "threshold"), value, family, test)
        if given is None:
            return None
        if given.threshold is None and given.matters is None:
            self.note(path, "nothing is changed", _EXAMPLE)
        return OwnTest(thresholds, given.matters, given.why)

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
