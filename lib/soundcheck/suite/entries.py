"""What a suite names: corpora, models and the settings of a run, checked and frozen.

Conventions
-----------
- Everything here is picklable: workers get entries and load corpora and models themselves.
- Paths are absolute; beside each stands the text that the user wrote, the only form that is ever shown.
"""

from __future__ import annotations

import dataclasses
import typing
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from soundcheck.common.media import ALL, VOICES
from soundcheck.common.tasks import Task
from soundcheck.metrics.normalisation import NORMALISERS
from soundcheck.statistics.rules import INTERVALS
from soundcheck.suite.card import Benchmark, Card
from soundcheck.suite.groups import GroupColumn
from soundcheck.suite.margins import Margin
from soundcheck.suite.model_kind import MODEL_KINDS, ModelKind, public_path
from soundcheck.suite.own_rules import AcceptedFailure, OwnTest

if TYPE_CHECKING:
    from soundcheck.suite import schema

__all__ = ["ComparisonEntry", "CorpusEntry", "ModelEntry", "SoundEntry", "Suite", "public_path"]

NOISE_KINDS = ("babble", "coughing", "environmental", "music", "sneezing")
RESPONSE_KINDS = ("positions", "rooms")  # impulse responses
ERROR, LEFT_OUT = "error", "left out"  # what an input without an answer is
SPEECH_KINDS = ("other_language",)  # no run needs them: without any, that test is left out


QUICK_SEGMENTS, QUICK_LEVELS = 50, 2  # of a first look: under each change, of each sweep


@dataclasses.dataclass(frozen=True)
class CorpusEntry:
    """A corpus as the suite describes it.

    - ``trials, enrolments``: list of trials, and of the utterances that each speaker is enrolled with;
      absolute, ``None`` = none.
    - ``shown_trials, shown_enrolments``: the same as the user wrote them.
    """

    name: str  # its key in the suite
    format: str  # keyword of its format, such as ``"csv"``; see :mod:`soundcheck.suite.corpus_format`
    # manifest (csv) or database folder (audformat), absolute; ``None`` if the format names none
    path: Path | None = None
    shown_path: str = ""  # the same as the user wrote it
    columns: dict[str, str] = dataclasses.field(default_factory=dict)  # our name of a column -> theirs
    # our name of a column -> what stands there -> what it counts as; ``""`` = missing
    values: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    # words in place of a speaker, sex, accent or language that mean nobody; ``None`` = the usual ones
    unknown: tuple[str, ...] | None = None
    tables: tuple[str, ...] = ()  # audformat: tables to read; empty = all that fit
    # values of the column ``split`` to keep; ``("all",)`` = every row; ``None`` = the format's default
    split: tuple[str, ...] | None = None
    # columns whose values are resampled together: each combination that occurs is a block
    blocks: tuple[str, ...] = ("speaker",)
    # task -> lowest and highest possible label; the task's own range where there is none
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    title: str = ""
    description: str = ""
    synthetic: bool = False  # whether pages say that the speech is synthetic
    # folder that the files are relative to, absolute; ``None`` = the folder of ``path``
    root: Path | None = None
    shown_root: str = ""  # the same as the user wrote it
    # folder that is cut from the beginning of the names of files, before they are relative to ``root``
    cut: str = ""
    # condition that recordings under others are compared with; empty = the most frequent one
    base_condition: str = ""
    families: tuple[str, ...] = ()  # names of the families that look at it; empty = all that it fits
    options: dict[str, Any] = dataclasses.field(default_factory=dict)  # what only its format knows
    # name of the corpus whose words are probed by this one, which no suite names; empty for all others
    probes_of: str = ""
    listener: str = ""  # name of the only model that is asked about it; empty = all
    trials: Path | None = None
    shown_trials: str = ""
    enrolments: Path | None = None
    shown_enrolments: str = ""
    # one of :data:`soundcheck.suite.corpus_format.TRIAL_LAYOUTS`, that of the list of trials; empty = its
    # first line tells
    layout: str = ""
    # whether there is anything to hear; without, names of files are names and nothing else
    audio: bool = True
    groups: tuple[GroupColumn, ...] = ()  # columns whose groups are compared: its own, or those of the suite
    adjust: tuple[str, ...] = ()  # columns by which differences between groups are adjusted, likewise
    # column -> the group that its other groups are compared with, ``"others"`` = all other groups, as the
    # corpus says or else the suite
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    benchmark: Benchmark | None = None  # the published benchmark that it is; ``None`` = none

    @property
    def further_columns(self) -> list[str]:
        """Columns of the data that it needs beside reserved ones and tasks: blocks, groups, adjustments."""
        grouped = [column for group in self.groups for column in group.columns]
        return list(dict.fromkeys([*self.blocks, *grouped, *self.adjust]))

    def is_for(self, family: str) -> bool:
        """Say whether a family looks at the corpus."""
        return not self.families or family in self.families

    @property
    def lists_trials(self) -> bool:
        """Whether it brings a list of trials."""
        return self.trials is not None


@dataclasses.dataclass(frozen=True)
class SoundEntry:
    """Recordings that a suite brings for a kind of sound."""

    kind: str  # kind of sound, or ``"noise"`` for a folder that holds several kinds
    path: Path
    shown_path: str = ""  # the same as the user wrote it
    # impulse responses: the room or position, or the file, that the others are compared with; empty = the
    # usual one
    base: str = ""
    # audformat: column -> value of the segments to take
    where: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ModelEntry:
    """A model as the suite describes it; small and picklable, workers load the model themselves."""

    name: str  # its key in the suite
    kind: str  # keyword of its kind, such as ``"python"``; see :mod:`soundcheck.suite.model_kind`
    target: str  # what stands behind the kind, as written
    tasks: tuple[str, ...]  # names of the tasks that it predicts
    path: Path | None = None  # the file that the target names, absolute; ``None`` if it names none
    batch: int | None = None  # signals a call; ``None`` = one signal a call
    description: str = ""
    license: str = ""
    time_limit: float = 30.0  # seconds that a call may take
    families: tuple[str, ...] = ()  # names of the families that test it; empty = all that fit
    options: dict[str, Any] = dataclasses.field(default_factory=dict)  # what only one kind knows
    corpora: tuple[str, ...] = ()  # names of the corpora that it is asked about; empty = all
    # regression task -> lowest and highest number of the scale on which it answers; the task's own range
    # where there is none
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    # files, folders and patterns, as written, that its answers rest on, beside those that are seen anyway
    files: tuple[str, ...] = ()
    card: Card = Card()  # what people say about it, for cards
    # classification task -> word in an answer -> class that it means
    values: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    # how an input without an answer counts: ``"error"``, all of its words are missed, or ``"left out"``
    missing: str = LEFT_OUT

    def is_for(self, family: str) -> bool:
        """Say whether a family tests the model."""
        return not self.families or family in self.families

    def listens_to(self, corpus: CorpusEntry) -> bool:
        """Say whether the model is asked about a corpus, or about the probes of one.

        Probes are spoken for one model, and a table of predictions cannot know about them; scores belong to
        a list of trials; and a corpus without audio is only for models that do not listen.
        """
        if corpus.probes_of and not self.about.changes_audio:
            return False
        if corpus.listener not in ("", self.name):
            return False
        if self.about.for_trials and not corpus.lists_trials:
            return False
        if self.about.needs_audio and not corpus.audio:
            return False
        return not self.corpora or (corpus.probes_of or corpus.name) in self.corpora

    def range_of(self, task: Task) -> tuple[float, float]:
        """Give the ends of the scale on which it answers a regression task."""
        return self.ranges.get(task.name, (task.low, task.high))

    @property
    def about(self) -> type[ModelKind]:
        """What its kind says about all such models."""
        return MODEL_KINDS[self.kind]

    @property
    def predicts_changes(self) -> bool:
        """Whether the model can be asked about signals that the corpora do not hold.

        A table cannot, unless a run wrote it that asked about some.
        """
        return self.known_changes is None or bool(self.known_changes)

    @property
    def known_changes(self) -> frozenset[str] | None:
        """Identities of the changes that the model can be asked about; ``None`` = all."""
        return self.about.known_changes(self.path)

    @property
    def public_target(self) -> str:
        """The target for people, without absolute paths."""
        return self.about.public_target(self.target)


@dataclasses.dataclass(frozen=True)
class ComparisonEntry:
    """Two models that a suite wants compared.

    - ``baseline, candidate``: names of the models: the one in use, and the one that may replace it.
    """

    name: str  # its key in the suite
    baseline: str
    candidate: str


@dataclasses.dataclass(frozen=True)
class Suite:
    """A checked suite.

    A field whose type is one of :mod:`soundcheck.suite.schema` is a setting: a key of the file's top level,
    read and checked as its type says. Notebooks get all but ``title``, ``handbook`` and ``studies``.

    - ``corpora, models, comparisons``: entries by name, in the order of the file.
    - ``groups, adjust, against``: columns whose groups are compared, by which differences are adjusted, and
      the groups of columns that others are compared with, of corpora that name none.
    - ``audio_limit, model_seconds, notebook_seconds``: seconds: longest segment that is used; a model's call;
      a notebook.
    """

    title: schema.Title = "Soundcheck"
    seed: schema.whole(0, 2**32 - 1) = 0
    replicates: schema.whole(100, 100_000) = 1000
    interval: schema.choice(*INTERVALS) = "t"
    families: tuple[str, ...] = ()  # names of the families to run
    corpora: dict[str, CorpusEntry] = dataclasses.field(default_factory=dict)
    models: dict[str, ModelEntry] = dataclasses.field(default_factory=dict)
    tasks: dict[str, Task] = dataclasses.field(default_factory=dict)  # built-in and declared tasks by name
    root: Path = Path()
    file: Path = Path("suite.yml")
    shown: str = "suite.yml"  # suite.yml as the user named it
    digest: str = ""  # digest of the file's bytes
    comparisons: dict[str, ComparisonEntry] = dataclasses.field(default_factory=dict)
    # thresholds of tests that compare groups: ``"published"``; ``"simulated"``, which are the published ones
    # stretched to the suite's own group sizes; or ``"gap"``: a group passes if it differs from the others by
    # less than the margin
    thresholds: schema.choice("published", "simulated", "gap") = "published"
    # from which size a difference between a group and its reference is a failure, in tests without a margin
    # of their own; the key ``matters``
    margin: Margin = Margin()
    # whether the book shows, on simulated data, how good its intervals and thresholds are
    studies: schema.Boolean = True
    # what is heard in the book: ``"all"``, or ``"none"``: neither sounds nor pictures of single recordings
    voices: schema.choice(*VOICES) = ALL
    # recordings by kind of sound; other kinds are synthesised
    sounds: dict[str, SoundEntry] = dataclasses.field(default_factory=dict)
    sweeps: schema.Boolean = True  # whether robustness pages show how models do from mild to severe
    # what is done to transcripts before words are compared; see :mod:`soundcheck.metrics.normalisation`
    normaliser: schema.choice(*NORMALISERS) = "basic"
    # whether braces and words in parentheses in transcripts of corpora mean several wordings; see
    # :mod:`soundcheck.metrics.alternatives`
    alternatives: schema.Boolean = False
    # by how much a value has to be worse than in an earlier run before it counts
    matters_worse: schema.number(0, 1e6) = 0.01
    # family -> test -> what the suite changes about it
    tests: dict[str, dict[str, OwnTest]] = dataclasses.field(default_factory=dict)
    accepted: tuple[AcceptedFailure, ...] = ()  # failures that pipelines look past
    groups: tuple[GroupColumn, ...] = ()
    adjust: tuple[str, ...] = ()
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    # what is measured on the sounds of all corpora, whether or not a family needs it
    measured: tuple[str, ...] = ()
    balance_samples: int = 1000  # segments a group that balanced fairness families ask for
    # segments of a corpus that are transformed for families that need all levels of transformations; ``None``
    # = as many as their groups need to be judged
    transformed_segments: int | None = None
    # segments of a corpus that models hear under each change of the signal at most; ``None`` = as the
    # threshold files say
    segments_per_change: int | None = None
    # levels of each sweep and transformation at most, from mild to severe; ``None`` = all of the threshold
    # files
    levels: int | None = None
    # family -> names of the transformations and sweeps that are heard for it; all for families not named
    transformations: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    audio_limit: float = 3600.0
    model_seconds: float = 30.0
    notebook_seconds: float = 120.0
    card: Card = Card()  # what people say about all of its models, for cards
    # folder in which each finished run is kept, absolute; ``None`` = nowhere. It changes no result.
    history: Path | None = None
    shown_history: str = ""
    cache: Path | None = None  # folder that several outputs share, absolute; it changes no result
    synonyms: tuple[tuple[str, str], ...] = ()  # pairs of phrases that count as the same there
    # class -> names whose recognition is counted
    entities: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    quick: bool = False  # a first look, see `quickened`; said wherever numbers of the run are
    handbook: schema.Address = ""  # address of the handbook, to which reports link; empty = they only name it

    def quickened(self) -> Suite:
        """Give the suite of a first look: less of each change of the sound, all clean segments."""
        few = dict.fromkeys(("segments_per_change", "transformed_segments"), QUICK_SEGMENTS)
        few["levels"] = QUICK_LEVELS
        least = {name: min(most, getattr(self, name) or most) for name, most in few.items()}
        return dataclasses.replace(self, **least, sweeps=False, studies=False, quick=True, history=None)

    @classmethod
    def settings(cls) -> dict[str, tuple[Any, Any]]:
        """List the settings: name -> its type in the schema, and its default."""
        from soundcheck.suite import schema  # late: a model's process knows suites, but reads none

        types = typing.get_type_hints(cls, localns={"schema": schema}, include_extras=True)
        fields = [field for field in dataclasses.fields(cls) if hasattr(types[field.name], "__metadata__")]
        return {field.name: (types[field.name], field.default) for field in fields}

    def describe(self) -> dict[str, Any]:
        """Describe the suite in plain JSON values, without absolute paths."""
        described = {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}
        for name in ("root", "file", "history", "shown_history", "cache"):  # places on this machine
            del described[name]
        described["shown"] = self.file.name
        for entry in described["corpora"].values():
            entry["path"] = public_path(entry.pop("shown_path"))
            entry["cut"] = public_path(entry["cut"])
            for key in ("blocks", "split"):
                if len(entry[key] or ()) == 1:
                    (entry[key],) = entry[key]
            for key in ("root", "trials", "enrolments"):
                entry[key] = public_path(entry.pop(f"shown_{key}"))
        for entry in described["sounds"].values():
            entry["path"] = public_path(entry.pop("shown_path"))
        for name, entry in described["models"].items():
            del entry["path"]
            entry["target"] = self.models[name].public_target
            entry["files"] = [public_path(text) for text in entry["files"]]
        return described


def _plain(value: Any) -> Any:
    if isinstance(value, PurePath):
        return public_path(str(value))
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)
