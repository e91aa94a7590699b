"""How much faster predictions are with more workers, of this machine and of a Dask cluster on it.

Run ``python benchmarks/workers.py``; it takes some minutes, and wants a machine with nothing else to do. Two
models: one that computes all the time, by one and by two workers, and one that sleeps for 50 ms, as one that
asks a server would, by one and by eight. Processes are started, and models loaded, before the clock runs,
because a run pays for that once.

Ends with 1 if a goal is missed: 1.8 times as fast with two workers on two cores, 7 times with eight.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile

from soundcheck.augment.sounds import Sounds
from soundcheck.common.tasks import BUILTIN
from soundcheck.models.base import check_model
from soundcheck.predict.cluster import ClusterExecutor, connect
from soundcheck.predict.prediction import Dispatcher
from soundcheck.predict.workers import Call, Excerpt, LocalExecutor, Log, Setup
from soundcheck.suite.entries import ModelEntry, Suite

MODELS = """
import time

def computes(signal, sampling_rate):
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    return {"arousal": 0.5}

def sleeps(signal, sampling_rate):
    time.sleep(0.05)
    return {"arousal": 0.5}
"""
CASES = {"computes": (2, 1.8, 600), "sleeps": (8, 7.0, 1200)}  # workers, goal, calls
WARM_CALLS = 20  # a worker


def calls_of(folder: Path, name: str, count: int) -> list[Call]:
    """Ask about the same recording again and again."""
    path = str(folder / "noise.wav")
    numbers = map(str, range(count))  # as if they were recordings, each of which is read
    return [Call(f"{name} {number}", None, Excerpt(path, None, None, number)) for number in numbers]


@contextlib.contextmanager
def workers(kind: str, setup: Setup, count: int, folder: Path) -> Iterator[LocalExecutor | ClusterExecutor]:
    """Give some workers of a kind."""
    log = Log(folder / "model.log")
    if kind == "local":
        with LocalExecutor(setup, count, folder, lambda _: log.write) as local:
            yield local
        return
    from distributed import LocalCluster

    options = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as scheduler, connect(scheduler.scheduler_address) as cluster:
        fingerprint = check_model(setup.entry, setup.suite)
        with ClusterExecutor(cluster, setup, fingerprint, folder, log) as remote:
            yield remote


def seconds(kind: str, model: str, count: int, calls: int, folder: Path) -> float:
    """Time a model with some workers."""
    entry = ModelEntry(model, "python", f"models:{model}", ("arousal",), time_limit=30.0)
    named = {"models": {model: entry}, "tasks": BUILTIN, "root": folder, "file": folder / "suite.yml"}
    setup = Setup(entry, Suite(**named), entry.about, (), Sounds())
    failed = []
    with workers(kind, setup, count, folder) as some:
        dispatcher = Dispatcher(some, 1, lambda result: failed.extend([result] * bool(result.problem)))
        dispatcher.run(calls_of(folder, "warm", WARM_CALLS * count))
        begin = time.perf_counter()
        dispatcher.run(calls_of(folder, "timed", calls))
        took = time.perf_counter() - begin
    if failed:
        raise SystemExit(f"{len(failed)} calls failed: {failed[0].problem}")
    return took


def main() -> int:
    """Time all and compare."""
    folder = Path(tempfile.mkdtemp(prefix="soundcheck-benchmark-"))
    (folder / "models.py").write_text(MODELS)
    noise = np.random.default_rng(0).normal(0, 0.1, 16000)
    soundfile.write(folder / "noise.wav", noise, 16000)
    missed = 0
    for kind in ("local", "Dask"):
        for model, (count, goal, calls) in CASES.items():
            one, more = (seconds(kind, model, number, calls, folder) for number in (1, count))
            missed += one / more < goal
            print(
                f"{kind}: {calls} calls of a model that {model}: 1 worker {one:.1f} s, {count} workers "
                f"{more:.1f} s, {one / more:.2f} times as fast (goal {goal:g})",
                flush=True,
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
