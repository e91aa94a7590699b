"""The workers of one model: started, fed, watched, killed and replaced.

A model may raise, hang inside C code, kill its process or fill the terminal. What it did so far survives, the
input that did it is found, and the other inputs are answered.

Conventions
-----------
- A call that takes longer than the model's time limit is a failure; its worker is killed and replaced. The
  first call of a worker may take longer, because many models load themselves only then.
- A call during which the worker died is tried once more in a fresh worker: the cause may lie outside.
- If the failing step was about several signals at once, each is tried alone.
- If nothing but that happens, the pool tries calls far apart, and then gives up instead of waiting for ever.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import os
import selectors
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from soundcheck.models import processes
from soundcheck.predict import protocol
from soundcheck.predict.protocol import Item, Result, Setup, Unit

if TYPE_CHECKING:
    from io import BufferedWriter

WORKER = "soundcheck.predict.workers"
START_SECONDS = 180.0  # for starting Python and importing the model, on a busy machine
STEP_SECONDS = 600.0  # for reading or changing a signal
LOADING_SECONDS = 60.0  # on top of the time limit of a first call, but not more than ...
LOADING_SHARE = 5.0  # ... this many time limits
END_SECONDS = 5.0  # for a worker to end when there is nothing left to do
TICK_SECONDS = 0.2  # how often workers are looked at that say nothing
STARTS = 3  # failed starts in a row after which there is no model
TRIES = 2  # of a call during which the worker died
NO_RETRY_AFTER = 6  # lost workers in a row from which there is no second try
SPREAD_AFTER = 20  # lost workers in a row from which calls far apart are tried
HANGING_AFTER = (
    8  # calls without answer in a row, if none was ever answered, after which the rest is not tried
)
GIVE_UP_AFTER = 40  # lost workers in a row after which the rest is not tried
DRAINED = 16  # times that output is read before others are listened to
LOG_BYTES = 1_000_000  # of a worker's output that are kept
_IDLE, _STARTING = "idle", "starting"


class _Log:
    """A file that takes the output of a worker and of its replacements, up to a limit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BufferedWriter | None = None
        self._left = LOG_BYTES

    def write(self, data: bytes) -> None:
        if self._left <= 0 or not data:
            return
        with contextlib.suppress(OSError):  # a log that cannot be written stops nothing
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = open(self._path, "wb")
            self._file.write(data[: self._left])
            self._left -= len(data)
            if self._left <= 0:
                self._file.write(b"\n... the rest of the output was left out\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()


@dataclasses.dataclass(eq=False)
class _Worker:
    """A worker as the pool sees it."""

    child: processes.Child
    log: _Log
    slot: int
    step: str = _STARTING
    keys: tuple[str, ...] = ()
    since: float = dataclasses.field(default_factory=time.monotonic)
    units: collections.deque[Unit] = dataclasses.field(default_factory=collections.deque)
    answered: set[str] = dataclasses.field(default_factory=set)
    first: bool = True  # whether no call has ended yet
    hung_up: bool = False
    unable: str = ""  # why it cannot load the model

    def enter(self, step: str, keys: Iterable[str] = ()) -> None:
        self.step, self.keys, self.since = step, tuple(keys), time.monotonic()


class Pool:
    """Answers calls with a few workers.

    Parameters
    ----------
    setup
        For the workers.
    jobs
        Workers at a time.
    cache
        Folder where models may keep things.
    log
        File for the output of the workers; a number is put before its suffix.
    finished
        Called with the result of each call, in any order.
    """

    def __init__(
        self, setup: Setup, *, jobs: int, cache: Path, log: Path, finished: Callable[[Result], None]
    ) -> None:
        self._setup = setup
        self._limit = setup.entry.time_limit
        self._jobs = max(1, jobs)
        self._cache = cache
        self._finished = finished
        self._queue: collections.deque[Unit] = collections.deque()
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._logs = [_Log(log.with_suffix(f".{slot + 1}{log.suffix}")) for slot in range(self._jobs)]
        self._deaths: collections.Counter[str] = collections.Counter()
        self._lost_in_a_row = 0
        self._failed_starts = 0
        self._last_problem = ""
        self._loaded = False  # whether a first call has ever been answered
        self._hanging = 0
        self._loading = min(LOADING_SECONDS, LOADING_SHARE * self._limit)

    def run(self, units: Iterable[Unit]) -> None:
        """Answer all calls of some units; each ends in one result.

        Raises
        ------
        Exception
            Whatever ``finished`` raises; the workers are killed.
        """
        self._queue.extend(units)
        try:
            while self._queue or any(worker.units for worker in self._workers):
                self._staff()
                self._feed()
                self._listen()
                self._watch()
            self._dismiss()
        finally:
            for worker in self._workers:
                worker.child.kill()
            self._workers.clear()
            self._selector.close()
            for log in self._logs:
                log.close()

    # feeding

    def _staff(self) -> None:
        """Start as many workers as there is work for."""
        unoccupied = sum(not worker.units for worker in self._workers)
        while len(self._workers) < self._jobs and len(self._queue) > unoccupied:
            slot = min(set(range(self._jobs)) - {worker.slot for worker in self._workers})
            child = processes.Child(WORKER, cache=self._cache, output=processes.CAPTURED)
            worker = _Worker(child, self._logs[slot], slot)
            self._workers.append(worker)
            self._selector.register(child.connection, selectors.EVENT_READ, worker)
            self._selector.register(child.output, selectors.EVENT_READ, worker)
            self._send(worker, self._setup)
            unoccupied += 1

    def _feed(self) -> None:
        """Give each worker the next unit before it has finished the last, while there is plenty."""
        for worker in self._workers:
            if worker.step == _STARTING or worker.hung_up:
                continue
            ahead = 2 if len(self._queue) > 2 * self._jobs else 1
            while self._queue and len(worker.units) < ahead:
                worker.units.append(self._queue.popleft())
                if worker.step == _IDLE:
                    worker.since = time.monotonic()
                self._send(worker, worker.units[-1])

    def _send(self, worker: _Worker, message: object) -> None:
        try:
            worker.child.connection.send(message)
        except OSError:  # it has just died; what it was given is found in its units
            worker.hung_up = True

    # listening

    def _listen(self) -> None:
        deadline = min((worker.since + self._allowed(worker) for worker in self._workers), default=0.0)
        patience = min(TICK_SECONDS, max(0.0, deadline - time.monotonic()))
        for key, _ in self._selector.select(patience):
            worker: _Worker = key.data
            if key.fileobj is worker.child.connection:
                self._receive(worker)
            else:
                self._drain(worker)

    def _receive(self, worker: _Worker) -> None:
        """Take all messages that a worker has sent."""
        try:
            while not worker.hung_up and worker.child.connection.poll():
                self._take(worker, *worker.child.connection.recv())
        except (EOFError, OSError):
            worker.hung_up = True
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(worker.child.connection)

    def _take(self, worker: _Worker, word: str, *content: object) -> None:
        if word == protocol.DOING:
            step, keys = content
            worker.enter(step, keys)
        elif word == protocol.RESULTS:
            if worker.step == protocol.CALLING and worker.first:
                worker.first = False
                # Whoever comes later loads the same model, perhaps on a busier machine.
                taken = 3 * (time.monotonic() - worker.since)
                self._loading = max(self._loading, taken) if self._loaded else taken
                self._loaded = True
            self._lost_in_a_row = 0
            worker.enter(_IDLE)
            for result in content[0]:
                worker.answered.add(result.key)
                self._finished(result)
        elif word == protocol.DONE:
            worker.units.popleft()
            worker.answered.clear()
            worker.enter(_IDLE)
        elif word == protocol.READY:
            self._failed_starts = 0
            worker.enter(_IDLE)
        elif word == protocol.REFUSED:
            worker.unable = str(content[0])

    def _drain(self, worker: _Worker) -> None:
        """Take what a worker has printed."""
        output = worker.child.output
        try:
            for _ in range(DRAINED):
                data = os.read(output, 65536)
                worker.log.write(data)
                if not data:
                    self._selector.unregister(output)
                    return
        except BlockingIOError:
            return
        except (KeyError, ValueError, OSError):
            return

    # watching

    def _allowed(self, worker: _Worker) -> float:
        """Seconds that the present step of a worker may take."""
        if worker.step == _STARTING:
            return START_SECONDS
        if worker.step == protocol.CALLING:
            return self._limit + (self._loading if worker.first else 0.0)
        return STEP_SECONDS if worker.units else float("inf")

    def _watch(self) -> None:
        """Replace workers that died or take too long."""
        for worker in list(self._workers):
            if worker not in self._workers:  # the pool has given up meanwhile
                return
            if worker.hung_up or worker.child.gone():
                worker.child.wait(1.0)
                self._bury(worker, late=False)
            elif time.monotonic() > worker.since + self._allowed(worker):
                self._receive(worker)  # perhaps the answer has just come
                if time.monotonic() > worker.since + self._allowed(worker):
                    self._bury(worker, late=True)

    def _bury(self, worker: _Worker, late: bool) -> None:
        """Kill what is left of a worker and decide what becomes of its calls."""
        if not late:
            self._receive(worker)
        self._drain(worker)
        for channel in (worker.child.connection, worker.child.output):
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(channel)
        ending = worker.child.kill()
        self._workers.remove(worker)
        if worker.step == _STARTING:
            late_start = f"loading the model did not end within {START_SECONDS:g} s"
            died = f"the process ended while the model was loaded ({ending})"
            self._not_started(worker.unable or (late_start if late else died))
            return
        lost, rest = self._split(worker)
        self._queue.extendleft(reversed(rest))
        if lost:
            self._lost_in_a_row += 1
            self._judge(worker, lost, late, ending)
            self._consider_giving_up()

    def _split(self, worker: _Worker) -> tuple[list[Unit], list[Unit]]:
        """Separate what a worker was doing when it was lost from what it had not begun."""
        doing = set(worker.keys) - worker.answered
        if worker.step == _IDLE and worker.units:
            if not worker.first:
                return [], _without(worker.units, worker.answered)
            # It never got as far as a call: charge the first one, so that this cannot go on for ever.
            doing = {worker.units[0].items[0].calls[0].key}
        return _only(worker.units, doing), _without(worker.units, doing | worker.answered)

    def _judge(self, worker: _Worker, lost: list[Unit], late: bool, ending: str) -> None:
        """Try lost calls again or count them as failed."""
        keys = [call.key for unit in lost for item in unit.items for call in item.calls]
        calling = worker.step in (protocol.CALLING, _IDLE)
        if late and calling and worker.first and not self._loaded:
            self._loading = 0.0  # it was not the loading
        if calling and len(keys) > 1:  # a batch: whose fault is it?
            self._queue.extendleft(reversed(_alone(lost)))
            return
        self._deaths.update(keys)
        again = not late and self._lost_in_a_row < NO_RETRY_AFTER
        if again and all(self._deaths[key] < TRIES for key in keys):
            self._queue.extendleft(reversed([dataclasses.replace(unit, alone=True) for unit in lost]))
            return
        doing = {protocol.READING: "reading the audio", protocol.CHANGING: "changing the signal"}
        if calling:
            problem = (
                f"no answer within {self._limit:g} s" if late else f"the model's process ended ({ending})"
            )
        elif late:
            problem = f"{doing[worker.step]} did not end within {STEP_SECONDS:g} s"
        else:
            problem = f"the process ended while {doing[worker.step]} ({ending})"
        fault = protocol.BY_MODEL if calling else protocol.BY_SIGNAL
        for key in keys:
            self._finished(Result(key, problem=problem, fault=fault))
        self._last_problem = problem
        self._hanging = self._hanging + 1 if late and not self._loaded else 0

    def _consider_giving_up(self) -> None:
        if self._lost_in_a_row == SPREAD_AFTER:
            # Multiples of the golden section, modulo 1, are as far apart as can be.
            order = sorted(range(len(self._queue)), key=lambda place: place * 0.6180339887498949 % 1.0)
            self._queue = collections.deque([self._queue[place] for place in order])
        limit = HANGING_AFTER if self._hanging >= HANGING_AFTER else GIVE_UP_AFTER
        if self._lost_in_a_row >= limit:
            last = f"{limit} calls in a row failed, the last one with: {self._last_problem}"
            self._fail_the_rest(f"not asked, because {last}")

    def _not_started(self, problem: str) -> None:
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            return
        if any(worker.step != _STARTING for worker in self._workers):
            self._jobs = max(1, len(self._workers))  # perhaps there is no room for so many
            self._failed_starts = 0
            return
        self._fail_the_rest(problem)

    def _fail_the_rest(self, problem: str) -> None:
        units = list(self._queue)
        self._queue.clear()
        for worker in self._workers:
            units += _without(worker.units, worker.answered)
            worker.child.kill()
        self._workers.clear()
        for unit in units:
            for item in unit.items:
                for call in item.calls:
                    self._finished(Result(call.key, problem=problem))

    def _dismiss(self) -> None:
        """Let the workers end by themselves, for a moment."""
        for worker in self._workers:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(worker.child.connection)
            worker.child.connection.close()
        end = time.monotonic() + END_SECONDS
        for worker in self._workers:
            while not worker.child.wait(0.02) and time.monotonic() < end:
                self._drain(worker)
            self._drain(worker)


# Parts of units ---------------------------------------------------------------------------------------------


def _selected(units: Iterable[Unit], wanted: Callable[[str], bool]) -> Iterator[Unit]:
    for unit in units:
        items = []
        for item in unit.items:
            calls = tuple(call for call in item.calls if wanted(call.key))
            if calls:
                items.append(dataclasses.replace(item, calls=calls))
        if items:
            yield dataclasses.replace(unit, items=tuple(items))


def _only(units: Iterable[Unit], keys: set[str]) -> list[Unit]:
    return list(_selected(units, lambda key: key in keys))


def _without(units: Iterable[Unit], keys: set[str]) -> list[Unit]:
    return list(_selected(units, lambda key: key not in keys))


def _alone(units: Iterable[Unit]) -> list[Unit]:
    """Make one unit a call."""
    return [
        Unit((Item(item.path, item.start, item.end, item.content, (call,)),), alone=True)
        for unit in units
        for item in unit.items
        for call in item.calls
    ]
