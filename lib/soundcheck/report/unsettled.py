"""What could not be concluded: how many tests of a model and family are open, and what may hide there."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd

from soundcheck.report import failures, tables
from soundcheck.results.record import RunRecord
from soundcheck.statistics.evidence import LEAST_BLOCKS

MOST_SPEAKERS = 10_000  # a larger planning figure is not shown as a number


@dataclasses.dataclass(frozen=True)
class Unsettled:
    """Open tests of a model and family.

    Parameters
    ----------
    model, family
        Their names.
    title
        What pages call the family.
    tests
        How many of its tests are open.
    hides
        The largest difference that may hide, in the unit of its test; ``None`` if no interval bounds one.
    where
        The test of which it may hide; ``""`` if there is none.
    few
        How many of the tests have too few blocks for any interval.
    needed
        Blocks that would settle half of the tests, a planning figure; infinite if that cannot be planned.
    plan
        The same in words.
    """

    model: str
    family: str
    title: str
    tests: int
    hides: float | None
    where: str
    few: int
    needed: float
    plan: str


def unsettled(record: RunRecord, open_rows: pd.DataFrame) -> list[Unsettled]:
    """Sum up open rows by model and family, those with the most open tests first.

    Parameters
    ----------
    record
        The run's record.
    open_rows
        Rows that are open, of models whose tests count.
    """
    titles = {family.name: family.title for family in record.families}
    size = open_rows["bound"].abs() - open_rows["matters"]
    frame = open_rows.assign(needed=failures.speakers_needed(open_rows), size=size)
    found = []
    for (model, family), own in frame.groupby(["model", "family"], sort=False):
        known = own[own["needed"].notna()]
        worst = own.loc[own["size"].idxmax()] if own["size"].notna().any() else None
        few = int((own["blocks"] < LEAST_BLOCKS).sum())
        needed = math.inf
        plan = (
            f"{LEAST_BLOCKS} at least, for any interval" if few else "cannot be planned, it has no interval"
        )
        if len(known):
            needed, now = float(np.median(known["needed"])), float(np.median(known["blocks"]))
            plan = f"about {needed:,.0f} in place of {now:.0f}"
            plan = plan if needed <= MOST_SPEAKERS else "more than can be planned"
        found.append(
            Unsettled(
                model,
                family,
                titles.get(family, family),
                len(own),
                None if worst is None else float(abs(worst["bound"])),
                "" if worst is None else tables.row_name(worst, worst["task"]),
                few,
                needed,
                plan,
            )
        )
    return sorted(found, key=lambda one: -one.tests)


def noun(record: RunRecord, rows: pd.DataFrame) -> str:
    """Name what is resampled in all rows together, in the plural: ``speakers``; ``blocks`` if it differs."""
    blocks = {failures.blocks_of(record, corpus) for corpus in rows["corpus"].unique()}
    return f"{blocks.pop()}s" if len(blocks) == 1 else "blocks"
