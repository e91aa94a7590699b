"""Which segments of a corpus a family looks at under its changes, and pairs of recordings of the same words.

- All segments are changed, or the labelled ones if the family needs labels; for recognisers those with a
  transcript if there are any.
- Of more than ``segments`` (an option of the family) or ``segments_per_change`` (of the suite) so many are
  drawn, by the suite's seed and the segment alone; those with the same ``sample`` (an option) draw the same.
- With ``file_minimum`` (an option) whole files of so many segments are taken; sweeps grow within each file.
- Sweeps and transformations look at ``sweep_segments`` at most, taken in turn from all blocks. Without this
  option as many are transformed as it takes to judge each group of ``groups`` that has ``minimum_segments``.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.messages import quoted
from soundcheck.common.tasks import Task
from soundcheck.corpora.trials.trial_table import LISTED, TrialTable
from soundcheck.metrics.temporal import neighbours
from soundcheck.statistics import bootstrap
from soundcheck.suite.families import Family

SWEEP_SEGMENTS = 200  # unless the threshold file says how many
TRANSFORMED_SEGMENTS = 80  # unless groups need more


def changed_rows(family: Family, tasks: Sequence[Task], table: pd.DataFrame, seed: int) -> np.ndarray:
    """Say which segments the family looks at under its changes."""
    rows = nothing = np.zeros(len(table), dtype=bool)
    for task in tasks:
        labelled = table[task.name].notna().to_numpy() if task.name in table.columns else nothing
        needed = family.label or (task.is_transcription and labelled.any())
        rows = rows | (labelled if needed else True)
    if minimum := family.options.get("file_minimum"):
        rows = rows & table["file"].map(table["file"][rows].value_counts()).ge(minimum).to_numpy(dtype=bool)
    limits = [family.options.get(name) for name in ("segments", "segments_per_change")]
    most = min((int(limit) for limit in limits if limit is not None), default=len(rows))
    return rows if rows.sum() <= most else smallest(_draws(family, table, seed), rows, most)


def swept_rows(
    family: Family,
    tasks: Sequence[Task],
    table: pd.DataFrame,
    block_columns: Sequence[str],
    seed: int,
    trials: TrialTable | None = None,
) -> np.ndarray:
    """Say which segments the family looks at in its sweeps, bool ``(segments,)``."""
    blocks = bootstrap.blocks_of(table, block_columns)
    if "file_minimum" in family.options:  # a file stays whole, whoever else speaks in it
        blocks = pd.Series(blocks).groupby(table["file"].to_numpy()).transform("first").to_numpy()
    rows = changed_rows(family, tasks, table, seed)
    if family.trials and trials is not None and trials.origin == LISTED:
        rows = rows & np.isin(np.arange(len(table)), trials.frame["segment"])
    order = _in_turn(_draws(family, table, seed), rows, blocks)
    most = family.options.get("sweep_segments")
    if not family.transformations:
        most = SWEEP_SEGMENTS if most is None else int(most)
        return smallest(order, rows, min(most, family.options.get("segments_per_change", most)))
    columns = [table[name] for name in family.options.get("groups", ()) if name in table.columns]
    least = int(family.options.get("minimum_segments", 1))
    needed = for_groups(order, rows, columns, least)
    if most is None:
        return smallest(_first(order, needed), rows, max(TRANSFORMED_SEGMENTS, int(needed.sum())))
    fitting = for_groups(order, rows, columns, least, int(most))
    return smallest(_first(_first(order, needed), fitting), rows, int(most))


def growing_steps(family: Family, table: pd.DataFrame, rows: np.ndarray, count: int) -> np.ndarray | None:
    """Say at which step of a sweep each segment is heard, if the sweep grows within each file."""
    if "file_minimum" not in family.options:
        return None
    files = table["file"].astype(object).where(rows)
    place = neighbours(files, table["start"], table["end"], family.options["file_minimum"]).place
    return np.where(np.isnan(place), -1, np.rint(np.nan_to_num(place) * count)).astype(int)


def for_groups(
    order: np.ndarray, rows: np.ndarray, columns: Sequence[pd.Series], least: int, most: int | None = None
) -> np.ndarray:
    """Take so many rows of every group that has them, and as few as possible of these in other columns again.

    >>> accents, sexes = pd.Series(["a", "b", "b", "b"]), pd.Series(["f", "f", "m", "m"])
    >>> for_groups(np.arange(4), np.ones(4, dtype=bool), [accents, sexes], 2).tolist()
    [True, True, True, True]
    >>> for_groups(np.arange(4), np.ones(4, dtype=bool), [accents], 2).tolist()
    [False, True, True, False]
    >>> for_groups(np.arange(4), np.ones(4, dtype=bool), [accents, sexes], 2, 3).tolist()
    [False, True, True, False]
    """
    taken = np.zeros(len(rows), dtype=bool)
    for values in sorted(columns, key=lambda values: -values[rows].nunique()):  # the smallest groups first
        groups, _ = pd.factorize(values.astype(object).where(rows))
        present = groups >= 0
        large = present & (np.bincount(groups[present], minlength=1)[groups] >= least)
        with_own = taken | (large & (_places(_first(order, taken), groups) <= least))
        taken = with_own if most is None or with_own.sum() <= most else taken
    return taken


def _in_turn(draws: np.ndarray, rows: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Give small numbers to the first rows of all blocks, larger ones to their second rows, and so on."""
    turn = _places(np.where(rows, draws, np.inf), pd.factorize(blocks)[0], "dense")
    return turn + draws / 2  # draws are below 1: they decide within a turn only


def _places(order: np.ndarray, groups: np.ndarray, method: str = "first") -> np.ndarray:
    return pd.Series(order).groupby(groups).rank(method).to_numpy()


def _first(order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return np.where(chosen, order - np.max(order, initial=0) - 1, order)


def _draws(family: Family, table: pd.DataFrame, seed: int) -> np.ndarray:
    drawn = "file" if "file_minimum" in family.options else "key"  # segments with the same draw stay together
    sample = family.options.get("sample", family.name)
    return seeds.uniform(seed, "segments", sample, keys=table[drawn].tolist())


def smallest(order: np.ndarray, rows: np.ndarray, most: int) -> np.ndarray:
    """Take at most so many of the rows, those with the smallest numbers; returns bool ``(N,)``."""
    candidates = np.flatnonzero(rows)
    chosen = candidates[np.argsort(order[candidates], kind="stable")[:most]]
    taken = np.zeros(len(rows), dtype=bool)
    taken[chosen] = True
    return taken


# Recordings of the same words under different conditions


@dataclasses.dataclass(frozen=True)
class Pairing:
    """All pairs of recordings under two conditions."""

    base: str  # names of the conditions
    other: str
    rows: tuple[np.ndarray, np.ndarray]  # of the segment table that are partners, in the order of the base's
    notes: tuple[str, ...] = ()  # what is missing, sentences


def pairings(table: pd.DataFrame, base: str = "") -> list[Pairing]:
    """Pair segments of the same ``item`` (and ``speaker``, if known) under the base and other conditions.

    An item that stands twice under a condition has no partners; it is left out and counted.
    """
    by = [name for name in ("speaker", "item") if name in table.columns]
    known = table[[*by, "condition"]].assign(row=np.arange(len(table))).dropna(subset=["item", "condition"])
    known[by] = known[by].astype(object).where(known[by].notna(), "")
    counts = known["condition"].value_counts()
    base = base or min(counts.index, key=lambda name: (-counts[name], name), default="")
    repeated = known.duplicated([*by, "condition"], keep=False)
    unique, again = known[~repeated], known["condition"][repeated].value_counts()
    result = []
    for other in sorted(set(counts.index) - {base}):
        sides = (unique[unique["condition"] == name] for name in (base, other))
        both, notes = pd.merge(*sides, on=by).sort_values("row_x"), []
        for condition, partner in ((base, other), (other, base)):
            if same := again.get(condition, 0):
                notes.append(f"{same} segments under {quoted(condition)} repeat an item and are left out")
            if alone := counts.get(condition, 0) - same - len(both):
                what = f"{alone} of {counts[condition]} segments under {quoted(condition)}"
                notes.append(f"{what} have no partner under {quoted(partner)}")
        rows = both["row_x"].to_numpy(dtype=np.int64), both["row_y"].to_numpy(dtype=np.int64)
        result.append(Pairing(base, other, rows, tuple(notes)))
    return result
