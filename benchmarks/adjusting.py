"""What is left of a difference between groups that is all microphone, or all accent, when it is adjusted.

Run ``python benchmarks/adjusting.py [data sets a row]``, 1000 by default, some minutes. The full size also
writes ``book/tables/adjusting.csv``. Ends with 1 if what the product promises does not hold; the last bar is
widened by 2.6 standard errors of the study:

- Of a difference that is all microphone at most 15 % is left, and at most 8 % where ten cells are the rule.
- A difference that is all accent stays as it is within 5 %; of one that is half of each, half is left within
  10 points.
- The 95 % interval of the adjusted gap holds the part of the accent in 93 to 98 % of the data sets.

Conventions
-----------
- As many speakers in the group as among the others, 20 segments each. What is predicted falls by 0.1 if the
  microphone is as much worse as that of the group is on average, or by 0.1 for the accent of the group, or by
  half of each; speakers differ by 0.06 and segments by 0.12 (standard deviations).
- *Noise* is a signal-to-noise ratio with a standard deviation of 6 dB on either side, half of whose variance
  is due to the speaker; that of the group is 6 dB lower on average. *Noise of the speaker* is all due to the
  speaker. *Device* is a word: 9 of 10 speakers of the group have a telephone, and 4 of 10 of the others.
- All data sets go through the function that judges speech models.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import functools
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.conclusions import GroupGap, adjusted_gap
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.metrics.additive import value
from soundcheck.metrics.regression import mean_value
from soundcheck.statistics.balance import CUTS, cells_of
from soundcheck.statistics.bootstrap import resample

TABLE = Path(__file__).parents[1] / "book" / "tables" / "adjusting.csv"
DATA_SETS = 1000
REPLICATES = 500
EACH = 20  # segments of a speaker
EFFECT = 0.1
NOISE, SPEAKER_NOISE, DEVICE = "noise", "noise of the speaker", "device"
MICROPHONE, ACCENT, BOTH = "all microphone", "all accent", "half of each"
SHARE = {MICROPHONE: 0.0, BOTH: 0.5, ACCENT: 1.0}  # of the difference that is accent
TELEPHONES = (0.9, 0.4)  # shares of speakers of the group, and of the others


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of data."""

    column: str
    cause: str  # where the difference comes from
    speakers: int  # speakers of the group, and as many others


KINDS = (
    *(Kind(NOISE, cause, n) for n in (20, 40, 60) for cause in SHARE),
    *(Kind(SPEAKER_NOISE, cause, 60) for cause in (MICROPHONE, ACCENT)),
    *(Kind(DEVICE, cause, n) for n in (20, 60) for cause in (MICROPHONE, ACCENT)),
)


def draw(kind: Kind, rng: np.random.Generator) -> tuple[Subset, np.ndarray, np.ndarray]:
    """Draw a data set: the segments with predictions, who is in the group, what is adjusted by."""
    speakers = 2 * kind.speakers
    blocks = np.repeat(np.arange(speakers), EACH)
    group = blocks < kind.speakers
    if kind.column == DEVICE:
        telephone = (rng.permuted(np.arange(speakers).reshape(2, -1) % 10, axis=1).ravel())[
            blocks
        ] < np.where(group, *(10 * share for share in TELEPHONES))
        column = np.where(telephone, "telephone", "headset").astype(object)
        worse = telephone / (TELEPHONES[0] - TELEPHONES[1])
    else:
        speaker_share = 1.0 if kind.column == SPEAKER_NOISE else 0.5
        deviations = np.sqrt(speaker_share) * rng.normal(size=speakers)[blocks]
        deviations = deviations + np.sqrt(1 - speaker_share) * rng.normal(size=len(blocks))
        column = 20 + 6 * (deviations - group)
        worse = (20 - column) / 6
    accent = SHARE[kind.cause]
    values = 0.5 - EFFECT * ((1 - accent) * worse + accent * group)
    values = values + 0.06 * rng.normal(size=speakers)[blocks] + 0.12 * rng.normal(size=len(blocks))
    answers = Predictions(values)
    table = pd.DataFrame({"key": np.arange(len(blocks)).astype(str), kind.column: column})
    return Subset("data", BUILTIN["arousal"], table, None, answers, answers, blocks), group, column


def data_set(kind: Kind, number: int) -> dict[str, float]:
    """Adjust the gap of one data set."""
    subset, group, column = draw(kind, seeds.generator(0, "adjusting", *dataclasses.astuple(kind), number))
    gap = GroupGap(lambda s, p: mean_value(p.clean), group, ~group)
    drawn = functools.partial(resample, replicates=REPLICATES, seed=number % 20)
    (result,) = adjusted_gap(gap, subset, [kind.column], "accent", drawn, "t")
    adjusted = result.get("adjusted")
    low, high = result.get("adjusted_low", np.nan), result.get("adjusted_high", np.nan)
    cells = cells_of({kind.column: column}, group, ~group, subset.blocks, np.ones(len(group), dtype=bool))
    truth = -EFFECT * SHARE[kind.cause]
    of_group, of_others = gap.sides(subset, subset.predictions)
    return {
        "plain": value(of_group) - value(of_others),
        "adjusted": np.nan if adjusted is None else adjusted,
        "covered": np.nan if adjusted is None else float(low <= truth <= high),
        "ten": np.nan if kind.column == DEVICE else float(cells.cuts == CUTS[0]),
        "counterpart": np.nan if result["counterpart"] is None else result["counterpart"],
        "refused": float(adjusted is None),
    }


def summary(kind: Kind, data_sets: int) -> dict[str, object]:
    """Adjust the gaps of many data sets; those that are refused count as such only."""
    means = pd.DataFrame([data_set(kind, number) for number in range(data_sets)]).mean()
    row = dataclasses.asdict(kind) | {"data_sets": data_sets}
    row |= {name: float(means[name]) for name in ("plain", "adjusted")}
    row["left"] = row["adjusted"] / row["plain"]
    return row | {name: float(means[name]) for name in ("covered", "ten", "counterpart", "refused")}


def wrong(row: dict[str, object]) -> list[str]:
    """List what a row does not keep of what is promised."""
    name = f"{row['column']}, {row['cause']}, {row['speakers']} speakers"
    accent, left = SHARE[row["cause"]], row["left"]
    room = {MICROPHONE: 0.08 if row["ten"] > 0.5 else 0.15, ACCENT: 0.05, BOTH: 0.1}[row["cause"]]
    slack = 2.6 * np.sqrt(0.05 * 0.95 / row["data_sets"])
    faults = []
    if abs(left - accent) > room:
        faults.append(f"{name}: {left:.3f} is left in place of {accent:g}")
    if not 0.93 - slack <= row["covered"] <= 0.98 + slack:
        faults.append(f"{name}: intervals hold the part of the accent in {row['covered']:.3f}")
    return faults


def main() -> None:
    """Adjust gaps of all kinds; with the full number of data sets, record what is left."""
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    start, rows = time.perf_counter(), []
    for kind in KINDS:
        rows.append(summary(kind, data_sets))
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in rows[-1].items()}, flush=True)
    if data_sets >= DATA_SETS:
        with open(TABLE, "w", encoding="utf-8", newline="") as file:
            file.write("# What is left of differences between groups when they are adjusted\n")
            file.write("# python benchmarks/adjusting.py; seed 0\n")
            file.write(f"# {REPLICATES} replicates; NumPy {np.__version__}; {datetime.date.today()}\n")
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows
            )
    print(f"{data_sets} data sets a row, {time.perf_counter() - start:.0f} s")
    if faults := [fault for row in rows for fault in wrong(row)]:
        sys.exit("off: " + "; ".join(faults))
    print("all within the bars")


if __name__ == "__main__":
    main()
