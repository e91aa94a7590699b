"""Tables of pages: static, escaped, sortable, every number with its company."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from soundcheck import verdicts
from soundcheck.bootstrap import FEW_BLOCKS
from soundcheck.report.html import Html, element, join
from soundcheck.tasks import BUILTIN
from soundcheck.thresholds import Family

DIGITS = 3
FEW = (
    f"† Fewer than {FEW_BLOCKS} blocks make percentile intervals too narrow. Measured for the concordance "
    "correlation coefficient, they hold the true value in 80 to 86 % of cases with 5 blocks, 88 to 90 % with "
    "10 and 92 to 93 % with 20, instead of 95 %."
)
REFERENCE = "random passes too"


def number(value: float | None, digits: int = DIGITS) -> str:
    """Write a number with fixed digits; empty for a missing one."""
    return "" if value is None or pd.isna(value) else f"{value:.{digits}f}"


def table(
    rows: Sequence[Sequence[object] | Mapping[str, object]],
    columns: Sequence[str],
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
    return element("div", element("table", *parts, class_=name), class_="sc-scroll")


def _cell(cell: object) -> Html:
    if isinstance(cell, Html):
        return element("td", cell)
    if isinstance(cell, bool) or cell is None:
        return element("td", "" if cell is None else str(cell))
    if isinstance(cell, int | float):
        return element("td", f"{cell:,}" if isinstance(cell, int) else number(cell), class_="sc-number")
    text = str(cell)
    numeric = text.lstrip("-−").replace(".", "").replace(",", "").isdigit()
    return element("td", text, class_="sc-number" if numeric else None)


def badge(passed: object, skipped: str = "") -> Html:
    """Show a verdict as word and symbol, never by colour alone."""
    if passed is None or pd.isna(passed):
        reason = element("span", skipped, class_="sc-reason") if skipped else Html("")
        return element("span", "– skipped", class_="sc-badge sc-skip") + Html(" ") + reason
    remark = element("span", f" {skipped}", class_="sc-reason") if skipped else Html("")
    if passed:
        return element("span", "✓ pass", class_="sc-badge sc-pass") + remark
    return element("span", "✗ fail", class_="sc-badge sc-fail") + remark


def rule(row: object) -> str:
    """Write a threshold with its rule: ``> 0.5``, ``|value| < 0.075``."""
    return "" if pd.isna(row.threshold) else f"{row.rule} {row.threshold:g}"


def interval(row: object) -> str:
    """Write the 95 % interval, with a mark if few blocks make it too narrow."""
    if pd.isna(row.low):
        return ""
    return f"{row.low:.{DIGITS}f} to {row.high:.{DIGITS}f}" + (" †" if row.blocks < FEW_BLOCKS else "")


def verdict_table(frame: pd.DataFrame, *, caption: str = "") -> Html:
    """Show results: value, interval, counts, threshold, verdict, certainty and the random reference.

    Parameters
    ----------
    frame
        Rows of the results table, all of one model and family.
    caption
        What the table shows.
    """
    several = frame["corpus"].nunique() > 1
    labelled = (frame["label"] != "").any()
    columns = (["corpus"] if several else []) + ["task", "test"] + (["label"] if labelled else [])
    columns += ["value", "95 % interval", "segments (blocks)", "threshold", "verdict", "certainty", "random"]
    rows = []
    for row in frame.itertuples():
        random = Html("")
        if not pd.isna(row.reference):
            random = element("span", number(row.reference), class_="sc-number")
            if row.reference_passed is True:
                random = random + element("span", f" {REFERENCE}", class_="sc-uninformative")
        certainty = "" if pd.isna(row.certainty) else f"{100 * row.certainty:.0f} %"
        cells: list[object] = [row.task, row.test, *([row.label] if labelled else [])]
        cells += [number(row.value), interval(row), f"{row.segments:,} ({row.blocks})", rule(row)]
        cells += [badge(row.passed, row.skipped), certainty, random]
        rows.append([row.corpus, *cells] if several else cells)
    shown = table(rows, columns, caption=caption)
    few = (frame["low"].notna() & (frame["blocks"] < FEW_BLOCKS)).any()
    parts = [summary_line(frame), shown]
    if few:
        parts.append(element("p", FEW, class_="sc-note", limit=None))
    return join(parts)


def summary_line(frame: pd.DataFrame) -> Html:
    """Say in one line how many tests passed, and how many of the informative ones."""
    counts = share(frame)
    informative = share(frame[verdicts.informative(frame)])
    skipped = int(frame["passed"].isna().sum())
    text = f"{counts} tests passed; of those that the random model fails: {informative}."
    if skipped:
        text += f" {skipped} skipped."
    return element("p", element("strong", text))


def share(frame: pd.DataFrame) -> str:
    """Write how many of the judged tests passed: ``12 of 18 (67 %)``."""
    passed, judged = int(frame["passed"].eq(True).sum()), int(frame["passed"].notna().sum())
    return f"{passed} of {judged} ({100 * passed / judged:.0f} %)" if judged else "none judged"


def threshold_table(family: Family) -> Html:
    """Show the tests of a family with their thresholds, as the threshold file has them."""
    named = {name for test in family.tests.values() for name in test.thresholds}
    tasks = [task for task in BUILTIN.values() if task.name in named]
    rows = []
    for test in family.tests.values():
        cells: list[object] = [test.name]
        for task in tasks:
            threshold = test.threshold_for(task)
            cells.append("" if threshold is None else f"{test.rule} {threshold:g}")
        simulated = ""
        if test.simulation:
            simulated = (
                "largest of 1000 unbiased random models: {maximum} ({groups} groups of {samples})".format(
                    **test.simulation
                )
            )
        rows.append([*cells, test.note, simulated])
    columns = ["test", *(task.name for task in tasks), "note", "behind the threshold"]
    if not any(test.simulation for test in family.tests.values()):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return table(rows, columns)


def notes(texts: Sequence[str]) -> Html:
    """List what a reader must know."""
    if not texts:
        return Html("")
    return element("ul", *(element("li", text, limit=None) for text in texts), class_="sc-note")


def synthetic_notice(synthetic: bool) -> Html:
    """Say that the speech behind the numbers is synthetic, if it is."""
    if not synthetic:
        return Html("")
    text = (
        "Synthetic speech: a synthesiser spoke the segments behind these numbers. They show how the tests "
        "work, not how a model does on people."
    )
    return element("div", text, class_="sc-notice", role="note", limit=None)
