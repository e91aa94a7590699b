"""One model in one child process: asked, watched, killed and replaced.

A model may raise, hang inside C code, kill its process or fill the terminal. What it has answered survives,
and what it was doing is known.

Conventions
-----------
- A call that takes longer than the model's time limit is lost, and its process killed. The first call of a
  process may take longer, because many models load themselves only then.
- Nothing here knows which units there are; :mod:`soundcheck.predict.dispatch` decides what is tried again.
- The process is one of ours (:class:`soundcheck.models.processes.Child`), not one of Pebble or loky. Theirs
  limit a whole task, so that nobody knows which call of a unit hung; they kill the process but not what it
  has started, such as the program of a ``command:`` model; what it prints goes to the terminal; and workers
  of a cluster, which are daemons, may not start them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from soundcheck.models import processes
from soundcheck.predict import protocol
from soundcheck.predict.protocol import Answered, Loss, Result, Setup, Unit

MODULE = "soundcheck.predict.workers"
START_SECONDS = 180.0  # for starting Python and importing the model, on a busy machine
STEP_SECONDS = 600.0  # for reading or changing a signal
LOADING_SECONDS = 60.0  # on top of the time limit of a first call, but not more than ...
LOADING_SHARE = 5.0  # ... this many time limits
END_SECONDS = 5.0  # for a process to end when there is nothing left to do
TICK_SECONDS = 0.2  # how often a process is looked at that says nothing
DRAINED = 16  # times that output is read before messages are listened to
LOG_BYTES = 1_000_000  # of a model's output that are kept
_WHILE = {protocol.READING: "reading the audio", protocol.CHANGING: "changing the signal"}


class Log:
    """Takes the output of a process and of its replacements, up to a limit.

    Parameters
    ----------
    make
        Opens what the output is written to; called when there is some.
    """

    def __init__(self, make: Callable[[], BinaryIO]) -> None:
        self._make = make
        self._file: BinaryIO | None = None
        self._left = LOG_BYTES

    def write(self, data: bytes) -> None:
        """Append what was printed."""
        if self._left <= 0 or not data:
            return
        with contextlib.suppress(OSError):  # a log that cannot be written stops nothing
            if self._file is None:
                self._file = self._make()
            self._file.write(data[: self._left])
            self._left -= len(data)
            if self._left <= 0:
                self._file.write(b"\n... the rest of the output was left out\n")
            self._file.flush()

    def close(self) -> None:
        """Write nothing more."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()

    @classmethod
    def file(cls, path: Path) -> Log:
        """Make one that writes a file."""

        def make() -> BinaryIO:
            path.parent.mkdir(parents=True, exist_ok=True)
            return open(path, "wb")

        return cls(make)


class Supervised:
    """A model in a child process, which is started when there is something to ask, and replaced when lost.

    Parameters
    ----------
    setup
        For the process.
    cache
        Folder where models may keep things.
    log
        Takes what the process prints.
    stopped
        Whether the process is to be killed whatever it does; asked a few times a second.
    ready
        A process that has checked the model, it goes on in place of
        the first one.

    Attributes
    ----------
    load_seconds
        That the present process took to load the model; 0 until it has.
    """

    load_seconds = 0.0

    def __init__(
        self,
        setup: Setup,
        cache: Path,
        log: Callable[[bytes], None],
        stopped: Callable[[], bool] = lambda: False,
        ready: processes.Child | None = None,
    ) -> None:
        self._setup, self._cache, self._log, self._stopped = setup, cache, log, stopped
        self._ready = ready
        self._limit = setup.entry.time_limit
        self._loading = min(LOADING_SECONDS, LOADING_SHARE * self._limit)
        self._loaded = False  # whether a first call has ever been answered
        self._child: processes.Child | None = None

    def answer(self, unit: Unit, tell: Callable[[list[Result]], None]) -> Answered:
        """Answer a unit, as far as the process lives.

        Parameters
        ----------
        unit
            What to ask.
        tell
            Called with results as soon as there are some, and with an empty list when the model is loaded.
        """
        if self._stopped():
            return Answered(Loss(protocol.CALLING, "", True, unit.only(()), unit))
        if self._child is None or self._child.gone():
            self._start()
        self._keys, self._tell, self._done = unit.keys, tell, False
        self._left = dict.fromkeys(self._keys)
        asked = False
        begin = 0.0
        while not self._done:
            if self._ready_since and not asked:
                asked = True
                begin = self._ready_since = time.monotonic()
                self._send(unit)
            self._listen()
            late = self._time_left() < 0
            if late:  # perhaps the answer has just come
                self._receive()
                late = not self._done and self._time_left() < 0
            if self._stopped():
                self._end(late=True)
                rest = unit.only(self._left)
                return Answered(Loss(protocol.CALLING, "", True, unit.only(()), rest))
            if not self._done and (late or self._hung_up or self._gone()):
                loss = self._lose(unit, late)
                return Answered(loss, time.monotonic() - begin)
        return Answered(None, time.monotonic() - begin)

    @property
    def process_id(self) -> int | None:
        """Number of the present process; ``None`` if there is none."""
        return None if self._child is None else self._child.process.pid

    def dismiss(self, wait: bool = True) -> None:
        """Let the process end by itself, for a moment."""
        if self._child is None:
            return
        self._unregister(self._child.connection)
        self._child.connection.close()
        if wait:
            end = time.monotonic() + END_SECONDS
            while not self._child.wait(0.02) and time.monotonic() < end:
                self._drain()
            self._end(late=True)

    def _start(self) -> None:
        """Start a process in the place of the one that is gone."""
        self._end(late=True)
        ready, self._ready = self._ready, None
        if ready is not None and ready.gone():
            ready.kill()
            ready = None
        self._child = ready or processes.Child(MODULE, cache=self._cache, output=processes.CAPTURED)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._child.connection, selectors.EVENT_READ)
        self._selector.register(self._child.output, selectors.EVENT_READ)
        self._first = True  # no call has ended yet
        self._hung_up, self._looked = False, 0.0
        self._unable = ""  # why it cannot load the model
        self._place = protocol.Place(self._child.shared)
        self._started, self._ready_since = time.monotonic(), 0.0
        if ready is not None:
            self._send(MODULE)  # with which it is to go on
        self._send(self._setup)

    def _send(self, message: object) -> None:
        try:
            self._child.connection.send(message)
        except OSError:  # it has just died
            self._hung_up = True

    def _now(self) -> tuple[str, list[str], float]:
        """Give the step of the process, the keys that are lost if it fails, and when it began."""
        if not self._ready_since:
            return protocol.STARTING, [], self._started
        step, calls, since = self._place.read()
        if step == protocol.IDLE:
            return step, [], self._ready_since
        return step, self._keys[calls], since

    def _time_left(self) -> float:
        """Give the seconds that the present step may still take, and remember which step that was."""
        self._at = step, _, since = self._now()
        allowed = START_SECONDS if step == protocol.STARTING else STEP_SECONDS
        if step == protocol.CALLING:
            allowed = self._limit + (self._loading if self._first else 0.0)
        return since + allowed - time.monotonic()

    # listening

    def _listen(self) -> None:
        """Take the next message, and what was printed; waits for a moment if there is nothing."""
        for key, _ in self._selector.select(min(TICK_SECONDS, max(0.0, self._time_left()))):
            if key.fileobj is self._child.connection:
                self._receive(ready=True)
            else:
                self._drain()

    def _receive(self, ready: bool = False) -> None:
        """Take all messages that the process has sent; if one is known to be there, only that."""
        try:
            while not self._hung_up and (ready or self._child.connection.poll()):
                self._take(*self._child.connection.recv())
                if ready:
                    return
        except (EOFError, OSError):
            self._hung_up = True
            self._unregister(self._child.connection)

    def _take(self, word: str, *content: object) -> None:
        if word in (protocol.TOLD, protocol.DONE):
            results, seconds = content
            if results:
                self._finish(results, seconds)
            self._done = word == protocol.DONE
        elif word == protocol.READY:
            self._ready_since = time.monotonic()
            (self.load_seconds,) = content
            self._tell([])
        elif word == protocol.REFUSED:
            self._unable = str(content[0])

    def _finish(self, results: list[Result], seconds: float) -> None:
        """Pass on results; the first call is told alone."""
        if seconds and self._first:
            self._first = False
            # Whoever comes later loads the same model, perhaps on a busier machine.
            taken = 3 * seconds
            self._loading = max(self._loading, taken) if self._loaded else taken
            self._loaded = True
        for result in results:
            self._left.pop(result.key, None)
        self._tell(results)

    def _drain(self) -> None:
        """Take what the process has printed."""
        try:
            for _ in range(DRAINED):
                data = os.read(self._child.output, 65536)
                self._log(data)
                if not data:
                    self._unregister(self._child.output)
                    return
        except OSError:  # there is nothing more at the moment
            return

    def _gone(self) -> bool:
        """Whether the process has ended; looked at now and then, most often the connection tells."""
        now = time.monotonic()
        if now < self._looked + TICK_SECONDS:
            return False
        self._looked = now
        return self._child.gone()

    def _unregister(self, channel: object) -> None:
        with contextlib.suppress(KeyError, ValueError, OSError):  # it was before, or is closed
            self._selector.unregister(channel)

    # ending

    def _end(self, late: bool) -> str:
        """Kill what is left of the process; says how it ended."""
        if self._child is None:
            return ""
        if not late:
            self._child.wait(1.0)
            self._receive()
        self._drain()
        self._selector.close()
        ending = self._child.kill()
        self._child = None
        return ending

    def _lose(self, unit: Unit, late: bool) -> Loss:
        """End the process, and say what it was doing."""
        ending = self._end(late)
        step, doing, _ = self._at if late else self._now()
        if step == protocol.STARTING:
            late_start = f"loading the model did not end within {START_SECONDS:g} s"
            died = f"the process ended while the model was loaded ({ending})"
            problem = self._unable or (late_start if late else died)
            return Loss(step, problem, late, unit.only(()), unit)
        doing = [key for key in doing if key in self._left]
        if step == protocol.IDLE:
            step = protocol.CALLING
            # If it never got as far as a call: charge the first one, so that this cannot go on for ever.
            doing = list(self._left)[:1] if self._first else []
        calling = step == protocol.CALLING
        if late and calling and self._first and not self._loaded:
            self._loading = 0.0  # it was not the loading
        if late:
            within = f"did not end within {STEP_SECONDS:g} s"
            problem = f"no answer within {self._limit:g} s" if calling else f"{_WHILE[step]} {within}"
        else:
            what = "the model's process ended" if calling else f"the process ended while {_WHILE[step]}"
            problem = f"{what} ({ending})"
        left = unit.only(self._left)
        return Loss(step, problem, late, left.only(doing), left.without(doing))


class Idle:
    """Supervised models that wait for a unit.

    Whoever asks takes one that waits before it makes another, so there are never more than askers at a time.

    Parameters
    ----------
    make
        Makes one, given its number from 0 on.
    """

    def __init__(self, make: Callable[[int], Supervised]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._all: list[Supervised] = []
        self._waiting: list[Supervised] = []

    @contextlib.contextmanager
    def one(self) -> Iterator[Supervised]:
        """Give one, for the time of the block."""
        with self._lock:
            if self._waiting:
                found = self._waiting.pop()
            else:
                found = self._make(len(self._all))
                self._all.append(found)
        try:
            yield found
        finally:
            with self._lock:
                self._waiting.append(found)

    def dismiss(self) -> None:
        """Let all end that wait."""
        with self._lock:
            for wait in (False, True):
                for one in self._waiting:
                    one.dismiss(wait)
