"""Rules, thresholds and least numbers of the tests beside the published ones.

Run ``python benchmarks/published_sizes.py [family ...]``, all families by default, a second. Rules and
thresholds are read from the threshold files; the least number of segments in a bin is what groups of the
published size get. Ends with 1 if anything differs from ``tests/published_thresholds.csv``, which holds the
values of the tests of Derington et al. (2023), arXiv:2312.06270, one row for each group that they name.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from soundcheck.common.tasks import BUILTIN
from soundcheck.statistics.balance import least_per_bin
from soundcheck.suite.families import Family
from soundcheck.suite.thresholds import read_family

PUBLISHED = Path(__file__).parents[1] / "tests" / "published_thresholds.csv"
TASKS = ("arousal", "dominance", "valence", "emotion")
RULES = {">": ">", "<": "<", "abs<": "|value| <"}


def ours(family: Family, test: str, size: str) -> tuple[str, tuple[str, ...], str]:
    """Give rule, thresholds of the tasks and least number of a test, as texts; empty where there is none."""
    definition = family.tests[test]
    thresholds = (definition.threshold_for(BUILTIN[task]) for task in TASKS)
    shown = tuple("" if threshold is None else f"{threshold:g}" for threshold in thresholds)
    least = str(least_per_bin(family.options["bin_minimum"], int(size))) if size else ""
    return definition.rule, shown, least


def main() -> None:
    with PUBLISHED.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["family"] in (sys.argv[1:] or [row["family"]])]
    columns = ["family", "test", "group", "rule", "ours", "thresholds", "ours", "fewest in a bin", "ours"]
    table, different = [columns], 0
    for row in rows:
        published = (RULES[row["compare"]], tuple(row[task] for task in TASKS), row["fewest"])
        found = ours(read_family(row["family"]), row["test"], row["segments"])
        different += found != published
        both = (
            (" ".join(filter(None, dict.fromkeys(each))) if isinstance(each, tuple) else each)
            for pair in zip(published, found, strict=True)
            for each in pair
        )
        table.append([row["family"], row["test"], row["group"], *both])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    print(f"{len(rows)} tests, {different} differ")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
