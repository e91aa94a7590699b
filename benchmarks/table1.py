"""Table 1 of Liu and Peng (2019): intervals of a difference of word error rates, ordinary and blockwise.

Run ``python benchmarks/table1.py [data sets a row]``, 1000 by default, half a minute. Prints each row beside
the published one and checks it; the full size also writes ``table1.csv`` beside this file. Ends with 1 if a
row is off: blockwise coverage outside 93 to 97 %, ordinary coverage more than 3 points or a width more than
5 % from the published.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

from soundcheck.studies import BLOCK_SIZES, CORRELATIONS, PUBLISHED, coverage_of_word_errors

DATA_SETS = 1000
COLUMNS = ("ordinary width", "ordinary coverage", "blockwise width", "blockwise coverage")


def off(measured: tuple[float, ...], published: tuple[float, ...]) -> list[str]:
    """Name the columns that differ too much from what is published."""
    near = (
        abs(measured[0] / published[0] - 1) <= 0.05,
        abs(measured[1] - published[1]) <= 0.03,
        abs(measured[2] / published[2] - 1) <= 0.05,
        0.93 <= measured[3] <= 0.97,
    )
    return [name for name, fine in zip(COLUMNS, near, strict=True) if not fine]


def main() -> None:
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    start = time.perf_counter()
    print(f"{data_sets} data sets a row, 1000 replicates, percentile intervals; (difference from published)")
    print("block   rho", *(name.rjust(21) for name in COLUMNS), "  Gaussian coverage")
    rows, wrong = [], []
    for block_size in BLOCK_SIZES:
        for correlation in CORRELATIONS:
            study = coverage_of_word_errors(block_size, correlation, data_sets)
            found = (study.ordinary["percentile"], study.blockwise["percentile"])
            measured = tuple(figure for each in found for figure in (each.width, each.coverage))
            published = PUBLISHED[block_size, correlation]
            cells = [
                f"{100 * a:.1f} % ({100 * (a - b):+.1f})"
                if n % 2
                else f"{a:.5f} ({100 * (a / b - 1):+.1f} %)"
                for n, (a, b) in enumerate(zip(measured, published, strict=True))
            ]
            gaussian = (each["gaussian"].coverage for each in (study.ordinary, study.blockwise))
            last = "  ".join(f"{100 * share:.1f} %" for share in gaussian)
            print(
                f"{block_size:5} {correlation:5}",
                *(cell.rjust(21) for cell in cells),
                f"   {last}",
                flush=True,
            )
            rows.append((block_size, correlation, *(f"{figure:.6g}" for figure in measured), *published))
            wrong += [
                f"blocks of {block_size}, rho {correlation}: {name}" for name in off(measured, published)
            ]
    print(f"{time.perf_counter() - start:.0f} s")
    if data_sets == DATA_SETS:
        with open(Path(__file__).with_suffix(".csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            names = [name.replace(" ", "_") for name in COLUMNS]
            writer.writerow(["block_size", "correlation", *names, *(f"published_{name}" for name in names)])
            writer.writerows(rows)
    if wrong:
        sys.exit("off: " + "; ".join(wrong))
    print("all rows agree with the published table")


if __name__ == "__main__":
    main()
