"""One model that listens, on its way through all inputs of a run."""

from __future__ import annotations

import collections
import dataclasses
import functools
import heapq
import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.common.escaping import terminal
from soundcheck.common.progress import Progress
from soundcheck.common.store import FileDigests
from soundcheck.models.answers import NOT_ASKED, check_scale, unpack
from soundcheck.predict import canaries, protocol
from soundcheck.predict.canaries import Comparison, Confirmation
from soundcheck.predict.cluster import Cluster, ClusterExecutor
from soundcheck.predict.dispatch import Dispatcher
from soundcheck.predict.executor import LocalExecutor, Log
from soundcheck.predict.protocol import Call, Item, Result, Setup
from soundcheck.predict.report import PredictionReport
from soundcheck.predict.request import Keys, PredictionRequest, Segment, Share, list_segments, repeated_key
from soundcheck.predict.store import Entry, Store, Upkeep
from soundcheck.predict.tables import Row

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
        self,
        request: PredictionRequest,
        *,
        log: Path,
        share: Share | None = None,
        failed: Iterable[Result] = (),  # inputs that are known to have no answer, and are not predicted again
        cluster: Cluster | None = None,  # whose workers predict instead of this machine
    ) -> None:
        self._request, self._entry, self._suite = request, request.entry, request.suite
        self._cluster = None if self._entry.about.asked_here else cluster
        self._notices = self._entry.about.caveats(self._entry)
        self._log = log
        suite, cache, fingerprint = self._suite, request.cache, request.fingerprint
        digests = cache / "digests" / f"{files.slug(self._entry.name)}.opened.json"
        self._store = Store(cache, fingerprint, suite.root, FileDigests(digests))
        self._tasks = [suite.tasks[name] for name in self._entry.tasks]
        self._changes = request.changes
        self._numbers = {"": None} | {name: number for number, name in enumerate(self._changes)}
        keys = Keys(fingerprint, self._tasks, self._changes.values(), suite.seed, request.sounds)
        self._inputs = [
            Input(corpus.name, segment, change, key)
            for corpus in request.corpora
            for segment in list_segments(corpus, list(self._changes), request.wanted)
            for change in segment.changes
            for key in [keys.key(segment.content, self._numbers[change])]
            if share is None or key in share
        ]
        self._entries: dict[str, Entry] = {}
        self._new: set[str] = set()
        self._failures = {result.key: result for result in failed}
        self._known_failures = frozenset(self._failures)
        self._repeats: dict[str, str] = {}
        self._confirmation = Confirmation()
        self._outdated: set[str] = set()
        self._said: set[str] = set()  # notes that were logged

    @property
    def keys(self) -> set[str]:
        """The keys of all inputs."""
        return {one.key for one in self._inputs}

    @property
    def failures(self) -> list[Result]:
        """Inputs without an answer, before :meth:`refuse_odd_lengths`."""
        keys = self.keys
        return [result for key, result in self._failures.items() if key in keys]

    def run(self, *, jobs: int, progress: bool, fresh: bool = False, confirm: bool = True) -> None:
        """Take answers from the cache, after a few were predicted again, and predict what is not in it."""
        try:
            if fresh:
                self._store.clear()
            self._entries = self._store.load()
            self._predict(jobs, progress, confirm)
        finally:
            self._store.close()

    def _predict(self, jobs: int, progress: bool, confirm: bool) -> None:
        self._warn(self._upkeep().notes())
        again = self._confirm(jobs, progress) if confirm else {}  # which may empty the cache
        first = self._first()
        known_keys = {*self._entries, *self._known_failures}
        waiting = set(first) - known_keys
        rounds = [
            self._single(key for key in first if key in waiting),
            self._grouped(lambda key: key not in known_keys and key not in waiting),
        ]
        if not waiting:
            self._check_scale(sorted(first), "first ")
        missing = {call.key for item in itertools.chain(*rounds) for call in item.calls}
        self._outdated = self._store.outdated & missing
        self._warn(self._upkeep().notes())

        def finished(result: Result) -> None:
            bar.update()
            self._take(result)
            if result.key in waiting:
                waiting.discard(result.key)
                if not waiting:
                    self._check_scale(sorted(first), "first ")

        if missing:
            name = f"inputs of {self._entry.name}"
            with Progress("predictions", name, len(missing), visible=progress) as bar:
                if problem := self._prepare(jobs, progress):
                    for key in missing:
                        finished(Result(key, problem=f"{NOT_ASKED}: {problem}"))
                else:
                    self._dispatch(rounds, "", jobs, finished, self._cluster)
        self._repeat()
        if self._confirmation.different:  # pairs of this run that differ: the next one expects it
            first = {key: entry for key, entry in again.items() if key in self._entries}
            self._keep_pairs({key: first[key] for key in self._comparison().different(self._entries, first)})
        self._store.settle()
        self._warn(self._upkeep().notes())

    def _take(self, result: Result) -> None:
        if result.problem:
            self._failures[result.key] = result
        else:
            self._store.keep(result)
            self._entries[result.key] = Entry(result.answer, result.drawn)
            self._new.add(result.key)

    def _prepare(self, jobs: int, progress: bool) -> str:
        """Let the model prepare itself; gives why it cannot."""
        cache = self._request.cache
        try:
            self._entry.about.prepare(self._entry, self._suite, cache=cache, jobs=jobs, progress=progress)
        except InputError as error:
            return error.problems[0].what
        return ""

    def _dispatch(
        self,
        rounds: Iterable[Sequence[Item]],  # what comes in another round waits for all before
        log: str,
        jobs: int,
        finished: Callable[[Result], None],
        cluster: Cluster | None = None,
        warm_up: bool = False,
    ) -> None:
        changes, about = tuple(self._changes.values()), self._entry.about
        ignored = (str(self._request.out), str(self._request.cache))
        setup = Setup(self._entry, self._suite, about, changes, self._request.sounds, ignored, warm_up)
        path = self._log.with_suffix(f"{log}{self._log.suffix}")
        cache, fingerprint = self._request.cache, self._request.fingerprint
        with (
            LocalExecutor(setup, 1 if about.asked_here else jobs, cache, functools.partial(_log, path))
            if cluster is None
            else ClusterExecutor(cluster, setup, fingerprint, cache, Log(path))
        ) as executor:
            dispatcher = Dispatcher(executor, self._entry.batch or 1, finished, self._store.write_due)
            for items in rounds:
                dispatcher.run(items)
        if cluster is not None:
            self._notices += cluster.notices()

    def _warn(self, notes: Iterable[str]) -> None:
        for note in notes:
            if note not in self._said:
                self._said.add(note)
                logger.warning("%s", terminal(f"{self._entry.name}: {note}"))

    def _upkeep(self) -> Upkeep:
        """Say what has become of the kept answers so far."""
        store = self._store
        outdated_by = tuple(store.outdated_by) if self._outdated else ()
        dropped = store.dropped, tuple(store.dropped_by)
        damage = store.damaged, tuple(store.damage)
        return Upkeep(store.files, len(self._outdated), outdated_by, *dropped, *damage)

    # choosing inputs

    def _grouped(self, wanted: Callable[[str], bool]) -> list[Item]:
        """Make an item of each segment with the calls that are wanted; the same sound is predicted once."""
        items, seen = [], set()
        for segment, inputs in itertools.groupby(self._inputs, lambda one: one.segment):
            calls = []
            for one in inputs:
                if one.key not in seen and wanted(one.key):
                    seen.add(one.key)
                    calls.append(Call(one.key, self._numbers[one.change]))
            if calls:
                items.append(_item(segment, calls))
        return items

    def _single(self, keys: Iterable[str], renamed: Callable[[str], str] = str) -> list[Item]:
        """Make an item of each call, in the order of the keys."""
        keys = list(keys)
        wanted = {*keys}
        places = {one.key: one for one in reversed(self._inputs) if one.key in wanted}  # the first of each
        numbered = [(key, places[key].segment, self._numbers[places[key].change]) for key in keys]
        return [_item(segment, [Call(renamed(key), number)]) for key, segment, number in numbered]

    def _clean(self) -> list[str]:
        """Give the keys of clean signals, each once."""
        return list(dict.fromkeys(one.key for one in self._inputs if not one.change))

    def _first(self) -> list[str]:
        """Choose clean inputs whose numbers tell the scale: the smallest digests are a fair sample."""
        return (
            heapq.nsmallest(FIRST, self._clean()) if any(task.is_regression for task in self._tasks) else []
        )

    # checking answers

    def check_scale(self) -> None:
        """Stop if the answers to clean signals are on another scale."""
        self._check_scale(self._clean(), "")

    def _check_scale(self, keys: Iterable[str], which: str) -> None:
        answers = [self._entries[key].answer for key in keys if key in self._entries]
        for task in self._tasks:
            if task.is_regression:
                numbers = [answer[task.name] for answer in answers]
                check_scale(numbers, task, self._entry, self._suite, f"{which}{len(numbers)} answers")

    def refuse_odd_lengths(self) -> None:
        """Turn embeddings that are not as long as most into failures: they cannot be compared."""
        for task in self._tasks:
            if not task.is_embedding:
                continue
            keys = [key for key in self._entries.keys() & self.keys]
            lengths = {key: len(unpack(self._entries[key].answer[task.name])) for key in keys}
            counts = collections.Counter(lengths.values())
            usual = max(counts, key=lambda length: (counts[length], length), default=0)
            for key, length in lengths.items():
                if length != usual:
                    problem = (
                        f"{task.name} has {length} numbers; most have {usual}, and others cannot be compared"
                    )
                    self._failures[key] = Result(key, drawn=self._entries.pop(key).drawn, problem=problem)

    # predicting twice

    def _repeat(self) -> None:
        """Predict some clean inputs again, in a fresh process and reversed order."""
        clean = [key for key in self._clean() if key in self._entries]
        chosen = {*heapq.nsmallest(REPEATED, clean)}
        self._repeats = {key: repeated_key(key) for key in clean if key in chosen}
        items = self._single(
            (k for k, again in self._repeats.items() if again not in self._entries), repeated_key
        )

        if items:
            self._dispatch([items[::-1]], ".repeated", 1, self._take)

    def _confirm(self, jobs: int, progress: bool) -> dict[str, Entry]:
        """Predict some inputs again and forget all answers if one is another now; gives the new answers."""
        known = {one.key: one.change for one in self._inputs if one.key in self._entries}
        clean = [key for key, change in known.items() if not change]
        chosen = canaries.choose(clean, known.keys() - {*clean})
        if not chosen:
            return {}
        new, failed = self._predict_again(chosen)
        if failed and not new:  # perhaps it has to be prepared, which nobody did in this run
            if problem := self._prepare(jobs, progress):
                failed = dict.fromkeys(failed, problem)
            else:
                new, failed = self._predict_again(chosen)
        likely = {key: repeated_key(key) for key in [*heapq.nsmallest(REPEATED, clean), *chosen]}
        pairs = [(self._entries[k], self._entries[r]) for k, r in likely.items() if r in self._entries]
        comparison = self._comparison(pairs)
        different = comparison.different(self._entries, new)
        if different:  # a model that does not answer alike twice need not be another one
            second, _ = self._predict_again(different[::-1])
            comparison = self._comparison([*pairs, *((new[key], entry) for key, entry in second.items())])
            different = comparison.different(self._entries, {key: new[key] for key in second})
            if not different:
                self._keep_pairs(second)
        problem, unseen = next(iter(failed.values()), ""), self._entry.about.unseen
        counts = len(new), len(different), len(failed)
        self._confirmation = Confirmation(*counts, problem, comparison.loose, unseen)
        self._warn(self._confirmation.alarms())
        if different:
            self._store.clear()
            self._entries.clear()
        return new

    def _predict_again(self, keys: Sequence[str]) -> tuple[dict[str, Entry], dict[str, str]]:
        """Predict without keeping anything; gives new answers and the problems of the model's own."""
        new: dict[str, Entry] = {}
        failed: dict[str, str] = {}

        def finished(result: Result) -> None:
            if not result.problem:
                new[result.key] = Entry(result.answer, result.drawn)
            elif result.fault == protocol.BY_MODEL:
                failed[result.key] = result.problem

        self._dispatch([self._single(keys)], ".again", 1, finished)
        return new, failed

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

    def rows(self) -> dict[str, list[Row]]:
        """Make the prediction table of each corpus."""
        tables: dict[str, list[Row]] = {corpus.name: [] for corpus in self._request.corpora}
        for one in self._inputs:
            entry, failure = self._entries.get(one.key), self._failures.get(one.key)
            answer, drawn = (entry.answer, entry.drawn) if entry else ({}, failure.drawn)
            problem = "" if entry else failure.problem
            tables[one.corpus].append(Row(one.segment.key, one.change, answer, problem, drawn))
        return tables

    def report(self) -> PredictionReport:
        """Count what became of all inputs."""
        counts: collections.Counter[str] = collections.Counter()
        days: collections.Counter[str] = collections.Counter()
        failures = []
        for one in self._inputs:
            if one.key in self._entries:
                counts["computed" if one.key in self._new else "reused"] += 1
                if one.key not in self._new:
                    days[self._entries[one.key].day] += 1
                continue
            failure = self._failures[one.key]
            kind = "failed" if failure.fault == protocol.BY_MODEL else "unusable"
            counts[kind] += 1
            counts["known"] += kind == "failed" and one.key in self._known_failures
            change = self._changes[one.change].name if one.change else ""
            failures.append((one.corpus, one.segment.label, change, failure.problem))
        known = self._entries
        pairs = [(known[k], known[r]) for k, r in self._repeats.items() if k in known and r in known]
        exact = self._comparison()
        return PredictionReport(
            self._entry.name,
            self._request.fingerprint,
            failures=failures,
            repeated=len(pairs),
            repeated_different=sum(exact.differ(*pair) for pair in pairs),
            asked=counts["computed"] + counts["failed"] - counts.pop("known", 0),
            days=dict(sorted(days.items())),
            confirmation=self._confirmation,
            upkeep=self._upkeep(),
            notices=tuple(self._notices),
            **counts,
        )


def _item(segment: Segment, calls: Iterable[Call]) -> Item:
    return Item(segment.path, segment.start, segment.end, segment.content, tuple(calls))


def _log(path: Path, number: int) -> Callable[[bytes], None]:
    return Log(path.with_suffix(f".{number}{path.suffix}")).write
