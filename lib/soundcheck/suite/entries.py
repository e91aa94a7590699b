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


@dataclasses.dataclass(frozen=True)
class CorpusEntry:
    """A corpus as the suite describes it.

    Parameters
    ----------
    name
        Its key in the suite.
    format
        Keyword of its format, such as ``"csv"``; see :mod:`soundcheck.suite.corpus_format`.
    path
        Manifest (csv) or database folder (audformat), absolute; ``None`` if the format names none.
    shown_path
        The same as the user wrote it.
    columns
        Our name of a column -> theirs.
    tables
        audformat: tables to read; empty = all that fit.
    split
        Values of the column ``split`` to keep; ``("all",)`` = every row; ``None`` = the format's default.
    blocks
        Columns whose values are resampled together: each combination that occurs is a block.
    ranges
        Task -> lowest and highest possible label; the task's own range where there is none.
    title, description
        For people.
    synthetic
        Whether pages say that the speech is synthetic.
    values
        Our name of a column -> what stands there -> what it counts as; ``""`` = missing.
    unknown
        Words in place of a speaker, sex, accent or language that mean nobody; ``None`` = the usual ones.
    root
        Folder that the files are relative to, absolute; ``None`` = the folder of ``path``.
    shown_root
        The same as the user wrote it.
    cut
        Folder that is cut from the beginning of the names of files, before they are relative to ``root``.
    base_condition
        Condition that recordings under others are compared with; empty = the most frequent one.
    families
        Names of the families that look at it; empty = all that it fits.
    options
        What only its format knows.
    probes_of
        Name of the corpus whose words are probed by this one, which no suite names; empty for all others.
    listener
        Name of the only model that is asked about it; empty = all.
    trials, enrolments
        List of trials, and of the utterances that each speaker is enrolled with; absolute, ``None`` = none.
    shown_trials, shown_enrolments
        The same as the user wrote them.
    layout
        One of :data:`soundcheck.suite.corpus_format.TRIAL_LAYOUTS`, that of the list of trials; empty = its
        first line tells.
    audio
        Whether there is anything to hear; without, names of files are names and nothing else.
    groups
        Columns whose groups are compared: its own, or those of the suite.
    adjust
        Columns by which differences between groups are adjusted, likewise.
    against
        Column -> the group that its other groups are compared with, ``"others"`` = all other groups, as the
        corpus says or else the suite.
    benchmark
        The published benchmark that it is; ``None`` = none.
    """

    name: str
    format: str
    path: Path | None = None
    shown_path: str = ""
    columns: dict[str, str] = dataclasses.field(default_factory=dict)
    values: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    unknown: tuple[str, ...] | None = None
    tables: tuple[str, ...] = ()
    split: tuple[str, ...] | None = None
    blocks: tuple[str, ...] = ("speaker",)
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    title: str = ""
    description: str = ""
    synthetic: bool = False
    root: Path | None = None
    shown_root: str = ""
    cut: str = ""
    base_condition: str = ""
    families: tuple[str, ...] = ()
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    probes_of: str = ""
    listener: str = ""
    trials: Path | None = None
    shown_trials: str = ""
    enrolments: Path | None = None
    shown_enrolments: str = ""
    layout: str = ""
    audio: bool = True
    groups: tuple[GroupColumn, ...] = ()
    adjust: tuple[str, ...] = ()
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    benchmark: Benchmark | None = None

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
    """Recordings that a suite brings for a kind of sound.

    Parameters
    ----------
    kind
        Kind of sound, or ``"noise"`` for a folder that holds several kinds.
    path
        Folder, absolute.
    shown_path
        The same as the user wrote it.
    base
        Impulse responses: the room or position, or the file, that the others are compared with; empty = the
        usual one.
    where
        audformat: column -> value of the segments to take.
    """

    kind: str
    path: Path
    shown_path: str = ""
    base: str = ""
    where: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ModelEntry:
    """A model as the suite describes it; small and picklable, workers load the model themselves.

    Parameters
    ----------
    name
        Its key in the suite.
    kind
        Keyword of its kind, such as ``"python"``; see :mod:`soundcheck.suite.model_kind`.
    target
        What stands behind the kind, as written.
    tasks
        Names of the tasks that it predicts.
    path
        The file that the target names, absolute; ``None`` if it names none.
    batch
        Signals a call; ``None`` = one signal a call.
    description, license
        For people.
    time_limit
        Seconds that a call may take.
    families
        Names of the families that test it; empty = all that fit.
    options
        What only one kind knows.
    corpora
        Names of the corpora that it is asked about; empty = all.
    ranges
        Regression task -> lowest and highest number of the scale on which it answers; the task's own range
        where there is none.
    values
        Classification task -> word in an answer -> class that it means.
    files
        Files, folders and patterns, as written, that its answers rest on, beside those that are seen anyway.
    card
        What people say about it, for cards.
    missing
        How an input without an answer counts: ``"error"``, all of its words are missed, or ``"left out"``.
    """

    name: str
    kind: str
    target: str
    tasks: tuple[str, ...]
    path: Path | None = None
    batch: int | None = None
    description: str = ""
    license: str = ""
    time_limit: float = 30.0
    families: tuple[str, ...] = ()
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    corpora: tuple[str, ...] = ()
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    files: tuple[str, ...] = ()
    card: Card = Card()
    values: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
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

    Parameters
    ----------
    name
        Its key in the suite.
    baseline, candidate
        Names of the models: the one in use, and the one that may replace it.
    """

    name: str
    baseline: str
    candidate: str


@dataclasses.dataclass(frozen=True)
class Suite:
    """A checked suite.

    A field whose type is one of :mod:`soundcheck.suite.schema` is a setting: a key of the file's top level,
    read and checked as its type says. Notebooks get all but ``title``, ``handbook`` and ``studies``.

    Parameters
    ----------
    title, seed, replicates, interval
        As written or default.
    handbook
        Address of the handbook, to which reports link; empty = they only name it.
    families
        Names of the families to run.
    corpora, models, comparisons
        Entries by name, in the order of the file.
    tasks
        Built-in and declared tasks by name.
    root
        Folder of suite.yml, absolute.
    file
        suite.yml, absolute.
    shown
        suite.yml as the user named it.
    digest
        Digest of the file's bytes.
    thresholds
        Thresholds of tests that compare groups: ``"published"``; ``"simulated"``, which are the published
        ones stretched to the suite's own group sizes; or ``"gap"``: a group passes if it differs from the
        others by less than the margin.
    margin
        From which size a difference between a group and its reference is a failure, in tests without a margin
        of their own; the key ``matters``.
    voices
        What is heard in the book: ``"all"``, or ``"none"``: neither sounds nor pictures of single recordings.
    studies
        Whether the book shows, on simulated data, how good its intervals and thresholds are.
    sounds
        Recordings by kind of sound; other kinds are synthesised.
    sweeps
        Whether robustness pages show how models do from mild to severe.
    normaliser
        What is done to transcripts before words are compared; see :mod:`soundcheck.metrics.normalisation`.
    alternatives
        Whether braces and words in parentheses in transcripts of corpora mean several wordings; see
        :mod:`soundcheck.metrics.alternatives`.
    synonyms
        Pairs of phrases that count as the same there.
    entities
        Class -> names whose recognition is counted.
    matters_worse
        By how much a value has to be worse than in an earlier run before it counts.
    tests
        Family -> test -> what the suite changes about it.
    accepted
        Failures that pipelines look past.
    groups, adjust, against
        Columns whose groups are compared, by which differences are adjusted, and the groups of columns that
        others are compared with, of corpora that name none.
    measured
        What is measured on the sounds of all corpora, whether or not a family needs it.
    balance_samples
        Segments a group that balanced fairness families ask for.
    transformed_segments
        Segments of a corpus that are transformed for families that need all levels of transformations;
        ``None`` = as many as their groups need to be judged.
    segments_per_change
        Segments of a corpus that models hear under each change of the signal at most; ``None`` = as the
        threshold files say.
    levels
        Levels of each sweep and transformation at most, from mild to severe; ``None`` = all of the threshold
        files.
    transformations
        Family -> names of the transformations and sweeps that are heard for it; all for families not named.
    audio_limit, model_seconds, notebook_seconds
        Seconds: longest segment that is used; a model's call; a notebook.
    card
        What people say about all of its models, for cards.
    history
        Folder in which each finished run is kept, absolute; ``None`` = nowhere. It changes no result.
    shown_history
        The same as written.
    """

    title: schema.Title = "Soundcheck"
    seed: schema.whole(0, 2**32 - 1) = 0
    replicates: schema.whole(100, 100_000) = 1000
    interval: schema.choice(*INTERVALS) = "t"
    families: tuple[str, ...] = ()
    corpora: dict[str, CorpusEntry] = dataclasses.field(default_factory=dict)
    models: dict[str, ModelEntry] = dataclasses.field(default_factory=dict)
    tasks: dict[str, Task] = dataclasses.field(default_factory=dict)
    root: Path = Path()
    file: Path = Path("suite.yml")
    shown: str = "suite.yml"
    digest: str = ""
    comparisons: dict[str, ComparisonEntry] = dataclasses.field(default_factory=dict)
    thresholds: schema.choice("published", "simulated", "gap") = "published"
    margin: Margin = Margin()
    studies: schema.Boolean = True
    voices: schema.choice(*VOICES) = ALL
    sounds: dict[str, SoundEntry] = dataclasses.field(default_factory=dict)
    sweeps: schema.Boolean = True
    normaliser: schema.choice(*NORMALISERS) = "basic"
    alternatives: schema.Boolean = False
    matters_worse: schema.number(0, 1e6) = 0.01
    tests: dict[str, dict[str, OwnTest]] = dataclasses.field(default_factory=dict)
    accepted: tuple[AcceptedFailure, ...] = ()
    groups: tuple[GroupColumn, ...] = ()
    adjust: tuple[str, ...] = ()
    against: dict[str, str] = dataclasses.field(default_factory=dict)
    measured: tuple[str, ...] = ()
    balance_samples: int = 1000
    transformed_segments: int | None = None
    segments_per_change: int | None = None
    levels: int | None = None
    transformations: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    audio_limit: float = 3600.0
    model_seconds: float = 30.0
    notebook_seconds: float = 120.0
    card: Card = Card()
    history: Path | None = None
    shown_history: str = ""
    synonyms: tuple[tuple[str, str], ...] = ()
    entities: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    handbook: schema.Address = ""

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
        for name in ("root", "file", "history", "shown_history"):  # places on this machine
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
