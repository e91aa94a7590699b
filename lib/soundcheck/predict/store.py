"""Answers of models, kept between runs in one SQLite file and found by the digest of all that they depend on.

Conventions
-----------
- Several runs may write the file at once. A run that is killed loses what it had not written yet, at most
  half a second; a power failure may lose the last transactions.
- The answers of a model depend on the files that it has opened, whose digests stand in its row. If one of
  these is another file later, the answers are forgotten. If one changes while the model answers, the run's
  own answers are.
- A row carries a digest of its content: what is not what was written is forgotten, and predicted again.
- What stands in the place of the file and is none of ours, or is damaged, is set aside under a new name.
- Failures are not kept. Answers of models that were not used for :data:`UNUSED_DAYS` are removed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import psutil

from soundcheck.common import files, store
from soundcheck.common.day import day_of, today
from soundcheck.common.files import OutputError
from soundcheck.common.messages import some
from soundcheck.common.store import FileDigests, Signature, signature
from soundcheck.predict.same_model import GONE, READ, WRITTEN, changed_files
from soundcheck.predict.workers import Result
from soundcheck.suite.entries import public_path

NAME = "predictions.sqlite"
ASIDE = "predictions.damaged.sqlite"
LOCAL = tuple("apfs btrfs ext2 ext3 ext4 f2fs hfs overlay tmpfs xfs zfs".split())  # of one machine
LOCKED_SECONDS = 60.0  # that others may keep the file locked
UNUSED_DAYS = 90
NAMED = 5  # files that a note names
WRITE_SECONDS = 0.5  # between two times that answers are written
APPLICATION = 0x536E6443  # tells our databases from others
VERSION = 4  # of the file
SCHEMA = """
CREATE TABLE models (fingerprint TEXT PRIMARY KEY, used TEXT, files TEXT, digest BLOB);
CREATE TABLE answers (fingerprint TEXT, key TEXT, answer TEXT, digest BLOB, PRIMARY KEY (fingerprint, key));
"""
_SIDES = ("", "-wal", "-shm", "-journal")  # of what SQLite may write
_DAMAGED = ("CORRUPT", "NOTADB", "IOERR_READ", "IOERR_SHORT_READ", "IOERR_DATA")
_encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
_aside: dict[Path, tuple[str, set[str]]] = {}  # why a file was set aside in this process, and who knows it
Value = TypeVar("Value")


class Entry(NamedTuple):
    """A kept answer: task -> value, the options that were drawn for the change, and the day, as ISO 8601."""

    answer: dict[str, float | str]
    drawn: dict[str, Any]
    day: str = ""


@dataclasses.dataclass
class Upkeep:
    """What became of the kept answers of a model in a run so far, and what they depend on."""

    files: dict[str, str] = dataclasses.field(default_factory=dict)  # name -> digest of its content
    outdated: int = 0  # answers that were not used, and ...
    outdated_by: tuple[str, ...] = ()  # ... the files that have changed since they were given
    dropped: int = 0  # answers that are not kept for later, and ...
    dropped_by: tuple[str, ...] = ()  # ... the files that changed while the model answered
    damaged: int = 0  # answers that were not what was written, and were not used
    damage: tuple[str, ...] = ()  # why the file with the answers of all models could not be used

    def notes(self) -> list[str]:
        """Say in sentences what is not as it should be."""
        unseen = [name for name, mark in self.files.items() if not mark or mark.startswith(GONE)]
        lost_all = "cached predictions of all models are lost or cannot be read, so they are computed again"
        notes = []
        if self.outdated:
            why = f"because these files are not what they were: {_listed(self.outdated_by)}"
            notes.append(f"{self.outdated} inputs were predicted again, {why}")
        if self.dropped:
            why = f"because these files changed while the model predicted: {_listed(self.dropped_by)}"
            notes.append(f"{self.dropped} predictions are not cached for later runs, {why}")
        notes += [f"{lost_all}: {why}" for why in self.damage]
        if self.damaged:
            notes.append(f"{self.damaged} cached predictions were damaged and are computed again")
        if unseen:
            what = "the model reads what is no file, or was gone in the end, so a change of it is not seen"
            notes.append(f"{what}: {_listed(unseen)}")
        return notes


def _listed(names: Sequence[str]) -> str:
    return some([*map(public_path, names)], NAMED)


class Database:
    """The file, as one process sees it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._inode = 0  # of the file that is open

    def do(self, operation: Callable[[sqlite3.Connection], Value]) -> Value:
        """Do something in a transaction; in a new file, if the old one turns out to be damaged.

        Raises OutputError: if it cannot be done: no space, no permission, locked for too long.
        """
        for _ in range(3):
            try:
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE")
                result = operation(connection)
                connection.execute("COMMIT")
                return result
            except (OSError, sqlite3.Error, UnicodeDecodeError) as error:  # the last quotes a damaged file
                self.close()  # whatever state it is in, which ends the transaction
                name = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
                if self._is_damaged(error, name):
                    with store.lock(self.path):
                        self.set_aside(str(error))
                elif isinstance(error, sqlite3.ProgrammingError):
                    raise
                elif name != "READONLY_DBMOVED":  # by another process that has set it aside
                    raise files.not_written(f"{NAME} in the cache", error) from error
        raise OutputError(f"{NAME} in the cache is damaged again and again")

    def _is_damaged(self, error: Exception, name: str) -> bool:
        if name == "READONLY":  # perhaps a damaged header says so
            return all(os.access(place, os.W_OK) for place in (self.path, self.path.parent))
        if name == "FULL":
            with contextlib.closing(sqlite3.connect(self.path)) as connection:
                return connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
        ours = type(error) in (sqlite3.DatabaseError, UnicodeDecodeError) and not name
        return ours or name.startswith(_DAMAGED) or (name == "ERROR" and str(error).startswith("no such"))

    def close(self) -> None:
        """Close the file until it is needed again."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def set_aside(self, reason: str) -> None:
        """Make place for a new file, and remember why."""
        number, aside = 1, self.path.with_name(ASIDE)
        while any(os.path.lexists(f"{aside}{side}") for side in _SIDES):
            number += 1
            aside = self.path.with_name(f"{number}.{ASIDE}")
        for side in reversed(_SIDES):  # the file last: if only a part is moved, it is found
            if os.path.lexists(f"{self.path}{side}"):
                os.replace(f"{self.path}{side}", f"{aside}{side}")
        _aside[self.path] = (f"{reason}; it was set aside as {aside.name}", set())

    def loss(self, fingerprint: str) -> str:
        """Say why the file was set aside in this process; once a model, empty otherwise."""
        reason, knowing = _aside.get(self.path, ("", set()))
        if fingerprint in knowing:
            return ""
        knowing.add(fingerprint)
        return reason

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and getattr(signature(self.path), "inode", 0) != self._inode:
            self.close()  # another process has removed the file, or set it aside
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with store.lock(self.path):
                for side in _SIDES:
                    place = Path(f"{self.path}{side}")
                    reason = files.irregularity(place) if os.path.lexists(place) else ""
                    if not side and not reason and place.is_file() and not place.stat().st_size:
                        reason = "the file is empty"
                    if reason and reason != "permission denied":
                        self.set_aside(reason if not side else f"{place.name}: {reason}")
                self._connection = sqlite3.connect(self.path, LOCKED_SECONDS, isolation_level=None)
                self._prepare(self._connection)
                self._inode = os.stat(self.path).st_ino
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make sure that the file is one of ours, or make it one if it is new."""
        connection.text_factory = bytes  # what is damaged need not be a text
        new = not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if new:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        place = self.path.resolve()
        mounts = [part for part in psutil.disk_partitions(all=True) if place.is_relative_to(part.mountpoint)]
        innermost = max(reversed(mounts), key=lambda part: len(part.mountpoint), default=None)
        local = innermost is not None and innermost.fstype in LOCAL  # some sandboxes list no mounts
        with contextlib.suppress(sqlite3.OperationalError):  # others are at work, and their way is ours
            connection.execute(f"PRAGMA journal_mode = {'WAL' if local else 'DELETE'}")
        connection.execute("PRAGMA synchronous = NORMAL")
        if new:
            marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
            connection.executescript(f"BEGIN; {SCHEMA} {marks} COMMIT")
        for name, known in (("application_id", APPLICATION), ("user_version", VERSION)):
            if connection.execute(f"PRAGMA {name}").fetchone()[0] != known:
                raise sqlite3.DatabaseError("the file has no predictions of this version of Soundcheck")


class Store:
    """The kept answers of one model."""

    def __init__(
        self, folder: Path, fingerprint: str, root: Path, contents: FileDigests | None = None
    ) -> None:
        self.upkeep = Upkeep()
        self._fingerprint, self._root = fingerprint, Path(root)
        self._contents = contents or FileDigests()
        self._database = Database(Path(folder) / NAME)
        self._signatures: dict[str, Signature] = {}  # of files that this run's model has opened, ...
        self._digests: dict[str, str] = {}  # ... their digests
        self._written: set[str] = set()  # names of files that the model writes itself: no sources
        self._changed: set[str] = set()  # names of files that changed while the model answered
        self._new_keys: set[str] = set()  # keys of answers of this run that may have to be dropped
        self._pending: list[Result] = []
        self._due = 0.0  # when to write them

    # reading

    def load(self, asked: Collection[str] = ()) -> dict[str, Entry]:
        """Read all answers, of finished runs and of those that were interrupted or still go on.

        Notes how many of those that are ``asked`` for cannot be used.
        """
        entries, self.upkeep.files = self._read()
        if changed := changed_files(self.upkeep.files, self._root, self._contents):
            self.upkeep.outdated, self.upkeep.outdated_by = len(entries.keys() & asked), tuple(changed)
            entries = {}
            self.clear()
        self._note_loss()
        return entries

    def elsewhere(self) -> tuple[dict[str, Entry], dict[str, str], list[str]]:
        """Read the answers of another run, and the digests of the files that they depend on.

        Also gives the names of those files that are others here; these may be missing.
        """
        entries, digests = self._read()
        self._database.close()
        here = {name: digest for name, digest in digests.items() if self._is_here(name)}
        return entries, digests, changed_files(here, self._root, self._contents)

    def _read(self) -> tuple[dict[str, Entry], dict[str, str]]:
        """Read answers and files of the model, which is in use therefore."""

        def read(connection: sqlite3.Connection) -> tuple[list[tuple], dict[str, str]]:
            digests = self._files(connection)
            self._write_files(connection, digests)
            select = "SELECT rowid, key, answer, digest FROM answers WHERE fingerprint = ?"
            rows = connection.execute(select, (self._fingerprint,)).fetchall()
            damaged = {row[:1] for row in rows if not _is_whole(self._fingerprint, *row[1:])}
            connection.executemany("DELETE FROM answers WHERE rowid = ?", damaged)
            self.upkeep.damaged += len(damaged)
            return [row for row in rows if row[:1] not in damaged], digests

        rows, digests = self._database.do(read)
        contents = json.loads(b"[%b]" % b",".join([answer for _, _, answer, _ in rows]))
        entries = {
            key.decode(): Entry(answer, drawn, sys.intern(day))
            for (_, key, _, _), (answer, drawn, day) in zip(rows, contents, strict=True)
        }
        return entries, digests

    def _files(self, connection: sqlite3.Connection) -> dict[str, str]:
        """Read the files of the model; if nobody knows them any more, its answers are not believed."""
        key = (self._fingerprint,)
        row = connection.execute("SELECT files, digest FROM models WHERE fingerprint = ?", key).fetchone()
        if row is not None and _is_whole(self._fingerprint, b"files", *row):
            return json.loads(row[0])
        forgotten = connection.execute("DELETE FROM answers WHERE fingerprint = ?", key)
        self.upkeep.damaged += forgotten.rowcount
        return {}

    def _write_files(self, connection: sqlite3.Connection, digests: Mapping[str, str]) -> None:
        """Name the files of the model, which is in use therefore."""
        text = _encode(digests)
        # Today, whatever SOURCE_DATE_EPOCH says: answers are not old because of it.
        values = (self._fingerprint, str(day_of(time.time())), text)
        digest = _digest(self._fingerprint, b"files", text.encode())
        connection.execute("INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?)", (*values, digest))

    def clear(self) -> None:
        """Forget all answers."""
        self._database.do(self._forget)
        self.upkeep.files = {}

    def _forget(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM answers WHERE fingerprint = ?", (self._fingerprint,))
        self._write_files(connection, {})

    def merge(self, other: Path) -> int:
        """Take over the answers of another run, unless its files are others here; gives how many are new."""
        entries, digests, others = Store(other.parent, self._fingerprint, self._root).elsewhere()
        if others:
            return 0

        def take(connection: sqlite3.Connection) -> int:
            if changed_files(self._files(connection), self._root, self._contents):
                self._forget(connection)  # else all would be forgotten when it is read
            known = {
                name: digest if self._is_here(name) or not digest else GONE + digest.removeprefix(GONE)
                for name, digest in digests.items()
            }
            self._write_files(connection, known | self._files(connection))
            return self._insert(connection, entries, "IGNORE")

        return self._database.do(take)

    def _is_here(self, name: str) -> bool:
        return os.path.lexists(self._root / name)

    # writing

    def keep(self, result: Result) -> None:
        """Keep the answer of a result that has one, a little later and together with others."""
        if not self._pending:
            self._due = time.monotonic() + WRITE_SECONDS
        self._pending.append(result)
        self.write_due()

    def write_due(self) -> None:
        """Write what has waited for long enough."""
        if self._pending and time.monotonic() >= self._due:
            self.write()

    def add(self, entries: Mapping[str, Entry]) -> None:
        """Keep answers that depend on what the others do."""

        def write(connection: sqlite3.Connection) -> None:
            self._write_files(connection, self._files(connection))
            self._insert(connection, entries)

        self._database.do(write)

    def settle(self) -> None:
        """Forget what this run has written if a file has changed since the model opened it."""
        self.write()
        now = {name: signature(self._root / name) for name in self._signatures}
        gone = [name for name in now if not self._is_here(name)]
        changed = {name for name in now if name not in gone and now[name] != self._signatures[name]}
        changed = sorted(changed | self._changed)

        def end(connection: sqlite3.Connection) -> dict[str, str]:
            if changed:
                values = [(self._fingerprint, key) for key in self._new_keys]
                connection.executemany("DELETE FROM answers WHERE fingerprint = ? AND key = ?", values)
            digests = self._files(connection) | dict.fromkeys(gone, "")
            self._write_files(connection, digests)
            return digests

        self.upkeep.files = self._database.do(end)
        self._contents.save()
        if changed:
            self.upkeep.dropped += len(self._new_keys)
            self.upkeep.dropped_by = tuple(changed)
        self._new_keys, self._signatures, self._changed = set(), {}, set()
        self._note_loss()

    def close(self) -> None:
        """Write what waits, and close the file; it is opened again when it is needed."""
        with contextlib.closing(self._database):
            self.write()

    def write(self) -> None:
        """Write what is pending, and the files that were opened before."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        opened = [file for result in pending for file in result.opened]
        self._written |= {file.name for file in opened if file.kind == WRITTEN}
        self._changed -= self._written
        digests = {}
        for kind, name, status in opened:
            if name not in self._written:
                digests[name] = self._opened(name, status) if kind == READ else ""
        day = today().isoformat()
        entries = {result.key: Entry(result.answer, result.drawn, day) for result in pending}

        def write(connection: sqlite3.Connection) -> None:
            known, seen = self._files(connection), self._digests | digests
            same = {name for name in seen if (known.get(name) or seen[name]).startswith((seen[name], GONE))}
            self._changed |= seen.keys() - same
            # Answers that are there keep what they rest on, also if another run has forgotten what ours do.
            known = seen | known if self._changed else self._digests | known | digests
            known = {name: digest for name, digest in known.items() if name not in self._written}
            self._write_files(connection, known)
            if not self._changed:
                self._insert(connection, entries)

        self._database.do(write)
        self._digests |= digests
        self._new_keys |= entries.keys()

    def _opened(self, name: str, status: Signature) -> str:
        """Remember a file that the model has read; gives its digest, empty if that cannot be known."""
        self._signatures.setdefault(name, status)
        digest = self._contents.digest(self._root / name)
        if self._is_here(name) and (not digest or signature(self._root / name) != status):
            self._changed.add(name)
        return digest

    def _insert(
        self, connection: sqlite3.Connection, entries: Mapping[str, Entry], known: str = "REPLACE"
    ) -> int:
        rows = [(self._fingerprint, key, _encode(entry)) for key, entry in entries.items()]
        values = [(*row, _digest(row[0], *(text.encode() for text in row[1:]))) for row in rows]
        return connection.executemany(f"INSERT OR {known} INTO answers VALUES (?, ?, ?, ?)", values).rowcount

    def _note_loss(self) -> None:
        if loss := self._database.loss(self._fingerprint):
            self.upkeep.damage += (loss,)


def forget_unused(folder: Path) -> None:
    """Remove the answers of models that no run has used for long; after a run, which has used its own."""
    limit = (str(day_of(time.time()) - datetime.timedelta(UNUSED_DAYS)),)

    def forget(connection: sqlite3.Connection) -> None:
        if connection.execute("DELETE FROM models WHERE used < ?", limit).rowcount:
            used = "(SELECT fingerprint FROM models)"
            connection.execute(f"DELETE FROM answers WHERE fingerprint NOT IN {used}")
            connection.executescript("PRAGMA incremental_vacuum; BEGIN IMMEDIATE")

    with contextlib.closing(Database(folder / NAME)) as database:
        database.do(forget)


def _digest(fingerprint: str, *parts: bytes) -> bytes:
    return hashlib.blake2b(b"\0".join((fingerprint.encode(), *parts)), digest_size=8).digest()


def _is_whole(fingerprint: str, name: object, text: object, digest: object) -> bool:
    known = isinstance(name, bytes) and isinstance(text, bytes)
    return known and _digest(fingerprint, name, text) == digest
