"""The file in which the answers of all models are kept: opened, checked, and set aside when it is damaged.

Conventions
-----------
- An SQLite database, called :data:`NAME`. Writers wait for each other, and a process that is killed loses
  nothing that it had committed; a power failure may lose the last transactions.
- There is a log of what is written ahead where processes can share memory, so that nobody waits for readers;
  a rollback journal elsewhere, as on the file systems of a network.
- The file appears complete. What stands in its place and is none, or is damaged, is moved to :data:`ASIDE`;
  the file of another version is removed. Either begins anew, and says why.
- Whoever else has the file open finds that it was replaced, and opens the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sqlite3
import threading
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import psutil

from soundcheck.common import files, store
from soundcheck.predict.keys import VERSION

NAME = "predictions.sqlite"
ASIDE = "predictions.damaged.sqlite"
LOCKED_SECONDS = 60.0  # that others may keep the file locked
LONGEST_PATH = 500  # bytes; SQLite itself has a limit of 512
FREE_PAGES = 256  # from which the space of what was deleted is given back
APPLICATION = 0x536E6443  # tells our databases from others
TRIES = 3
SCHEMA = (
    "CREATE TABLE fingerprints (fingerprint TEXT PRIMARY KEY, used TEXT)",
    "CREATE TABLE bases (fingerprint TEXT, name TEXT, content TEXT, PRIMARY KEY (fingerprint, name))",
    "CREATE TABLE sessions (id INTEGER PRIMARY KEY, fingerprint TEXT, content TEXT, digest BLOB)",
    "CREATE TABLE answers (session INTEGER, key TEXT, content TEXT, digest BLOB)",
    "CREATE INDEX by_fingerprint ON sessions (fingerprint)",
    "CREATE INDEX by_session ON answers (session)",
)
_NETWORK = re.compile("nfs|cifs|smb|9p|afs|ceph|lustre|gpfs|beegfs|gluster|sshfs|davfs|virtiofs")
_NO_MEMORY = ("SQLITE_PROTOCOL", "SQLITE_IOERR_SHM")
_FORMER = re.compile(r"[0-9a-f]{40}")
_UNWRITABLE = {  # first words of the names of SQLite's results: nothing is wrong with the content
    "FULL": (errno.ENOSPC, "No space left on device"),
    "READONLY": (errno.EROFS, "the file cannot be written"),
    "BUSY": (errno.EBUSY, "another process has kept the file locked for too long"),
    "LOCKED": (errno.EBUSY, "another process has kept the file locked for too long"),
    "CANTOPEN": (errno.EACCES, "the file cannot be opened"),
    "PERM": (errno.EACCES, "Permission denied"),
    "AUTH": (errno.EACCES, "Permission denied"),
    "NOLFS": (errno.EFBIG, "File too large"),
    "PROTOCOL": (errno.EBUSY, "the file cannot be locked"),
    "IOERR": (errno.EIO, "Input/output error"),
}
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_DAMAGED = (
    "SQLITE_CORRUPT",
    "SQLITE_NOTADB",
    "SQLITE_IOERR_READ",
    "SQLITE_IOERR_SHORT_READ",
    "SQLITE_IOERR_DATA",
)
_aside: dict[Path, tuple[str, set[str]]] = {}  # why a file was set aside in this process, and who knows it
_ERRORS = (sqlite3.Error, MemoryError, UnicodeDecodeError)  # the last from messages that quote a damaged file
Found = TypeVar("Found")


class _UnusableError(Exception):
    """The file is not what it should be."""


class _OtherVersionError(_UnusableError):
    """The file was written by another version."""


class Database:
    """The file, as one process sees it; threads may share it.

    Parameters
    ----------
    path
        Where it is or will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self._lock = threading.RLock()

    def read(self, operation: Callable[[sqlite3.Connection], Found]) -> Found:
        """Do something in a transaction that writes nothing; see :meth:`write`."""
        return self._attempt(operation, "BEGIN")

    def write(self, operation: Callable[[sqlite3.Connection], Found]) -> Found:
        """Do something in a transaction; perhaps again, if the file had to be replaced.

        Raises
        ------
        OSError
            If it cannot be done: no space, no permission, locked for too long.
        """
        return self._attempt(operation, "BEGIN IMMEDIATE")

    def give_back(self) -> None:
        """Make the file smaller if much of it is free."""

        def shrink(connection: sqlite3.Connection) -> None:
            connection.execute("COMMIT")
            if connection.execute("PRAGMA freelist_count").fetchone()[0] > FREE_PAGES:
                connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")

        with contextlib.suppress(OSError):  # another run is at work: the next one does it
            self.read(shrink)

    def loss(self, fingerprint: str) -> str:
        """Say why the file was set aside in this process; a model is told once, empty otherwise."""
        reason, told = _aside.get(self.path, ("", set()))
        if fingerprint in told:
            return ""
        told.add(fingerprint)
        return reason

    def close(self) -> None:
        """Close the file until it is needed again."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.close()
                self._connection = None

    def _attempt(self, operation: Callable[[sqlite3.Connection], Found], begin: str) -> Found:
        with self._lock:
            for _ in range(TRIES):
                try:
                    connection = self._open()
                    connection.execute(begin)
                    try:
                        found = operation(connection)
                        if connection.in_transaction:
                            connection.execute("COMMIT")
                    finally:
                        if connection.in_transaction:
                            with contextlib.suppress(sqlite3.Error):
                                connection.execute("ROLLBACK")
                    return found
                except _ERRORS as error:
                    self.close()  # whatever state it is in
                    if _name(error) == "SQLITE_READONLY_DBMOVED":
                        continue
                    if not self._is_damaged(error):
                        raise _unwritable(error) or error from None
                    with store.lock(self.path):
                        if self._opened == _identity(self.path):  # nobody else has replaced it meanwhile
                            self._remove(str(error) or "it cannot be read")
            raise OSError(errno.EIO, "the file is damaged again and again")

    def _is_damaged(self, error: Exception) -> bool:
        if _name(error) == "SQLITE_READONLY":  # perhaps a damaged header says so
            return all(os.access(place, os.W_OK) for place in (self.path, self.path.parent))
        if _name(error).startswith(_DAMAGED):
            return True
        unsure = _name(error) == "SQLITE_FULL" or isinstance(error, MemoryError)
        if _unwritable(error) is not None and not unsure:
            return False
        # Perhaps the disk is full, or the mistake is ours: nothing that is whole is set aside.
        try:
            with contextlib.closing(_connect(self.path)) as connection:
                return connection.execute("PRAGMA quick_check(1)").fetchone()[0] != b"ok"
        except _UnusableError:
            return True
        except _ERRORS as other:
            return _name(other).startswith(_DAMAGED)

    # opening

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._opened == _identity(self.path):
                return self._connection
            self.close()
        if len(os.fsencode(self.path)) > LONGEST_PATH:
            raise OSError(errno.ENAMETOOLONG, "the path is too long for a database")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with store.lock(self.path):
                self._connection = self._usable()
        except (OSError, sqlite3.OperationalError) as error:
            problem = error if isinstance(error, OSError) else _unwritable(error)
            if problem is None or problem.errno not in _FORBIDDEN or files.irregularity(self.path):
                raise
            self._connection = _connect_read_only(self.path)
        self._opened = _identity(self.path)
        return self._connection

    def _usable(self) -> sqlite3.Connection:
        """Connect with the file; make it if there is none, or none that can be used."""
        _remove_former(self.path.parent)
        for _ in range(TRIES):
            reason = _irregularity(self.path)
            if reason:
                self._remove(reason)
            if not os.path.lexists(self.path):
                _make(self.path)
            try:
                return _connect(self.path)
            except _OtherVersionError as error:
                self._remove(str(error), keep=False)
            except (*_ERRORS, _UnusableError) as error:
                if _unwritable(error) is not None and not _name(error).startswith(_DAMAGED):
                    raise
                self._remove(str(error))
        raise OSError(errno.EIO, "the file is damaged again and again")

    def _remove(self, reason: str, keep: bool = True) -> None:
        """Make place for a new file and remember why; the lock must be held."""
        number, aside = 1, self.path.with_name(ASIDE)
        folders = any(place.is_dir() for place in _sides(self.path))
        while any(place.is_dir() or (folders and os.path.lexists(place)) for place in _sides(aside)):
            number += 1
            aside = self.path.with_name(f"{number}.{ASIDE}")
        for place, target in zip(_sides(self.path), _sides(aside), strict=True):
            if not os.path.lexists(place):
                target.unlink(missing_ok=True)  # it belongs to what was set aside before
            elif keep:
                os.replace(place, target)
            else:
                place.unlink()
        what = f"set aside as {aside.name}" if keep else "removed"
        _aside[self.path] = (f"{reason}; it was {what}", set())


def _sides(path: Path) -> list[Path]:
    """List what SQLite may write beside a file, and the file last: if only a part is moved, it is found."""
    return [path.with_name(f"{path.name}{side}") for side in ("-wal", "-journal", "-shm", "")]


def _identity(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return None


def _irregularity(path: Path) -> str:
    """Say why a file must not be opened, or what lies beside it; empty if there is none, or it may."""
    for place in _sides(path):
        reason = files.irregularity(place) if os.path.lexists(place) else ""
        if reason and reason != "permission denied":
            return reason if place == path else f"{place.name}: {reason}"
    if path.is_file() and not path.stat().st_size:
        return "the file is empty"
    return ""


def _make(path: Path) -> None:
    for place in _sides(path):  # they would be taken for those of the new file
        place.unlink(missing_ok=True)
    try:
        with files.replacing(path) as part, contextlib.closing(sqlite3.connect(part)) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
    except files.OutputError as error:
        raise error.__cause__ or error from None


def _connect(path: Path) -> sqlite3.Connection:
    """Connect, with a log that is written ahead if processes can share memory here."""
    try:
        return _prepared(path, "DELETE" if _on_network(path) else "WAL")
    except sqlite3.OperationalError as error:
        if not _name(error).startswith(_NO_MEMORY):
            raise
    return _prepared(path, "DELETE", alone=True)


def _prepared(path: Path, mode: str, alone: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(path, LOCKED_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        if alone:  # so a log that comes from elsewhere can be put away without shared memory
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _check(connection)
        try:
            mode = connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()[0].decode()
        except sqlite3.OperationalError as error:
            if not _name(error).startswith("SQLITE_BUSY"):  # else others are at work, and their way is ours
                raise
        connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode.lower() == 'wal' else 'FULL'}")
        _check(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_read_only(path: Path) -> sqlite3.Connection:
    place = f"file:{urllib.parse.quote(os.fsencode(path))}?mode=ro&immutable=1"
    connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
    try:
        _check(connection)
    except (*_ERRORS, _UnusableError) as error:
        connection.close()
        raise OSError(errno.EROFS, f"{error}, and the folder cannot be written") from error
    return connection


def _check(connection: sqlite3.Connection) -> None:
    """Make sure that the file is one of ours and of this version; texts are bytes from now on."""
    connection.text_factory = bytes  # what is damaged need not be a text
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        raise _UnusableError("the file does not hold answers")
    if version != VERSION:
        raise _OtherVersionError("the file was written by another version of Soundcheck")
    select = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
    if [text for (text,) in connection.execute(select)] != [text.encode() for text in SCHEMA]:
        raise _UnusableError("the file is damaged")


def _on_network(path: Path) -> bool:
    """Whether other machines may write to the file, too: memory is shared with none of them."""
    place, kind = os.path.realpath(path), ""
    with contextlib.suppress(OSError, psutil.Error):  # where the system does not tell
        for partition in sorted(psutil.disk_partitions(all=True), key=lambda each: len(each.mountpoint)):
            if place.startswith(os.path.join(partition.mountpoint, "")):
                kind = partition.fstype
    return bool(_NETWORK.search(kind.lower()))


def _name(error: Exception) -> str:
    return getattr(error, "sqlite_errorname", "")


def _unwritable(error: Exception) -> OSError | None:
    """Say what keeps the file from being read or written although it may be whole; ``None`` otherwise."""
    if isinstance(error, MemoryError):
        return OSError(errno.ENOMEM, "Cannot allocate memory")
    found = _UNWRITABLE.get(_name(error).removeprefix("SQLITE_").partition("_")[0])
    return OSError(*found) if found else None


def _remove_former(folder: Path) -> None:
    """Remove what earlier versions kept: a folder of Parquet files and journals for each model."""
    former = folder / "predictions"
    if not former.is_dir() or former.is_symlink():
        return
    for model in [place for place in former.glob("*/*") if _FORMER.fullmatch(place.name)]:
        shutil.rmtree(model, ignore_errors=True)
    for folder in (*former.glob("[0-9a-f][0-9a-f]"), former):
        with contextlib.suppress(OSError):  # something else lies there
            folder.rmdir()
