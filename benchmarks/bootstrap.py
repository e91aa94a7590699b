"""How fast intervals are, beside packages for intervals and beside a plain loop over blocks.

Run ``python benchmarks/bootstrap.py``. Prints seconds, ratios and peaks of memory, everything that a caller
pays included: preparing the data, drawing the weights, the replicates, the intervals. Slower ways run on
fewer replicates, which the table says, and are scaled to the same number. The package confidence_intervals is
timed if it is installed; its draws repeat the segments of a block instead of drawing the block anew.

Ends with 1 if a goal is missed: five metrics of a million segments in 0.5 s and 500 MB; at 100,000 segments
50 times as fast as the loop and 5000 times as fast as the package.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

from soundcheck.metrics.classification import unweighted_average_recall
from soundcheck.metrics.regression import concordance_cc, correlations, mean_absolute_error
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics import bootstrap

REPLICATES = 1000
CLASSES = ("anger", "happiness", "neutral", "sadness")
GOAL_SECONDS, GOAL_MEGABYTES, GOAL_LOOP, GOAL_PACKAGE = 0.5, 500, 50, 5000


def ccc(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Concordance correlation coefficient, straight from the formula."""
    shift = truth.mean() - prediction.mean()
    both = np.mean((truth - truth.mean()) * (prediction - prediction.mean()))
    return 2 * both / (truth.var() + prediction.var() + shift**2)


def seconds(function: Callable[[], object], repeat: int = 3) -> float:
    best = np.inf
    for _ in range(repeat):
        bootstrap._cached_weights.cache_clear()  # each call draws its weights anew
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def peak(function: Callable[[], object]) -> float:
    """Peak of newly allocated memory in MB."""
    bootstrap._cached_weights.cache_clear()
    tracemalloc.start()
    function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def regression(segments: int, blocks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = rng.random(segments)
    return truth, np.clip(truth + rng.normal(0, 0.2, segments), 0, 1), rng.integers(0, blocks, segments)


def line(name: str, took: float, ours: float, memory: float | None, note: str = "") -> None:
    megabytes = f"{memory:9.1f}" if memory is not None else " " * 9
    print(f"{name:46} {took:10.3f} s {took / ours:9.1f} x {megabytes} MB  {note}", flush=True)


def beside_others() -> list[str]:
    """Time CCC of 100,000 segments beside other ways; name the goals that are missed."""
    missed = []
    truth, prediction, block = regression(100_000, 1000)

    def ours() -> object:
        return bootstrap.resample(concordance_cc(truth, prediction), block, REPLICATES).interval()

    print(f"CCC, 100,000 segments, 1000 speakers, {REPLICATES} replicates")
    base = seconds(ours, 7)
    line("  soundcheck, blockwise", base, base, peak(ours))

    order = np.argsort(block, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(block, minlength=1000))[:-1])
    rng = np.random.default_rng(0)

    def loop(replicates: int = 20) -> None:
        for _ in range(replicates):
            drawn = np.concatenate([rows[b] for b in rng.integers(0, 1000, 1000)])
            ccc(truth[drawn], prediction[drawn])

    scaled = seconds(loop) * REPLICATES / 20
    line("  NumPy, loop over drawn blocks", scaled, base, peak(loop), "20 replicates, scaled")
    if scaled < GOAL_LOOP * base:
        missed.append(f"less than {GOAL_LOOP} times as fast as the loop")

    def scipy_bootstrap(replicates: int = 20) -> None:
        stats.bootstrap(
            (truth, prediction),
            ccc,
            paired=True,
            vectorized=False,
            n_resamples=replicates,
            method="percentile",
        )

    scaled = seconds(scipy_bootstrap) * REPLICATES / 20
    note = "20 replicates, scaled; cannot draw blocks"
    line("  scipy.stats.bootstrap, segments", scaled, base, peak(scipy_bootstrap), note)

    try:
        from confidence_intervals import evaluate_with_conf_int
    except ImportError:
        print("  confidence_intervals is not installed")
        return missed

    def package(replicates: int = 5) -> None:
        evaluate_with_conf_int(prediction, ccc, truth, block, num_bootstraps=replicates)

    scaled = seconds(package, 1) * REPLICATES / 5
    line("  confidence_intervals, blockwise", scaled, base, None, "5 replicates, scaled; draws are wrong")
    if scaled < GOAL_PACKAGE * base:
        missed.append(f"less than {GOAL_PACKAGE} times as fast as confidence_intervals")
    return missed


def together() -> list[str]:
    """Time five metrics of a million segments; name the goals that are missed."""
    truth, prediction, block = regression(1_000_000, 10_000)
    rng = np.random.default_rng(1)
    labels, answers = (
        pd.Categorical.from_codes(rng.integers(0, 4, 1_000_000, dtype=np.int8), CLASSES) for _ in range(2)
    )
    words = rng.integers(5, 20, 1_000_000)
    errors = rng.binomial(words, 0.1)

    def five() -> None:
        statistics = [
            *correlations(truth, prediction),
            mean_absolute_error(truth, prediction),
            unweighted_average_recall(labels, answers, CLASSES),
            word_error_rate(words, errors),
        ]
        for resampled in bootstrap.resample_all(statistics, block, REPLICATES):
            resampled.interval()

    print(f"WER, UAR, CCC, Pearson and MAE, 1,000,000 segments, 10,000 speakers, {REPLICATES} replicates")
    base, memory = seconds(five), peak(five)
    line("  all five", base, base, memory)
    for name, make in (
        ("WER", lambda: word_error_rate(words, errors)),
        ("UAR", lambda: unweighted_average_recall(labels, answers, CLASSES)),
        ("CCC", lambda: concordance_cc(truth, prediction)),
        ("MAE", lambda: mean_absolute_error(truth, prediction)),
    ):

        def alone(make: Callable = make) -> object:
            return bootstrap.resample(make(), block, REPLICATES).interval()

        line(f"  {name} alone", seconds(alone), base, peak(alone))
    missed = []
    if base > GOAL_SECONDS:
        missed.append(f"five metrics take more than {GOAL_SECONDS} s")
    if memory > GOAL_MEGABYTES:
        missed.append(f"five metrics take more than {GOAL_MEGABYTES} MB")
    return missed


def main() -> None:
    print(f"{'':46} {'time':>12} {'ratio':>11} {'peak':>12}")
    missed = beside_others() + together()
    if missed:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
