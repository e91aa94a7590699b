"""Reads and checks suite.yml: which corpora, models and families a run is about.

Everything that can be known without opening corpora or models is checked here, and all problems of the file
are reported at once, each with line, key and remedy.

Conventions
-----------
- Paths are relative to the folder of suite.yml; ``~`` is expanded, environment variables are not.
- A name of a model or corpus is any text of 1 to 80 characters; it never becomes a file name as it is.
- ``synonyms: words.csv``: a CSV table in UTF-8 with the columns ``phrase`` and ``synonym``, one pair a row.
  Either may stand for the other, and for all that the other may stand for. Phrases go through the suite's
  normaliser before they are compared.
- ``entities: {person: [Anna, Peter], room: rooms.csv}``: classes of names, each a list or a CSV table with a
  column ``name``. Names are compared as :mod:`soundcheck.metrics.entities` writes them, so case and
  punctuation do not matter.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from soundcheck.common.messages import Problems, did_you_mean, input_error, quoted
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, KINDS, REGRESSION, Task
from soundcheck.common.text_table import TextTable, read_text_table
from soundcheck.metrics import entities
from soundcheck.metrics.alternatives import synonym_sets
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.suite import corpus_format, entries, schema
from soundcheck.suite.families import Margin, read_accepted, read_margin, read_tests

_TAKEN = (  # names that mean something else in a table or threshold file
    *(*corpus_format.RESERVED_COLUMNS, *corpus_format.MEASURED_COLUMNS, *KINDS),
    *("key", "change", "error", "drawn", "audio", "category", "place"),
)

Corpora = Mapping[str, corpus_format.CorpusEntry | None]
Models = Mapping[str, entries.ModelEntry | None]


class _Balance(schema.Section):
    samples: schema.whole(1, 1_000_000) = 1000


class _Task(schema.Section):
    type: schema.choice(REGRESSION, CLASSIFICATION)
    range: schema.Scale | None = None
    classes: schema.Texts | None = None


def read_suite(path: str | os.PathLike) -> entries.Suite:
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
    document = schema.read_yaml(path, display_name, problems)
    suite = _Reader(document, problems, Path(path).absolute()).read()
    problems.raise_if_any()
    return suite


class _Reader(schema.EntryReader):
    """Reads the sections of one suite and notes the problems of all."""

    def read(self) -> entries.Suite | None:
        """Read everything; the result counts only if there are no problems."""
        data = self.document.data
        settings = self.check((), data, entries.Settings)
        normaliser = settings.normaliser if settings else "none"
        limits = self.check(("limits",), data.get("limits"), entries.Limits) or entries.Limits()
        balance = self.check(("balance",), data.get("balance"), _Balance) or _Balance()
        sounds = dict(self.entries("sounds"))
        kinds = self.known_names(("sounds",), sounds, entries.SOUND_KINDS, "kind of sound")
        for name, value in self.entries("tasks"):
            self.read_task(name, value)
        groups, against = corpus_format.read_groups(self, ("groups",), data.get("groups"))
        adjust = corpus_format.read_adjust(self, data.get("adjust"))
        shared = {"groups": groups, "against": against, "adjust": adjust}
        corpora, models = (dict(self.entries(key, needed=True)) for key in ("corpora", "models"))
        corpora = {
            name: corpus_format.read_corpus(self, name, value, shared) for name, value in corpora.items()
        }
        models = {
            name: entries.read_model(self, name, value, limits.model_seconds)
            for name, value in models.items()
        }
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
            "card": entries.read_card(self, ("card",), data.get("card")),
            "synonyms": read_synonyms(self, data.get("synonyms"), normaliser),
            "entities": read_entities(self, data.get("entities")),
            "balance_samples": balance.samples,
        }
        fields |= {key: self.read_folder(key, data.get(key)) for key in ("history", "cache")}
        return None if len(self.problems) else entries.Suite(**vars(settings), **vars(limits), **fields)

    def read_folder(self, key: str, value: object) -> Path | None:
        """Read a folder that need not exist, of finished runs or of what is computed once."""
        text = self.check((key,), value, schema.Text)
        folder = None if text is None else self.root / os.path.expanduser(text)
        if folder is not None and os.path.exists(folder) and not os.path.isdir(folder):
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

    def read_comparisons(self, models: Models) -> dict[str, entries.ComparisonEntry]:
        """Read which models are compared."""
        comparisons: dict[str, entries.ComparisonEntry] = {}
        for name, value in self.entries("comparisons"):
            path = ("comparisons", name)
            comparison = self.check(path, value, entries.ComparisonEntry, more={"name": name})
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
            if pair in [(known.baseline, known.candidate) for known in comparisons.values()]:
                what = f"duplicate comparison of {' and '.join(map(quoted, pair))}"
                self.note(("comparisons",), what, "Keep one")
            comparisons[name] = comparison
        return comparisons

    def read_sound(self, kind: str, value: object) -> entries.SoundEntry | None:
        """Read where recordings of a kind of sound are: a folder, or a mapping that names it."""
        path = ("sounds", kind)
        place, given = ((*path, "path"), value) if isinstance(value, dict) else (path, {"path": value})
        keys = self.check(path, given, entries.SoundKeys, needed=("path",))
        text = self.check(place, given.get("path"), schema.Text)
        if keys is None or text is None:
            return None
        if keys.base and kind not in entries.RESPONSE_KINDS:
            remedy = f"Remove it. It belongs to {' and '.join(entries.RESPONSE_KINDS)}"
            self.note((*path, "base"), f"{kind} takes no base", remedy)
        if len(keys.where) > 1:
            self.note((*path, "where"), "more than one column is named", "Name one column and its value")
        folder = self.read_path(place, text, folder=True)
        return folder and entries.SoundEntry(kind, folder, text, **vars(keys))

    def read_task(self, name: str, value: object) -> None:
        path = ("tasks", name)
        if name in (*BUILTIN, *_TAKEN) or not name.isidentifier():
            what = f"{quoted(name)} cannot be the name of a task"
            self.note(path, what, "Use letters, digits and _; no column or task that there is already")
        task = self.check(path, value, _Task)
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
        if isinstance(value, str) and value == "all":
            return tuple(known)
        if not isinstance(value, list) or not value:
            what = "the key is missing" if value is None else "this is neither all nor a list of families"
            self.note(("families",), what, f"Write all or a list. Allowed: {', '.join(known)}")
            return ()
        return self.known_names(("families",), value, known, "family")


# Words in files of their own --------------------------------------------------------------------------------

PAIR = ["phrase", "synonym"]
NAME = "name"
_PAIRS = "Write phrase,synonym in the first row and pairs such as gonna,going to below"
_ENTITIES = "Write entities: {person: [Anna, Peter], room: rooms.csv}"


def read_synonyms(reader: schema.EntryReader, value: object, normaliser: str) -> tuple[tuple[str, str], ...]:
    """Read and check a file of synonyms.

    Problems are no such file, other columns, an empty side, a pair that rows before say already, which makes
    a circle.
    """
    table = _read_table(reader, ("synonyms",), value)
    if table is None:
        return ()
    if list(table.columns) != PAIR:
        reader.problems.add(table.header, "the columns are not phrase and synonym", _PAIRS)
        return ()
    normalise = NORMALISERS[normaliser]
    rows = dict(enumerate(zip(*table.columns.values(), strict=True)))
    for n, pair in [*rows.items()]:
        empty = [name for name, cell in zip(PAIR, pair, strict=True) if not normalise(cell).strip()]
        if empty:
            remedy = "Write a phrase on both sides, or remove the row"
            reader.problems.add(table.where(n, empty[0]), "it is empty once it is normalised", remedy)
            del rows[n]
    pairs = [(normalise(phrase), normalise(synonym)) for phrase, synonym in rows.values()]
    try:
        synonym_sets(pairs)
    except ValueError as error:
        row, (phrase, synonym) = [*rows.items()][error.args[0]]
        what = f"{quoted(phrase)} and {quoted(synonym)} are the same already"
        remedy = "Remove the row: the normaliser makes them so, or rows before do"
        reader.problems.add(table.where(row), what, remedy)
    return tuple(rows.values())


def _read_table(reader: schema.EntryReader, path: tuple, value: object) -> TextTable | None:
    """Read a table that a suite names; ``None`` if there is none, or it cannot be read."""
    text = reader.check(path, value, schema.Text)
    with reader.problems.collected():
        return text and read_text_table(reader.root / os.path.expanduser(text), text)


def read_entities(reader: schema.EntryReader, value: object) -> dict[str, tuple[str, ...]]:
    """Read and check the names of all classes: class -> names as written.

    Problems are a class that is recognised without names, no names, no such file, no column ``name``, a name
    without letters or digits, one of two classes.
    """
    if value is None:
        return {}
    if not isinstance(value, dict) or not value:
        reader.note(("entities",), "this is not a mapping of classes", _ENTITIES)
        return {}
    named: dict[str, tuple[str, ...]] = {}
    of_class: dict[tuple[str, ...], str] = {}
    for kind, given in value.items():
        path = ("entities", kind)
        reader.check_names(("entities",), [kind])
        if kind in entities.CLASSES:
            reader.note(path, "entities of this class are found without names", "Call the class otherwise")
            continue
        names = _names_of(reader, path, given)
        for name, place in names:
            tokens = entities.read(name).tokens
            other = of_class.setdefault(tokens, kind)
            if not tokens:
                reader.problems.add(place, f"{quoted(name)} has no letter or digit", "Remove it")
            elif other != kind:
                what = f"{quoted(name)} is of the class {quoted(other)} already"
                reader.problems.add(place, what, "Keep it in one of them")
        named[kind] = tuple(dict.fromkeys(name for name, _ in names))
    return named


def _names_of(reader: schema.EntryReader, path: tuple[str, ...], given: object) -> list[tuple[str, str]]:
    """Read names from a list or from a table, each with its place."""
    if isinstance(given, list):
        names = reader.check(path, given, schema.Texts) or ()
        if not given:
            reader.note(path, "there are no names", _ENTITIES)
        return [(name, reader.document.where((*path, n))) for n, name in enumerate(names)]
    table = _read_table(reader, path, given)
    if table is not None and NAME not in table.columns:
        reader.problems.add(table.header, f"there is no column {NAME}", "Write name in the first row")
    names = table.columns.get(NAME, ()) if table is not None else ()
    return [(name, table.where(n, NAME)) for n, name in enumerate(names)]
