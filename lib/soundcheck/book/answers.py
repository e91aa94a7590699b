"""Answers the question of a family at the top of its page: what holds, what is clear, what is open.

Conventions
-----------
- The sentence is written from the settled results, so it agrees with every other page of the book.
- Sizes of different measures are not compared; what may hide is told for the test where it is most, in
  multiples of what matters or of the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report.failures import SEARCHED, sentence
from soundcheck.report.html import Html, element, join
from soundcheck.report.tables import digits_for, interval, number, row_name, rule
from soundcheck.report.verdict_tables import MOST_OPEN, verdict_table
from soundcheck.results import holding
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, OPEN_FAIL, OPEN_PASS, SHOWN
from soundcheck.statistics.rules import ABOVE, one_sided

__all__ = ["answer", "excess"]

NAMED = 3  # failures that hold, or reasons for no verdict, that the sentence names


def answer(
    rows: pd.DataFrame, question: str, notes: Sequence[str] = (), among: pd.Series | None = None
) -> Html:
    """Answer the question of a family for a model.

    Parameters
    ----------
    rows
        Settled rows of the results table, of one model and family.
    question
        What the family asks.
    notes
        At which tasks the model is no better than guessing, see
        :func:`soundcheck.report.key_figures.standing_notes`: robust and fair is then nothing to its credit.
    among
        From :func:`soundcheck.book.settled.among`.

    Returns
    -------
    Html
        A paragraph, and where there are many tests a table of those that hold.
    """
    states = holding.states(rows)
    judged, shown = int(rows["passed"].notna().sum()), int(states.eq(SHOWN).sum())
    asked = element("strong", question)
    if rows.empty:
        return element("p", asked, " There are no tests.", class_="sc-answer")
    without = f" {counted(shown, 'value')} shown without verdict, for want of a threshold." if shown else ""
    if not judged and shown:
        return element("p", asked, " There is no verdict.", without, class_="sc-answer", limit=None)
    if not judged:
        reasons = list(dict.fromkeys(rows["skipped"]))
        why = "; ".join(reasons[:NAMED]) + ("; …" if len(reasons) > NAMED else "")
        told = f" None of {counted(len(rows), 'test')} was judged: {why}."
        return element("p", asked, told, class_="sc-answer", limit=None)
    held = rows[states.eq(HOLDS)].sort_values("p_value", kind="stable")
    counts = {name: int(states.eq(name).sum()) for name in (CLEAR_PASS, OPEN_PASS, OPEN_FAIL)}
    clear, undecided = counts[CLEAR_PASS], counts[OPEN_PASS] + counts[OPEN_FAIL]
    told = f" Of {counted(judged, 'test')}, {_held(held)}; {_are(clear)} "
    told += f"{'clear passes' if clear > 1 else 'a clear pass'}; {_are(undecided)} open"
    if counts[OPEN_FAIL] and counts[OPEN_PASS]:
        told += f" ({counts[OPEN_PASS]} passed, {counts[OPEN_FAIL]} failed)"
    told += "." if not undecided else f": {_hidden(rows[states.isin([OPEN_PASS, OPEN_FAIL])])}"
    parts = [element("p", asked, told, without, class_="sc-answer", limit=None)]
    parts += [element("p", f"{note[:1].upper()}{note[1:]}.", class_="sc-note", limit=None) for note in notes]
    if len(held) and judged > MOST_OPEN:
        parts.append(verdict_table(held, caption="What holds", among=among))
    return join(parts)


def excess(rows: pd.DataFrame) -> pd.Series:
    """Give how far beyond what matters, or beyond the threshold, the worst lies that an interval leaves.

    Of a group, the size of the gap itself. NaN without interval; negative if nothing on the failing side is
    left.
    """
    grouped = rows["matters"].notna()
    sided = rows["rule"].map(one_sided).astype(bool)
    size = rows["bound"].where(sided & grouped, rows["bound"].abs())
    beyond = rows["bound"] - rows["threshold"]
    beyond = beyond.where(~rows["rule"].eq(ABOVE), -beyond)
    beyond = beyond.where(~rows["rule"].str.startswith("|"), rows["bound"].abs() - rows["threshold"])
    return size.where(grouped, beyond)


def _held(held: pd.DataFrame) -> str:
    if held.empty:
        return "no failure holds"
    verb = "holds" if len(held) == 1 else "hold"
    named = "; ".join(_sized(row) for row in held.head(NAMED).itertuples())
    more = f"; and {len(held) - NAMED} more" if len(held) > NAMED else ""
    return f"{counted(len(held), 'failure')} {verb}: {named}{more}"


def _sized(row: object) -> str:
    """Say in a line how large a failure is."""
    if row.test == SEARCHED:
        return sentence(row)
    if pd.isna(row.matters):
        digits = digits_for(row.value, row.low, row.high)
        bounds = interval(row, digits)
        size = number(row.value, digits, row.threshold)
        limit = rule(row)
    else:
        digits = digits_for(row.gap, row.gap_low, row.gap_high)
        bounds = f"{number(row.gap_low, digits)} to {number(row.gap_high, digits)}"
        bounds = "" if pd.isna(row.gap_low) else bounds
        size = f"gap {number(row.gap, digits, row.matters)}"
        limit = f"{row.matters:g} matters"
    bounds = f"95 % {bounds}" if bounds else ""
    return f"{row_name(row, row.task)}: {size} ({', '.join(filter(None, (bounds, limit)))})"


def _are(count: int) -> str:
    return f"{count} are" if count > 1 else f"{count or 'none'} is"


def _hidden(undecided: pd.DataFrame) -> str:
    """Say what open tests may hide, and how many of them say nothing at all."""
    blind = int(undecided["bound"].isna().sum())
    found = excess(undecided)
    limit = undecided["matters"].fillna(undecided["threshold"].abs())
    ranked = (found / limit.where(limit > 0)).dropna()
    parts = []
    if len(ranked):
        worst = undecided.loc[ranked.idxmax()]
        size, where = float(found[ranked.idxmax()]), row_name(worst, worst.task)
        if not pd.isna(worst.matters):
            parts.append(f"a gap of up to {number(size)} may hide ({where}; {worst.matters:g} matters)")
        elif size > 0:
            parts.append(f"up to {number(size)} beyond the threshold may hide ({where})")
    if blind:
        who = "it has" if blind == 1 else f"{blind} have"
        parts.append(f"{who} no interval, so nothing is ruled out there")
    return f"{'; '.join(parts) or 'the data do not settle them'}."
