"""How often a group that is served worse is found although nobody named it, and how often one is made up.

Run ``python benchmarks/worst_groups.py [corpora a row]``, 100 by default, a few minutes. The full size also
writes ``book/tables/worst_groups.csv``, which the page of the method shows. Ends with 1 if what the product
promises does not hold; each bar is widened by 2.6 standard errors of the study:

- Of 60 speakers, a group of an eighth of the speech of half of them, served worse by 25 points, is found in
  at least 80 of 100 corpora.
- Where no group is served worse, at most 5 of 100 corpora name any.

Conventions
-----------
- A corpus has 20 segments a speaker. Speakers have a sex, one of four accents and one of three ages; half of
  them the device that most of their accent have, so that candidates repeat each other, as they do in data.
  Segments have one of four channels, and a duration and a signal-to-noise ratio, both cut at their quartiles.
- A segment is right or wrong. Of those of a speaker 20 % are wrong on average, with a standard deviation of
  6 points between speakers; of the planted group 25 points more.
- The planted group is an eighth of the speech: what women say over one channel, so that half of the speakers
  take part; or all that the women of one accent say, so that an eighth of the speakers is all there is.
- *Found* are corpora in which a group is named that has more than half of the planted segments, and of which
  more than half are planted. *Named* are those in which any group is named.
- All corpora go through the function that searches on the pages of models.
"""

from __future__ import annotations

import datetime
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.bootstrap import REPLICATES
from soundcheck.statistics.worst_groups import Search, search

TABLE = Path(__file__).parents[1] / "book" / "tables" / "worst_groups.csv"
SEED, CORPORA = 0, 100
SPEAKERS, SEGMENTS = (60, 40, 20, 10), 20
HALF, EIGHTH, NOBODY = "half of the speakers", "an eighth of the speakers", "none"
WRONG, BETWEEN, WORSE, MATTERS = 0.20, 0.06, 0.25, 0.10
MOST_NAMED, LEAST_FOUND = 0.05, 0.80


def draw(
    rng: np.random.Generator, speakers: int, kind: str
) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray]:
    """Draw a corpus.

    - ``kind``: who is in the planted group: :data:`HALF`, :data:`EIGHTH` or :data:`NOBODY`.
    - Returns columns for the search, whether each segment is wrong as 0 and 1, its speaker, and which
      segments belong to the planted group.
    """
    order = rng.permutation(speakers)
    sex, accent = order % 2, order // 2 % 4  # crossed, as even as the number allows
    age = rng.integers(3, size=speakers)
    device = np.where(rng.random(speakers) < 0.5, accent, rng.integers(4, size=speakers))
    speaker = np.repeat(np.arange(speakers), SEGMENTS)
    channel = rng.integers(4, size=len(speaker))
    planted = (sex[speaker] == 1) & ((channel if kind == HALF else accent[speaker]) == 1) & (kind != NOBODY)
    habit = WRONG + BETWEEN * rng.normal(size=speakers)[speaker]
    wrong = (rng.random(len(speaker)) < habit + WORSE * planted).astype(np.float64)
    noise = 20 + 5 * rng.normal(size=speakers)[speaker] + 3 * rng.normal(size=len(speaker))
    columns = {
        "sex": _words("sex", sex[speaker]),
        "accent": _words("accent", accent[speaker]),
        "age": _words("age", age[speaker]),
        "device": _words("device", device[speaker]),
        "channel": _words("channel", channel),
        "noise": _words("noise", _quarters(noise)),
        "duration": _words("duration", _quarters(rng.gamma(4, size=len(speaker)))),
    }
    return columns, wrong, speaker, planted


def _words(name: str, codes: np.ndarray) -> np.ndarray:
    return np.array([f"{name}: {code}" for code in codes], dtype=object)


def _quarters(values: np.ndarray) -> np.ndarray:
    low, high = np.quantile(values, [0.25, 0.75])
    return (values > low).astype(int) + (values > high)


def is_found(result: Search, planted: np.ndarray) -> bool:
    """Say whether a named group is the planted one, or nearly."""
    for leader in result.named:
        for group in (leader, *leader.folded):
            inside = planted[group.segments]
            if inside.mean() > 0.5 and inside.sum() > 0.5 * planted.sum():
                return True
    return False


def study(speakers: int, kind: str, corpora: int) -> dict[str, object]:
    """Search many corpora; gives a row of the table."""
    named, right, candidates, planned = [], [], [], []
    for number in range(corpora):
        rng = seeds.generator(SEED, "worst groups", kind, speakers, number)
        columns, wrong, speaker, planted = draw(rng, speakers, kind)
        seen = search(columns, mean_value(wrong), speaker, MATTERS, REPLICATES, number % 20)
        named.append(bool(seen.named))
        right.append(is_found(seen, planted))
        candidates.append(len(seen.candidates))
        planned.append(seen.planned_gap())
    return {
        "speakers": speakers,
        "planted": kind,
        "corpora": corpora,
        "candidates": round(float(np.median(candidates))),
        "named": round(float(np.mean(named)), 4),
        "found": round(float(np.mean(right)), 4) if kind != NOBODY else "",
        "planned_gap": round(float(np.nanmedian(planned)), 4),
    }


def slack(share: float, corpora: int) -> float:
    """Give 2.6 standard errors of a share of corpora."""
    return 2.6 * float(np.sqrt(share * (1 - share) / corpora))


def main() -> None:
    """Run the study; with the full number of corpora, record it."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else CORPORA
    start, rows, off = time.perf_counter(), [], []
    for kind in (HALF, EIGHTH, NOBODY):
        for speakers in SPEAKERS:
            row = study(speakers, kind, corpora)
            rows.append(row)
            print(row, flush=True)
            if kind == NOBODY and row["named"] > MOST_NAMED + slack(MOST_NAMED, corpora):
                off.append(f"{speakers} speakers: a group is named in {row['named']:g} without a worse one")
            if kind == HALF and speakers == 60 and row["found"] < LEAST_FOUND - slack(LEAST_FOUND, corpora):
                off.append(f"{speakers} speakers: found in {row['found']:g}")
    print(f"{time.perf_counter() - start:.0f} s")
    if corpora == CORPORA:
        made = f"seed {SEED}; {REPLICATES} replicates; NumPy {np.__version__}; {datetime.date.today()}"
        about = "How often a group that is served worse is named, of an eighth of the speech"
        head = f"# {about}\n# python benchmarks/worst_groups.py\n# {made}\n"
        TABLE.write_text(head + pd.DataFrame(rows).to_csv(index=False, lineterminator="\n"), encoding="utf-8")
    if off:
        sys.exit("off: " + "; ".join(off))
    print("all within the bars")


if __name__ == "__main__":
    main()
