"""Reads the threshold file of a test family: its tests, rules, thresholds and where they come from.

A family is ``thresholds/<family>.yml`` with a notebook and a page of the same name. A suite may bring
families of its own, or other thresholds for ours, in a folder ``thresholds`` beside its suite.yml.

- ``defaults`` of a file are of each of its tests, unless the test says otherwise.
- ``threshold: 0.9`` is of all kinds of task of the family, ``thresholds: {emotion: 0.9}`` of single ones.
- A test whose name contains ``{change}`` stands for one test a change; its note may be one for each change.
- ``range``, where the scores of a test may lie, is by default what the measure allows; ``null`` is no limit.
- A family is known by the digest of what it says, not of how the file is written.
- What a file says to the notebook of a family in ``options`` is checked: a slip would go unseen. Options of
  families that a suite brings are what their notebook makes of them.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator

from soundcheck.common import files, resources
from soundcheck.common.messages import Problems, did_you_mean, input_error, quoted
from soundcheck.common.tasks import KINDS
from soundcheck.metrics.differential import AVERAGES, read_omega
from soundcheck.statistics import simulation
from soundcheck.statistics.rules import WITHIN
from soundcheck.suite import schema
from soundcheck.suite.families import (
    Family,
    Perturbation,
    PerturbationSeries,
    Rule,
    ScoreRange,
    TestDefinition,
    measure_of,
)

# Options ----------------------------------------------------------------------------------------------------

COMMON = ("segments", "sweep_segments", "sample", "pairs")  # options that any family may have
NAME_SETTINGS = ("excluded", "ratings")  # options that name levels of the family's transformations
_MILLION, _SHARE = schema.whole(1, 1_000_000), schema.number(0, 1)
_POSITIVE_SHARE = schema.number(0, 1, positive=True)


def _or_null(kind: Any) -> Any:
    return schema.parsed(kind | None, schema.plain_value)


def _check_rising(ends: list[float]) -> list[float]:
    if not ends or ends != sorted(set(ends)):
        raise schema.wrong("these are not rising numbers", "Write [1, 5, 10]")
    return ends


def _check_different(values: list[float]) -> list[float]:
    if not values or len(set(values)) < len(values):
        raise schema.wrong("these are not different numbers", "Write [0.05, 0.1]")
    return values


def _check_level(value: object) -> object:
    given = schema.free_value(value)
    levels = given.values() if isinstance(given, dict) else [given]
    if not levels or not all(type(level) in (int, float) and 0 < level < 1 for level in levels):
        what = f"{schema.display(value)} is not a share between 0 and 1"
        raise schema.wrong(what, "Write 0.9, or {default: 0.9, my-model: 0.95}")
    if isinstance(given, dict) and "default" not in given:
        raise schema.wrong("there is no default", "Write {default: 0.9, my-model: 0.95}")
    return given


def _check_omega(value: object) -> object:
    given = schema.free_value(value)
    try:
        read_omega(given)
    except ValueError as error:
        raise schema.wrong(str(error), "Write {count: 3} or {share: 0.5}") from None
    return given


def _check_group(value: object) -> object:
    given = schema.free_value(value)
    if given in ("", None, {}):
        return {}
    if not isinstance(given, dict) or len(given) != 1 or not all(isinstance(n, str) for n in given.values()):
        raise schema.wrong(f"{schema.display(value)} is not one group", "Write {accent: welsh}")
    return given


def _record(**fields: Any) -> type:
    """Make the type of a section that has all of some fields."""
    return dataclasses.make_dataclass("Record", fields.items(), frozen=True)


_ENDS = Annotated[list[schema.number(0, 1e6)], AfterValidator(_check_rising)]
_BY_TASK = dict.fromkeys(("regression", "classification", "transcription", "embedding"), _POSITIVE_SHARE)
_TYPES: tuple[tuple[Any, str], ...] = (
    (_or_null(schema.whole(1, 10**9)), "segments sweep_segments"),  # null: all
    (schema.whole(1, 100_000_000), "enrolled_trials minimum_trials"),
    (_MILLION, "group_count minimum_count minimum_predictions minimum_segments minimum_speakers"),
    (_MILLION, "samples words"),
    (schema.whole(2, 1_000_000), "cohort_top file_minimum"),
    (schema.whole(1, 1000), "bins"),
    (schema.whole(0, 1000), "heard"),
    (list[schema.whole(1, 1000)], "enrolled"),
    (schema.number(0, 1_000_000, positive=True), "characters_a_minute"),
    (schema.Number, "minimum_rating shown_rating"),
    (_SHARE, "tau"),
    (_or_null(_SHARE), "destroyed"),  # null: no limit
    (Annotated[list[_SHARE], AfterValidator(_check_different)], "taus"),
    (schema.parsed(_POSITIVE_SHARE | schema.Text, schema.plain_value), "calibration cohort"),
    (schema.Text, "by"),
    (schema.Texts, "columns groups languages"),
    (dict[str, schema.Text], "base_groups"),
    (dict[str, schema.Texts], "complements"),
    (schema.choice(*AVERAGES), "average"),
    (schema.parsed(object, _check_level), "level"),
    (schema.parsed(object, _check_omega), "omega"),
    (schema.parsed(object, _check_group), "probe_group"),
    (_record(count=_MILLION, segments=_MILLION), "bin_minimum"),
    (_record(female=_MILLION, male=_MILLION), "speakers"),
    (_record(words=schema.whole(1, 100), times=schema.whole(2, 1000)), "repeats"),
    (_record(**_BY_TASK), "matters"),  # by how much worse a group has to be
    (_record(word=_ENDS, character=_ENDS), "lengths speaking_rates"),  # ends of bins for each unit
)
OPTIONS = {name: kind for kind, names in _TYPES for name in names.split()}
# Of families with probes, whose options are used before the notebook runs.
LOCALISATION = ("by", "groups", "words", "minimum_count", "minimum_segments", "omega")
_LOCALISATION_TOO = ("group_count", "probe_group", "complements")
_OF_LANGUAGES = ("minimum_segments", "bin_minimum", "languages", "samples")
_REQUIRED = {
    "asr_hallucination": ("characters_a_minute", "repeats"),
    "correctness_temporal_behaviour": ("file_minimum",),
    "fairness_accent": ("minimum_segments", "bin_minimum"),
    "fairness_groups": ("minimum_segments", "bin_minimum", "minimum_trials", "minimum_speakers"),
    "fairness_language": _OF_LANGUAGES,
    "fairness_linguistic_sentiment": _OF_LANGUAGES,
    "fairness_pitch": ("groups", "bin_minimum"),
    "fairness_sex": ("groups", "bin_minimum"),
    "fairness_worst_groups": ("matters", "columns", "heard"),
    "verification_robustness": ("groups", "minimum_trials", "minimum_speakers"),
}
_OF_ANY_FAMILY = ("segments", "sweep_segments", "bin_minimum", "speakers")
_MAY_BE_EMPTY = ("speakers", "lengths", "speaking_rates")  # all speakers; no division into bins
# Families whose notebook takes no other options than those of the threshold file that Soundcheck brings.
CLOSED = ("asr_fairness", "asr_fault_localisation")


def check_options(reader: schema.DocumentReader, family: Family, ours: Collection[str] | None) -> None:
    """Note options that are missing or have the wrong type.

    - ``ours``: names of options that a notebook of ours knows; ``None`` = all.
    """
    localised, more = (LOCALISATION, _LOCALISATION_TOO) if family.probes else ((), ())
    for name in (*_REQUIRED.get(family.name, ()), *localised):
        if name not in family.options:
            reader.note(("options", name), "the key is missing", "Add it")
    always = (*_OF_ANY_FAMILY, *localised, *more)
    for name, value in (reader.document.data.get("options") or {}).items():
        kind = OPTIONS.get(name)
        if kind is None or not (ours is None or name in (*ours, *always)):
            continue
        if schema.plain_value(value) is None and name in _MAY_BE_EMPTY:
            continue
        reader.check(("options", name), value, kind)


def check_settings(
    reader: schema.DocumentReader,
    options: Mapping[str, object],
    transformations: Mapping[str, PerturbationSeries],
) -> None:
    """Note settings that options name and the transformations do not have."""
    for option in [option for option in NAME_SETTINGS if options.get(option) is not None]:
        path, named = ("options", option), options[option]
        settings = {(name, step) for name, series in transformations.items() for step in series.steps}
        known = isinstance(named, dict) and all(isinstance(of, list | dict) for of in named.values())
        if not known or not {*named} <= {*transformations}:
            what = f"this is no mapping of transformations ({', '.join(transformations)}) to levels"
            reader.note(path, what, "Write {Scale: [0.6, 0.5]}")
            continue
        for name, level in [(name, level) for name, levels in named.items() for level in levels]:
            series = transformations[name]
            settings.discard((name, series.step(level)))
            if series.step(level) is None:
                what = f"{name} has no level {schema.display(str(level))}"
                reader.note((*path, name), what, f"Its levels: {', '.join(series.steps)}")
        if option == "excluded" and not settings:
            reader.note(path, "no setting is left", "Leave out fewer levels")


# Files ------------------------------------------------------------------------------------------------------

EACH_CHANGE = "{change}"
_PARTS = ("changes", "sweeps", "transformations", "tests")


class _Simulation(schema.Section):
    name: schema.Text
    groups: schema.whole(2, 1000)
    samples: schema.whole(2, 1_000_000)
    tested_samples: schema.whole(2, 1_000_000) | None = None
    maximum: schema.number(0, 10)
    percentile_99: schema.number(0, 10)
    prediction: schema.Text = ""
    truth: schema.Text = ""
    minimum_per_bin: schema.whole(1, 1_000_000) | None = None


class _Defaults(schema.Section):
    rule: Rule | None = None
    source: schema.Prose = ""
    decimals: schema.whole(0, 9) = 3
    range: ScoreRange | None = None


def _read_option(value: object) -> object:
    """Read an option of a change: a value, a list of values or a span of whole numbers."""
    option = schema.free_value(value)
    if isinstance(option, dict):
        low, high = option.get("from"), option.get("to")
        whole = all(type(bound) is int for bound in (low, high))
        if set(option) != {"from", "to"} or not whole or low > high:
            raise schema.wrong("this is not a span of whole numbers", "Write {from: 5000, to: 7000}")
    elif isinstance(option, list):
        if not option or any(isinstance(item, dict | list) or item is None for item in option):
            raise schema.wrong("this is not a list of values", "Write [first, second]")
    elif value == "" and option is None:
        raise schema.wrong("the value is empty", "Write a value, a list or {from: ..., to: ...}")
    return option


_Option = schema.parsed(object, _read_option)


class _Change(pydantic.BaseModel):
    """A change of the signal; what is none of its keys is an option of the transform."""

    model_config = pydantic.ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, _Option]
    transform: schema.Text


class _Sweep(_Change):
    axis: schema.Title
    option: schema.Text = ""
    values: list[schema.Free] = []
    steps: dict[str, dict[str, _Option]] = {}


def _limits(name: str, test: TestDefinition, family: Family) -> tuple[float, float] | None:
    """Give where the scores of a test may lie, if the measure has two ends; differences go twice as far."""
    measure = measure_of(name, family.name)
    compares = test.difference or name.endswith("Difference")
    compares |= family.category == "fairness" and test.rule == WITHIN
    low, high = measure.low, measure.high
    limits = (low - high, high - low) if compares else (low, high)
    return limits if all(map(math.isfinite, limits)) else None


def read_family(name: str, folder: Path | None = None) -> Family:
    """Read and check the threshold file of a family.

    - ``folder``: that of the suite, looked at first.
    - Raises InputError: if there is no such file or anything in it is wrong; holds all problems.
    """
    display_name = f"thresholds/{name}.yml"
    file = resources.find(display_name, folder)
    if file is None or not re.fullmatch(r"\w[\w-]*", name):
        names = resources.names("thresholds", ".yml", folder)
        raise input_error(display_name, f"there is no family {quoted(name)}", did_you_mean(name, names))
    shipped = resources.root() / "thresholds" / f"{name}.yml"
    ours = read_family(name) if shipped.is_file() and not shipped.samefile(file) else None
    problems = Problems()
    reader = _Reader(schema.read_yaml(file, display_name, problems), problems, name)
    family = reader.read(ours.options if ours else None if shipped.is_file() else ())
    if ours and not (folder / "notebooks" / f"{name}.ipynb").is_file():
        reader.check_known(ours)
    problems.raise_if_any()
    if not ours:
        return family
    tests = {
        key: dataclasses.replace(test, shipped=known, why=display_name)
        if (known := ours.tests.get(key)) and (test.thresholds, test.rule) != (known.thresholds, known.rule)
        else test
        for key, test in family.tests.items()
    }
    return dataclasses.replace(family, tests=tests)


class _Reader(schema.DocumentReader):
    """Reads one threshold file and notes all its problems."""

    def __init__(self, document: schema.Document, problems: Problems, name: str) -> None:
        super().__init__(document, problems)
        self.name = name
        self.tests: dict[str, tuple[tuple, object]] = {}  # name of a test -> its place and what it says

    def read(self, ours: Collection[str] | None) -> Family | None:
        """Read everything; the result counts only if there are no problems.

        - ``ours``: names of options that a notebook of ours knows; ``None`` = all.
        """
        data = self.document.data
        family = self.read_top(data)
        changes = {key: self.read_change(("changes", key), value) for key, value in self.entries("changes")}
        sweeps, transformations = (
            {key: self.read_sweep((part, key), value) for key, value in self.entries(part)}
            for part in ("sweeps", "transformations")
        )
        if family is not None:
            check_options(self, family, ours)
        if family is not None and family.probes:
            self.check_localisation(family)
        self.tests = dict(self.expanded())
        tests = {key: self.read_test(key, *place, family) for key, place in self.tests.items()}
        for pattern in family.headline if family is not None else ():
            if not fnmatch.filter(tests, pattern):
                what = f"{quoted(pattern)} is none of the tests"
                self.note(("headline",), what, did_you_mean(pattern, list(tests)))
        if not len(self.problems) and transformations:
            check_settings(self, family.options, transformations)
        if len(self.problems):
            return None
        parts = {"changes": changes, "sweeps": sweeps, "transformations": transformations, "tests": tests}
        family = dataclasses.replace(family, **parts)
        return dataclasses.replace(family, digest=files.digest(repr(family)))

    def read_top(self, data: dict) -> Family | None:
        """Read what the family is, without changes and tests."""
        name = self.check(("family",), data.get("family", self.name), schema.Text)
        kinds = self.check(("tasks",), data.get("tasks", []), tuple[schema.choice(*KINDS), ...])
        fixed = {"name": self.name, "kinds": kinds or (), "digest": "", **{part: {} for part in _PARTS}}
        family = self.check(
            (), data, Family, ("family", "tasks", "defaults", *_PARTS), fixed, ("family", "tasks")
        )
        if name not in (None, self.name):
            self.note(("family",), f"{quoted(name)} is not the name of the file", f"Write {self.name}")
        if family is not None and set(family.probes) not in (set(), {"sentences"}):
            self.note(("probes",), "this does not say what is spoken", "Write {sentences: 50}")
        if family is not None and set(family.trials) not in (set(), {"targets", "same_sex", "cross_sex"}):
            remedy = "Write {targets: 4000, same_sex: 12000, cross_sex: 12000}"
            self.note(("trials",), "this does not say how many trials are made", remedy)
        return family

    def check_known(self, ours: Family) -> None:
        """Note tests and options that our notebook of a family has no use for.

        A suite may bring its own notebook with them; else a slip in their names would change nothing.
        """
        options = {*ours.options, *COMMON, "excluded"}
        given = (self.document.data.get("options") or {}) if self.name in CLOSED else {}
        names = [(("options", name), name, "option", options) for name in given]
        names += [(path, name, "test", ours.tests) for name, (path, _) in self.tests.items()]
        for path, name, what, known in names:
            if name not in known:
                self.note(path, f"unknown {what}", did_you_mean(name, sorted(known)))

    def expanded(self) -> Iterator[tuple[str, tuple[tuple, object]]]:
        """List the tests by name, each with its place and what it says, the defaults of the file included."""
        defaults, changes = self.document.data.get("defaults"), self.document.data.get("changes")
        self.check(("defaults",), defaults, _Defaults)
        for name, value in self.entries("tests", needed=True):
            path = ("tests", name)
            if isinstance(defaults, dict) and isinstance(value, dict):
                value = defaults | value
            if EACH_CHANGE not in name:
                yield name, (path, value)
                continue
            if not isinstance(changes, dict) or not changes:
                self.note(path, "there are no changes", f"Write changes: {{...}}, or no {EACH_CHANGE}")
                continue
            for change in changes:
                definition = value
                if isinstance(value, dict) and isinstance(notes := value.get("note"), dict):
                    definition = value | {"note": notes.get(change, "")}
                yield name.replace(EACH_CHANGE, change), (path, definition)

    def check_localisation(self, family: Family) -> None:
        """Check what families need that localise words."""
        data, options = self.document.data, family.options
        if set(family.kinds) != {"transcription"} or len(data.get("changes") or ()) != 1:
            what = "words are localised in transcripts, of sentences as they are and under one change"
            self.note(("probes",), what, "Write tasks: [transcription], and one of changes")
        names, by = data.get("transformations"), options.get("by")
        if isinstance(names, dict) and isinstance(by, str) and by not in names:
            what = f"{quoted(by)} is none of the transformations"
            self.note(("options", "by"), what, did_you_mean(by, list(names)))
        group, groups = options.get("probe_group") or {}, options.get("groups") or []
        if isinstance(group, dict) and isinstance(groups, list) and any(name not in groups for name in group):
            what = "the group has a column that is not compared"
            self.note(("options", "probe_group"), what, f"Allowed: {', '.join(map(str, groups))}")

    def read_sweep(self, path: tuple[str, str], value: object) -> PerturbationSeries | None:
        """Read a change with an option that takes several values, or with options of each step."""
        sweep = self.check(path, value, _Sweep)
        if sweep is None:
            return None
        name, steps, common = path[-1], sweep.steps, ()
        if sweep.option:
            steps = {f"{v:g}" if isinstance(v, float) else str(v): {sweep.option: v} for v in sweep.values}
            common = (sweep.option,)
        if len(steps) < 2:
            self.note(path, "there are fewer than two steps", "Write option: snr_db and values: [30, 20, 10]")
            return None
        changes = {
            step: Perturbation(f"{name}, {step}", sweep.transform, sweep.model_extra | options, common)
            for step, options in steps.items()
        }
        return PerturbationSeries(name, sweep.axis, changes)

    def read_change(self, path: tuple[str, str], value: object) -> Perturbation | None:
        change = self.check(path, value, _Change)
        return change and Perturbation(path[-1], change.transform, change.model_extra)

    def read_test(
        self, name: str, path: tuple, value: object, family: Family | None
    ) -> TestDefinition | None:
        """Read a test of a family; ``threshold`` is that of all kinds of its tasks."""
        fixed = {"name": name, "margin": None, "off": "", "shipped": None, "why": ""}
        given = threshold = None
        if isinstance(value, dict):
            threshold = self.check((*path, "threshold"), value.get("threshold"), schema.Number)
            given = value.get("simulation")
            value = {"thresholds": {}, **value, "simulation": {}}
        test = self.check(path, value, TestDefinition, ("threshold",), fixed, ("source",))
        if test is None or family is None:
            return None
        if ("threshold" in value) == bool(test.thresholds):
            what = "there are two thresholds" if test.thresholds else "there is no threshold"
            self.note((*path, "thresholds"), what, "Write threshold: 0.5, or thresholds: {arousal: 0.5}")
        limits = test.range if "range" in value else _limits(name, test, family)
        thresholds = test.thresholds or dict.fromkeys(family.kinds, threshold)
        for task, number in thresholds.items():
            if number is not None:
                self.check_possible((*path, "thresholds", task), number, limits)
        simulated = self.read_simulation((*path, "simulation"), given)
        return dataclasses.replace(test, thresholds=thresholds, range=limits, simulation=simulated)

    def read_simulation(self, path: tuple, given: object) -> dict[str, Any]:
        setting = self.check(path, given, _Simulation)
        if setting is None:
            return {}
        known = {key: value for key, value in vars(setting).items() if value not in ("", None)}
        try:
            simulation.setting_of(known, setting.groups, setting.samples)
        except ValueError as error:
            self.note(path, str(error), "Name what `soundcheck thresholds simulate` can simulate")
        return known
