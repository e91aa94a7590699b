"""How fast intervals of verification are, beside scikit-learn and beside going through all trials.

Run ``python benchmarks/detection.py``: 1,000,000 trials of 1000 speakers, 1000 replicates in which a trial of
two speakers counts as often as the product of how often each was drawn. Sorting, weights and intervals are
included. Slower ways run on 10 replicates and are scaled. Ends with 1 if the equal error rate takes 5 s.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from sklearn.metrics import roc_curve

from soundcheck.metrics.trials import SortedTrials, Trials
from soundcheck.metrics.verification import actual_dcf, equal_error_rate, min_dcf
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics import bootstrap, draws

TRIALS, SPEAKERS, REPLICATES, FEW, GOAL = 1_000_000, 1000, 1000, 10, 5.0


def trials() -> Trials:
    """Draw trials, a tenth of them of one speaker, whose speakers differ."""
    rng = np.random.default_rng(0)
    first = rng.integers(SPEAKERS, size=TRIALS)
    target = rng.random(TRIALS) < 0.1
    second = np.where(target, first, (first + rng.integers(1, SPEAKERS, TRIALS)) % SPEAKERS)
    own = 0.3 * rng.normal(size=SPEAKERS)
    scores = rng.normal(size=TRIALS) + 2 * target + own[first] + own[second]
    return Trials(scores, target, first, second, SPEAKERS)


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    data = trials()
    drawn = draws.weights(SPEAKERS, REPLICATES)

    def ours(make: Callable[[Trials], Weighted]) -> Callable[[], object]:
        def run() -> object:
            draws._kept_weights.cache_clear()
            return bootstrap.resample(make(data), np.zeros(0, dtype=int), REPLICATES).interval()

        return run

    def through_all() -> None:
        ordered = SortedTrials(data)
        find = equal_error_rate(data)._find
        ordered.scan(ordered.weights(drawn[:FEW]), find, np.arange(ordered.steps))

    def scikit_learn() -> None:
        for row in drawn[:FEW].astype(float):
            weight = np.where(data.target, row[data.first], row[data.first] * row[data.second])
            far, tpr, _ = roc_curve(data.target, data.scores, sample_weight=weight)
            place = np.argmax(far + tpr >= 1)
            _ = (far[place] + 1 - tpr[place]) / 2

    base = timed(ours(equal_error_rate))
    print(f"{TRIALS:,} trials, {SPEAKERS} speakers, {REPLICATES} replicates")
    rows = [
        ("equal error rate", base, ""),
        ("  going through all trials", timed(through_all) * REPLICATES / FEW, f"{FEW} replicates, scaled"),
        (
            "  scikit-learn, a replicate at a time",
            timed(scikit_learn) * REPLICATES / FEW,
            f"{FEW} replicates, scaled",
        ),
        ("lowest detection cost", timed(ours(min_dcf)), ""),
        ("detection cost at a threshold", timed(ours(lambda t: actual_dcf(t, 1.0))), ""),
    ]
    for name, took, note in rows:
        print(f"{name:40}{took:9.2f} s{took / base:9.1f} x   {note}")
    tracemalloc.start()
    ours(equal_error_rate)()
    print(f"peak of the equal error rate: {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")
    if base >= GOAL:
        sys.exit(f"the equal error rate takes {GOAL:g} s or more")


if __name__ == "__main__":
    main()
