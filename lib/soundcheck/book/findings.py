"""What to worry about first, in sentences, and what could not be concluded with these speakers."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from soundcheck.common.escaping import shorten
from soundcheck.report import failures, tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.key_figures import significant
from soundcheck.report.unsettled import noun, unsettled
from soundcheck.report.verdict_tables import anchor_of, key_of
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.record import RunRecord
from soundcheck.results.summary import CORRECTNESS, FAIRNESS, ROBUSTNESS, aspects
from soundcheck.statistics.evidence import LEAST_BLOCKS

TITLES = {FAIRNESS: "Differences between groups", CORRECTNESS: "Correctness", ROBUSTNESS: "Robustness"}
FIRST, FIRST_OF_GROUPS, MORE = 3, 10, 25  # findings of an aspect that are shown, and that are folded below
OPEN_ROWS = 15
Page = Callable[[str, str], str]


def worries(record: RunRecord, holding: pd.DataFrame, page: Page) -> Html:
    """List failures that hold, those of each aspect by their excess; most are folded.

    Parameters
    ----------
    record
        The run's record.
    holding
        Rows that hold, of models whose tests count.
    page
        Function from model and family to the page of their results.
    """
    if holding.empty:
        return element("p", "No failure holds. What is open may still hide differences: see below.")
    several = holding["corpus"].nunique() > 1
    parts = []
    about = aspects(holding)
    excuses = accepted_reasons(holding, record.accepted)
    for aspect, title in TITLES.items():
        ordered = failures.by_excess(holding[about.eq(aspect)])
        if ordered.empty:
            continue
        told = ordered[~failures.mirrored(ordered)]
        of_family = told.groupby(["model", "family"], sort=False).cumcount()
        # The gravest of each model and family, so that one bias does not hide another.
        first = told[of_family.eq(0)].head(FIRST_OF_GROUPS if aspect == "fairness" else FIRST)
        rest = ordered.drop(first.index).head(MORE)
        parts.append(element("p", element("strong", f"{title}: {len(ordered)}"), class_="sc-aspect"))
        parts.append(element("ul", *_items(record, first, excuses, several, page), class_="sc-worries"))
        if len(rest):
            shown = element("ul", *_items(record, rest, excuses, several, page), class_="sc-worries")
            left = len(ordered) - len(first)
            if left > len(rest):
                every = element("a", "all results", href="all_results.html")
                shown = shown + element("p", f"{left - len(rest)} more: see ", every, ".")
            parts.append(element("details", element("summary", f"{left} more"), shown))
    return join(parts)


def place_of(row: object, page: Page) -> str:
    """Give the address of a row: its page, and where on it the row stands."""
    return f"{page(row.model, row.family)}.html#{anchor_of(key_of(row))}"


def _items(
    record: RunRecord, rows: pd.DataFrame, excuses: pd.Series, several: bool, page: Page
) -> list[Html]:
    """Write rows as items of a list: model and group first, in small print what the finding rests on."""
    items = []
    for row in rows.itertuples():
        excuse = excuses[row.Index]
        found = failures.finding(row, failures.blocks_of(record, row.corpus))
        says = f"{found.measured} is {found.says}" if found.rests else found.says
        parts = [
            element("a", row.model, href=place_of(row, page)),
            element("span", ", ", element("strong", found.who)) if found.who else Html(),
            f" ({row.corpus}): " if several else ": ",
            element("span", says, limit=None),
        ]
        small = f"{found.rests}{found.more}"
        if small:
            parts.append(element("small", small, class_="sc-line", limit=None))
        if excuse:
            parts.append(element("small", f"accepted: {excuse}", class_="sc-line sc-accepted", limit=None))
        items.append(element("li", *parts))
    return items


def open_table(record: RunRecord, open_rows: pd.DataFrame, page: Page) -> Html:
    """Show where the data do not settle much, and how many more speakers it would take.

    Parameters
    ----------
    record
        The run's record.
    open_rows
        Rows that are open, of models whose tests count.
    page
        Function from model and family to the page of their results.
    """
    if open_rows.empty:
        return element("p", "Nothing is open: each test is a clear pass or a failure that holds.")
    speakers = noun(record, open_rows)
    rows = []
    for one in unsettled(record, open_rows):
        link = element("a", one.title, href=f"{page(one.model, one.family)}.html")
        hides = tables.two_lines(significant(one.hides), shorten(one.where, 70)) if one.where else ""
        rows.append(
            [
                one.model,
                tables.Cell(link, one.title),
                one.tests,
                tables.Cell(hides, None, "sc-wide"),
                tables.Cell(f"{one.few}" if one.few else "", one.few, "sc-number"),
                tables.Cell(one.plan, one.needed),
            ]
        )
    columns = ["model", "family", "open", "up to this may hide", f"fewer than {LEAST_BLOCKS} {speakers}"]
    columns.append(f"{speakers} to settle half of them (planning figure)")
    lists = {"model": "model", "family": "family"}
    shown = tables.table(rows[:OPEN_ROWS], columns, filters=lists, stacked=True)
    left = len(rows) - OPEN_ROWS
    if left <= 0:
        return shown
    rest = tables.table(rows[OPEN_ROWS:], columns, filters=lists, stacked=True)
    return shown + element("details", element("summary", f"{left} more"), rest)
