"""Answers the question of a family at the top of its page: what holds, what is clear, what is open.

Conventions
-----------
- The sentence is written from the settled results, so it agrees with every other page of the book.
- Sizes of different measures are not compared; what may hide is told for the test where it is most, in
  multiples of what matters or of the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report import failures
from soundcheck.report.html import Html, element, join
from soundcheck.report.tables import number, row_name
from soundcheck.report.verdict_tables import MOST_OPEN, anchor_of, key_of, verdict_table
from soundcheck.results import holding
from soundcheck.results.verdict import CLEAR_PASS, HOLDS, OPEN_FAIL, OPEN_PASS, SHOWN
from soundcheck.statistics.rules import ABOVE, one_sided

NAMED = 3  # reasons for no verdict that the sentence names


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
        Settled rows of the results table, of one model and family.
    question
        What the family asks.
    notes
        At which tasks the model is no better than guessing, see
        :func:`soundcheck.report.key_figures.standing_notes`: robust and fair is then nothing to its credit.
    among
        From :func:`soundcheck.book.settled.among`.
    blocks
        Names what is resampled of a corpus, in the singular.

    Returns
    -------
    Html
        A sentence with the gravest failure, what is open, and where there are many tests a table of those
        that hold.
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
    held = failures.by_excess(rows[states.eq(HOLDS)])
    counts = {name: int(states.eq(name).sum()) for name in (CLEAR_PASS, OPEN_PASS, OPEN_FAIL)}
    clear, undecided = counts[CLEAR_PASS], counts[OPEN_PASS] + counts[OPEN_FAIL]
    told = f"; {_are(clear)} {'clear passes' if clear > 1 else 'a clear pass'}, {_are(undecided)} open."
    first = (f" Of {counted(judged, 'test')}, ", *_held(held, blocks), told, without)
    parts = [element("p", asked, *first, class_="sc-answer", limit=None)]
    if undecided:
        both = f"{counts[OPEN_PASS]} passed, {counts[OPEN_FAIL]} failed; "
        both = both if counts[OPEN_FAIL] and counts[OPEN_PASS] else ""
        hidden = _hidden(rows[states.isin([OPEN_PASS, OPEN_FAIL])])
        parts.append(element("p", f"Open: {both}{hidden}", class_="sc-note", limit=None))
    parts += [element("p", f"{note[:1].upper()}{note[1:]}.", class_="sc-note", limit=None) for note in notes]
    if len(held) and judged > MOST_OPEN:
        parts.append(verdict_table(held, caption="What holds, the gravest first", among=among))
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


def _held(held: pd.DataFrame, blocks: Callable[[str], str]) -> tuple[Html | str, ...]:
    """Say how many failures hold, and what the gravest of them says, with the way to its row."""
    if held.empty:
        return ("no failure holds",)
    worst = next(held.itertuples())
    found = failures.finding(worst, blocks(worst.corpus))
    about = f" of {found.who}" if found.who else ""
    says = f"{found.measured}{about} is {found.says}" if found.rests else found.says
    link = element("a", says, href=f"#{anchor_of(key_of(worst))}")
    first = "1 failure holds: " if len(held) == 1 else f"{len(held)} failures hold, the gravest: "
    return (first, link, f" ({found.rests})" if found.rests else "")


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
