"""How often two equal models come out equal when they are compared on hundreds of tests.

Run ``python benchmarks/comparing.py [pairs of models a row]``, 100 by default, about two minutes. The full
size also writes ``book/tables/comparing.csv``. Beside the outcome of ``soundcheck compare`` (paired t-tests,
false discovery rate) stands the rule that calls a test better or worse if the percentile interval of its
difference does not hold 0. Ends with 1 if what the product promises does not hold:

- Two equal models come out equal, nothing better and nothing worse, in at least 95 of 100 comparisons, give
  or take 2.6 standard errors of the study.
- Of the tests that are called better or worse where the candidate is better on some, at most 5 % are wrong.

Conventions
-----------
- Both models have the same accuracy for the population of speakers. A speaker is as hard for both (standard
  deviation 0.08) and then again for each of them (0.06); errors are drawn anew for each.
- A test is a share of right answers among 20 segments of each speaker. *Independent* tests have segments of
  their own; *correlated* ones the same segments under changes that leave four fifths of a segment's fate as
  it is, as the tests of robustness are. *Rare* errors are 2 of 100 answers. *Groups* are tests of the rule
  ``|value| <``: five speakers against all.
- All comparisons go through :func:`soundcheck.results.contrast.contrasts`.
"""

from __future__ import annotations

import csv
import datetime
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import stats

from soundcheck.common import seeds
from soundcheck.results.contrast import BETTER, WORSE, Contrast, contrasts
from soundcheck.results.rows import Judged, Verdict
from soundcheck.statistics.bootstrap import REPLICATES, weights

TABLE = Path(__file__).parents[1] / "book" / "tables" / "comparing.csv"
SEED = 0
PAIRS = 100
TESTS = 300
SEGMENTS = 20  # of a speaker and test
GROUP = 5  # speakers of a group
SHARED, OWN, KEPT = 0.08, 0.06, 0.8
EQUAL, WRONG = 0.95, 0.05
BETTER_TESTS = 30  # on which a candidate that is better is better

# kind, accuracy, share of a segment's fate that tests have in common
KINDS = {
    "independent": (0.75, 0.0),
    "correlated": (0.75, KEPT),
    "rare errors": (0.98, KEPT),
    "groups": (0.75, KEPT),
}
SPEAKERS = (5, 20, 40)
GAINS = (0.05, 0.1)


def accuracies(
    rng: np.random.Generator, speakers: int, accuracy: float, common: float, gains: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draw how often two models are right, each shares ``(speakers, TESTS)``.

    ``gains`` ``(TESTS,)`` is added to the accuracy of the second one.
    """
    spread = min(1.0, (1 - accuracy) / 0.25)  # rare errors differ less between speakers
    hard = rng.normal(0, spread * SHARED, speakers)
    shares = []
    for gain in (np.zeros(TESTS), gains):
        difficulty = hard + rng.normal(0, spread * OWN, speakers)
        right = np.clip(accuracy + difficulty[:, None] + gain, 0.001, 0.999)
        limit = stats.norm.ppf(right).astype(np.float32)[:, None]
        outcome = rng.standard_normal((speakers, SEGMENTS, TESTS), np.float32)
        if common:
            common_part = rng.standard_normal((speakers, SEGMENTS, 1), np.float32)
            outcome = np.sqrt(np.float32(common)) * common_part + np.sqrt(np.float32(1 - common)) * outcome
        shares.append((outcome < limit).mean(axis=1))
    return shares[0], shares[1]


def judged(shares: np.ndarray, model: str, kind: str, replicates: np.ndarray) -> list[Judged]:
    """Make rows of results from shares ``(speakers, TESTS)`` and weights ``(replicates, speakers)``."""
    speakers = len(shares)
    values, drawn = shares.mean(axis=0), replicates @ shares / speakers
    members, rule = np.arange(TESTS), ">"
    if kind == "groups":
        rule = "|value| <"
        first = GROUP * (np.arange(TESTS) % max(1, speakers // GROUP))
        of = (np.arange(speakers)[:, None] - first) // GROUP == 0  # the speakers of each test's group
        totals = replicates @ of
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = replicates @ (shares * of) / totals - drawn
        values = (shares * of).sum(axis=0) / of.sum(axis=0) - values
    rows = []
    for n in members:
        verdict = Verdict(
            *(model, "corpus", "family", "robustness", "task", f"{n:03}"),
            group="group" if kind == "groups" else "",
            value=float(values[n]),
            low=float(values[n]),  # not looked at, but whether it is there
            high=float(values[n]),
            blocks=speakers,
            segments=speakers * SEGMENTS,
            threshold=0.5,
            rule=rule,
            passed=True,
        )
        side = GROUP if kind == "groups" else 0
        rows.append(Judged(verdict, drawn[:, n], "segments", "blocks", side))
    return rows


def comparisons(
    kind: str, speakers: int, pairs: int, gain: float = 0.0
) -> Iterator[tuple[list[Contrast], np.ndarray]]:
    """Compare pairs of models; give the contrasts, and which tests the percentile rule marks."""
    accuracy, common = KINDS[kind]
    gains = np.where(np.arange(TESTS) < BETTER_TESTS, gain, 0.0)
    rng = seeds.generator(SEED, "comparing", kind, speakers, gain)
    for n in range(pairs):
        drawn = weights(speakers, REPLICATES, seed=n % 50).astype(float)
        shares = accuracies(rng, speakers, accuracy, common, gains)
        old, new = (
            judged(accuracy, name, kind, drawn) for accuracy, name in zip(shares, ("old", "new"), strict=True)
        )
        fold = np.abs if kind == "groups" else np.asarray
        apart = fold(np.array([b.replicates for b in new])) - fold(np.array([a.replicates for a in old]))
        low, high = np.nanquantile(apart, [0.025, 0.975], axis=1)
        yield contrasts(old, new), (low > 0) | (high < 0)


def row(kind: str, speakers: int, pairs: int, gain: float) -> dict:
    """Compare pairs of models; give a row of the table."""
    marks, before, detected, wrong = [], [], [], []
    for rows, percentile in comparisons(kind, speakers, pairs, gain):
        better = np.array([contrast.outcome == BETTER for contrast in rows])
        marked = better | np.array([contrast.outcome == WORSE for contrast in rows])
        true = np.arange(TESTS) < (BETTER_TESTS if gain else 0)
        marks.append(marked.sum())
        before.append(percentile.sum())
        detected.append(better[true].mean() if gain else np.nan)
        wrong.append((marked & ~(better & true)).sum() / max(1, marked.sum()))
    marks, before = np.array(marks), np.array(before)
    return {
        "tests": kind,
        "speakers": speakers,
        "better by": gain,
        "comparisons": pairs,
        "equal": float((marks == 0).mean()),
        "marks": float(marks.mean()),
        "found": float(np.mean(detected)) if gain else "",
        "wrong": float(np.mean(wrong)),
        "equal by percentiles": float((before == 0).mean()),
        "marks by percentiles": float(before.mean()),
    }


def record(rows: list[dict]) -> None:
    """Write the table of the book, with a head that says how it was made."""
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        file.write("# What comes out when two models are compared on 300 tests\n")
        file.write("# python benchmarks/comparing.py\n")
        file.write(
            f"# seed {SEED}; {REPLICATES} replicates; NumPy {np.__version__}; {datetime.date.today()}\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        for result in rows:
            writer.writerow(f"{x:.6g}" if isinstance(x, float) else x for x in result.values())


def main() -> None:
    """Run all rows; with the full number of pairs, record them."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    start = time.perf_counter()
    settings = [(kind, speakers, pairs, 0.0) for kind in KINDS for speakers in SPEAKERS]
    settings += [("correlated", n, max(10, pairs // 6), gain) for gain in GAINS for n in (20, 40)]
    rows, off = [], []
    print(
        f"{TESTS} tests     speakers  better by   equal   marks   found   wrong   percentiles: equal, marks"
    )
    for setting in settings:
        if setting[0] == "groups" and setting[1] < 2 * GROUP:
            continue
        result = row(*setting)
        rows.append(result)
        share = "" if result["found"] == "" else f"{result['found']:.2f}"
        print(
            f"{result['tests']:14}{result['speakers']:6}{result['better by']:11.2f}{result['equal']:9.3f}"
            f"{result['marks']:8.2f}{share:>8}{result['wrong']:8.3f}"
            f"{result['equal by percentiles']:21.3f}{result['marks by percentiles']:7.1f}",
            flush=True,
        )
        slack = 2.6 * np.sqrt(EQUAL * (1 - EQUAL) / result["comparisons"])
        place = f"{result['tests']}, {result['speakers']} speakers"
        if not result["better by"] and result["equal"] < EQUAL - slack:
            off.append(f"{place}: {result['equal']:.3f} equal")
        if result["better by"] and result["wrong"] > WRONG + slack:
            off.append(f"{place}: {result['wrong']:.3f} wrong")
    print(f"{pairs} pairs a row, {time.perf_counter() - start:.0f} s")
    if pairs == PAIRS:
        record(rows)
    if off:
        sys.exit("off: " + "; ".join(off))
    print("all within the bars")


if __name__ == "__main__":
    main()
