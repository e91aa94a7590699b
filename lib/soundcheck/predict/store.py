"""Answers of models, kept between runs and found by the digest of everything they depend on.

Conventions
-----------
- The answers of all models are in one file (:mod:`soundcheck.predict.database`), which several runs may write
  at once. An answer that is not what was written is a miss.
- What a process of a model answers is a *session* (:mod:`soundcheck.predict.sessions`). In the end it is
  *settled*: if no file that the model had opened has changed meanwhile, these files are the *basis* of its
  answers (:mod:`soundcheck.predict.sources`). If one of them is another one later, the answers are not
  believed, but stay: the file may come back.
- Failures are not kept. Answers of models that were not asked for :data:`UNUSED_DAYS` are removed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from soundcheck.common.day import day_of
from soundcheck.common.files import OutputError, digest
from soundcheck.predict import sessions
from soundcheck.predict.database import NAME, Database
from soundcheck.predict.entries import Entry
from soundcheck.predict.sessions import Session, SessionRow
from soundcheck.predict.sources import SourceCheck, Sources, files_written

UNUSED_DAYS = 90
_REREAD = 3  # times that answers are read again because another run settled them meanwhile


class _Verdict(NamedTuple):
    """What the answers of a session rest on, and which of these files are not what they were."""

    sources: Sources = Sources()
    changed: Sequence[str] = ()
    damaged: bool = False


@dataclasses.dataclass
class _Found:
    """What was read: answers by whether they are believed, and what is to be removed."""

    entries: dict[str, Entry] = dataclasses.field(default_factory=dict)
    outdated: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    believed: set[int] = dataclasses.field(default_factory=set)
    damaged: int = 0
    useless_sessions: list[int] = dataclasses.field(default_factory=list)
    useless_answers: list[int] = dataclasses.field(default_factory=list)
    complete: bool = True


class Store:
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
    damaged
        Answers that were not what was written.
    damage
        Why the file with all answers could not be read.
    """

    def __init__(self, root: Path, fingerprint: str, check: SourceCheck | None = None) -> None:
        self.sources = Sources()
        self.outdated: dict[str, list[str]] = {}
        self.dropped = self.damaged = 0
        self.changed: set[str] = set()
        self.damage: list[str] = []
        self._fingerprint = fingerprint
        self._database = Database(Path(root) / NAME)
        self._check = check or SourceCheck(Path.cwd())
        self._sessions: list[Session] = []
        self._believed: set[int] = set()

    def load(self) -> dict[str, Entry]:
        """Read all answers, of finished runs and of those that were interrupted or still go on."""
        self.sources, self.outdated = Sources(), {}
        try:
            with contextlib.suppress(OSError):  # a cache that cannot be written may still be read
                self._use()
            found = self._read()
        except OSError as error:
            self.damage.append(f"the file cannot be read: {error.strerror or error}")
            found = _Found()
        self.outdated, self._believed = found.outdated, found.believed
        self.damaged += found.damaged
        if found.useless_sessions or found.useless_answers:
            with contextlib.suppress(OSError):
                self._database.write(lambda connection: _remove(connection, found))
        self._note_loss()
        return found.entries

    def session(self) -> Session:
        """Begin to keep what one process of the model answers.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        self._sessions.append(Session(self._database, self._fingerprint))
        return self._sessions[-1]

    def add(self, entries: Mapping[str, Entry], sources: Sources | None = None) -> None:
        """Keep answers that belong to no process of the model.

        Parameters
        ----------
        entries
            Answers, by key.
        sources
            What they rest on, as another store of this model told it; default: what the other answers rest
            on that are settled together with them.

        Raises
        ------
        OSError
            If they cannot be written.
        """
        session = self.session()
        try:
            session.add(entries)
        finally:
            session.close()
        if sources is not None and entries:
            self._database.write(lambda connection: self._name_basis(connection, [session.number], sources))

    def settle(self) -> None:
        """Decide what the answers of this run, and of interrupted ones that were loaded, rest on.

        Raises
        ------
        OutputError
            If it cannot be written; the next run decides then.
        """
        own = {number for session in self._sessions for number in session.numbers}
        with writing():
            rows = self._database.read(lambda connection: self._rows(connection)[0])
            rows = [
                row
                for row in rows
                if row.number in own | self._believed and row.content and not row.basis and row.ended
            ]
            if rows:
                self._settle(rows, self._judge(rows, {}, own))
                self._database.give_back()
        self._note_loss()
        self._check.save()

    def clear(self) -> None:
        """Forget all answers, but for those that are being written.

        Raises
        ------
        OutputError
            If it cannot be written.
        """

        def forget(connection: sqlite3.Connection) -> None:
            rows = sessions.read_sessions(connection, self._fingerprint)
            sessions.delete(connection, [row.number for row in rows if row.ended])
            connection.execute("DELETE FROM bases WHERE fingerprint = ?", (self._fingerprint,))

        with writing():
            self._database.write(forget)
        self._note_loss()
        self.sources, self.outdated, self._believed = Sources(), {}, set()

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        self._database.close()

    # reading

    def _read(self) -> _Found:
        for _ in range(_REREAD):
            rows, bases = self._database.read(self._rows)
            verdicts = self._judge(rows, bases)  # takes its time, so in no transaction
            found = self._database.read(lambda connection: _answers(connection, rows, verdicts))  # noqa: B023
            if found.complete:
                break
        for number in found.believed:
            self.sources = self.sources.joined(verdicts[number].sources)
        return found

    def _rows(self, connection: sqlite3.Connection) -> tuple[list[SessionRow], dict[str, Sources]]:
        """Read sessions, and the bases of those that are settled."""
        bases = {}
        select = "SELECT name, content FROM bases WHERE fingerprint = ?"
        for name, content in connection.execute(select, (self._fingerprint,)):
            if isinstance(name, bytes) and isinstance(content, bytes) and digest(content).encode() == name:
                bases[name.decode()] = Sources.decode(content.decode())
        return sessions.read_sessions(connection, self._fingerprint), bases

    def _judge(
        self, rows: Sequence[SessionRow], bases: Mapping[str, Sources], own: Collection[int] = ()
    ) -> dict[int, _Verdict]:
        """Look at the files that sessions rest on; says it by number."""
        changed = {name: self._check.changed(sources) for name, sources in bases.items()}
        written = files_written(line for row in rows for line in row.opened)
        verdicts = {}
        for row in rows:
            if row.content is None or (row.basis and row.basis not in bases):
                verdicts[row.number] = _Verdict(damaged=True)
            elif row.basis:
                verdicts[row.number] = _Verdict(bases[row.basis], changed[row.basis])
            else:
                sources, others = self._check.settle(row.opened, written)
                # A run that was interrupted cannot say that files that are gone were of no account.
                gone = () if row.number in own else sources.gone
                verdicts[row.number] = _Verdict(sources, [*others, *gone])
        return verdicts

    # writing

    def _use(self) -> None:
        """Remember that the model is in use, and forget those that are not."""
        today = day_of(time.time())  # whatever SOURCE_DATE_EPOCH says: answers are not old because of it
        limit = (today - datetime.timedelta(UNUSED_DAYS)).isoformat().encode()
        select = "SELECT CAST(min(used) AS BLOB) FROM fingerprints"  # bytes, even if it is damaged

        def days(connection: sqlite3.Connection) -> tuple[bytes | None, bytes]:
            own = connection.execute(f"{select} WHERE fingerprint = ?", (self._fingerprint,)).fetchone()[0]
            return own, connection.execute(select).fetchone()[0] or limit

        def use(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO fingerprints VALUES (?, ?)", (self._fingerprint, today.isoformat())
            )
            connection.execute("DELETE FROM fingerprints WHERE used < ?", (limit.decode(),))
            for table in ("sessions", "bases"):
                known = "(SELECT fingerprint FROM fingerprints)"
                connection.execute(f"DELETE FROM {table} WHERE fingerprint NOT IN {known}")
            connection.execute("DELETE FROM answers WHERE session NOT IN (SELECT id FROM sessions)")

        used, oldest = self._database.read(days)
        if used != today.isoformat().encode() or oldest < limit:
            self._database.write(use)
            self._database.give_back()

    def _settle(self, rows: Sequence[SessionRow], verdicts: Mapping[int, _Verdict]) -> None:
        kept = [row for row in rows if not verdicts[row.number].changed]
        basis = Sources()
        for row in kept:
            basis = basis.joined(verdicts[row.number].sources)

        def write(connection: sqlite3.Connection) -> int:
            dropped, believed = 0, []
            for row in rows:
                if sessions.text_of(connection, row.number) != row.text:
                    continue  # another run has decided
                count = sessions.count_answers(connection, row.number)
                if verdicts[row.number].changed or not count:
                    dropped += count
                    sessions.delete(connection, [row.number])
                else:
                    believed.append(row.number)
            self._name_basis(connection, believed, basis)
            return dropped

        self.dropped += self._database.write(write)
        self.changed |= {name for row in rows for name in verdicts[row.number].changed}
        self.sources = self.sources.joined(basis)

    def _name_basis(self, connection: sqlite3.Connection, numbers: Sequence[int], basis: Sources) -> None:
        """Settle sessions whose answers rest on the same."""
        content = basis.encode()
        name = digest(content)
        for number in numbers:
            sessions.replace(connection, number, self._fingerprint, sessions.settled(name))
        if numbers:
            values = (self._fingerprint, name, content)
            connection.execute("INSERT OR REPLACE INTO bases VALUES (?, ?, ?)", values)

    def _note_loss(self) -> None:
        loss = self._database.loss(self._fingerprint)
        if loss:
            self.damage.append(loss)


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Tell a user that, and why, answers could not be written.

    Raises
    ------
    OutputError
        Instead of ``OSError``.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"Cannot write {NAME} in the cache: {error.strerror or error}. "
            "Make space or choose another --out, then run again to go on."
        ) from error


def _answers(
    connection: sqlite3.Connection, rows: Sequence[SessionRow], verdicts: Mapping[int, _Verdict]
) -> _Found:
    """Read the answers of sessions that are still what they were when they were judged."""
    found = _Found()
    for row in sorted(rows, key=lambda row: (not row.basis, row.number)):
        verdict = verdicts[row.number]
        if sessions.text_of(connection, row.number) != row.text:
            found.complete = False
        elif verdict.damaged:
            found.damaged += sessions.count_answers(connection, row.number)
            found.useless_sessions.append(row.number)
        else:
            entries, damaged = sessions.read_answers(connection, row.number)
            found.damaged += len(damaged)
            found.useless_answers += damaged
            if not verdict.changed:
                found.entries |= entries
                found.believed.add(row.number)
                continue
            found.outdated |= dict.fromkeys(entries, [*verdict.changed])
            if not row.basis and row.ended:
                found.useless_sessions.append(row.number)
    return found


def _remove(connection: sqlite3.Connection, found: _Found) -> None:
    connection.executemany("DELETE FROM answers WHERE rowid = ?", [(row,) for row in found.useless_answers])
    sessions.delete(connection, found.useless_sessions)
