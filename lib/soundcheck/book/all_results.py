"""The page of all results: the first rows in the page, and all of them in a file beside it.

Conventions
-----------
- A page holds some hundred rows and no more; a script shows all rows from the file and without it the page
  says where the table is. So the page stays small however many rows there are.
- The file names each different value of a column once: a row is a list of their numbers, then the number of
  its page, then where on that page it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from soundcheck.book import pages
from soundcheck.book.script_data import script
from soundcheck.common.escaping import shorten, xml_text
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join
from soundcheck.report.names import measure
from soundcheck.report.states import STATE
from soundcheck.report.verdict_tables import (
    Among,
    anchor_of,
    difference_lines,
    state_lines,
    state_order,
)
from soundcheck.results.page_names import result_page

ROWS = "all_results.js"
FIRST_ROWS = 100  # that stand in the page itself
COLUMNS = ["model", "corpus", "family", "task", "test", "state", "value and 95 % interval"]
COLUMNS += ["difference and 95 % interval", "threshold"]
LINKED, BADGE = COLUMNS.index("family"), COLUMNS.index("state")
NUMBERS = [COLUMNS.index(name) for name in ("value and 95 % interval", "difference and 95 % interval")]


class Value(NamedTuple):
    """What a cell shows and is sorted and chosen by."""

    text: str
    small: tuple[str, ...] = ()
    sort: object = None
    facet: str | None = None
    badge: str | None = None

    def written(self) -> str | list:
        """Give it as the script takes it: as short as it can be said."""
        small = "\n".join(xml_text(shorten(line)) for line in self.small)
        found = [xml_text(shorten(self.text)), small, self.sort, self.facet and xml_text(shorten(self.facet))]
        while len(found) > 1 and found[-1] in (None, ""):
            found.pop()
        return found if len(found) > 1 else found[0]


def cells(results: pd.DataFrame, among: pd.Series, titles: Mapping[str, str]) -> list[dict]:
    """Make the page.

    Parameters
    ----------
    results
        The finished results table.
    among
        From :func:`soundcheck.book.filled.among`.
    titles
        Family -> what pages call it.
    """
    first = results.head(FIRST_ROWS)
    rows = [_shown(row, among[row.Index], titles) for row in first.itertuples()]
    links = [element("a", file, href=file) for file in ("results.csv", "left_out.csv")]
    parts = [element("p", "The same table as a file: ", links[0], "; what was left out: ", links[1], ".")]
    more = len(results) > len(rows)
    if more:
        said = f"These are the first {len(rows):,} of {len(results):,} rows; all are in the file."
        parts.append(element("p", said, class_="sc-note sc-rows-note"))
    parts.append(tables.table(rows, COLUMNS, filters=tables.FILTERS, beside=ROWS if more else None))
    return [pages.markdown("# All results"), pages.output(join(parts))]


def data(results: pd.DataFrame, among: pd.Series, titles: Mapping[str, str]) -> str:
    """Write the file of all rows; parameters as of :func:`cells`."""
    places: list[dict[Value, int]] = [{} for _ in COLUMNS]
    columns: list[list[str | list]] = [[] for _ in COLUMNS]
    linked: dict[str, int] = {}
    rows = []
    for row in results.itertuples():
        numbers: list[int | str] = []
        values = _values(row, among[row.Index], titles)
        for known, column, value in zip(places, columns, values, strict=True):
            if value not in known:
                known[value] = len(column)
                column.append(value.written())
            numbers.append(known[value])
        page = linked.setdefault(result_page(row.model, row.family), len(linked))
        rows.append([*numbers, page, anchor_of(row).removeprefix("row-")])
    badges = {f"{look.sign} {look.name}": look.css for look in STATE.values()}
    about = {"badges": badges, "badge": BADGE, "linked": LINKED, "pages": list(linked)}
    return script("rows", {**about, "columns": columns, "rows": rows})


def _values(row: object, among: Among, titles: Mapping[str, str]) -> Iterator[Value]:
    """Give the values of a row, column by column."""
    yield from map(Value, (row.model, row.corpus, titles.get(row.family, row.family), row.task))
    below = filter(None, [tables.below_test(row)])
    yield Value(measure(row.test), tuple(below), facet=row.group)
    state, lines = state_lines(row, among)
    look = STATE[state]
    order = round(state_order(state, row.p_value), 3)
    yield Value(f"{look.sign} {look.name}", tuple(lines), order, badge=look.css)
    digits = tables.digits_for(row.value, row.low, row.high)
    bounds = filter(None, [tables.interval(row, digits)])
    yield Value(tables.number(row.value, digits, row.threshold), tuple(bounds))
    gap, *more = difference_lines(row)
    yield Value(gap, tuple(more))
    yield Value(tables.rule(row))


def _shown(row: object, among: Among, titles: Mapping[str, str]) -> list[tables.Cell]:
    """Show a row as the script shows it from the file."""
    found = []
    for column, value in enumerate(_values(row, among, titles)):
        inner: Html | str = value
        if column == LINKED:
            place = anchor_of(row)
            inner = element("a", inner, href=f"{result_page(row.model, row.family)}.html#{place}")
        elif value.badge:
            inner = element("span", inner, class_=f"sc-badge {value.badge}")
        small = join(element("small", line, class_="sc-line") for line in value.small)
        css = "sc-number" if column in NUMBERS else None
        shown = element("span", inner, class_="sc-line") + small
        found.append(tables.Cell(shown, value.sort, css, facet=value.facet))
    return found
