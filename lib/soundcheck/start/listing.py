"""What lies in a folder, looked at without reading much of it: names, first lines, schemas.

Folders of data hold millions of files, so only so many are looked at, and of a file only its beginning.
Links are followed only if they stay inside. Nothing is executed.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from soundcheck.common.errors import InputError
from soundcheck.common.files import MARKER, inside
from soundcheck.corpora.splits import DEV, EVAL, TEST, TRAIN, split_class

AUDIO = (".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aif", ".aiff", ".aifc", ".sph")
MOST_ENTRIES = 200_000  # of folders that are looked at
MOST_AUDIO = 500  # names of audio files that are kept
MOST_TABLES = 2000  # names of other files that are kept
HEAD_BYTES = 2**18  # of a file that are read
_PASSED = ("__pycache__", "node_modules")
_ORDER = (TEST, EVAL, DEV, "", TRAIN)


def by_split(path: Path) -> tuple[int, int, str]:
    """Order files by how likely they are what models are tested on: test sets first, training data last."""
    return _ORDER.index(split_class(path.stem)), len(path.parts), path.as_posix()


class Listing:
    """Files of a folder, or a single file."""

    def __init__(self, place: Path) -> None:
        self.root = place if place.is_dir() else place.parent
        self.audio: list[Path] = []
        self.others: list[Path] = []
        found = self._walk() if place.is_dir() else iter([Path(place.name)])
        for path in found:
            kept, most = (
                (self.audio, MOST_AUDIO) if path.suffix.lower() in AUDIO else (self.others, MOST_TABLES)
            )
            if len(kept) < most:
                kept.append(path)
        self.others.sort(key=lambda path: (len(path.parts), path.as_posix()))

    def _walk(self) -> Iterator[Path]:
        left = MOST_ENTRIES
        folders = deque([Path()])
        while folders and left > 0:
            folder = folders.popleft()
            try:
                with os.scandir(self.root / folder) as entries:
                    here = sorted(itertools.islice(entries, left), key=lambda entry: entry.name)
            except OSError:
                continue
            left -= len(here)
            if any(entry.name == MARKER for entry in here):
                continue  # written by Soundcheck
            for entry in here:
                path = folder / entry.name
                if entry.name.startswith(".") or entry.name in _PASSED:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_file(follow_symlinks=False) or self._stays(path):
                    yield path

    def _stays(self, path: Path) -> bool:
        """Say whether a link leads to a file inside."""
        try:
            return inside(self.root, path).is_file()
        except (InputError, OSError):
            return False

    def named(self, *endings: str) -> list[Path]:
        """List files by how their names end."""
        return [path for path in self.others if path.name.lower().endswith(endings)]

    def lines(self, path: Path, most: int = 20) -> list[str]:
        """Read the first lines of a text file, unzipped if it is zipped; none if it is no text."""
        try:
            with (gzip.open if path.name.endswith(".gz") else open)(self.root / path, "rb") as file:
                content = file.read(HEAD_BYTES)
        except (OSError, EOFError, zlib.error):
            return []
        if b"\0" in content:
            return []
        whole = content.decode("utf-8-sig", "replace").splitlines()
        if len(content) == HEAD_BYTES and len(whole) > 1:
            whole.pop()  # perhaps cut in the middle
        return [line for line in whole if line.strip()][:most]

    def header(self, path: Path) -> list[str]:
        """Read the names of the columns of a table in text."""
        first = self.lines(path, 1)
        return next(csv.reader(first, delimiter=max(",;\t", key="".join(first).count)), [])

    def keys(self, path: Path) -> set[str]:
        """Read the keys of the object on the first line of a file."""
        try:
            found = json.loads("".join(self.lines(path, 1)) or "null")
        except ValueError:
            return set()
        return set(found) if isinstance(found, dict) else set()
