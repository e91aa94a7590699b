"""What runs in the process of a model: loads it, then reads and changes signals and calls it.

Before each step the process notes what it is about to do, so that its parent knows what was lost if it hangs
or dies; each answer says which files the model has opened before it. The first answer is sent at once,
further ones after :data:`SEND_SECONDS`, together. What was not sent when a process died is predicted again.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
import traceback
from collections.abc import Iterator, MutableSequence, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from soundcheck.common.messages import InputError
from soundcheck.corpora import audio
from soundcheck.models import processes
from soundcheck.models.answers import NOT_ASKED, NoAnswer, check_output
from soundcheck.models.base import Model, reason
from soundcheck.predict import protocol
from soundcheck.predict.protocol import Call, Result, Setup, Unit
from soundcheck.predict.same_model import Watch

SAME = 1e-6  # of its peak by which a signal may differ that a change has left as it was: rounding
SEND_SECONDS = 0.02  # between two times that answers are sent: what may be lost of a process that dies


class _Pending(NamedTuple):
    """A signal that waits for its batch to be full."""

    number: int  # in the unit
    call: Call
    signal: np.ndarray
    drawn: dict[str, Any]
    seconds: float  # that it took to make


class Worker:
    """One model, ready to be called; ``place`` gets since when, first and last call, and step."""

    def __init__(
        self,
        connection: Connection,
        setup: Setup,
        model: Model,
        watch: Watch,
        place: MutableSequence[float],
    ) -> None:
        self._connection, self._place = connection, place
        self._setup, self._model, self._watch = setup, model, watch
        self._tasks = setup.suite.tasks_of(setup.entry)
        self._results: list[Result] = []  # that are not sent yet
        self._due = 0.0  # when to send them
        self._took = 0.0  # seconds of the last call

    def work(self, unit: Unit) -> None:
        """Answer all calls of a unit.

        Batches are cut where they would be if all signals were usable: which signals the model gets together
        does not depend on where units begin and end.
        """
        size = 1 if unit.one_by_one else self._setup.entry.batch or 1
        pending: list[_Pending] = []
        for number, prepared in enumerate(self._prepare(unit), 1):
            if prepared is not None:
                pending.append(prepared)
            if pending and number % size == 0:
                self._call(pending)
                pending = []
        if pending:
            self._call(pending)
        self._enter(protocol.IDLE, 0, 0)
        self._send(protocol.DONE)

    def _prepare(self, unit: Unit) -> Iterator[_Pending | None]:
        """Give the signal of each call; ``None`` if there is none."""
        end = 0  # number behind the last call about an excerpt, which is read once for all of them
        for excerpt, group in itertools.groupby(unit.calls, lambda call: call.excerpt):
            calls = list(group)
            first, end = end, end + len(calls)
            self._enter(protocol.READING, first, end)
            begin = time.monotonic()
            try:
                with self._watch.paused():
                    signal = audio.read(excerpt.path, excerpt.start, excerpt.end)
            except Exception as error:
                self._unusable(calls, "the audio cannot be read", error)
                yield from [None] * len(calls)
                continue
            reading = time.monotonic() - begin
            for number, call in enumerate(calls, first):
                pending = _Pending(number, call, signal, {}, reading)
                if call.change is not None:
                    with self._watch.paused():
                        pending = self._changed(pending)
                yield pending

    def _changed(self, clean: _Pending) -> _Pending | None:
        from soundcheck.augment import registry  # late: loading all transforms takes half a second

        self._enter(protocol.CHANGING, clean.number, clean.number + 1)
        change, signal = self._setup.changes[clean.call.change], clean.signal
        try:
            for _ in range(2 if self._setup.warm_up else 1):
                begin = time.monotonic()
                changed, drawn = registry.apply(
                    change,
                    signal,
                    audio.SAMPLING_RATE,
                    seed=self._setup.suite.seed,
                    content=clean.call.excerpt.content,
                    sounds=self._setup.sounds,
                )
        except Exception as error:
            self._unusable([clean.call], f"the change {change.name} cannot be applied", error)
            return None
        drawn = {n: value.item() if isinstance(value, np.generic) else value for n, value in drawn.items()}
        if len(changed) == len(signal) and not (np.abs(changed - signal) > SAME * np.abs(signal).max()).any():
            drawn["unchanged"] = True
        return clean._replace(signal=changed, drawn=drawn, seconds=time.monotonic() - begin)

    def _call(self, pending: list[_Pending]) -> None:
        """Call the model once with all pending signals; if that fails, with each alone."""
        self._enter(protocol.CALLING, pending[0].number, pending[-1].number + 1)
        begin = time.monotonic()
        try:
            outputs = self._model.predict([waiting.signal for waiting in pending], audio.SAMPLING_RATE)
            if len(outputs) != len(pending):
                raise ValueError(f"the model returned {len(outputs)} predictions for {len(pending)} signals")
            checked = [
                (*check_output(output, self._tasks), output.rest if isinstance(output, NoAnswer) else "")
                for output in outputs
            ]
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a model end nothing but its call
            traceback.print_exc()
            if len(pending) > 1:
                for waiting in pending:
                    self._call([waiting])
                return
            checked = [({}, reason(error, self._setup.suite.root), "")]
        self._took = time.monotonic() - begin
        for waiting, (answer, problem, rest) in zip(pending, checked, strict=True):
            opened = () if problem else self._watch.drain()  # what fails is not recorded
            more = {"opened": opened, "refusal": rest, "seconds": self._took, "before": waiting.seconds}
            self._results.append(Result(waiting.call.key, answer, waiting.drawn, problem, **more))

    def _unusable(self, calls: Sequence[Call], what: str, error: Exception) -> None:
        traceback.print_exc()
        text = reason(error, self._setup.suite.root, os.path.dirname(calls[0].excerpt.path))
        if isinstance(error, ValueError | InputError):  # our own words
            text = text.removeprefix(f"{type(error).__name__}: ")
        problem = f"{NOT_ASKED}: {what}: {text}"
        self._results += [Result(call.key, problem=problem, fault=protocol.BY_SIGNAL) for call in calls]

    def _enter(self, step: int, first: int, end: int) -> None:
        if step != protocol.IDLE and self._results and time.monotonic() >= self._due:
            self._send(protocol.RESULTS)
        self._place[0] = time.monotonic()  # first, so that nobody takes an old time for that of a new step
        self._place[1:4] = [first, end, step]

    def _send(self, word: str) -> None:
        self._connection.send((word, self._results, self._took))
        if self._took:
            self._due = time.monotonic() + SEND_SECONDS
        self._results, self._took = [], 0.0


def serve(
    connection: Connection,
    output: Connection,
    place: MutableSequence[float],
    environment: dict[str, str],
    idle: float | None,
) -> None:
    """Load the model and work, until the run hangs up or nothing comes for ``idle`` seconds."""
    processes.detach(environment, output.fileno())
    setup: Setup = connection.recv()
    try:
        watch = Watch(setup.suite.root, setup.ignored)  # listens to what is opened from now on
        watch.add(setup.kind.named_files(setup.entry, setup.suite))
        watch.start()
        begin = time.monotonic()
        model = setup.kind.load(setup.entry, setup.suite)
    except BaseException as error:  # an adapter's own failure must not look like a dead process
        traceback.print_exc()
        known = isinstance(error, InputError)
        why = error.problems[0].what if known else reason(error, setup.suite.root)
        connection.send((protocol.REFUSED, why, 0.0))
        return
    worker = Worker(connection, setup, model, watch, place)
    connection.send((protocol.READY, [], time.monotonic() - begin))
    with contextlib.suppress(EOFError):
        while connection.poll(idle):
            worker.work(connection.recv())
