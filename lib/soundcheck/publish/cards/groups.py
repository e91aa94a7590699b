"""The section of a card about groups of speakers and recordings: one row a group, all its tests counted."""

from __future__ import annotations

import pandas as pd

from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import inline, link, table
from soundcheck.report import failures
from soundcheck.results.states import FAIL, PASS, STATES
from soundcheck.results.summary import tally

MOST = 40


def groups(facts: ModelFacts, context: CardContext) -> str:
    """Write how each group of each corpus did.

    The difference that is shown is the one farthest beyond its margin, in widths of its interval.
    """
    rows = facts.counted[facts.counted["group"].str.contains(": ", regex=False)]
    if rows.empty:
        where = " at a task at which the model is better than chance" if len(facts.uncounted) else ""
        return f"No group was compared{where}."
    found = [
        (tally(own), [inline(group), inline(corpus)], _largest(facts, context, own))
        for (corpus, group), own in rows.groupby(["corpus", "group"], sort=False)
    ]
    found.sort(key=lambda one: (-one[0][FAIL], -one[0][PASS]))
    head = ["group", "corpus", *STATES, "largest difference"]
    shown = [[*names, *(f"{count:,}" for count in found.values()), row] for found, names, row in found[:MOST]]
    left = len(found) - MOST
    return table(head, shown, range(2, 7)) + (
        f"\n\n{left:,} more groups are in the results." if left > 0 else ""
    )


def _largest(facts: ModelFacts, context: CardContext, own: pd.DataFrame) -> str:
    known = own[own["gap"].notna() & own["gap_low"].notna()]
    if known.empty:
        return "no difference with an interval"
    row = next(failures.by_excess(known).head(1).itertuples())
    return link(inline(facts.sentence(row), 500), context.link(facts.page(row.family)))
