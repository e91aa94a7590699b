"""The section of a card about groups: how good the model is for each, and the states of its tests."""

from __future__ import annotations

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.markdown import inline, link, table
from soundcheck.report import failures, key_figures
from soundcheck.results.states import FAIL, PASS, STATES
from soundcheck.results.summary import tally

MOST = 40


def groups(facts: ModelFacts, context: CardContext) -> str:
    """Write the values of each group of each corpus, then the states of its tests.

    The difference that is shown is the one farthest beyond its margin, in widths of its interval.
    """
    rows = facts.counted[facts.counted["group"].str.contains(": ", regex=False)]
    if rows.empty:
        where = " at a task at which the model is better than chance" if len(facts.uncounted) else ""
        return f"No group was compared{where}: **nothing is known of differences between groups**."
    found = [
        (tally(own), [inline(group), inline(corpus)], _largest(facts, context, own))
        for (corpus, group), own in rows.groupby(["corpus", "group"], sort=False)
    ]
    found.sort(key=lambda one: (-one[0][FAIL], -one[0][PASS]))
    head = ["group", "corpus", *STATES, "largest difference"]
    shown = [[*names, *states.values(), row] for states, names, row in found[:MOST]]
    parts = [_values(facts), table(head, shown, range(2, 7))]
    if len(found) > MOST:
        parts.append(f"{len(found) - MOST} more groups are in the results.")
    return "\n\n".join(filter(None, parts))


def _values(facts: ModelFacts) -> str:
    """Show how good the model is for each group, the worst first; empty if no figure has groups."""
    own = facts.group_values
    rows = [
        [inline(row.part), inline(row.corpus), inline(f"{row.title} of {row.task}"), *number_cells(row)]
        for row in own.head(MOST).itertuples()
    ]
    head = ["group", "corpus", "measure", "value", "95 % interval", "for these speakers", "rests on"]
    more = f"\n\n{len(own) - MOST} more values are in estimates.csv." if len(own) > MOST else ""
    return table(head, rows, (3,)) + more if rows else ""


def number_cells(row: object) -> tuple[str, str, str, str]:
    """Write an estimate: its value, both intervals, and what it rests on; rates in per cent."""
    factor, unit = (100, "\xa0%") if row.title in key_figures.RATES else (1, "")

    def span(low: float, high: float) -> str:
        written = [key_figures.significant(factor * end) for end in (low, high)]
        return "none" if pd.isna(low) else f"{written[0]} to {written[1]}{unit}"

    rests = [counted(row.segments, "segment"), *([counted(row.speakers, "speaker")] if row.speakers else [])]
    value = f"{key_figures.significant(factor * row.value)}{unit}"
    return value, span(row.low, row.high), span(row.low_sample, row.high_sample), ", ".join(rests)


def _largest(facts: ModelFacts, context: CardContext, own: pd.DataFrame) -> str:
    known = own[own["gap"].notna()]
    if known.empty:
        return "no difference"
    row = next(failures.by_excess(known).head(1).itertuples())
    return link(inline(facts.sentence(row), 500), context.link(facts.page(row.family)))
