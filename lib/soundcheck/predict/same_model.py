"""Whether a model is still the one whose answers were kept: by the files that it opens, and by asking again.

An audit hook of Python sees every file that Python code opens, whoever asks for it. It does not see files
that an extension module opens by itself, nor what a program, another process of the model or a server reads.
The suite can name these (``files:``). And at each run some inputs are asked again: if an answer differs, all
of the model's answers are forgotten.

Conventions
-----------
- What counts is what is opened for reading, extension modules and shared libraries included. Not: the
  standard library and installed packages, Soundcheck itself, its output and cache, the system's own folders,
  temporary files, and what this process opens on its own account, such as the audio of the corpora.
- A file that the model writes as well is its own log or cache, and no source of its answers.
- Names are relative to the folder of the suite if the file lies in it, so that a project may be moved;
  absolute otherwise. Links are not resolved: another target is another content.
- Files are remembered by name, with the digest of their content. It is empty for what cannot be seen again,
  because it is no file, such as a pipe, or was gone when the run ended.
- Of two answers texts and classes must be equal; numbers may differ by a small share of their range,
  embeddings by a small distance of their directions. What a model says of its answers counts as they do.
- Not every model answers alike twice. Pairs of answers that the same model gave to the same input say by how
  much: numbers and embeddings may then differ by several times the largest difference seen, and tasks whose
  texts or classes differed are not compared.
- A few inputs are a sample: a model that changed little may pass.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import heapq
import os
import site
import stat
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from soundcheck.common import resources
from soundcheck.common.files import digest as digest_of
from soundcheck.common.store import FileDigests, Signature, signature
from soundcheck.common.tasks import Task
from soundcheck.models import answers
from soundcheck.models.answers import unpack
from soundcheck.suite.entries import ModelKind, public_path

if TYPE_CHECKING:
    from soundcheck.predict.store import Entry

READ, WRITTEN, SPECIAL = "read", "written", "special"  # what is known of a name
GONE = "gone "  # before the digest of a file that was elsewhere, and is not on this machine
SYSTEM = ("/proc", "/sys", "/dev", "/run", "/etc")
_EVENTS = {"open": 0, "os.rename": 1, "ctypes.dlopen": 0, "import": 1}  # and which argument is a path
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Opened(NamedTuple):
    """A file that a model has opened: one of the words above, and what it was then."""

    kind: str
    name: str
    status: Signature | None = None


class Watch:
    """Remembers what this process opens.

    - ``ignored``: folders of Soundcheck's own files: output and cache.
    """

    def __init__(self, root: Path, ignored: Iterable[str] = ()) -> None:
        self._root = os.path.abspath(root) + os.sep
        self._never = _folders([*ignored, *_installed(), resources.PACKAGE])
        self._outside = _folders([*SYSTEM, tempfile.gettempdir()])
        self._paused_thread = 0
        self._seen: set[tuple[bool, str]] = set()
        self._found: collections.deque[Opened] = collections.deque()

    def start(self) -> None:
        """Listen from now on; a process cannot stop to."""
        sys.addaudithook(self._on_event)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out what this thread opens inside the block; a thread of the model may go on meanwhile."""
        self._paused_thread = threading.get_ident()
        try:
            yield
        finally:
            self._paused_thread = 0

    def add(self, paths: Iterable[Path]) -> None:
        """Take files as opened that the suite names."""
        for path in paths:
            status = signature(path)
            if status is not None:
                self._found.append(Opened(READ, self._name(os.path.abspath(path)), status))

    def drain(self) -> list[Opened]:
        """Give what was opened since the last call."""
        return [self._found.popleft() for _ in range(len(self._found))]

    def _on_event(self, event: str, arguments: tuple) -> None:
        if event not in _EVENTS or threading.get_ident() == self._paused_thread:
            return
        with contextlib.suppress(Exception):  # nothing here may stop what the model does
            path = arguments[_EVENTS[event]]
            if event == "open":
                self._opened(path, bool(arguments[2] & _WRITING))
            elif event == "os.rename":
                self._opened(path, True)
            elif os.sep in path:  # a library without folder is one of the system's
                self._opened(path, False)

    def _opened(self, path: str | bytes | os.PathLike | int, writing: bool) -> None:
        if isinstance(path, int) or (writing, path) in self._seen:
            return
        place = os.path.abspath(os.fsdecode(path))
        outside = place.startswith(self._outside) and not place.startswith(self._root)
        if outside or place.startswith(self._never) or (writing, place) in self._seen:
            return
        if writing:
            self._seen.add((writing, place))
            self._found.append(Opened(WRITTEN, self._name(place)))
            return
        place = _source(place)
        status = os.stat(place)  # what does not exist is not read
        if stat.S_ISDIR(status.st_mode):
            return
        self._seen.add((writing, place))
        mark = signature(place)
        self._found.append(Opened(SPECIAL if mark is None else READ, self._name(place), mark))

    def _name(self, place: str) -> str:
        return place.removeprefix(self._root)


def seen_files(files: Mapping[str, str]) -> dict[str, str]:
    """Name each file, of absolute ones the last name, with the digest of its content, if that is known."""
    digests: dict[str, str] = {}
    for name, mark in sorted((public_path(name), mark) for name, mark in files.items()):
        if digest := mark.removeprefix(GONE):
            digests[name] = digest_of(digests[name] + digest) if name in digests else digest
    return digests


def changed_files(files: Mapping[str, str], root: Path, contents: FileDigests) -> list[str]:
    """Give the names of the files that are not what they were, or cannot be read."""
    known = {name: mark for name, mark in files.items() if mark and not mark.startswith(GONE)}
    return [name for name, digest in sorted(known.items()) if contents.digest(root / name) != digest]


def _folders(folders: Iterable[str | os.PathLike]) -> tuple[str, ...]:
    """Write folders so that a path inside begins with one of them, links resolved and not."""
    places = {place for folder in folders for place in (os.path.abspath(folder), os.path.realpath(folder))}
    return tuple(sorted(place.rstrip(os.sep) + os.sep for place in places))


def _installed() -> Sequence[str]:
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    user = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    paths = sysconfig.get_paths()
    return [*(paths[kind] for kind in kinds), *site.getsitepackages(), *([user] if user else [])]


def _source(place: str) -> str:
    """Give the source of a compiled module: whoever runs it writes that anew."""
    folder, name = os.path.split(place)
    if name.endswith(".pyc") and os.path.basename(folder) == "__pycache__":
        return os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py")
    return place


# Asking again -----------------------------------------------------------------------------------------------


CANARIES = 5  # kept answers that are asked again
CLEAN = 3  # of them clean, as far as there are enough of both
SAME = 1e-6  # share of the nominal range by which two answers may differ and still be the same
SPREAD = 10.0  # times the largest difference of two answers of the same model


def choose_canaries(clean: Iterable[str], changed: Iterable[str]) -> list[str]:
    """Choose keys, some of clean and some of changed signals; the same each time.

    >>> choose_canaries("hgfedcba", "zyx")
    ['a', 'b', 'c', 'x', 'y']
    >>> choose_canaries("ba", "")
    ['a', 'b']
    """
    clean, changed = (heapq.nsmallest(CANARIES, keys) for keys in (clean, changed))  # digests: a fair sample
    chosen = clean[: max(CLEAN, CANARIES - len(changed))]
    return chosen + changed[: CANARIES - len(chosen)]


@dataclasses.dataclass(frozen=True)
class Confirmation:
    """What asking again has shown."""

    asked: int = 0  # inputs whose kept answers were compared with new ones
    different: int = 0  # how many of them got another answer; the model's kept answers are forgotten then
    unanswered: int = 0  # inputs that the model gave no answer for this time
    problem: str = ""  # why not, of one of them
    # whether the model does not answer alike twice, so that only large differences are noticed
    loose: bool = False
    unseen: str = ModelKind.unseen  # what may have changed, or what to do, if answers differ

    def alarms(self) -> list[str]:
        """Say in sentences why kept answers were not, or could not be, confirmed."""
        alarms = []
        if self.different:
            alarms.append(
                f"{self.different} of {self.asked} cached predictions were different when they were computed "
                "again, so all were dropped and every input was predicted again; what has changed was not "
                f"seen: {self.unseen}"
            )
        if self.unanswered:
            tried = self.asked + self.unanswered
            what = f"{self.unanswered} of {tried} cached predictions could not be confirmed"
            alarms.append(f"{what}: {self.problem}")
        return alarms

    def notes(self) -> list[str]:
        """Say in sentences what a reader should know."""
        loose = (
            "the model does not predict the same twice, so only large differences would show that cached "
            "predictions are those of another model"
        )
        return [*self.alarms(), *([loose] if self.loose and self.asked else [])]


class Comparison:
    """Compares answers of one model.

    - ``pairs``: answers that the same model gave to the same input.
    - ``loose``: whether any pair differs, so that only larger differences are noticed.
    """

    def __init__(self, tasks: Sequence[Task], pairs: Iterable[tuple[Entry, Entry]] = ()) -> None:
        self._tasks = list(tasks)
        seen = [max(column) for column in zip(*(self._differences(*pair) for pair in pairs), strict=True)]
        self._allowed = [SPREAD * most if most > SAME else SAME for most in seen or [0.0] * (len(tasks) + 1)]
        self.loose = any(most > SAME for most in seen[:-1])

    def differ(self, one: Entry, other: Entry) -> bool:
        """Say whether two answers differ by more than they may."""
        pairs = zip(self._differences(one, other), self._allowed, strict=True)
        return any(difference > allowed for difference, allowed in pairs)

    def _differences(self, one: Entry, other: Entry) -> list[float]:
        """Measure how far two answers are apart in each task, and last in what is said of them."""
        of_tasks = [_difference(task, one, other) for task in self._tasks]
        return [*of_tasks, answers.distance(one.answer, other.answer, self._tasks)]

    def different(self, cached: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
        """List the keys whose new answer is another one."""
        return [key for key, entry in new.items() if self.differ(cached[key], entry)]


def _difference(task: Task, one: Entry, other: Entry) -> float:
    """Measure how far two answers are apart: as a share of the range, by direction, or 0 and 1."""
    first, second = one.answer[task.name], other.answer[task.name]
    if task.is_regression:
        return abs(first - second) / abs(task.high - task.low)
    return _distance(unpack(first), unpack(second)) if task.is_embedding else float(first != second)


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    """Measure the distance between the directions of two embeddings, from 0 to 2; of other lengths 2."""
    if len(one) != len(other):
        return 2.0
    one, other = (vector / np.linalg.norm(vector) for vector in (one.astype(float), other.astype(float)))
    return float(np.linalg.norm(one - other))
