"""Answers of models, kept between runs and found by the digest of everything they depend on.

Conventions
-----------
- One folder a model fingerprint, ``<two digits>/<fingerprint>``. While a model runs, its workers write
  journals (:mod:`soundcheck.predict.journal`); in the end these become *chunks*, Parquet files called by
  the digest of their content.
- A problem with the cache is a miss: it is logged, the damaged file removed, the answer computed again.
- Failures are not kept.
- Several runs may use one cache at once: chunks appear and vanish as a whole, live journals are left alone.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from soundcheck.common import files, resources
from soundcheck.common.tasks import Task
from soundcheck.predict import journal
from soundcheck.predict.journal import Entry
from soundcheck.predict.protocol import PlainChange

VERSION = 1  # of keys and chunks
CHUNK_ROWS = 65536
MANY_CHUNKS = 16  # small chunks that are put together
SUFFIX = ".parquet"
_SCHEMA = pa.schema([("key", pa.string()), ("answer", pa.string()), ("drawn", pa.string())])
_REREAD = 3  # times that a folder is listed again because another run tidied it up meanwhile

log = logging.getLogger(__name__)


class Keys:
    """Makes the keys of calls.

    Parameters
    ----------
    fingerprint
        Of the model.
    tasks
        What it is asked.
    changes
        Numbered by their place.
    seed
        The suite's seed; counts for changed signals only.
    """

    def __init__(
        self, fingerprint: str, tasks: Sequence[Task], changes: Sequence[PlainChange], seed: int
    ) -> None:
        common = [VERSION, fingerprint, sorted((task.name, task.kind) for task in tasks), reading_code()]
        self._clean = self._base(common)
        self._changed = [
            self._base(
                [
                    *(*common, change.transform, change.options, list(change.common), change.material),
                    *(seed, changing_code()),
                ]
            )
            for change in changes
        ]

    @staticmethod
    def _base(parts: list) -> str:
        return files.digest(json.dumps(parts, sort_keys=True, default=str))

    def key(self, content: str, change: int | None) -> str:
        """Make the key of a call.

        Parameters
        ----------
        content
            Digest of the audio.
        change
            Number of the change; ``None`` = clean.
        """
        return files.digest(f"{self._clean if change is None else self._changed[change]} {content}")


def repeated_key(key: str) -> str:
    """Make the key under which the second answer to the same question is kept."""
    return files.digest(f"again {key}")


@functools.cache
def reading_code() -> str:
    """Digest of the code that reads audio: what it does to signals changes answers."""
    return _code([resources.PACKAGE / "corpora" / "audio.py"])


@functools.cache
def changing_code() -> str:
    """Digest of the code that changes signals."""
    reading = resources.PACKAGE / "sounds" / "sound.py"
    return _code([*sorted((resources.PACKAGE / "augment").glob("**/*.py")), reading])


def _code(paths: Sequence[Path]) -> str:
    return files.digest(json.dumps([files.digest(path) for path in paths if path.is_file()]))


class Cache:
    """The kept answers of one model.

    Parameters
    ----------
    root
        Folder of the whole cache.
    fingerprint
        Of the model.
    """

    def __init__(self, root: Path, fingerprint: str) -> None:
        self.folder = Path(root) / "predictions" / fingerprint[:2] / fingerprint

    def load(self) -> dict[str, Entry]:
        """Read all answers, of finished runs and of those that were interrupted or still go on."""
        for _ in range(_REREAD):
            entries: dict[str, Entry] = {}
            vanished = False
            for path in self._chunks():
                try:
                    entries |= _read_chunk(path)
                except FileNotFoundError:
                    vanished = True
            if not vanished:
                break
        for path in journal.paths(self.folder):
            entries |= journal.read(path)
        return entries

    def compact(self) -> None:
        """Move the answers from journals that nobody writes any more to chunks.

        Raises
        ------
        OutputError
            If a chunk cannot be written; journals stay then.
        """
        with journal.orphans(self.folder) as orphans:
            entries: dict[str, Entry] = {}
            for path in orphans:
                entries |= journal.read(path)
            small = [path for path in self._chunks() if self._is_small(path)] if entries else []
            small = small if len(small) >= MANY_CHUNKS else []
            for path in small:
                with contextlib.suppress(FileNotFoundError):
                    entries = _read_chunk(path) | entries
            keys = sorted(entries)
            written = set()
            for first in range(0, len(keys), CHUNK_ROWS):
                part = {key: entries[key] for key in keys[first : first + CHUNK_ROWS]}
                written.add(_write_chunk(self.folder, part))
            for path in [*orphans, *(path for path in small if path not in written)]:
                path.unlink(missing_ok=True)

    def _chunks(self) -> list[Path]:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            names = [name for name in os.listdir(self.folder) if name.endswith(SUFFIX)]
            return sorted(self.folder / name for name in names if not name.startswith(files.TEMPORARY))
        return []

    def _is_small(self, path: Path) -> bool:
        try:
            return not files.irregularity(path) and pq.read_metadata(path).num_rows < CHUNK_ROWS
        except (OSError, pa.ArrowException):
            return False


def _read_chunk(path: Path) -> dict[str, Entry]:
    """Read a chunk; empty if it is not what was written under this name."""
    reason = files.irregularity(path, files.TABLE_BYTES)
    if "not exist" in reason:
        raise FileNotFoundError(path)
    if not reason:
        content = path.read_bytes()
        if files.digest(content) != path.stem:
            reason = "the content is not what was written"
            with contextlib.suppress(OSError):
                path.unlink()
        else:
            with contextlib.suppress(pa.ArrowException, OSError, ValueError):
                table = pq.read_table(pa.BufferReader(content))
                if table.schema.equals(_SCHEMA):
                    columns = (table.column(name).to_pylist() for name in _SCHEMA.names)
                    rows = zip(*columns, strict=True)
                    return {key: Entry(json.loads(answer), json.loads(drawn)) for key, answer, drawn in rows}
            reason = "it was written by another version"
    log.warning("predictions are computed again, their cache file %s cannot be used: %s", path.name, reason)
    return {}


def _write_chunk(folder: Path, entries: Mapping[str, Entry]) -> Path:
    """Write a chunk under the digest of its content."""
    columns = [
        list(entries),
        [json.dumps(entry.answer, sort_keys=True) for entry in entries.values()],
        [json.dumps(entry.drawn, sort_keys=True) for entry in entries.values()],
    ]
    for attempt in range(8):
        # The same answers give the same file, unless something that is not ours stands in its place.
        schema = _SCHEMA.with_metadata({"attempt": str(attempt)}) if attempt else _SCHEMA
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(columns, schema=schema), sink, compression="zstd")
        content = sink.getvalue().to_pybytes()
        path = folder / f"{files.digest(content)}{SUFFIX}"
        if not path.is_dir():
            break
    files.write_bytes(path, content)
    return path
