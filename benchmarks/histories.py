"""How often a history of runs in which nothing changed marks anything, and what it marks where something did.

Run ``python benchmarks/histories.py [histories a row]``, 1,000 by default, five minutes. The full size also
writes ``book/tables/histories.csv``. Ends with 1 if what the product promises does not hold:

- At most 5 of 100 histories of a model that is always as good mark anything, give or take 2.6 standard
  errors of the study.
- Of the marks in histories where the model improves on some tests and breaks on others, at most 5 % are
  wrong: another test, another run or the other direction.

Conventions
-----------
- A history has five runs of a model that is trained anew for each: a speaker is as hard in all runs (standard
  deviation 0.08 of the share of right answers) and then again for each of them (0.06); errors are drawn anew.
- A test is a share of right answers among 20 segments of each of 20 speakers. *Correlated* tests have four
  fifths of a segment's fate in common. *Other speakers* has new speakers in every run: unpaired.
- Planted: two tests improve by 0.15 in the third run, two break by 0.15 in the fourth; 36 stay.
- All goes through :func:`soundcheck.results.history.points`, with replicates as a run has them. No
  difference is too small to be marked here; a suite passes over those up to ``matters_worse``.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from soundcheck.common import seeds
from soundcheck.results.contrast import BETTER, WORSE
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.history import points
from soundcheck.results.record import NO_RECORD
from soundcheck.results.rows import KEY, Judged, Verdict
from soundcheck.results.table import to_frame
from soundcheck.statistics.bootstrap import REPLICATES, weights

TABLE = Path(__file__).parents[1] / "book" / "tables" / "histories.csv"
SEED, HISTORIES = 0, 1000
RUNS, TESTS, SPEAKERS, SEGMENTS = 5, 40, 20, 20
SHARED, OWN, ACCURACY = 0.08, 0.06, 0.75
KINDS = {"independent": 0.0, "correlated": 0.8, "other speakers": 0.8}  # share of fate in common
PLANTED = 0.15
IMPROVING, BREAKING = range(2), range(2, 4)  # tests, in runs 3 and 4
PROMISE = 0.05


@dataclasses.dataclass(frozen=True, eq=False)
class Simulated(FinishedRun):
    """A run that no folder holds."""

    entries: dict[tuple[str, ...], Judged] = dataclasses.field(default_factory=dict)

    @property
    def judged(self) -> dict[tuple[str, ...], Judged]:
        """Give what was simulated."""
        return self.entries


def past_run(shares: np.ndarray, drawn: np.ndarray, blocks: str) -> FinishedRun:
    """Make a run of shares ``(speakers, TESTS)`` and weights ``(replicates, speakers)``."""
    values, replicates = shares.mean(axis=0), drawn @ shares / len(shares)
    entries = {}
    for n in range(TESTS):
        verdict = Verdict(
            *("model", "corpus", "family", "correctness", "task", f"{n:02}"),
            value=float(values[n]),
            low=float(values[n]),  # not looked at, but whether it is there
            high=float(values[n]),
            blocks=SPEAKERS,
            segments=SPEAKERS * SEGMENTS,
            threshold=0.5,
            rule=">",
            passed=bool(values[n] > 0.5),
        )
        entries[tuple(getattr(verdict, name) for name in KEY)] = Judged(
            verdict, replicates[:, n], blocks, blocks
        )
    record = dataclasses.replace(NO_RECORD, results="digest", interval="t", matters_worse=0.0)
    frame = to_frame(entry.verdict for entry in entries.values())
    return Simulated(Path(), frame, record, entries)


def history(rng: np.random.Generator, kind: str, planted: float, seed: int) -> pd.DataFrame:
    """Draw a history; give its points."""
    common_share, other = KINDS[kind], kind == "other speakers"
    hard = rng.normal(0, SHARED, SPEAKERS)
    drawn = weights(SPEAKERS, REPLICATES, seed=seed % 50).astype(float)
    runs, gains = [], np.zeros(TESTS)
    for number in range(1, RUNS + 1):
        if number == 3:
            gains[list(IMPROVING)] += planted
        if number == 4:
            gains[list(BREAKING)] -= planted
        if other:
            hard = rng.normal(0, SHARED, SPEAKERS)
        difficulty = hard + rng.normal(0, OWN, SPEAKERS)
        limit = stats.norm.ppf(np.clip(ACCURACY + difficulty[:, None] + gains, 0.001, 0.999))[:, None]
        outcome = rng.standard_normal((SPEAKERS, SEGMENTS, TESTS))
        common = rng.standard_normal((SPEAKERS, SEGMENTS, 1))
        outcome = np.sqrt(common_share) * common + np.sqrt(1 - common_share) * outcome
        shares = (outcome < limit).mean(axis=1)
        runs.append(past_run(shares, drawn, f"{number}" if other else "same"))
    return points(runs, [{"model": "model"}] * RUNS)


def row(kind: str, planted: float, histories: int) -> dict:
    """Draw histories; give a row of the table."""
    rng = seeds.generator(SEED, "histories", kind, planted)
    marked, detected, wrong = [], [], []
    for n in range(histories):
        frame = history(rng, kind, planted, n)
        marks = frame[frame["mark"].isin([BETTER, WORSE])]
        test = marks["test"].astype(int)
        right = (test.isin(IMPROVING) & marks["position"].eq(3) & marks["mark"].eq(BETTER)) | (
            test.isin(BREAKING) & marks["position"].eq(4) & marks["mark"].eq(WORSE)
        )
        marked.append(len(marks) > 0)
        detected.append(right.sum() / (len(IMPROVING) + len(BREAKING)))
        wrong.append((~right).sum() / max(1, len(marks)))
    return {
        "tests": kind,
        "planted": planted,
        "histories": histories,
        "marked": float(np.mean(marked)),
        "found": float(np.mean(detected)) if planted else "",
        "wrong": float(np.mean(wrong)) if planted else "",
    }


def record(rows: list[dict]) -> None:
    """Write the table of the book, with a head that says how it was made."""
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        file.write(f"# What is marked in histories of {RUNS} runs and {TESTS} tests\n")
        file.write("# python benchmarks/histories.py\n")
        made = f"seed {SEED}; {REPLICATES} replicates; NumPy {np.__version__}; {datetime.date.today()}"
        file.write(f"# {made}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        for result in rows:
            writer.writerow(f"{x:.6g}" if isinstance(x, float) else x for x in result.values())


def main() -> None:
    """Run all rows; with the full number of histories, record them."""
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else HISTORIES
    start = time.process_time()
    settings = [(kind, 0.0, histories) for kind in KINDS]
    settings += [(kind, PLANTED, max(10, histories // 5)) for kind in KINDS]
    rows, off = [], []
    for setting in settings:
        result = row(*setting)
        rows.append(result)
        print(", ".join(f"{name} {value}" for name, value in result.items()), flush=True)
        share = result["wrong"] if result["planted"] else result["marked"]
        if share > PROMISE + 2.6 * np.sqrt(PROMISE * (1 - PROMISE) / result["histories"]):
            off.append(f"{result['tests']}, planted {result['planted']}: {share:.3f}")
    print(f"{time.process_time() - start:.0f} CPU seconds")
    if histories == HISTORIES:
        record(rows)
    if off:
        sys.exit("off: " + "; ".join(off))
    print("all within the bars")


if __name__ == "__main__":
    main()
