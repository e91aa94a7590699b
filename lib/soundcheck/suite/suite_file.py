"""Reads and checks suite.yml: which corpora, models and families a run is about.

Everything that can be known without opening corpora or models is checked here, and all problems of the file
are reported at once, each with line, key and remedy.

Conventions
-----------
- Paths are relative to the folder of suite.yml; ``~`` is expanded, environment variables are not.
- A name of a model or corpus is any text of 1 to 80 characters; it never becomes a file name as it is.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from soundcheck.common.errors import Problems, did_you_mean, input_error, nearest
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, KINDS, REGRESSION, Task
from soundcheck.suite import schema
from soundcheck.suite.card import read_benchmark, read_card
from soundcheck.suite.corpus_format import (
    CORPUS_FORMATS,
    RESERVED_COLUMNS,
    CorpusEntry,
    CorpusFormat,
    CorpusKeys,
    places,
)
from soundcheck.suite.entries import (
    NOISE_KINDS,
    RESPONSE_KINDS,
    SETTINGS,
    SPEECH_KINDS,
    ComparisonEntry,
    SoundEntry,
    Suite,
)
from soundcheck.suite.groups import MEASURED_COLUMNS, read_adjust, read_groups
from soundcheck.suite.measures import Margin
from soundcheck.suite.model_kind import ERROR, LEFT_OUT, MODEL_KINDS, ModelEntry, ModelKeys, ModelKind
from soundcheck.suite.own_rules import read_accepted, read_margin, read_tests
from soundcheck.suite.paths import find_files
from soundcheck.suite.word_files import read_entities, read_synonyms
from soundcheck.suite.yaml_reader import read_yaml


def read_model(reader: schema.EntryReader, name: str, value: object, seconds: float) -> ModelEntry | None:
    """Read a model; ``seconds`` is what a call may take if the model does not say."""
    path = ("models", name)
    given = [kind for kind in MODEL_KINDS if isinstance(value, dict) and kind in value]
    kind = MODEL_KINDS[given[0]] if len(given) == 1 else None
    keys = reader.read_keys(path, value, kind, ModelKeys, MODEL_KINDS, "kind", tuple(MODEL_KINDS))
    if not isinstance(value, dict):
        return None
    if len(given) > 1:
        reader.note(path, f"two kinds of model: {' and '.join(given)}", "Keep one of them")
    if not given:
        reader.note(path, "it does not say what the model is", f"Add one of: {', '.join(MODEL_KINDS)}")
    if kind is None:
        return None
    if keys is not None:
        reader.known_names((*path, "families"), keys.families, reader.families, "family")
        corpora = list(reader.document.data.get("corpora") or {})
        reader.known_names((*path, "corpora"), keys.corpora, corpora, "corpus")
        for text in keys.files or ():
            _, what, remedy = find_files(reader.file, text)
            if what:
                reader.note((*path, "files"), what, remedy)
    place = (*path, kind.keyword)
    target = reader.check(place, value[kind.keyword], schema.Text)
    if target is None or keys is None:
        return None
    file, what, remedy = kind.check_target(target, reader.file)
    if what:
        reader.note(place, what, remedy)
    else:
        for key, what, remedy in kind.problems(target, keys):
            reader.note((*path, key), what, remedy)
    tasks = _read_tasks(reader, (*path, "tasks"), kind, target, keys.tasks)
    known = {**dict(keys), "files": keys.files or (), "time_limit": keys.time_limit or seconds}
    known |= {"name": name, "kind": kind.keyword, "target": target, "path": file, "tasks": tasks}
    known["ranges"] = _read_scale(reader, (*path, "range"), kind, known.pop("range"), tasks)
    known["card"] = read_card(reader, (*path, "card"), keys.card)
    known["missing"] = _read_missing(reader, (*path, "missing"), keys.missing, tasks)
    _check_meanings(reader, (*path, "values"), keys.values, tasks)
    return kind.complete(schema.entry(ModelEntry, known))


def _read_missing(reader: schema.EntryReader, path: tuple, value: str, names: Sequence[str]) -> str:
    """Read how an input without a prediction counts."""
    words = any(reader.tasks[name].is_transcription for name in names)
    if value == ERROR and names and not words:
        reader.note(path, "the model recognises no words that could be missed", "Remove it")
    return value or (ERROR if words else LEFT_OUT)


def _read_scale(
    reader: schema.EntryReader, path: tuple, kind: type[ModelKind], value: object, names: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Read on which scale a model predicts numbers."""
    tasks = [reader.tasks[name] for name in names]
    if value is not None and names and not (kind.has_scale and any(task.is_regression for task in tasks)):
        what = "the model predicts no number" if kind.has_scale else f"{kind.keyword} models need no scale"
        reader.note(path, what, "Remove it. It is the scale on which a model predicts regression tasks")
        return {}
    return reader.read_ranges(path, value, tasks)


def _check_meanings(
    reader: schema.EntryReader, path: tuple, values: Mapping[str, Mapping[str, str]], names: Sequence[str]
) -> None:
    """Note words of predictions that mean no class."""
    for task, words in values.items():
        classes = reader.tasks[task].classes if task in names else ()
        for word, name in words.items():
            if name not in classes:
                remedy = did_you_mean(name, classes) or "Name a task with classes that the model predicts"
                reader.note((*path, task, word), f"{quoted(name)} is no class of {task}", remedy)


def _read_tasks(
    reader: schema.EntryReader, path: tuple, kind: type[ModelKind], target: str, names: Sequence[str] | None
) -> tuple[str, ...]:
    """Read what a model predicts."""
    remedy = f"Name what it predicts: {', '.join(reader.tasks)}"
    if names is None:
        default = kind.default_tasks(target)
        if default is None:
            reader.note(path, "the key is missing", remedy)
        declared = [task for name, task in reader.tasks.items() if name not in BUILTIN]
        others = [t.name for t in declared if kind.answers_declared and not kind.check_tasks(target, [t])]
        return (*(default or ()), *others)
    if not names:
        reader.note(path, "no task is named", remedy)
    tasks = reader.known_names(path, names, list(reader.tasks), "task")
    for what, advice in kind.check_tasks(target, [reader.tasks[task] for task in tasks]):
        reader.note(path, what, advice)
    return tasks


# Suites -----------------------------------------------------------------------------------------------------

_AGES = "{age: {young: [0, 39], old: [40, 120]}}"  # an example of groups by a column of numbers
_TAKEN = (  # names that mean something else in a table or threshold file
    *(*RESERVED_COLUMNS, *MEASURED_COLUMNS, *KINDS),
    *("key", "change", "error", "drawn", "audio", "category", "place"),
)
SOUND_KINDS = ("noise", *NOISE_KINDS, *RESPONSE_KINDS, *SPEECH_KINDS)  # noise: a folder with several kinds
_SECTIONS = (
    *("corpora", "models", "comparisons", "families", "tasks", "limits", "balance", "sounds", "matters"),
    *("tests", "accepted", "groups", "adjust", "measured", "card", "history", "cache", "synonyms"),
    "entities",
)

Corpora = Mapping[str, CorpusEntry | None]
Models = Mapping[str, ModelEntry | None]


class _Limits(schema.Section):
    audio_seconds: schema.number(0, 360_000, positive=True) = 3600.0
    notebook_seconds: schema.number(0, 604_800, positive=True) = 120.0
    model_seconds: schema.number(0, 604_800, positive=True) = 30.0
    transformed_segments: schema.whole(1, 10**9) | None = None
    segments_per_change: schema.whole(1, 10**9) | None = None
    levels: schema.whole(1, 1000) | None = None
    transformations: dict[str, schema.Texts] = {}


class _Balance(schema.Section):
    samples: schema.whole(1, 1_000_000) = 1000


class _Sound(schema.Section):
    path: schema.Text
    base: schema.Text = ""
    where: dict[str, schema.Text] = {}


class _Task(schema.Section):
    type: schema.choice(REGRESSION, CLASSIFICATION)
    range: schema.Scale | None = None
    classes: schema.Texts | None = None


def read_suite(path: str | os.PathLike) -> Suite:
    """Read and check a suite.

    - ``path``: the suite.yml; messages name it as given here.
    - Raises InputError: if anything is wrong; holds all problems.
    """
    display_name = os.fspath(path)
    if os.path.isdir(path):
        inner = os.path.join(display_name, "suite.yml")
        remedy = f"Did you mean {quoted(inner)}?" if os.path.isfile(inner) else "Name the suite.yml in it"
        raise input_error(display_name, "this is a folder, not a file", remedy)
    problems = Problems()
    document = read_yaml(path, display_name, problems)
    suite = _Reader(document, problems, Path(path).absolute()).read()
    problems.raise_if_any()
    return suite


class _Reader(schema.EntryReader):
    """Reads the sections of one suite and notes the problems of all."""

    def read(self) -> Suite | None:
        """Read everything; the result counts only if there are no problems."""
        data = self.document.data
        fixed = {name: value for name, value in vars(Suite()).items() if name not in SETTINGS}
        suite = self.section((), data, Suite, _SECTIONS, fixed)
        limits = self.section(("limits",), data.get("limits"), _Limits) or _Limits()
        balance = self.section(("balance",), data.get("balance"), _Balance) or _Balance()
        sounds = dict(self.entries("sounds"))
        kinds = self.known_names(("sounds",), sounds, SOUND_KINDS, "kind of sound")
        for name, value in self.entries("tasks"):
            self.read_task(name, value)
        groups, against = read_groups(self, ("groups",), data.get("groups"))
        shared = {"groups": groups, "against": against, "adjust": read_adjust(self, data.get("adjust"))}
        corpora, models = (dict(self.entries(key, needed=True)) for key in ("corpora", "models"))
        corpora = {name: self.read_corpus(name, value, shared) for name, value in corpora.items()}
        models = {name: read_model(self, name, value, limits.model_seconds) for name, value in models.items()}
        comparisons = self.read_comparisons(models)
        self.check_audio(corpora, models)
        families = self.read_families(data.get("families"))
        self.known_names(("limits", "transformations"), limits.transformations, self.families, "family")
        margin = read_margin(self, ("matters",), data.get("matters", {}), Margin())
        tested = {family: self.predicted(family, corpora, models) for family in families}
        fields = {
            **shared,
            **{"corpora": corpora, "models": models, "comparisons": comparisons, "families": families},
            **{"root": self.root, "file": self.file, "tasks": self.tasks, "margin": margin},
            **{"source": self.document.source, "digest": self.document.digest},
            "tests": read_tests(self, tested, margin),
            "accepted": read_accepted(self),
            "sounds": {kind: self.read_sound(kind, sounds[kind]) for kind in kinds},
            "card": read_card(self, ("card",), data.get("card")),
            "measured": self.read_measured(data.get("measured")),
            "synonyms": read_synonyms(self, data.get("synonyms"), suite.normaliser if suite else "none"),
            "entities": read_entities(self, data.get("entities")),
            "balance_samples": balance.samples,
            **{key: value for key, value in limits if key != "audio_seconds"},
            "audio_limit": limits.audio_seconds,
        }
        fields |= {key: self.read_folder(key, data.get(key)) for key in ("history", "cache")}
        return None if len(self.problems) else dataclasses.replace(suite, **fields)

    def read_measured(self, value: object) -> tuple[str, ...]:
        """Read what is measured on the sounds of all corpora, whoever needs it."""
        names = self.check(("measured",), value, schema.Texts) or ()
        for name in [name for name in names if name not in MEASURED_COLUMNS]:
            remedy = did_you_mean(name, MEASURED_COLUMNS)
            self.note(("measured",), f"nothing measures {quoted(name)}", remedy)
        return tuple(dict.fromkeys(names))

    def read_folder(self, key: str, value: object) -> Path | None:
        """Read a folder that need not exist, of finished runs or of what is computed once."""
        text = self.check((key,), value, schema.Text)
        folder = None if text is None else self.root / os.path.expanduser(text)
        if folder is not None and folder.exists() and not folder.is_dir():
            self.note((key,), f"{quoted(text)}: this is a file, not a folder", "Name a folder")
        return folder

    def check_audio(self, corpora: Corpora, models: Models) -> None:
        """Note models that need audio and whose corpora have none."""
        for name, model in models.items():
            tested = [corpora.get(corpus) for corpus in (model and model.corpora) or corpora]
            silent = tested and all(corpus and not corpus.audio for corpus in tested)
            if model and model.about.needs_audio and silent:
                what = "the model listens, and none of its corpora has audio"
                self.note(("models", name), what, "Give its answers instead: `predictions: file`")

    def predicted(self, family: str, corpora: Corpora, models: Models) -> set[str]:
        """Give the tasks that models predict for a family."""
        among = [corpus for corpus in corpora.values() if corpus and corpus.is_for(family)]
        testing = [model for model in models.values() if model and model.is_for(family)]
        testing = [model for model in testing if any(map(model.listens_to, among))]
        return {task for model in testing for task in model.tasks}

    def read_comparisons(self, models: Models) -> dict[str, ComparisonEntry]:
        """Read which models are compared."""
        comparisons: dict[str, ComparisonEntry] = {}
        for name, value in self.entries("comparisons"):
            path = ("comparisons", name)
            comparison = self.section(path, value, ComparisonEntry, more={"name": name})
            if comparison is None:
                continue
            pair = (comparison.baseline, comparison.candidate)
            for role, model in zip(("baseline", "candidate"), pair, strict=True):
                if model not in models:
                    self.note((*path, role), f"unknown model {quoted(model)}", did_you_mean(model, models))
            first, second = map(models.get, pair)
            if comparison.baseline == comparison.candidate:
                self.note(path, "a model is compared with itself", "Name two models")
            elif first and second and not {*first.tasks} & {*second.tasks}:
                self.note(path, "the two models share no task", "Compare models that predict the same")
            if pair in [(one.baseline, one.candidate) for one in comparisons.values()]:
                what = f"duplicate comparison of {' and '.join(map(quoted, pair))}"
                self.note(("comparisons",), what, "Keep one")
            comparisons[name] = comparison
        return comparisons

    def read_sound(self, kind: str, value: object) -> SoundEntry | None:
        """Read where recordings of a kind of sound are: a folder, or a mapping that names it."""
        path = ("sounds", kind)
        place = path if isinstance(value, str) else (*path, "path")
        sound = self.section(path, {"path": value} if isinstance(value, str) else value, _Sound)
        if sound is None:
            return None
        if sound.base and kind not in RESPONSE_KINDS:
            remedy = f"Remove it. It belongs to {' and '.join(RESPONSE_KINDS)}"
            self.note((*path, "base"), f"{kind} takes no base", remedy)
        if len(sound.where) > 1:
            self.note((*path, "where"), "more than one column is named", "Name one column and its value")
        folder = self.read_path(place, sound.path, folder=True)
        return folder and SoundEntry(kind, folder, sound.path, sound.base, sound.where)

    def read_task(self, name: str, value: object) -> None:
        path = ("tasks", name)
        if name in BUILTIN:
            self.note(path, "this task is built in", "Choose another name")
        elif name in _TAKEN or not name.isidentifier():
            what = f"{quoted(name)} cannot be the name of a task"
            self.note(path, what, "Use letters, digits and _; no reserved or measured column")
        task = self.section(path, value, _Task)
        if task is None:
            return
        for key, other in (("classes", CLASSIFICATION), ("range", REGRESSION)):
            if task.type != other and getattr(task, key) is not None:
                what = f"a {task.type} task has no {key}"
                self.note((*path, key), what, f"Remove it, or use {other}")
        classes = task.classes or ()
        if task.type == CLASSIFICATION and len(set(classes)) < 2:
            self.note((*path, "classes"), "fewer than 2 classes", "Write [first, second]")
        self.check_repeated((*path, "classes"), classes)
        if name not in BUILTIN:
            self.tasks[name] = Task(name, task.type, classes, *(task.range or (0.0, 1.0)))

    def read_families(self, value: object) -> tuple[str, ...]:
        known = self.families
        if value is None:
            self.note(("families",), "the key is missing", "Write families: all")
            return ()
        if isinstance(value, str) and value == "all":
            return tuple(known)
        if not isinstance(value, list) or not value:
            what = f"{schema.display(value)} is neither all nor a list" if value else "no family is named"
            example = f"[{value}]" if isinstance(value, str) and value in known else "all or a list"
            self.note(("families",), what, f"Write {example}. Allowed: {', '.join(known)}")
            return ()
        return self.known_names(("families",), value, known, "family")

    # corpora

    def read_corpus(self, name: str, value: object, shared: Mapping[str, object]) -> CorpusEntry | None:
        """Read a corpus; ``shared`` are groups and adjustments of the suite."""
        path = ("corpora", name)
        form = self.read_format((*path, "format"), value)
        corpus = self.read_keys(path, value, form, CorpusKeys, CORPUS_FORMATS, "format")
        if corpus is None or form is None:
            return None
        keys = dict(corpus) | {"name": name, "format": form.keyword, "title": corpus.title or name, **shared}
        keys["ranges"] = self.read_ranges((*path, "range"), keys.pop("range", None), self.tasks.values())
        keys["benchmark"] = read_benchmark(self, (*path, "benchmark"), corpus.benchmark, self.tasks)
        if corpus.groups is not None:
            place = (*path, "groups")
            keys["groups"], against = read_groups(self, place, corpus.groups, shared["groups"])
            keys["against"] = shared["against"] | against
        if corpus.adjust is not None:
            keys["adjust"] = read_adjust(self, corpus.adjust, path)
        self.check_columns(path, keys)
        self.known_names((*path, "families"), corpus.families, self.families, "family")
        for key, item in sorted(dict(corpus).items()):
            if isinstance(item, tuple) and key != "families":
                self.check_repeated((*path, key), item)
        fields = {field.name for field in dataclasses.fields(CorpusEntry)}
        for key, place in places(type(corpus)).items():
            text = keys[key]
            needed = text or key == "path"
            keys[key] = self.read_path((*path, key), text, folder=place.folder) if needed else None
            keys |= {f"shown_{key}": text} if f"shown_{key}" in fields else {}
        for key, what, remedy in form.problems(corpus):
            self.note((*path, key), what, remedy)
        return form.complete(schema.entry(CorpusEntry, keys))

    def check_columns(self, path: tuple, keys: Mapping[str, object]) -> None:
        """Note columns that a corpus renames or translates and that nothing needs."""
        grouped = [column for group in keys["groups"] for column in group.columns]
        known = [*RESERVED_COLUMNS, *self.tasks, *keys.get("blocks", ()), *grouped, *keys["adjust"]]
        durations = [] if keys.get("audio", True) else ["duration"]  # sounds tell how long they are
        for key, also, order in (("columns", durations, "ours: theirs"), ("values", [], "ours")):
            allowed = [*known, *also]
            for column in [column for column in keys.get(key, ()) if column not in allowed]:
                remedy = did_you_mean(column, allowed)
                if not nearest(column, allowed):
                    group = _AGES if column.lower() == "age" else column
                    remedy = f"To compare groups by it, add `groups: [{group}]`. {remedy}"
                self.note((*path, key, column), f"unknown column; {order}", remedy)

    def read_format(self, path: tuple, value: object) -> type[CorpusFormat] | None:
        """Find the format of a corpus; that it is missing is noted with the other keys."""
        if not isinstance(value, dict) or "format" not in value:
            return None
        name = value["format"]
        if isinstance(name, str) and name in CORPUS_FORMATS:
            return CORPUS_FORMATS[name]
        remedy = f"{did_you_mean(str(name), CORPUS_FORMATS)}. Other packages may bring more"
        self.note(path, f"{schema.display(name)} is not known here", remedy)
        return None
