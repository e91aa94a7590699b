"""How fast ONNX models are asked, against a plain loop over ONNX Runtime.

Run ``python benchmarks/onnx_models.py [--seconds 4]``. Networks of convolutions answer noise of a second: one
signal a call, and eight a call. The engine's path is the real one: a worker reads recordings, calls the
model, checks the answers and sends them, with its process started and the model loaded before the clock runs.
The loop reads the same recordings with soundfile and runs the same session in this process. What counts is
the time that a process computes (CPU seconds), so other work on the machine matters little.

What the engine does beside is the same for all networks, so small ones show it. Ends with 1 if it is more
than :data:`MOST` milliseconds an input, or if a network of usual size is less than :data:`GOAL` times as
fast.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import soundfile

from soundcheck.common.tasks import BUILTIN
from soundcheck.models.onnx import session as onnx_session
from soundcheck.models.onnx.model import OnnxKeys
from soundcheck.predict.dispatch import Dispatcher
from soundcheck.predict.local import LocalWorkers
from soundcheck.predict.protocol import Call, Item, Setup
from soundcheck.sounds.sound import Sounds
from soundcheck.suite.entries import ModelEntry, Suite
from soundcheck.suite.model_kind import ModelKeys

GOAL = 0.95
MOST = 0.5
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


def rate(ask: Callable[[int], float], seconds: float) -> float:
    """Find the inputs a second, with about as many inputs as the seconds allow."""
    ask(FILES)
    count = FILES
    while (took := ask(count)) < seconds / 4:
        count *= 2
    return max(count / took, *(count / ask(count) for _ in range(3)))


def engine(path: Path, files: list[Path], batch: int, seconds: float) -> float:
    """Ask a worker about recordings."""
    options = OnnxKeys().model_dump(exclude={*ModelKeys.model_fields})
    tasks = ("arousal", "dominance", "valence")
    entry = ModelEntry("network", "onnx", path.name, tasks, path=path, batch=batch, options=options)
    suite = Suite(models={"network": entry}, tasks=BUILTIN, root=path.parent, file=path.parent / "suite.yml")
    setup = Setup(entry, suite, (), Sounds())
    failed = []
    with LocalWorkers(setup, 1, path.parent, path.parent / "model.log") as workers:
        dispatcher = Dispatcher(workers, 1, lambda result: failed.extend([result] * bool(result.problem)))

        def computing() -> float:
            spent = [child.cpu_times() for child in psutil.Process().children()]
            return sum(times.user + times.system for times in spent)

        def ask(count: int) -> float:
            begin = computing()
            items = [
                Item(
                    str(files[number % FILES]), None, None, "", (Call(f"{time.monotonic()} {number}", None),)
                )
                for number in range(count)
            ]
            dispatcher.run(items)
            return computing() - begin

        found = rate(ask, seconds)
    if failed:
        raise SystemExit(f"{len(failed)} calls failed: {failed[0].problem}")
    return found


def loop(path: Path, files: list[Path], batch: int, seconds: float) -> float:
    """Ask the session itself."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), onnx_session.options(onnxruntime))

    def ask(count: int) -> float:
        begin = time.process_time()
        for first in range(0, count, batch):
            names = [files[number % FILES] for number in range(first, first + batch)]
            session.run(
                None, {"signal": np.stack([soundfile.read(name, dtype="float32")[0] for name in names])}
            )
        return time.process_time() - begin

    return rate(ask, seconds)


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
                plain = loop(path, files, batch, seconds)
                asked = engine(path, files, batch, seconds)
                beside = 1000 * (1 / asked - 1 / plain)
                missed += beside > MOST if name != "usual" else asked / plain < GOAL
                print(
                    f"{name} network, {batch} a call: {asked:.0f} inputs a CPU second through the engine, "
                    f"{plain:.0f} in a plain loop: {asked / plain:.2f} times as fast, "
                    f"{beside:.2f} ms more an input",
                    flush=True,
                )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
