"""How sure simulated thresholds are, and what they are at the published sizes.

Run ``python benchmarks/simulated_thresholds.py [repetitions]``, 20 by default: for the settings behind the
published thresholds, mean and relative standard deviation over repetitions of the largest score of 1000
unbiased random models and of the score that 99.9 % of 10,000 stay below; and published, formerly simulated
and simulated thresholds at the published sizes. Ends with 1 if the latter are not the published ones.

Run ``python benchmarks/simulated_thresholds.py record [jobs]`` to make the table of simulated scores that
comes with the library, ``lib/soundcheck/statistics/simulated_scores.csv``.
"""

from __future__ import annotations

import concurrent.futures
import datetime
import math
import sys

import numpy as np
import pandas as pd

from soundcheck.common import resources
from soundcheck.statistics import simulation
from soundcheck.statistics.simulation import (
    GROUPS,
    MANY_RUNS,
    METRICS,
    RECORD,
    RUNS,
    SAMPLES,
    Setting,
    published_size,
    quantile,
    simulate,
    simulated_threshold,
    summary,
)
from soundcheck.suite.thresholds import read_family

FAMILIES = [name for name in resources.names("thresholds", ".yml") if name.startswith("fairness_")]

SERIES = (  # that thresholds rest on: metric, distribution of predictions and of the truth
    ("mean", "gaussian", ""),
    ("relative_difference_per_bin", "gaussian", ""),
    ("relative_difference_per_class", "uniform", ""),
    ("mean_shift_diff", "gaussian", ""),
    ("bin_shift_diff", "gaussian", ""),
    ("class_shift_diff", "uniform", ""),
    ("ccc", "gaussian", "gaussian"),
    ("precision_per_bin", "gaussian", "gaussian"),
    ("recall_per_bin", "gaussian", "gaussian"),
    ("precision_per_class", "uniform", "sparse"),
    ("recall_per_class", "uniform", "sparse"),
    ("recall", "uniform", "sparse"),
)


def published() -> dict[tuple[str, str], tuple[dict, float]]:
    """Give family and metric -> its simulation and threshold, once for all groups and contexts."""
    simulations = {}
    for family in FAMILIES:
        for test in read_family(family).tests.values():
            if test.simulation:
                (threshold,) = set(test.thresholds.values())
                simulations[family, test.simulation["name"]] = (test.simulation, threshold)
    return simulations


def scores(setting: Setting) -> dict:
    """Simulate one row; no scores are kept in memory."""
    scores = summary(simulate.__wrapped__(setting, RUNS))
    row = {
        "metric": setting.metric,
        "prediction": setting.prediction,
        "truth": setting.truth,
        "groups": setting.groups,
        "samples": setting.segments_per_group,
        "maximum": round(scores["maximum"], 5),
        "percentile_99": round(scores["percentile_99"], 5),
    }
    # Many large groups take long where every segment is drawn, and no threshold needs their quantile.
    if METRICS[setting.metric].cells or setting.groups <= 8 or setting.segments_per_group <= 60:
        row["percentile_999"] = round(summary(simulate.__wrapped__(setting, MANY_RUNS))["percentile_999"], 5)
    return row


def record(jobs: int) -> None:
    """Make the table of simulated scores; takes some minutes."""
    sizes = {metric: set(SAMPLES) for metric, _, _ in SERIES}
    for simulated, _ in published().values():
        for metric in sizes:
            if METRICS[metric].contexts == METRICS[simulated["name"]].contexts:
                sizes[metric].add(published_size(simulated)[1])
    wanted = [
        Setting(metric, groups, samples, prediction, truth)
        for metric, prediction, truth in SERIES
        for groups in GROUPS
        for samples in sorted(sizes[metric])
    ]
    longest_first = sorted(wanted, key=lambda setting: -setting.groups * setting.segments_per_group)
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        results = dict(zip(longest_first, pool.map(scores, longest_first), strict=True))
    frame = pd.DataFrame([results[setting] for setting in wanted])
    head = (
        "# What unbiased random models score: the largest and the 99 % quantile of 1000 runs,",
        "# the 99.9 % quantile of 10,000 runs; empty where no threshold needs it and every segment is drawn.",
        "# python benchmarks/simulated_thresholds.py record",
        f"# seed 0; NumPy {np.__version__}; {datetime.date.today()}",
    )
    RECORD.write_text("\n".join([*head, frame.to_csv(index=False, lineterminator="\n")]), encoding="utf-8")
    print(f"{len(frame)} settings")


def formerly(setting: Setting) -> float:
    """Give the quantile itself, rounded up to a multiple of 0.005."""
    return round(math.ceil(round(quantile(setting) / 0.005, 6)) * 0.005, 3)


def compare(repetitions: int) -> bool:
    """Print how sure both estimates are, and thresholds; returns whether all are the published ones."""
    print(f"{repetitions} repetitions with different seeds; mean and relative standard deviation")
    print(
        f"{'':52}{'largest of 1000':>18}{'99.9 % of 10,000':>18}{'published':>11}{'formerly':>10}{'now':>7}"
    )
    equal, spreads = True, []
    for (family, metric), (simulated, threshold) in published().items():
        groups, samples = published_size(simulated)
        setting = simulation.setting_of(simulated, groups, samples)
        seeds = range(1, repetitions + 1)
        largest = [simulate.__wrapped__(setting, RUNS, seed).max() for seed in seeds]
        quantiles = [
            summary(simulate.__wrapped__(setting, MANY_RUNS, seed))["percentile_999"] for seed in seeds
        ]
        parts = [(np.mean(each), np.std(each, ddof=1) / np.mean(each)) for each in (largest, quantiles)]
        spreads.append([part[1] for part in parts])
        now = simulated_threshold(threshold, simulated, groups, samples).threshold
        equal &= now == threshold
        numbers = "".join(f"{mean:11.4f}{spread:7.1%}" for mean, spread in parts)
        before = formerly(simulation.setting_of(simulated, groups, simulated["samples"]))
        name = f"{family.removeprefix('fairness_')}, {metric}"
        print(f"{name:52}{numbers}{threshold:11g}{before:10g}{now:7g}", flush=True)
    low, high = np.min(spreads, axis=0), np.max(spreads, axis=0)
    numbers = (
        f"{a:.1%} to {b:.1%}, mean {c:.1%}" for a, b, c in zip(low, high, np.mean(spreads, 0), strict=True)
    )
    print("relative standard deviation: largest {}; quantile {}".format(*numbers))
    return equal


def main() -> None:
    if sys.argv[1:2] == ["record"]:
        record(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    elif not compare(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        sys.exit("thresholds at the published sizes are not the published ones")


if __name__ == "__main__":
    main()
