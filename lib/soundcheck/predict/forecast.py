"""What a model that listens would predict, and how long that takes: by letting it predict a few inputs.

The few are predicted as in a run, and their answers are kept for the run. The first use of a change loads
what it needs, which takes longer than hundreds of further uses: what is timed is the second use, and the
first one counts as starting.
"""

from __future__ import annotations

import dataclasses
import heapq
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import Item, Result
from soundcheck.predict.request import PredictionRequest, Share

FEW = 4  # clean inputs that are timed
MOST = 32  # of them, if a model takes batches
CHANGED = 4  # times as many changed ones, if they are quick: a gain takes a thousandth of the time of a codec
QUICK = 3.0  # seconds that these further ones may take


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
    single_process: bool = False  # whether one process predicts, whatever the jobs

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
        return (self.start + work / (1 if self.single_process else jobs)) if self.asked else 0.0


def forecast_model(
    request: PredictionRequest, *, scratch: Path, jobs: int, fresh: bool = False, share: Share | None = None
) -> ModelForecast:
    """Count what a model that listens would predict, and time a few of its inputs if there is any.

    What it prints goes to a folder ``scratch``.
    """
    log = dataclasses.replace(request, out=scratch).log()
    return _Forecast(request, log=log, share=share).made(jobs, fresh)


class _Forecast(Prediction):
    """A model whose inputs are counted; only a few are predicted."""

    def made(self, jobs: int, fresh: bool) -> ModelForecast:
        """Time a few inputs, then count what is left."""
        try:
            self._entries = {} if fresh else self._store.load()
            timing = self._timed(*self._sample(), jobs)
        finally:
            self._store.close()
        known = {} if fresh else self._entries
        clean = sum(not one.change for one in self._inputs)
        left = {one.key: one.change for one in self._inputs if one.key not in known}
        changed_calls = sum(map(bool, left.values()))
        return ModelForecast(
            clean=clean,
            changed=len(self._inputs) - clean,
            kept=sum(one.key not in left for one in self._inputs),
            clean_calls=len(left) - changed_calls,
            changed_calls=changed_calls,
            single_process=self._entry.about.asked_here,
            **timing,
        )

    def _sample(self) -> tuple[list[str], list[str]]:
        """Choose inputs to time, clean ones first, and further ones if the model is quick.

        Keys are digests, so the smallest are a fair sample.
        """
        left = {one.key: one.change for one in self._inputs if one.key not in self._entries}
        few = min(MOST, max(FEW, 2 * (self._entry.batch or 1)))
        clean = heapq.nsmallest(few, (key for key, change in left.items() if not change))
        changed = heapq.nsmallest(CHANGED * few, (key for key, change in left.items() if change))
        costly = self._entry.about.asked_here  # requests cost something
        return clean + changed[:few], [] if costly else changed[few:]

    def _timed(self, keys: list[str], more: list[str], jobs: int) -> dict[str, float | int | str]:
        """Predict some inputs in one process; gives fields of :class:`ModelForecast`."""
        if not keys:
            return {}
        if problem := self._prepare(jobs, True):
            return {"problem": problem}
        first, further, batch = self._single(keys), self._single(more), self._entry.batch or 1
        changed = {item.calls[0].key for item in (*first, *further) if item.calls[0].change is not None}
        steps: dict[bool, list[float]] = {False: [], True: []}
        last = begin = time.monotonic()

        def finished(result: Result) -> None:
            nonlocal last
            now = time.monotonic()
            # A call that was lost has no time of its own.
            steps[result.key in changed].append(result.seconds / batch + result.before or now - last)
            last = now
            self._take(result)

        def rounds() -> Iterator[list[Item]]:
            yield first
            usual = statistics.fmean(steps[True][batch:] or steps[True] or [0.0])
            if further and len(further) * usual < QUICK and not self.failures:
                yield further

        self._dispatch(rounds(), ".timed", 1, finished, warm_up=True)
        self._store.settle()
        # The first batch of a kind also loads what answers or changes it.
        clean, other = (statistics.fmean(took[batch:] or took or [0.0]) for took in steps.values())
        answering = clean * len(steps[False]) + other * len(steps[True])
        problems = [failure.problem for failure in self.failures]
        return {
            "timed": len(steps[False]) + len(steps[True]),
            "start": max(0.0, last - begin - answering),
            "clean_seconds": clean or other,
            "changed_seconds": other or clean,
            "problem": problems[0] if len(problems) == len(keys) else "",
        }
