"""What a family of tests is, what its tests measure, and what a suite decides about them.

A family is its tests, rules and thresholds, and the changes of the signal that it needs.

- Thresholds live on the scale of the score: regression tasks are scaled to 0..1 before anything is computed.
- Rules are strict and see the unrounded value; ``decimals`` is for display only.
- A threshold belongs to a task by its name, or to all other tasks of a kind under ``regression`` or
  ``classification``. A test that names neither a task nor its kind does not exist for that task.
- A threshold for classes may depend on how many there are: of two classes guessing finds half, and of seven
  few have a share that could be off by 0.15. Where it does, the test says for how many classes it is. Tasks
  with more or fewer have no threshold then, unless the suite sets one: values are shown without verdict.

``measures.csv`` beside this file has a row a test, with ``FAMILY/`` before its name where a family measures
something else under it, and ``*`` for any words. Tests of differences name what they compare; a row without
measure is of a test whose value is a difference itself, which the results hold and the estimates do not.

From which size a difference between groups is a failure, ``matters:`` of a suite or test says::

    matters: {absolute: 0.05, relative: 0.25, floor: 0.005}

A suite may set other thresholds and margins, leave out tests, and accept failures.

- The threshold files stay as they are. A test that is judged otherwise remembers the shipped one, so that
  every page can say what was changed, to what, and why.
- An accepted failure stays a failure: only pipelines look past it, and only until its date.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import datetime
import fnmatch
import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import WrapValidator

from soundcheck.common import files
from soundcheck.common.messages import did_you_mean, quoted
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, Task
from soundcheck.statistics.rules import RULES, WITHIN
from soundcheck.suite import schema

# Measures ---------------------------------------------------------------------------------------------------

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
    table = {}
    with Path(__file__).with_name("measures.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            limits = float(row["low"] or "-inf"), float(row["high"] or "inf")
            texts = row["measure"], row["title"], row["better"]
            table[row["test"]] = MeasureInfo(*texts, bool(row["error"]), *limits)
    return table


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


# Families ---------------------------------------------------------------------------------------------------

CATEGORIES = ("correctness", "fairness", "robustness")


def _check_rule(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise schema.wrong("the rule is empty", f"Put it in quotes. Allowed: {', '.join(map(repr, RULES))}")
    return value


def _or_null(value: object, read: Callable[[object], object]) -> object:
    return None if isinstance(value, schema.Plain) and value == "null" else read(value)


Rule = schema.parsed(schema.choice(*RULES), _check_rule)
Threshold = Annotated[schema.Number, WrapValidator(_or_null)]  # null: reported
ScoreRange = Annotated[schema.Range, WrapValidator(_or_null)]


@dataclasses.dataclass(frozen=True)
class Perturbation:
    """A change of the signal whose effect on the prediction is tested."""

    name: str  # as shown in test names
    transform: str
    # option -> a fixed value, a list to choose from uniformly, or ``{"from": a, "to": b}`` for a uniform
    # whole number, both ends included; drawn for each segment
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    # options on whose values nothing that is drawn depends: steps of a sweep get the same draws
    common: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """Name of what is done to the signal; families that do the same share its predictions."""
        done = [self.options, *self.common] if self.common else self.options
        return f"{self.transform}-{files.digest(json.dumps(done, sort_keys=True))[:10]}"


@dataclasses.dataclass(frozen=True)
class PerturbationSeries:
    """A change from mild to severe."""

    name: str
    axis: str  # what the steps are, as shown on the axis
    steps: dict[str, Perturbation]  # name of the step -> the change, from mild to severe

    def step(self, level: object) -> str | None:
        """Find the step that a level stands for, by name or as a number; ``None`` if there is none.

        >>> PerturbationSeries("Scale", "factor", {"0.9": None, "0.5": None}).step(0.50)
        '0.5'
        """
        return next((name for name in self.steps if _as_number(name) == _as_number(level)), None)

    def thinned(self, most: int, excluded: Iterable[object] = ()) -> PerturbationSeries:
        """Keep at most so many steps: the most severe one, the mildest one, and others evenly between.

        - ``most``: how many, at least 1.
        - ``excluded``: levels that do not count; they are only kept if there are not more steps than that.

        >>> scale = PerturbationSeries("Scale", "factor", dict.fromkeys(["0.9", "0.8", "0.7", "0.6", "0.5"]))
        >>> list(scale.thinned(3).steps), list(scale.thinned(1).steps)
        (['0.9', '0.7', '0.5'], ['0.5'])
        >>> list(scale.thinned(2, [0.6, 0.5]).steps)
        ['0.9', '0.7']
        """
        if len(self.steps) <= most:
            return self
        left_out = {self.step(level) for level in excluded}
        names = [name for name in self.steps if name not in left_out] or list(self.steps)
        places = np.linspace(len(names) - 1, 0, min(most, len(names))).round().astype(int)
        chosen = {names[place] for place in places}
        return dataclasses.replace(
            self, steps={name: step for name, step in self.steps.items() if name in chosen}
        )


def _as_number(level: object) -> float | str:
    try:
        return float(str(level))
    except ValueError:
        return str(level)


@dataclasses.dataclass(frozen=True)
class TestDefinition:
    """A test: which score passes.

    - ``source, note``: where the thresholds come from (key of the bibliography or words), and what to know.
    """

    __test__ = False  # not a test class of pytest

    name: str  # as shown and as in the results table
    rule: Rule  # see :func:`soundcheck.statistics.rules.passes`
    # task name, ``"regression"`` or ``"classification"`` -> threshold; ``None`` where the value is shown
    # without verdict
    thresholds: dict[str, Threshold | None]
    source: schema.Prose = ""
    note: schema.Prose = ""
    decimals: schema.whole(0, 9) = 3  # digits behind the point when shown
    # what random models without bias scored by chance in the simulation behind the thresholds: ``name`` of
    # the metric, ``groups``, ``samples`` a group, ``maximum``, ``percentile_99``, perhaps ``prediction``,
    # ``truth``, ``minimum_per_bin`` and ``tested_samples``, the segments a group of the published test if
    # they are not ``samples``; see :mod:`soundcheck.statistics.simulation`. Empty if there was none.
    simulation: dict[str, Any] = dataclasses.field(default_factory=dict)
    range: ScoreRange | None = None  # lowest and highest score that is possible; ``None`` if not stated
    # whether the score is a difference, which nothing keeps away from the ends of its range
    difference: schema.Boolean = False
    # number of classes that the threshold for classification is for; ``None`` if it suits any number
    classes: schema.whole(2, 1000) | None = None
    # from which size a difference between groups is a failure, as the suite sets it for this test; ``None`` =
    # as in all tests
    margin: Margin | None = None
    # what one that does everything wrong scores where no highest score is possible
    all_wrong: schema.number(positive=True) = 1.0
    off: str = ""  # why the suite does not judge it; empty if it does
    # the test as it was before the suite changed it; ``None`` if it did not
    shipped: TestDefinition | None = None
    why: str = ""  # why the suite changed it

    def fits(self, task: Task) -> bool:
        """Say whether the test exists for a task, with a threshold for it or without."""
        return task.name in self.thresholds or task.kind in self.thresholds

    def threshold_for(self, task: Task) -> float | None:
        """Return the threshold for a task: its own, else that of its kind if it suits, else ``None``."""
        if task.name not in self.thresholds and self.unsuited(task):
            return None
        return self.thresholds.get(task.name, self.thresholds.get(task.kind))

    def unsuited(self, task: Task) -> str:
        """Say why the threshold for the kind of a task does not suit it; empty if it does.

        >>> test = TestDefinition("Recall Per Class", ">", {"classification": 0.5}, classes=4)
        >>> test.unsuited(Task("style", "classification", ("read", "acted", "spontaneous")))
        'the one for classification is for 4 classes, not 3'
        """
        given = len(task.classes)
        if self.classes is None or not given or given == self.classes:
            return ""
        return f"the one for {task.kind} is for {self.classes} classes, not {given}"

    def is_own(self, task: Task) -> bool:
        """Say whether the suite sets the threshold for a task, or another rule."""
        if self.shipped is None:
            return False
        return (self.rule, self.threshold_for(task)) != (self.shipped.rule, self.shipped.threshold_for(task))

    def change_for(self, task: Task) -> str:
        """Say what the suite changed for a task, and why; empty if nothing.

        >>> from soundcheck.common.tasks import BUILTIN
        >>> shipped = TestDefinition("Mean", ">", {"arousal": 0.5})
        >>> own = TestDefinition("Mean", ">", {"arousal": 0.15}, shipped=shipped, why="agreed")
        >>> own.change_for(BUILTIN["arousal"])
        'changed in this suite: 0.5 → 0.15 (agreed)'
        """
        after = self.threshold_for(task)
        if after is None and self.margin is not None and self.fits(task):
            return self._with_reason(f"set in this suite: margin {self.margin}")
        return self._change(self.shipped and self.shipped.threshold_for(task), after)

    def change_of(self, name: str) -> str:
        """Say the same of a threshold by its name in the file: of a task, or of a kind of task."""
        kind = BUILTIN[name].kind if name in BUILTIN else None
        before = self.shipped and self.shipped.thresholds.get(name, self.shipped.thresholds.get(kind))
        return self._change(before, self.thresholds.get(name))

    def _change(self, before: float | None, after: float | None) -> str:
        if self.shipped is None or after is None:
            return ""
        parts = []
        if self.rule != self.shipped.rule and before is not None:
            parts.append(f"{self.shipped.rule} {before:g} → {self.rule} {after:g}")
        elif before != after:
            parts.append(f"{after:g}" if before is None else f"{before:g} → {after:g}")
        if self.margin != self.shipped.margin:
            parts.append(f"margin {self.margin}")
        verb = "set" if before is None else "changed"
        return self._with_reason(f"{verb} in this suite: {', '.join(parts)}") if parts else ""

    def _with_reason(self, change: str) -> str:
        return f"{change} ({self.why})" if self.why else change


@dataclasses.dataclass(frozen=True, kw_only=True)
class Family:
    """A family of tests; the threshold file calls ``name`` family and ``kinds`` tasks."""

    name: str  # of its notebook, threshold file and page
    category: schema.choice(*CATEGORIES)
    title: schema.Title
    question: schema.Prose = ""
    kinds: tuple[str, ...]  # kinds of task that it applies to
    columns: schema.Texts = ()  # columns of the segment table that it needs besides the label
    # columns that are measured on the sound, see :mod:`soundcheck.corpora.columns`
    measured: schema.Texts = ()
    label: schema.Boolean = True  # whether it needs labelled segments
    # changes of the signal that it needs predictions for
    changes: dict[str, Perturbation] = dataclasses.field(default_factory=dict)
    # changes from mild to severe, shown without verdict
    sweeps: dict[str, PerturbationSeries] = dataclasses.field(default_factory=dict)
    # what its notebook needs to know
    options: schema.parsed(dict[str, Any], schema.free_value) = dataclasses.field(default_factory=dict)
    tests: dict[str, TestDefinition] = dataclasses.field(default_factory=dict)  # in the order of the file
    digest: str = ""  # of what the file says
    # changes from mild to severe that its tests need as a whole
    transformations: dict[str, PerturbationSeries] = dataclasses.field(default_factory=dict)
    # whether it compares a model with the other models of the suite that predict the same
    others: schema.Boolean = False
    # whether it tests what models say of their own predictions: those that say nothing have no notebook
    stated: schema.Boolean = False
    # spoken sentences that it needs to test words that it localised, see :mod:`soundcheck.run.predictions`:
    # ``sentences``, how many around words of each kind; empty if it needs none
    probes: dict[str, schema.whole(1, 1000)] = dataclasses.field(default_factory=dict)
    # pairs of utterances that it compares: ``targets``, ``same_sex`` and ``cross_sex``, how many are made for
    # a corpus that brings no list of them; empty if it compares none
    trials: dict[str, schema.whole(1, 100_000_000)] = dataclasses.field(default_factory=dict)
    # names of the tests that it is known by, ``*`` for any words: the first page shows their state
    headline: schema.Texts = ()

    @property
    def transformed(self) -> list[Perturbation]:
        """All steps of its transformations."""
        return [change for series in self.transformations.values() for change in series.steps.values()]

    @property
    def series(self) -> dict[str, PerturbationSeries]:
        """All changes from mild to severe by name: its transformations and its sweeps."""
        return {**self.transformations, **self.sweeps}

    @property
    def stepped(self) -> list[Perturbation]:
        """All steps from mild to severe: of transformations and of sweeps."""
        return [change for series in self.series.values() for change in series.steps.values()]

    @property
    def all_changes(self) -> list[Perturbation]:
        """All changes that it needs predictions for, steps from mild to severe at the end."""
        return [*self.changes.values(), *self.stepped]

    def limited(self, suite: Any) -> Family:
        """Give the family as a suite wants it.

        - ``suite``: a :class:`~soundcheck.suite.entries.Suite`, or what a notebook knows of it.
        """
        options = dict(self.options)
        if self.transformations and suite.transformed_segments is not None:
            options["sweep_segments"] = suite.transformed_segments
        if suite.segments_per_change is not None:
            options["segments_per_change"] = suite.segments_per_change
        names = suite.transformations.get(self.name, self.series)
        included = {name: series for name, series in self.transformations.items() if name in names}
        swept = {name: series for name, series in self.sweeps.items() if suite.sweeps and name in names}
        if len(included) < len(self.transformations) and options.get("excluded"):
            options["excluded"] = {name: cut for name, cut in options["excluded"].items() if name in included}
        for kind in (included, swept) if suite.levels is not None else ():
            for name, series in kind.items():
                excluded = (options.get("excluded") or {}).get(name, ())
                kind[name] = series.thinned(suite.levels, excluded)
        return dataclasses.replace(self, sweeps=swept, transformations=included, options=options)

    def option(self, name: str, model: str) -> Any:
        """Give an option that may be one value, or one for each model with a ``default``."""
        value = self.options[name]
        return value.get(model, value.get("default")) if isinstance(value, dict) else value

    @property
    def of_suite(self) -> bool:
        """Whether the suite changed any of its tests or leaves one out."""
        return any(test.shipped is not None or test.off for test in self.tests.values())

    def applies_to(self, task: Task) -> bool:
        """Say whether there is anything to test for a task."""
        return task.kind in self.kinds and any(test.fits(task) for test in self.tests.values())


# What a suite decides ---------------------------------------------------------------------------------------

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
        others = ("threshold", "matters", "label")
        runs = schema.plain_value(value.get("run")) is not False
        change = reader.check(path, value, OwnTest, others, fixed, ("why",) if runs else ())
        if change is not None and not runs:
            if {*value} - {"run", "why"}:
                reader.note(path, "a test that is left out takes only why", "Remove run, or the other keys")
            return OwnTest(run=False, why=change.why)
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
        tasks = [self.reader.tasks[name] for name in sorted(self.predicted or ())]
        judged = [task for task in tasks if {task.name, task.kind} & change.thresholds.keys()]
        if not has_threshold:
            self.reader.note((*self.path, "hard"), "a hard bar needs a threshold", "Add threshold: 0.7")
        elif self.predicted is None or (change.thresholds and not judged):
            names = ", ".join(task.name for task in tasks) or "none"
            what = f"{self.family.name} is run for no task that this is a threshold for"
            remedy = f"Add the family, or a task. Models predict: {names}"
            self.reader.note((*self.path, "hard"), what, remedy)
        classes = list(dict.fromkeys(name for task in judged for name in task.classes))
        if not classes or not all(task.classes for task in judged):
            return
        place = (*self.path, "label")
        for label in [label for label in change.labels if label not in classes]:
            self.reader.note(place, f"{quoted(label)} is no class", did_you_mean(label, classes))
        if change.labels and "Class" not in self.path[-1]:
            what = f"{self.path[-1]} has one value, not one a class"
            self.reader.note(place, what, "Remove label, or name a test per class")

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
            if threshold > 1 and not test.range and measure_of(self.path[-1], self.family.name).rate:
                remedy = f"Write {threshold / 100:g} for {threshold:g} %"
                self.reader.note(path, f"{threshold:g} would pass whatever is wrong", remedy)
        return threshold
