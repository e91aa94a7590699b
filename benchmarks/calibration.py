"""How often intervals of calibration hold the true value, on simulated models of 5 to 40 speakers.

Run ``python benchmarks/calibration.py``: models name one of four classes with a probability each, and are too
sure by 0, 0.05, 0.1 or 0.2; speakers differ in how sure the model is, and in how often it is right. The true
value is that of a million segments, the t interval that of the shipped tests. Prints for each measure the
mean of the estimates, and how many of 100 intervals hold the true value. Ends with 1 if fewer than 92 or more
than 98 of 100 do so with 40 speakers, for overconfidence, coverage and Brier skill.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from soundcheck.metrics import confidence as metrics
from soundcheck.metrics.additive import value
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import FREE, Scale

RUNS, REPLICATES = 400, 400
SIZES = ((40, 24), (40, 6), (10, 24), (5, 24))  # speakers, segments of each
TRUE_SPEAKERS = 40_000
BOLD = (0.0, 0.05, 0.1, 0.2)
CLASSES = ("a", "b", "c", "d")
PROMISED = ("overconfidence", "coverage", "Brier skill")
BOUNDS = (92, 98)  # of 100; a rate of 95 of 400 runs varies by about 1.1


def draw(rng: np.random.Generator, speakers: int, each: int, bold: float) -> dict[str, np.ndarray]:
    """Draw what a model says, what is true, and who speaks."""
    blocks = np.repeat(np.arange(speakers), each)
    count = len(blocks)
    sure = 0.3 + 0.7 / (1 + np.exp(-rng.normal(0.6, 0.8, count) - rng.normal(0, 0.4, speakers)[blocks]))
    right = np.clip(sure - bold + rng.normal(0, 0.1, speakers)[blocks], 0, 1)
    correct = rng.random(count) < right
    named = rng.integers(4, size=count)
    truth = np.where(correct, named, (named + rng.integers(1, 4, count)) % 4)
    probabilities = np.repeat((1 - sure)[:, None] / 3, 4, axis=1)
    probabilities[np.arange(count), named] = sure
    error = rng.normal(0, 0.1, count) + rng.normal(0, 0.07, speakers)[blocks]
    label = rng.random(count)
    half = 1.645 * np.hypot(0.1, 0.07) - bold / 2
    return {
        "sure": sure,
        "correct": correct.astype(float),
        "truth": np.array(CLASSES, dtype=object)[truth],
        "probabilities": probabilities,
        "label": label,
        "low": label + error - half,
        "high": label + error + half,
        "blocks": blocks,
    }


MEASURES: dict[str, tuple[Callable, Scale]] = {
    "overconfidence": (lambda d: metrics.overconfidence(d["sure"], d["correct"]), FREE),
    "coverage": (
        lambda d: metrics.interval_coverage(d["label"], d["low"], d["high"], above=0.9),
        FREE,
    ),
    "Brier skill": (lambda d: metrics.brier_skill(d["truth"], d["probabilities"], CLASSES), FREE),
    "interval skill": (
        lambda d: metrics.interval_skill(d["label"], d["low"], d["high"], (0.05, 0.95), 0.9),
        FREE,
    ),
    "area under risk, relative": (
        lambda d: metrics.area_under_risk(d["sure"], d["correct"], d["blocks"], relative=True),
        Scale(low=0.0),
    ),
    "calibration error, as computed": (lambda d: metrics.calibration_error(d["sure"], d["correct"]), FREE),
    "calibration error, without chance": (
        lambda d: metrics.debiased_calibration_error(d["sure"], d["correct"], d["blocks"]),
        FREE,
    ),
}


def main() -> int:
    wrong = 0
    for bold in BOLD:
        everything = draw(np.random.default_rng(1), TRUE_SPEAKERS, 24, bold)
        true = {name: value(measure(everything)) for name, (measure, _) in MEASURES.items()}
        for speakers, each in SIZES:
            covered, means = dict.fromkeys(MEASURES, 0), dict.fromkeys(MEASURES, 0.0)
            for run in range(RUNS):
                data = draw(np.random.default_rng([run, speakers, each]), speakers, each, bold)
                for name, (measure, scale) in MEASURES.items():
                    resampled = resample(measure(data), data["blocks"], REPLICATES, run)
                    low, high = resampled.interval("t", scale=scale)
                    covered[name] += bool(low[0] <= true[name] <= high[0])
                    means[name] += resampled.value[0] / RUNS
            print(f"too sure by {bold:g}, {speakers} speakers of {each} segments")
            for name in MEASURES:
                rate = 100 * covered[name] / RUNS
                print(f"  {name:34} true {true[name]:7.3f}  mean {means[name]:7.3f}  held {rate:5.1f} %")
                if name in PROMISED and speakers == SIZES[0][0] and not BOUNDS[0] <= rate <= BOUNDS[1]:
                    wrong += 1
    print(f"{wrong} of these rates with {SIZES[0][0]} speakers are not {BOUNDS[0]} to {BOUNDS[1]} %")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
