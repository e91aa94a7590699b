"""Writes what the processes of a model answer to the store, a little later and together.

Conventions
-----------
- Answers are written after :data:`SECONDS`, or when there are :data:`ANSWERS` of them, and when the recorder
  is closed, whatever has happened: killing the run loses the answers of at most half a second.
- A thread of its own writes: nobody waits for the disk, or for another run that writes at the moment.
"""

from __future__ import annotations

import threading
from typing import Self

from soundcheck.common.day import today
from soundcheck.predict.entries import Entry
from soundcheck.predict.protocol import Result
from soundcheck.predict.sessions import Session
from soundcheck.predict.store import Store, writing

SECONDS = 0.5  # between two times of writing
ANSWERS = 200  # that are written at once although it is not time yet


class Recorder:
    """Keeps the answers of one model, as a context manager.

    Parameters
    ----------
    store
        Where to.

    Raises
    ------
    OutputError
        On entry, by :meth:`keep` or on exit: if answers cannot be written.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: list[tuple[Result, Entry]] = []
        self._sessions: dict[str, Session] = {}
        self._unused: list[Session] = []
        self._changing = threading.Lock()
        self._due, self._ended = threading.Event(), False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        with writing():  # before anything is asked
            self._unused.append(self._store.session())
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended = True
        self._due.set()
        self._thread.join()
        for session in (*self._sessions.values(), *self._unused):
            session.close()
        if kind is None:
            self._complain()

    def keep(self, result: Result) -> None:
        """Keep the answer of a result that has one."""
        self._complain()
        entry = Entry(result.answer, result.drawn, today().isoformat())
        with self._changing:
            self._pending.append((result, entry))
            if len(self._pending) >= ANSWERS:
                self._due.set()

    def _complain(self) -> None:
        if self._error is not None:
            with writing():
                raise self._error

    def _work(self) -> None:
        try:
            while not self._ended:
                self._due.wait(SECONDS)
                self._due.clear()
                self._write()
            self._write()
        except Exception as error:  # told by the thread that asks
            self._error = error

    def _write(self) -> None:
        with self._changing:
            pending, self._pending = self._pending, []
        by_process: dict[str, list[tuple[Result, Entry]]] = {}
        for result, entry in pending:
            by_process.setdefault(result.process, []).append((result, entry))
        for process, answered in by_process.items():
            if process not in self._sessions:
                self._sessions[process] = self._unused.pop() if self._unused else self._store.session()
            opened = [line for result, _ in answered for line in result.opened]
            self._sessions[process].add({result.key: entry for result, entry in answered}, opened)
