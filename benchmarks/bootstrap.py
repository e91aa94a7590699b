"""How fast intervals are, beside SciPy and beside a plain loop over blocks.

Run ``python benchmarks/bootstrap.py``. Prints seconds, ratios and peak memory; SciPy and the loop run on
fewer replicates, which the table says, and are scaled to the same number.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy import stats

from soundcheck import bootstrap
from soundcheck.metrics.classification import unweighted_average_recall
from soundcheck.metrics.regression import concordance_cc

REPLICATES = 1000
CLASSES = ("anger", "happiness", "neutral", "sadness")


def ccc(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Concordance correlation coefficient, straight from the formula."""
    shift = truth.mean() - prediction.mean()
    both = np.mean((truth - truth.mean()) * (prediction - prediction.mean()))
    return 2 * both / (truth.var() + prediction.var() + shift**2)


def seconds(function: Callable[[], object], repeat: int = 3) -> float:
    best = np.inf
    for _ in range(repeat):
        bootstrap._kept_weights.cache_clear()  # each call draws its weights anew
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def peak(function: Callable[[], object]) -> float:
    """Peak of newly allocated memory in MB."""
    bootstrap._kept_weights.cache_clear()
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
    shown = f"{memory:9.1f}" if memory is not None else " " * 9
    print(f"{name:44} {took:10.3f} s {took / ours:9.1f} x {shown} MB  {note}")


def main() -> None:
    print(f"{'':44} {'time':>12} {'ratio':>11} {'peak':>12}")

    truth, prediction, block = regression(100_000, 1000)

    def ours() -> object:
        return bootstrap.resample(concordance_cc(truth, prediction), block, REPLICATES).interval()

    print(f"CCC, 100,000 segments, 1000 speakers, {REPLICATES} replicates")
    base = seconds(ours)
    line("  soundcheck, weights included", base, base, peak(ours))

    order = np.argsort(block, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(block, minlength=1000))[:-1])
    rng = np.random.default_rng(0)

    def loop(replicates: int = 20) -> None:
        for _ in range(replicates):
            drawn = np.concatenate([rows[b] for b in rng.integers(0, 1000, 1000)])
            ccc(truth[drawn], prediction[drawn])

    scaled = seconds(loop) * REPLICATES / 20
    line("  NumPy, loop over drawn blocks", scaled, base, peak(loop), "20 replicates, scaled")

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
    line(
        "  scipy.stats.bootstrap, segments as blocks",
        scaled,
        base,
        peak(scipy_bootstrap),
        "20 replicates, scaled; cannot draw blocks",
    )

    print(f"CCC and UAR, 1,000,000 segments, 10,000 speakers, {REPLICATES} replicates")
    truth, prediction, block = regression(1_000_000, 10_000)
    names, answers = np.random.default_rng(1).choice(np.array(CLASSES, dtype=object), (2, 1_000_000))

    def large_ccc() -> object:
        return bootstrap.resample(concordance_cc(truth, prediction), block, REPLICATES).interval()

    def large_uar() -> object:
        statistic = unweighted_average_recall(names, answers, CLASSES)
        return bootstrap.resample(statistic, block, REPLICATES).interval()

    def both() -> None:
        large_ccc()
        large_uar()  # shares the weights

    base = seconds(both)
    line("  both, weights included", base, base, peak(both))
    line("  CCC alone", seconds(large_ccc), base, peak(large_ccc))
    line("  UAR alone", seconds(large_uar), base, peak(large_uar))


if __name__ == "__main__":
    main()
