"""Which segments of a corpus a family looks at under its changes.

Models are asked about these segments only, and notebooks look at the same ones.

Conventions
-----------
- All segments are changed, labelled or not, unless the family needs labels: then the labelled ones. Of a
  corpus that has transcripts, recognisers hear the segments that have one.
- Of more than ``segments`` (an option of the family) so many are drawn at random; what a segment's draw is
  depends on the suite's seed and the segment alone. A suite may set ``segments_per_change``, which is never
  exceeded, in sweeps neither.
- Families that name the same ``sample`` (an option) draw the same segments, and share predictions.
- Sweeps and transformations look at ``sweep_segments`` at most, taken in turn from all blocks, so that many
  speakers are heard.
- Transformations serve to compare groups. Without ``sweep_segments`` as many segments are transformed as it
  takes for each group that is large enough to be judged (``groups`` and ``minimum_segments``, options) to be
  judged; with fewer, groups still come before the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.tasks import Task
from soundcheck.statistics import draws
from soundcheck.suite.families import Family

__all__ = ["changed_rows", "for_groups", "smallest", "swept_rows"]

SWEEP_SEGMENTS = 200  # unless the threshold file says how many
TRANSFORMED_SEGMENTS = 80  # unless groups need more


def changed_rows(family: Family, tasks: Sequence[Task], table: pd.DataFrame, seed: int) -> np.ndarray:
    """Say which segments the family looks at under its changes.

    Parameters
    ----------
    family
        The family.
    tasks
        Tasks that it applies to.
    table
        The segment table.
    seed
        The suite's seed.

    Returns
    -------
    numpy.ndarray
        bool ``(segments,)``.
    """
    rows = nothing = np.zeros(len(table), dtype=bool)
    for task in tasks:
        labelled = table[task.name].notna().to_numpy() if task.name in table.columns else nothing
        needed = family.label or (task.is_transcription and labelled.any())
        rows = rows | (labelled if needed else True)
    limits = [family.options.get(name) for name in ("segments", "segments_per_change")]
    most = min((int(limit) for limit in limits if limit is not None), default=len(rows))
    return rows if rows.sum() <= most else smallest(_draws(family, table, seed), rows, most)


def swept_rows(
    family: Family, tasks: Sequence[Task], table: pd.DataFrame, block_columns: Sequence[str], seed: int
) -> np.ndarray:
    """Say which segments the family looks at in its sweeps, bool ``(segments,)``.

    Parameters
    ----------
    family, tasks, table, seed
        See :func:`changed_rows`.
    block_columns
        Columns whose values are resampled together.
    """
    blocks = draws.blocks_of(table, block_columns)
    rows = changed_rows(family, tasks, table, seed)
    order = _in_turn(_draws(family, table, seed), rows, blocks)
    most = family.options.get("sweep_segments")
    if not family.transformations:
        most = SWEEP_SEGMENTS if most is None else int(most)
        return smallest(order, rows, min(most, family.options.get("segments_per_change", most)))
    columns = [table[name] for name in family.options.get("groups", ()) if name in table.columns]
    needed = for_groups(order, rows, columns, int(family.options.get("minimum_segments", 1)))
    most = max(TRANSFORMED_SEGMENTS, int(needed.sum())) if most is None else int(most)
    return smallest(_first(order, needed), rows, most)


def for_groups(order: np.ndarray, rows: np.ndarray, columns: Sequence[pd.Series], least: int) -> np.ndarray:
    """Take so many rows of every group that has them, and as few as possible of these in other columns again.

    Parameters
    ----------
    order
        A number a row; small ones are taken first within a group.
    rows
        Rows that may be taken, bool ``(N,)``.
    columns
        Groups of each row, ``(N,)`` a column; missing ones are in no group.
    least
        Rows to take of a group; groups with fewer get none.

    Examples
    --------
    >>> accents, sexes = pd.Series(["a", "b", "b", "b"]), pd.Series(["f", "f", "m", "m"])
    >>> for_groups(np.arange(4), np.ones(4, dtype=bool), [accents, sexes], 2).tolist()
    [True, True, True, True]
    >>> for_groups(np.arange(4), np.ones(4, dtype=bool), [accents], 2).tolist()
    [False, True, True, False]
    """
    taken = np.zeros(len(rows), dtype=bool)
    for values in sorted(columns, key=lambda values: -values[rows].nunique()):  # the smallest groups first
        own = values.astype(object).where(rows).reset_index(drop=True)
        large = own.map(own.value_counts()).ge(least)
        place = pd.Series(_first(order, taken)).groupby(own).rank(method="first")
        taken |= (large & place.le(least)).to_numpy(dtype=bool)
    return taken


def _in_turn(draws: np.ndarray, rows: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Give small numbers to the first rows of all blocks, larger ones to their second rows, and so on."""
    turn = pd.Series(np.where(rows, draws, np.inf)).groupby(blocks).rank(method="first").to_numpy()
    return turn + draws / 2  # draws are below 1: they decide within a turn only


def _first(order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Put chosen rows before all others, otherwise in their order."""
    return np.where(chosen, order - np.max(order, initial=0) - 1, order)


def _draws(family: Family, table: pd.DataFrame, seed: int) -> np.ndarray:
    sample = family.options.get("sample", family.name)
    return seeds.uniform(seed, "segments", sample, keys=table["key"].tolist())


def smallest(order: np.ndarray, rows: np.ndarray, most: int) -> np.ndarray:
    """Take at most so many of the rows, those with the smallest numbers; returns bool ``(N,)``."""
    candidates = np.flatnonzero(rows)
    chosen = candidates[np.argsort(order[candidates], kind="stable")[:most]]
    taken = np.zeros(len(rows), dtype=bool)
    taken[chosen] = True
    return taken
