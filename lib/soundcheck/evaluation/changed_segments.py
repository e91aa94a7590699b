"""Which segments of a corpus a family looks at under its changes.

Models are asked about these segments only, and notebooks look at the same ones.

Conventions
-----------
- All segments are changed, labelled or not, unless the family needs labels: then the labelled ones. Of a
  corpus that has transcripts, recognisers hear the segments that have one.
- Of more than ``segments`` (an option of the family) so many are drawn at random; what a segment's draw is
  depends on the suite's seed and the segment alone.
- Families that name the same ``sample`` (an option) draw the same segments, and share predictions.
- Sweeps look at ``sweep_segments`` at most, taken in turn from all blocks, so that many speakers are heard.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from soundcheck.common import seeds
from soundcheck.common.tasks import Task
from soundcheck.statistics import bootstrap
from soundcheck.suite.families import Family

__all__ = ["changed_rows", "smallest", "spread", "swept_rows"]

SWEEP_SEGMENTS = 200


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
    most = family.options.get("segments")
    if most is None or rows.sum() <= most:
        return rows
    return smallest(_draws(family, table, seed), rows, int(most))


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
    blocks = bootstrap.blocks_of(table, block_columns)
    most = int(family.options.get("sweep_segments", SWEEP_SEGMENTS))
    return spread(_draws(family, table, seed), changed_rows(family, tasks, table, seed), blocks, most)


def spread(draws: np.ndarray, rows: np.ndarray, blocks: np.ndarray, most: int) -> np.ndarray:
    """Take rows in turn from all blocks.

    Parameters
    ----------
    draws
        A number a row; small ones are taken first within a block, and of the blocks.
    rows
        Rows that may be taken, bool ``(N,)``.
    blocks
        Block of each row, whole numbers.
    most
        How many rows to take at most.

    Examples
    --------
    >>> rows = np.ones(4, dtype=bool)
    >>> spread(np.array([0.1, 0.2, 0.3, 0.4]), rows, np.array([0, 0, 0, 1]), 2).tolist()
    [True, False, False, True]
    """
    turn = pd.Series(np.where(rows, draws, np.inf)).groupby(blocks).rank(method="first").to_numpy()
    return smallest(turn + draws / 2, rows, most)  # draws are below 1: they decide within a turn only


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
