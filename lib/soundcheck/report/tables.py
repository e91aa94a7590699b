"""Tables of pages: static, escaped, sortable, every number with its company.

Conventions
-----------
- Numbers are shown with two or three significant digits, and with more where these would make them look like
  the threshold beside them; verdicts come from the results table and are never made from what is shown.
- Cells carry what they are sorted by in ``data-sort``: they may show a number with its interval.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck.common.caveats import Caveat
from soundcheck.common.tasks import BUILTIN
from soundcheck.report.formats import FEW_MARK, Cell, digits_for, interval, number, rule, two_lines
from soundcheck.report.html import Html, element, folded, join
from soundcheck.report.names import hinted, label, measure
from soundcheck.statistics.bootstrap import FEW_BLOCKS
from soundcheck.suite.families import Family, TestDefinition

__all__ = [
    "Cell",
    "below_test",
    "digits_for",
    "FEW",
    "FEW_MARK",
    "FILTERS",
    "interval",
    "label",
    "notes",
    "number",
    "row_name",
    "rule",
    "simulated_thresholds",
    "synthetic_notice",
    "table",
    "test_cell",
    "threshold_table",
    "two_lines",
]

# Columns of results by which rows are chosen; that of tests has the groups in small print.
FILTERS = {"model": "model", "corpus": "corpus", "family": "family", "task": "task", "test": "group"}
# The measured shares are those of the page on statistics.
FEW = (
    f"{FEW_MARK} The interval rests on fewer than {FEW_BLOCKS} speakers. "
    "In simulations, percentile intervals that promise 95 % contain the true value in 78 to 83 % "
    "(5 speakers), 87 to 90 % (10) and 91 to 93 % (20) of cases for the concordance correlation coefficient, "
    "and in 72 to 88 %, 83 to 93 % and 88 to 93 % for shares near 1; t intervals are wider for that reason."
)


# A cell whose text stands at the right.
_NUMBER = re.compile(r'<td[^>]*\bclass="[^"]*\bsc-number\b')


def table(
    rows: Sequence[Sequence[object] | Mapping[str, object]],
    columns: Sequence[str | Html],
    *,
    caption: str = "",
    sortable: bool = True,
    filters: Mapping[str, str] | None = None,
    beside: str | None = None,
    stacked: bool = False,
) -> Html:
    """Make a table; texts are escaped, numbers aligned to the right, finished HTML is kept.

    Parameters
    ----------
    rows
        Cells in the order of the columns, or mappings from column to cell.
    columns
        Headers.
    caption
        What the table shows.
    sortable
        Whether the page's script may sort and filter it.
    filters
        Header of a column -> what the list is called that the script makes to choose one of its values.
    beside
        File beside the page with all rows, see :mod:`soundcheck.book.all_results`, of which these are the
        first; ``None`` = these are all.
    stacked
        Whether a telephone shows the cells of a row below each other, each with the header of its column.
    """
    lists = filters or {}
    names = columns if stacked else [None] * len(columns)
    body, right = [], [set() for _ in columns]  # whether cells of a column are numbers
    for row in rows:
        cells = [row.get(name, "") for name in columns] if isinstance(row, Mapping) else list(row)
        shown = [_cell(cell, name) for cell, name in zip(cells, names, strict=True)]
        body.append(element("tr", *shown))
        for own, one in zip(right, shown, strict=True):
            if not str(one).endswith("></td>"):
                own.add(bool(_NUMBER.match(str(one))))
    heads = []
    for name, own in zip(columns, right, strict=True):
        choose = None if isinstance(name, Html) else lists.get(name)
        about = {"data_filter": choose, "class_": "sc-number" if own == {True} else None}
        heads.append(element("th", name, scope="col", **about) if str(name) else element("td"))
    head = element("tr", *heads)
    parts = [element("caption", caption, limit=None)] if caption else []
    parts += [element("thead", head), element("tbody", *body)]
    name = "sc-table sc-sortable" if sortable and len(rows) > 1 else "sc-table"
    name += " sc-stacked" if stacked else ""
    inner = element("table", *parts, class_=name, data_rows=beside)
    return element(
        "div", inner, class_="sc-scroll", tabindex="0", role="group", aria_label=caption or "table"
    )


def _cell(cell: object, name: Html | str | None = None) -> Html:
    """Make a cell; with the header of its column where that may be out of sight."""
    about: dict[str, object] = {"data_label": None if isinstance(name, Html) else name}
    if isinstance(cell, Cell):
        about |= {"id": cell.anchor, "class_": cell.class_, "data_sort": cell.sort}
        return element("td", cell.content, **about, data_facet=cell.facet)
    if isinstance(cell, Html):
        return element("td", cell, **about)
    if isinstance(cell, bool) or cell is None:
        return element("td", "" if cell is None else str(cell), **about)
    if isinstance(cell, numbers.Integral):
        return element("td", f"{cell:,}", **about, class_="sc-number", data_sort=cell)
    if isinstance(cell, numbers.Real):  # numpy's, too
        value = float(cell)
        sort = None if pd.isna(value) else value
        return element("td", number(value), **about, class_="sc-number", data_sort=sort)
    text = str(cell)
    numeric = text.lstrip("-−").replace(".", "").replace(",", "").isdigit()
    return element("td", text, **about, class_="sc-number" if numeric else None)


def row_name(row: object, *further: str) -> str:
    """Name a row of the results table in one line: what else is given, the test, the group and the label."""
    return " · ".join(filter(None, (*further, measure(row.test), label(row.group), label(row.label))))


def test_cell(row: object) -> Cell:
    """Show the test of a row, with group and label in small print below it; rows are chosen by group."""
    sort = f"{row.test} {row.group} {row.label}"
    return Cell(two_lines(hinted(row.test), below_test(row)), sort, "sc-test", facet=row.group)


def below_test(row: object) -> str:
    """Name group and label of a row."""
    return " · ".join(filter(None, (label(row.group), label(row.label))))


def threshold_table(family: Family) -> Html:
    """Show the tests of a family with their thresholds, those of the suite marked as such."""
    named = list(dict.fromkeys(name for test in family.tests.values() for name in test.thresholds))
    # The general thresholds get a column of their own only if they say something else.
    tasks = [
        name for name in (*BUILTIN, *named) if name in named and name not in ("regression", "classification")
    ]
    tasks = list(dict.fromkeys(tasks)) or named
    if family.of_suite and any(len(set(test.thresholds.values())) > 1 for test in family.tests.values()):
        tasks = named
    simulated = any(test.simulation for test in family.tests.values())
    limit = family.options.get("bin_minimum")
    fewest = f"{limit['count']} for groups of {limit['segments']:,}" if limit else ""
    # A key of the bibliography, one word, is cited by the page's own text; it would tell a reader nothing.
    sources = list(dict.fromkeys(test.source for test in family.tests.values() if " " in test.source))
    rows = []
    for test in family.tests.values():
        cells: list[object] = [Cell(measure(test.name), test.name, "sc-test")]
        for name in tasks:
            threshold = test.thresholds.get(name)
            text = "" if threshold is None else f"{test.rule} {threshold:g}".replace("-", "−")
            change = test.change_of(name)
            cells.append(Cell(two_lines(text, change), threshold, None if change else "sc-rule"))
        if limit:
            cells.append(fewest if "minimum_per_bin" in test.simulation else "")
        note = f"{test.note} {_for_classes(test)}".strip()
        cells.append(Cell(element("span", ". ".join(filter(None, (test.off, note))), limit=None)))
        if len(sources) > 1:
            cells.append(test.source if test.source in sources else "")
        if simulated:
            cells.append(_simulation(test.simulation))
        rows.append(cells)
    columns = ["test", *tasks, *(["fewest segments in a bin"] if limit else []), "note"]
    columns += [*(["source"] if len(sources) > 1 else [])]
    columns += [*(["largest of 1000 unbiased random models"] if simulated else [])]
    if len(sources) != 1:
        return table(rows, columns)
    source = "Source of what this suite does not change" if family.of_suite else "Source"
    return table(rows, columns) + element("p", f"{source}: {sources[0]}", class_="sc-note", limit=None)


def _for_classes(test: TestDefinition) -> str:
    """Say for how many classes a general threshold is, if that matters."""
    if test.classes is None:
        return ""
    return (
        f"The general threshold is for {test.classes} classes; of tasks with more or fewer, values are "
        "reported without verdict."
    )


def _simulation(found: Mapping) -> Cell:
    maximum = found.get("maximum")
    if not isinstance(maximum, int | float):
        return Cell("")
    groups = f"{found.get('groups', '?')} groups of {found.get('samples', '?')}"
    return Cell(two_lines(number(maximum, 5), groups), maximum, "sc-number")


def simulated_thresholds(frame: pd.DataFrame, source: str) -> Html:
    """Show published thresholds beside those for groups of the tested sizes, and what these rest on.

    Parameters
    ----------
    frame
        From :meth:`soundcheck.evaluation.evaluation.Evaluation.simulated`.
    source
        Which of them decide: ``"published"`` or ``"simulated"``; ``"gap"`` = neither.
    """
    if frame.empty:
        return Html()
    frame = frame.drop_duplicates([name for name in frame.columns if name not in ("corpus", "task")])
    rows = []
    for row in frame.sort_values(["test", "samples"], kind="stable").to_dict("records"):
        cells: list[object] = [
            measure(row["test"]),
            Cell(f"{row['groups']} × {row['samples']:,}", row["samples"], "sc-number"),
        ]
        for name in _SOURCES:
            text = element("strong", f"{row[name]:g}") if name == source else f"{row[name]:g}"
            cells.append(Cell(text, row[name], "sc-number"))
        cells += [Cell(number(row[name]), row[name], "sc-number") for name in ("here", "published_size")]
        rows.append(cells)
    columns = ["test", "groups × segments", *_SOURCES, "99.9 % stay below", "at the published size"]
    decide = f"Verdicts use the {source} thresholds, in bold."
    if source not in _SOURCES:
        decide = (
            "Verdicts use neither: they compare the difference of a group to its reference with the margin."
        )
    about = element(
        "p",
        f"{decide} The last columns are absolute scores that 99.9 % of "
        "10,000 unbiased random models stay below, in groups of this number and size (at most the published "
        "size) and of the published number and size. Simulated: the published threshold times their ratio, "
        "rounded up to a multiple of 0.005.",
        class_="sc-note",
        limit=None,
    )
    return join([table(rows, columns), about])


_SOURCES = ("published", "simulated")
MOST_CAVEATS = 5  # that a reader sees without asking for more


def notes(texts: Sequence[str]) -> Html:
    """List what a reader must know."""
    if not texts:
        return Html()
    return element("ul", *map(_item, texts), class_="sc-note")


def _item(text: str) -> Html:
    """Write a sentence of a list; what stands between backticks is code."""
    parts = text.split("`") if text.count("`") % 2 == 0 else [text]
    shown = (element("code", part, limit=None) if n % 2 else part for n, part in enumerate(parts))
    return element("li", *shown, limit=None)


def caveats_notice(caveats: Sequence[Caveat]) -> Html:
    """Say what makes the numbers of a page doubtful, above them."""
    if not caveats:
        return Html()
    items = [_item(f"{caveat}.") for caveat in caveats]
    parts = [element("strong", "Read this before the numbers:"), element("ul", *items[:MOST_CAVEATS])]
    if more := items[MOST_CAVEATS:]:
        parts.append(folded(f"{len(more)} more", [element("ul", *more)]))
    return element("div", *parts, class_="sc-notice", role="note", limit=None)


def synthetic_notice(synthetic: bool) -> Html:
    """Say that the speech behind the numbers is synthetic, if it is."""
    if not synthetic:
        return Html()
    text = (
        "Synthetic speech: a synthesiser spoke the segments behind these numbers. They show how the tests "
        "work, not how a model does on people."
    )
    return element("div", text, class_="sc-notice", role="note", limit=None)
