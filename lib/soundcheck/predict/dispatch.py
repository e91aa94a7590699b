"""Divides the calls of one model among processes, and decides what becomes of calls that are lost.

Conventions
-----------
- An executor answers units in futures: :mod:`soundcheck.predict.executor` on this machine,
  :mod:`soundcheck.predict.cluster` elsewhere.
- Calls are cut into units in their order, at whole batches, whatever a unit's size: which signals a model
  gets together does not depend on the number of processes, nor on how fast they are.
- A call during which the process died is tried once more in a fresh one: the cause may lie outside.
- If the failing step was about several signals at once, each is tried alone.
- If nothing but that happens, calls in any order are tried, and then the rest is given up instead of waiting
  for ever.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import queue
import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING

from soundcheck.models.answers import NOT_ASKED
from soundcheck.predict import protocol
from soundcheck.predict.protocol import Call, Outcome, Result, Unit

if TYPE_CHECKING:
    from soundcheck.predict.cluster import ClusterExecutor
    from soundcheck.predict.executor import LocalExecutor

STARTS = 3  # failed starts in a row after which there is no model
TRIES = 2  # of a call during which the process died
NO_RETRY_AFTER = 6  # losses in a row from which there is no second try
SPREAD_AFTER = 20  # losses in a row from which calls are tried in any order
HANGING_AFTER = 8  # calls without answer in a row, if none was ever answered: the rest is not tried
GIVE_UP_AFTER = 40  # losses in a row after which the rest is not tried
AHEAD = 2  # units a process that are submitted at a time
UNIT_CALLS = 200  # of a unit at most
FIRST_CALLS = 8  # of a unit while nobody knows how fast the model is
UNIT_SECONDS = 5.0  # that a unit may take: what a lost process costs, and how long the last one is alone
CHECK_SECONDS = 0.5  # of silence after which one looks whether anybody is left to answer


class Dispatcher:
    """Answers calls with an executor."""

    def __init__(
        self,
        executor: LocalExecutor | ClusterExecutor,
        batch: int,  # signals that the model is given at a time
        finished: Callable[[Result], None],  # gets each result in the thread of :meth:`run`, in any order
        silent: Callable[[], object] = bool,  # called in the same thread when no result has come for a while
    ) -> None:
        self._executor, self._batch, self._finished, self._silent = executor, batch, finished, silent
        self._events: queue.SimpleQueue[list[Result] | Future[Outcome]] = queue.SimpleQueue()
        self._queue: collections.deque[Call] = collections.deque()
        self._retries: collections.deque[Unit] = collections.deque()  # parts of units that come before it
        self._in_flight: dict[Future[Outcome], Unit] = {}
        self._answered: set[str] = set()  # keys of calls in flight
        self._most = math.inf  # units that there is room for at a time
        self._seconds_per_call = 0.0  # seconds a call
        self._tried: collections.Counter[str] = collections.Counter()
        self._failures_in_a_row = self._failed_starts = self._hanging = 0
        self._loaded = False  # whether a process has ever loaded the model
        self._answering = False  # whether the model has ever answered a call
        self._given_up = ""  # why

    def run(self, calls: Iterable[Call]) -> None:
        """Answer calls; each ends in one result."""
        self._queue.extend(calls)
        self._fail_if_given_up()
        while self._retries or self._queue or self._in_flight:
            most = min(self._most, AHEAD * self._executor.count)
            while (self._retries or self._queue) and len(self._in_flight) < most:
                unit = self._retries.popleft() if self._retries else self._cut()
                future = self._executor.submit(unit, self._events.put)
                self._in_flight[future] = unit
                future.add_done_callback(self._events.put)
            try:
                event = self._events.get(timeout=CHECK_SECONDS)
            except queue.Empty:
                self._silent()
                continue
            if isinstance(event, Future):
                self._collect(event)
            else:
                self._take(event)

    def _cut(self) -> Unit:
        """Cut a unit that takes a while; smaller ones towards the end, so that all processes end together."""
        share = -(-len(self._queue) // (AHEAD * self._executor.count))
        paced = int(UNIT_SECONDS / self._seconds_per_call) if self._seconds_per_call else FIRST_CALLS
        batches = max(1, min(UNIT_CALLS, share, paced) // self._batch)
        size = min(batches * self._batch, len(self._queue))
        return Unit(tuple(self._queue.popleft() for _ in range(size)))

    def _take(self, results: Sequence[Result]) -> None:
        if not results:  # a process has loaded the model
            self._loaded, self._failed_starts = True, 0
        for result in results:
            self._failures_in_a_row = 0
            self._answering |= result.fault == protocol.BY_MODEL
            self._answered.add(result.key)
            self._finished(result)
            if result.refusal:
                self._give_up(result.refusal)

    def _collect(self, future: Future[Outcome]) -> None:
        """Take what came back, and decide what becomes of the calls that are not answered."""
        unit = self._in_flight.pop(future)
        try:
            outcome = future.result()
        except CancelledError:  # because it was given up
            outcome = Outcome(problem="cancelled")
        keys = set(unit.keys)
        left = unit.only(keys - self._answered)
        self._answered -= keys
        if not outcome.problem:
            self._seconds_per_call = max(outcome.seconds / len(keys), 1e-6)
            return
        lost = left.only(outcome.lost)
        rest = left.only(set(left.keys) - {*lost.keys})
        if rest.calls:
            self._retries.appendleft(rest)
        if outcome.step == protocol.STARTING:
            self._not_started(outcome.problem)
        elif lost.calls:
            self._failures_in_a_row += 1
            self._judge(lost, outcome)
            self._consider_giving_up(outcome.problem)
        self._fail_if_given_up()

    def _judge(self, lost: Unit, outcome: Outcome) -> None:
        """Try lost calls again or count them as failed."""
        keys, alone = lost.keys, dataclasses.replace(lost, one_by_one=True)
        calling = outcome.step == protocol.CALLING
        if calling and len(keys) > 1:  # a batch: whose fault is it?
            self._retries.extendleft(reversed(alone.pieces(1)))
            return
        self._tried.update(keys)
        again = not outcome.timed_out and self._failures_in_a_row < NO_RETRY_AFTER
        if again and all(self._tried[key] < TRIES for key in keys):
            self._retries.appendleft(alone)
            return
        self._fail(keys, outcome.problem, protocol.BY_MODEL if calling else protocol.BY_SIGNAL)
        self._hanging = self._hanging + 1 if outcome.timed_out and not self._answering else 0

    def _consider_giving_up(self, problem: str) -> None:
        if self._failures_in_a_row == SPREAD_AFTER:  # perhaps it is only these
            units = [
                piece for unit in self._left() for piece in unit.pieces(1 if unit.one_by_one else self._batch)
            ]
            random.Random(0).shuffle(units)
            self._retries = collections.deque(units)
            self._queue.clear()
        limit = HANGING_AFTER if self._hanging >= HANGING_AFTER else GIVE_UP_AFTER
        if self._failures_in_a_row >= limit:
            self._give_up(f"not asked, because {limit} calls in a row failed, the last one with: {problem}")

    def _not_started(self, problem: str) -> None:
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            return
        if self._loaded and self._in_flight:  # perhaps there is no room for so many
            self._most, self._failed_starts = len(self._in_flight), 0
        else:
            self._give_up(problem)

    def _give_up(self, problem: str) -> None:
        if not self._given_up:
            self._given_up = problem if problem.startswith(NOT_ASKED) else f"{NOT_ASKED}: {problem}"
            self._executor.stop()

    def _left(self) -> list[Unit]:
        return [*self._retries, Unit(tuple(self._queue))]

    def _fail_if_given_up(self) -> None:
        if self._given_up:
            keys = [key for unit in self._left() for key in unit.keys]
            self._retries.clear()
            self._queue.clear()
            self._fail(keys, self._given_up, protocol.BY_MODEL)

    def _fail(self, keys: Iterable[str], problem: str, fault: str) -> None:
        for key in keys:
            self._finished(Result(key, problem=problem, fault=fault))
