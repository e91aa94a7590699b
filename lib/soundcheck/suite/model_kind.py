"""What a kind of model is: the key of suite.yml that introduces it, its other keys, and what may stand there.

Kinds are the classes of models with a ``keyword`` in :mod:`soundcheck.models`, and those that installed
packages register as entry points of the group ``soundcheck.models``. Modules with kinds should import what is
heavy inside of methods: every suite that is read imports them. A model's process needs its own kind only,
and nothing that reads suites: so the keys of all models stand in :mod:`soundcheck.suite.model_keys`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from soundcheck.common.registry import Registry
from soundcheck.common.tasks import Task

if TYPE_CHECKING:
    from soundcheck.suite.entries import ModelEntry
    from soundcheck.suite.model_keys import ModelKeys

__all__ = ["MODEL_KINDS", "ModelKeys", "ModelKind", "public_path"]


def __getattr__(name: str) -> Any:
    if name == "ModelKeys":  # packages of others import it from here
        from soundcheck.suite.model_keys import ModelKeys

        return ModelKeys
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ModelKind:
    """A kind of model, as far as suites know it; :class:`soundcheck.models.base.Model` does the rest."""

    keyword: ClassVar[str] = ""  # the key that introduces it. What stands behind the key is the *target*.
    # what else a model of this kind may say; ``None`` = what all may. What not all kinds know is found in the
    # entry's ``options``.
    keys: ClassVar[type[ModelKeys] | None] = None
    needs_audio: ClassVar[bool] = True  # whether it is given signals
    changes_audio: ClassVar[bool] = True  # whether it can be asked about signals that the corpora do not hold
    runs_code: ClassVar[bool] = True  # whether it runs code that the suite brings; refused with ``--no-code``
    has_scale: ClassVar[bool] = True  # whether suites may say on which scale it answers numbers
    # whether a model that does not say what it predicts also predicts the tasks that the suite declares, but
    # for those that :meth:`check_tasks` refuses
    answers_declared: ClassVar[bool] = False
    # whether it answers for trials instead of segments, and so only for corpora with a list of them
    for_trials: ClassVar[bool] = False
    # module of a child process that can check such a model whatever the corpora are, and be asked about
    # signals afterwards; empty if there is none
    # whether one process on the machine of the run asks it, whatever the jobs and workers: it may ask about
    # several signals at a time by itself
    asked_here: ClassVar[bool] = False
    # what may have changed, or what to do, if kept answers turn out to be those of another model
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
        """Say what a reader should know about the answers; sentences without full stop, here none."""
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
        """Name the changes of the signal that it can be asked about, by identity; ``None`` = all.

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


def public_path(shown: str) -> str:
    """Keep a path as written, but of an absolute one only the last name."""
    return f"…/{PurePath(shown).name}" if os.path.isabs(shown) else shown


MODEL_KINDS = Registry(ModelKind, "soundcheck.models", "soundcheck.models")
