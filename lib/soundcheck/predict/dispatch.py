"""Divides the calls of one model among workers, and decides what becomes of calls that are lost.

Conventions
-----------
- Workers are a :class:`concurrent.futures.Executor` behind :class:`Workers`: threads of this process
  (:mod:`soundcheck.predict.local`) or those of a cluster (:mod:`soundcheck.predict.cluster`).
- Calls are cut into units in their order, at whole batches, whatever a unit's size: which signals a model
  gets together does not depend on the number of workers, nor on how fast they are.
- A call during which the process died is tried once more in a fresh one: the cause may lie outside.
- If the failing step was about several signals at once, each is tried alone.
- If nothing but that happens, calls far apart are tried, and then the rest is given up instead of waiting
  for ever.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import queue
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from typing import Protocol

from soundcheck.models.base import NOT_ASKED
from soundcheck.predict import protocol
from soundcheck.predict.protocol import Answered, Item, Loss, Result, Unit, take

STARTS = 3  # failed starts in a row after which there is no model
TRIES = 2  # of a call during which the process died
NO_RETRY_AFTER = 6  # losses in a row from which there is no second try
SPREAD_AFTER = 20  # losses in a row from which calls far apart are tried
HANGING_AFTER = 8  # calls without answer in a row, if none was ever answered: the rest is not tried
GIVE_UP_AFTER = 40  # losses in a row after which the rest is not tried
AHEAD = 2  # units a worker that are submitted at a time
UNIT_CALLS = 200  # of a unit at most
FIRST_CALLS = 8  # of a unit while nobody knows how fast the model is
UNIT_SECONDS = 5.0  # that a unit may take: what a lost worker costs, and how long the last one is alone


class Workers(Protocol):
    """Answers units."""

    count: int  # units that are answered at a time; may change

    def submit(self, unit: Unit, tell: Callable[[list[Result]], None]) -> Future[Answered]:
        """Answer a unit; results are told at once, from any thread, or stand in what is returned.

        An empty list tells that a process has loaded the model.
        """

    def stop(self) -> None:
        """Answer nothing more; what is in hand ends soon."""


class Dispatcher:
    """Answers calls with some workers.

    Parameters
    ----------
    workers
        Who answers.
    batch
        Signals that the model is given at a time.
    finished
        Called with each result in the thread of :meth:`run`, in any order.
    stopped
        Tells whether all is to be given up.
    """

    def __init__(
        self,
        workers: Workers,
        batch: int,
        finished: Callable[[Result], None],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stopped = stopped
        self._workers, self._batch, self._finished = workers, batch, finished
        self._events: queue.SimpleQueue[list[Result] | Future[Answered]] = queue.SimpleQueue()
        self._queue: collections.deque[Item] = collections.deque()
        self._waiting = 0  # calls in the queue
        self._again: collections.deque[Unit] = collections.deque()  # parts of units that come before it
        self._flying: dict[Future[Answered], Unit] = {}
        self._room = math.inf  # units that there is room for at a time
        self._pace = 0.0  # seconds a call
        self._deaths: collections.Counter[str] = collections.Counter()
        self._lost_in_a_row = 0
        self._failed_starts = 0
        self._loaded = False  # whether a process has ever loaded the model
        self._answering = False  # whether the model has ever answered a call
        self._hanging = 0
        self._given_up = ""  # why

    def run(self, items: Iterable[Item]) -> None:
        """Answer all calls of some items; each ends in one result."""
        self._queue.extend(items)
        self._waiting = sum(len(item.calls) for item in self._queue)
        self._consider_failing()
        while self._again or self._queue or self._flying:
            while (self._again or self._queue) and len(self._flying) < self._most:
                unit = self._again.popleft() if self._again else self._cut()
                future = self._workers.submit(unit, self._events.put)
                self._flying[future] = unit
                future.add_done_callback(self._events.put)
            event = self._events.get()
            if isinstance(event, Future):
                self._collect(event)
            else:
                self._hear(event)

    @property
    def _most(self) -> float:
        """Units that are submitted at a time."""
        return min(self._room, AHEAD * self._workers.count)

    def _cut(self) -> Unit:
        """Cut a unit that takes a while; smaller ones towards the end, so that all workers end together."""
        share = -(-self._waiting // (AHEAD * self._workers.count))
        paced = int(UNIT_SECONDS / self._pace) if self._pace else FIRST_CALLS
        batches = max(1, min(UNIT_CALLS, share, paced) // self._batch)
        unit = Unit(take(self._queue, batches * self._batch))
        self._waiting -= len(unit.keys)
        return unit

    def _hear(self, results: Sequence[Result]) -> None:
        if not results:  # a process has loaded the model
            self._loaded, self._failed_starts = True, 0
        for result in results:
            self._lost_in_a_row = 0
            self._answering |= result.fault == protocol.BY_MODEL
            self._finished(result)
            if result.rest:
                self._give_up(result.rest)

    def _collect(self, future: Future[Answered]) -> None:
        """Take what came back, and decide what becomes of the calls that are not answered."""
        unit = self._flying.pop(future)
        try:
            answered = future.result()
        except CancelledError:  # because it was given up
            answered = Answered(Loss(protocol.CALLING, "", True, unit.only(()), unit))
        if answered.results:
            self._hear(answered.results)
        loss = answered.loss
        if loss is None:
            self._pace = max(answered.seconds / len(unit.keys), 1e-6)
            return
        if loss.rest.items:
            self._again.appendleft(loss.rest)
        if self._stopped():
            self._give_up("not asked, because the run was ended")
        elif loss.step == protocol.STARTING:
            self._not_started(loss.problem)
        elif loss.lost.items:
            self._lost_in_a_row += 1
            self._judge(loss)
            self._consider_giving_up(loss.problem)
        self._consider_failing()

    def _judge(self, loss: Loss) -> None:
        """Try lost calls again or count them as failed."""
        keys = loss.lost.keys
        calling = loss.step == protocol.CALLING
        if calling and len(keys) > 1:  # a batch: whose fault is it?
            alone = dataclasses.replace(loss.lost, alone=True)
            self._again.extendleft(reversed(alone.pieces(1)))
            return
        self._deaths.update(keys)
        again = not loss.late and self._lost_in_a_row < NO_RETRY_AFTER
        if again and all(self._deaths[key] < TRIES for key in keys):
            self._again.appendleft(dataclasses.replace(loss.lost, alone=True))
            return
        self._fail(keys, loss.problem, protocol.BY_MODEL if calling else protocol.BY_SIGNAL)
        self._hanging = self._hanging + 1 if loss.late and not self._answering else 0

    def _consider_giving_up(self, problem: str) -> None:
        if self._lost_in_a_row == SPREAD_AFTER:
            units = [*self._again, Unit(tuple(self._queue))]
            units = [piece for unit in units for piece in unit.pieces(1 if unit.alone else self._batch)]
            # Multiples of the golden section, modulo 1, are as far apart as can be.
            order = sorted(range(len(units)), key=lambda place: place * 0.6180339887498949 % 1.0)
            self._again = collections.deque(units[place] for place in order)
            self._queue.clear()
        limit = HANGING_AFTER if self._hanging >= HANGING_AFTER else GIVE_UP_AFTER
        if self._lost_in_a_row >= limit:
            self._give_up(f"not asked, because {limit} calls in a row failed, the last one with: {problem}")

    def _not_started(self, problem: str) -> None:
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            return
        if self._loaded and self._flying:
            self._room = len(self._flying)  # perhaps there is no room for so many
            self._failed_starts = 0
            return
        self._give_up(problem)

    def _give_up(self, problem: str) -> None:
        if not self._given_up:
            self._given_up = problem if problem.startswith(NOT_ASKED) else f"{NOT_ASKED}: {problem}"
            self._workers.stop()

    def _consider_failing(self) -> None:
        """Fail what is waiting, if all was given up."""
        if self._given_up:
            units = [*self._again, Unit(tuple(self._queue))]
            self._again.clear()
            self._queue.clear()
            self._fail([key for unit in units for key in unit.keys], self._given_up)

    def _fail(self, keys: Iterable[str], problem: str, fault: str = protocol.BY_MODEL) -> None:
        for key in keys:
            self._finished(Result(key, problem=problem, fault=fault))
