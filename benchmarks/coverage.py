"""How often 95 % intervals hold the truth, and how often verdicts are right about not being sure.

Run ``python benchmarks/coverage.py [data sets a cell]``, 1000 by default, a minute. Percentile intervals of
1000 replicates; in brackets the expanded percentile interval. A share rho of the variance of truth and error
belongs to the speaker; 20 segments each. The full size also writes ``coverage.csv`` beside this file.

Ends with 1 if what the product promises does not hold: with at least 40 speakers, percentile intervals hold
the truth in 92 to 97 % of the data sets; verdicts on values that lie exactly on the threshold are certain to
any degree equally often, and 93 to 97 % of them are inconclusive. Each bar is widened by 2.6 standard errors
of the study.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

from soundcheck.studies import DESIGNS, monte_carlo_error

DATA_SETS = 1000
JUDGED = 500  # data sets of a study of verdicts
SHARES = (0.0, 0.2, 0.5)
SPEAKERS = (5, 10, 20, 40, 100)
ENOUGH = 40  # speakers
EVERY_SIZE = ("ccc", "unchanged")  # designs that show what few speakers do
CONSERVATIVE = ("unpaired",)  # wider than needed on purpose
WIDE_IF_INDEPENDENT = ("eer",)  # a product of weights varies more than independent trials do
TOO_NARROW = ("eer by trial",)  # shows what goes wrong
COLUMNS = ("design", "speakers", "share", "percentile", "expanded", "gaussian", "width", "withheld")


def within(rate: float, low: float, high: float, data_sets: int) -> bool:
    slack = 2.6 * monte_carlo_error(data_sets)
    return low - slack <= rate <= high + slack


def intervals(data_sets: int) -> tuple[list[tuple], list[str]]:
    """Study the intervals of all designs; give rows of the table and what is off."""
    rows, wrong = [], []
    print(" " * 16 + "blocks", *(f"rho={share}".rjust(15) for share in SHARES), "   mean width, rho=0.2")
    for name, design in DESIGNS.items():
        for speakers in SPEAKERS:
            if speakers < ENOUGH and name not in EVERY_SIZE:
                continue
            cells, width = [], {}
            for share in SHARES:
                found = design.coverage(speakers, share, data_sets)
                rates = {kind: each.coverage for kind, each in found.items()}
                width[share] = found["percentile"].width
                cells.append(f"{100 * rates['percentile']:.1f} ({100 * rates['expanded']:.1f})".rjust(15))
                figures = (*rates.values(), width[share], found["percentile"].withheld)
                rows.append((name, speakers, share, *(f"{figure:.6g}" for figure in figures)))
                wide = name in CONSERVATIVE or (name in WIDE_IF_INDEPENDENT and share == 0)
                high = 1.0 if wide else 0.97
                if name in TOO_NARROW:
                    continue
                if speakers >= ENOUGH and not within(rates["percentile"], 0.92, high, data_sets):
                    wrong.append(f"{name}, {speakers} speakers, rho {share}: {rates['percentile']:.3f}")
            print(f"{name:16}{speakers:6}", *cells, f"{width[0.2]:15.4f}", flush=True)
    return rows, wrong


def narrower(rows: list[tuple]) -> list[str]:
    """Name the cells in which pairing two models does not pay."""
    width = {tuple(row[:3]): float(row[6]) for row in rows}
    return [
        f"paired, {speakers} speakers, rho {share}: not narrower than unpaired"
        for name, speakers, share in width
        if name == "paired" and width["paired", speakers, share] >= width["unpaired", speakers, share]
    ]


def verdicts() -> list[str]:
    """Study verdicts on values that lie exactly on their threshold, 100 speakers; name what is off."""
    wrong = []
    print("\ntrue value on the threshold, 100 speakers, rho=0.2   inconclusive   KS p of certainty")
    for name, design in DESIGNS.items():
        if name in CONSERVATIVE + TOO_NARROW:
            continue
        found = design.calibration(100, 0.2, JUDGED)
        print(f"{name:50}{100 * found.inconclusive:12.1f} % {found.p_value:18.3f}", flush=True)
        if found.p_value <= 0.001 or not within(found.inconclusive, 0.93, 0.97, JUDGED):
            wrong.append(f"verdicts on {name}: {found.inconclusive:.3f} inconclusive, p {found.p_value:.2g}")
    return wrong


def main() -> None:
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    start = time.perf_counter()
    rows, wrong = intervals(data_sets)
    wrong += narrower(rows) + verdicts()
    print(f"{data_sets} data sets a cell, {JUDGED} verdicts, {time.perf_counter() - start:.0f} s")
    if data_sets == DATA_SETS:
        with open(Path(__file__).with_suffix(".csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([COLUMNS, *rows])
    if wrong:
        sys.exit("off: " + "; ".join(wrong))
    print("all within the bars")


if __name__ == "__main__":
    main()
