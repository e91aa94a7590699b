"""What a model that listens would be asked, and how long that takes: by asking it a few inputs.

The few are asked as in a run, in a supervised process, and their answers are kept for the run.

Conventions
-----------
- The first use of a change loads what it needs, which takes longer than hundreds of further uses. So what is
  timed is the second use, and the first one counts as starting.
- Changes differ: a gain takes a thousandth of the time of a codec. So a model that turns out to be quick is
  asked about more changed inputs, unless requests cost something.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from soundcheck.common.errors import InputError
from soundcheck.models.base import Model
from soundcheck.predict.entries import Entry
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import Call, Item, Result
from soundcheck.predict.questions import Questions
from soundcheck.predict.recorder import Recorder
from soundcheck.predict.shares import Share

FEW = 4  # clean inputs that are timed, and as many changed ones
MOST = 32  # of each, if a model takes batches
MORE, SHARE = 60, 50  # changed inputs of a quick model beside these, and one of so many at most
QUICK = 3.0  # seconds that they may take


@dataclasses.dataclass(frozen=True)
class ModelForecast:
    """What a model would be asked.

    Parameters
    ----------
    clean, changed
        Inputs: segments, and segments times changes of the signal.
    kept
        How many of them all have an answer in the cache.
    clean_calls, changed_calls
        Different sounds among those without an answer, each of which is asked once.
    timed
        Inputs that were asked just now.
    start
        Seconds of theirs that went into starting, loading and preparing.
    clean_seconds, changed_seconds
        Seconds that an input takes; 0 if nobody knows.
    answer_bytes
        Mean size of an answer, as JSON.
    problem
        Why the model gave no answer; empty if it gave one.
    alone
        Whether one process asks it, whatever the jobs.
    """

    clean: int = 0
    changed: int = 0
    kept: int = 0
    clean_calls: int = 0
    changed_calls: int = 0
    timed: int = 0
    start: float = 0.0
    clean_seconds: float = 0.0
    changed_seconds: float = 0.0
    answer_bytes: float = 0.0
    problem: str = ""
    alone: bool = False

    @property
    def inputs(self) -> int:
        """All inputs, the rows of the prediction tables."""
        return self.clean + self.changed

    @property
    def asked(self) -> int:
        """Inputs without an answer."""
        return self.inputs - self.kept

    def joined(self, later: ModelForecast) -> ModelForecast:
        """Add what the same model would be asked later; the first timing counts, if there is one."""
        counts = ("clean", "changed", "kept", "clean_calls", "changed_calls")
        known = self if self.timed else later
        return dataclasses.replace(
            known, **{name: getattr(self, name) + getattr(later, name) for name in counts}
        )

    def seconds(self, jobs: int) -> float:
        """Estimate how long all answers take with some processes."""
        work = self.clean_calls * self.clean_seconds + self.changed_calls * self.changed_seconds
        return (self.start + work / (1 if self.alone else jobs)) if self.asked else 0.0


def forecast_model(
    questions: Questions,
    *,
    scratch: Path,
    jobs: int,
    fresh: bool = False,
    share: Share | None = None,
) -> ModelForecast:
    """Count what a model that listens would be asked, and time a few of its inputs if there is any.

    Parameters
    ----------
    questions, jobs, fresh
        See :func:`soundcheck.predict.engine.begin_model`.
    scratch
        Folder for what the model prints.
    share
        Part of the inputs; ``None`` = all.
    """
    log = dataclasses.replace(questions, out=scratch).log()
    return _Forecast(questions, log=log, share=share).made(questions.entry.about, jobs=jobs, fresh=fresh)


class _Forecast(Prediction):
    """A model whose answers are counted; only a few are asked for."""

    def made(self, kind: type[Model], *, jobs: int, fresh: bool) -> ModelForecast:
        """Time a few inputs, then count what is left."""
        try:
            return self._made(kind, jobs, fresh)
        finally:
            self._store.close()

    def _made(self, kind: type[Model], jobs: int, fresh: bool) -> ModelForecast:
        self._entries = self._store.load()
        if fresh:
            self._entries.clear()
        first, more = self._sample()
        timing = self._timed(kind, first, () if kind.asked_here else more, jobs) if first else {}
        sizes = [len(json.dumps(self._entries[key].answer)) for key in heapq.nsmallest(100, self._entries)]
        if fresh:
            self._entries.clear()
        rows = [
            (change, self._keys.key(segment.content, self._numbers[change]))
            for segments in self._segments.values()
            for segment in segments
            for change in segment.changes
        ]
        left = {key: change for change, key in rows if key not in self._entries}
        clean = sum(not change for change, _ in rows)
        kept = sum(key in self._entries for _, key in rows)
        changed_calls = sum(map(bool, left.values()))
        return ModelForecast(
            clean=clean,
            changed=len(rows) - clean,
            kept=kept,
            clean_calls=len(left) - changed_calls,
            changed_calls=changed_calls,
            answer_bytes=_mean(sizes),
            alone=kind.asked_here,
            **timing,
        )

    def _sample(self) -> tuple[list[Item], list[Item]]:
        """Choose inputs to time, clean ones first, and further ones if the model is quick.

        Keys are digests, so the smallest are a fair sample.
        """
        calls = {call.key: (item, call) for item in self._missing() for call in item.calls}
        few = min(MOST, max(FEW, 2 * (self._entry.batch or 1)))
        clean = heapq.nsmallest(few, (key for key, (_, call) in calls.items() if call.change is None))
        keys = [key for key, (_, call) in calls.items() if call.change is not None]
        changed = heapq.nsmallest(few + min(MORE, len(keys) // SHARE), keys)
        items = [_single(*calls[key]) for key in (*clean, *changed)]
        return items[: len(clean) + few], items[len(clean) + few :]

    def _timed(
        self, kind: type[Model], first: Sequence[Item], more: Sequence[Item], jobs: int
    ) -> dict[str, float | int | str]:
        """Ask some inputs in one process; gives fields of :class:`ModelForecast`."""
        changed = {
            item.calls[0].key for item in itertools.chain(first, more) if item.calls[0].change is not None
        }
        batch = self._entry.batch or 1
        steps: dict[bool, list[float]] = {False: [], True: []}
        problems: list[str] = []
        last = begin = time.monotonic()

        def finished(result: Result) -> None:
            nonlocal last
            now = time.monotonic()
            # A call that was lost has no time of its own.
            steps[result.key in changed].append(result.seconds / batch + result.before or now - last)
            last = now
            if result.problem:
                problems.append(result.problem)
            else:
                recorder.keep(result)
                self._entries[result.key] = Entry(result.answer, result.drawn)

        def rounds() -> Iterator[Sequence[Item]]:
            yield first
            if len(more) * _usual(steps[True], batch) < QUICK and not problems:
                yield more

        try:
            kind.prepare(self._entry, self._suite, cache=self._cache, jobs=jobs, progress=True)
        except InputError as error:
            return {"problem": error.problems[0].what}
        with Recorder(self._store) as recorder:
            self._dispatch(rounds(), ".timed", 1, finished, rehearsed=True)
        self._store.settle()
        usual = {changes: _usual(took, batch) for changes, took in steps.items()}
        timed = sum(map(len, steps.values()))
        answering = sum(usual[changes] * len(took) for changes, took in steps.items())
        return {
            "timed": timed,
            "start": max(0.0, last - begin - answering),
            "clean_seconds": usual[False] or usual[True],
            "changed_seconds": usual[True] or usual[False],
            "problem": problems[0] if problems and len(problems) == timed else "",
        }


def _single(item: Item, call: Call) -> Item:
    return dataclasses.replace(item, calls=(call,))


def _usual(steps: Sequence[float], batch: int) -> float:
    """Mean the seconds of inputs; the first batch of a kind also loads what answers or changes it."""
    return _mean(steps[batch:] or steps)


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0
