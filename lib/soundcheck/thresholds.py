"""Reads the threshold file of a test family: its tests, rules, thresholds and where they come from.

A family is ``thresholds/<family>.yml`` with a notebook and a page of the same name. A suite may bring
families of its own, or other thresholds for ours, in a folder ``thresholds`` beside its suite.yml.

Conventions
-----------
- Thresholds live on the scale of the score: regression tasks are scaled to 0..1 before anything is computed.
- Rules are strict and see the unrounded value; ``decimals`` is for display only.
- A threshold belongs to a task by its name, or to all other tasks of a kind under ``regression`` or
  ``classification``. A test without a threshold for a task does not exist for that task.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from soundcheck import files, resources, schema, simulation
from soundcheck.errors import Problems, did_you_mean, refuse
from soundcheck.escaping import quoted
from soundcheck.tasks import CLASSIFICATION, REGRESSION, Task
from soundcheck.yaml_reader import Document, Plain, read_yaml

ABOVE = ">"
BELOW = "<"
WITHIN = "|value| <"
RULES = (ABOVE, BELOW, WITHIN)
CATEGORIES = ("correctness", "fairness", "robustness")


def passes(rule: str, value: float | np.ndarray, threshold: float) -> bool | np.ndarray:
    """Compare a score with its threshold; the only place that knows what a rule means.

    Parameters
    ----------
    rule
        ``">"``, ``"<"`` or ``"|value| <"``; all are strict.
    value
        Unrounded score or array of scores.
    threshold
        Threshold on the same scale.

    Returns
    -------
    bool or numpy.ndarray
        Whether each value passes; a NaN never does.

    Raises
    ------
    ValueError
        If the rule is unknown.

    Examples
    --------
    >>> passes(">", 0.5, 0.5)
    False
    >>> passes("|value| <", -0.07, 0.075)
    True
    """
    values = np.asarray(value, dtype=np.float64)
    if rule == ABOVE:
        passed = values > threshold
    elif rule == BELOW:
        passed = values < threshold
    elif rule == WITHIN:
        passed = np.abs(values) < threshold
    else:
        raise ValueError(f"unknown rule {rule!r}, allowed: {', '.join(RULES)}")
    return bool(passed) if passed.ndim == 0 else passed


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of the signal whose effect on the prediction is tested.

    Parameters
    ----------
    name
        As shown in test names.
    transform
        Name of the transform.
    options
        Option -> a fixed value, a list to choose from uniformly, or ``{"from": a, "to": b}`` for a uniform
        whole number, both ends included; drawn for each segment.
    common
        Options on whose values nothing that is drawn depends: steps of a sweep get the same draws.
    """

    name: str
    transform: str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    common: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """Name of what is done to the signal; families that do the same share its predictions."""
        done = [self.options, *self.common] if self.common else self.options
        return f"{self.transform}-{files.digest(json.dumps(done, sort_keys=True))[:10]}"


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A change from mild to severe.

    Parameters
    ----------
    name
        As shown.
    axis
        What the steps are, as shown on the axis.
    steps
        Name of the step -> the change, from mild to severe.
    """

    name: str
    axis: str
    steps: dict[str, Change]


@dataclasses.dataclass(frozen=True)
class TestDefinition:
    """A test: which score passes.

    Parameters
    ----------
    name
        As shown and as in the results table.
    rule
        See :func:`passes`.
    thresholds
        Task name, ``"regression"`` or ``"classification"`` -> threshold.
    source, note
        Where the thresholds come from (key of the bibliography or words), and what to know.
    decimals
        Digits behind the point when shown.
    minimum
        Fewest segments that a score may rest on; ``None`` = no limit.
    simulation
        What random models without bias scored by chance in the simulation behind the thresholds: ``name`` of
        the metric, ``groups``, ``samples`` a group, ``maximum``, ``percentile_99``, perhaps ``prediction``,
        ``truth`` and ``minimum_per_bin``; see :mod:`soundcheck.simulation`. Empty if there was none.
    range
        Lowest and highest score that is possible; ``None`` if not stated.
    """

    __test__ = False  # not a test class of pytest

    name: str
    rule: str
    thresholds: dict[str, float]
    source: str = ""
    note: str = ""
    decimals: int = 3
    minimum: int | None = None
    simulation: dict[str, Any] = dataclasses.field(default_factory=dict)
    range: tuple[float, float] | None = None

    def threshold_for(self, task: Task) -> float | None:
        """Return the threshold for a task: its own, else that of its kind, else ``None``."""
        return self.thresholds.get(task.name, self.thresholds.get(task.kind))

    def passes(self, value: float | np.ndarray, task: Task) -> bool | np.ndarray:
        """Compare a score with the threshold for a task."""
        threshold = self.threshold_for(task)
        if threshold is None:
            raise ValueError(f"{self.name!r} has no threshold for {task.name!r}")
        return passes(self.rule, value, threshold)


@dataclasses.dataclass(frozen=True)
class Family:
    """A family of tests.

    Parameters
    ----------
    name
        Name of its notebook, threshold file and page.
    category
        ``"correctness"``, ``"fairness"`` or ``"robustness"``.
    title, question
        For people.
    kinds
        Kinds of task that it applies to.
    columns
        Columns of the segment table that it needs besides the label.
    measured
        Columns that are measured on the sound, see :mod:`soundcheck.corpora.measured`.
    label
        Whether it needs labelled segments.
    changes
        Changes of the signal that it needs predictions for.
    sweeps
        Changes from mild to severe, shown without verdict.
    options
        What its notebook needs to know.
    tests
        Its tests by name, in the order of the file.
    digest
        Digest of the file's bytes.
    """

    name: str
    category: str
    title: str
    question: str
    kinds: tuple[str, ...]
    columns: tuple[str, ...]
    measured: tuple[str, ...]
    label: bool
    changes: dict[str, Change]
    sweeps: dict[str, Sweep]
    options: dict[str, Any]
    tests: dict[str, TestDefinition]
    digest: str

    @property
    def all_changes(self) -> list[Change]:
        """All changes that it needs predictions for, steps of sweeps at the end."""
        steps = [change for sweep in self.sweeps.values() for change in sweep.steps.values()]
        return [*self.changes.values(), *steps]

    def applies_to(self, task: Task) -> bool:
        """Say whether there is anything to test for a task."""
        judged = any(test.threshold_for(task) is not None for test in self.tests.values())
        return task.kind in self.kinds and judged


def _parse_rule(value: object) -> str:
    if isinstance(value, str) and not value.strip():
        raise schema.wrong("the rule is empty", f"Put it in quotes. Allowed: {', '.join(map(repr, RULES))}")
    return schema.parse_choice(value, allowed=RULES)


class _Simulation(schema.Section):
    name: schema.Text
    groups: schema.whole(2, 1000)
    samples: schema.whole(2, 1_000_000)
    maximum: schema.number(0, 10)
    percentile_99: schema.number(0, 10)
    prediction: schema.Text = ""
    truth: schema.Text = ""
    minimum_per_bin: schema.whole(1, 1_000_000) | None = None


class _Top(schema.Section):
    family: schema.Text
    category: schema.choice(*CATEGORIES)
    title: schema.Title
    question: schema.Prose = ""
    tasks: schema.Texts
    columns: schema.Texts = []
    measured: schema.Texts = []
    label: schema.Boolean = True
    options: schema.Free = {}


class _Sweep(schema.Section):
    axis: schema.Title
    option: schema.Text = ""
    values: schema.Free = ()
    steps: dict[str, dict] = {}


class _Test(schema.Section):
    rule: schema.parsed(str, _parse_rule)
    thresholds: dict[str, object]
    source: schema.Prose
    note: schema.Prose = ""
    decimals: schema.whole(0, 9) = 3
    minimum: schema.whole(1, 1_000_000) | None = None
    simulation: dict[str, object] | None = None
    range: schema.Range | None = None


def read_family(name: str, own: Path | None = None) -> Family:
    """Read and check the threshold file of a family.

    Parameters
    ----------
    name
        Name of the family.
    own
        Folder of the suite, looked at first.

    Raises
    ------
    InputError
        If there is no such file or anything in it is wrong; holds all problems.
    """
    shown = f"thresholds/{name}.yml"
    file = resources.find(shown, own)
    if file is None or not re.fullmatch(r"\w[\w-]*", name):
        known = resources.names("thresholds", ".yml", own)
        raise refuse(shown, f"there is no family {quoted(name)}", did_you_mean(name, known))
    problems = Problems()
    document = read_yaml(file, shown, problems)
    family = _Reader(document, problems).read(name)
    _check_known_tests(document, name, file, own, problems)
    problems.raise_if_any()
    return family


def _check_known_tests(
    document: Document, name: str, file: Path, own: Path | None, problems: Problems
) -> None:
    """Note tests that our notebook of the family does not compute, if the suite brings thresholds only."""
    shipped = resources.root() / "thresholds" / f"{name}.yml"
    notebook = own is not None and (own / "notebooks" / f"{name}.ipynb").is_file()
    tests = document.data.get("tests")
    if notebook or not isinstance(tests, dict) or not shipped.is_file() or shipped.samefile(file):
        return
    known = read_family(name).tests
    for test in tests:
        if test not in known:
            problems.add(document.where(("tests", test)), "unknown test", did_you_mean(test, known))


class _Reader:
    """Reads one threshold file and notes all its problems."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self.document = document
        self.problems = problems

    def note(self, path: tuple, what: str, remedy: str = "") -> None:
        """Note a problem at a place of the file."""
        self.problems.add(self.document.where(path), what, remedy)

    def section(self, path: tuple, value: object, kind: type, also: tuple[str, ...] = ()) -> Any:
        """Check a section."""
        return schema.check_section(self.document, path, value, kind, self.problems, also=also)

    def read(self, name: str) -> Family | None:
        """Read everything; the result counts only if there are no problems."""
        top = self.section((), self.document.data, _Top, ("changes", "sweeps", "tests"))
        if top is not None:
            if top.family != name:
                self.note(("family",), f"{quoted(top.family)} is not the name of the file", f"Write {name}")
            for position, kind in enumerate(top.tasks):
                if kind not in (REGRESSION, CLASSIFICATION):
                    remedy = did_you_mean(kind, (REGRESSION, CLASSIFICATION))
                    self.note(("tasks", position), f"unknown kind of task {quoted(kind)}", remedy)
            if not isinstance(top.options, dict):
                self.note(("options",), "this is not a mapping", "Write key: value lines below it")
        changes = {key: self.read_change(key, value) for key, value in self.entries("changes", needed=False)}
        sweeps = {key: self.read_sweep(key, value) for key, value in self.entries("sweeps", needed=False)}
        tests = {key: self.read_test(key, value) for key, value in self.entries("tests")}
        if len(self.problems):
            return None
        return Family(
            name=name,
            category=top.category,
            title=top.title,
            question=top.question,
            kinds=tuple(top.tasks),
            columns=tuple(top.columns),
            measured=tuple(top.measured),
            label=top.label,
            changes=changes,
            sweeps=sweeps,
            options=top.options,
            tests=tests,
            digest=self.document.digest,
        )

    def entries(self, key: str, needed: bool = True) -> list[tuple[str, object]]:
        """List the named entries of a section."""
        value = self.document.data.get(key, {})
        if not isinstance(value, dict) or (needed and not value):
            self.note((key,), f"there are no {key}", "Write name: {...}, at least one")
            return []
        for name in value:
            reason = schema.name_problem(name)
            if reason:
                self.note((key, name), reason, "Use 1 to 80 characters on one line")
        return list(value.items())

    def read_sweep(self, name: str, value: object) -> Sweep | None:
        """Read a change with an option that takes several values, or with options of each step."""
        path = ("sweeps", name)
        if not isinstance(value, dict):
            self.note(
                path, "this is not a sweep", "Write {transform: ..., axis: ..., option: ..., values: [...]}"
            )
            return None
        own = {key: item for key, item in value.items() if key in _Sweep.model_fields}
        rest = {key: item for key, item in value.items() if key not in own}
        sweep, change = self.section(path, own, _Sweep), self.read_change(name, rest, path)
        if sweep is None or change is None:
            return None
        given = sweep.values if isinstance(sweep.values, list) else []
        if sweep.option:
            steps = {
                f"{item:g}" if isinstance(item, float) else str(item): {sweep.option: item} for item in given
            }
        else:
            steps = {
                step: {
                    key: self.read_option((*path, "steps", step, key), item) for key, item in options.items()
                }
                for step, options in sweep.steps.items()
            }
        if len(steps) < 2:
            self.note(path, "there are fewer than two steps", "Write option: snr_db and values: [30, 20, 10]")
            return None
        common = (sweep.option,) if sweep.option else ()
        changes = {
            step: Change(f"{name}, {step}", change.transform, change.options | options, common)
            for step, options in steps.items()
        }
        return Sweep(name, sweep.axis, changes)

    def read_change(self, name: str, value: object, path: tuple = ()) -> Change | None:
        """Read a change of the signal."""
        path = path or ("changes", name)
        transform = value.get("transform") if isinstance(value, dict) else None
        if not isinstance(transform, str) or not transform:
            self.note((*path, "transform"), "the key is missing", "Name the transform")
            return None
        options = {}
        for key, item in value.items():
            if key != "transform":
                options[key] = self.read_option((*path, key), item)
        return Change(name, str(transform), options)

    def read_option(self, path: tuple, value: object) -> Any:
        """Read an option of a change: a value, a list of values or a span of whole numbers."""
        option = schema.attempt(self.document, path, self.problems, schema.parse_free, value)
        if isinstance(option, dict):
            low, high = option.get("from"), option.get("to")
            whole = all(type(bound) is int for bound in (low, high))
            if set(option) != {"from", "to"} or not whole or low > high:
                self.note(path, "this is not a span of whole numbers", "Write {from: 5000, to: 7000}")
        elif isinstance(option, list):
            if not option or any(isinstance(item, dict | list) or item is None for item in option):
                self.note(path, "this is not a list of values", "Write [first, second]")
        elif isinstance(value, Plain) and option is None and not value:
            self.note(path, "nothing stands here", "Write a value, a list or {from: ..., to: ...}")
        return option

    def read_test(self, name: str, value: object) -> TestDefinition | None:
        """Read a test."""
        path = ("tests", name)
        test = self.section(path, value, _Test)
        if test is None:
            given = value.get("thresholds") if isinstance(value, dict) else None
            if isinstance(given, dict):
                self.read_thresholds((*path, "thresholds"), given, None)
            return None
        return TestDefinition(
            name=name,
            rule=test.rule,
            thresholds=self.read_thresholds((*path, "thresholds"), test.thresholds, test.range),
            source=test.source,
            note=test.note,
            decimals=test.decimals,
            minimum=test.minimum,
            simulation=self.read_simulation((*path, "simulation"), test.simulation),
            range=test.range,
        )

    def read_simulation(self, path: tuple, given: dict | None) -> dict[str, Any]:
        """Read what was simulated, if anything was."""
        if given is None:
            return {}
        found = self.section(path, given, _Simulation)
        if found is None:
            return {}
        known = {key: value for key, value in vars(found).items() if value not in ("", None)}
        try:
            simulation.setting_of(known, found.groups, found.samples)
        except ValueError as error:
            self.note(path, str(error), "Name what `soundcheck thresholds simulate` can simulate")
        return known

    def read_thresholds(
        self, path: tuple, given: dict, bounds: tuple[float, float] | None
    ) -> dict[str, float]:
        """Read the thresholds of a test, one a task."""
        if not given:
            self.note(path, "there is no threshold", "Write {arousal: 0.5}")
        thresholds = {}
        for task, item in _joined(given).items():
            number = schema.attempt(self.document, (*path, task), self.problems, schema.parse_number, item)
            if number is None:
                continue
            if bounds and not bounds[0] <= number <= bounds[1]:
                what = f"{number:g} is impossible, scores lie from {bounds[0]:g} to {bounds[1]:g}"
                self.note((*path, task), what, "Give a threshold in between")
            thresholds[task] = number
        return thresholds


def _joined(given: dict) -> dict:
    """Join what a comma took apart: ``{arousal: 0,5}`` is arousal 0 and a key 5 without value."""
    joined: dict[str, object] = {}
    last = None
    for key, item in given.items():
        if (
            last
            and key.isdigit()
            and isinstance(item, Plain)
            and not item
            and isinstance(joined[last], Plain)
        ):
            joined[last] = Plain(f"{joined[last]},{key}")
        else:
            joined[key] = item
            last = key
    return joined
