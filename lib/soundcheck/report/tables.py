"""Tables of pages: static, escaped, sortable, every number with its company.

Conventions
-----------
- Numbers are shown with three decimals, and with more where three would make them look like the threshold
  beside them; verdicts come from the results table and are never made from what is shown.
- A verdict is a word and a symbol, never a colour alone.
- Cells carry what they are sorted by in ``data-sort``: they may show a number with its interval.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from soundcheck import results
from soundcheck.common.tasks import BUILTIN
from soundcheck.common.wording import counted
from soundcheck.report.html import Html, element, join
from soundcheck.statistics.bootstrap import FEW_BLOCKS
from soundcheck.suite.families import Family

__all__ = [
    "Cell",
    "FEW",
    "FEW_MARK",
    "badge",
    "interval",
    "label",
    "notes",
    "number",
    "row_name",
    "rule",
    "share",
    "proportion_bar",
    "simulated_thresholds",
    "summary_line",
    "synthetic_notice",
    "table",
    "test_cell",
    "threshold_table",
    "two_lines",
    "verdict_table",
]

DIGITS = 3
MOST_DIGITS = 6
FEW_MARK = "†"
# The measured shares are those of the page on statistics.
FEW = (
    f"{FEW_MARK} Fewer than {FEW_BLOCKS} blocks: the interval is too narrow and the certainty too high. "
    "Measured on simulated data, percentile intervals that promise 95 % hold the true value in 78 to 83 % "
    "(5 blocks), 87 to 90 % (10) and 91 to 93 % (20) of cases for the concordance correlation coefficient, "
    "and in 72 to 88 %, 83 to 93 % and 88 to 93 % for shares near 1."
)
REFERENCE = "random passes too"

_BIN = re.compile(r"(?:^|(?<=: ))[(\[]-?[0-9.inf]+, -?[0-9.inf]+[)\]]$")


class Cell(NamedTuple):
    """A cell that is sorted by something else than its text."""

    content: Html | str
    sort: object = None
    class_: str | None = None


def number(value: float | None, digits: int = DIGITS, threshold: float | None = None) -> str:
    """Write a number with fixed digits; empty for a missing one.

    Parameters
    ----------
    value
        The number.
    digits
        Digits behind the point.
    threshold
        What the value is compared with: a value that would look like it gets more digits.

    Examples
    --------
    >>> number(-0.1), number(0.94996, threshold=0.95)
    ('−0.100', '0.94996')
    """
    if value is None or pd.isna(value):
        return ""
    if threshold is not None and not pd.isna(threshold):
        sides = (threshold, -threshold)
        while digits < MOST_DIGITS and value not in sides and round(value, digits) in sides:
            digits += 1
    text = f"{value:.{digits}f}".replace("inf", "∞")
    return text.replace("-", "−") if text.strip("-0.") else text.lstrip("-")


def table(
    rows: Sequence[Sequence[object] | Mapping[str, object]],
    columns: Sequence[str | Html],
    *,
    caption: str = "",
    sortable: bool = True,
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
    """
    head = element("tr", *(element("th", name, scope="col") for name in columns))
    body = []
    for row in rows:
        cells = [row.get(name, "") for name in columns] if isinstance(row, Mapping) else list(row)
        body.append(element("tr", *(_cell(cell) for cell in cells)))
    parts = [element("caption", caption, limit=None)] if caption else []
    parts += [element("thead", head), element("tbody", *body)]
    name = "sc-table sc-sortable" if sortable and len(rows) > 1 else "sc-table"
    inner = element("table", *parts, class_=name)
    return element(
        "div", inner, class_="sc-scroll", tabindex="0", role="region", aria_label=caption or "table"
    )


def _cell(cell: object) -> Html:
    if isinstance(cell, Cell):
        return element("td", cell.content, class_=cell.class_, data_sort=cell.sort)
    if isinstance(cell, Html):
        return element("td", cell)
    if isinstance(cell, bool) or cell is None:
        return element("td", "" if cell is None else str(cell))
    if isinstance(cell, numbers.Integral):
        return element("td", f"{cell:,}", class_="sc-number", data_sort=cell)
    if isinstance(cell, numbers.Real):  # numpy's, too
        value = float(cell)
        return element("td", number(value), class_="sc-number", data_sort=None if pd.isna(value) else value)
    text = str(cell)
    numeric = text.lstrip("-−").replace(".", "").replace(",", "").isdigit()
    return element("td", text, class_="sc-number" if numeric else None)


def two_lines(first: Html | str, second: Html | str) -> Html:
    """Put what belongs to a number in small print below it; nothing there, no second line."""
    lines = element("span", first, class_="sc-line")
    return lines + element("small", second, class_="sc-line") if str(second) else lines


def badge(passed: object, skipped: str = "") -> Html:
    """Show a verdict as word and symbol, never by colour alone."""
    remark = element("span", skipped, class_="sc-reason") if skipped else Html()
    if passed is None or pd.isna(passed):
        name, text = "sc-skip", "– skipped"
    else:
        name, text = ("sc-pass", "✓ pass") if passed else ("sc-fail", "✗ fail")
    return join(
        [
            element("span", text, class_=f"sc-badge {name}"),
            element("span", " ") if skipped else Html(),
            remark,
        ]
    )


def rule(row: object) -> str:
    """Write a threshold with its rule: ``> 0.5``, ``|value| < 0.075``."""
    return "" if pd.isna(row.threshold) else f"{row.rule} {row.threshold:g}".replace("-", "−")


def interval(row: object, digits: int = DIGITS) -> str:
    """Write the 95 % interval, with a mark if few blocks make it too narrow."""
    if pd.isna(row.low):
        return ""
    return f"{number(row.low, digits)} to {number(row.high, digits)}" + (
        f" {FEW_MARK}" if row.blocks < FEW_BLOCKS else ""
    )


def label(text: str) -> str:
    """Write a label; intervals of numbers get signs for minus and infinity.

    Examples
    --------
    >>> label("(-inf, 0.25]"), label("information")
    ('(−∞, 0.25]', 'information')
    """
    return _BIN.sub(lambda found: found.group().replace("-", "−").replace("inf", "∞"), text)


def row_name(row: object, *further: str) -> str:
    """Name a row of the results table in one line: what else is given, the test, the group and the label."""
    return " · ".join(filter(None, (*further, row.test, row.group, label(row.label))))


def test_cell(row: object) -> Cell:
    """Show the test of a row, with group and label in small print below it."""
    below = " · ".join(filter(None, (row.group, label(row.label))))
    return Cell(two_lines(row.test, below), f"{row.test} {row.group} {row.label}", "sc-test")


def verdict_table(
    frame: pd.DataFrame, *, caption: str = "", decimals: Mapping[str, int] | None = None
) -> Html:
    """Show results: value, interval, counts, threshold, verdict, certainty and the random reference.

    Parameters
    ----------
    frame
        Rows of the results table, all of one model and family.
    caption
        What the table shows.
    decimals
        Test -> digits behind the point; three for the others.
    """
    whole, folded = frame, _skipped_as_a_whole(frame)
    frame = frame[~folded] if not folded.all() else frame
    several = frame["corpus"].nunique() > 1
    columns = ["corpus"] if several else []
    columns += [
        "task",
        "test",
        "value and 95 % interval",
        "segments",
        "threshold",
        "verdict and certainty",
        "random",
    ]
    rows = []
    for row in frame.itertuples():
        cells = [row.task, *_company(row, (decimals or {}).get(row.test, DIGITS))]
        rows.append([row.corpus, *cells] if several else cells)
    parts = [summary_line(whole), table(rows, columns, caption=caption)]
    if len(frame) < len(whole):
        parts.append(_folded(whole[folded]))
    if (frame["low"].notna() & (frame["blocks"] < FEW_BLOCKS)).any():
        parts.append(element("p", FEW, class_="sc-note", limit=None))
    return join(parts)


def _skipped_as_a_whole(frame: pd.DataFrame) -> pd.Series:
    """Find rows of a corpus and task of which all tests are skipped for one reason, bool a row."""
    groups = frame.groupby(["corpus", "task"], sort=False)
    judged = groups["passed"].transform("count") + groups["value"].transform("count")
    return judged.eq(0) & groups["skipped"].transform("nunique").eq(1) & frame["skipped"].notna()


def _folded(frame: pd.DataFrame) -> Html:
    """List what was skipped as a whole, a line a corpus and reason."""
    items = []
    for (corpus, reason), rows in frame.groupby(["corpus", "skipped"], sort=False):
        tasks = ", ".join(dict.fromkeys(rows["task"]))
        count = f"{counted(len(rows), 'test')} skipped"
        items.append(element("li", f"{corpus}, {tasks}: {count}: {reason}", limit=None))
    return element("ul", *items, class_="sc-note")


def _company(row: object, digits: int) -> list[Cell]:
    """Make the cells of a result: test, value, counts, threshold, verdict and reference."""
    certainty = "" if pd.isna(row.certainty) else f"{100 * row.certainty:.0f} % certain"
    mark = f" {FEW_MARK}" if row.blocks < FEW_BLOCKS and not pd.isna(row.low) else ""
    blocks = f"{counted(row.blocks, 'block')}{mark}" if row.segments else ""
    judged = two_lines(badge(row.passed), certainty)
    if row.skipped:
        judged = judged + element("small", row.skipped, class_="sc-reason sc-line")
    reference = Html()
    if not pd.isna(row.reference):
        passes_too = not pd.isna(row.reference_passed) and bool(row.reference_passed)
        remark = element("span", REFERENCE, class_="sc-uninformative") if passes_too else Html()
        reference = two_lines(number(row.reference, digits, row.threshold), remark)
    bounds = interval(row, digits).removesuffix(f" {FEW_MARK}")
    value = two_lines(number(row.value, digits, row.threshold), bounds)
    return [
        test_cell(row),
        Cell(value, None if pd.isna(row.value) else row.value, "sc-number"),
        Cell(two_lines(f"{row.segments:,}" if row.segments else "", blocks), row.segments, "sc-number"),
        Cell(rule(row), None if pd.isna(row.threshold) else row.threshold, "sc-rule"),
        Cell(judged, _order(row)),
        Cell(reference, None if pd.isna(row.reference) else row.reference, "sc-number"),
    ]


def _order(row: object) -> float:
    """Order verdicts from the surest failure (-1) over the skipped (0) to the surest pass (1)."""
    if row.passed is None or pd.isna(row.passed):
        return 0.0
    sure = 0.5 if pd.isna(row.certainty) else float(row.certainty)
    return round((1 if row.passed else -1) * (0.5 + sure / 2), 4)


def summary_line(frame: pd.DataFrame) -> Html:
    """Say in one line how many tests passed, and how many of the informative ones."""
    counts = share(frame)
    informative = share(frame[results.informative(frame)])
    skipped = int(frame["passed"].isna().sum())
    text = f"{counts} tests passed; of those that the random model fails: {informative}."
    if skipped:
        text += f" {skipped} skipped."
    return element("p", element("strong", text))


def share(frame: pd.DataFrame) -> str:
    """Write how many of the judged tests passed: ``12 of 18 (67 %)``."""
    passed, judged = _counts(frame)
    return f"{passed} of {judged} ({100 * passed / judged:.0f} %)" if judged else "none judged"


def proportion_bar(frame: pd.DataFrame) -> Html:
    """Show how many of the judged tests passed, as text over a bar."""
    passed, judged = _counts(frame)
    if not judged:
        return element("span", "none judged", class_="sc-bar sc-none")
    style = f"--sc-share: {100 * passed / judged:.1f}%"
    return element("span", share(frame), class_="sc-bar", style=style)


def _counts(frame: pd.DataFrame) -> tuple[int, int]:
    return int(frame["passed"].eq(True).sum()), int(frame["passed"].notna().sum())


def threshold_table(family: Family) -> Html:
    """Show the tests of a family with their thresholds, those of the suite marked as such."""
    named = list(dict.fromkeys(name for test in family.tests.values() for name in test.thresholds))
    # The general thresholds get a column of their own only if they say something else.
    tasks = [
        name for name in (*BUILTIN, *named) if name in named and name not in ("regression", "classification")
    ]
    tasks = list(dict.fromkeys(tasks)) or named
    if family.of_suite:
        tasks = named
    simulated = any(test.simulation for test in family.tests.values())
    limit = family.options.get("bin_minimum")
    fewest = f"{limit['count']} for groups of {limit['segments']:,}" if limit else ""
    # A key of the bibliography, one word, is cited by the page's own text; it would tell a reader nothing.
    sources = list(dict.fromkeys(test.source for test in family.tests.values() if " " in test.source))
    rows = []
    for test in family.tests.values():
        cells: list[object] = [Cell(test.name, None, "sc-test")]
        for name in tasks:
            threshold = test.thresholds.get(name)
            text = "" if threshold is None else f"{test.rule} {threshold:g}".replace("-", "−")
            cells.append(Cell(two_lines(text, test.change_of(name)), threshold, "sc-rule"))
        if limit:
            cells.append(fewest if "minimum_per_bin" in test.simulation else "")
        cells.append(Cell(element("span", "; ".join(filter(None, (test.off, test.note))), limit=None)))
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
            row["test"],
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
            "Verdicts use neither: they compare the gap between a group and all others with what matters."
        )
    told = element(
        "p",
        f"{decide} The last columns are absolute scores that 99.9 % of "
        "10,000 unbiased random models stay below, in groups of this number and size (at most the published "
        "size) and of the published number and size. Simulated: the published threshold times their ratio, "
        "rounded up to a multiple of 0.005.",
        class_="sc-note",
        limit=None,
    )
    return join([table(rows, columns), told])


_SOURCES = ("published", "simulated")


def notes(texts: Sequence[str]) -> Html:
    """List what a reader must know."""
    if not texts:
        return Html()
    return element("ul", *(element("li", text, limit=None) for text in texts), class_="sc-note")


def synthetic_notice(synthetic: bool) -> Html:
    """Say that the speech behind the numbers is synthetic, if it is."""
    if not synthetic:
        return Html()
    text = (
        "Synthetic speech: a synthesiser spoke the segments behind these numbers. They show how the tests "
        "work, not how a model does on people."
    )
    return element("div", text, class_="sc-notice", role="note", limit=None)
