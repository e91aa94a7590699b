"""How fast ONNX models are asked, against a plain loop over ONNX Runtime.

Run ``python benchmarks/onnx_models.py [--seconds 4]``. Networks of convolutions answer noise of a second: one
signal a call, and eight a call. The engine's path is the real one: a worker reads recordings, calls the
model, checks the answers and sends them, with its process started and the model loaded before the clock runs.
The loop reads the same recordings with soundfile, runs the same session in this process and keeps the
answers. The two take turns, and the best of each counts.

First, inputs a second by the clock, on all cores: as many workers as cores against the loop whose session
has the library's own threads (the better of its default and one). This wants a quiet machine. Then what a
process computes for an input (CPU seconds), one worker against a session with one thread: other work on the
machine matters little. The second ratio has also what the process of the run computes meanwhile: it deals
out units and hears answers, beside the worker where there is a core left.

What the engine does beside is the same for all networks, so small ones show it. Ends with 1 if the workers
are less than :data:`GOAL` times as fast as the loop by the clock, by more than :data:`SPREAD`: so far apart
are runs of the same loop, each in a process of its own (twelve of them: 23.9 to 24.4 ms an input).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import psutil
import soundfile

from soundcheck.augment.sounds import Sounds
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.onnx import graph as onnx_graph
from soundcheck.models.onnx.model import OnnxKeys
from soundcheck.predict.prediction import Dispatcher
from soundcheck.predict.workers import Call, Excerpt, LocalExecutor, Log, Result, Setup
from soundcheck.suite.entries import ModelEntry, ModelKeys, Suite

GOAL = 1.0
SPREAD = 0.02
ROUNDS = 4
RATE = 16000
FILES = 64
BATCHES = (1, 8)
LAYERS = {"tiny": (16, 32), "small": (64, 128, 128), "usual": (256, 512, 512)}  # channels of convolutions


def network(path: Path, channels: tuple[int, ...]) -> None:
    """Write a network: strided convolutions, a mean over time, three numbers."""
    from onnx import TensorProto, helper, numpy_helper, save

    rng = np.random.default_rng(0)
    constants = {"middle": np.array([1]), "time": np.array([-1])}
    nodes, last, width = [helper.make_node("Unsqueeze", ["signal", "middle"], ["0"])], "0", 1
    for number, count in enumerate(channels, 1):
        kernel = rng.normal(0, 1 / np.sqrt(10 * width), (count, width, 10)).astype(np.float32)
        constants[f"kernel {number}"] = kernel
        nodes.append(helper.make_node("Conv", [last, f"kernel {number}"], [f"c{number}"], strides=[5]))
        nodes.append(helper.make_node("Relu", [f"c{number}"], [f"{number}"]))
        last, width = f"{number}", count
    constants["weight"] = rng.normal(0, 0.1, (width, 3)).astype(np.float32)
    nodes.append(helper.make_node("ReduceMean", [last, "time"], ["mean"], keepdims=0))
    nodes.append(helper.make_node("MatMul", ["mean", "weight"], ["logits"]))
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("signal", TensorProto.FLOAT, ("signals", "samples"))],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ("signals", 3))],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), str(path))


# inputs -> seconds by the clock, CPU seconds of who calls the model, and of all
Asked = Callable[[int], tuple[float, float, float]]


@contextlib.contextmanager
def engine(path: Path, files: list[Path], batch: int, jobs: int) -> Iterator[Asked]:
    """Ask workers about recordings."""
    options = OnnxKeys().model_dump(exclude={*ModelKeys.model_fields})
    tasks = ("arousal", "dominance", "valence")
    entry = ModelEntry("network", "onnx", path.name, tasks, path=path, batch=batch, options=options)
    suite = Suite(models={"network": entry}, tasks=BUILTIN, root=path.parent, file=path.parent / "suite.yml")
    setup = Setup(entry, suite, entry.about, (), Sounds())
    log = path.parent / "model.log"
    with LocalExecutor(setup, jobs, path.parent, lambda _: Log(log).write) as workers:
        results: list[Result] = []
        dispatcher = Dispatcher(workers, jobs, results.append)

        def ask(count: int) -> tuple[float, float, float]:
            results.clear()
            clock, begin, before = time.perf_counter(), _computing(), time.process_time()
            dispatcher.run(
                Call(f"{before} {number}", None, Excerpt(str(files[number % FILES]), None, None, ""))
                for number in range(count)
            )
            clock, taken = time.perf_counter() - clock, _computing() - begin
            failed = [result.problem for result in results if result.problem]
            if failed or len(results) != count:
                raise SystemExit(f"{len(failed)} of {count} calls failed: {failed[:1]}")
            return clock, taken, taken + time.process_time() - before

        yield ask


def _computing() -> float:
    spent = [child.cpu_times() for child in psutil.Process().children(recursive=True)]  # and of forks
    return sum(times.user + times.system for times in spent)


@contextlib.contextmanager
def loop(path: Path, files: list[Path], batch: int, threads: int) -> Iterator[Asked]:
    """Ask the session itself, with one thread or with as many as the library chooses (0)."""
    import onnxruntime

    options = onnx_graph.options(onnxruntime) if threads else onnxruntime.SessionOptions()
    session = onnxruntime.InferenceSession(str(path), options)

    def ask(count: int) -> tuple[float, float, float]:
        clock, begin = time.perf_counter(), time.process_time()
        answers = []
        for first in range(0, count, batch):
            names = [files[number % FILES] for number in range(first, first + batch)]
            sounds = np.stack([soundfile.read(name, dtype="float32")[0] for name in names])
            answers.extend(session.run(None, {"signal": sounds})[0])
        taken = time.process_time() - begin
        return time.perf_counter() - clock, taken, taken

    yield ask


def compare(askers: Sequence[Asked], seconds: float) -> np.ndarray:
    """Find milliseconds an input, ``(rounds, askers, 3)``: by the clock, of who calls the model, of all."""
    count = FILES
    for ask in askers:  # what is made at first use
        ask(count)
    while askers[0](count)[0] < seconds / ROUNDS:
        count *= 2
    return 1000 / count * np.array([[ask(count) for ask in askers] for _ in range(ROUNDS)])


def by_the_clock(name: str, path: Path, files: list[Path], batch: int, seconds: float) -> bool:
    """Say how many inputs a second all cores answer; return whether the goal is met."""
    jobs = os.cpu_count() or 1
    with (
        loop(path, files, batch, 0) as threaded,
        loop(path, files, batch, 1) as single,
        engine(path, files, batch, jobs) as workers,
    ):
        rounds = compare((threaded, single, workers), seconds)[:, :, 0]
    default, one, ours = 1000 / rounds.min(axis=0)
    turns = rounds[:, :2].min(axis=1) / rounds[:, 2]
    print(
        f"{name} network, {batch} a call: {default:.0f} inputs a second in a plain loop with the library's "
        f"threads, {one:.0f} with one, {ours:.0f} by {jobs} workers: "
        f"{ours / max(default, one):.2f} times as fast "
        f"({turns.min():.2f} to {turns.max():.2f} in {ROUNDS} turns)",
        flush=True,
    )
    return bool(ours >= (GOAL - SPREAD) * max(default, one))


def computed(name: str, path: Path, files: list[Path], batch: int, seconds: float) -> None:
    """Say what an input costs a processor."""
    with loop(path, files, batch, 1) as plain, engine(path, files, batch, 1) as asked:
        (_, alone, _), (_, worker, everything) = compare((plain, asked), seconds).min(axis=0)
    print(
        f"{name} network, {batch} a call: {alone:.3f} CPU ms an input in a plain loop, "
        f"{worker:.3f} in a worker: {alone / worker:.2f} times as fast; "
        f"with the process of the run {everything:.3f}: {alone / everything:.2f}",
        flush=True,
    )


def main() -> int:
    """Time both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory(prefix="soundcheck-benchmark-") as place:
        folder = Path(place)
        rng = np.random.default_rng(0)
        files = [folder / f"{number}.wav" for number in range(FILES)]
        for file in files:
            soundfile.write(file, rng.normal(0, 0.1, RATE), RATE)
        for name, channels in LAYERS.items():
            network(folder / f"{name}.onnx", channels)
        cases = [
            (name, folder / f"{name}.onnx", files, batch, seconds) for name in LAYERS for batch in BATCHES
        ]
        met = [by_the_clock(*case) for case in cases]
        for case in cases:
            computed(*case)
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
