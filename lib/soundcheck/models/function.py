"""A model that is a Python function: ``python: "module:function"``.

The function is called as ``predict(signal, sampling_rate)`` and returns one answer. If the suite gives the
model a ``batch``, it is called as ``predict(signals, sampling_rate)`` with a list of signals and returns a
list of answers. Anything callable will do. It gets arrays of its own, which it may change.

Beside the function its module may have

- ``fingerprint``, a text or a function without arguments that returns one: names what the answers depend on
  besides Python source, such as the digest of a file of weights. It is asked before ``prepare``.
- ``prepare(jobs, progress)``: called once, in a process of its own, before the first signal is predicted; may
  train or download and keep the result in the folder named by the environment variable ``SOUNDCHECK_CACHE``.

Kept answers rest on the source of the module and its neighbours, and on the files that were opened before
they were given (:mod:`soundcheck.predict.opened_files`), such as weights and modules that are imported late.
Files that an extension module opens are not seen: let ``fingerprint`` cover them, or name them in the suite
under ``files:``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soundcheck.common import files
from soundcheck.common.errors import InputError, input_error
from soundcheck.common.escaping import quoted
from soundcheck.models import importing, processes
from soundcheck.models.base import Model

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

CHILD = "soundcheck.models.importing"
_unprepared: set[tuple[str, Path]] = set()  # targets and folders of models whose check found no ``prepare``


class FunctionModel(Model):
    """A Python function as a model.

    Parameters
    ----------
    entry
        The suite's entry.
    imported
        The function and its module.
    root
        Folder of the suite.
    """

    keyword = "python"
    checked_by = CHILD

    def __init__(self, entry: ModelEntry, imported: importing.Imported, root: Path) -> None:
        self.name = entry.name
        self.tasks = tuple(entry.tasks)
        self._entry = entry
        self._imported = imported
        self._root = root

    @classmethod
    def check_target(cls, target: str, suite_file: Path) -> tuple[None, str, str]:
        """Check ``module:function``."""
        part = r"[^\W\d]\w*"
        if re.fullmatch(rf"{part}(\.{part})*:{part}(\.{part})*", target):
            return None, "", ""
        why = "names no function" if ":" in target else "has no colon"
        remedy = "Write module:function, for instance my_package.my_module:predict"
        return None, f"{quoted(target)} {why}", remedy

    @property
    def fingerprint(self) -> str:
        """Digest of target, batch size and source."""
        return _fingerprint(self._entry, importing.source_fingerprint(self._imported, self._root))

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> FunctionModel:
        """Import the function into this process.

        Raises
        ------
        InputError
            If there is no such function or its module raises.
        """
        try:
            imported = importing.import_function(entry.target, suite.root)
        except importing.ModelImportError as problem:
            raise _refuse(entry, suite, problem.what, problem.remedy) from problem
        return cls(entry, imported, suite.root)

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Import the function in a child, within a time limit."""
        limit = importing.IMPORT_SECONDS
        return _checked(entry, suite, _ask(entry, suite, "check", {}, limit, "importing the module"))

    @classmethod
    def check_and_stay(cls, entry: ModelEntry, suite: Suite, child: processes.Child) -> str:
        """Import the function in a child that can be asked about signals afterwards."""
        request = (importing.STAY, entry.target, suite.root, {})
        found = processes.ask_child(child, request, importing.IMPORT_SECONDS)
        content = _understand(entry, suite, *found, importing.IMPORT_SECONDS, "importing the module")
        return _checked(entry, suite, content)

    @classmethod
    def prepare(
        cls, entry: ModelEntry, suite: Suite, *, cache: str | os.PathLike, jobs: int, progress: bool
    ) -> None:
        """Call the module's ``prepare`` in a child, unless the last check has found none.

        Raises
        ------
        InputError
            If it fails, ends the process or does not end.
        """
        if (entry.target, suite.root) in _unprepared:
            return
        options = {"jobs": jobs, "progress": progress}
        seen = processes.TERMINAL if progress and sys.stderr.isatty() else processes.NOWHERE
        limit = importing.PREPARE_SECONDS
        _ask(entry, suite, "prepare", options, limit, "its prepare()", cache=cache, output=seen)

    def predict(self, signals: list[np.ndarray], sampling_rate: int) -> list[Any]:
        """Call the function, once for all signals or once for each."""
        own = [np.array(signal, dtype=np.float32, order="C", copy=True) for signal in signals]
        if self._entry.batch is None:
            return [self._imported.function(signal, sampling_rate) for signal in own]
        answers = self._imported.function(own, sampling_rate)
        if not isinstance(answers, list | tuple):
            raise TypeError(f"a model with batch must return a list of dicts, not {type(answers).__name__}")
        if len(answers) != len(signals):
            raise ValueError(f"the model returned {len(answers)} answers for {len(signals)} signals")
        return list(answers)


def _fingerprint(entry: ModelEntry, source: str) -> str:
    return files.digest(repr(("python", entry.target, entry.batch, source)))


def _checked(entry: ModelEntry, suite: Suite, content: tuple[str, bool]) -> str:
    """Remember whether a model has to be prepared; gives its fingerprint."""
    source, prepares = content
    (_unprepared.discard if prepares else _unprepared.add)((entry.target, suite.root))
    return _fingerprint(entry, source)


def _ask(
    entry: ModelEntry, suite: Suite, action: str, options: dict, seconds: float, doing: str, **settings: Any
) -> Any:
    request = (action, entry.target, suite.root, options)
    found = processes.ask(CHILD, request, seconds, **settings)
    return _understand(entry, suite, *found, seconds, doing)


def _understand(
    entry: ModelEntry, suite: Suite, answer: object, problem: str, seconds: float, doing: str
) -> Any:
    """Give what a child has answered, or say why it has not."""
    if problem == processes.TOO_LONG:
        remedy = "Load what takes long when the first signal is predicted, or in prepare()"
        raise _refuse(entry, suite, f"{doing} did not end within {seconds:g} s", remedy)
    if problem:
        raise _refuse(entry, suite, f"{doing} ended the process ({problem})", "Correct the module")
    kind, content = answer
    if kind == "problem":
        raise _refuse(entry, suite, *content)
    return content


def _refuse(entry: ModelEntry, suite: Suite, what: str, remedy: str) -> InputError:
    return input_error(f"{suite.file.name}, models.{entry.name}.python, {entry.target}", what, remedy)
