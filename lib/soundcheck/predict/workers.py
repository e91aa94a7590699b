"""Processes that hold a model each: what they are asked, what runs in them, and how they are kept running.

A *call* is one question to the model: one signal, clean or changed. Its *key* is the digest of everything
that the answer depends on. A process gets units of calls and sends back tuples that begin with one of the
words below. What it is about to do it writes to memory that its parent sees, because a message for each step
would take longer than many a model.

A model may raise, hang inside C code, kill its process or fill the terminal. What it has answered survives,
what it was doing is known, and its process is killed, with all that it has started, and replaced.

Conventions
-----------
- Processes start as :mod:`soundcheck.models.processes` says.
- A call that takes longer than the model's time limit is lost, and its process killed by its parent, which
  needs nothing of it for that. The first call of a process may take longer, because many models load
  themselves only then.
- Each answer says which files the model has opened before it. The first answer is sent at once, further ones
  after :data:`SEND_SECONDS`, together. What was not sent when a process died is predicted again.
- Nothing here knows which units there are; :mod:`soundcheck.predict.prediction` decides what is tried again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterator, MutableSequence, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from soundcheck.augment.sounds import Sounds
from soundcheck.common.messages import InputError
from soundcheck.corpora import audio
from soundcheck.models import processes
from soundcheck.models.answers import NOT_ASKED, NoAnswer, check_output
from soundcheck.models.base import Model, reason
from soundcheck.predict.same_model import Opened, Watch
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.families import Perturbation

READY = "ready"  # the model is loaded; + no results, + seconds that it took
REFUSED = "refused"  # + why the model cannot be loaded, + 0
RESULTS = "results"  # + results, + seconds of the last call, 0 if there was none
DONE = "done"  # the same: nothing is left to do in the unit

IDLE, READING, CHANGING, CALLING = range(4)  # steps of a process; STARTING until it has loaded the model
STARTING = -1

BY_MODEL, BY_SIGNAL = "model", "signal"  # whose fault a missing answer is


class Excerpt(NamedTuple):
    """What is heard of an audio file."""

    path: str  # absolute
    start: float | None  # seconds; None = from the beginning, to the end
    end: float | None
    content: str  # digest of the audio, which seeds random changes


class Call(NamedTuple):
    """One question: its key, and the number of the change in :attr:`Setup.changes`; ``None`` = clean."""

    key: str
    change: int | None
    excerpt: Excerpt


@dataclasses.dataclass(frozen=True)
class Unit:
    """What a process gets at a time; ``one_by_one`` = the model gets each signal alone."""

    calls: tuple[Call, ...]
    one_by_one: bool = False

    @property
    def keys(self) -> list[str]:
        """The keys of all calls, in their order."""
        return [call.key for call in self.calls]

    def only(self, keys: Collection[str]) -> Unit:
        """Give the part with some calls."""
        return dataclasses.replace(self, calls=tuple(call for call in self.calls if call.key in keys))

    def pieces(self, size: int) -> list[Unit]:
        """Cut into units of so many calls."""
        starts = range(0, len(self.calls), size)
        return [dataclasses.replace(self, calls=self.calls[start : start + size]) for start in starts]


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a process has to know once."""

    entry: ModelEntry  # the model to load
    suite: Suite
    kind: type[Model]  # whoever looks it up by its keyword imports all kinds
    changes: tuple[Perturbation, ...]  # numbered by their place
    sounds: Sounds  # noises and impulse responses that changes draw from
    # folders of Soundcheck's own files: what a model opens there is not its own
    ignored: tuple[str, ...] = ()
    warm_up: bool = False  # whether each signal is changed twice: the first time loads, the second is timed


@dataclasses.dataclass(frozen=True)
class Result:
    """The answer to a call, or why there is none."""

    key: str
    answer: dict[str, float | str] = dataclasses.field(default_factory=dict)  # empty if there is a problem
    drawn: dict[str, Any] = dataclasses.field(default_factory=dict)  # options that were drawn for the change
    problem: str = ""  # why there is no answer
    fault: str = BY_MODEL
    opened: Sequence[Opened] = ()  # files since the last answer of the process
    refusal: str = ""  # why the model has no answer to any further call
    seconds: float = 0.0  # of the model's call, all signals of a batch together
    before: float = 0.0  # seconds that it took to change the signal; of a clean one, to read it


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a unit; without a problem all of it is answered."""

    seconds: float = 0.0  # that it took, without loading the model
    problem: str = ""  # how the process ended, or why it did not begin
    step: int = CALLING  # what it was doing then
    timed_out: bool = False  # whether it took too long, and was killed for it
    lost: tuple[str, ...] = ()  # keys of the calls that it was about


# In the process of a model ----------------------------------------------------------------------------------


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
        self._enter(IDLE, 0, 0)
        self._send(DONE)

    def _prepare(self, unit: Unit) -> Iterator[_Pending | None]:
        """Give the signal of each call; ``None`` if there is none."""
        end = 0  # number behind the last call about an excerpt, which is read once for all of them
        for excerpt, group in itertools.groupby(unit.calls, lambda call: call.excerpt):
            calls = list(group)
            first, end = end, end + len(calls)
            self._enter(READING, first, end)
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

        self._enter(CHANGING, clean.number, clean.number + 1)
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
        self._enter(CALLING, pending[0].number, pending[-1].number + 1)
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
        self._results += [Result(call.key, problem=problem, fault=BY_SIGNAL) for call in calls]

    def _enter(self, step: int, first: int, end: int) -> None:
        if step != IDLE and self._results and time.monotonic() >= self._due:
            self._send(RESULTS)
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
        connection.send((REFUSED, why, 0.0))
        return
    present = Worker(connection, setup, model, watch, place)
    connection.send((READY, [], time.monotonic() - begin))
    with contextlib.suppress(EOFError):
        while connection.poll(idle):
            present.work(connection.recv())


# On the side of the run -------------------------------------------------------------------------------------


STEP_SECONDS = 600.0  # for loading the model, as long as its check may take, or reading or changing a signal
LOADING_SECONDS = 60.0  # on top of the time limit of a first call, but not more than ...
LOADING_SHARE = 5.0  # ... this many time limits
END_SECONDS = 5.0  # for a process to end when there is nothing left to do
TICK_SECONDS = 0.2  # how often one looks whether all is to be stopped
LOG_BYTES = 1_000_000  # of a model's output that are kept
STOPPED = "stopped"
_WHILE = {READING: "reading the audio", CHANGING: "changing the signal"}

Emit = Callable[[list[Result]], None]


class Log:
    """Writes the output of a process and of its replacements to a file, up to a limit."""

    def __init__(self, path: Path) -> None:
        self._path, self._left = path, LOG_BYTES
        path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Append what was printed; a log that cannot be written stops nothing."""
        if self._left <= 0:
            return
        written = data[: self._left]
        self._left -= len(data)
        if self._left <= 0:
            written += b"\n... the rest of the output was left out\n"
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "ab") as file:
                file.write(written)


class ModelProcess:
    """A model in a child process, which is started when there is a unit, and replaced when it is lost."""

    def __init__(
        self,
        setup: Setup,
        cache: Path,  # folder where models may keep things
        log: Callable[[bytes], None],  # takes what the process prints
        stopped: Callable[[], bool] = lambda: False,  # whether to kill it; looked at a few times a second
        idle: float | None = None,  # seconds without a unit after which it ends by itself
    ) -> None:
        self._setup, self._environment = setup, processes.environment(cache)
        self._log, self._stopped, self._idle = log, stopped, idle
        self._limit = setup.entry.time_limit
        self._loading = min(LOADING_SECONDS, LOADING_SHARE * self._limit)
        self._called = False  # whether a call has ever ended
        self._process: BaseProcess | None = None
        self.load_seconds = 0.0  # that the present process took to load the model

    @property
    def process_id(self) -> int | None:
        """Number of the present process; ``None`` if there is none."""
        return None if self._process is None else self._process.pid

    def answer(self, unit: Unit, emit: Emit) -> Outcome:
        """Answer a unit, as far as the process lives; an empty list says that the model is loaded."""
        if self._process is None or not self._process.is_alive():
            self._start()
        else:
            self._send(unit)
        left = dict.fromkeys(unit.keys)
        begin = self._since = time.monotonic()
        while not self._stopped():
            seconds = self._time_left()
            messages, ended = self._listen(min(TICK_SECONDS, max(0.0, seconds)))
            for word, content, took in messages:
                if word == REFUSED:
                    self.end()
                    return Outcome(problem=content, step=STARTING)
                emit(content)
                for result in content:
                    left.pop(result.key, None)
                if word == READY:
                    self._ready, self.load_seconds = True, took
                    begin = self._since = time.monotonic()
                    self._send(unit)
                elif took:
                    self._called, self._first = True, False
                if word == DONE:
                    return Outcome(time.monotonic() - begin)
            timed_out = seconds < 0 and not messages
            if ended or timed_out:
                return self._lost(unit, left, timed_out, time.monotonic() - begin)
        self.end()
        return Outcome(problem=STOPPED)

    def end(self, *, politely: bool = False) -> str:
        """Kill the process and all that it has started, unless it ends by itself; says how it ended."""
        if self._process is None:
            return ""
        self._close(self._connection)
        deadline = time.monotonic() + (END_SECONDS if politely else 0)
        while self._process.is_alive() and time.monotonic() < deadline:
            self._listen(0.02)
        processes.kill(self._process)
        self._listen(0)
        self._close(self._output)
        ending = processes.ending(self._process.exitcode)
        self._process = None
        return ending

    def _start(self) -> None:
        """Start a process in the place of the one that is gone."""
        self.end()
        context = processes.context()
        self._connection, theirs = context.Pipe()
        self._output, printed = context.Pipe(duplex=False)
        os.set_blocking(self._output.fileno(), False)
        self._channels = [self._connection, self._output]
        self._place = context.RawArray("d", 4)
        arguments = (theirs, printed, self._place, self._environment, self._idle)
        self._process = processes.start(serve, arguments, self._environment)
        theirs.close()
        printed.close()
        self._ready, self._first = False, True
        self._send(self._setup)

    def _send(self, message: object) -> None:
        with contextlib.suppress(OSError):  # it has just died
            self._connection.send(message)

    def _listen(self, seconds: float) -> tuple[list[tuple], bool]:
        """Wait for something to happen; gives messages, and whether there will not be others."""
        messages: list[tuple] = []
        ready = wait([self._process.sentinel, *self._channels], seconds)
        if self._output in ready:
            with contextlib.suppress(BlockingIOError):
                while data := os.read(self._output.fileno(), 65536):
                    self._log(data)
                self._close(self._output)
        try:
            while self._connection in self._channels and self._connection.poll():
                messages.append(self._connection.recv())
        except (EOFError, OSError):
            self._close(self._connection)
        return messages, self._process.sentinel in ready or self._connection not in self._channels

    def _close(self, channel: Connection) -> None:
        if channel in self._channels:
            self._channels.remove(channel)
            channel.close()

    def _now(self) -> tuple[int, slice, float]:
        """Give the step of the process, the calls that are lost if it fails, and when it began."""
        since, first, end, step = self._place
        if not self._ready:
            return STARTING, slice(0), self._since
        return int(step), slice(int(first), int(end)), max(since, self._since)

    def _time_left(self) -> float:
        """Give the seconds that the present step may still take."""
        step, _, since = self._now()
        allowed = STEP_SECONDS
        if step == CALLING:
            allowed = self._limit + (self._loading if self._first else 0.0)
        return since + allowed - time.monotonic()

    def _lost(self, unit: Unit, left: dict[str, None], timed_out: bool, seconds: float) -> Outcome:
        """End the process, and say what it was doing."""
        step, calls, _ = self._now()
        if not timed_out:
            self._process.join(1.0)
        ending = self.end()
        if step == STARTING:
            within = f"loading the model did not end within {STEP_SECONDS:g} s"
            died = f"the process ended while the model was loaded ({ending})"
            return Outcome(seconds, within if timed_out else died, step, timed_out)
        lost = [key for key in unit.keys[calls] if key in left]
        if step == IDLE:  # if it never got as far as a call: charge the first one
            step, lost = CALLING, [*left][: int(self._first)]
        calling = step == CALLING
        if timed_out and calling and not self._called:
            self._loading = 0.0  # it was not the loading
        if timed_out:
            within = f"did not end within {STEP_SECONDS:g} s"
            problem = f"no answer within {self._limit:g} s" if calling else f"{_WHILE[step]} {within}"
        else:
            what = "the model's process ended" if calling else f"the process ended while {_WHILE[step]}"
            problem = f"{what} ({ending})"
        return Outcome(seconds, problem, step, timed_out, tuple(lost))


class LocalExecutor:
    """Answers units in threads, each with a process of the model.

    Leaving its block ends all processes: by themselves after the work, at once after an error.
    """

    def __init__(
        self,
        setup: Setup,
        jobs: int,
        cache: Path,
        log: Callable[[int], Callable[[bytes], None]],  # gives what takes the output of the n-th process
        idle: float | None = None,
    ) -> None:
        self.count = max(1, jobs)
        self._stopped = threading.Event()
        self._all = [
            ModelProcess(setup, cache, log(number), self._stopped.is_set, idle)
            for number in range(1, self.count + 1)
        ]
        self._free = self._all[::-1]  # those that have begun come first
        self._threads = ThreadPoolExecutor(self.count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type | None, *_: object) -> None:
        if error is not None:
            self.stop()
        self._threads.shutdown(cancel_futures=error is not None)
        with ThreadPoolExecutor(self.count) as pool:
            for process in self._all:
                pool.submit(process.end, politely=error is None)

    def submit(self, unit: Unit, emit: Emit) -> Future[Outcome]:
        """Answer a unit; results are emitted by its thread at once."""
        return self._threads.submit(self._answer, unit, emit)

    def stop(self) -> None:
        """Kill all processes soon, and start no others."""
        self._stopped.set()

    def _answer(self, unit: Unit, emit: Emit) -> Outcome:
        if self._stopped.is_set():
            return Outcome(problem=STOPPED)
        process = self._free.pop()
        try:
            return process.answer(unit, emit)
        finally:
            self._free.append(process)
