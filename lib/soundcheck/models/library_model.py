"""Models that are data: files which a library of the field runs, without code of their own.

Such a model is loaded in a child of the process that reads suites: weights are large, libraries slow to
import, and either may end the process.
"""

from __future__ import annotations

import abc
import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from soundcheck.common import files, packages
from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import shorten
from soundcheck.common.files import irregularity
from soundcheck.models import processes
from soundcheck.models.base import Model, reason, where

if TYPE_CHECKING:
    from soundcheck.corpora.load import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

LOAD_SECONDS = 600.0  # that loading the weights of a model may take
STATING = ("probabilities", "confidence")  # keys by which a model says how sure it is; off by default
T = TypeVar("T")
CONFIGURATION_BYTES = 50_000_000  # of a JSON file; an index of shards has some 100 kB
REASON = 200  # characters of what a parser says
_OUTSIDE = "Try it outside of Soundcheck"


class LibraryModel(Model):
    """A model that a library runs from files; ``where`` is what messages about it begin with."""

    runs_code = False
    extra: ClassVar[str] = ""  # the extra of this package that brings the library
    distributions: ClassVar[tuple[str, ...]] = ()  # those whose versions the predictions depend on

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        self.entry = entry
        self.suite_file = suite.file
        self.where = where(entry, suite)
        self.open([suite.tasks[name] for name in entry.tasks])

    @abc.abstractmethod
    def open(self, tasks: Sequence) -> None:
        """Load the weights, and check that they can predict the tasks; called once."""

    def library(self, module: str) -> ModuleType:
        """Import a module of the library; an InputError says how to install it."""
        return packages.import_extra(module, self.extra, self.where)

    def refusal(self, what: str, remedy: str = "") -> InputError:
        """Make the error that says why the model cannot be used."""
        return input_error(self.where, what, remedy)

    @contextlib.contextmanager
    def understood(self, what: str, remedy: str) -> Iterator[None]:
        """Refuse the model if the library raises, whatever it says about files."""
        try:
            yield
        except Exception as error:
            raise self.refusal(f"{what}: {reason(error, self.entry.path)}", remedy) from error

    @property
    def fingerprint(self) -> str:
        """Digest of all that the suite says about it and of versions; its files are :meth:`named_files`."""
        entry = self.entry
        # Answers from before there were these keys are still those of models that do not use them.
        options = [(key, value) for key, value in entry.options.items() if value or key not in STATING]
        keys = (entry.kind, entry.target, entry.batch, entry.tasks, sorted(options))
        return files.digest(repr((*keys, packages.versions(self.distributions))))

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> Self:
        """Load the model."""
        return cls(entry, suite)

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Load the model in a child, within a time limit."""
        lost = f"Is there enough memory? {_OUTSIDE}"
        task = processes.Task(where(entry, suite), "loading the model", LOAD_SECONDS, _OUTSIDE, lost)
        return processes.in_child(task, load_fingerprint, entry, suite)


def load_fingerprint(entry: ModelEntry, suite: Suite) -> str:
    """Load a model, and give its fingerprint."""
    try:
        return entry.about.load(entry, suite).fingerprint
    except InputError:
        raise
    except Exception as error:  # whatever a library says about files that it does not understand
        what = f"the model cannot be loaded: {reason(error, suite.root)}"
        raise input_error(where(entry, suite), what, _OUTSIDE) from error


def links_outside(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """List links that lead out of a folder, but for those of a hub's cache to the files beside it."""
    home = folder.resolve()
    if home.parent.name == "snapshots" and (home.parent.parent / "blobs").is_dir():
        home = home.parent.parent
    return [path for path in paths if path.is_symlink() and not path.resolve().is_relative_to(home)]


def read_configuration(path: Path) -> tuple[dict[str, Any], str]:
    """Read a JSON file that holds a mapping; gives it, empty if it cannot be read, and why it cannot."""
    if why := irregularity(path, CONFIGURATION_BYTES):
        return {}, why
    try:
        content = json.loads(path.read_bytes())
    except RecursionError:
        return {}, "it is nested too deeply"
    except (OSError, ValueError) as error:
        return {}, f"it is not JSON: {shorten(str(error), REASON)}"
    return (content, "") if isinstance(content, dict) else ({}, "it holds no mapping")


def each_length(
    signals: Sequence[np.ndarray], call: Callable[[np.ndarray], Sequence[T]], most: int | None = None
) -> list[T]:
    """Call once for all signals that are equally long, or ``most`` of them; one prediction a signal.

    ``call`` gets signals ``(signals, samples)`` and gives one prediction for each.

    >>> each_length([np.ones(2), np.ones(3), np.ones(2)], lambda batch: [batch.shape] * len(batch))
    [(2, 2), (1, 3), (2, 2)]
    """
    places: dict[int, list[int]] = {}
    for place, signal in enumerate(signals):
        places.setdefault(len(signal), []).append(place)
    outputs: dict[int, T] = {}
    for alike in places.values():
        for first in range(0, len(alike), most or len(alike)):
            batch = alike[first : first + (most or len(alike))]
            outputs |= zip(batch, call(np.stack([signals[place] for place in batch])), strict=True)
    return [outputs[place] for place in range(len(signals))]


def resampled(signal: np.ndarray, sampling_rate: int, wanted: int) -> np.ndarray:
    """Bring a signal to the sampling rate of a model, float32 ``(samples,)``."""
    if sampling_rate == wanted:
        return signal
    from soundcheck.corpora import audio  # late: whoever reads a suite imports this module

    return audio.resampled(signal, sampling_rate, wanted)
