"""What could not be concluded: how many tests of a model and family are inconclusive, and why."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd

from soundcheck.report import failures, tables
from soundcheck.report.formats import significant
from soundcheck.results.record import RunRecord
from soundcheck.statistics.evidence import LEAST_BLOCKS

MOST_TIMES = 10  # as many speakers; a larger planning figure is not shown as a number


@dataclasses.dataclass(frozen=True)
class Inconclusive:
    """Inconclusive tests of a model and family.

    Parameters
    ----------
    bound, where
        See :func:`not_excluded`.
    few
        How many of the tests have too few blocks for any interval.
    needed
        Blocks that would decide half of the tests, a planning figure; infinite if that cannot be planned.
    plan
        The same in words.
    """

    model: str
    family: str
    title: str
    tests: int
    bound: float | None
    where: str
    few: int
    needed: float
    plan: str

    @property
    def cells(self) -> tuple[object, ...]:
        """Tests, what is not excluded, tests without interval and the plan: cells of :func:`columns`."""
        bound = f"{significant(self.bound)}: {self.where}" if self.where else ""
        return self.tests, bound, self.few or "", self.plan


def columns(record: RunRecord, rows: pd.DataFrame) -> list[str]:
    """Name the columns of a table of families with inconclusive tests."""
    speakers = noun(record, rows)
    plan = f"{speakers} that would decide half of them (planning figure)"
    return ["family", "inconclusive", "not excluded", f"fewer than {LEAST_BLOCKS} {speakers}", plan]


def inconclusive(record: RunRecord, rows: pd.DataFrame) -> list[Inconclusive]:
    """Sum up inconclusive rows by model and family, those with the most first."""
    titles = {family.name: family.title for family in record.families}
    frame = rows.assign(needed=failures.speakers_needed(rows))
    found = []
    for (model, family), own in frame.groupby(["model", "family"], sort=False):
        bound, where = not_excluded(own)
        few = int((own["blocks"] < LEAST_BLOCKS).sum())
        known = own[own["needed"].notna()]
        needed = float(np.median(known["needed"])) if len(known) else math.inf
        if len(known):
            plan = planned(needed, float(np.median(known["blocks"])))
        else:
            plan = f"{LEAST_BLOCKS} at least, for any interval" if few else "it has no interval"
        title = titles.get(family, family)
        found.append(Inconclusive(model, family, title, len(own), bound, where, few, needed, plan))
    return sorted(found, key=lambda one: -one.tests)


def not_excluded(rows: pd.DataFrame) -> tuple[float | None, str]:
    """Give the difference not excluded that is largest in units of its margin, and the name of its test."""
    size = rows["bound"].abs() / rows["matters"]
    if size.isna().all():
        return None, ""
    row = rows.loc[size.idxmax()]
    return float(abs(row["bound"])), tables.row_name(row, row["task"])


def planned(needed: float, now: float) -> str:
    """Write a planning figure.

    Examples
    --------
    >>> planned(40, 12), planned(7851, 15)
    ('about 40 in place of 12', 'more than 10 times as many')
    """
    if needed > MOST_TIMES * now:
        return f"more than {MOST_TIMES} times as many"
    return f"about {needed:,.0f} in place of {now:.0f}"


def noun(record: RunRecord, rows: pd.DataFrame) -> str:
    """Name what is resampled in all rows together, in the plural: ``speakers``; ``blocks`` if it differs."""
    blocks = {failures.blocks_of(record, corpus) for corpus in rows["corpus"].unique()}
    return f"{blocks.pop()}s" if len(blocks) == 1 else "blocks"
