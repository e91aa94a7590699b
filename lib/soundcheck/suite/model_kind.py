"""A model of a suite, and its kind: the key of suite.yml that introduces it, and what may stand there.

Kinds are the classes of models with a ``keyword`` in :mod:`soundcheck.models`, and those that installed
packages register as entry points of the group ``soundcheck.models``. Modules with kinds should import what is
heavy inside of methods: every suite that is read imports them.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar

from soundcheck.common.registry import Registry
from soundcheck.common.tasks import Task
from soundcheck.suite import schema
from soundcheck.suite.card import Card
from soundcheck.suite.corpus_format import CorpusEntry

ERROR, LEFT_OUT = "error", "left out"  # what an input without a prediction is


class ModelKeys(schema.Section):
    """Keys of every model, beside the one that introduces its kind."""

    tasks: schema.Texts | None = None
    batch: schema.whole(1, 1024) | None = None
    families: schema.Texts = ()
    corpora: schema.Texts = ()
    description: schema.Prose = ""
    license: schema.Text = ""
    time_limit: schema.number(0, 604_800, positive=True) | None = None
    range: Any = None  # the tasks of the model tell what is allowed
    values: dict[str, dict[str, schema.Text]] = {}
    files: schema.Names | None = None
    missing: schema.choice(ERROR, LEFT_OUT) = ""  # empty: an error where words are recognised
    card: Any = None  # read by soundcheck.suite.card


class ModelKind:
    """A kind of model, as far as suites know it; :class:`soundcheck.models.base.Model` does the rest."""

    keyword: ClassVar[str] = ""  # the key that introduces it. What stands behind the key is the *target*.
    # what else a model of this kind may say; ``None`` = what all may. What not all kinds know is found in the
    # entry's ``options``.
    keys: ClassVar[type[ModelKeys] | None] = None
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
        return None

    @classmethod
    def check_tasks(cls, target: str, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """Say what such a model cannot predict: what is wrong, and the remedy; here nothing."""
        return []

    @classmethod
    def public_target(cls, target: str) -> str:
        """Give the target for people: of an absolute path only the last name."""
        return public_path(target)


def public_path(path: str) -> str:
    """Keep a path as written, but of an absolute one only the last name."""
    return f"…/{PurePath(path).name}" if os.path.isabs(path) else path


MODEL_KINDS = Registry(ModelKind, "soundcheck.models", "soundcheck.models")


@dataclasses.dataclass(frozen=True)
class ModelEntry:
    """A model as the suite describes it; small and picklable, workers load the model themselves."""

    name: str  # its key in the suite
    kind: str  # keyword of its kind, such as ``"python"``; see :class:`ModelKind`
    target: str  # what stands behind the kind, as written
    tasks: tuple[str, ...]  # names of the tasks that it predicts
    path: Path | None = None  # the file that the target names, absolute; ``None`` if it names none
    batch: int | None = None  # signals a call; ``None`` = one signal a call
    description: str = ""
    license: str = ""
    time_limit: float = 30.0  # seconds that a call may take
    families: tuple[str, ...] = ()  # names of the families that test it; empty = all that fit
    options: dict[str, Any] = dataclasses.field(default_factory=dict)  # what only one kind knows
    corpora: tuple[str, ...] = ()  # names of the corpora that it is tested on; empty = all
    # regression task -> lowest and highest number of the scale on which it predicts; the task's own range
    # where there is none
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    # files, folders and patterns, as written, that its predictions rest on, beside those that are seen anyway
    files: tuple[str, ...] = ()
    card: Card = Card()  # what people say about it, for cards
    # classification task -> word of a prediction -> class that it means
    values: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    # how an input without a prediction counts: ``"error"``, all of its words are missed, or ``"left out"``
    missing: str = LEFT_OUT

    def is_for(self, family: str) -> bool:
        """Say whether a family tests the model."""
        return not self.families or family in self.families

    def listens_to(self, corpus: CorpusEntry) -> bool:
        """Say whether the model is tested on a corpus, or about the probes of one.

        Probes are spoken for one model, and a table of predictions cannot know about them; scores belong to
        a list of trials; and a corpus without audio is only for models that do not listen.
        """
        if corpus.probes_of and not self.about.changes_audio:
            return False
        if corpus.listener not in ("", self.name):
            return False
        if self.about.for_trials and corpus.trials is None:
            return False
        if self.about.needs_audio and not corpus.audio:
            return False
        return not self.corpora or (corpus.probes_of or corpus.name) in self.corpora

    def range_of(self, task: Task) -> tuple[float, float]:
        """Give the ends of the scale on which it predicts a regression task."""
        return self.ranges.get(task.name, (task.low, task.high))

    @property
    def about(self) -> type[ModelKind]:
        """What its kind says about all such models."""
        return MODEL_KINDS[self.kind]

    @property
    def predicts_changes(self) -> bool:
        """Whether the model can predict signals that the corpora do not hold.

        A table cannot, unless a run wrote it that predicted some.
        """
        return self.known_changes is None or bool(self.known_changes)

    @property
    def known_changes(self) -> frozenset[str] | None:
        """Identities of the changes that the model can predict; ``None`` = all."""
        return self.about.known_changes(self.path)

    @property
    def public_target(self) -> str:
        """The target for people, without absolute paths."""
        return self.about.public_target(self.target)
