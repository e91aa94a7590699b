"""What lies in a folder, looked at without reading much of it: names, first lines, columns.

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
MOST_AUDIO = 500  # names of audio files that are listed
MOST_TABLES = 2000  # names of other files that are listed
HEAD_BYTES = 2**18  # of a file that are read
_SKIPPED = ("__pycache__", "node_modules")
_ORDER = (TEST, EVAL, DEV, "", TRAIN)


def by_split(path: Path) -> tuple[int, int, str]:
    """Order files by how likely they are what models are tested on: test sets first, training data last."""
    return _ORDER.index(split_class(path.stem)), len(path.parts), path.as_posix()


class FolderIndex:
    """Files of a folder, relative to it, or a single file."""

    def __init__(self, place: Path) -> None:
        self.root = place if place.is_dir() else place.parent
        paths = list(self._walk() if place.is_dir() else [Path(place.name)])
        self.audio = [path for path in paths if path.suffix.lower() in AUDIO][:MOST_AUDIO]
        others = [path for path in paths if path.suffix.lower() not in AUDIO][:MOST_TABLES]
        self.others = sorted(others, key=lambda path: (len(path.parts), path.as_posix()))

    def _walk(self) -> Iterator[Path]:
        """List files, those near the top first."""
        left, folders = MOST_ENTRIES, deque([Path()])
        while folders and left > 0:
            folder = folders.popleft()
            try:
                with os.scandir(self.root / folder) as entries:
                    listed = sorted(itertools.islice(entries, left), key=lambda entry: entry.name)
            except OSError:
                continue
            left -= len(listed)
            if any(entry.name == MARKER for entry in listed):
                continue  # written by Soundcheck
            for entry in listed:
                path = folder / entry.name
                if entry.name.startswith(".") or entry.name in _SKIPPED:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_file(follow_symlinks=False) or self._links_inside(path):
                    yield path

    def _links_inside(self, path: Path) -> bool:
        try:
            return inside(self.root, path).is_file()
        except (InputError, OSError):
            return False

    def lines(self, path: Path, most: int = 20) -> list[str]:
        """Read the first lines of a text file, unzipped if it is zipped; none if it is no text."""
        try:
            with (gzip.open if path.name.endswith(".gz") else open)(self.root / path, "rb") as file:
                content = file.read(HEAD_BYTES)
        except (OSError, EOFError, zlib.error):
            return []
        if b"\0" in content:
            return []
        lines = content.decode("utf-8-sig", "replace").splitlines()
        if len(content) == HEAD_BYTES and len(lines) > 1:
            lines.pop()  # perhaps cut in the middle
        return [line for line in lines if line.strip()][:most]

    def columns(self, path: Path) -> dict[str, object]:
        """Read names of columns with their types: of Parquet, of tables of text, whose types are ``None``."""
        if path.suffix == ".parquet":
            import pyarrow.lib
            import pyarrow.parquet

            try:
                schema = pyarrow.parquet.read_schema(self.root / path)
            except (OSError, pyarrow.lib.ArrowException):
                return {}
            return dict(zip(schema.names, schema.types, strict=True))
        first = self.lines(path, 1)
        cells = next(csv.reader(first, delimiter=max(",;\t", key="".join(first).count)), [])
        return dict.fromkeys(cell.strip() for cell in cells)

    def with_columns(self, ending: str, *names: str) -> list[Path]:
        """List the tables that have some columns."""
        return [path for path in self.ending(ending) if {*names} <= {*self.columns(path)}]

    def with_keys(self, *names: str) -> list[Path]:
        """List the files whose first line is a JSON object with some keys."""
        lists = self.ending(".jsonl", ".json", ".jsonl.gz")[:200]
        return [path for path in lists if {*names} <= self.keys(path)]

    def ending(self, *endings: str) -> list[Path]:
        """List files by how their names end."""
        return [path for path in self.others if path.name.lower().endswith(endings)]

    def keys(self, path: Path) -> set[str]:
        """Read the keys of the object on the first line of a file."""
        try:
            value = json.loads("".join(self.lines(path, 1)) or "null")
        except ValueError:
            return set()
        return set(value) if isinstance(value, dict) else set()
