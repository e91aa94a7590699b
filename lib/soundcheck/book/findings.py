"""What fails, in sentences, what few speakers show, and what could not be concluded with these speakers."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from soundcheck.common.wording import counted
from soundcheck.report import failures, tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.inconclusive import columns, inconclusive
from soundcheck.report.sentences import both_rules
from soundcheck.report.verdict_tables import anchor_of
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.record import RunRecord
from soundcheck.results.states import FAIL, INCONCLUSIVE
from soundcheck.results.states import counted as counted_rows
from soundcheck.results.summary import CORRECTNESS, FAIRNESS, ROBUSTNESS, aspects, few_speakers, headline

TITLES = {FAIRNESS: "Differences between groups", CORRECTNESS: "Correctness", ROBUSTNESS: "Robustness"}
FIRST, FIRST_OF_GROUPS, MORE = 3, 10, 25  # findings of an aspect that are shown, and that are folded below
FIRST_FEW = 5  # differences with too few speakers that are shown; MORE are folded below
ROWS = 15  # of the table of what could not be concluded
FEW = "Too few speakers to generalise: what these speakers show"
Page = Callable[[str, str], str]


def failed(record: RunRecord, rows: pd.DataFrame, page: Page) -> Html:
    """List failures, those of each aspect by their excess; most are folded.

    Parameters
    ----------
    record
        The run's record.
    rows
        Rows that count.
    page
        Function from model and family to the page of their results.
    """
    own = counted_rows(rows[rows["state"].eq(FAIL)])
    if own.empty:
        return element("p", f"{headline(rows)}.")
    parts = []
    about = aspects(own)
    for aspect, title in TITLES.items():
        ordered = failures.by_excess(own[about.eq(aspect)])
        if ordered.empty:
            continue
        of_family = ordered.groupby(["model", "family"], sort=False).cumcount()
        # The largest of each model and family, so that one bias does not hide another.
        first = ordered[of_family.eq(0)].head(FIRST_OF_GROUPS if aspect == FAIRNESS else FIRST)
        parts.append(element("p", element("strong", f"{title}: {len(ordered)}"), class_="sc-aspect"))
        parts.append(_listed(record, first, ordered.drop(first.index), page))
    return join(parts)


def of_few_speakers(record: RunRecord, rows: pd.DataFrame, page: Page, root: str = "") -> Html:
    """List the differences that have too few speakers to generalise, the largest first; empty without any.

    ``root`` is the way from the page to that of all results.
    """
    own = few_speakers(rows)
    return _listed(record, own.head(FIRST_FEW), own.iloc[FIRST_FEW:], page, root) if len(own) else Html()


def place_of(row: object, page: Page) -> str:
    """Give the address of a row: its page, and where on it the row stands."""
    return f"{page(row.model, row.family)}.html#{anchor_of(row)}"


def _listed(record: RunRecord, first: pd.DataFrame, rest: pd.DataFrame, page: Page, root: str = "") -> Html:
    """List the first rows, and fold the others."""
    shown = element("ul", *_items(record, first, page), class_="sc-worries")
    if rest.empty:
        return shown
    folded = element("ul", *_items(record, rest.head(MORE), page), class_="sc-worries")
    if len(rest) > MORE:
        every = element("a", "all results", href=f"{root}all_results.html")
        folded = folded + element("p", f"{len(rest) - MORE} more: see ", every, ".")
    return shown + element("details", element("summary", f"{len(rest)} more"), folded)


def _items(record: RunRecord, rows: pd.DataFrame, page: Page) -> list[Html]:
    """Write rows as items of a list: model and group first, in small print what the finding rests on."""
    items = []
    several = len(record.corpora) > 1
    for row, excuse in zip(rows.itertuples(), accepted_reasons(rows, record.accepted), strict=True):
        found = failures.finding(row, failures.blocks_of(record, row.corpus))
        says = f"{found.measured} is {found.says}" if found.rests else found.says
        who = element("em" if failures.few(row) else "strong", found.who)
        parts = [
            element("a", row.model, href=place_of(row, page)),
            element("span", ", ", who) if found.who else Html(),
            f" ({row.corpus}): " if several else ": ",
            element("span", says, limit=None),
        ]
        rule = both_rules(row).partition(";")[0]
        small = "; ".join(filter(None, (f"{found.rests}{found.more}", rule)))
        if small:
            parts.append(element("small", small, class_="sc-line", limit=None))
        if excuse and row.state == FAIL:
            parts.append(element("small", f"accepted: {excuse}", class_="sc-line sc-accepted", limit=None))
        items.append(element("li", *parts))
    return items


def inconclusive_table(record: RunRecord, rows: pd.DataFrame, page: Page) -> Html:
    """Show where much could not be concluded, and how many more speakers it would take.

    Parameters
    ----------
    record
        The run's record.
    rows
        Rows that count.
    page
        Function from model and family to the page of their results.
    """
    own = counted_rows(rows[rows["state"].eq(INCONCLUSIVE)])
    if own.empty:
        return element("p", "No test is inconclusive.")
    lines = []
    for one in inconclusive(record, own):
        link = element("a", one.title, href=f"{page(one.model, one.family)}.html")
        tests, bound, few, plan = one.cells
        bound, plan = tables.Cell(bound, None, "sc-wide"), tables.Cell(plan, one.needed)
        lines.append([one.model, tables.Cell(link, one.title), tests, bound, few, plan])
    head = ["model", *columns(record, own)]
    lists = {"model": "model", "family": "family"}
    shown = tables.table(lines[:ROWS], head, filters=lists, stacked=True)
    if len(lines) <= ROWS:
        return shown
    rest = tables.table(lines[ROWS:], head, filters=lists, stacked=True)
    return shown + element("details", element("summary", counted(len(lines) - ROWS, "more row")), rest)
