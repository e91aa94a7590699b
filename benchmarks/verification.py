"""How long a large test of speaker verification takes, from embeddings to intervals, beside a plain way.

Run ``python benchmarks/verification.py``: 1,000,000 trials of 20,000 recordings of 1000 speakers, made-up
embeddings of 192 numbers. They are scored by cosine, and each statistic gets 1000 replicates in which a trial
of two speakers counts as often as the product of how often each was drawn. The plain way scores one trial at
a time and computes the curve of errors by scikit-learn for each replicate; it runs on a part and is scaled.
Prints seconds of each step and the peak of memory. Ends with 1 if it takes more than 60 s or 4 GB, or the
equal error rate is not 40 times as fast as the plain way.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr
from sklearn.metrics import roc_curve

from soundcheck.metrics.trials import Trials, cosine_scores
from soundcheck.metrics.verification import (
    cllr,
    equal_error_rate,
    false_acceptance_rate,
    false_rejection_rate,
    frr_at_far,
    min_cllr,
    min_dcf,
    min_dcf_threshold,
)
from soundcheck.metrics.weighted import Weighted
from soundcheck.statistics import bootstrap

TRIALS, SPEAKERS, RECORDINGS, DIMENSIONS, REPLICATES = 1_000_000, 1000, 20_000, 192, 1000
ONE_BY_ONE = 20_000  # trials that are scored one at a time
SECONDS, GIGABYTES = 60.0, 4.0
LEAST_RATIO = 40.0  # without windows around the equal error rate it is 12
RATES = ndtr(np.linspace(-3.1, 0.5, 50))  # false acceptance rates of the band


def embeddings(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw an embedding a recording, what its speaker has plus what it has alone; and the speakers."""
    speaker = rng.integers(SPEAKERS, size=RECORDINGS)
    voice = rng.normal(size=(SPEAKERS, DIMENSIONS))
    return (voice[speaker] + 2.5 * rng.normal(size=(RECORDINGS, DIMENSIONS))).astype(np.float32), speaker


def pairs(rng: np.random.Generator, speaker: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw two recordings a trial, a tenth of them of one speaker."""
    order = np.argsort(speaker, kind="stable")
    counts = np.bincount(speaker, minlength=SPEAKERS)
    starts = np.cumsum(counts) - counts
    first, second = rng.integers(RECORDINGS, size=(2, TRIALS))
    same = order[starts[speaker[first]] + rng.integers(counts[speaker[first]])]
    return first, np.where(rng.random(TRIALS) < 0.1, same, second)


def timed(function: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def peak() -> float:
    """Ask how much memory this process has had at most, in GB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def one_by_one(vectors: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Score some trials in a loop; seconds for all trials."""

    def run() -> None:
        for enrolled, tested in zip(first[:ONE_BY_ONE], second[:ONE_BY_ONE], strict=True):
            a, b = vectors[enrolled], vectors[tested]
            _ = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))

    return timed(run)[0] * TRIALS / ONE_BY_ONE


def scikit_learn(trials: Trials, drawn: np.ndarray) -> float:
    """Compute one replicate of the curve of errors; seconds for all replicates."""

    def run() -> None:
        within = trials.first == trials.second
        weight = np.where(within, drawn[trials.first], drawn[trials.first] * drawn[trials.second])
        roc_curve(trials.target, trials.scores, sample_weight=weight.astype(float))

    return timed(run)[0] * REPLICATES


def main() -> None:
    rng = np.random.default_rng(0)
    vectors, speaker = embeddings(rng)
    first, second = pairs(rng, speaker)
    enrolled, tested = speaker[first], speaker[second]
    scoring, scores = timed(lambda: cosine_scores(vectors, vectors, first, second))
    trials = Trials(scores, enrolled == tested, enrolled, tested, SPEAKERS)
    at, threshold = timed(lambda: min_dcf_threshold(trials))
    steps = [(f"cosines of {TRIALS:,} trials", scoring), ("threshold of the lowest cost", at)]
    steps.append(("weights", timed(lambda: bootstrap.weights(SPEAKERS, REPLICATES))[0]))
    statistics: dict[str, Callable[[], Weighted]] = {
        "equal error rate": lambda: equal_error_rate(trials),
        "lowest detection cost": lambda: min_dcf(trials),
        f"band of the curve at {len(RATES)} rates": lambda: frr_at_far(trials, RATES),
        "log-likelihood cost": lambda: cllr(trials),
        "lowest log-likelihood cost": lambda: min_cllr(trials),
        "false acceptances at the threshold": lambda: false_acceptance_rate(trials, threshold),
        "false rejections at the threshold": lambda: false_rejection_rate(trials, threshold),
    }
    values = {}
    for name, make in statistics.items():

        def run(make: Callable[[], Weighted] = make) -> tuple[float, float, float]:
            resampled = bootstrap.resample(make(), np.zeros(0, dtype=int), REPLICATES)
            low, high = resampled.interval()
            middle = len(resampled.value) // 2
            return resampled.value[middle], low[middle], high[middle]

        took, values[name] = timed(run)
        steps.append((name, took))
    total, memory = sum(took for _, took in steps), peak()
    print(f"{TRIALS:,} trials, {RECORDINGS:,} recordings, {SPEAKERS} speakers, {REPLICATES} replicates")
    for name, took in steps:
        about = "value {:.4f}, {:.4f} to {:.4f}".format(*values[name]) if name in values else ""
        print(f"{name:40}{took:9.2f} s   {about}")
    print(f"{'total':40}{total:9.2f} s   peak {memory:.2f} GB")
    plain = one_by_one(vectors, first, second)
    note = f"{ONE_BY_ONE:,} trials, scaled"
    print(f"{'scoring one trial at a time':40}{plain:9.2f} s   {plain / scoring:.1f} x   {note}")
    plain = scikit_learn(trials, bootstrap.weights(SPEAKERS, REPLICATES)[0].astype(int))
    base = dict(steps)["equal error rate"]
    note = "beside the equal error rate; 1 replicate, scaled"
    print(f"{'scikit-learn, a replicate at a time':40}{plain:9.2f} s   {plain / base:.1f} x   {note}")
    if total > SECONDS or memory > GIGABYTES:
        sys.exit(f"more than {SECONDS:g} s or {GIGABYTES:g} GB")
    if plain < LEAST_RATIO * base:
        sys.exit(f"the equal error rate is not {LEAST_RATIO:g} times as fast as the plain way")


if __name__ == "__main__":
    main()
