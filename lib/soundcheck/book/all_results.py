"""The page of all results: a table whose rows come in a file beside it, so that it stays small.

The file names each different value of a column once: a row is a list of their numbers, then the number of its
page, then where on that page it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from soundcheck.book import pages
from soundcheck.book.script_data import script, text
from soundcheck.report import formats, verdict_tables, views
from soundcheck.report.html import element
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
COLUMNS = ["model", "corpus", "family", "task", "test", "state", "value and 95 % interval"]
COLUMNS += ["difference and 95 % interval", "threshold"]
LINKED, BADGE = COLUMNS.index("family"), COLUMNS.index("state")


class Value(NamedTuple):
    """What a cell shows and is sorted and chosen by."""

    text: str
    small: tuple[str, ...] = ()
    sort: object = None
    facet: str | None = None

    def written(self) -> str | list:
        """Give it as the script takes it: as short as it can be said."""
        small, facet = "\n".join(map(text, self.small)), self.facet and text(self.facet)
        found = [text(self.text), small, self.sort, facet]
        while len(found) > 1 and found[-1] in (None, ""):
            found.pop()
        return found if len(found) > 1 else found[0]


def cells(results: pd.DataFrame) -> list[dict]:
    """Make the page."""
    links = [element("a", name, href=name) for name in ("results.csv", "left_out.csv")]
    words = f"{len(results):,} rows, which a script of this page shows. As files: "
    said = element("p", words, links[0], ", and what was left out: ", links[1], ".")
    table = views.listed([], COLUMNS, filters=verdict_tables.FILTERS, stacked=True, beside=ROWS)
    return [pages.markdown("# All results"), pages.output(said + table)]


def data(results: pd.DataFrame, among: pd.Series, titles: Mapping[str, str]) -> str:
    """Write the file of all rows; ``among`` is of :func:`soundcheck.book.result_pages.among`."""
    places: list[dict[Value, int]] = [{} for _ in COLUMNS]
    linked: dict[str, int] = {}
    rows = []
    for row in results.itertuples():
        values = _values(row, among[row.Index], titles)
        numbers = [known.setdefault(value, len(known)) for known, value in zip(places, values, strict=True)]
        page = linked.setdefault(result_page(row.model, row.family), len(linked))
        rows.append([*numbers, page, anchor_of(row).removeprefix("row-")])
    badges = {f"{look.sign} {look.name}": look.css for look in STATE.values()}
    columns = [[value.written() for value in known] for known in places]
    about = {"badges": badges, "badge": BADGE, "linked": LINKED, "pages": list(linked)}
    return script("rows", {**about, "columns": columns, "rows": rows})


def _values(row: object, among: Among, titles: Mapping[str, str]) -> Iterator[Value]:
    """Give the values of a row, column by column."""
    yield from map(Value, (row.model, row.corpus, titles.get(row.family, row.family), row.task))
    below = filter(None, [verdict_tables.below_test(row)])
    yield Value(measure(row.test), tuple(below), facet=row.group)
    state, lines = state_lines(row, among)
    look = STATE[state]
    yield Value(f"{look.sign} {look.name}", tuple(lines), round(state_order(state, row.p_value), 3))
    digits = formats.digits_for(row.value, row.low, row.high)
    bounds = filter(None, [formats.interval(row, digits)])
    yield Value(formats.number(row.value, digits, row.threshold), tuple(bounds))
    gap, *more = difference_lines(row)
    yield Value(gap, tuple(more))
    yield Value(formats.rule(row))
