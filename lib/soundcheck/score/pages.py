"""Scores, in words for the terminal and as one page: values first, then each column of groups."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from soundcheck.common import files, templates
from soundcheck.common.messages import EXIT_OK, EXIT_TEST_FAILED, counted, some
from soundcheck.common.tasks import Task
from soundcheck.report import failures, group_views, style, views
from soundcheck.report.formats import Cell, digits_for, number, significant
from soundcheck.report.html import standalone
from soundcheck.report.views import estimate_cell, measured
from soundcheck.results.rows import ALL
from soundcheck.results.states import FAIL, NOT_EVALUATED, REPORTED
from soundcheck.suite.corpus_format import OTHERS
from soundcheck.suite.families import LOWER, info_of

MOST_TOO_SMALL = 12  # groups that are listed with their values


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """What was computed: the tables of a run, for one model and one corpus."""

    estimates: pd.DataFrame  # every value with its intervals: the columns of estimates.csv
    results: pd.DataFrame  # differences between groups with margin and state: the columns of results.csv
    task: Task
    model: str
    notes: tuple[str, ...]  # what a reader has to know: missing values, how words were compared
    block: str  # what was resampled: ``speaker``, or ``file`` if no speakers are known

    @property
    def exit_code(self) -> int:
        """1 if a group is worse than its reference by more than the margin, else 0."""
        return EXIT_TEST_FAILED if self.results["state"].eq(FAIL).any() else EXIT_OK

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        by_column = group_rows(self).groupby("column", sort=False)
        values = {"measure": measured, "value (95 %)": estimate_cell, unit(self): "segments"}
        return templates.html(
            "scores",
            model=self.model,
            headline=headline(self),
            everybody=views.table(overall(self), values | {"speakers": "speakers"}, sortable=False),
            fails=failing(self),
            columns=[_column(self, name, rows) for name, rows in by_column],
            notes=self.notes,
        )

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained page: the values, a figure and a table of each column of groups."""
        files.write_text(Path(path), standalone(f"{self.model}: scores", self._repr_html_()))
        return Path(path)


def overall(scores: Scores) -> pd.DataFrame:
    """Give the values of everybody, the headline first."""
    return scores.estimates[scores.estimates["part"].eq(ALL)]


def written(row: object, *, interval: bool = True) -> str:
    """Write a value with its interval, that for these speakers where there is no other; rates in per cent."""
    if pd.isna(row.value):
        return "no value"
    rate = info_of(row.measure).rate
    factor, unit, digits = (100, " %", 1) if rate else (1, "", digits_for(row.value, row.low, row.high))
    value = f"{number(factor * row.value, digits)}{unit}"
    only_these = pd.isna(row.low)
    ends = (row.low_sample, row.high_sample) if only_these else (row.low, row.high)
    if not interval or pd.isna(ends[0]):
        return value
    whose = ", these speakers" if only_these else ""
    return f"{value} (95 % {' to '.join(number(factor * end, digits) for end in ends)}{whose})"


def unit(scores: Scores) -> str:
    """Name what is scored, in the plural."""
    return "trials" if scores.task.is_embedding else "recordings"


def headline(scores: Scores) -> str:
    """Write the headline measure with its interval and what it is computed from."""
    row = next(overall(scores).itertuples())
    who = counted(row.speakers, "speaker") + ", " if row.speakers else ""
    return f"{measured(row)} {written(row)}; {who}{row.segments:,} {unit(scores)}"


def group_rows(scores: Scores) -> pd.DataFrame:
    """Put the values of groups beside those of their references: the worst first, too small groups last."""
    rows = group_views.group_values(scores.estimates, scores.results)
    small = rows["state"].eq(NOT_EVALUATED) & rows["gap"].isna() & rows["low"].isna()
    small &= rows["group"].ne(rows["against"])  # with few speakers, the reference has no interval
    worse = rows["value"].where([info_of(name).better == LOWER for name in rows["measure"]], -rows["value"])
    rows = rows.assign(small=small, worse=-worse, lacks=rows["excluded"], excluded="")
    rows["order"] = pd.factorize(rows["measure"])[0]
    return rows.sort_values(["order", "small", "worse", "group"])


def failing(scores: Scores) -> list[str]:
    """Say for which groups the model is worse by more than the margin, a sentence a row of the results."""
    rows = scores.results[scores.results["state"].eq(FAIL) & scores.results["mirrors"].eq("")]
    return [failures.sentence(row, scores.block) for row in rows.itertuples()]


def compared(row: object) -> str:
    """Say how a group differs from its reference: difference, ratio and state."""
    if row.mirrors or row.group == row.against:
        return "the reference"
    if pd.isna(row.gap):
        return f"not compared: {row.lacks}" if row.lacks else ""
    factor, unit = (100, " points") if info_of(row.measure).rate else (1, "")
    parts = [f"difference {significant(factor * row.gap)}{unit}"]
    if not pd.isna(row.gap_low):
        parts[0] += f" ({significant(factor * row.gap_low)} to {significant(factor * row.gap_high)})"
    if not pd.isna(row.ratio):
        parts.append(f"ratio {significant(row.ratio)}")
    return ", ".join([*parts, "too few speakers to generalise" if failures.few(row) else row.state])


def _lines(scores: Scores) -> Iterator[str]:
    yield f"{scores.model}: {headline(scores)}"
    yield from (f"  {measured(row)} {written(row)}" for row in list(overall(scores).itertuples())[1:])
    rows = group_rows(scores)
    for (column, measure), members in rows.groupby(["column", "measure"], sort=False):
        if scores.task.is_embedding or measure == rows["measure"].iloc[0]:
            of = f", {info_of(measure).title}" if scores.task.is_embedding else ""
            yield from _column_lines(f"{column}{of}", members)
    if sentences := failing(scores):
        yield from ("Fail:", *(f"  {sentence}" for sentence in sentences))
    yield from (f"Note: {note}" for note in scores.notes)


def _column_lines(title: str, rows: pd.DataFrame) -> Iterator[str]:
    against = rows["against"].max().replace(OTHERS, "the others")
    yield f"{title}, against {against}:" if against else f"{title}:"
    large = rows[~rows["small"]]
    width = max((len(group) for group in large["group"]), default=0)
    for row in large.itertuples():
        yield "; ".join(filter(None, (f"  {row.group:<{width}}  {written(row)}", compared(row))))
    small = rows[rows["small"]].itertuples()
    if each := [f"{row.group} {written(row, interval=False)} ({row.lacks})" for row in small]:
        yield f"  too small to compare: {some(each, MOST_TOO_SMALL)}"


def _column(scores: Scores, name: str, rows: pd.DataFrame) -> dict[str, object]:
    several = {"measure": measured} if rows["measure"].nunique() > 1 else {}
    columns = {
        "group": "group",
        **several,
        "value (95 %)": estimate_cell,
        "difference, ratio, state": lambda row: Cell(compared(row), row.gap),
        unit(scores): "segments",
        "speakers": "speakers",
    }
    table = views.table(rows, columns, stacked=True)
    return {"name": name, "table": table, **_picture(rows[~rows["small"]])}


def _picture(rows: pd.DataFrame) -> dict[str, str]:
    """Draw the groups of a column that are large enough to be compared, if there are any."""
    if rows.empty:
        return {"picture": "", "alt": ""}
    drawn = group_views.drawn(rows)
    judged = rows.loc[drawn.index]  # here states are known, in a notebook of a suite intervals alone
    drawn = drawn.assign(
        state=judged["state"].where(drawn["state"].ne(REPORTED), REPORTED),
        words=[compared(row).rpartition(", ")[2] for row in judged.itertuples()],
    )
    picture = base64.b64encode(style.svg(views.forest(drawn, panels="panel", name="name"))).decode()
    return {"picture": f"data:image/svg+xml;base64,{picture}", "alt": group_views.described(drawn)}
