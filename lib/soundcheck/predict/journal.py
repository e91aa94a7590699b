"""The journal of a worker: each answer on disk as soon as there is one.

Conventions
-----------
- One line an answer: digest of the rest, blank, JSON. A line that is cut or damaged is no line.
- Other lines tell what the model opened (:mod:`soundcheck.predict.opened_files`). An answer comes after what
  was opened before it was given.
- Only the worker that made a journal writes it and holds a lock on it while it lives; a journal without lock
  is an orphan, and whoever finds it may move its lines elsewhere and remove it.
- Killing processes loses nothing that was written; a power failure may lose the last lines.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from soundcheck.common.files import digest, irregularity

SUFFIX = ".journal"
_DIGITS = 16


class Entry(NamedTuple):
    """A kept answer: task -> value, the options that were drawn for the change, and the day, as ISO 8601."""

    answer: dict[str, float | str]
    drawn: dict[str, Any]
    day: str = ""


class Content(NamedTuple):
    """What stands in a journal: answers, and what :meth:`soundcheck.predict.opened_files.Watch.news` told."""

    entries: dict[str, Entry]
    opened: list[list]


def encode(key: str, entry: Entry) -> bytes:
    """Write an answer as one line."""
    return _line([key, *entry])


def _line(content: object) -> bytes:
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    return f"{digest(text)[:_DIGITS]} {text}\n".encode()


def decode(line: bytes) -> tuple[str, Entry] | list[list] | None:
    """Read a line: an answer, or what was opened; ``None`` if it is not exactly what was written."""
    try:
        check, _, text = line.decode("ascii").partition(" ")
        if digest(text)[:_DIGITS] != check:
            return None
        content = json.loads(text)
        if isinstance(content, dict):
            return content["opened"]
        key, *entry = content
        return key, Entry(*entry)
    except (UnicodeDecodeError, ValueError):
        return None


class Journal:
    """A new journal in a folder, held by this process.

    Raises
    ------
    OSError
        If it cannot be written.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        os.makedirs(folder, exist_ok=True)
        while True:
            self.path = Path(folder, f"{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}")
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            if _same(self._descriptor, self.path):
                return
            os.close(self._descriptor)  # another run took it for an orphan before it was locked

    def add(self, key: str, entry: Entry) -> None:
        """Append an answer."""
        self._write(encode(key, entry))

    def note(self, opened: list[list]) -> None:
        """Append what was opened."""
        self._write(_line({"opened": opened}))

    def _write(self, line: bytes) -> None:
        while line:
            line = line[os.write(self._descriptor, line) :]

    def close(self) -> None:
        """Give the journal up."""
        os.close(self._descriptor)


def _same(descriptor: int, path: Path) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def paths(folder: Path) -> list[Path]:
    """List the journals of a folder."""
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and not irregularity(path))
    return []


def read(path: Path) -> Content:
    """Read the good lines of a journal, whoever writes it at the moment."""
    content = Content({}, [])
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return content
    for found in filter(None, map(decode, lines[:-1])):
        if isinstance(found, list):
            content.opened.extend(found)
        else:
            content.entries[found[0]] = found[1]
    return content


@contextlib.contextmanager
def orphans(folder: Path) -> Iterator[list[Path]]:
    """Give the journals that nobody writes any more; they stay locked inside the block."""
    with contextlib.ExitStack() as stack:
        found = []
        for path in paths(folder):
            try:
                descriptor = os.open(path, os.O_RDONLY)
            except OSError:
                continue
            stack.callback(os.close, descriptor)
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _same(descriptor, path):
                    found.append(path)
        yield found
