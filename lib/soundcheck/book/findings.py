"""What to worry about first, in sentences, and what could not be concluded with these speakers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from soundcheck.common.escaping import shorten
from soundcheck.report import tables
from soundcheck.report.adjusted_gaps import in_short
from soundcheck.report.html import Html, element, join
from soundcheck.report.key_figures import significant
from soundcheck.results.accepted import accepted_reasons
from soundcheck.results.record import RunRecord
from soundcheck.results.summary import CORRECTNESS, FAIRNESS, ROBUSTNESS, aspects
from soundcheck.statistics.evidence import LEAST_BLOCKS
from soundcheck.statistics.rules import ABOVE, BELOW

__all__ = [
    "SEARCHED",
    "by_excess",
    "counted_in",
    "excess",
    "open_table",
    "sentence",
    "speakers_needed",
    "worries",
]

TITLES = {FAIRNESS: "Differences between groups", CORRECTNESS: "Correctness", ROBUSTNESS: "Robustness"}
FIRST, FIRST_OF_GROUPS, MORE = 3, 10, 25  # findings of an aspect that are shown, and that are folded below
OPEN_ROWS = 15
Page = Callable[[str, str], str]
PEOPLE = ("sex", "accent")  # columns whose values go before "speakers"
SINGLE = ("transcript", "embedding")  # tasks whose measures need no name of a task
SEARCHED = "Groups Served Worse"  # the test whose value counts groups, which its remark names
MOST_SPEAKERS = 10_000  # a larger planning figure is not shown as a number


def excess(frame: pd.DataFrame) -> pd.Series:
    """Say by how much rows miss what they have to meet, in widths of their intervals; NaN without interval.

    Of a gap what is beyond the gap that matters, of any other value what is beyond the threshold.
    """
    of_groups = frame["matters"].notna() & frame["gap"].notna()
    size = frame["gap"].where(of_groups, frame["value"]).abs()
    limit = frame["matters"].where(of_groups, frame["threshold"])
    beyond = (size - limit).where(frame["rule"].ne(ABOVE) | of_groups, limit - frame["value"])
    beyond = beyond.where(of_groups | frame["rule"].ne(BELOW), frame["value"] - limit)
    width = (frame["gap_high"] - frame["gap_low"]).where(of_groups, frame["high"] - frame["low"])
    return (beyond / width).replace(np.inf, 1e9)


def by_excess(frame: pd.DataFrame) -> pd.DataFrame:
    """Put rows in the order of their excess, the largest first."""
    keys = ["excess", "model", "corpus", "family", "task", "test", "group", "label"]
    ordered = frame.assign(excess=excess(frame))
    return ordered.sort_values(keys, ascending=[False] + [True] * 7, kind="stable")


def speakers_needed(frame: pd.DataFrame) -> pd.Series:
    """Plan how many blocks it would take to settle open rows, float; infinite on the threshold.

    Half the width of an interval shrinks with the square root of the blocks. It has to fit between the value
    and what decides; where the value will lie then nobody knows, so this is for planning only.
    """
    needed = frame["blocks"] * (0.5 / excess(frame).abs()).pow(2)
    return np.ceil(needed.clip(lower=frame["blocks"] + 1).round(6))


def sentence(row: object, blocks: str = "speaker") -> str:
    """Write what a failure says.

    Parameters
    ----------
    row
        A row of the results table.
    blocks
        What was resampled, in the singular.

    Examples
    --------
    ``arousal of Spanish speakers is 0.18 higher than that of the others (95 % 0.11 to 0.32, 10 speakers;
    0.075 matters)``
    """
    if row.test == SEARCHED and row.skipped:
        found = "1 group is" if row.value == 1 else f"{row.value:g} groups are"
        task = "" if row.task in SINGLE else f" in {row.task}"
        return f"{found} served worse than the others{task}: {row.skipped}"
    subject = _subject(row)
    if row.label:
        subject += f", {tables.label(row.label)},"
    count = f"{row.blocks} {blocks}" if row.blocks == 1 else f"{row.blocks} {blocks}s"
    if row.group and not pd.isna(row.gap):
        low, high = (row.gap_low, row.gap_high) if row.gap > 0 else (-row.gap_high, -row.gap_low)
        span = "no interval" if pd.isna(low) else f"95 % {significant(low)} to {significant(high)}"
        matters = "" if pd.isna(row.matters) else f"; {significant(row.matters)} matters"
        way = "higher" if row.gap > 0 else "lower"
        size = significant(abs(row.gap))
        return (
            f"{subject} of {_people(row.group)} is {size} {way} than that of the others "
            f"({span}, {count}{matters}){_adjusted(row)}"
        )
    span = "no interval" if pd.isna(row.low) else f"95 % {significant(row.low)} to {significant(row.high)}"
    about = f" of {_people(row.group)}" if row.group else ""
    side = {ABOVE: "above", BELOW: "below"}.get(row.rule, "within ±")
    limit = significant(row.threshold)
    has_to = f"it has to be {side} {limit}" if side[-1] != "±" else f"it has to be {side}{limit}"
    return f"{subject}{about} is {significant(row.value)} ({span}, {count}); {has_to}"


def _adjusted(row: object) -> str:
    """Add what becomes of a gap if the others had the same noise, device or whatever it is adjusted by."""
    short = in_short(row)
    left = significant(row.adjusted if row.gap > 0 else -row.adjusted)
    return f"; {short} ({left} if both had the same)" if short else ""


def _subject(row: object) -> str:
    """Name what was measured; the gap of a group says by itself that it is a difference."""
    if row.test == "Mean Value":
        return row.task
    name = row.test.lower().replace("coeff", "coefficient")
    name = name.removesuffix(" difference") if row.group else name
    return name if row.task in SINGLE else f"{name} of {row.task}"


def _people(group: str) -> str:
    column, _, name = group.partition(": ")
    return f"{name} speakers" if column in PEOPLE and name and ": " not in name else f"“{group}”"


def blocks_of(record: RunRecord, corpus: str) -> str:
    """Name what is resampled of a corpus, in the singular: ``speaker``, ``file`` or ``block``."""
    about = record.suite.get("corpora", {}).get(corpus, {})
    if about.get("blocks", "speaker") != "speaker":
        return "block"
    without = any(each.name == corpus and not each.speakers for each in record.corpora)
    return "file" if without else "speaker"


def counted_in(record: RunRecord, results: pd.DataFrame) -> pd.Series:
    """Say which rows are of models under test, bool; those of random references are not."""
    random = [model.name for model in record.models if model.kind == "random"]
    return ~results["model"].isin(random)


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
        ordered = by_excess(holding[about.eq(aspect)])
        if ordered.empty:
            continue
        told = ordered[~_mirrored(ordered)]
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


def _mirrored(rows: pd.DataFrame) -> pd.Series:
    """Say which rows repeat an earlier one: of two groups, one is above the other as far as that is below."""
    place = rows[["model", "corpus", "family", "task", "test", "label"]]
    gap = rows["gap"].abs().round(9).fillna(pd.Series(range(len(rows)), index=rows.index) + 1e6)
    return place.assign(column=rows["group"].str.partition(":")[0], gap=gap).duplicated()


def _items(
    record: RunRecord, rows: pd.DataFrame, excuses: pd.Series, several: bool, page: Page
) -> list[Html]:
    """Write rows as items of a list; several corpora are named, and why a failure is accepted."""
    items = []
    for row in rows.itertuples():
        excuse = excuses[row.Index]
        items.append(
            element(
                "li",
                element("a", row.model, href=f"{page(row.model, row.family)}.html"),
                f" on {row.corpus}: " if several else ": ",
                element("span", sentence(row, blocks_of(record, row.corpus)), limit=None),
                element("small", f" accepted: {excuse}", class_="sc-accepted", limit=None)
                if excuse
                else Html(),
            )
        )
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
    titles = {family.name: family.title for family in record.families}
    blocks = {blocks_of(record, corpus) for corpus in open_rows["corpus"].unique()}
    noun = f"{blocks.pop()}s" if len(blocks) == 1 else "blocks"
    frame = open_rows.assign(
        needed=speakers_needed(open_rows), size=open_rows["bound"].abs() - open_rows["matters"]
    )
    rows = []
    for (model, family), own in frame.groupby(["model", "family"], sort=False):
        known = own[own["needed"].notna()]
        worst = own.loc[own["size"].idxmax()] if own["size"].notna().any() else None
        hides = ""
        if worst is not None:
            name = tables.row_name(worst, worst["task"])
            hides = tables.two_lines(f"{significant(abs(worst['bound']))}", shorten(name, 70))
        few = int((own["blocks"] < LEAST_BLOCKS).sum())
        needed = math.inf
        plan = (
            f"{LEAST_BLOCKS} at least, for any interval" if few else "cannot be planned, it has no interval"
        )
        if len(known):
            needed, now = float(np.median(known["needed"])), float(np.median(known["blocks"]))
            plan = f"about {needed:,.0f} in place of {now:.0f}"
            plan = plan if needed <= MOST_SPEAKERS else "more than can be planned"
        link = element("a", titles.get(family, family), href=f"{page(model, family)}.html")
        rows.append(
            [
                model,
                tables.Cell(link, titles.get(family, family)),
                len(own),
                tables.Cell(hides, None, "sc-wide"),
                tables.Cell(f"{few}" if few else "", few, "sc-number"),
                tables.Cell(plan, needed),
            ]
        )
    rows.sort(key=lambda row: -row[2])
    columns = ["model", "family", "open", "up to this may hide", f"fewer than {LEAST_BLOCKS} {noun}"]
    columns.append(f"{noun} to settle half of them (planning figure)")
    shown = tables.table(rows[:OPEN_ROWS], columns)
    left = len(rows) - OPEN_ROWS
    if left <= 0:
        return shown
    rest = tables.table(rows[OPEN_ROWS:], columns)
    return shown + element("details", element("summary", f"{left} more"), rest)
