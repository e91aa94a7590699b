"""Answers of models, kept between runs and found by the digest of everything they depend on.

Conventions
-----------
- One folder a model fingerprint, ``<two digits>/<fingerprint>``. While a model runs, its workers write
  journals (:mod:`soundcheck.predict.journal`); in the end these become *chunks*, Parquet files called by
  the digest of their content.
- Each chunk says which files the model had opened (:mod:`soundcheck.predict.sources`). If one of them is not
  what it was, the answers are not believed, but stay: the file may come back.
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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from soundcheck.common import files, resources
from soundcheck.common.tasks import Task
from soundcheck.predict import journal
from soundcheck.predict.journal import Entry
from soundcheck.predict.protocol import PlainChange
from soundcheck.predict.sources import SourceCheck, Sources, files_written

VERSION = 2  # of keys and chunks
CHUNK_ROWS = 65536
MANY_CHUNKS = 16  # small chunks that are put together
SUFFIX = ".parquet"
SOURCES = b"sources"  # what a chunk's answers rest on, in the metadata of its schema
_SCHEMA = pa.schema([(name, pa.string()) for name in ("key", "answer", "drawn", "day")])
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
    check
        Looks at the files that answers rest on.

    Attributes
    ----------
    sources
        What the answers rest on that are believed.
    outdated
        Key of an answer that is not believed -> names of the files that changed since.
    dropped
        Answers that were not kept because a file changed while the model answered.
    changed
        Names of these files.
    """

    def __init__(self, root: Path, fingerprint: str, check: SourceCheck | None = None) -> None:
        self.folder = Path(root) / "predictions" / fingerprint[:2] / fingerprint
        self.sources = Sources()
        self.outdated: dict[str, list[str]] = {}
        self.dropped = 0
        self.changed: set[str] = set()
        self._check = check or SourceCheck(Path.cwd())

    def load(self) -> dict[str, Entry]:
        """Read all answers, of finished runs and of those that were interrupted or still go on."""
        for _ in range(_REREAD):
            entries: dict[str, Entry] = {}
            vanished = False
            self.sources = Sources()
            for path in self._chunks():
                try:
                    chunk = _read_chunk(path)
                except FileNotFoundError:
                    vanished = True
                    continue
                changed = self._check.changed(chunk.sources)
                if changed:
                    self.outdated |= dict.fromkeys(chunk.table["key"].to_pylist(), changed)
                else:
                    entries |= chunk.entries()
                    self.sources = self.sources.joined(chunk.sources)
            if not vanished:
                break
        journals = {path: journal.read(path) for path in journal.paths(self.folder)}
        written = files_written(line for content in journals.values() for line in content.opened)
        useless = set()
        for path, content in journals.items():
            sources, changed = self._check.settle(content.opened, written)
            if changed or sources.gone:  # a run that was interrupted cannot say that they were of no account
                self.outdated |= dict.fromkeys(content.entries, [*changed, *sources.gone])
                useless.add(path)
            else:
                entries |= content.entries
                self.sources = self.sources.joined(sources)
        with journal.orphans(self.folder) if useless else contextlib.nullcontext([]) as orphans:
            for path in useless & {*orphans}:
                path.unlink(missing_ok=True)
        return entries

    def compact(self) -> None:
        """Move the answers from journals that nobody writes any more to chunks.

        Raises
        ------
        OutputError
            If a chunk cannot be written; journals stay then.
        """
        with journal.orphans(self.folder) as orphans:
            contents = [journal.read(path) for path in orphans]
            written = files_written(line for content in contents for line in content.opened)
            own, entries = Sources(), {}
            for content in contents:
                sources, changed = self._check.settle(content.opened, written)
                if changed:
                    self.dropped += len(content.entries)
                    self.changed |= set(changed)
                else:
                    own = own.joined(sources)
                    entries |= content.entries
            self.sources = self.sources.joined(own)
            groups = {own.encode(): entries} if entries else {}
            small = [path for path in self._chunks() if self._is_small(path)] if entries else []
            small = small if len(small) >= MANY_CHUNKS else []
            for path in small:
                with contextlib.suppress(FileNotFoundError):
                    chunk = _read_chunk(path)
                    group = groups.setdefault(chunk.sources.encode(), {})
                    group |= chunk.entries() | group
            written_chunks = {
                path
                for sources, group in groups.items()
                for path in _write_chunks(self.folder, group, sources)
            }
            for path in [*orphans, *(path for path in small if path not in written_chunks)]:
                path.unlink(missing_ok=True)
        self._check.save()

    def add(self, entries: Mapping[str, Entry]) -> None:
        """Keep answers that no worker has kept; :meth:`compact` makes a chunk of them.

        Raises
        ------
        OSError
            If they cannot be written.
        """
        kept = journal.Journal(self.folder)
        for key, entry in entries.items():
            kept.add(key, entry)
        kept.close()

    def clear(self) -> None:
        """Forget all answers, but for those that other runs are writing."""
        with journal.orphans(self.folder) as orphans:
            for path in [*orphans, *self._chunks()]:
                if not path.is_dir():
                    path.unlink(missing_ok=True)
        self.sources = Sources()
        self.outdated = {}

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


class _Chunk(NamedTuple):
    """What stands in a chunk."""

    table: pa.Table
    sources: Sources

    def entries(self) -> dict[str, Entry]:
        columns = (self.table[name].to_pylist() for name in _SCHEMA.names)
        rows = zip(*columns, strict=True)
        return {key: Entry(json.loads(answer), json.loads(drawn), day) for key, answer, drawn, day in rows}


def _read_chunk(path: Path) -> _Chunk:
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
            with contextlib.suppress(pa.ArrowException, OSError, ValueError, TypeError, KeyError):
                table = pq.read_table(pa.BufferReader(content))
                if table.schema.equals(_SCHEMA):
                    return _Chunk(table, Sources.decode(table.schema.metadata[SOURCES].decode()))
            reason = "it was written by another version"
    log.warning("predictions are computed again, their cache file %s cannot be used: %s", path.name, reason)
    return _Chunk(_SCHEMA.empty_table(), Sources())


def _write_chunks(folder: Path, entries: Mapping[str, Entry], sources: str) -> Iterator[Path]:
    """Write chunks of answers that rest on the same."""
    keys = sorted(entries)
    for first in range(0, len(keys), CHUNK_ROWS):
        yield _write_chunk(folder, {key: entries[key] for key in keys[first : first + CHUNK_ROWS]}, sources)


def _write_chunk(folder: Path, entries: Mapping[str, Entry], sources: str) -> Path:
    """Write a chunk under the digest of its content."""
    columns = [
        list(entries),
        [json.dumps(entry.answer, sort_keys=True) for entry in entries.values()],
        [json.dumps(entry.drawn, sort_keys=True) for entry in entries.values()],
        [entry.day for entry in entries.values()],
    ]
    for attempt in range(8):
        # The same answers give the same file, unless something that is not ours stands in its place.
        schema = _SCHEMA.with_metadata({SOURCES: sources} | ({"attempt": str(attempt)} if attempt else {}))
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(columns, schema=schema), sink, compression="zstd")
        content = sink.getvalue().to_pybytes()
        path = folder / f"{files.digest(content)}{SUFFIX}"
        if not path.is_dir():
            break
    files.write_bytes(path, content)
    return path
