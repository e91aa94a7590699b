"""One model that listens, on its way through all inputs of a run."""

from __future__ import annotations

import collections
import dataclasses
import functools
import heapq
import itertools
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.common.escaping import terminal
from soundcheck.common.file_contents import Contents
from soundcheck.common.progress import Progress
from soundcheck.models.answer_scale import check_scale
from soundcheck.models.base import NOT_ASKED, Model
from soundcheck.models.packing import unpack
from soundcheck.models.processes import Child
from soundcheck.predict import canaries, protocol
from soundcheck.predict.ahead import Ahead
from soundcheck.predict.canaries import Comparison, Confirmation
from soundcheck.predict.cluster import Cluster, ClusterWorkers
from soundcheck.predict.dispatch import Dispatcher
from soundcheck.predict.entries import Entry
from soundcheck.predict.inputs import Segment, list_segments
from soundcheck.predict.keys import Keys, repeated_key
from soundcheck.predict.local import LocalWorkers
from soundcheck.predict.protocol import Call, Item, Result, Setup
from soundcheck.predict.questions import Questions
from soundcheck.predict.recorder import Recorder
from soundcheck.predict.report import PredictionReport, damaged_notes, dropped_notes, outdated_notes
from soundcheck.predict.shares import Share, of_share
from soundcheck.predict.sources import SourceCheck
from soundcheck.predict.store import Store, writing
from soundcheck.predict.tables import Row

REPEATED = 8  # clean inputs that are asked twice
FIRST = 20  # clean inputs that are asked first: their numbers tell whether the scale is right

logger = logging.getLogger(__name__)


class Prediction:
    """One model that listens, on its way through all inputs."""

    def __init__(
        self,
        questions: Questions,
        *,
        log: Path,
        share: Share | None = None,
        failed: Iterable[Result] = (),
        cluster: Cluster | None = None,
    ) -> None:
        self._questions, self._entry, self._suite = questions, questions.entry, questions.suite
        about = self._entry.about
        self._cluster = None if about.asked_here else cluster
        self._notices = about.caveats(self._entry)
        self._cache, self._log = questions.cache, log
        entry, suite, cache, fingerprint = self._entry, self._suite, self._cache, questions.fingerprint
        digests = cache / "digests" / f"{files.slug(entry.name)}.opened.json"
        self._store = Store(cache, fingerprint, SourceCheck(suite.root, Contents(digests)))
        self._tasks = [suite.tasks[name] for name in entry.tasks]
        self._changes = questions.plain_changes()
        self._numbers = {"": None} | {name: number for number, name in enumerate(self._changes)}
        self._keys = Keys(fingerprint, self._tasks, tuple(self._changes.values()), suite.seed)
        self._segments = {
            corpus.name: list(of_share(segments, self._key, share))
            for corpus in questions.corpora
            for segments in [list_segments(corpus, list(self._changes), questions.wanted)]
        }
        self._entries: dict[str, Entry] = {}
        self._new: set[str] = set()
        self._failures = {result.key: result for result in failed}  # not asked again
        self._known_failures = frozenset(self._failures)
        self._repeats: dict[str, str] = {}
        self._first: set[str] = set()
        self._confirmation = Confirmation()
        self._to_confirm: dict[str, Item] | None = None  # not begun
        self._confirming: Future[tuple[dict[str, Entry], dict[str, str]]] | None = None
        self._ahead: Ahead | None = None
        self._outdated: dict[str, list[str]] = {}

    def _key(self, segment: Segment, change: str) -> str:
        return self._keys.key(segment.content, self._numbers[change])

    def keys(self) -> set[str]:
        """Give the keys of all inputs."""
        return {
            self._keys.key(segment.content, self._numbers[change])
            for segments in self._segments.values()
            for segment in segments
            for change in segment.changes
        }

    @property
    def failures(self) -> list[Result]:
        """Inputs without an answer, before :meth:`refuse_odd_lengths`."""
        return list(self._failures.values())

    def begin(self, *, fresh: bool = False, confirm: bool = True, ahead: Ahead | None = None) -> None:
        """Find what is in the cache, and begin to ask for some of it again if there are threads."""
        if fresh:
            self._store.clear()
        self._entries = self._store.load()
        self._to_confirm = self._choose_kept() if confirm else {}
        ready = ahead.take(self._entry.name) if ahead is not None else None
        if self._to_confirm and ahead is not None:
            self._ahead = ahead
            ask = functools.partial(self._ask_again, [*self._to_confirm.values()], ready)
            self._confirming = ahead.begin(ask)
        elif ready is not None:
            ready.kill()

    def run(
        self, kind: type[Model], *, jobs: int, progress: bool, fresh: bool = False, confirm: bool = True
    ) -> None:
        """Answer what is not in the cache; what was not begun begins now."""
        try:
            if self._to_confirm is None:
                self.begin(fresh=fresh, confirm=confirm)
            self._answer(kind, jobs, progress)
        finally:
            self._store.close()

    def _answer(self, kind: type[Model], jobs: int, progress: bool) -> None:
        self._warn(self._damaged_notes())
        known = self._store.damage[:]
        again = self._confirm(kind, jobs, progress)  # which may empty the cache
        rounds = [self._to_ask_first(), list(self._missing())]
        missing = [item for items in rounds for item in items]
        if self._first <= set(self._entries) | self._known_failures:
            self._check_first()
        asked = {call.key for item in missing for call in item.calls}
        self._outdated = {key: names for key, names in self._store.outdated.items() if key in asked}
        self._warn(outdated_notes(len(self._outdated), self._outdated_by()))
        if missing:
            count = sum(len(item.calls) for item in missing)
            self._wait_for_others()
            with Progress("predictions", f"inputs of {self._entry.name}", count, shown=progress) as told:
                self._ask(kind, rounds, told, jobs=jobs, progress=progress)
        twice = self._to_repeat()
        if twice:
            self._wait_for_others()
            self._repeat(twice)
        self._remember_unlike(again)
        self._store.settle()
        self._warn(note for note in self._damaged_notes() if known != self._store.damage)
        self._warn(dropped_notes(self._store.dropped, sorted(self._store.changed)))

    def _warn(self, notes: Iterable[str]) -> None:
        for note in notes:
            logger.warning("%s", terminal(f"{self._entry.name}: {note}"))

    def _damaged_notes(self) -> list[str]:
        return damaged_notes(self._store.damaged, self._store.damage)

    def _outdated_by(self) -> list[str]:
        return sorted({name for names in self._outdated.values() for name in names})

    def _ask(
        self,
        kind: type[Model],
        rounds: Sequence[Sequence[Item]],
        told: Progress,
        *,
        jobs: int,
        progress: bool,
    ) -> None:
        def finished(result: Result) -> None:
            told.update()
            if result.problem:
                self._failures[result.key] = result
            else:
                recorder.keep(result)
                self._entries[result.key] = Entry(result.answer, result.drawn)
                self._new.add(result.key)
            if result.key in waiting:
                waiting.discard(result.key)
                if not waiting:
                    self._check_first()

        waiting = self._first - set(self._entries) - self._known_failures
        try:
            kind.prepare(self._entry, self._suite, cache=self._cache, jobs=jobs, progress=progress)
        except InputError as error:
            for item in itertools.chain(*rounds):
                for call in item.calls:
                    finished(Result(call.key, problem=f"{NOT_ASKED}: {error.problems[0].what}"))
            return
        with Recorder(self._store) as recorder:
            self._dispatch(rounds, "", jobs, finished, self._cluster)

    def _dispatch(
        self,
        rounds: Iterable[Sequence[Item]],
        log: str,
        jobs: int,
        finished: Callable[[Result], None],
        cluster: Cluster | None = None,
        ready: Child | None = None,
        rehearsed: bool = False,
    ) -> None:
        """Ask about some items; what comes in another round is asked when all before is answered."""
        changes = tuple(self._changes.values())
        ignored = (str(self._questions.out), str(self._cache))
        about, sounds = self._entry.about, self._questions.sounds
        setup = Setup(self._entry, self._suite, about, changes, sounds, ignored, rehearsed)
        path = self._log.with_suffix(f"{log}{self._log.suffix}")
        ended = self._ahead.stopped.is_set if self._ahead is not None else lambda: False
        jobs = 1 if about.asked_here else jobs
        with (
            LocalWorkers(setup, jobs, self._cache, path, ended, ready)
            if cluster is None
            else ClusterWorkers(cluster, setup, self._questions.fingerprint, self._cache, path)
        ) as workers:
            dispatcher = Dispatcher(workers, self._entry.batch or 1, finished, ended)
            for items in rounds:
                dispatcher.run(items)
        if cluster is not None:
            self._notices += cluster.notices()

    def _missing(self) -> Iterator[Item]:
        """List what is not answered yet; the same sound is asked about once."""
        asked = set(self._entries) | self._first | self._known_failures
        for segments in self._segments.values():
            for segment in segments:
                calls = []
                for change in segment.changes:
                    number = self._numbers[change]
                    key = self._keys.key(segment.content, number)
                    if key not in asked:
                        asked.add(key)
                        calls.append(Call(key, number))
                if calls:
                    yield Item(segment.path, segment.start, segment.end, segment.content, tuple(calls))

    # the scale of the first answers

    def _to_ask_first(self) -> list[Item]:
        """Choose clean inputs whose numbers tell the scale; remembers all, lists those not answered yet."""
        if any(task.is_regression for task in self._tasks):
            clean = self._clean_segments()
            chosen = sorted(clean)[:FIRST]  # keys are digests: the smallest are a fair sample
            self._first = set(chosen)
            return [
                Item(segment.path, segment.start, segment.end, segment.content, (Call(key, None),))
                for key, segment in ((key, clean[key]) for key in chosen)
                if key not in self._entries and key not in self._known_failures
            ]
        return []

    def _check_first(self) -> None:
        """Stop if the first answers, as far as they are known, are on another scale."""
        self._check_scale(sorted(self._first), "first ")

    def check_scale(self) -> None:
        """Stop if the answers to clean signals are on another scale."""
        self._check_scale(self._clean_segments(), "")

    def _check_scale(self, keys: Iterable[str], which: str) -> None:
        answers = [self._entries[key].answer for key in keys if key in self._entries]
        for task in self._tasks:
            if task.is_regression:
                numbers = [answer[task.name] for answer in answers]
                check_scale(numbers, task, self._entry, self._suite, f"{which}{len(numbers)} answers")

    def _clean_segments(self) -> dict[str, Segment]:
        """Give one segment of each clean sound, by key."""
        clean: dict[str, Segment] = {}
        for segments in self._segments.values():
            for segment in segments:
                if "" in segment.changes:  # in a share there may be others
                    clean.setdefault(self._keys.key(segment.content, None), segment)
        return clean

    def refuse_odd_lengths(self) -> None:
        """Turn embeddings that are not as long as most into failures: they cannot be compared."""
        for task in self._tasks:
            if not task.is_embedding:
                continue
            lengths = {key: _length(entry.answer[task.name]) for key, entry in self._asked().items()}
            counts = collections.Counter(lengths.values())
            usual = max(counts, key=lambda length: (counts[length], length), default=0)
            for key, length in lengths.items():
                if length != usual:
                    problem = (
                        f"{task.name} has {length} numbers; most have {usual}, and others cannot be compared"
                    )
                    self._failures[key] = Result(key, drawn=self._entries.pop(key).drawn, problem=problem)

    def _asked(self) -> dict[str, Entry]:
        """Give the entries of the inputs of this run; the cache may know others."""
        keys = self.keys()
        return {key: entry for key, entry in self._entries.items() if key in keys}

    # asking twice

    def _to_repeat(self) -> list[Item]:
        """Choose clean inputs that are asked again; remembers all, lists those that have not been yet."""
        clean = {key: one for key, one in self._clean_segments().items() if key in self._entries}
        chosen = set(sorted(clean)[:REPEATED])  # keys are digests: the smallest are a fair sample
        self._repeats = {key: repeated_key(key) for key in clean if key in chosen}
        return [
            Item(segment.path, segment.start, segment.end, segment.content, (Call(self._repeats[key], None),))
            for key, segment in clean.items()
            if key in chosen and self._repeats[key] not in self._entries
        ]

    def _repeat(self, items: list[Item]) -> None:
        """Ask a fresh worker in reversed order."""

        def finished(result: Result) -> None:
            if not result.problem:
                recorder.keep(result)
                self._entries[result.key] = Entry(result.answer, result.drawn)

        with Recorder(self._store) as recorder:
            self._dispatch([items[::-1]], ".repeated", 1, finished)

    # asking again

    def _wait_for_others(self) -> None:
        if self._ahead is not None:
            self._ahead.wait()

    def _choose_kept(self) -> dict[str, Item]:
        """Choose kept answers that are asked for again."""
        kept: dict[str, tuple[Segment, int | None]] = {}
        for segments in self._segments.values():
            for segment in segments:
                for change in segment.changes:
                    number = self._numbers[change]
                    key = self._keys.key(segment.content, number)
                    if key in self._entries:
                        kept[key] = segment, number
        clean = [key for key, (_, number) in kept.items() if number is None]
        return {
            key: Item(segment.path, segment.start, segment.end, segment.content, (Call(key, number),))
            for key in canaries.choose(clean, kept.keys() - {*clean})
            for segment, number in [kept[key]]
        }

    def _confirm(self, kind: type[Model], jobs: int, progress: bool) -> dict[str, Entry]:
        """Ask some inputs again and forget all answers if one is another now; gives the new answers."""
        chosen = self._to_confirm
        if not chosen:
            return {}
        items = list(chosen.values())
        new, failed = self._confirming.result() if self._confirming else self._ask_again(items)
        if failed and not new:  # perhaps it has to be prepared, which nobody did in this run
            try:
                kind.prepare(self._entry, self._suite, cache=self._cache, jobs=jobs, progress=progress)
                new, failed = self._ask_again(items)
            except InputError as error:
                failed = dict.fromkeys(failed, error.problems[0].what)
        clean = [key for key in self._clean_segments() if key in self._entries]
        likely = {key: repeated_key(key) for key in [*heapq.nsmallest(REPEATED, clean), *chosen]}
        pairs = [(self._entries[k], self._entries[r]) for k, r in likely.items() if r in self._entries]
        comparison = self._comparison(pairs)
        different = comparison.different(self._entries, new)
        if different:  # a model that does not answer alike twice need not be another one
            second, _ = self._ask_again([chosen[key] for key in reversed(different)])
            comparison = self._comparison([*pairs, *((new[key], entry) for key, entry in second.items())])
            different = comparison.different(self._entries, {key: new[key] for key in second})
            if not different:
                self._keep_pairs(second)
        problem = next(iter(failed.values()), "")
        self._confirmation = Confirmation(
            len(new), len(different), len(failed), problem, comparison.loose, kind.unseen
        )
        self._warn(self._confirmation.alarms())
        if different:
            self._store.clear()
            self._entries.clear()
        return new

    def _ask_again(
        self, items: list[Item], ready: Child | None = None
    ) -> tuple[dict[str, Entry], dict[str, str]]:
        """Ask without keeping anything; gives new answers and the problems of the model's own.

        A process that has checked the model may be asked: what it had opened before does not matter here.
        """
        new: dict[str, Entry] = {}
        failed: dict[str, str] = {}

        def finished(result: Result) -> None:
            if not result.problem:
                new[result.key] = Entry(result.answer, result.drawn)
            elif result.fault == protocol.BY_MODEL:
                failed[result.key] = result.problem

        self._dispatch([items], ".again", 1, finished, ready=ready)
        return new, failed

    def _remember_unlike(self, new: dict[str, Entry]) -> None:
        """Keep pairs of answers that the model gave in this run and that differ: the next run expects it."""
        if self._confirmation.different:
            own = {key: entry for key, entry in new.items() if key in self._entries}
            self._keep_pairs({key: own[key] for key in self._comparison().different(self._entries, own)})

    def _keep_pairs(self, entries: dict[str, Entry]) -> None:
        pairs = {repeated_key(key): entry for key, entry in entries.items()}
        pairs = {key: entry for key, entry in pairs.items() if key not in self._entries}
        if pairs:
            with writing():
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
        tables = {}
        for corpus, segments in self._segments.items():
            tables[corpus] = [
                self._row(segment, change) for segment in segments for change in segment.changes
            ]
        return tables

    def _row(self, segment: Segment, change: str) -> Row:
        key = self._keys.key(segment.content, self._numbers[change])
        if key in self._entries:
            entry = self._entries[key]
            return Row(segment.key, change, entry.answer, "", entry.drawn)
        return Row(segment.key, change, {}, self._failures[key].problem, self._failures[key].drawn)

    def report(self) -> PredictionReport:
        """Count what became of all inputs."""
        counts: collections.Counter[str] = collections.Counter()
        days: collections.Counter[str] = collections.Counter()
        failures = []
        for corpus, segments in self._segments.items():
            for segment in segments:
                for name in segment.changes:
                    key = self._keys.key(segment.content, self._numbers[name])
                    if key in self._entries:
                        counts["computed" if key in self._new else "reused"] += 1
                        if key not in self._new:
                            days[self._entries[key].day] += 1
                        continue
                    failure = self._failures[key]
                    kind = "failed" if failure.fault == protocol.BY_MODEL else "unusable"
                    counts[kind] += 1
                    counts["known"] += kind == "failed" and key in self._known_failures
                    shown = self._changes[name].name if name else ""
                    failures.append((corpus, segment.shown, shown, failure.problem))
        pairs = [
            (self._entries[key], self._entries[again])
            for key, again in self._repeats.items()
            if key in self._entries and again in self._entries
        ]
        exact = self._comparison()
        asked = counts["computed"] + counts["failed"] - counts.pop("known", 0)
        return PredictionReport(
            self._entry.name,
            self._questions.fingerprint,
            failures=failures,
            repeated=len(pairs),
            repeated_different=sum(exact.differ(*pair) for pair in pairs),
            asked=asked,
            days=dict(sorted(days.items())),
            confirmation=self._confirmation,
            outdated=len(self._outdated),
            outdated_by=tuple(self._outdated_by()),
            dropped=self._store.dropped,
            dropped_by=tuple(sorted(self._store.changed)),
            damaged=self._store.damaged,
            damage=tuple(self._store.damage),
            sources=self._store.sources,
            notices=tuple(self._notices),
            **counts,
        )


def _length(packed: str) -> int:
    return len(unpack(packed))
