"""Reads the threshold file of a test family: its tests, rules, thresholds and where they come from.

A family is ``thresholds/<family>.yml`` with a notebook and a page of the same name. A suite may bring
families of its own, or other thresholds for ours, in a folder ``thresholds`` beside its suite.yml.

- ``defaults`` of a file are of each of its tests, unless the test says otherwise.
- ``threshold: 0.9`` is of all kinds of task of the family, ``thresholds: {emotion: 0.9}`` of single ones.
- A test whose name contains ``{change}`` stands for one test a change; its note may be one for each change.
- ``range``, where the scores of a test may lie, is by default what the measure allows; ``null`` is no limit.
- A family is known by the digest of what it says, not of how the file is written.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import WrapValidator

from soundcheck.common import files, resources
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import KINDS
from soundcheck.metrics.differential import read_omega
from soundcheck.statistics import simulation
from soundcheck.statistics.rules import RULES, WITHIN
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.families import CATEGORIES, Family, Perturbation, PerturbationSeries, TestDefinition
from soundcheck.suite.family_options import check_options, known_options
from soundcheck.suite.measures import measure_of
from soundcheck.suite.yaml_reader import Plain, read_yaml

EACH_CHANGE = "{change}"


def _check_rule(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise schema.wrong("the rule is empty", f"Put it in quotes. Allowed: {', '.join(map(repr, RULES))}")
    return value


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


class _Top(schema.Section):
    family: schema.Text
    category: schema.choice(*CATEGORIES)
    title: schema.Title
    question: schema.Prose = ""
    tasks: list[schema.choice(*KINDS)]
    columns: schema.Texts = []
    measured: schema.Texts = []
    label: schema.Boolean = True
    others: schema.Boolean = False
    stated: schema.Boolean = False
    probes: dict[str, schema.whole(1, 1000)] = {}
    trials: dict[str, schema.whole(1, 100_000_000)] = {}
    options: schema.Free = {}
    headline: schema.Texts = []


class _BinMinimum(schema.Section):
    count: schema.whole(1, 1_000_000)
    segments: schema.whole(1, 1_000_000)


class _Speakers(schema.Section):
    female: schema.whole(1, 1_000_000)
    male: schema.whole(1, 1_000_000)


def _parse_omega(value: object) -> object:
    given = schema.free_value(value)
    try:
        read_omega(given)
    except ValueError as error:
        raise schema.wrong(str(error), "Write {count: 3} or {share: 0.5}") from None
    return given


def _parse_group(value: object) -> object:
    given = schema.free_value(value)
    if given in ("", None, {}):
        return {}
    if not isinstance(given, dict) or len(given) != 1 or not all(isinstance(n, str) for n in given.values()):
        raise schema.wrong(f"{schema.shown(value)} is not one group", "Write {accent: welsh}")
    return given


class _Localisation(schema.Section):
    """Options of families with probes."""

    by: schema.Text
    groups: schema.Texts
    words: schema.whole(1, 1_000_000)
    minimum_count: schema.whole(1, 1_000_000)
    group_count: schema.whole(1, 1_000_000) = 1
    minimum_segments: schema.whole(1, 1_000_000)
    omega: schema.parsed(object, _parse_omega)
    probe_group: schema.parsed(object, _parse_group) = {}
    complements: dict[str, schema.Texts] = {}


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


_Options = dict[str, schema.parsed(object, _read_option)]


class _Sweep(schema.Section):
    axis: schema.Title
    option: schema.Text = ""
    values: schema.Free = ()
    steps: dict[str, _Options] = {}


def _or_null(value: object, read: Callable[[object], object]) -> object:
    return None if isinstance(value, Plain) and value == "null" else read(value)


_Range = Annotated[schema.Range, WrapValidator(_or_null)]


class _Defaults(schema.Section):
    rule: schema.parsed(schema.choice(*RULES), _check_rule) | None = None
    source: schema.Prose = ""
    decimals: schema.whole(0, 9) = 3
    range: _Range | None = None


class _Test(schema.Section):
    rule: schema.parsed(schema.choice(*RULES), _check_rule)
    threshold: schema.Number | None = None
    thresholds: dict[str, Annotated[schema.Number, WrapValidator(_or_null)]] = {}  # null: reported
    source: schema.Prose
    note: schema.Prose = ""
    decimals: schema.whole(0, 9) = 3
    simulation: dict[str, object] | None = None
    range: _Range | None = None
    all_wrong: schema.number(positive=True) = 1.0
    difference: schema.Boolean = False
    classes: schema.whole(2, 1000) | None = None


def _limits(name: str, test: _Test, top: _Top) -> tuple[float, float] | None:
    """Give where the scores of a test may lie, if the measure has two ends; differences go twice as far."""
    measure = measure_of(name, top.family)
    compares = test.difference or name.endswith("Difference")
    compares |= top.category == "fairness" and test.rule == WITHIN
    low, high = measure.low, measure.high
    limits = (low - high, high - low) if compares else (low, high)
    return limits if all(map(math.isfinite, limits)) else None


def read_family(name: str, own: Path | None = None) -> Family:
    """Read and check the threshold file of a family.

    - ``own``: folder of the suite, looked at first.
    - Raises InputError: if there is no such file or anything in it is wrong; holds all problems.
    """
    shown = f"thresholds/{name}.yml"
    file = resources.find(shown, own)
    if file is None or not re.fullmatch(r"\w[\w-]*", name):
        known = resources.names("thresholds", ".yml", own)
        raise input_error(shown, f"there is no family {quoted(name)}", did_you_mean(name, known))
    problems = Problems()
    document = read_yaml(file, shown, problems)
    reader = _Reader(document, problems)
    family = reader.read(name)
    shipped = resources.root() / "thresholds" / f"{name}.yml"
    if not shipped.is_file() or shipped.samefile(file):
        problems.raise_if_any()
        return family
    ours = read_family(name)
    if own is None or not (own / "notebooks" / f"{name}.ipynb").is_file():
        _check_known_tests(reader, name, ours)
    problems.raise_if_any()
    return _marked(family, ours, shown)


def _marked(family: Family, ours: Family, file: str) -> Family:
    """Let the tests of a suite's own threshold file remember ours where they differ."""
    tests = dict(family.tests)
    for name, test in family.tests.items():
        shipped = ours.tests.get(name)
        if shipped and (test.thresholds, test.rule) != (shipped.thresholds, shipped.rule):
            tests[name] = dataclasses.replace(test, shipped=shipped, why=file)
    return dataclasses.replace(family, tests=tests)


def _check_known_tests(reader: _Reader, name: str, ours: Family) -> None:
    """Note tests and options that our notebook of a family has no use for.

    A suite may bring its own notebook with them; else a slip in their names would change nothing, in silence.
    """
    given = reader.document.data.get("options")
    options = known_options(name, ours.options) if isinstance(given, dict) else ()
    found = [(("options", key), key, "option", options) for key in given or () if options]
    found += [(path, key, "test", ours.tests) for key, (path, _) in reader.tests.items()]
    for path, key, what, known in found:
        if key not in known:
            reader.note(path, f"unknown {what}", did_you_mean(key, list(known)))


class _Reader(DocumentReader):
    """Reads one threshold file and notes all its problems."""

    def read(self, name: str) -> Family | None:
        """Read everything; the result counts only if there are no problems."""
        parts = ("changes", "sweeps", "transformations", "tests", "defaults")
        top = self.section((), self.document.data, _Top, parts)
        if top is not None:
            if top.family != name:
                self.note(("family",), f"{quoted(top.family)} is not the name of the file", f"Write {name}")
            if set(top.probes) not in (set(), {"sentences"}):
                self.note(("probes",), "this does not say what is spoken", "Write {sentences: 50}")
            if set(top.trials) not in (set(), {"targets", "same_sex", "cross_sex"}):
                remedy = "Write {targets: 4000, same_sex: 12000, cross_sex: 12000}"
                self.note(("trials",), "this does not say how many trials are made", remedy)
            if not isinstance(top.options, dict):
                self.note(("options",), "this is not a mapping", "Write key: value lines below it")
            else:
                given = self.document.data.get("options") or {}
                for key, kind in (("bin_minimum", _BinMinimum), ("speakers", _Speakers)):
                    if top.options.get(key) is not None:
                        self.section(("options", key), given[key], kind)
        changes = {key: self.read_change(key, value) for key, value in self.entries("changes", needed=False)}
        sweeps, transformations = (
            {key: self.read_sweep((part, key), value) for key, value in self.entries(part, needed=False)}
            for part in ("sweeps", "transformations")
        )
        if top is not None and top.probes:
            self.check_localisation(top)
        self.tests = dict(self.expanded())
        tests = {key: self.read_test(key, *found, top) for key, found in self.tests.items()}
        for name_ in top.headline if top is not None else ():
            if not fnmatch.filter(tests, name_):
                self.note(
                    ("headline",), f"{quoted(name_)} is none of the tests", did_you_mean(name_, list(tests))
                )
        if not len(self.problems):
            check_options(self, name, top.options, transformations)
        if len(self.problems):
            return None
        family = Family(
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
            digest="",
            transformations=transformations,
            others=top.others,
            stated=top.stated,
            probes=dict(top.probes),
            trials=dict(top.trials),
            headline=tuple(top.headline),
        )
        return dataclasses.replace(family, digest=files.digest(repr(family)))

    def expanded(self) -> Iterator[tuple[str, tuple[tuple, object]]]:
        """List the tests by name, each with its place and what it says, the defaults of the file included."""
        defaults, changes = self.document.data.get("defaults", {}), self.document.data.get("changes", {})
        self.section(("defaults",), defaults, _Defaults)
        for name, value in self.entries("tests"):
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
                own = value
                if isinstance(value, dict) and isinstance(notes := value.get("note"), dict):
                    own = value | {"note": notes.get(change, "")}
                yield name.replace(EACH_CHANGE, change), (path, own)

    def entries(self, key: str, needed: bool = True) -> list[tuple[str, object]]:
        """List the named entries of a section."""
        value = self.document.data.get(key, {})
        if not isinstance(value, dict) or (needed and not value):
            self.note((key,), f"there are no {key}", "Write name: {...}, at least one")
            return []
        self.check_names((key,), value)
        return list(value.items())

    def check_localisation(self, top: _Top) -> None:
        """Check the options by which words are localised: they are used before the notebook runs."""
        if set(top.tasks) != {"transcription"}:
            self.note(("probes",), "words are localised in transcripts only", "Write tasks: [transcription]")
        if len(self.document.data.get("changes") or ()) != 1:
            what = "sentences around words are heard as they are and under one change"
            self.note(("changes",), what, "Write {Noise 2 dB: {transform: white_noise, snr_db: 2}}")
        given, known = self.document.data.get("options", {}), _Localisation.model_fields
        if not isinstance(given, dict):
            return
        found = self.section(("options",), {key: given[key] for key in given if key in known}, _Localisation)
        if found is None:
            return
        names = self.document.data.get("transformations")
        if isinstance(names, dict) and found.by not in names:
            what = f"{quoted(found.by)} is none of the transformations"
            self.note(("options", "by"), what, did_you_mean(found.by, list(names)))
        if found.probe_group and not set(found.probe_group) <= set(found.groups):
            what = "the group has a column that is not compared"
            self.note(("options", "probe_group"), what, f"Allowed: {', '.join(found.groups)}")

    def read_sweep(self, path: tuple[str, str], value: object) -> PerturbationSeries | None:
        """Read a change with an option that takes several values, or with options of each step."""
        name = path[-1]
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
            steps = sweep.steps
        if len(steps) < 2:
            self.note(path, "there are fewer than two steps", "Write option: snr_db and values: [30, 20, 10]")
            return None
        common = (sweep.option,) if sweep.option else ()
        changes = {
            step: Perturbation(f"{name}, {step}", change.transform, change.options | options, common)
            for step, options in steps.items()
        }
        return PerturbationSeries(name, sweep.axis, changes)

    def read_change(self, name: str, value: object, path: tuple = ()) -> Perturbation | None:
        """Read a change of the signal."""
        path = path or ("changes", name)
        transform = value.get("transform") if isinstance(value, dict) else None
        if not isinstance(transform, str) or not transform:
            self.note((*path, "transform"), "the key is missing", "Name the transform")
            return None
        options = {key: item for key, item in value.items() if key != "transform"}
        return Perturbation(name, str(transform), self.check(path, options, _Options) or {})

    def read_test(self, name: str, path: tuple, value: object, top: _Top | None) -> TestDefinition | None:
        """Read a test of a family."""
        test = self.section(path, value, _Test)
        if test is None or top is None:
            return None
        limits = test.range if "range" in test.model_fields_set else _limits(name, test, top)
        if (test.threshold is None) == (not test.thresholds):
            what = "there are two thresholds" if test.thresholds else "there is no threshold"
            self.note((*path, "thresholds"), what, "Write threshold: 0.5, or thresholds: {arousal: 0.5}")
        thresholds = test.thresholds or dict.fromkeys(top.tasks, test.threshold)
        for task, threshold in thresholds.items():
            if threshold is not None and limits and not limits[0] <= threshold <= limits[1]:
                what = f"{threshold:g} is impossible, scores lie from {limits[0]:g} to {limits[1]:g}"
                self.note((*path, "thresholds", task), what, "Give a threshold in between")
        return TestDefinition(
            name=name,
            rule=test.rule,
            thresholds=thresholds,
            source=test.source,
            note=test.note,
            decimals=test.decimals,
            simulation=self.read_simulation((*path, "simulation"), test.simulation),
            range=limits,
            all_wrong=test.all_wrong,
            difference=test.difference,
            classes=test.classes,
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
