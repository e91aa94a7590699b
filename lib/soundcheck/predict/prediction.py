"""One model that listens, on its way through all inputs of a run."""

from __future__ import annotations

import collections
import dataclasses
import heapq
import logging
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
from soundcheck.predict import protocol
from soundcheck.predict.cluster import Cluster, ClusterExecutor
from soundcheck.predict.dispatch import Dispatcher
from soundcheck.predict.executor import LocalExecutor, Log
from soundcheck.predict.protocol import Call, Result, Setup
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import Keys, PredictionRequest, Segment, Share, list_segments, repeated_key
from soundcheck.predict.same_model import Comparison, Confirmation, choose_canaries
from soundcheck.predict.store import Entry, Store
from soundcheck.predict.tables import Columns, answer_columns, drawn_text

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
                by_model = failure.fault == protocol.BY_MODEL
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
    return new, {row.key: row.problem for row in results if row.problem and row.fault == protocol.BY_MODEL}
