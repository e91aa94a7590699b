"""What a model that listens would predict, and how long that takes: by letting it predict a few inputs.

The few are predicted as in a run, and their answers are kept for the run.

Conventions
-----------
- The first use of a change loads what it needs, which takes longer than hundreds of further uses. So what is
  timed is the second use, and the first one counts as starting.
- Changes differ: a gain takes a thousandth of the time of a codec. So a model that turns out to be quick
  predicts more changed inputs, unless requests cost something.
"""

from __future__ import annotations

import dataclasses
import heapq
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import Item, Result
from soundcheck.predict.questions import Questions
from soundcheck.predict.shares import Share

FEW = 4  # clean inputs that are timed, and as many changed ones
MOST = 32  # of each, if a model takes batches
MORE, SHARE = 60, 50  # changed inputs of a quick model beside these, and one of so many at most
QUICK = 3.0  # seconds that they may take


@dataclasses.dataclass(frozen=True)
class ModelForecast:
    """What a model would predict."""

    clean: int = 0  # inputs: segments, and ...
    changed: int = 0  # ... segments times changes of the signal
    kept: int = 0  # how many of them all have an answer in the cache
    clean_calls: int = 0  # different sounds among those without an answer, each of which is predicted once
    changed_calls: int = 0
    timed: int = 0  # inputs that were predicted just now
    start: float = 0.0  # seconds of theirs that went into starting, loading and preparing
    clean_seconds: float = 0.0  # that an input takes; 0 if nobody knows
    changed_seconds: float = 0.0
    problem: str = ""  # why the model gave no answer
    alone: bool = False  # whether one process predicts, whatever the jobs

    @property
    def inputs(self) -> int:
        """All inputs, the rows of the prediction tables."""
        return self.clean + self.changed

    @property
    def asked(self) -> int:
        """Inputs without an answer."""
        return self.inputs - self.kept

    def seconds(self, jobs: int) -> float:
        """Estimate how long all answers take with some processes."""
        work = self.clean_calls * self.clean_seconds + self.changed_calls * self.changed_seconds
        return (self.start + work / (1 if self.alone else jobs)) if self.asked else 0.0


def forecast_model(
    questions: Questions, *, scratch: Path, jobs: int, fresh: bool = False, share: Share | None = None
) -> ModelForecast:
    """Count what a model that listens would predict, and time a few of its inputs if there is any.

    What it prints goes to a folder ``scratch``.
    """
    log = dataclasses.replace(questions, out=scratch).log()
    return _Forecast(questions, log=log, share=share).made(jobs, fresh)


class _Forecast(Prediction):
    """A model whose inputs are counted; only a few are predicted."""

    def made(self, jobs: int, fresh: bool) -> ModelForecast:
        """Time a few inputs, then count what is left."""
        about = self._entry.about
        try:
            self._entries = {} if fresh else self._store.load()
            first, more = self._sample()
            timing = self._timed(first, () if about.asked_here else more, jobs) if first else {}
        finally:
            self._store.close()
        if fresh:
            self._entries.clear()
        clean = sum(not one.change for one in self._inputs)
        left = {one.key: one.change for one in self._inputs if one.key not in self._entries}
        changed_calls = sum(map(bool, left.values()))
        return ModelForecast(
            clean=clean,
            changed=len(self._inputs) - clean,
            kept=sum(one.key not in left for one in self._inputs),
            clean_calls=len(left) - changed_calls,
            changed_calls=changed_calls,
            alone=about.asked_here,
            **timing,
        )

    def _sample(self) -> tuple[list[Item], list[Item]]:
        """Choose inputs to time, clean ones first, and further ones if the model is quick.

        Keys are digests, so the smallest are a fair sample.
        """
        left = {one.key: one.change for one in self._inputs if one.key not in self._entries}
        few = min(MOST, max(FEW, 2 * (self._entry.batch or 1)))
        clean = heapq.nsmallest(few, (key for key, change in left.items() if not change))
        keys = [key for key, change in left.items() if change]
        changed = heapq.nsmallest(few + min(MORE, len(keys) // SHARE), keys)
        return self._single([*clean, *changed[:few]]), self._single(changed[few:])

    def _timed(self, first: Sequence[Item], more: Sequence[Item], jobs: int) -> dict[str, float | int | str]:
        """Predict some inputs in one process; gives fields of :class:`ModelForecast`."""
        changed = {item.calls[0].key for item in (*first, *more) if item.calls[0].change is not None}
        batch = self._entry.batch or 1
        steps: dict[bool, list[float]] = {False: [], True: []}
        last = begin = time.monotonic()

        def finished(result: Result) -> None:
            nonlocal last
            now = time.monotonic()
            # A call that was lost has no time of its own.
            steps[result.key in changed].append(result.seconds / batch + result.before or now - last)
            last = now
            self._take(result)

        def rounds() -> Iterator[Sequence[Item]]:
            yield first
            if len(more) * _usual(steps[True], batch) < QUICK and not self._failures:
                yield more

        if problem := self._prepare(jobs, True):
            return {"problem": problem}
        with self._store:
            self._dispatch(rounds(), ".timed", 1, finished, rehearsed=True)
        self._store.settle()
        usual = {changes: _usual(took, batch) for changes, took in steps.items()}
        problems = [failure.problem for failure in self.failures]
        timed = sum(map(len, steps.values()))
        answering = sum(usual[changes] * len(took) for changes, took in steps.items())
        return {
            "timed": timed,
            "start": max(0.0, last - begin - answering),
            "clean_seconds": usual[False] or usual[True],
            "changed_seconds": usual[True] or usual[False],
            "problem": problems[0] if problems and len(problems) == timed else "",
        }


def _usual(steps: Sequence[float], batch: int) -> float:
    """Mean the seconds of inputs; the first batch of a kind also loads what answers or changes it."""
    return _mean(steps[batch:] or steps)


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0
