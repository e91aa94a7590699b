"""Measures models: what ``soundcheck run --efficiency SECONDS`` adds to a run, a table and a page.

Models are asked a few inputs again and again, each in a process of its own, all on one core.

Conventions
-----------
- Models take turns, first to last and then last to first, so that a machine that gets slower or faster does
  so for all of them. A turn is each input once, one signal a call.
- The first call of a process is apart: many models load themselves only then.
- A latency is what the model takes for a call, without reading the sound. Calls that fail or take too long
  have none; they are counted.
- Times differ from run to run, so none of this is part of the run: not of its results, its book, its record
  or its list of files. It lies beside the book, as ``efficiency.csv`` and ``efficiency.html``.
- Services are left out: their requests cost, and their times are those of the way there.
- What was measured is kept as ``efficiency.json``, call by call. As long as models, inputs, seconds, machine
  and Soundcheck are the same, nothing is measured again and the files stay as they are.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import importlib.util
import json
import math
import os
import platform
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import soundfile

from soundcheck import __version__
from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.common.packages import versions
from soundcheck.common.progress import Progress
from soundcheck.common.resources import library_digest
from soundcheck.common.store import JsonFile
from soundcheck.common.wording import counted
from soundcheck.corpora import audio
from soundcheck.corpora.load import Corpus
from soundcheck.efficiency.page import costs, page
from soundcheck.models.base import LookUpModel, movable_name
from soundcheck.predict import workers
from soundcheck.predict.request import list_segments
from soundcheck.predict.same_model import READ
from soundcheck.predict.workers import Excerpt, Log, ModelProcess, Result, Setup, Unit
from soundcheck.results.record import KeyFigure
from soundcheck.run.material import Material
from soundcheck.run.predictions import request_of
from soundcheck.suite.entries import ModelEntry
from soundcheck.suite.groups import numbers_of

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
    # Of the model, where its files tell; see :func:`parameters`
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


# What is added to a run -------------------------------------------------------------------------------------


_LIBRARIES = ("numpy", "scipy", "onnxruntime", "torch", "transformers", "tensorflow", "scikit-learn")


def machine() -> dict[str, str]:
    """Describe the machine by names for people; no name of a host or a user."""
    cores = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: *(\S.*)", cores.read_text(errors="replace") if cores.is_file() else "")
    one_core = ", of which one was used" if hasattr(os, "sched_setaffinity") else ""
    return {
        "processor": named[1] if named else platform.processor() or platform.machine() or "unknown",
        "cores": f"{os.cpu_count()}{one_core}",
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "soundcheck": __version__,
        **{name: version for name, version in versions(_LIBRARIES).items() if version},
    }


NAME = "efficiency"  # of the files, each with its suffix


@dataclasses.dataclass
class EfficiencyRecord(JsonFile):
    """What was measured: on what it depends, where and when, and which models have no time to measure."""

    depends: str
    machine: dict[str, str]
    day: datetime.date
    seconds: float
    models: list[Measured]
    unmeasured: list[str]


def measure_run(
    material: Material, figures: Sequence[KeyFigure], seconds: float, day: datetime.date
) -> list[str]:
    """Measure the models of a run, unless that has been done."""
    output, record = material.output, None
    place = output.folder / f"{NAME}.json"
    with tempfile.TemporaryDirectory(prefix="soundcheck-") as folder:
        inputs = {}
        for number, entry in enumerate(material.suite.models.values()):
            if entry.about.needs_audio and not entry.about.asked_here:
                corpora = request_of(entry, material, material.corpora).corpora
                heard = [corpus for corpus in corpora if corpus.entry.audio and not corpus.entry.probes_of]
                inputs[entry.name] = chosen(heard, Path(folder, f"{number}.wav"))
        contents = {
            name: [(item.kind, item.seconds, item.excerpt.content) for item in items]
            for name, items in inputs.items()
        }
        models = {name: material.fingerprints[name] for name in material.suite.models}
        depends = files.digest(json.dumps([contents, models, seconds, machine(), library_digest()]))
        with contextlib.suppress(OSError, ValueError):  # nothing was measured, or by another version
            record = EfficiencyRecord.read(place)
        again = record is None or record.depends != depends
        if again:
            measured = _measured(material, inputs, seconds)
            record = EfficiencyRecord(depends, machine(), day, seconds, *measured)
            record.write(place)
    frame = costs(record.models)
    table = output.folder / f"{NAME}.csv"
    files.write_text(table, frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    written = page(
        frame,
        figures,
        machine=record.machine,
        day=record.day.isoformat(),
        notes=_notes(record),
        synthetic=any(corpus.entry.synthetic for corpus in material.corpora),
        table=table.name,
    )
    files.write_text(output.folder / f"{NAME}.html", written)
    calls = sum(len(model.calls) for model in record.models)
    how = f"as measured on {record.day}: models and machine are the same"
    how = f"measured with {counted(calls, 'call')}" if again else how
    return [f"Efficiency: {Path(output.display_name) / NAME}.html, {how}"]


def _measured(
    material: Material, inputs: dict[str, list[Input]], seconds: float
) -> tuple[list[Measured], list[str]]:
    """Measure models that listen, take over times that files give, and name the other models."""
    suite, output, cache = material.suite, material.output, material.output.cache
    measured, setups, unmeasured = {}, [], []
    for entry in suite.models.values():
        if not inputs.get(entry.name):
            given = _given(entry, material)
            if given is None:
                unmeasured.append(entry.name)
            else:
                measured[entry.name] = given
            continue
        try:
            entry.about.prepare(entry, suite, cache=cache, jobs=1, progress=False)
        except InputError as error:
            measured[entry.name] = Measured(entry.name, stopped=error.problems[0].what)
            continue
        ignored = (str(output.folder), str(cache))
        setups.append(Setup(entry, suite, entry.about, (), material.sounds, ignored))
    log = Log(output.logs / f"{NAME}.log").write
    items = [inputs[setup.entry.name] for setup in setups]
    costs = measure(setups, items, seconds=seconds, cache=cache, log=log)
    for setup, model in zip(setups, costs, strict=True):
        # Libraries look up what the time is; that is no part of a model.
        sizes = {str(suite.root / name): n for name, n in model.files.items() if "/zoneinfo/" not in name}
        sizes |= named_bytes([setup.entry.path, *setup.entry.about.named_files(setup.entry, suite)])
        model.parameters = parameters(map(Path, sizes))
        model.files = {movable_name(Path(path), suite.root): size for path, size in sorted(sizes.items())}
        measured[model.model] = model
    return [measured[name] for name in suite.models if name in measured], unmeasured


def _given(entry: ModelEntry, material: Material) -> Measured | None:
    """Take over what a file of predictions says about times."""
    if entry.about.runs_code or not issubclass(entry.about, LookUpModel):
        return None
    times = entry.about.load(entry, material.suite).computing_times
    given = times is not None and times.any()
    return Measured(entry.name, given=[*map(tuple, times.T.tolist())]) if given else None


def _notes(record: EfficiencyRecord) -> list[str]:
    over = [model.model for model in record.models if model.stopped == OVER]
    notes = []
    if over:
        last = f"{', '.join(over)} used them up, so that there are fewer calls than {TURNS} turns make"
        notes.append(f"Each model had {record.seconds:g} s for its calls: {last}")
    stopped = [model for model in record.models if model.stopped not in ("", OVER)]
    notes += [f"{model.model}: stopped, because {model.stopped}" for model in stopped]
    for model in record.models:
        problems = filter(None, (*model.first_problems, *(call.problem for call in model.calls)))
        notes += [f"{model.model} gave no prediction: {text}" for text in list(dict.fromkeys(problems))[:3]]
    if record.unmeasured:
        names = ", ".join(record.unmeasured)
        why = "their predictions are looked up, guessed, of a service, or of an earlier run"
        notes.append(f"Not measured, because {why}: {names}")
    return notes


# Sizes -----------------------------------------------------------------------------------------------------

_HEADER_BYTES = 100_000_000  # of a safetensors file, by its specification


def named_bytes(paths: Iterable[Path | None]) -> dict[str, int]:
    """Give the size of files, and of all files in folders, in bytes; what is not there has none."""
    sizes: dict[str, int] = {}
    for path in paths:
        inside = sorted(path.rglob("*")) if path is not None and path.is_dir() else [path]
        sizes |= {str(file): file.stat().st_size for file in inside if file is not None and file.is_file()}
    return sizes


def parameters(paths: Iterable[Path]) -> int | None:
    """Count the numbers in safetensors files and ONNX graphs; ``None`` if that cannot be known."""
    counts = [_COUNTERS[path.suffix](path) for path in sorted(set(paths)) if path.suffix in _COUNTERS]
    return sum(counts) if counts and None not in counts else None


def _safetensors(path: Path) -> int | None:
    """Count by the header: its length as 8 bytes, then JSON that gives the shape of each tensor."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size <= _HEADER_BYTES else {}
        return sum(math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _onnx(path: Path) -> int | None:
    if importlib.util.find_spec("onnx") is None:  # ONNX Runtime does without
        return None
    import onnx

    try:
        graph = onnx.load(path, load_external_data=False).graph
    except Exception:  # of Protocol Buffers, whose errors have no common base
        return None
    return sum(math.prod(tensor.dims) for tensor in graph.initializer)


_COUNTERS = {".safetensors": _safetensors, ".onnx": _onnx}
