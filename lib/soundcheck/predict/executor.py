"""Answers units in processes of this machine, each of which loads the model once.

A model may raise, hang inside C code, kill its process or fill the terminal. What it has answered survives,
what it was doing is known, and its process is killed, with all that it has started, and replaced.

Conventions
-----------
- Processes start as :mod:`soundcheck.models.processes` says.
- A call that takes longer than the model's time limit is lost, and its process killed by its parent, which
  needs nothing of it for that. The first call of a process may take longer, because many models load
  themselves only then.
- Nothing here knows which units there are; :mod:`soundcheck.predict.dispatch` decides what is tried again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self

from soundcheck.models import processes
from soundcheck.predict import protocol, worker
from soundcheck.predict.protocol import Outcome, Result, Setup, Unit

STEP_SECONDS = 600.0  # for loading the model, as long as its check may take, or reading or changing a signal
LOADING_SECONDS = 60.0  # on top of the time limit of a first call, but not more than ...
LOADING_SHARE = 5.0  # ... this many time limits
END_SECONDS = 5.0  # for a process to end when there is nothing left to do
TICK_SECONDS = 0.2  # how often one looks whether all is to be stopped
LOG_BYTES = 1_000_000  # of a model's output that are kept
STOPPED = "stopped"
_WHILE = {protocol.READING: "reading the audio", protocol.CHANGING: "changing the signal"}

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
                if word == protocol.REFUSED:
                    self.end()
                    return Outcome(problem=content, step=protocol.STARTING)
                emit(content)
                for result in content:
                    left.pop(result.key, None)
                if word == protocol.READY:
                    self._ready, self.load_seconds = True, took
                    begin = self._since = time.monotonic()
                    self._send(unit)
                elif took:
                    self._called, self._first = True, False
                if word == protocol.DONE:
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
        self._process = processes.start(worker.serve, arguments, self._environment)
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
            return protocol.STARTING, slice(0), self._since
        return int(step), slice(int(first), int(end)), max(since, self._since)

    def _time_left(self) -> float:
        """Give the seconds that the present step may still take."""
        step, _, since = self._now()
        allowed = STEP_SECONDS
        if step == protocol.CALLING:
            allowed = self._limit + (self._loading if self._first else 0.0)
        return since + allowed - time.monotonic()

    def _lost(self, unit: Unit, left: dict[str, None], timed_out: bool, seconds: float) -> Outcome:
        """End the process, and say what it was doing."""
        step, calls, _ = self._now()
        if not timed_out:
            self._process.join(1.0)
        ending = self.end()
        if step == protocol.STARTING:
            within = f"loading the model did not end within {STEP_SECONDS:g} s"
            died = f"the process ended while the model was loaded ({ending})"
            return Outcome(seconds, within if timed_out else died, step, timed_out)
        lost = [key for key in unit.keys[calls] if key in left]
        if step == protocol.IDLE:  # if it never got as far as a call: charge the first one
            step, lost = protocol.CALLING, [*left][: int(self._first)]
        calling = step == protocol.CALLING
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
