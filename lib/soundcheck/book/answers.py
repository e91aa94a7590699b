"""Answers the question of a family at the top of its page: what fails, and what could not be concluded.

The sentence is written from the finished results, so it agrees with every other page of the book.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report import failures
from soundcheck.report.html import Html, element, join
from soundcheck.report.inconclusive import not_excluded
from soundcheck.report.sentences import both_rules
from soundcheck.report.tables import number, row_name
from soundcheck.report.verdict_tables import MOST_OPEN, anchor_of, key_of, verdict_table
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED
from soundcheck.results.states import counted as counted_rows
from soundcheck.results.summary import headline, tally

NAMED = 3  # reasons, or sentences, that the answer has room for


def answer(
    rows: pd.DataFrame,
    question: str,
    notes: Sequence[str] = (),
    among: pd.Series | None = None,
    blocks: Callable[[str], str] = lambda _: "speaker",
) -> Html:
    """Answer the question of a family for a model.

    Parameters
    ----------
    rows
        Finished rows of the results table, of one model and family.
    question
        What the family asks.
    notes
        At which tasks the model is no better than chance, see
        :func:`soundcheck.report.key_figures.standing_notes`: robust and fair is then nothing to its credit.
    among
        From :func:`soundcheck.book.filled.among`.
    blocks
        Names what is resampled of a corpus, in the singular.
    """
    asked = element("strong", question)
    if rows.empty:
        return element("p", asked, " There are no tests.", class_="sc-answer")
    rows = counted_rows(rows)
    found = tally(rows)
    if not found.judged:
        reasons = list(dict.fromkeys(rows.loc[rows["state"].eq(NOT_EVALUATED), "skipped"]))
        why = "; ".join(reasons[:NAMED]) + ("; …" if len(reasons) > NAMED else "")
        why = f" Not evaluated: {why}." if why else " No threshold is set, so nothing judges the values."
        return element("p", asked, f" {tally(rows)}.{why}", class_="sc-answer", limit=None)
    failed = failures.by_excess(rows[rows["state"].eq(FAIL)])
    parts = [element("p", asked, *_said(rows, failed, blocks), class_="sc-answer", limit=None)]
    if undecided := _undecided(rows[rows["state"].eq(INCONCLUSIVE)]):
        parts.append(element("p", f"Inconclusive: {undecided}.", class_="sc-note", limit=None))
    parts += [element("p", f"{note[:1].upper()}{note[1:]}.", class_="sc-note", limit=None) for note in notes]
    parts += _of_two_rules(rows)
    if len(failed) and found.judged > MOST_OPEN:
        parts.append(verdict_table(failed, caption="What fails, the largest first", among=among))
    return join(parts)


def _said(rows: pd.DataFrame, failed: pd.DataFrame, blocks: Callable[[str], str]) -> tuple[Html | str, ...]:
    """Say how many tests fail, what the largest failure says, with the way to its row, and all counts."""
    if failed.empty:
        return (f" {headline(rows)}. {tally(rows)}.",)
    worst = next(failed.itertuples())
    found = failures.finding(worst, blocks(worst.corpus))
    about = f" of {found.who}" if found.who else ""
    says = f"{found.measured}{about} is {found.says}" if found.rests else found.says
    link = element("a", says, href=f"#{anchor_of(key_of(worst))}")
    first = ": " if len(failed) == 1 else ", the largest: "
    rests = f" ({found.rests})" if found.rests else ""
    return f" {headline(rows)}{first}", link, f"{rests}. {tally(rows)}."


def _of_two_rules(rows: pd.DataFrame) -> list[Html]:
    """Say where the published rule and the margin come to different answers."""
    said = [(row, both_rules(row)) for row in rows.itertuples()]
    said = [f"{row_name(row, row.task)}: {text}." for row, text in said if text]
    if len(said) > NAMED:
        said[NAMED:] = [f"… and of {counted(len(said) - NAMED, 'more test')} the same can be said."]
    return [element("p", text, class_="sc-note", limit=None) for text in said]


def _undecided(rows: pd.DataFrame) -> str:
    """Say what inconclusive tests do not exclude, and how many of them have no interval."""
    bound, where = not_excluded(rows)
    few, blind = (int(found.sum()) for found in (rows["state_sample"].eq(REPORTED), rows["bound"].isna()))
    parts = [
        f"a difference of up to {number(bound)} is not excluded ({where})" if where else "",
        f"{counted(few, 'difference')} with too few speakers to generalise" if few else "",
        f"{counted(blind, 'test')} without interval, of which nothing is excluded" if blind else "",
    ]
    return "; ".join(filter(None, parts))
