"""Reads and checks suite.yml: which corpora, models and families a run is about.

Everything that can be known without opening corpora or models is checked here, and all problems of the file
are told at once, each with line, key and remedy.

Conventions
-----------
- Paths are relative to the folder of suite.yml; ``~`` is expanded, environment variables are not.
- A name of a model or corpus is any text of 1 to 80 characters; it never becomes a file name as it is.
- ``seed``, ``replicates``, ... are exactly what is written or refused, see
  :mod:`soundcheck.suite.yaml_reader`.
"""

from __future__ import annotations

import os
from pathlib import Path

from soundcheck.common import resources
from soundcheck.common.errors import Problems, did_you_mean, input_error
from soundcheck.common.escaping import quoted
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, REGRESSION, Task
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.statistics.rules import INTERVALS
from soundcheck.suite import schema
from soundcheck.suite.document_reader import DocumentReader
from soundcheck.suite.entries import ComparisonEntry, CorpusEntry, ModelEntry, SoundEntry, Suite
from soundcheck.suite.model_entries import ModelReader
from soundcheck.suite.paths import find_place
from soundcheck.suite.yaml_reader import Document, read_yaml

__all__ = ["ComparisonEntry", "CorpusEntry", "ModelEntry", "Suite", "read_suite"]

THRESHOLDS = ("published", "simulated")
RESERVED_COLUMNS = (
    *("file", "start", "end", "speaker", "sex", "language", "accent", "sentiment"),
    *("transcript", "condition", "item", "split"),
)
# Names that mean something else in a table or threshold file.
_TAKEN = (
    *RESERVED_COLUMNS,
    "key",
    "change",
    "error",
    "drawn",
    "audio",
    "duration",
    REGRESSION,
    CLASSIFICATION,
)

_COMMON_KEYS = ("format", "title", "description", "families", "base_condition")
_TABLE_KEYS = (*_COMMON_KEYS, "path", "columns", "split", "blocks", "range", "synthetic")
_TRIAL_KEYS = ("trials", "enrolments")
CORPUS_FORMATS = {  # format: keys that it takes
    "demo": (*_COMMON_KEYS, "size", "part"),
    "csv": (*_TABLE_KEYS, *_TRIAL_KEYS, "root"),
    "audformat": (*_TABLE_KEYS, *_TRIAL_KEYS, "tables"),
    "trials": (*_COMMON_KEYS, "path", "root", "audio", "enrolments", "synthetic"),
}
NOISE_KINDS = ("babble", "coughing", "environmental", "music", "sneezing")
RESPONSE_KINDS = ("positions", "rooms")  # impulse responses
SOUND_KINDS = ("noise", *NOISE_KINDS, *RESPONSE_KINDS)  # noise: a folder with several kinds


# The schema of the file -------------------------------------------------------------------------------------


class _Limits(schema.Section):
    audio_seconds: schema.number(0, 360_000, positive=True) = 3600.0
    notebook_seconds: schema.number(0, 604_800, positive=True) = 120.0
    model_seconds: schema.number(0, 604_800, positive=True) = 30.0


class _Balance(schema.Section):
    samples: schema.whole(1, 1_000_000) = 1000


class _Top(schema.Section):
    title: schema.Title = "Soundcheck"
    seed: schema.whole(0, 2**32 - 1) = 0
    replicates: schema.whole(100, 100_000) = 1000
    interval: schema.choice(*INTERVALS) = "percentile"
    thresholds: schema.choice(*THRESHOLDS) = "published"
    studies: schema.Boolean = True
    sweeps: schema.Boolean = True
    normaliser: schema.choice(*NORMALISERS) = "basic"


_SECTIONS = ("corpora", "models", "comparisons", "families", "tasks", "limits", "balance", "sounds")


class _Corpus(schema.Section):
    format: schema.choice(*CORPUS_FORMATS)
    path: schema.Text = ""
    columns: dict[str, schema.Text] = {}
    tables: schema.Texts = []
    split: schema.Text | None = None
    blocks: schema.Names = ["speaker"]
    title: schema.Title = ""
    description: schema.Prose = ""
    synthetic: schema.Boolean = False
    root: schema.Text = ""
    base_condition: schema.Text = ""
    size: schema.choice("small", "full") = "full"
    part: schema.choice("speech", "texts", "recordings", "commands") = "speech"
    families: schema.Texts = []
    trials: schema.Text = ""
    enrolments: schema.Text = ""
    audio: schema.Boolean = True


class _Comparison(schema.Section):
    baseline: schema.Text
    candidate: schema.Text


class _Sound(schema.Section):
    path: schema.Text
    base: schema.Text = ""
    where: dict[str, schema.Text] = {}


class _Task(schema.Section):
    type: schema.choice(REGRESSION, CLASSIFICATION)
    range: schema.Range | None = None
    classes: schema.Texts | None = None


# Reading ----------------------------------------------------------------------------------------------------


def read_suite(path: str | os.PathLike) -> Suite:
    """Read and check a suite.

    Parameters
    ----------
    path
        The suite.yml; messages name it as given here.

    Raises
    ------
    InputError
        If anything is wrong; holds all problems.
    """
    shown = os.fspath(path)
    if os.path.isdir(path):
        inner = os.path.join(shown, "suite.yml")
        remedy = f"Did you mean {quoted(inner)}?" if os.path.isfile(inner) else "Name the suite.yml in it"
        raise input_error(shown, "this is a folder, not a file", remedy)
    problems = Problems()
    document = read_yaml(path, shown, problems)
    suite = _Reader(document, Path(path).absolute(), problems).read()
    problems.raise_if_any()
    return suite


class _Reader(DocumentReader):
    """Reads the sections of one suite and notes the problems of all."""

    def __init__(self, document: Document, file: Path, problems: Problems) -> None:
        super().__init__(document, problems)
        self.file = file
        self.root = file.parent
        self.tasks: dict[str, Task] = dict(BUILTIN)
        self.limits = _Limits()

    def read(self) -> Suite | None:
        """Read everything; the result counts only if there are no problems."""
        data = self.document.data
        top = self.section((), data, _Top, _SECTIONS)
        self.limits = self.section(("limits",), data.get("limits", {}), _Limits) or self.limits
        balance = self.section(("balance",), data.get("balance", {}), _Balance)
        for name, value in self.entries("tasks", needed=False):
            self.read_task(name, value)
        corpora = {name: self.read_corpus(name, value) for name, value in self.entries("corpora")}
        reader = ModelReader(self.document, self.problems, self.file, self.tasks, self.limits.model_seconds)
        models = {name: reader.read_model(name, value) for name, value in self.entries("models")}
        comparisons = {
            name: self.read_comparison(name, value, models)
            for name, value in self.entries("comparisons", needed=False)
        }
        pairs = [(entry.baseline, entry.candidate) for entry in comparisons.values() if entry]
        for first, second in sorted({pair for pair in pairs if pairs.count(pair) > 1}):
            self.note(("comparisons",), f"{quoted(first)} and {quoted(second)} are there twice", "Keep one")
        families = self.read_families(data.get("families"))
        sounds = {kind: self.read_sound(kind, value) for kind, value in self.entries("sounds", needed=False)}
        if len(self.problems):
            return None
        return Suite(
            title=top.title,
            seed=top.seed,
            replicates=top.replicates,
            interval=top.interval,
            families=families,
            corpora=corpora,
            models=models,
            tasks=self.tasks,
            root=self.root,
            file=self.file,
            shown=self.document.shown,
            digest=self.document.digest,
            comparisons=comparisons,
            thresholds=top.thresholds,
            studies=top.studies,
            sounds=sounds,
            sweeps=top.sweeps,
            normaliser=top.normaliser,
            balance_samples=balance.samples,
            audio_limit=self.limits.audio_seconds,
            model_seconds=self.limits.model_seconds,
            notebook_seconds=self.limits.notebook_seconds,
        )

    def entries(self, key: str, needed: bool = True) -> list[tuple[str, object]]:
        """List the named entries of a section, names checked."""
        value = self.document.data.get(key)
        if value is None:
            if needed:
                self.note((key,), "the key is missing", f"Name at least one of the {key}")
            return []
        if not isinstance(value, dict) or not value:
            empty = isinstance(value, dict | str) and not value
            what = "nothing stands here" if empty else f"{schema.shown(value)} stands where names belong"
            self.note((key,), what, "Write name: {...}, at least one")
            return []
        self.check_names((key,), value)
        return list(value.items())

    def read_comparison(
        self, name: str, value: object, models: dict[str, ModelEntry | None]
    ) -> ComparisonEntry | None:
        """Read which two models are compared."""
        path = ("comparisons", name)
        comparison = self.section(path, value, _Comparison)
        if comparison is None:
            return None
        for role in ("baseline", "candidate"):
            model = getattr(comparison, role)
            if model not in models:
                self.note((*path, role), f"unknown model {quoted(model)}", did_you_mean(model, models))
        if comparison.baseline == comparison.candidate:
            self.note(path, "a model is compared with itself", "Name two models")
        first, second = (models.get(model) for model in (comparison.baseline, comparison.candidate))
        if first and second and first is not second and not set(first.tasks) & set(second.tasks):
            self.note(path, "the two models share no task", "Compare models that predict the same")
        return ComparisonEntry(name, comparison.baseline, comparison.candidate)

    def read_sound(self, kind: str, value: object) -> SoundEntry | None:
        """Read where recordings of a kind of sound are: a folder, or a mapping that names it."""
        path = ("sounds", kind)
        if kind not in SOUND_KINDS:
            self.note(path, f"unknown kind of sound {quoted(kind)}", did_you_mean(kind, SOUND_KINDS))
            return None
        place = (*path, "path")
        if isinstance(value, str):
            value, place = {"path": value}, path
        sound = self.section(path, value, _Sound)
        if sound is None:
            return None
        if sound.base and kind not in RESPONSE_KINDS:
            remedy = f"Remove it. It belongs to {' and '.join(RESPONSE_KINDS)}"
            self.note((*path, "base"), f"{kind} takes no base", remedy)
        if len(sound.where) > 1:
            self.note((*path, "where"), "more than one column is named", "Name one column and its value")
        folder = self.read_path(place, sound.path, folder=True)
        return folder and SoundEntry(kind, folder, sound.path, sound.base, dict(sound.where))

    # tasks and families

    def read_task(self, name: str, value: object) -> None:
        """Read a declared task."""
        path = ("tasks", name)
        if name in BUILTIN:
            self.note(path, "this task is built in", "Choose another name")
        elif name in _TAKEN or not name.isidentifier():
            what = f"{quoted(name)} cannot be the name of a task"
            self.note(path, what, "Use letters, digits and _; no reserved column")
        task = self.section(path, value, _Task)
        if task is None:
            return
        if task.type == REGRESSION and task.classes is not None:
            self.note(
                (*path, "classes"), "a regression task has no classes", "Remove it, or use classification"
            )
        if task.type == CLASSIFICATION and task.range is not None:
            self.note((*path, "range"), "a classification task has no range", "Remove it, or use regression")
        classes = tuple(task.classes or ())
        if task.type == CLASSIFICATION and len(set(classes)) < 2:
            self.note((*path, "classes"), "fewer than 2 classes", "Write [first, second]")
        self.refuse_repeated((*path, "classes"), classes)
        low, high = task.range or (0.0, 1.0)
        if name not in BUILTIN:
            self.tasks[name] = Task(name, task.type, classes, low, high)

    def read_families(self, value: object) -> tuple[str, ...]:
        """Read the list of families."""
        known = resources.names("thresholds", ".yml", own=self.root)
        if value is None:
            self.note(("families",), "the key is missing", "Write families: all")
            return ()
        if isinstance(value, str) and value == "all":
            return tuple(known)
        if not isinstance(value, list) or not value:
            what = f"{schema.shown(value)} is neither all nor a list" if value else "no family is named"
            remedy = (
                f"Write [{value}]" if isinstance(value, str) and value in known else "Write all or a list"
            )
            self.note(("families",), what, f"{remedy}. Allowed: {', '.join(known)}")
            return ()
        return self.known_names(("families",), value, known, "family")

    # corpora

    def read_corpus(self, name: str, value: object) -> CorpusEntry | None:
        """Read a corpus."""
        path = ("corpora", name)
        corpus = self.section(path, value, _Corpus, ("range",))
        if corpus is None:
            return None
        allowed = CORPUS_FORMATS[corpus.format]
        for key in value:
            if key not in allowed and key in (*_Corpus.model_fields, "range"):
                what = f"format {corpus.format} does not take this key"
                self.note((*path, key), what, f"Remove it. Allowed: {', '.join(allowed)}")
        known = [*RESERVED_COLUMNS, *self.tasks, *corpus.blocks]
        for column in corpus.columns:
            if column not in known:
                remedy = did_you_mean(column, known)
                self.note((*path, "columns", column), "unknown column; ours: theirs", remedy)
        self.refuse_repeated((*path, "tables"), corpus.tables)
        self.refuse_repeated((*path, "blocks"), corpus.blocks)
        families = resources.names("thresholds", ".yml", own=self.root)
        self.known_names((*path, "families"), corpus.families, families, "family")
        place = root = None
        if "path" in allowed:
            folder = corpus.format == "audformat"
            place = self.read_path((*path, "path"), corpus.path, folder=folder)
        if "root" in allowed and place is not None:
            root = place.parent
            if corpus.root:
                root = self.read_path((*path, "root"), corpus.root, folder=True)
        lists = {
            key: self.read_path((*path, key), getattr(corpus, key), folder=False)
            if getattr(corpus, key)
            else None
            for key in _TRIAL_KEYS
        }
        shown_trials = corpus.trials
        if corpus.format == "trials":
            lists["trials"], shown_trials = place, corpus.path
        elif corpus.enrolments and not corpus.trials:
            what = "there is no list of trials that the enrolments are for"
            self.note((*path, "enrolments"), what, "Add trials: file")
        return CorpusEntry(
            name=name,
            format=corpus.format,
            path=place,
            shown_path=corpus.path,
            columns=dict(corpus.columns),
            tables=tuple(corpus.tables),
            split=corpus.split,
            blocks=tuple(corpus.blocks),
            ranges=self.read_ranges((*path, "range"), value.get("range")),
            title=corpus.title or name,
            description=corpus.description,
            synthetic=corpus.synthetic or corpus.format == "demo",
            root=root,
            shown_root=corpus.root,
            base_condition=corpus.base_condition,
            families=tuple(corpus.families),
            trials=lists["trials"],
            shown_trials=shown_trials,
            enrolments=lists["enrolments"],
            shown_enrolments=corpus.enrolments,
            audio=corpus.audio,
            options={"size": corpus.size, "part": corpus.part} if corpus.format == "demo" else {},
        )

    def read_ranges(self, path: tuple, value: object) -> dict[str, tuple[float, float]]:
        """Read the scale of labels: one for all regression tasks or one a task."""
        regression = [task.name for task in self.tasks.values() if task.is_regression]
        if value is None:
            return {}
        if not isinstance(value, dict):
            bounds = schema.attempt(self.document, path, self.problems, schema.parse_range, value)
            return dict.fromkeys(regression, bounds) if bounds else {}
        ranges = {}
        for task, item in value.items():
            if task not in regression:
                self.note((*path, task), "not a regression task", did_you_mean(task, regression))
                continue
            bounds = schema.attempt(self.document, (*path, task), self.problems, schema.parse_range, item)
            if bounds:
                ranges[task] = bounds
        return ranges

    def read_path(self, path: tuple, text: str, *, folder: bool) -> Path | None:
        """Find a file or folder that the suite names."""
        place, what, remedy = find_place(self.file, text, folder=folder)
        if what:
            self.note(path, what, remedy)
        return place
