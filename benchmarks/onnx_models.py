"""How fast ONNX models are asked, against a plain loop over ONNX Runtime.

Run ``python benchmarks/onnx_models.py [--seconds 4]``. Networks of convolutions answer noise of a second: one
signal a call, and eight a call. The engine's path is the real one: a worker reads recordings, calls the
model, checks the answers and sends them, with its process started and the model loaded before the clock runs.
The loop reads the same recordings with soundfile, runs the same session in this process and keeps the
answers. What counts is the time that a process computes (CPU seconds), so other work on the machine matters
little; the two take turns, and the best of each counts. The second ratio has also what the process of the
run computes meanwhile: it deals out units and hears answers, beside the worker where there is a core left.

What the engine does beside is the same for all networks, so small ones show it. Ends with 1 if a worker is
less than :data:`GOAL` times as fast as the loop.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import soundfile

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.onnx import session as onnx_session
from soundcheck.models.onnx.model import OnnxKeys
from soundcheck.predict.dispatch import Dispatcher
from soundcheck.predict.local import LocalWorkers
from soundcheck.predict.protocol import Call, Item, Result, Setup
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.model_kind import ModelKeys

GOAL = 1.0
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


Asked = Callable[[int], tuple[float, float]]  # inputs -> CPU seconds of who calls the model, and of all


@contextlib.contextmanager
def engine(path: Path, files: list[Path], batch: int) -> Iterator[Asked]:
    """Ask a worker about recordings."""
    options = OnnxKeys().model_dump(exclude={*ModelKeys.model_fields})
    tasks = ("arousal", "dominance", "valence")
    entry = ModelEntry("network", "onnx", path.name, tasks, path=path, batch=batch, options=options)
    suite = Suite(models={"network": entry}, tasks=BUILTIN, root=path.parent, file=path.parent / "suite.yml")
    setup = Setup(entry, suite, (), Sounds())
    with LocalWorkers(setup, 1, path.parent, path.parent / "model.log") as workers:
        results: list[Result] = []
        dispatcher = Dispatcher(workers, 1, results.append)

        def ask(count: int) -> tuple[float, float]:
            results.clear()
            begin, own = _computing(), time.process_time()
            dispatcher.run(
                Item(str(files[number % FILES]), None, None, "", (Call(f"{own} {number}", None),))
                for number in range(count)
            )
            taken = _computing() - begin
            failed = [result.problem for result in results if result.problem]
            if failed or len(results) != count:
                raise SystemExit(f"{len(failed)} of {count} calls failed: {failed[:1]}")
            return taken, taken + time.process_time() - own

        yield ask


def _computing() -> float:
    spent = [child.cpu_times() for child in psutil.Process().children()]
    return sum(times.user + times.system for times in spent)


@contextlib.contextmanager
def loop(path: Path, files: list[Path], batch: int) -> Iterator[Asked]:
    """Ask the session itself."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), onnx_session.options(onnxruntime))

    def ask(count: int) -> tuple[float, float]:
        begin = time.process_time()
        answers = []
        for first in range(0, count, batch):
            names = [files[number % FILES] for number in range(first, first + batch)]
            sounds = np.stack([soundfile.read(name, dtype="float32")[0] for name in names])
            answers.extend(session.run(None, {"signal": sounds})[0])
        taken = time.process_time() - begin
        return taken, taken

    yield ask


def compare(path: Path, files: list[Path], batch: int, seconds: float) -> tuple[float, float, float]:
    """Find the milliseconds an input of the loop, of a worker, and of a worker and the run."""
    with engine(path, files, batch) as asked, loop(path, files, batch) as plain:
        both = (plain, asked)
        count = FILES
        for ask in both:  # what is made at first use
            ask(count)
        while plain(count)[0] < seconds / ROUNDS:
            count *= 2
        rounds = [[ask(count) for ask in both] for _ in range(ROUNDS)]
    alone = min(one[0] for one, _ in rounds)
    worker, everything = (min(two[part] for _, two in rounds) for part in (0, 1))
    return tuple(1000 * taken / count for taken in (alone, worker, everything))


def main() -> int:
    """Time both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0)
    seconds = parser.parse_args().seconds
    missed = 0
    with tempfile.TemporaryDirectory(prefix="soundcheck-benchmark-") as place:
        folder = Path(place)
        rng = np.random.default_rng(0)
        files = [folder / f"{number}.wav" for number in range(FILES)]
        for file in files:
            soundfile.write(file, rng.normal(0, 0.1, RATE), RATE)
        for name, channels in LAYERS.items():
            path = folder / f"{name}.onnx"
            network(path, channels)
            for batch in BATCHES:
                alone, worker, everything = compare(path, files, batch, seconds)
                missed += alone / worker < GOAL
                print(
                    f"{name} network, {batch} a call: {alone:.3f} CPU ms an input in a plain loop, "
                    f"{worker:.3f} in a worker: {alone / worker:.2f} times as fast; "
                    f"with the process of the run {everything:.3f}: {alone / everything:.2f}",
                    flush=True,
                )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
