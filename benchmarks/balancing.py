"""How often a fair model is accused because the labels of two groups differ, as they are and balanced.

Run ``python benchmarks/balancing.py [data sets a row]``, 300 by default, a few minutes. The full size also
writes ``book/tables/balancing.csv``, which the page *fairness thresholds* shows. Ends with 1 if the labels of
balanced groups differ by 0.005 or more on average, or if the model is accused in balanced groups of 400
segments, by thresholds for groups of that size, in more than 5 of 100 data sets, widened by 2.6 standard
errors.

Conventions
-----------
- Labels are normally distributed around 0.46 and 0.54 and cut off at 0 and 1. The model treats all alike: it
  predicts 0.5 + 0.7 (label - 0.5) and a normal error of 0.12. All segments are independent.
- Accused is a model that fails one of the tests of values of the family of sexes or more.
- *Nearest labels* gives each segment of the smaller group the one of the larger group with the nearest label
  that is left. Of groups of the same size it takes everybody.
- *Same labels* are groups around 0.5 both, of the size of the smaller one: what chance alone does.
"""

from __future__ import annotations

import datetime
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.metrics import regression
from soundcheck.metrics.combinators import against_all, require_count
from soundcheck.statistics.balance import balance, least_per_bin
from soundcheck.statistics.simulation import simulated_threshold
from soundcheck.suite.thresholds import read_family

TABLE = Path(__file__).parents[1] / "book" / "tables" / "balancing.csv"
SEED, DATA_SETS, WANTED = 0, 300, 1000
APART, MOST_ACCUSED = 0.08, 0.05
FAMILY = read_family("fairness_sex")
SIZES = ((400, 400, 0.10), (400, 400, 0.15), (400, 400, 0.20), (200, 2000, 0.15), (1000, 1000, 0.15))
WAYS = ("as they are", "nearest labels", "balanced", "same labels")
RULES = ("published", "simulated")


def draw(
    rng: np.random.Generator, sizes: tuple[int, int], spread: float, apart: float
) -> tuple[np.ndarray, ...]:
    """Draw labels, predictions and which segments are in the first group."""
    labels = [rng.normal(0.5 + side * apart / 2, spread, n) for side, n in zip((-1, 1), sizes, strict=True)]
    truth = np.clip(np.concatenate(labels), 0, 1)
    prediction = 0.5 + 0.7 * (truth - 0.5) + rng.normal(0, 0.12, len(truth))
    return truth, prediction, np.arange(len(truth)) < sizes[0]


def nearest(truth: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Give the rows of the first group, and for each the nearest of the others that is left."""
    left, taken = np.flatnonzero(~first), []
    left = left[np.argsort(truth[left], kind="stable")]
    for row in np.flatnonzero(first):
        place = np.argmin(np.abs(truth[left] - truth[row]))
        taken.append(left[place])
        left = np.delete(left, place)
    return np.concatenate([np.flatnonzero(first), np.array(taken)])


def rows_of(way: str, truth: np.ndarray, first: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give the segments that are compared."""
    if way == "balanced":
        draws = rng.random(len(truth))
        balanced = balance(truth, first.astype(str), WANTED, draws, "regression", edges=regression.EDGES)
        return balanced.rows
    return nearest(truth, first) if way == "nearest labels" else np.arange(len(truth))


def accused(truth: np.ndarray, prediction: np.ndarray, first: np.ndarray) -> list[bool]:
    """Say under each of :data:`RULES` whether any test of either group fails."""
    size = int(min(first.sum(), (~first).sum()))
    least = least_per_bin(FAMILY.options["bin_minimum"], size)
    counts = regression.bin_counts(truth)
    measures = {
        "Concordance Correlation Coeff": regression.concordance_cc(truth, prediction),
        "Precision Per Bin": require_count(regression.precision_per_bin(truth, prediction), counts, least),
        "Recall Per Bin": require_count(regression.recall_per_bin(truth, prediction), counts, least),
    }
    failed = dict.fromkeys(RULES, False)
    for test, measure in measures.items():
        definition = FAMILY.tests[test]
        published = definition.thresholds["regression"]
        simulated = simulated_threshold(published, definition.simulation, 2, size).threshold
        values = [against_all(measure, group).point().value for group in (first, ~first)]
        for rule, threshold in zip(RULES, (published, simulated), strict=True):
            failed[rule] |= bool((np.abs(values) >= threshold).any())
    return list(failed.values())


def study(sizes: tuple[int, int], spread: float, way: str, data_sets: int) -> dict[str, object]:
    """Go through data sets; gives a row of the table."""
    outcomes = []
    for number in range(data_sets):
        rng = seeds.generator(SEED, "balancing", *sizes, spread, way == "same labels", number)
        if way == "same labels":
            truth, prediction, first = draw(rng, (min(sizes), min(sizes)), spread, 0)
        else:
            truth, prediction, first = draw(rng, sizes, spread, APART)
        rows = rows_of(way, truth, first, rng)
        truth, prediction, first = truth[rows], prediction[rows], first[rows]
        apart = truth[~first].mean() - truth[first].mean()
        outcomes.append((first.sum(), apart, *accused(truth, prediction, first)))
    numbers = np.mean(outcomes, axis=0).round(4).tolist()
    columns = ("compared", "labels_apart", *RULES)
    about = {"first": sizes[0], "second": sizes[1], "spread": spread, "way": way, "data_sets": data_sets}
    return about | dict(zip(columns, numbers, strict=True))


def main() -> None:
    """Run the study; with the full number of data sets, record it."""
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    start = time.perf_counter()
    rows = []
    for first, second, spread in SIZES:
        for way in WAYS:
            if not (way == "nearest labels" and first == second):  # which takes all, as they are
                rows.append(study((first, second), spread, way, data_sets))
    table = pd.DataFrame(rows)
    print(table.to_string(index=False), f"{time.perf_counter() - start:.0f} s", sep="\n")
    if data_sets == DATA_SETS:
        made = f"seed {SEED}; NumPy {np.__version__}; {datetime.date.today()}"
        about = "How often a fair model is accused because the labels of two groups differ"
        head = f"# {about}\n# python benchmarks/balancing.py\n# {made}\n"
        TABLE.write_text(head + table.to_csv(index=False, lineterminator="\n"), encoding="utf-8")
    bar = MOST_ACCUSED + 2.6 * np.sqrt(MOST_ACCUSED * (1 - MOST_ACCUSED) / data_sets)
    balanced = table[table["way"].eq("balanced")]
    if (balanced["labels_apart"].abs() >= 0.005).any():
        sys.exit("off: labels of balanced groups differ")
    if (balanced.loc[balanced["first"].eq(400) & balanced["second"].eq(400), "simulated"] > bar).any():
        sys.exit("off: fair models are accused in balanced groups")
    print("all within the bars")


if __name__ == "__main__":
    main()
