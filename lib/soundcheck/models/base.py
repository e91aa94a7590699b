"""The one interface of models, and how they are loaded and checked before anything runs.

A *signal* is float32, shape ``(samples,)``, mono; ``sampling_rate`` is in Hz. What a prediction is, and what
is made of it, stands in :mod:`soundcheck.models.answers`.
"""

from __future__ import annotations

import abc
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.messages import shorten
from soundcheck.common.store import CACHE_VARIABLE, FileDigests
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite.entries import ModelKind
from soundcheck.suite.paths import find_files

if TYPE_CHECKING:
    from soundcheck.corpora.load import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

REASON_LIMIT = 300  # characters of a model's own error message that are kept
TRANSCRIPT = BUILTIN["transcript"].name
RECOGNISES = TRANSCRIPT, f"a recogniser answers a {TRANSCRIPT}"  # the only task of some kinds
DRAWN = "drawn"  # beside predictions that are looked up: what was drawn for the change, as in their table


class Model(ModelKind, abc.ABC):
    """Something that is given signals and says what it hears.

    What suites may say about it, and what holds for all models of its kind, are attributes and methods of
    :class:`~soundcheck.suite.entries.ModelKind`. One that is given no signals is a :class:`LookUpModel`.
    Errors are :class:`~soundcheck.common.messages.InputError`.
    """

    # digest of all that predictions depend on besides the signal; cached ones are found by it
    fingerprint: str

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> Model:
        """Load the model of a suite's entry; here the class does."""
        return cls(entry, suite)

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite) -> str:
        """Give the fingerprint of a model that listens, without running its code in this process."""
        return cls.load(entry, suite).fingerprint

    @classmethod
    def prepare(
        cls, entry: ModelEntry, suite: Suite, *, cache: str | os.PathLike, jobs: int, progress: bool
    ) -> None:
        """Do once what the model needs before several processes load it; here nothing."""
        return

    @classmethod
    def named_files(cls, entry: ModelEntry, suite: Suite) -> list[Path]:
        """List the files that its predictions rest on, absolute, as far as the suite names them."""
        return sorted({path for text in entry.files for path in find_files(suite.file, text)[0]})

    @abc.abstractmethod
    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Give one unchecked prediction for each signal, for :func:`check_output`; or :class:`NoAnswer`.

        There is at least one signal, each float32 ``(samples,)``; they are never changed.
        """


class LookUpModel(Model):
    """A model that predicts without hearing: from a table, or at random."""

    needs_audio = False
    runs_code = False
    # seconds that predictions took and those of their sounds, float64 (2, n), if a file tells
    computing_times: np.ndarray | None = None

    @classmethod
    def checked(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus]) -> LookUpModel:
        """Load the model, and make sure that it fits the corpora, as far as these are loaded."""
        model = cls.load(entry, suite)
        model.notices(corpora)
        return model

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Refuse: there is nothing that listens."""
        raise TypeError(f"{self.keyword} answers for segments, not for signals")

    @abc.abstractmethod
    def look_up(self, corpus: Corpus, change: str) -> tuple[dict[str, np.ndarray], list[str]]:
        """Answer for all segments of a loaded corpus whose signals were changed; empty = not.

        Gives for each task one value a segment, float64 (NaN = none) or object (``None`` = none), perhaps
        what was :data:`DRAWN` for each, and one problem a segment, empty if it has a prediction for every
        task.
        """

    def input_keys(self, corpus: Corpus) -> np.ndarray:
        """Give the keys of what it predicts for, in the order of :meth:`look_up`; here segments."""
        return corpus.segments["key"].to_numpy()

    def table_tasks(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Give the tasks that its prediction tables have columns for."""
        return tasks

    def notices(self, corpora: Sequence[Corpus]) -> list[str]:
        """Say what a reader should know about how the model fits the corpora."""
        return []


def reason(error: BaseException, *folders: str | os.PathLike) -> str:
    """Put an exception of a model on one line that may be published: short, without folders.

    Those given are cut off from paths, as are the working directory, the home and whatever looks like one.

    >>> reason(FileNotFoundError("no /home/me/suite/weights.npz"), "/home/me/suite")
    'FileNotFoundError: no weights.npz'
    """
    try:
        text = str(error)
    except Exception:  # a broken __str__ of the model's own
        text = ""
    known = {str(folder) for folder in folders} | {os.getcwd(), os.path.expanduser("~")}
    for folder in sorted(known, key=len, reverse=True):
        if len(folder) > 1:
            text = text.replace(folder + os.sep, "").replace(folder, ".")
    text = re.sub(r"(?<![\w./\\])(?:/[^/\s'\"<>:,;()]+)+/(?=[^/\s'\"<>:,;()])", "", text)
    text = " ".join(text.split())
    name = type(error).__name__
    line = f"{name}: {text}" if text else name
    return shorten(line.encode("utf-8", "backslashreplace").decode(), REASON_LIMIT)


def check_model(entry: ModelEntry, suite: Suite) -> str:
    """Make sure that a model that listens can be loaded; code runs in a child process with a time limit.

    Gives its fingerprint, of the files that its entry names as well.
    """
    return _with_named_files(entry.about.check(entry, suite), entry, suite)


def load_checked(entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus]) -> tuple[LookUpModel, str]:
    """Load a model that does not listen; a table that has no row for the corpora is refused.

    Also gives its fingerprint, of the files that its entry names as well.
    """
    model = entry.about.checked(entry, suite, corpora)
    return model, _with_named_files(model.fingerprint, entry, suite)


def _with_named_files(fingerprint: str, entry: ModelEntry, suite: Suite) -> str:
    named = entry.about.named_files(entry, suite)
    if not named:
        return fingerprint
    cache = os.environ.get(CACHE_VARIABLE)
    contents = FileDigests(Path(cache, "digests", f"{files.slug(entry.name)}.named.json") if cache else None)
    digests = [(movable_name(path, suite.root), contents.digest(path)) for path in named]
    contents.save()
    return files.digest(json.dumps([fingerprint, digests]))


def movable_name(path: Path, root: Path) -> str:
    """Name a file by its place in the folder of the suite, which may be moved; others by their last part."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def where(entry: ModelEntry, suite: Suite, kind: type[ModelKind] | None = None) -> str:
    """Say where the suite names a model, for messages; with its ``kind`` no other kind is imported."""
    target = (kind or entry.about).public_target(entry.target)
    return f"{suite.file.name}, models.{entry.name}.{entry.kind}, {target}"
