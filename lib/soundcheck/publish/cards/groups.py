"""The section of a card about groups of speakers and recordings: one row a group, all its tests counted."""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import inline, link, table
from soundcheck.report import failures
from soundcheck.report import names as written
from soundcheck.report.key_figures import significant
from soundcheck.results import tally

MOST = 40


def groups(facts: ModelFacts, context: CardContext) -> str:
    """Write how each group of each corpus did.

    The gap that is shown is the one that goes furthest beyond what matters, in widths of its interval.
    """
    rows = facts.counted[facts.counted["group"].ne("") & facts.counted["group"].str.contains(": ")]
    if rows.empty:
        where = " at a task at which the model is better than guessing" if len(facts.hollow) else ""
        return f"No group was compared{where}."
    found = [
        (_row(facts, context, group, corpus, own), tally(own))
        for (corpus, group), own in rows.groupby(["corpus", "group"], sort=False)
    ]
    found.sort(key=lambda one: (-one[1].holds, -one[1].judged))
    head = [
        "group",
        "corpus",
        "failures that hold",
        "clear passes",
        "open",
        "skipped",
        "gravest gap to the others",
    ]
    shown = table(head, [row for row, _ in found[:MOST]], (2, 3, 4, 5))
    left = len(found) - MOST
    return shown + (f"\n\n{left:,} more groups are in the results." if left > 0 else "")


def _row(facts: ModelFacts, context: CardContext, group: str, corpus: str, own: pd.DataFrame) -> list[str]:
    total = tally(own)
    counts = (total.holds, total.clear_pass, total.open, total.skipped + total.shown)
    return [inline(group), inline(corpus), *(f"{count:,}" for count in counts), _gravest(facts, context, own)]


def _gravest(facts: ModelFacts, context: CardContext, own: pd.DataFrame) -> str:
    known = own[own["gap"].notna() & own["gap_low"].notna()]
    if known.empty:
        return "no gap with an interval"
    row = next(failures.by_excess(known).head(1).itertuples())
    blocks = counted(row.blocks, failures.blocks_of(facts.record, row.corpus))
    span = (
        f"95 % {significant(row.gap_low)} to {significant(row.gap_high)}, {row.segments:,} segments, {blocks}"
    )
    matters = "" if pd.isna(row.matters) else f"; {significant(row.matters)} matters"
    name = " · ".join(filter(None, (row.task, written.measure(row.test), written.label(row.label))))
    shown = link(significant(row.gap), context.link(facts.page(row.family)))
    return f"{shown} ({span}{matters}): {inline(name)}"
