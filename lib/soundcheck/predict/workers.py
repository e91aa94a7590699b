"""A worker: a process that loads one model and asks it about one segment after the other.

``python -m soundcheck.predict.workers`` is started by :mod:`soundcheck.predict.supervised`. It notes before
each step what it is about to do, so that its parent knows what was lost if it hangs or dies, and tells with
an answer which files the model has opened before it.

The first answer is told at once, further ones after :data:`TELL_SECONDS`, together. Those that a process had
not told when it died are asked again.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from soundcheck.common.errors import InputError
from soundcheck.corpora import audio
from soundcheck.models import processes
from soundcheck.models.base import NOT_ASKED, Model, NoAnswer, check_output, reason
from soundcheck.predict import protocol
from soundcheck.predict.opened_files import Watch
from soundcheck.predict.protocol import Call, Item, Result, Setup, Unit

SAME = 1e-6  # of its peak by which a signal may differ that a change has left as it was: rounding
TELL_SECONDS = 0.02  # between two times that answers are told: what may be lost of a process that dies


class _Pending(NamedTuple):
    """A signal that waits for its batch to be full; its number in the unit, and what it took to make it."""

    number: int
    call: Call
    signal: np.ndarray
    drawn: dict[str, Any]
    seconds: float


class Worker:
    """One model, ready to be asked.

    Parameters
    ----------
    connection
        To the parent.
    setup
        What to load.
    model
        The loaded model.
    watch
        Knows which files it has opened.
    place
        Where it notes what it does.
    """

    def __init__(
        self, connection: Connection, setup: Setup, model: Model, watch: Watch, place: protocol.Place
    ) -> None:
        self._connection, self._place = connection, place
        self._setup = setup
        self._model = model
        self._watch = watch
        self._tasks = [setup.suite.tasks[name] for name in setup.entry.tasks]
        self._results: list[Result] = []  # that are not told yet
        self._due = 0.0  # when to tell them
        self._took = 0.0  # seconds of the last call
        self._process = secrets.token_hex(8)

    def work(self, unit: Unit) -> None:
        """Answer all calls of a unit.

        Batches are cut where they would be if all signals were usable: which signals the model gets together
        does not depend on where units begin and end.
        """
        size = 1 if unit.alone else self._setup.entry.batch or 1
        pending: list[_Pending] = []
        for number, prepared in enumerate(self._prepare(unit), 1):
            if prepared is not None:
                pending.append(prepared)
            if pending and number % size == 0:
                self._ask(pending)
                pending = []
        if pending:
            self._ask(pending)
        self._place.enter(protocol.IDLE)
        self._tell(protocol.DONE)

    def _prepare(self, unit: Unit) -> Iterator[_Pending | None]:
        """Give the signal of each call; ``None`` if there is none."""
        number = 0
        for item in unit.items:
            self._enter(protocol.READING, number, number + len(item.calls))
            begin = time.monotonic()
            try:
                with self._watch.aside():
                    signal = audio.read(item.path, item.start, item.end)
            except Exception as error:
                self._unusable(item, item.calls, "the audio cannot be read", error)
                yield from [None] * len(item.calls)
                number += len(item.calls)
                continue
            reading = time.monotonic() - begin
            for call in item.calls:
                with self._watch.aside():
                    prepared = self._change(item, number, call, signal, reading)
                yield prepared
                number += 1

    def _change(
        self, item: Item, number: int, call: Call, signal: np.ndarray, reading: float
    ) -> _Pending | None:
        if call.change is None:
            return _Pending(number, call, signal, {}, reading)
        from soundcheck.augment import registry  # late: loading all transforms takes half a second

        self._enter(protocol.CHANGING, number, number + 1)
        change = self._setup.changes[call.change]
        try:
            for _ in range(2 if self._setup.rehearsed else 1):
                begin = time.monotonic()
                changed, drawn = registry.apply(
                    change,
                    signal,
                    audio.SAMPLING_RATE,
                    seed=self._setup.suite.seed,
                    content=item.content,
                    sounds=self._setup.sounds,
                )
        except Exception as error:
            self._unusable(item, [call], f"the change {change.name} cannot be applied", error)
            return None
        drawn = {name: _plain(value) for name, value in drawn.items()}
        if len(changed) == len(signal) and not (np.abs(changed - signal) > SAME * np.abs(signal).max()).any():
            drawn["unchanged"] = True
        return _Pending(number, call, changed, drawn, time.monotonic() - begin)

    def _ask(self, pending: list[_Pending]) -> None:
        """Ask the model once about all pending signals; if that fails, about each alone."""
        self._enter(protocol.CALLING, pending[0].number, pending[-1].number + 1)
        begin = time.monotonic()
        try:
            outputs = self._model.predict([one.signal for one in pending], audio.SAMPLING_RATE)
            if len(outputs) != len(pending):
                raise ValueError(f"the model returned {len(outputs)} answers for {len(pending)} signals")
            checked = [(*check_output(output, self._tasks), _rest(output)) for output in outputs]
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a model end nothing but its call
            traceback.print_exc()
            if len(pending) > 1:
                for one in pending:
                    self._ask([one])
                return
            checked = [({}, reason(error, self._setup.suite.root), "")]
        self._took = time.monotonic() - begin
        for one, (answer, problem, rest) in zip(pending, checked, strict=True):
            opened = () if problem else self._watch.news()  # what fails is not kept
            told = {"opened": opened, "process": self._process, "rest": rest, "seconds": self._took}
            self._results.append(Result(one.call.key, answer, one.drawn, problem, before=one.seconds, **told))

    def _unusable(self, item: Item, calls: Sequence[Call], what: str, error: Exception) -> None:
        traceback.print_exc()
        text = reason(error, self._setup.suite.root, os.path.dirname(item.path))
        if isinstance(error, ValueError | InputError):  # our own words
            text = text.removeprefix(f"{type(error).__name__}: ")
        problem = f"{NOT_ASKED}: {what}: {text}"
        self._results += [Result(call.key, problem=problem, fault=protocol.BY_SIGNAL) for call in calls]

    def _enter(self, step: str, first: int, end: int) -> None:
        if self._results and time.monotonic() >= self._due:
            self._tell(protocol.TOLD)
        self._place.enter(step, first, end)

    def _tell(self, word: str) -> None:
        self._connection.send((word, self._results, self._took))
        if self._took:
            self._due = time.monotonic() + TELL_SECONDS
        self._results, self._took = [], 0.0


def _rest(output: object) -> str:
    return output.rest if isinstance(output, NoAnswer) else ""


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _watch(setup: Setup) -> Watch:
    """Listen to what is opened from now on."""
    watch = Watch(setup.suite.root, setup.ignored)
    watch.add(setup.kind.named_files(setup.entry, setup.suite))
    watch.start()
    return watch


def main() -> None:
    """Work for the parent."""
    serve(processes.connect())


def serve(connection: Connection) -> None:
    """Load the model and work until the parent hangs up."""
    try:
        setup: Setup = connection.recv()
    except EOFError:
        return
    try:
        watch = _watch(setup)
        begin = time.monotonic()
        model = setup.kind.load(setup.entry, setup.suite)
    except InputError as error:
        traceback.print_exc()
        problem = error.problems[0]
        connection.send((protocol.REFUSED, problem.what))
        return
    except BaseException as error:  # an adapter's own failure must not look like a dead process
        traceback.print_exc()
        connection.send((protocol.REFUSED, reason(error, setup.suite.root)))
        return
    worker = Worker(connection, setup, model, watch, protocol.Place(processes.shared()))
    connection.send((protocol.READY, time.monotonic() - begin))
    while True:
        try:
            unit = connection.recv()
        except EOFError:
            return
        worker.work(unit)


if __name__ == "__main__":
    sys.exit(main())
