"""How long permutation of speakers takes, beside a loop that gathers the segments of drawn speakers.

Run ``python benchmarks/permutations.py``: all tests of the sexes and of 13 accents for a model of emotion and
three dimensions, 200,000 segments of 2,000 speakers, 2,000 arrangements, and 20 times the number of tests
where few of them are as extreme. Prints seconds and the ratio to the loop, which gathers the segments of the
mean of one dimension for a hundredth of the arrangements; both must find the same gaps. Ends with 1 if all
tests take 10 s or more.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from soundcheck.common.tasks import BUILTIN
from soundcheck.metrics.additive import Statistic
from soundcheck.metrics.classification import precision_per_class, recall_per_class, unweighted_average_recall
from soundcheck.metrics.distribution import bin_proportions, class_proportions
from soundcheck.metrics.regression import concordance_cc, mean_value, precision_per_bin, recall_per_bin
from soundcheck.statistics.permutation import DRAWS, arrangements, permuted_p_values

SEGMENTS, SPEAKERS, ACCENTS = 200_000, 2_000, 13
BAR = 10.0  # seconds
LOOPED = 20  # arrangements that the loop looks at


def main() -> None:
    """Time all tests, and the loop."""
    rng = np.random.default_rng(0)
    speaker = rng.permutation(np.arange(SEGMENTS) % SPEAKERS)
    classes = BUILTIN["emotion"].classes
    names = np.array(classes, dtype=object)
    truth = rng.uniform(size=(3, SEGMENTS))
    predicted = np.clip(
        truth + rng.normal(0, 0.1, truth.shape) + rng.normal(0, 0.06, SPEAKERS)[speaker], 0, 1
    )
    label, said = names[rng.integers(4, size=SEGMENTS)], names[rng.integers(4, size=SEGMENTS)]
    of_sexes: list[Statistic] = []
    of_accents: list[Statistic] = [class_proportions(said, classes)]
    for one, other in zip(truth, predicted, strict=True):
        of_sexes += [concordance_cc(one, other), precision_per_bin(one, other), recall_per_bin(one, other)]
        of_accents += [mean_value(other), bin_proportions(other)]
    of_sexes += [metric(label, said, classes) for metric in (precision_per_class, recall_per_class)]
    of_sexes.append(unweighted_average_recall(label, said, classes))
    groups = [(of_sexes, [np.arange(SPEAKERS) % 2 == n for n in range(2)])]
    groups += [(of_accents, [np.arange(SPEAKERS) % ACCENTS == n for n in range(ACCENTS)])]
    tests = sum(
        len(statistic.labels) for statistics, masks in groups for statistic in statistics for _ in masks
    )

    start = time.perf_counter()
    p_values = []
    for statistics, masks in groups:
        for statistic in statistics:
            sums = statistic.block_sums(speaker, SPEAKERS)
            spread = np.full(len(statistic.labels), np.nan)
            p_values += [permuted_p_values(statistic, sums, mask, spread, most=20 * tests) for mask in masks]
    ours = time.perf_counter() - start

    members = next(arrangements(SPEAKERS, SPEAKERS // 2, 0))[:LOOPED]
    start = time.perf_counter()
    looped = []
    for drawn in members:
        inside = drawn[speaker]
        looped.append(predicted[0, inside].mean() - predicted[0, ~inside].mean())
    loop = (time.perf_counter() - start) / LOOPED * DRAWS * tests
    statistic = mean_value(predicted[0])
    sums = statistic.block_sums(speaker, SPEAKERS)
    gaps = statistic.compute(members @ sums) - statistic.compute(sums.sum(axis=0) - members @ sums)
    if not np.allclose(gaps[:, 0], looped):
        sys.exit("the loop finds other gaps")

    smallest = min(float(np.nanmin(p)) for p in p_values)
    print(f"{tests} tests, {DRAWS} to {20 * tests} arrangements, smallest p {smallest:.2g}")
    print(f"all tests {ours:.1f} s; the loop would take {loop / 3600:.1f} h, {loop / ours:.0f} times as long")
    if ours >= BAR:
        sys.exit(f"{ours:.1f} s, {BAR:g} s allowed")


if __name__ == "__main__":
    main()
