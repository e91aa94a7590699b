"""Time of all changed versions of 600 segments of three seconds, transforms only, on two processes.

Run ``python benchmarks/changes.py [CACHE]``. The changes are those of the five families that change signals;
sweeps are left out. The synthesised sounds are made, or found in CACHE, before the clock starts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from soundcheck.augment.recordings import load_sounds
from soundcheck.augment.registry import apply
from soundcheck.augment.sounds import KINDS, Sounds
from soundcheck.suite.entries import Suite
from soundcheck.suite.families import Perturbation
from soundcheck.suite.thresholds import read_family

RATE, SECONDS, SEGMENTS, JOBS = 16000, 3, 600, 2
FAMILIES = (
    "background_noise",
    "low_quality_phone",
    "simulated_recording_condition",
    "small_changes",
    "spectral_tilt",
)


def material(cache: Path) -> Sounds:
    plain = {"title": "", "seed": 0, "replicates": 1000, "interval": "percentile", "families": ()}
    empty = {"corpora": {}, "models": {}, "tasks": {}, "root": Path(), "file": Path("suite.yml")}
    return load_sounds(Suite(**plain, **empty), KINDS, cache, jobs=JOBS)


def changed(change: Perturbation, numbers: range, sounds: Sounds) -> float:
    """Change some segments; returns the seconds that it took this process."""
    rng = np.random.default_rng(0)
    speech = rng.standard_normal(SECONDS * RATE) * (1 + np.sin(np.arange(SECONDS * RATE) / 2000)) ** 2
    speech = (0.2 * speech / np.abs(speech).max()).astype(np.float32)
    start = time.perf_counter()
    for number in numbers:
        apply(change, speech, RATE, seed=0, content=str(number), sounds=sounds)
    return time.perf_counter() - start


def main() -> None:
    cache = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    sounds = material(cache)
    changes = [change for name in FAMILIES for change in read_family(f"robustness_{name}").changes.values()]
    halves = [range(n, SEGMENTS, JOBS) for n in range(JOBS)]
    with Parallel(n_jobs=JOBS) as parallel:
        parallel(delayed(changed)(change, range(2), sounds) for change in changes)  # imports, first reading
        total = 0.0
        for change in changes:
            start = time.perf_counter()
            parallel(delayed(changed)(change, half, sounds) for half in halves)
            seconds = time.perf_counter() - start
            total += seconds
            print(f"{change.name:<22}{seconds:>8.2f} s{1000 * JOBS * seconds / SEGMENTS:>9.2f} ms a segment")
    print(f"{len(changes)} versions of {SEGMENTS} segments of {SECONDS} s: {total:.1f} s on {JOBS} processes")


if __name__ == "__main__":
    main()
