"""Models that are data: files which a library of the field runs, without code of their own.

Such a model is loaded in a child of the process that reads suites: weights are large, libraries slow to
import, and either may end the process. The child stays, so that it can be asked about signals afterwards.
``python -m soundcheck.models.library_model`` is that child.
"""

from __future__ import annotations

import abc
import importlib
from collections.abc import Sequence
from multiprocessing.connection import Connection
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from soundcheck.common import extras, files
from soundcheck.common.errors import InputError, Problem, input_error
from soundcheck.common.file_contents import signature
from soundcheck.models import processes
from soundcheck.models.base import Model, reason

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

CHILD = "soundcheck.models.library_model"
LOAD_SECONDS = 600.0  # that loading the weights of a model may take
STATING = ("probabilities", "confidence")  # keys by which a model says how sure it is; off by default
LOAD, STAY = "load", "load and stay"  # actions of the child


class LibraryModel(Model):
    """A model that a library runs from files.

    Subclasses implement :meth:`open` and :meth:`predict`.

    Attributes
    ----------
    entry, suite_file
        The model as the suite describes it, and the suite.yml, absolute.
    where
        What messages about it begin with.
    extra
        The extra of this package that brings the library.
    distributions
        Those whose versions the answers depend on.
    """

    runs_code = False
    checked_by = CHILD
    extra: ClassVar[str] = ""
    distributions: ClassVar[tuple[str, ...]] = ()
    _latest: ClassVar[tuple[object, Model] | None] = None  # what this process has loaded last

    def __init__(self, entry: ModelEntry, suite: Suite) -> None:
        self.name = entry.name
        self.tasks = tuple(entry.tasks)
        self.entry = entry
        self.suite_file = suite.file
        self.where = where(entry, suite)
        self.open([suite.tasks[name] for name in entry.tasks])

    @abc.abstractmethod
    def open(self, tasks: Sequence) -> None:
        """Load the weights, and check that they can answer the tasks; called once.

        Raises
        ------
        InputError
            If the files cannot be used, or a package is missing.
        """

    def library(self, module: str) -> ModuleType:
        """Import a module of the library.

        Raises
        ------
        InputError
            Saying how to install it.
        """
        return extras.import_extra(module, self.extra, self.where)

    def refusal(self, what: str, remedy: str = "") -> InputError:
        """Make the error that says why the model cannot be used."""
        return input_error(self.where, what, remedy)

    @property
    def fingerprint(self) -> str:
        """Digest of all that the suite says about it and of versions; its files are :meth:`named_files`."""
        entry = self.entry
        # Answers from before there were these keys are still those of models that do not use them.
        options = [(key, value) for key, value in entry.options.items() if value or key not in STATING]
        said = (entry.kind, entry.target, entry.batch, entry.tasks, sorted(options))
        return files.digest(repr((*said, extras.versions(self.distributions))))

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> Self:
        """Load the model, once in a process as long as its files stay what they are.

        Raises
        ------
        InputError
            If it cannot be used.
        """
        there = [(path, signature(path)) for path in cls.named_files(entry, suite)]
        wanted = (entry, suite.file, [suite.tasks[name] for name in entry.tasks], there)
        if LibraryModel._latest is None or LibraryModel._latest[0] != wanted:
            LibraryModel._latest = None  # gone before another one needs the memory
            LibraryModel._latest = (wanted, cls(entry, suite))
        return LibraryModel._latest[1]

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Load the model in a child, within a time limit."""
        return _understand(entry, suite, *processes.ask(CHILD, (LOAD, entry, suite), LOAD_SECONDS))

    @classmethod
    def check_and_stay(cls, entry: ModelEntry, suite: Suite, child: processes.Child) -> str:
        """Load the model in a child that can be asked about signals afterwards."""
        return _understand(entry, suite, *processes.ask_child(child, (STAY, entry, suite), LOAD_SECONDS))


def where(entry: ModelEntry, suite: Suite) -> str:
    """Say where the suite names a model, for messages."""
    return f"{suite.file.name}, models.{entry.name}.{entry.kind}, {entry.public_target}"


def resampled(signal: np.ndarray, sampling_rate: int, wanted: int) -> np.ndarray:
    """Bring a signal to the sampling rate of a model, float32 ``(samples,)``."""
    if sampling_rate == wanted:
        return signal
    import audresample

    return audresample.resample(signal, sampling_rate, wanted)[0]


def _understand(entry: ModelEntry, suite: Suite, answer: object, problem: str) -> str:
    """Give the fingerprint that a child has answered, or say why it has not."""
    if problem == processes.TOO_LONG:
        what = f"loading the model did not end within {LOAD_SECONDS:g} s"
        raise input_error(where(entry, suite), what, "Try it outside of Soundcheck")
    if problem:
        what = f"loading the model ended the process ({problem})"
        raise input_error(where(entry, suite), what, "Is there enough memory? Try it outside of Soundcheck")
    fingerprint, problems = answer
    if problems:
        raise InputError(Problem(*parts) for parts in problems)
    return fingerprint


def _load(connection: Connection, entry: ModelEntry, suite: Suite) -> None:
    try:
        connection.send((entry.about.load(entry, suite).fingerprint, ()))
    except InputError as error:
        connection.send(("", [(one.where, one.what, one.remedy) for one in error.problems]))
    except Exception as error:  # whatever a library says about files that it does not understand
        what = f"the model cannot be loaded: {reason(error, suite.root)}"
        connection.send(("", [(where(entry, suite), what, "Try it outside of Soundcheck")]))


def _serve() -> None:
    """Load one model for the parent, and go on if it is to stay."""
    connection = processes.connect()
    action, entry, suite = connection.recv()
    with processes.silent():  # what libraries print when they load is nobody's
        _load(connection, entry, suite)
    if action == STAY:
        processes.go_on(connection)


if __name__ == "__main__":
    # As the module that others import, so that there is one LibraryModel in this process.
    importlib.import_module(CHILD)._serve()
