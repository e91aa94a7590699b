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
from soundcheck.common.escaping import quoted
from soundcheck.models import importing, processes
from soundcheck.models.base import Model

if TYPE_CHECKING:
    from soundcheck.corpora.corpus import Corpus
    from soundcheck.suite.entries import ModelEntry, Suite

_LATE = "Load what takes long when the first signal is predicted, or in prepare()"
_unprepared: set[tuple[str, Path]] = set()  # targets and folders of models whose check found no ``prepare``


class FunctionModel(Model):
    """A Python function as a model."""

    keyword = "python"

    def __init__(self, entry: ModelEntry, imported: importing.Imported) -> None:
        self.name = entry.name
        self.tasks = tuple(entry.tasks)
        self._entry, self._imported = entry, imported

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
        return _fingerprint(self._entry, importing.source_fingerprint(self._imported, self.name))

    @classmethod
    def load(cls, entry: ModelEntry, suite: Suite) -> FunctionModel:
        """Import the function into this process."""
        return cls(entry, importing.import_function(entry.target, suite.root, _where(entry, suite)))

    @classmethod
    def check(cls, entry: ModelEntry, suite: Suite, corpora: Sequence[Corpus] = ()) -> str:
        """Import the function in a child, within a time limit."""
        call = (importing.check_function, entry.target, suite.root, _where(entry, suite))
        child = _child(entry, suite, "importing the module", importing.IMPORT_SECONDS)
        source, prepares = processes.in_child(child, *call)
        (_unprepared.discard if prepares else _unprepared.add)((entry.target, suite.root))
        return _fingerprint(entry, source)

    @classmethod
    def prepare(
        cls, entry: ModelEntry, suite: Suite, *, cache: str | os.PathLike, jobs: int, progress: bool
    ) -> None:
        """Call the module's ``prepare`` in a child, unless the last check has found none."""
        if (entry.target, suite.root) not in _unprepared:
            options = {"jobs": jobs, "progress": progress}
            call = (importing.prepare_model, entry.target, suite.root, _where(entry, suite), options)
            child = _child(entry, suite, "its prepare()", importing.PREPARE_SECONDS)
            shown = progress and sys.stderr.isatty()
            processes.in_child(child, *call, cache=cache, shown=shown)

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


def _where(entry: ModelEntry, suite: Suite) -> str:
    return f"{suite.file.name}, models.{entry.name}.python, {entry.target}"


def _child(entry: ModelEntry, suite: Suite, doing: str, seconds: float) -> processes.Task:
    return processes.Task(_where(entry, suite), doing, seconds, late=_LATE, lost="Correct the module")
