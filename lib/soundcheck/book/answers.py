"""The answer at the head of a family's page: the worst fact with its values, then how many tests say what.

It is written from the finished results, so it agrees with every other page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from soundcheck.common import templates
from soundcheck.report import failures
from soundcheck.report.html import Html
from soundcheck.report.names import sentence
from soundcheck.report.sentences import both_rules
from soundcheck.report.states import STATE
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.results.facts import by_excess, counts, few_speakers, headline
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, PASS, REPORTED
from soundcheck.results.states import counted as counted_rows
from soundcheck.statistics.rules import GAP_RULES

MOST_REASONS = 3


def answer(rows: pd.DataFrame, notes: Sequence[str], blocks: Callable[[str], str]) -> Html:
    """Answer the question of a family for a model.

    Parameters
    ----------
    rows
        Finished rows of the results table, of one model and family.
    notes
        At which tasks the model is no better than chance, where being robust or fair says nothing.
    blocks
        Names what is resampled of a corpus, in the singular.
    """
    rows = counted_rows(rows)
    state, row, first = _answered(rows)
    rest, address = ".", ""
    if row is not None:
        found = failures.finding(row, blocks(row.corpus))
        about = f" of {found.who}" if found.who else ""
        first = sentence(f"{first}{found.measured}{about} is {found.says}" if found.rests else found.says)
        rest = f" ({found.rests}){found.more}." if found.rests else "."
        address = f"#{anchor_of(row)}"
    said = [f"{sentence(note)}." for note in notes]
    return templates.html(
        "answer",
        state=STATE[state],
        first=first,
        rest=rest,
        address=address,
        counts=f"{headline(rows)}. {_of_two_rules(rows)}".strip() if len(rows) else "",
        notes=said,
    )


def _answered(rows: pd.DataFrame) -> tuple[str, object, str]:
    """Give the state of a page, the row that its sentence is about, if any, and how the sentence begins."""
    found = counts(rows)
    if failed := _first(by_excess(rows[rows["state"].eq(FAIL)])):
        return FAIL, failed, ""
    if few := _first(few_speakers(rows)):
        return REPORTED, few, "too few speakers to generalise; for these, "
    differences = rows[rows["state"].eq(INCONCLUSIVE) & rows["gap"].notna() & rows["group"].ne("")]
    if largest := _first(by_excess(differences)):
        return INCONCLUSIVE, largest, "no group shown to be worse; largest difference, inconclusive: "
    if found[INCONCLUSIVE]:
        return (
            INCONCLUSIVE,
            _first(by_excess(rows[rows["state"].eq(INCONCLUSIVE)])),
            "inconclusive: ",
        )
    if found[PASS]:
        nearest = by_excess(rows[rows["state"].eq(PASS)])
        return PASS, _first(nearest), "nothing fails; nearest to its limit: "
    if found[REPORTED]:
        return REPORTED, None, "No threshold is set: values are reported"
    reasons = list(dict.fromkeys(rows.loc[rows["state"].eq(NOT_EVALUATED), "skipped"]))
    why = "; ".join(reasons[:MOST_REASONS]) + ("; …" if len(reasons) > MOST_REASONS else "")
    return NOT_EVALUATED, None, f"Not evaluated: {why}" if why else "There are no tests"


def _first(rows: pd.DataFrame) -> object | None:
    return next(rows.itertuples(), None)


def _of_two_rules(rows: pd.DataFrame) -> str:
    """Count what the published rule says of groups, and where it and the margin come to different answers."""
    judged = rows[rows["group"].ne("") & rows["passed"].notna() & ~rows["rule"].isin(GAP_RULES)]
    if judged.empty:
        return ""
    failing = int((~judged["passed"].astype(bool)).sum())
    text = f"By the rule on group minus all, {failing} of {len(judged)} fail"
    apart = sum(bool(both_rules(row)) for row in judged.itertuples())
    return f"{text}; for {apart} the two rules differ, see the table." if apart else f"{text}."
