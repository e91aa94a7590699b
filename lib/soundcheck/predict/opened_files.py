"""Hears which files a model opens, so that kept answers can be told from those of another model.

An audit hook of Python sees every file that Python code opens, whoever asks for it. It does not see files
that an extension module opens by itself, nor what a program or another process of the model reads; the suite
can name these (``files:``), and :mod:`soundcheck.predict.canaries` asks some inputs again.

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
"""

from __future__ import annotations

import collections
import contextlib
import os
import site
import stat
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from soundcheck.common import resources
from soundcheck.common.files import digest as digest_of
from soundcheck.common.store import FileDigests, signature
from soundcheck.suite.model_kind import public_path

READ, WRITTEN, SPECIAL = "read", "written", "special"  # what is known of a name
GONE = "gone "  # before the digest of a file that was elsewhere, and is not on this machine
SYSTEM = ("/proc", "/sys", "/dev", "/run", "/etc")
_EVENTS = {"open": 0, "os.rename": 1, "ctypes.dlopen": 0, "import": 1}  # and which argument is a path
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Watch:
    """Remembers what this process opens.

    - ``ignored``: folders of Soundcheck's own files: output and cache.
    """

    def __init__(self, root: Path, ignored: Iterable[str] = ()) -> None:
        self._root = os.path.abspath(root) + os.sep
        self._never = _folders([*ignored, *_installed(), resources.PACKAGE])
        self._outside = _folders([*SYSTEM, tempfile.gettempdir()])
        self._deaf = 0  # to which thread
        self._seen: set[tuple[bool, str]] = set()
        self._news: collections.deque[list] = collections.deque()

    def start(self) -> None:
        """Listen from now on; a process cannot stop to."""
        sys.addaudithook(self._hear)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Leave out what this thread opens inside the block; a thread of the model may go on meanwhile."""
        self._deaf = threading.get_ident()
        try:
            yield
        finally:
            self._deaf = 0

    def add(self, paths: Iterable[Path]) -> None:
        """Take files as opened that the suite names."""
        for path in paths:
            status = signature(path)
            if status is not None:
                self._news.append([READ, self._name(os.path.abspath(path)), *status])

    def news(self) -> list[list]:
        """Tell what was found since the last call: what it is, name, and of what was read the signature."""
        news = []
        while self._news:
            news.append(self._news.popleft())
        return news

    def _hear(self, event: str, arguments: tuple) -> None:
        if event not in _EVENTS or threading.get_ident() == self._deaf:
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
            self._news.append([WRITTEN, self._name(place)])
            return
        place = _source(place)
        status = os.stat(place)  # what does not exist is not read
        if stat.S_ISDIR(status.st_mode):
            return
        self._seen.add((writing, place))
        mark = signature(place)
        kind = SPECIAL if mark is None else READ
        self._news.append([kind, self._name(place), *(mark or ())])

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
