"""How fast fairness thresholds are simulated, beside the plain way.

Run ``python benchmarks/thresholds.py [runs of the plain way]``, 20 by default. The settings are those behind
the published thresholds. The plain way draws every segment of every run with NumPy and SciPy and computes the
metrics on segments; its time is scaled to 1000 runs. Ends with 1 if all settings take 5 s or more.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats

from soundcheck.statistics import simulation
from soundcheck.statistics.simulation import METRICS, SPARSE, Setting, simulate

GOAL = 5.0
SIZES = {
    "accent": (30, 60),
    "language": (6, 1000),
    "sentiment": (8, 1000),
    "pitch": (3, 1000),
    "sex": (2, 1000),
}
SHARES = [("mean", "gaussian"), ("relative_difference_per_bin", "gaussian")]
SHARES += [("relative_difference_per_class", name) for name in ("uniform", "sparse")]
SHIFTS = [("mean_shift_diff", "gaussian"), ("bin_shift_diff", "gaussian")]
SHIFTS += [("class_shift_diff", name) for name in ("uniform", "sparse")]
QUALITY = [(name, "gaussian") for name in ("ccc", "mae", "mde", "precision_per_bin", "recall_per_bin")]
QUALITY += [(name, "uniform") for name in ("precision_per_class", "recall_per_class", "recall", "precision")]
SIMULATED = {"accent": SHARES, "language": SHARES, "sentiment": SHIFTS, "pitch": QUALITY, "sex": QUALITY}


def settings(use: str) -> list[Setting]:
    """List the settings behind the thresholds of a family."""
    found = []
    for metric, prediction in SIMULATED[use]:
        truth = ""
        if METRICS[metric].needs_truth:
            truth = "gaussian" if prediction == "gaussian" else "sparse"
        found.append(Setting(metric, *SIZES[use], prediction, truth))
    return found


def plainly(setting: Setting, runs: int) -> np.ndarray:
    """Draw every segment, compute the metric of the first group and of all, run by run."""
    contexts = METRICS[setting.metric].contexts
    size = setting.groups * setting.segments_per_group * contexts
    scores = []
    for run in range(runs):
        rng = np.random.default_rng(run)
        drawn = [_draw(name, size, rng) for name in (setting.truth, setting.prediction) if name]
        shape = (setting.groups, contexts, setting.segments_per_group)
        arrays = [array.reshape(shape) for array in drawn]
        first, everyone = [array[:1] for array in arrays], arrays
        score = _score(setting.metric, first) - _score(setting.metric, everyone)
        scores.append(np.abs(score).max())
    return np.array(scores)


def _draw(name: str, size: int, rng: np.random.Generator) -> np.ndarray:
    if name == "gaussian":
        return stats.truncnorm.rvs(-3, 3, loc=0.5, scale=1 / 6, size=size, random_state=rng)
    return rng.choice(4, size=size, p=SPARSE if name == "sparse" else None)


def _score(metric: str, arrays: list[np.ndarray]) -> np.ndarray:
    if metric.endswith(("_per_bin", "bin_shift_diff")):
        arrays = [np.digitize(array, [0.25, 0.5, 0.75], right=True) for array in arrays]
    last = arrays[-1]
    if metric in ("mean", "mean_shift_diff"):
        found = last[:, 0].mean()
        return np.array(found - last.mean() if metric.startswith("mean_shift") else found)
    if metric.startswith(("relative", "bin_shift", "class_shift")):
        share = np.bincount(last[:, 0].ravel(), minlength=4) / last[:, 0].size
        if "shift" in metric:
            share = share - np.bincount(last.ravel(), minlength=4) / last.size
        return share
    truth, prediction = (array.ravel() for array in arrays)
    if metric == "mae":
        return np.abs(prediction - truth).mean()
    if metric == "mde":
        return (prediction - truth).mean()
    if metric == "ccc":
        both = np.mean((truth - truth.mean()) * (prediction - prediction.mean()))
        return 2 * both / (truth.var() + prediction.var() + (truth.mean() - prediction.mean()) ** 2)
    by = truth if metric.startswith("recall") else prediction
    parts = np.array(
        [np.mean(truth[by == c] == prediction[by == c]) if (by == c).any() else 0.0 for c in range(4)]
    )
    return parts if "_per_" in metric else parts.mean()


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"{simulation.RUNS} runs a setting; the plain way on {runs} runs, scaled")
    print(f"{'':12}{'settings':>9}{'groups x segments':>20}{'soundcheck':>13}{'segments':>12}{'ratio':>9}")
    total = np.zeros(2)
    for use in SIMULATED:
        wanted = settings(use)
        start = time.perf_counter()
        for setting in wanted:
            simulate(setting)
        middle = time.perf_counter()
        for setting in wanted:
            plainly(setting, runs)
        plain = (time.perf_counter() - middle) * simulation.RUNS / runs
        took = np.array([middle - start, plain])
        total += took
        size = "{} x {:,}".format(*SIZES[use])
        print(f"{use:12}{len(wanted):9}{size:>20}{took[0]:11.2f} s{took[1]:10.1f} s{took[1] / took[0]:8.0f}x")
    print(f"{'all':12}{'':29}{total[0]:11.2f} s{total[1]:10.1f} s{total[1] / total[0]:8.0f}x")
    if total[0] >= GOAL:
        sys.exit(f"slower than {GOAL:g} s")


if __name__ == "__main__":
    main()
