"""How often fair models are accused, and how often unfair ones are found, by the tests of groups.

Run ``python benchmarks/fair_models.py [books a row]``, 200 by default, fewer of large ones: half an hour. The
full size also writes ``book/tables/fair_models.csv`` and ``book/tables/unfair_models.csv``. Ends with 1 if
what the product promises does not hold; each bar is widened by 2.6 standard errors of the study:

- A failure that holds stands in at most 5 of 100 books of a model that treats all groups alike, also if the
  speakers of half the groups differ twice as much among each other, if speakers have few segments, and if
  they have different numbers of them.
- A group whose predictions are shifted by 0.17 is found among 247 tests in at least 90 and 99 % of the books
  with 10 and 40 speakers a group; 4 speakers are too few for any group to fail.
- With 20 speakers a group or more, the interval of its gap holds the true gap in 93 to 98 %, and the bound is
  at least as large in 95 %.

Conventions
-----------
- A book tests 13 accents as the family of accents does: means and four quarters of the scale of three
  dimensions, and four classes, 19 tests an accent.
- Speakers have 22 segments. Truth is normal around 0.5 with a deviation of 1/6; the model moves by 0.7 of it,
  errs by 0.12 a segment and by 0.06 a speaker. Its classes are the quadrants of arousal and valence.
- All books go through the functions that judge speech models.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import functools
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.conclusions import GroupGap, compared_sides, concluded_group
from soundcheck.evaluation.subset import Measure, Predictions, Subset
from soundcheck.metrics.combinators import against_average
from soundcheck.metrics.distribution import bin_proportions, class_proportions
from soundcheck.metrics.regression import mean_value
from soundcheck.metrics.weighted import Weighted
from soundcheck.results.rows import OTHERS, Verdict
from soundcheck.results.states import decide
from soundcheck.results.table import to_frame
from soundcheck.statistics.bootstrap import REPLICATES, resample
from soundcheck.statistics.simulation import simulated_threshold
from soundcheck.suite.families import Family, Margin, measure_of
from soundcheck.suite.thresholds import read_family

TABLES = Path(__file__).parents[1] / "book" / "tables"
BOOKS = 200
ACCENTS = 13
SHIFT = 0.17
DIMENSIONS = ("arousal", "dominance", "valence")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of book."""

    name: str
    speakers: int = 10
    segments: tuple[int, int] = (22, 22)  # segments of each speaker; a pair is a span to draw from
    uneven: float = 1.0  # by how much more the speakers of every second accent differ among each other
    shift: float = 0.0  # by how much the arousal of the first accent is shifted
    books: float = 1.0  # share of the full number of books
    accents: int = ACCENTS


FAIR = (
    Kind("4 speakers", speakers=4),
    Kind("10 speakers"),
    Kind("10 speakers, half of the accents twice as uneven", uneven=2.0),
    Kind("10 speakers, 6 segments each", segments=(6, 6)),
    Kind("10 speakers, 4 to 40 segments each", segments=(4, 40)),
    Kind("40 speakers", speakers=40, books=0.2),
)
UNFAIR = tuple(
    Kind(f"{n} speakers, shift", speakers=n, shift=SHIFT, books=0.2 if n == 40 else 0.4)
    for n in (4, 10, 20, 40)
)


def draw(kind: Kind, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Draw speakers and predictions of a book; task -> predictions."""
    accents = np.repeat(np.arange(kind.accents), kind.speakers)
    low, high = kind.segments
    each = rng.integers(low, high + 1, size=len(accents))
    speaker = np.repeat(np.arange(len(accents)), each)
    accent = accents[speaker]
    predictions = {}
    for dimension in DIMENSIONS:
        effect = 0.06 * np.where(accents % 2, kind.uneven, 1.0) * rng.normal(size=len(accents))
        truth = np.clip(rng.normal(0.5, 1 / 6, size=len(speaker)), 0, 1)
        values = 0.5 + 0.7 * (truth - 0.5) + effect[speaker] + rng.normal(0, 0.12, size=len(speaker))
        if dimension == "arousal":
            values = values + kind.shift * (accent == 0)
        predictions[dimension] = np.clip(values, 0, 1)
    high_arousal, high_valence = predictions["arousal"] > 0.5, predictions["valence"] > 0.5
    names = np.array([["sadness", "neutral"], ["anger", "happiness"]], dtype=object)
    predictions["emotion"] = names[high_arousal.astype(int), high_valence.astype(int)]
    segments = pd.DataFrame(
        {"key": np.arange(len(speaker)).astype(str), "speaker": speaker, "accent": accent}
    )
    return segments, predictions


def measures(task: str) -> dict[str, Measure]:
    """Give the tests of accents for a task."""
    if task == "emotion":
        classes = BUILTIN["emotion"].classes
        return {"Relative Difference Per Class": lambda s, p: class_proportions(p.clean, classes)}
    return {
        "Mean Value": lambda s, p: mean_value(p.clean),
        "Relative Difference Per Bin": lambda s, p: bin_proportions(p.clean),
    }


def book(kind: Kind, number: int, family: Family, replicates: int = REPLICATES) -> pd.DataFrame:
    """Judge one book: the rows of the results, with what published and simulated thresholds say."""
    rng = seeds.generator(0, "fair models", kind.name, number)
    segments, predictions = draw(kind, rng)
    accent, blocks = segments["accent"].to_numpy(), segments["speaker"].to_numpy()
    rows, accused = [], []
    groups = {str(n): accent == n for n in range(kind.accents)}
    for task, values in predictions.items():
        answers = Predictions(values)
        subset = Subset("book", BUILTIN[task], segments, None, answers, answers, blocks)
        for test, measure in measures(task).items():
            definition = family.tests[test]
            published = definition.threshold_for(subset.task)
            stretched = simulated_threshold(
                published, definition.simulation, kind.accents, len(segments) // kind.accents
            ).threshold
            whole, masks = measure(subset, answers), list(groups.values())
            average = [against_average(whole, masks, n).point().value for n in range(kind.accents)]
            for row in differences(
                subset, family, test, measure, "accent", groups, seed=number % 20, replicates=replicates
            ):
                value = average[int(row.group.rpartition(" ")[2])][whole.labels.index(row.label)]
                rows.append(row)
                accused.append((abs(value) >= published, abs(value) >= stretched))
    order = sorted(range(len(rows)), key=lambda n: (rows[n].task, rows[n].test, rows[n].group, rows[n].label))
    frame = to_frame(rows)
    frame[["published", "simulated"]] = np.array([accused[n] for n in order])
    return decide(frame)


def differences(
    subset: Subset,
    family: Family,
    test: str,
    base: Measure | Callable[[Subset, Predictions, np.ndarray], Weighted],
    column: str,
    groups: Mapping[str, np.ndarray],
    *,
    against: str = OTHERS,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Iterator[Verdict]:
    """Judge each group against the others, or against a named one, as evaluations do."""
    definition, everybody = family.tests[test], np.logical_or.reduce(list(groups.values()))
    published, measure = definition.threshold_for(subset.task), measure_of(test, family.name)
    for name, mask in groups.items():
        if name == against:
            continue
        gap = GroupGap(base, mask, groups.get(against, everybody & ~mask), against)
        both, rows = gap.sides(subset, subset.predictions), (gap.group, gap.others)
        drawn = functools.partial(resample, replicates=replicates, seed=seed)
        gaps = compared_sides(*both, rows, subset.blocks, definition, drawn, "t", seed)
        values = gaps.resampled.value
        for m, label in enumerate(both[0].labels):
            row = Verdict(
                "model", "book", family.name, "fairness", subset.task.name, test, label,
                value=float(values[gaps.difference(m)]), threshold=published, rule=definition.rule,
                passed=True, segments=int(mask.sum()), blocks=int(gaps.blocks[m]), group=f"{column}: {name}",
            )  # fmt: skip
            yield concluded_group(row, m, gap, gaps, float("nan"), Margin(), published, measure)


def summary(kind: Kind, books: int, family: Family) -> dict[str, object]:
    """Judge many books of a kind: shares of books, and of the gaps of the shifted accent."""
    rows, books = [], max(1, round(books * kind.books))
    for number in range(books):
        frame = book(kind, number, family)
        planted = frame["group"].eq("accent: 0") & (kind.shift > 0)
        related = planted | (kind.shift > 0)  # a shifted accent moves what the others are compared with
        fair, holds = frame[~related], frame["holds"].eq(True)
        row = {
            "published": fair["published"].any(),
            "simulated": fair["simulated"].any(),
            "holds": holds[~related].any(),
            "marks": int(holds[~related].sum()),
        }
        mean = frame[planted & frame["task"].eq("arousal") & frame["test"].eq("Mean Value")]
        if len(mean):
            (one,) = mean.itertuples(index=False)
            row |= {
                "found": bool(one.holds), "found_published": one.published, "found_simulated": one.simulated,
                "covered": one.gap_low <= SHIFT <= one.gap_high, "below": one.gap_high < SHIFT,
                "above": one.gap_low > SHIFT, "bounded": one.bound >= SHIFT,
            }  # fmt: skip
            others = frame[~planted & frame["task"].isin(["dominance", "valence"])]
            row["accused_others"] = bool(others["holds"].eq(True).any())
        rows.append(row)
    means = pd.DataFrame(rows).astype(float).mean()
    columns = {"kind": kind.name, "speakers": kind.speakers, "tests": len(frame), "books": books}
    return columns | {name: float(mean) for name, mean in means.items()}


def record(
    name: str,
    about: str,
    rows: Sequence[dict],
    command: str = "benchmarks/fair_models.py",
    replicates: int = REPLICATES,
) -> None:
    """Write a table of the book, with a head that says how it was made."""
    with open(TABLES / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
        file.write(f"# {about}\n# python {command}\n")
        file.write(f"# {replicates} replicates; NumPy {np.__version__}; {datetime.date.today()}\n")
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )


def slack(share: float, row: dict) -> float:
    """Give 2.6 standard errors of a share of books."""
    return 2.6 * float(np.sqrt(share * (1 - share) / row["books"]))


def main() -> None:
    """Judge books of all kinds; with the full number, record them."""
    books = int(sys.argv[1]) if len(sys.argv) > 1 else BOOKS
    family, start = read_family("fairness_accent"), time.perf_counter()
    wrong, fair, unfair = [], [], []
    for kind in FAIR:
        row = summary(kind, books, family)
        fair.append(
            {name: row[name] for name in list(row)[:4] + ["published", "simulated", "holds", "marks"]}
        )
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in fair[-1].items()}, flush=True)
        if row["holds"] > 0.05 + slack(0.05, row):
            wrong.append(f"{kind.name}: {row['holds']:.3f} of the books of a fair model accuse it")
    for kind in UNFAIR:
        row = summary(kind, books, family)
        unfair.append({k: v for k, v in row.items() if k not in ("published", "simulated", "holds", "marks")})
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in unfair[-1].items()}, flush=True)
        least = {10: 0.90, 40: 0.99}.get(kind.speakers, 0.0)
        if row["found"] < least - slack(least, row):
            wrong.append(f"{kind.name}: found in {row['found']:.3f}")
        if kind.speakers >= 20 and not 0.93 - slack(0.93, row) <= row["covered"] <= 0.98 + slack(0.98, row):
            wrong.append(f"{kind.name}: intervals cover {row['covered']:.3f}")
        if kind.speakers >= 20 and row["bounded"] < 0.95 - slack(0.95, row):
            wrong.append(f"{kind.name}: the bound is large enough in {row['bounded']:.3f}")
    if books >= BOOKS:
        record("fair_models", "Books of fair models that accuse them, by what is asked", fair)
        record("unfair_models", "Books that find an accent whose arousal is shifted by 0.17", unfair)
    print(f"{books} books a row, {time.perf_counter() - start:.0f} s")
    if wrong:
        sys.exit("off: " + "; ".join(wrong))
    print("all within the bars")


if __name__ == "__main__":
    main()
