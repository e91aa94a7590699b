"""One model that listens, on its way through all inputs of a run; calls are divided among processes.

Conventions
-----------
- An executor answers units in futures: :mod:`soundcheck.predict.workers` on this machine,
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
import heapq
import logging
import math
import queue
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from statistics import multimode
from typing import NamedTuple

from soundcheck.common import files
from soundcheck.common.messages import InputError, terminal
from soundcheck.common.progress import Progress
from soundcheck.common.store import FileDigests
from soundcheck.models.answers import NOT_ASKED, check_scale, stated_names, unpack
from soundcheck.predict import workers
from soundcheck.predict.cluster import Cluster, ClusterExecutor
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import Keys, PredictionRequest, Segment, Share, list_segments, repeated_key
from soundcheck.predict.same_model import Comparison, Confirmation, choose_canaries
from soundcheck.predict.store import Entry, Store
from soundcheck.predict.tables import Columns, answer_columns, drawn_text
from soundcheck.predict.workers import Call, LocalExecutor, Log, Outcome, Result, Setup, Unit

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
            self._answering |= result.fault == workers.BY_MODEL
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
        if outcome.step == workers.STARTING:
            self._not_started(outcome.problem)
        elif lost.calls:
            self._failures_in_a_row += 1
            self._judge(lost, outcome)
            self._consider_giving_up(outcome.problem)
        self._fail_if_given_up()

    def _judge(self, lost: Unit, outcome: Outcome) -> None:
        """Try lost calls again or count them as failed."""
        keys, alone = lost.keys, dataclasses.replace(lost, one_by_one=True)
        calling = outcome.step == workers.CALLING
        if calling and len(keys) > 1:  # a batch: whose fault is it?
            self._retries.extendleft(reversed(alone.pieces(1)))
            return
        self._tried.update(keys)
        again = not outcome.timed_out and self._failures_in_a_row < NO_RETRY_AFTER
        if again and all(self._tried[key] < TRIES for key in keys):
            self._retries.appendleft(alone)
            return
        self._fail(keys, outcome.problem, workers.BY_MODEL if calling else workers.BY_SIGNAL)
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
            self._fail(keys, self._given_up, workers.BY_MODEL)

    def _fail(self, keys: Iterable[str], problem: str, fault: str) -> None:
        for key in keys:
            self._finished(Result(key, problem=problem, fault=fault))


# A model on its way through all inputs ----------------------------------------------------------------------


REPEATED = 8  # clean inputs that are predicted twice
FIRST = 20  # clean inputs that are predicted first: their numbers tell whether the scale is right

logger = logging.getLogger(__name__)


class Input(NamedTuple):
    """A row of the prediction tables: a segment under a change, "" = clean; equal sounds have one key."""

    corpus: str
    segment: Segment
    change: str
    key: str


class Prediction:
    """One model that listens, on its way through all inputs, or those of a share."""

    def __init__(
        self, request: PredictionRequest, share: Share | None = None, log: Path | None = None
    ) -> None:
        self._request, self._entry = request, request.entry
        suite, cache, self._log = request.suite, request.cache, log or request.log
        digests = cache / "digests" / f"{files.slug(self._entry.name)}.opened.json"
        self._store = Store(cache, request.fingerprint, suite.root, FileDigests(digests))
        self._tasks = suite.tasks_of(self._entry)
        self._numbers = {"": None} | {name: number for number, name in enumerate(request.changes)}
        keys = Keys(request.fingerprint, self._tasks, request.changes.values(), suite.seed, request.sounds)
        self.inputs = [
            Input(corpus.name, segment, change, key)
            for corpus in request.corpora
            for segment in list_segments(corpus, list(request.changes), request.wanted)
            for change in segment.changes
            for key in [keys.key(segment.excerpt.content, self._numbers[change])]
            if share is None or key in share
        ]
        self._entries: dict[str, Entry] = {}
        self._asked: set[str] = set()  # in this run
        self._failures = {result.key: result for result in request.failed}
        self._canaries: list[str] = []  # inputs with kept answers that are predicted again, and ...
        self._second_answers: Future[list[Result]] | None = None  # ... what the model predicts for them now
        self._pairs: list[tuple[str, str]] = []  # keys of the two answers to inputs that were predicted twice
        self._confirmation = Confirmation()
        self._notices = self._entry.about.caveats(self._entry)
        self._warned: set[str] = set()  # notes that were logged

    @property
    def failures(self) -> list[Result]:
        """Inputs without an answer, before :meth:`refuse_odd_lengths`."""
        return [self._failures[key] for key in self._keys() if key in self._failures]

    def begin(self, pool: ThreadPoolExecutor, stopped: threading.Event | None = None) -> None:
        """Load kept answers, and let a thread ask about some of them again until it is ``stopped``."""
        if self._request.fresh:
            self._store.clear()
        self._entries = self._store.load({*self._keys()})
        self._store.close()
        if self._request.confirm:
            known = {row.key: row.change for row in self.inputs if row.key in self._entries}
            clean = [key for key, change in known.items() if not change]
            self._canaries = choose_canaries(clean, known.keys() - {*clean})
        if self._canaries:
            self._second_answers = pool.submit(self._ask_again, self._canaries, stopped)

    def run(self, *, jobs: int, cluster: Cluster | None = None) -> None:
        """Predict what has no answer yet, once kept answers are confirmed; after :meth:`begin`."""
        try:
            self._predict(jobs, None if self._entry.about.asked_here else cluster)
        finally:
            self._store.close()

    def _predict(self, jobs: int, cluster: Cluster | None) -> None:
        again = self._confirm(jobs)  # which may empty the cache
        scaled = any(task.is_regression for task in self._tasks)
        first = dict.fromkeys(heapq.nsmallest(FIRST, self._clean()) if scaled else ())
        known = self._entries.keys() | self._failures.keys()
        missing = [key for key in self._keys() if key not in known]
        self._warn()

        def rounds() -> Iterator[list[Call]]:
            yield self._calls(key for key in first if key not in known)
            self.check_scale(first, "first ")
            yield self._calls(key for key in missing if key not in first)

        def finished(result: Result) -> None:
            bar.update()
            self._take(result)

        if missing:
            name = f"inputs of {self._entry.name}"
            with Progress("predictions", name, len(missing)) as bar:
                if problem := self._prepare(jobs):
                    for key in missing:
                        finished(Result(key, problem=f"{NOT_ASKED}: {problem}"))
                else:
                    self._dispatch(rounds(), "", jobs, finished, cluster)
        self._repeat()
        if self._confirmation.different:  # pairs of this run that differ: the next one expects it
            second = {key: entry for key, entry in again.items() if key in self._entries}
            differing = self._comparison().different(self._entries, second)
            self._keep_pairs({key: second[key] for key in differing})
        self._store.settle()
        self._warn()

    def _take(self, result: Result) -> None:
        self._asked.add(result.key)
        if result.problem:
            self._failures[result.key] = result
        else:
            self._store.keep(result)
            self._entries[result.key] = Entry(result.answer, result.drawn)

    def _prepare(self, jobs: int) -> str:
        """Let the model prepare itself; gives why it cannot."""
        suite, cache = self._request.suite, self._request.cache
        try:
            self._entry.about.prepare(self._entry, suite, cache=cache, jobs=jobs, progress=True)
        except InputError as error:
            return error.problems[0].what
        return ""

    def _dispatch(
        self,
        rounds: Iterable[Sequence[Call]],  # what comes in another round waits for all before
        log: str,
        jobs: int,
        finished: Callable[[Result], None],
        cluster: Cluster | None = None,
        warm_up: bool = False,
        silent: Callable[[], object] | None = None,  # called when no result has come for a while
    ) -> None:
        request, kind, cache = self._request, self._entry.about, self._request.cache
        changes, ignored = tuple(request.changes.values()), (str(request.out), str(cache))
        setup = Setup(self._entry, request.suite, kind, changes, request.sounds, ignored, warm_up)
        path = self._log.with_suffix(f"{log}{self._log.suffix}")
        count = 1 if kind.asked_here else jobs
        with (
            LocalExecutor(setup, count, cache, lambda n: Log(path.with_suffix(f".{n}{path.suffix}")).write)
            if cluster is None
            else ClusterExecutor(cluster, setup, request.fingerprint, cache, Log(path))
        ) as executor:
            silent = silent or self._store.write_due
            dispatcher = Dispatcher(executor, self._entry.batch or 1, finished, silent)
            for calls in rounds:
                dispatcher.run(calls)
        if cluster is not None:
            self._notices += cluster.notices()

    def _warn(self) -> None:
        for note in (*self._confirmation.alarms(), *self._store.upkeep.notes()):
            if note not in self._warned:
                self._warned.add(note)
                logger.warning("%s", terminal(f"{self._entry.name}: {note}"))

    # choosing inputs

    def _keys(self) -> list[str]:
        """Give the keys of all inputs, each once: equal sounds are predicted once."""
        return list(dict.fromkeys(row.key for row in self.inputs))

    def _clean(self) -> list[str]:
        """Give the keys of clean signals, each once."""
        return list(dict.fromkeys(row.key for row in self.inputs if not row.change))

    def _calls(self, keys: Iterable[str], renamed: Callable[[str], str] = str) -> list[Call]:
        """Make the calls about some inputs, in the order of their keys."""
        keys = dict.fromkeys(keys)
        inputs = {row.key: row for row in reversed(self.inputs) if row.key in keys}  # the first of each
        pairs = [(key, inputs[key]) for key in keys]
        return [Call(renamed(key), self._numbers[row.change], row.segment.excerpt) for key, row in pairs]

    # checking answers

    def check_scale(self, keys: Iterable[str] | None = None, which: str = "") -> None:
        """Stop if answers are on another scale, those to all clean signals or to ``which`` of them."""
        keys = self._clean() if keys is None else keys
        answers = [self._entries[key].answer for key in keys if key in self._entries]
        for task in self._tasks:
            if task.is_regression:
                numbers = [answer[task.name] for answer in answers]
                check_scale(numbers, task, self._entry, self._request.suite, f"{which}{len(numbers)} answers")

    def refuse_odd_lengths(self) -> None:
        """Turn embeddings that are not as long as most into failures: they cannot be compared."""
        keys = self._entries.keys() & {row.key for row in self.inputs}
        for task in self._tasks:
            if not task.is_embedding:
                continue
            lengths = {key: len(unpack(self._entries[key].answer[task.name])) for key in keys}
            usual = max(multimode(lengths.values()), default=0)
            for key, size in lengths.items():
                if size == usual:
                    continue
                problem = f"{task.name} has {size} numbers; most have {usual}, and others cannot be compared"
                self._failures[key] = Result(key, drawn=self._entries.pop(key).drawn, problem=problem)

    # predicting twice

    def _repeat(self) -> None:
        """Predict some clean inputs again, in a fresh process and reversed order."""
        clean = [key for key in self._clean() if key in self._entries]
        chosen = {*heapq.nsmallest(REPEATED, clean)}
        self._pairs = [(key, repeated_key(key)) for key in clean if key in chosen]
        left = [key for key, again in self._pairs if again not in self._entries]
        if left:
            self._dispatch([self._calls(left[::-1], repeated_key)], ".repeated", 1, self._take)

    def _confirm(self, jobs: int) -> dict[str, Entry]:
        """Forget all answers if one of those that were predicted again is another now; gives the new ones."""
        if self._second_answers is None:
            return {}
        new, failed = _sorted_out(self._second_answers.result())
        if failed and not new:  # perhaps it has to be prepared, which nobody did in this run
            if problem := self._prepare(jobs):
                failed = dict.fromkeys(failed, problem)
            else:
                new, failed = _sorted_out(self._ask_again(self._canaries))
        clean = heapq.nsmallest(REPEATED, (key for key in self._clean() if key in self._entries))
        twice = [(key, repeated_key(key)) for key in dict.fromkeys([*clean, *self._canaries])]
        pairs = [(self._entries[key], self._entries[again]) for key, again in twice if again in self._entries]
        comparison = self._comparison(pairs)
        different = comparison.different(self._entries, new)
        if different:  # a model that does not answer alike twice need not be another one
            second, _ = _sorted_out(self._ask_again(different[::-1]))
            comparison = self._comparison([*pairs, *((new[key], entry) for key, entry in second.items())])
            different = comparison.different(self._entries, {key: new[key] for key in second})
            if not different:
                self._keep_pairs(second)
        problem, unseen = next(iter(failed.values()), ""), self._entry.about.unseen
        counts = len(new), len(different), len(failed)
        self._confirmation = Confirmation(*counts, problem, comparison.loose, unseen)
        if different:
            self._store.clear()
            self._entries.clear()
        return new

    def _ask_again(self, keys: Sequence[str], stopped: threading.Event | None = None) -> list[Result]:
        """Predict without keeping anything."""
        results: list[Result] = []

        def stop() -> None:
            if stopped is not None and stopped.is_set():
                raise CancelledError

        self._dispatch([self._calls(keys)], ".again", 1, results.append, silent=stop)
        return results

    def _keep_pairs(self, entries: dict[str, Entry]) -> None:
        pairs = {repeated_key(key): entry for key, entry in entries.items()}
        pairs = {key: entry for key, entry in pairs.items() if key not in self._entries}
        if pairs:
            self._store.add(pairs)
            self._entries |= pairs

    def _comparison(self, pairs: Iterable[tuple[Entry, Entry]] = ()) -> Comparison:
        """Compare answers as the model gave them, so on its own scale."""
        tasks = []
        for task in self._tasks:
            low, high = self._entry.range_of(task)
            tasks.append(dataclasses.replace(task, low=low, high=high) if task.is_regression else task)
        return Comparison(tasks, pairs)

    # what came out

    def tables(self) -> dict[str, Columns]:
        """Make the prediction table of each corpus."""
        outcomes = {row.key: self._entries.get(row.key) or self._failures[row.key] for row in self.inputs}
        known = {name for outcome in outcomes.values() for name in outcome.answer}
        stated = [name for name in stated_names(self._tasks) if name in known]
        tables = {}
        for corpus in self._request.corpora:
            inputs = [row for row in self.inputs if row.corpus == corpus.name]
            results = [outcomes[row.key] for row in inputs]
            tables[corpus.name] = Columns(
                [row.segment.key for row in inputs],
                [row.change for row in inputs],
                ["" if row.key in self._entries else self._failures[row.key].problem for row in inputs],
                answer_columns([result.answer for result in results], self._tasks, stated),
                [drawn_text(result.drawn) for result in results],
            )
        return tables

    def report(self) -> PredictionReport:
        """Count what became of all inputs."""
        counts: collections.Counter[str] = collections.Counter()
        days: collections.Counter[str] = collections.Counter()
        failures = []
        for row in self.inputs:
            new = row.key in self._asked
            if entry := self._entries.get(row.key):
                counts["computed" if new else "reused"] += 1
                days.update([] if new else [entry.day])
            else:
                failure = self._failures[row.key]
                by_model = failure.fault == workers.BY_MODEL
                counts["failed" if by_model else "unusable"] += 1
                counts["asked"] += by_model and new
                change = self._request.changes[row.change].name if row.change else ""
                failures.append((row.corpus, row.segment.label, change, failure.problem))
        counts["asked"] += counts["computed"]
        known, exact = self._entries, self._comparison()
        pairs = [(known[key], known[again]) for key, again in self._pairs if {key, again} <= known.keys()]
        return PredictionReport(
            self._entry.name,
            self._request.fingerprint,
            failures=failures,
            repeated=len(pairs),
            repeated_different=sum(exact.differ(*pair) for pair in pairs),
            days=dict(sorted(days.items())),
            confirmation=self._confirmation,
            upkeep=self._store.upkeep,
            notices=tuple(self._notices),
            **counts,
        )


def _sorted_out(results: Iterable[Result]) -> tuple[dict[str, Entry], dict[str, str]]:
    """Give answers, and the problems that are the model's own."""
    results = list(results)
    new = {row.key: Entry(row.answer, row.drawn) for row in results if not row.problem}
    return new, {row.key: row.problem for row in results if row.problem and row.fault == workers.BY_MODEL}
