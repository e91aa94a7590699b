"""What one process of a model answered, and what it had opened before.

Conventions
-----------
- A session belongs to the process that writes it, told by machine, number and time of start. Whoever finds
  that its owner has ended may settle it. If that was wrong, the owner goes on in a session of another number.
- Each row carries a digest of its content and of where it belongs. What it does not fit was damaged.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import secrets
import sqlite3
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import psutil

from soundcheck.common.day import day_of
from soundcheck.predict.database import Database
from soundcheck.predict.entries import Entry

ELSEWHERE_SECONDS = 7 * 86400.0  # after which a session of another machine is taken for ended
CLOCK_SECONDS = 5.0  # by which the time of a start may seem to differ
BLOCK = 1000  # rows that are read at a time
_encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
_writing: weakref.WeakSet[Session] = weakref.WeakSet()  # by this process


class SessionRow(NamedTuple):
    """A session as it was found: its number, its text, and what that says; ``None`` if it is damaged."""

    number: int
    text: bytes
    content: dict | None

    @property
    def basis(self) -> str:
        """Name of what its answers rest on; empty if it is not settled."""
        return (self.content or {}).get("basis", "")

    @property
    def opened(self) -> list[list]:
        """What :meth:`soundcheck.predict.opened_files.Watch.news` told, until it is settled."""
        return (self.content or {}).get("opened", [])

    @property
    def ended(self) -> bool:
        """Whether nobody writes it any more."""
        owner = (self.content or {}).get("owner")
        if owner is None:
            return True
        node, process, start = owner
        if node != platform.node():
            return time.time() - self.content["since"] > ELSEWHERE_SECONDS
        if process == os.getpid() and _same_start(start, _start(process)):
            return all(session.number != self.number for session in _writing)
        return not _same_start(start, _start(process))


class Session:
    """A new session, held by this process until it is closed.

    Parameters
    ----------
    database
        Where it is kept.
    fingerprint
        Of the model.

    Attributes
    ----------
    number
        Its present number.
    numbers
        All that it has had.

    Raises
    ------
    OSError
        If it cannot be written.
    """

    def __init__(self, database: Database, fingerprint: str) -> None:
        self._database, self._fingerprint = database, fingerprint
        self._since = time.time()
        self._opened: list[list] = []
        self._text = ""
        self.number, self.numbers = 0, set()
        _writing.add(self)
        try:
            database.write(functools.partial(self._begin, opened=()))
        except BaseException:
            _writing.discard(self)
            raise

    def add(self, entries: Mapping[str, Entry], opened: Sequence[list] = ()) -> None:
        """Keep answers, and what was opened before they were given; all or nothing.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        known = [*self._opened, *opened]

        def write(connection: sqlite3.Connection) -> None:
            if text_of(connection, self.number) != self._text.encode():
                self._begin(connection, known)  # it was taken for ended, forgotten, or lost with the file
            elif opened:
                self._text = self._describe(known)
                replace(connection, self.number, self._fingerprint, self._text)
            rows = [(self.number, key, _encode(entry)) for key, entry in entries.items()]
            connection.executemany(
                "INSERT INTO answers VALUES (?, ?, ?, ?)", [(*row, _answer_digest(*row)) for row in rows]
            )

        self._database.write(write)
        self._opened = known

    def close(self) -> None:
        """Give the session up, so that it can be settled."""

        def end(connection: sqlite3.Connection) -> None:
            if text_of(connection, self.number) == self._text.encode():
                if count_answers(connection, self.number):
                    text = _encode({"opened": self._opened, "owner": None, "since": self._since})
                    replace(connection, self.number, self._fingerprint, text)
                else:
                    delete(connection, [self.number])

        _writing.discard(self)
        with contextlib.suppress(OSError):  # then it ends with this process
            self._database.write(end)

    def _begin(self, connection: sqlite3.Connection, opened: Sequence[list]) -> None:
        self.number = secrets.randbits(62)  # never one that was in use: rows that were left over are not ours
        self.numbers.add(self.number)
        self._text = self._describe(opened)
        today = day_of(time.time()).isoformat()
        connection.execute("INSERT OR REPLACE INTO fingerprints VALUES (?, ?)", (self._fingerprint, today))
        digest = _session_digest(self.number, self._fingerprint, self._text)
        connection.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?)", (self.number, self._fingerprint, self._text, digest)
        )

    def _describe(self, opened: Sequence[list]) -> str:
        process = os.getpid()
        owner = [platform.node(), process, _start(process)]
        return _encode({"opened": opened, "owner": owner, "since": self._since})


# Rows -------------------------------------------------------------------------------------------------------


def read_sessions(connection: sqlite3.Connection, fingerprint: str) -> list[SessionRow]:
    """Read the sessions of a model."""
    found = connection.execute(
        "SELECT id, content, digest FROM sessions WHERE fingerprint = ? ORDER BY id", (fingerprint,)
    ).fetchall()
    return [
        SessionRow(number, text, _content(text, digest, _session_digest(number, fingerprint, text)))
        for number, text, digest in found
    ]


def _content(text: bytes, digest: object, expected: bytes) -> dict | None:
    return json.loads(text) if expected and digest == expected else None


def text_of(connection: sqlite3.Connection, number: int) -> bytes | None:
    """Read the text of a session."""
    found = connection.execute("SELECT content FROM sessions WHERE id = ?", (number,)).fetchone()
    return found and found[0]


def replace(connection: sqlite3.Connection, number: int, fingerprint: str, text: str) -> None:
    """Give a session another text."""
    digest = _session_digest(number, fingerprint, text)
    connection.execute("UPDATE sessions SET content = ?, digest = ? WHERE id = ?", (text, digest, number))


def settled(basis: str) -> str:
    """Write the text of a session whose answers rest on a basis of this name."""
    return _encode({"basis": basis})


def delete(connection: sqlite3.Connection, sessions: Sequence[int]) -> None:
    """Remove sessions and their answers."""
    for number in sessions:
        connection.execute("DELETE FROM answers WHERE session = ?", (number,))
        connection.execute("DELETE FROM sessions WHERE id = ?", (number,))


def count_answers(connection: sqlite3.Connection, number: int) -> int:
    """Count the answers of a session."""
    return connection.execute("SELECT count(*) FROM answers WHERE session = ?", (number,)).fetchone()[0]


def read_answers(connection: sqlite3.Connection, number: int) -> tuple[dict[str, Entry], list[int]]:
    """Read the answers of a session.

    Returns
    -------
    entries
        Answers, by key.
    damaged
        Numbers of the rows that are not what was written.
    """
    entries: dict[str, Entry] = {}
    damaged: list[int] = []
    rows = connection.execute("SELECT rowid, key, content, digest FROM answers WHERE session = ?", (number,))
    while block := rows.fetchmany(BLOCK):
        good = [row for row in block if _answer_digest(number, row[1], row[2]) == row[3] != b""]
        if len(good) < len(block):
            damaged += {row[0] for row in block} - {row[0] for row in good}
        contents = json.loads(b"[%b]" % b",".join([content for _, _, content, _ in good]))
        for (_, key, _, _), (answer, drawn, day) in zip(good, contents, strict=True):
            entries[key.decode()] = Entry(answer, drawn, sys.intern(day))
    return entries, damaged


def _session_digest(number: int, fingerprint: str, text: str | bytes) -> bytes:
    return _digest(b"session", number, fingerprint.encode(), text)


def _answer_digest(number: int, key: str | bytes, text: str | bytes) -> bytes:
    return _digest(b"answer", number, key, text)


def _digest(kind: bytes, number: int, name: str | bytes, text: str | bytes) -> bytes:
    """Hash a row; empty if there are no texts in it, so that it is damaged."""
    try:
        name = name.encode() if isinstance(name, str) else name
        text = text.encode() if isinstance(text, str) else text
        return hashlib.blake2b(b"%b %d %b\0%b" % (kind, number, name, text), digest_size=8).digest()
    except TypeError:
        return b""


def _start(process: int) -> float | None:
    """Time at which a process started, in seconds; ``None`` if it has ended."""
    with contextlib.suppress(psutil.Error, OSError):
        found = psutil.Process(process)
        if found.status() != psutil.STATUS_ZOMBIE:
            return found.create_time()
    return None


def _same_start(one: float, other: float | None) -> bool:
    return other is not None and abs(one - other) < CLOCK_SECONDS
