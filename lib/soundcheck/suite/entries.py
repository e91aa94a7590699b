"""What a suite names: models and their kinds, corpora, and the settings of a run, checked and frozen.

- An entry is the keys that a suite may write, and what was found out about them: it extends their class.
- Everything here is picklable: workers get entries and load corpora and models themselves.
- Paths are absolute; beside each stands the text that the user wrote, the only form that is ever shown.

A kind is the key of suite.yml that introduces a model, and what may stand there. Kinds are the classes of
models with a ``keyword`` in :mod:`soundcheck.models`, and those that installed packages register as entry
points of the group ``soundcheck.models``. Modules with kinds should import what is heavy inside of methods:
every suite that is read imports them.

A card is what people say about a model that no test can find out. It changes no prediction, result or digest,
with one exception: the languages that an ASR model knows decide whether it is judged by what it writes for
speech in another language. What nobody wrote is empty, and cards list it as missing; nothing is guessed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar

from soundcheck.common.media import ALL, VOICES
from soundcheck.common.messages import did_you_mean, quoted
from soundcheck.common.resources import Registry
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.statistics.rules import INTERVALS
from soundcheck.suite import schema
from soundcheck.suite.corpus_format import MEASURED_COLUMNS, CorpusEntry, GroupColumn
from soundcheck.suite.families import AcceptedFailure, Margin, OwnTest
from soundcheck.suite.paths import find_files

# Models -----------------------------------------------------------------------------------------------------

ERROR, LEFT_OUT = "error", "left out"  # what an input without a prediction is

_OF_SOME = ("id", "base_model")  # a model may well have none
_OF_ONE_MODEL = ("version", "id", "base_model")  # no two models have the same
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{1,8})*|multilingual|code")


def _read_languages(value: object) -> object:
    codes = value if isinstance(value, list) else [value]
    for code in codes:
        if not isinstance(code, str) or not _LANGUAGE.fullmatch(code):
            what = f"{schema.display(code)} is not the code of a language"
            raise schema.wrong(what, "Write codes of ISO 639 such as [en, de, gsw]")
        if codes.count(code) > 1:
            raise schema.wrong(f"duplicate {quoted(code)}", "Name it once")
    return codes


@dataclasses.dataclass(frozen=True)
class Card:
    """What people say about a model: ``card:`` of a suite, of a model, or both."""

    intended_use: schema.Prose = ""  # what the model is for, and what it is not for
    license: schema.Text = ""  # licence of the model, an identifier such as "apache-2.0" where there is one
    owner: schema.Text = ""  # who is responsible for the model
    training_data: schema.Prose = ""  # what it was trained on
    limitations: schema.Prose = ""  # what is known not to work, beside what the tests found
    # codes of the languages that it is for, such as "en"
    languages: schema.parsed(tuple[str, ...], _read_languages) = ()
    version: schema.Text = ""
    contact: schema.Text = ""
    id: schema.HubId = ""  # its name on a hub, "owner/name"
    base_model: schema.Text = ""  # what it was made from, best its name on a hub

    def over(self, other: Card) -> Card:
        """Fill what is empty here with what another one says."""
        return dataclasses.replace(other, **{name: value for name, value in vars(self).items() if value})

    @property
    def missing(self) -> tuple[str, ...]:
        """What nobody wrote, in words; not every model has an id on a hub or a base model."""
        needed = {name: words for name, words in CARD_FIELDS.items() if name not in _OF_SOME}
        return tuple(words for name, words in needed.items() if not getattr(self, name))


_WORDS = {"license": "licence", "id": "id on a hub"}
CARD_FIELDS = {  # field -> what people call it; a card lists those that are missing in this order
    field.name: _WORDS.get(field.name, field.name.replace("_", " ")) for field in dataclasses.fields(Card)
}


class ModelKeys(schema.Section):
    """Keys of every model, beside the one that introduces its kind."""

    apart = ("tasks", "range", "card")
    batch: schema.whole(1, 1024) | None = None  # signals a call; ``None`` = one signal a call
    families: schema.Texts = ()  # names of the families that test it; empty = all that fit
    corpora: schema.Texts = ()  # names of the corpora that it is tested on; empty = all
    description: schema.Prose = ""
    license: schema.Text = ""
    time_limit: schema.number(0, 604_800, positive=True) = 30.0  # seconds that a call may take
    # classification task -> word of a prediction -> class that it means
    values: dict[str, dict[str, schema.Text]] = {}
    # files, folders and patterns, as written, that its predictions rest on, beside those that are seen anyway
    files: schema.Names = ()
    # how an input without a prediction counts: an error, of which all words are missed, or left out
    missing: schema.choice(ERROR, LEFT_OUT) = LEFT_OUT


class ModelKind:
    """A kind of model, as far as suites know it; :class:`soundcheck.models.base.Model` does the rest."""

    keyword: ClassVar[str] = ""  # the key that introduces it. What stands behind the key is the *target*.
    # what a model of this kind may say; what not all kinds know is in the entry's ``options``
    keys: ClassVar[type[ModelKeys]] = ModelKeys
    needs_audio: ClassVar[bool] = True  # whether it is given signals
    changes_audio: ClassVar[bool] = True  # whether it can predict signals that the corpora do not hold
    runs_code: ClassVar[bool] = True  # whether it runs code that the suite brings; refused with ``--no-code``
    has_scale: ClassVar[bool] = True  # whether suites may say on which scale it predicts numbers
    # whether a model that does not say what it predicts also predicts the tasks that the suite declares, but
    # for those that :meth:`check_tasks` refuses
    answers_declared: ClassVar[bool] = False
    # whether it predicts trials instead of segments, and so only for corpora with a list of them
    for_trials: ClassVar[bool] = False
    # whether one process on the machine of the run calls it, whatever the jobs and workers: it may send
    # several signals at a time by itself
    asked_here: ClassVar[bool] = False
    # the one task that it predicts, and what is wrong if a suite wants another; empty = it is not only one
    only_task: ClassVar[tuple[str, str]] = ("", "")
    # what may have changed, or what to do, if cached predictions turn out to be those of another model
    unseen: ClassVar[str] = "name the files that the model reads, under files: in the suite"

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[Path | None, str, str]:
        """Check the target as far as that is possible without opening anything.

        - Returns ``path``: The file that it names, absolute; ``None`` if it names none.
        - Returns ``what, remedy``: The problem and what to do, sentences without full stop; empty if there is
          none.
        """
        return None, "", ""

    @classmethod
    def problems(cls, target: str, keys: ModelKeys) -> Iterator[tuple[str, str, str]]:
        """Say what is wrong although target and keys by themselves are fine; here nothing."""
        yield from ()

    @classmethod
    def caveats(cls, entry: ModelEntry) -> list[str]:
        """Say what a reader should know about the predictions; sentences without full stop, here none."""
        return []

    @classmethod
    def complete(cls, entry: ModelEntry) -> ModelEntry:
        """Add what the kind says about its models; here nothing."""
        return entry

    @classmethod
    def refused_without_code(cls, entry: ModelEntry) -> str:
        """Say what it does that ``--no-code`` refuses; empty if nothing."""
        return f"the model runs code ({entry.kind})" if cls.runs_code else ""

    @classmethod
    def known_changes(cls, path: Path | None) -> frozenset[str] | None:
        """Name the changes of the signal that it can predict, by identity; ``None`` = all.

        - ``path``: the file that the target names, absolute.
        """
        return None if cls.changes_audio else frozenset()

    @classmethod
    def default_tasks(cls, target: str) -> tuple[str, ...] | None:
        """Name what such a model predicts if it does not say; ``None`` if it has to."""
        name, _ = cls.only_task
        return (name,) if name else None

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Say what such a model cannot predict: what is wrong, and the remedy; here its :attr:`only_task`."""
        name, what = cls.only_task
        if not name or all(task.name == name for task in tasks):
            return []
        return [(what, f"Write tasks: [{name}], or leave the key out")]

    @classmethod
    def public_target(cls, target: str) -> str:
        """Give the target for people: of an absolute path only the last name."""
        return public_path(target)


def public_path(path: str) -> str:
    """Keep a path as written, but of an absolute one only the last name."""
    return f"…/{PurePath(path).name}" if os.path.isabs(path) else path


MODEL_KINDS = Registry(ModelKind, "soundcheck.models", "soundcheck.models")


class ModelEntry(ModelKeys, kw_only=False):
    """A model as the suite describes it; small and picklable, workers load the model themselves."""

    name: str  # its key in the suite
    kind: str  # keyword of its kind, such as ``"python"``; see :class:`ModelKind`
    target: str  # what stands behind the kind, as written
    tasks: tuple[str, ...]  # names of the tasks that it predicts
    path: Path | None = None  # the file that the target names, absolute; ``None`` if it names none
    options: dict[str, Any] = {}  # what only one kind knows
    # regression task -> lowest and highest number of the scale on which it predicts; the task's own range
    # where there is none
    ranges: dict[str, tuple[float, float]] = {}
    card: Card = Card()  # what people say about it, for cards

    def is_for(self, family: str) -> bool:
        """Say whether a family tests the model."""
        return not self.families or family in self.families

    def listens_to(self, corpus: CorpusEntry) -> bool:
        """Say whether the model is tested on a corpus, or about the probes of one.

        Probes are spoken for one model, and a table of predictions cannot know about them; scores belong to
        a list of trials; and a corpus without audio is only for models that do not listen.
        """
        cannot = (
            (corpus.probes_of and not self.about.changes_audio)
            or (self.about.for_trials and corpus.trials is None)
            or (self.about.needs_audio and not corpus.audio)
        )
        named = not self.corpora or (corpus.probes_of or corpus.name) in self.corpora
        return named and not cannot and corpus.listener in ("", self.name)

    def range_of(self, task: Task) -> tuple[float, float]:
        """Give the ends of the scale on which it predicts a regression task."""
        return self.ranges.get(task.name, (task.low, task.high))

    @property
    def about(self) -> type[ModelKind]:
        """What its kind says about all such models."""
        return MODEL_KINDS[self.kind]

    @property
    def public_target(self) -> str:
        """The target for people, without absolute paths."""
        return self.about.public_target(self.target)


def read_model(reader: schema.EntryReader, name: str, value: object, seconds: float) -> ModelEntry | None:
    """Read a model; ``seconds`` is what a call may take if the model does not say."""
    path = ("models", name)
    given = [kind for kind in MODEL_KINDS if isinstance(value, dict) and kind in value]
    kind = MODEL_KINDS[given[0]] if len(given) == 1 else None
    keys = reader.read_keys(path, value, kind or ModelKind, MODEL_KINDS, "kind", tuple(MODEL_KINDS))
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
        for text in keys.files:
            _, what, remedy = find_files(reader.file, text)
            if what:
                reader.note((*path, "files"), what, remedy)
    place = (*path, given[0])
    target = reader.check(place, value[given[0]], schema.Text)
    if target is None or keys is None:
        return None
    file, what, remedy = kind.check_target(target, reader.file)
    if what:
        reader.note(place, what, remedy)
    else:
        for key, what, remedy in kind.problems(target, keys):
            reader.note((*path, key), what, remedy)
    tasks = _read_tasks(reader, (*path, "tasks"), kind, target, value.get("tasks"))
    if tasks is None:
        return None
    missing = keys.missing if "missing" in value else ""
    more = {
        **{"name": name, "kind": given[0], "target": target, "path": file, "tasks": tasks},
        "time_limit": keys.time_limit if "time_limit" in value else seconds,
        "ranges": _read_scale(reader, (*path, "range"), kind, value.get("range"), tasks),
        "card": read_card(reader, (*path, "card"), value.get("card")),
        "missing": _read_missing(reader, (*path, "missing"), missing, tasks),
    }
    _check_meanings(reader, (*path, "values"), keys.values, tasks)
    return kind.complete(schema.entry(ModelEntry, keys, **more))


def _read_tasks(
    reader: schema.EntryReader, path: tuple, kind: type[ModelKind], target: str, value: object
) -> tuple[str, ...] | None:
    """Read what a model predicts; ``None`` if that cannot be used."""
    remedy = f"Name what it predicts: {', '.join(reader.tasks)}"
    if value is None:
        default = kind.default_tasks(target)
        if default is None:
            reader.note(path, "the key is missing", remedy)
        declared = [task for name, task in reader.tasks.items() if name not in BUILTIN]
        others = [t.name for t in declared if kind.answers_declared and not kind.check_tasks(target, [t])]
        return (*(default or ()), *others)
    names = reader.check(path, value, schema.Texts)
    if names is None:
        return None
    if not names:
        reader.note(path, "no task is named", remedy)
    tasks = reader.known_names(path, names, list(reader.tasks), "task")
    for what, advice in kind.check_tasks(target, [reader.tasks[task] for task in tasks]):
        reader.note(path, what, advice)
    return tasks


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


def _read_missing(reader: schema.EntryReader, path: tuple, value: str, names: Sequence[str]) -> str:
    """Read how an input without a prediction counts."""
    words = any(reader.tasks[name].is_transcription for name in names)
    if value == ERROR and names and not words:
        reader.note(path, "the model recognises no words that could be missed", "Remove it")
    return value or (ERROR if words else LEFT_OUT)


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


def read_card(reader: schema.DocumentReader, path: tuple, value: object) -> Card:
    """Read what people say about a model, or about all models of a suite; ``None`` = nothing."""
    card = reader.check(path, value, Card)
    if len(path) == 1 and isinstance(value, dict):
        for key in [key for key in _OF_ONE_MODEL if key in value]:
            reader.note((*path, key), "this belongs to one model", "Write it in the card of that model")
    return card or Card()


# Suites -----------------------------------------------------------------------------------------------------

NOISE_KINDS = ("babble", "coughing", "environmental", "music", "sneezing")
RESPONSE_KINDS = ("positions", "rooms")  # impulse responses
SPEECH_KINDS = ("other_language",)  # no run needs them: without any, that test is left out
SOUND_KINDS = ("noise", *NOISE_KINDS, *RESPONSE_KINDS, *SPEECH_KINDS)  # noise: a folder with several kinds
QUICK_SEGMENTS, QUICK_LEVELS = 50, 2  # of a first look: under each change, of each sweep


class SoundKeys(schema.Section):
    """Keys of recordings that a suite brings, if more than their folder is said."""

    apart = ("path",)
    # impulse responses: the room or position, or the file, that the others are compared with; empty = the
    # usual one
    base: schema.Text = ""
    where: dict[str, schema.Text] = {}  # audformat: column -> value of the segments to take


class SoundEntry(SoundKeys, kw_only=False):
    """Recordings that a suite brings for a kind of sound."""

    kind: str  # kind of sound, or ``"noise"`` for a folder that holds several kinds
    path: Path
    shown_path: str = ""  # the same as the user wrote it


@dataclasses.dataclass(frozen=True)
class ComparisonEntry:
    """Two models that a suite wants compared."""

    name: str  # its key in the suite
    baseline: schema.Text  # name of the model in use
    candidate: schema.Text  # name of the model that may replace it


class Limits(schema.Section):
    """How much a suite wants at most, and how long anything may take."""

    audio_seconds: schema.number(0, 360_000, positive=True) = 3600.0  # longest segment that is used
    notebook_seconds: schema.number(0, 604_800, positive=True) = 120.0
    model_seconds: schema.number(0, 604_800, positive=True) = 30.0  # of a call, if the model does not say
    # segments of a corpus that are transformed for families that need all levels of transformations; ``None``
    # = as many as their groups need to be judged
    transformed_segments: schema.whole(1, 10**9) | None = None
    # segments of a corpus that models hear under each change of the signal at most; ``None`` = as the
    # threshold files say
    segments_per_change: schema.whole(1, 10**9) | None = None
    # levels of each sweep and transformation at most, from mild to severe; ``None`` = all of the threshold
    # files
    levels: schema.whole(1, 1000) | None = None
    # family -> names of the transformations and sweeps that are heard for it; all for families not named
    transformations: dict[str, schema.Texts] = {}


class Settings(schema.Section):
    """Keys of a suite's top level that stand for themselves.

    Notebooks get all but ``title``, ``measured``, ``handbook`` and ``studies``.
    """

    apart = (
        *("corpora", "models", "comparisons", "families", "tasks", "limits", "balance", "sounds", "matters"),
        *("tests", "accepted", "groups", "adjust", "card", "history", "cache", "synonyms", "entities"),
    )
    title: schema.Title = "Soundcheck"
    seed: schema.whole(0, 2**32 - 1) = 0
    replicates: schema.whole(100, 100_000) = 1000
    interval: schema.choice(*INTERVALS) = "t"
    # thresholds of tests that compare groups: ``"published"``; ``"simulated"``, which are the published ones
    # stretched to the suite's own group sizes; or ``"gap"``: a group passes if it differs from the others by
    # less than the margin
    thresholds: schema.choice("published", "simulated", "gap") = "published"
    # whether the book shows, on simulated data, how good its intervals and thresholds are
    studies: schema.Boolean = True
    # what is heard in the book: ``"all"``, or ``"none"``: neither sounds nor pictures of single recordings
    voices: schema.choice(*VOICES) = ALL
    sweeps: schema.Boolean = True  # whether robustness pages show how models do from mild to severe
    # what is done to transcripts before words are compared; see :mod:`soundcheck.metrics.normalisation`
    normaliser: schema.choice(*NORMALISERS) = "basic"
    # whether braces and words in parentheses in transcripts of corpora mean several wordings; see
    # :mod:`soundcheck.metrics.alternatives`
    alternatives: schema.Boolean = False
    # by how much a value has to be worse than in an earlier run before it counts
    matters_worse: schema.number(0, 1e6) = 0.01
    # what is measured on the sounds of all corpora, whether or not a family needs it
    measured: tuple[schema.choice(*MEASURED_COLUMNS), ...] = ()
    handbook: schema.Address = ""  # address of the handbook, to which reports link; empty = they only name it


class Suite(Settings, Limits):
    """A checked suite.

    - ``corpora, models, comparisons``: entries by name, in the order of the file.
    - ``groups, adjust, against``: columns whose groups are compared, by which differences are adjusted, and
      the groups of columns that others are compared with, of corpora that name none.
    """

    families: tuple[str, ...] = ()  # names of the families to run
    corpora: dict[str, CorpusEntry] = {}
    models: dict[str, ModelEntry] = {}
    tasks: dict[str, Task] = {}  # built-in and declared tasks by name
    root: Path = Path()
    file: Path = Path("suite.yml")
    source: str = "suite.yml"  # suite.yml as the user named it
    digest: str = ""  # digest of the file's bytes
    comparisons: dict[str, ComparisonEntry] = {}
    # from which size a difference between a group and its reference is a failure, in tests without a margin
    # of their own; the key ``matters``
    margin: Margin = Margin()
    # recordings by kind of sound; other kinds are synthesised
    sounds: dict[str, SoundEntry] = {}
    # family -> test -> what the suite changes about it
    tests: dict[str, dict[str, OwnTest]] = {}
    accepted: tuple[AcceptedFailure, ...] = ()  # failures that pipelines look past
    groups: tuple[GroupColumn, ...] = ()
    adjust: tuple[str, ...] = ()
    against: dict[str, str] = {}
    balance_samples: int = 1000  # segments a group that balanced fairness families ask for
    card: Card = Card()  # what people say about all of its models, for cards
    # folder in which each finished run is kept, absolute; ``None`` = nowhere. It changes no result.
    history: Path | None = None
    cache: Path | None = None  # folder that several outputs share, absolute; it changes no result
    synonyms: tuple[tuple[str, str], ...] = ()  # pairs of phrases that count as the same there
    # class -> names whose recognition is counted
    entities: dict[str, tuple[str, ...]] = {}
    quick: bool = False  # a first look, see `quickened`; said wherever numbers of the run are

    def tasks_of(self, model: ModelEntry) -> list[Task]:
        """List what a model predicts."""
        return [self.tasks[name] for name in model.tasks]

    def quickened(self) -> Suite:
        """Give the suite of a first look: less of each change of the sound, all clean segments."""
        few = dict.fromkeys(("segments_per_change", "transformed_segments"), QUICK_SEGMENTS)
        few["levels"] = QUICK_LEVELS
        least = {name: min(most, getattr(self, name) or most) for name, most in few.items()}
        return dataclasses.replace(self, **least, sweeps=False, studies=False, quick=True, history=None)

    def describe(self) -> dict[str, Any]:
        """Describe the suite in plain JSON values, without absolute paths."""
        text = json.dumps(dataclasses.asdict(self), default=lambda value: public_path(str(value)))
        described = json.loads(text)
        for name in ("root", "file", "history", "cache"):  # places on this machine
            del described[name]
        described["source"] = self.file.name
        described["audio_limit"] = described.pop("audio_seconds")
        for entry in (*described["corpora"].values(), *described["sounds"].values()):
            for key in [key for key in entry if f"shown_{key}" in entry]:
                entry[key] = public_path(entry.pop(f"shown_{key}"))
        for entry in described["corpora"].values():
            entry["cut"] = public_path(entry["cut"])
            for key in ("blocks", "split"):
                if len(entry[key] or ()) == 1:
                    (entry[key],) = entry[key]
        for name, entry in described["models"].items():
            del entry["path"]
            entry["target"] = self.models[name].public_target
            entry["files"] = [public_path(text) for text in entry["files"]]
        return described
