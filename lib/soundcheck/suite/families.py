"""What a family of tests is: its tests, rules and thresholds, and the changes of the signal that it needs.

Conventions
-----------
- Thresholds live on the scale of the score: regression tasks are scaled to 0..1 before anything is computed.
- Rules are strict and see the unrounded value; ``decimals`` is for display only.
- A threshold belongs to a task by its name, or to all other tasks of a kind under ``regression`` or
  ``classification``. A test that names neither a task nor its kind does not exist for that task.
- A threshold for classes may depend on how many there are: of two classes guessing finds half, and of seven
  few have a share that could be off by 0.15. Where it does, the test says for how many classes it is. Tasks
  with more or fewer have no threshold then, unless the suite sets one: values are shown without verdict.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import numpy as np
from pydantic import WrapValidator

from soundcheck.common import files
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.statistics.rules import RULES
from soundcheck.suite import schema
from soundcheck.suite.measures import Margin
from soundcheck.suite.yaml_reader import Plain

CATEGORIES = ("correctness", "fairness", "robustness")


def _check_rule(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise schema.wrong("the rule is empty", f"Put it in quotes. Allowed: {', '.join(map(repr, RULES))}")
    return value


def _or_null(value: object, read: Callable[[object], object]) -> object:
    return None if isinstance(value, Plain) and value == "null" else read(value)


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
        options = self.options
        if self.transformations and suite.transformed_segments is not None:
            options = options | {"sweep_segments": suite.transformed_segments}
        if suite.segments_per_change is not None:
            options = options | {"segments_per_change": suite.segments_per_change}
        names = suite.transformations.get(self.name, self.series)
        included = {name: series for name, series in self.transformations.items() if name in names}
        swept = {name: series for name, series in self.sweeps.items() if suite.sweeps and name in names}
        if len(included) < len(self.transformations) and options.get("excluded"):
            excluded = {name: cut for name, cut in options["excluded"].items() if name in included}
            options = options | {"excluded": excluded}
        stepped = {"sweeps": swept, "transformations": included}
        if suite.levels is not None:
            excluded = options.get("excluded") or {}
            for kind, series in stepped.items():
                for name, part in series.items():
                    stepped[kind][name] = part.thinned(suite.levels, excluded.get(name, ()))
        return dataclasses.replace(self, **stepped, options=options)

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
