"""What a run would do: inputs with and without an answer, seconds a call, and the time of it all.

Corpora are loaded and each model predicts a few inputs, as in a run; only the cache remembers their answers.
The first use of a change loads what it needs, which takes longer than hundreds of further uses: what is timed
is the second use, and the first one counts as starting.
"""

from __future__ import annotations

import dataclasses
import heapq
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from soundcheck.common.messages import InputError, counted, duration, quoted
from soundcheck.corpora.load import Corpus
from soundcheck.predict.prediction import Prediction
from soundcheck.predict.protocol import Call, Result
from soundcheck.predict.request import Share
from soundcheck.results.record import RunRecord
from soundcheck.run.material import Material
from soundcheck.run.output import Output
from soundcheck.run.predictions import request_of
from soundcheck.run.selection import RunOptions

FEW = 4  # clean inputs that are timed
MOST = 32  # of them, if a model takes batches
CHANGED = 4  # times as many changed ones, if they are quick: a gain takes a thousandth of the time of a codec
QUICK = 3.0  # seconds that these further ones may take


@dataclasses.dataclass(frozen=True)
class ModelForecast:
    """What a model would predict."""

    clean: int = 0  # inputs: segments, and ...
    changed: int = 0  # ... segments times changes of the signal
    cached: int = 0  # how many of them all have an answer in the cache
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
    def missing(self) -> int:
        """Inputs without an answer."""
        return self.inputs - self.cached

    def seconds(self, jobs: int) -> float:
        """Estimate how long all answers take with some processes."""
        work = self.clean_calls * self.clean_seconds + self.changed_calls * self.changed_seconds
        return (self.start + work / (1 if self.single_process else jobs)) if self.missing else 0.0


class _Forecast(Prediction):
    """A model whose inputs are counted; only a few are predicted."""

    def made(self, jobs: int) -> ModelForecast:
        """Time a few inputs, then count what is left."""
        changes, fresh = {item.key: item.change for item in self.inputs}, self._request.fresh
        try:
            self._entries = {} if fresh else self._store.load()
            timing = self._timed({key: changes[key] for key in changes.keys() - self._entries}, jobs)
        finally:
            self._store.close()
        left = changes.keys() - ({} if fresh else self._entries)
        clean, clean_left = sum(not row.change for row in self.inputs), sum(not changes[key] for key in left)
        return ModelForecast(
            clean=clean,
            changed=len(self.inputs) - clean,
            cached=sum(item.key not in left for item in self.inputs),
            clean_calls=clean_left,
            changed_calls=len(left) - clean_left,
            single_process=self._entry.about.asked_here,
            **timing,
        )

    def _timed(self, left: dict[str, str], jobs: int) -> dict[str, float | int | str]:
        """Predict some inputs in one process; gives fields of :class:`ModelForecast`.

        Those are clean ones, changed ones, and further changed ones if the model is quick. Keys are digests,
        so the smallest are a fair sample.
        """
        if not left:
            return {}
        if problem := self._prepare(jobs):
            return {"problem": problem}
        batch, costly = self._entry.batch or 1, self._entry.about.asked_here  # requests cost something
        few = min(MOST, max(FEW, 2 * batch))
        changed = heapq.nsmallest(CHANGED * few, (key for key, change in left.items() if change))
        clean = heapq.nsmallest(few, (key for key, change in left.items() if not change))
        first, further = self._calls(clean + changed[:few]), self._calls([] if costly else changed[few:])
        steps: dict[bool, list[float]] = {False: [], True: []}
        last = begin = time.monotonic()

        def finished(result: Result) -> None:
            nonlocal last
            now = time.monotonic()
            # A call that was lost has no time of its own.
            steps[bool(left[result.key])].append(result.seconds / batch + result.before or now - last)
            last = now
            self._take(result)

        def rounds() -> Iterator[list[Call]]:
            yield first
            usual = statistics.fmean(steps[True][batch:] or steps[True] or [0.0])
            if further and len(further) * usual < QUICK and not self.failures:
                yield further

        self._dispatch(rounds(), ".timed", 1, finished, warm_up=True)
        self._store.settle()
        # The first batch of a kind also loads what answers or changes it.
        usual, other = (statistics.fmean(took[batch:] or took or [0.0]) for took in steps.values())
        answering = usual * len(steps[False]) + other * len(steps[True])
        problems = [failure.problem for failure in self.failures]
        return {
            "timed": len(steps[False]) + len(steps[True]),
            "start": max(0.0, last - begin - answering),
            "clean_seconds": usual or other,
            "changed_seconds": other or usual,
            "problem": problems[0] if len(problems) == len(first) else "",
        }


# What is printed --------------------------------------------------------------------------------------------


NOTICES = 10  # of a corpus, at most


def forecast(material: Material, options: RunOptions, took: float, share: Share | None) -> str:
    """Say what a run would do, as lines for a terminal; ``took`` are the seconds in which all was loaded."""
    jobs, name = options.jobs, material.output.display_name
    lines = [
        f"Plan of {f'shard {share}' if share else 'a run'} into {name}. "
        "Nothing was run, and nothing written but the cache."
    ]
    models: dict[str, ModelForecast] = {}
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as scratch:
        for entry in material.suite.models.values():
            about = request_of(entry, material, material.corpora)
            if not entry.about.needs_audio:
                lines.append(f"{entry.name}: looked up, nothing to predict")
            elif about.corpora:
                log = Path(scratch) / "log"
                model = _Forecast(dataclasses.replace(about, fresh=options.fresh), share, log).made(jobs)
                models[entry.name] = model
                lines.append(_of_model(entry.name, model, len(about.changes)))
    families = [family.name for family in material.families]
    lines.append(f"Families: {len(families)} ({', '.join(families)})")
    lines += [line for corpus in material.corpora for line in _of_corpus(corpus)]
    lines += material.plan.notices
    if any(family.probes for family in material.families):
        lines.append("Words around lost keywords are synthesised and recognised later, and are not counted")
    if not any(model.missing for model in models.values()):
        lines.append(
            "Nothing is left to predict: a run would repeat a few inputs and use cached predictions."
        )
    return "\n".join([*lines, _time(models, material.output, jobs, took, share)])


def _of_model(name: str, model: ModelForecast, changes: int) -> str:
    under = f"{model.changed} under {counted(changes, 'change')}"
    line = f"{name}: {model.inputs} inputs ({model.clean} clean, {under}), "
    line += f"of them {model.cached} cached and {model.missing} to predict"
    if model.problem:
        return f"{line}; no prediction for {counted(model.timed, 'input')}: {model.problem}"
    if not model.timed:
        return line
    speed = f"{model.clean_seconds:.2g} s a clean input, {model.changed_seconds:.2g} s a changed one"
    return f"{line}; {speed}, {model.start:.1f} s to start, timed with {counted(model.timed, 'input')}"


def _of_corpus(corpus: Corpus) -> list[str]:
    """Say what a reader of results must know of a corpus, in sentences, and what would be left out."""
    lines = [*corpus.notices, *corpus.unlabelled]
    if corpus.left_out:
        count, first = counted(len(corpus.left_out), "item"), corpus.left_out[0]
        lines.append(f"{count} would be left out, the first {quoted(first.item)}: {first.reason}")
    if len(lines) > NOTICES:
        lines[NOTICES:] = [f"{len(lines) - NOTICES} notices more, which the page of the corpus shows"]
    return [f"{corpus.name}: {line}" for line in lines]


def _time(
    models: dict[str, ModelForecast], output: Output, jobs: int, took: float, share: Share | None
) -> str:
    """Estimate the time; what notebooks and book take, the last run tells."""
    predictions = sum(model.seconds(jobs) for model in models.values())
    basis = "timed" if any(model.missing for model in models.values()) else "nothing to predict"
    if any(model.problem for model in models.values()):
        basis = "without models that gave no prediction"
    total, parts = took + predictions, [f"corpora {duration(took)} (at most, as just now)"]
    parts.append(f"predictions {duration(predictions)} ({basis})")
    if share is None:
        try:
            last = RunRecord.read(output.record).seconds
        except InputError:
            parts.append("notebooks and book unknown, as there was no run yet")
        else:
            rest = sum(last.get(stage, 0.0) for stage in ("notebooks", "results", "book"))
            total += rest
            parts.append(f"notebooks and book {duration(rest)} (at most, as in the last run)")
    return f"Time: about {duration(total)}: {', '.join(parts)}"
