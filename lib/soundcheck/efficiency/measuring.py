"""Asks models a few inputs again and again, each in a process of its own, all on one core.

Conventions
-----------
- Models take turns, first to last and then last to first, so that a machine that gets slower or faster does
  so for all of them. A turn is each input once, one signal a call.
- The first call of a process is apart: many models load themselves only then.
- A latency is what the model takes for a call, without reading the sound. Calls that fail or take too long
  have none; they are counted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import soundfile

from soundcheck.common.progress import Progress
from soundcheck.common.store import JsonFile
from soundcheck.corpora import audio
from soundcheck.corpora.load import Corpus
from soundcheck.predict import workers
from soundcheck.predict.request import list_segments
from soundcheck.predict.same_model import READ
from soundcheck.predict.workers import Excerpt, ModelProcess, Result, Setup, Unit
from soundcheck.suite.corpus_format import numbers_of

FEW = 8  # recorded segments
DURATIONS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds of joined ones
RECORDED, JOINED = "recorded", "joined"  # a segment as it is; segments behind each other, for a duration
TURNS = 40  # of a model, at most
OVER = "its seconds were over"
MOST_LOST = 3  # processes of a model, after which it is stopped
LEAST_FREE = 0.1  # of the machine's memory; a model that holds more than is left is stopped
FULL = "it held more memory than the machine had left"


class Input(NamedTuple):
    """An input of the models: its kind, how long it sounds in seconds, and where it is."""

    kind: str
    seconds: float
    excerpt: Excerpt


@dataclasses.dataclass(frozen=True)
class Call:
    """A call after the first of a process."""

    turn: int  # number of the model's turn
    kind: str  # of the input, see :class:`Input`
    duration: float
    seconds: float | None  # that the model took; ``None`` if it predicted nothing
    problem: str = ""  # why it gave none
    timed_out: bool = False  # whether it took longer than its time limit


@dataclasses.dataclass
class Measured(JsonFile):
    """What a model costs."""

    model: str  # its name
    # To load it into a process that is there; ``None`` if it cannot be loaded
    load_seconds: float | None = None
    first_seconds: float | None = None  # of the first call; ``None`` if it predicted nothing
    calls: list[Call] = dataclasses.field(default_factory=list)  # all further ones
    # Why first calls of processes gave no prediction
    first_problems: list[str] = dataclasses.field(default_factory=list)
    # That the model's process, and what it has started, held after its first call; 0 = nobody knows
    first_bytes: int = 0
    # After each turn: calls so far, and bytes that they held then
    memory: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    peak_bytes: int = 0  # the most that they held at any time; programs that end with their call are not seen
    # What it has read, without installed packages: absolute path or one relative to the suite -> bytes
    files: dict[str, int] = dataclasses.field(default_factory=dict)
    stopped: str = ""  # why it was stopped
    # Of the model, where its files tell; see :mod:`soundcheck.efficiency.step`
    parameters: int | None = None
    # Seconds that predictions took and those of their sounds, of a model that is a file which tells them
    given: list[tuple[float, float]] = dataclasses.field(default_factory=list)


def chosen(corpora: Sequence[Corpus], file: Path) -> list[Input]:
    """Choose the inputs of a model; the first one has a usual duration."""
    segments = [segment for corpus in corpora for segment in list_segments(corpus, [], None)]
    if not segments:
        return []
    seconds = np.concatenate([numbers_of(corpus.segments, "duration") for corpus in corpora])
    excerpts = [segment.excerpt for segment in segments]
    by_length = sorted(zip(seconds, excerpts, strict=True), key=lambda pair: (pair[0], pair[1].content))
    few = min(FEW, len(segments))
    inputs = [
        Input(RECORDED, round(float(length), 3), excerpt)
        for length, excerpt in (by_length[int((n + 0.5) * len(segments) / few)] for n in range(few))
    ]
    inputs.insert(0, inputs.pop(few // 2))
    signals, samples = [], 0
    for excerpt in sorted(excerpts, key=lambda excerpt: excerpt.content):
        if samples >= max(DURATIONS) * audio.SAMPLING_RATE:
            break
        signals.append(audio.read(excerpt.path, excerpt.start, excerpt.end))
        samples += len(signals[-1])
    soundfile.write(file, np.concatenate(signals), audio.SAMPLING_RATE, subtype="FLOAT")
    durations = [length for length in DURATIONS if length * audio.SAMPLING_RATE <= samples]
    return inputs + [Input(JOINED, length, Excerpt(str(file), 0.0, length, "")) for length in durations]


def measure(
    setups: Sequence[Setup],
    inputs: Sequence[Sequence[Input]],
    *,
    seconds: float,
    cache: Path,
    log: Callable[[bytes], None] = lambda _: None,
) -> list[Measured]:
    """Measure models, all of which are in memory at a time, with so many seconds of calls each."""
    models = [_Model(setup, items, seconds, cache, log) for setup, items in zip(setups, inputs, strict=True)]
    try:
        with Progress("efficiency", "turns", TURNS) as progress:
            for turn in range(TURNS):
                for model in models if turn % 2 == 0 else models[::-1]:
                    model.take_turn(turn)
                progress.update()
    finally:
        for model in models:
            model.end()
    return [model.costs for model in models]


class _Model:
    """A model that is measured."""

    def __init__(
        self, setup: Setup, inputs: Sequence[Input], seconds: float, cache: Path, log: Callable
    ) -> None:
        self.costs = Measured(setup.entry.name)
        self._inputs, self._left = inputs, seconds
        self._process = ModelProcess(setup, cache, log)
        self._warm, self._lost = False, 0

    def end(self) -> None:
        """End the process."""
        self._process.end(politely=True)

    def take_turn(self, turn: int) -> None:
        """Ask about all inputs, as far as there is time."""
        if self.costs.stopped:
            return
        for item in self._inputs:
            while not self._warm and not self.costs.stopped:  # again after a process was lost
                self._warm_up()
            if self.costs.stopped:
                break
            result, late, took = self._call(item.excerpt)
            seconds = None if result.problem else result.seconds
            self.costs.calls.append(Call(turn, item.kind, item.seconds, seconds, result.problem, late))
            self._left -= took
            if self._left < 0:
                self._stop(OVER)
            free, whole = _free()
            if free < LEAST_FREE * whole and free < self._held():  # before the system ends any process
                self._stop(FULL)
        if held := self._held():
            self.costs.memory.append((len(self.costs.calls), held))
        if self.costs.stopped:
            self.end()

    def _stop(self, why: str) -> None:
        self.costs.stopped = self.costs.stopped or why

    def _held(self) -> int:
        """Read the bytes that the process and its descendants hold, and keep the most of them."""
        held, peak, processes = 0, 0, []
        with contextlib.suppress(psutil.Error):
            if self._process.process_id is not None:
                parent = psutil.Process(self._process.process_id)
                processes = [parent, *parent.children(recursive=True)]
        for process in processes:
            with contextlib.suppress(psutil.Error, OSError):
                now, status = process.memory_info().rss, Path(f"/proc/{process.pid}/status")
                most = re.search(r"VmHWM:\s*(\d+)", status.read_text() if status.is_file() else "")
                held, peak = held + now, peak + max(now, 1024 * int(most[1]) if most else 0)
        self.costs.peak_bytes = max(self.costs.peak_bytes, peak)
        return held

    def _warm_up(self) -> None:
        result, _, _ = self._call(self._inputs[0].excerpt)
        self.costs.load_seconds = self.costs.load_seconds or self._process.load_seconds or None
        if result.problem:
            self.costs.first_problems.append(result.problem)
        elif self.costs.first_seconds is None:
            self.costs.first_seconds, self.costs.first_bytes = result.seconds, self._held()

    def _call(self, excerpt: Excerpt) -> tuple[Result, bool, float]:
        """Predict once; gives the result, whether it came too late, and the seconds with reading."""
        came: list[Result] = []

        def emit(results: list[Result]) -> None:
            if not results:  # the model is loaded, and has had no call: it uses one core, where that can be
                with contextlib.suppress(AttributeError, OSError):
                    os.sched_setaffinity(self._process.process_id, {max(os.sched_getaffinity(0))})
            came.extend(results)

        begin = time.monotonic()
        outcome = self._process.answer(Unit((workers.Call("", None, excerpt),)), emit)
        for result in came:
            for opened in result.opened:
                if opened.kind == READ:
                    self.costs.files[opened.name] = opened.status.size
        self._warm = not outcome.problem
        if self._warm:
            return came[0], False, outcome.seconds
        self._lost += 1
        if self._lost == MOST_LOST:
            self._stop(f"its process was lost {MOST_LOST} times, the last time: {outcome.problem}")
        return Result("", problem=outcome.problem), outcome.timed_out, time.monotonic() - begin


def _free() -> tuple[int, int]:
    """Give the bytes of memory that the machine has left, and all of them."""
    memory = psutil.virtual_memory()
    return memory.available, memory.total
