"""Scores in words for the terminal, and as one page: values first, then each column of groups."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from soundcheck.common import files, templates
from soundcheck.common.templates import Html
from soundcheck.common.wording import counted
from soundcheck.report import failures, group_views, style, views
from soundcheck.report.estimate_tables import estimate_cell, measured
from soundcheck.report.formats import Cell, digits_for, number, significant
from soundcheck.report.standalone import standalone
from soundcheck.results.estimates import ALL
from soundcheck.results.states import FAIL, INCONCLUSIVE, NOT_EVALUATED, REPORTED
from soundcheck.score.scores import Scores
from soundcheck.suite.measures import LOWER, info_of

MOST_TOO_SMALL = 12  # groups that are listed with their values


def own_values(scores: Scores) -> pd.DataFrame:
    """Give the values of everybody, the headline first."""
    return scores.estimates[scores.estimates["part"].eq(ALL)]


def _number(row: object, value: float) -> str:
    """Write a value of what a row measures, or nothing; rates in per cent."""
    if info_of(row.measure).rate:
        return "" if pd.isna(value) else f"{number(100 * value, 1)} %"
    return number(value, digits_for(row.value))


def written(row: object, *, interval: bool = True) -> str:
    """Write a value with its interval, that for these speakers where there is no other; rates in per cent."""
    rate = info_of(row.measure).rate
    factor, unit = (100, " %") if rate else (1, "")
    digits = 1 if rate else digits_for(row.value, row.low, row.high)
    value = f"{number(factor * row.value, digits)}{unit}"
    here = pd.isna(row.low)
    ends = (row.low_sample, row.high_sample) if here else (row.low, row.high)
    if not interval or pd.isna(ends[0]):
        return value
    whose = ", these speakers" if here else ""
    return f"{value} (95 % {' to '.join(number(factor * end, digits) for end in ends)}{whose})"


def noun(scores: Scores) -> str:
    """Name what is scored, in the plural."""
    return "trials" if scores.task.is_embedding else "recordings"


def headline(scores: Scores) -> str:
    """Write the headline measure with its interval and what it is computed from."""
    row = next(own_values(scores).itertuples())
    who = counted(row.speakers, "speaker") + ", " if row.speakers else ""
    return f"{measured(row)} {written(row)}; {who}{row.segments:,} {noun(scores)}"


def group_rows(scores: Scores) -> pd.DataFrame:
    """Put value, reference, difference, ratio and state of each group and measure into a row, worst first.

    Columns ``column, group``, those of the estimates, and of the results ``others_value, gap, gap_low,
    gap_high, ratio, matters, state, state_sample, against``; a reference has the state ``reference``.
    """
    found = group_views.group_values(scores.estimates, scores.results)
    rows = scores.results[scores.results["against"].ne("") & scores.results["label"].eq("")]
    names = [failures.measure_of(row.test, row.family).name for row in rows.itertuples()]
    compared = rows.assign(measure=names).set_index(["measure", "group"])
    places = pd.MultiIndex.from_frame(found[["measure", "part"]])
    for name in ("gap_low", "gap_high", "ratio", "p_value", "state", "state_sample", "against"):
        found[name] = compared[name].reindex(places).to_numpy()
    return found.fillna({"state": NOT_EVALUATED, "state_sample": NOT_EVALUATED, "against": ""})


def fails(scores: Scores) -> list[str]:
    """Say for which groups the model is worse by more than the margin, a sentence a row of the results."""
    rows = scores.results[scores.results["state"].eq(FAIL) & scores.results["mirrors"].eq("")]
    return [failures.sentence(row, scores.block) for row in rows.itertuples()]


# The terminal -----------------------------------------------------------------------------------------------


def text(scores: Scores) -> str:
    """Write scores for the terminal."""
    return "\n".join(_lines(scores))


def _lines(scores: Scores) -> Iterator[str]:
    yield f"{scores.model}: {headline(scores)}"
    for row in list(own_values(scores).itertuples())[1:]:
        yield f"  {measured(row)} {written(row)}"
    rows = group_rows(scores)
    first = rows["measure"].iloc[0] if len(rows) else ""
    for column, own in rows[rows["measure"].eq(first)].groupby("column", sort=False):
        yield from _column_lines(column, own)
    failing = fails(scores)
    yield from ["Fail:"] * bool(failing)
    yield from (f"  {sentence}" for sentence in failing)
    yield from (f"Note: {note}" for note in scores.notes)


def _column_lines(column: str, own: pd.DataFrame) -> Iterator[str]:
    own = own.sort_values(
        ["value", "group"], ascending=[info_of(own["measure"].iloc[0]).better != LOWER, True]
    )
    named = [name for name in own["against"] if name not in ("", "others")]
    yield f"{column}, against {named[0] if named else 'the others'}:"
    compared = own[own["state"].ne(NOT_EVALUATED) | own["gap"].notna() | own["low"].notna()]
    width = max((len(group) for group in compared["group"]), default=0)
    for row in compared.itertuples():
        yield f"  {row.group:<{width}}  {written(row)}; {_compared(row)}"
    small = own.drop(compared.index)
    each = [f"{row.group} {written(row, interval=False)} ({row.segments})" for row in small.itertuples()]
    if each:
        more = f" and {len(each) - MOST_TOO_SMALL} more" if len(each) > MOST_TOO_SMALL else ""
        yield f"  too small to compare (recordings): {', '.join(each[:MOST_TOO_SMALL])}{more}"


def _compared(row: object) -> str:
    """Say how a group differs from its reference: difference, ratio and state."""
    if row.mirrors or (pd.isna(row.gap) and not pd.isna(row.low)):
        return "the reference"
    if pd.isna(row.gap):
        return f"not compared: {row.excluded}"
    factor, unit = (100, " points") if info_of(row.measure).rate else (1, "")
    ends = [significant(factor * end) for end in (row.gap_low, row.gap_high) if not pd.isna(end)]
    parts = [
        f"difference {significant(factor * row.gap)}{unit}" + (f" ({' to '.join(ends)})" if ends else "")
    ]
    parts += [f"ratio {significant(row.ratio)}"] if not pd.isna(row.ratio) else []
    if row.state == NOT_EVALUATED or (row.state == INCONCLUSIVE and row.state_sample == REPORTED):
        return ", ".join([*parts, "too few speakers to generalise"])
    return ", ".join([*parts, row.state])


# The page ---------------------------------------------------------------------------------------------------


def body(scores: Scores) -> Html:
    """Write scores as HTML, pictures inside."""
    rows = group_rows(scores)
    columns = [_column(scores, column, own) for column, own in rows.groupby("column", sort=False)]
    everybody = views.table(
        own_values(scores),
        {
            "measure": measured,
            "value (95 %)": estimate_cell,
            noun(scores): "segments",
            "speakers": "speakers",
        },
        sortable=False,
    )
    return templates.html(
        "scores",
        model=scores.model,
        headline=headline(scores),
        everybody=everybody,
        fails=fails(scores),
        columns=columns,
        notes=scores.notes,
    )


def _column(scores: Scores, column: str, own: pd.DataFrame) -> dict[str, object]:
    compared = own["state"].ne(NOT_EVALUATED) | own["low"].notna()
    drawn = group_views.drawn(own[compared])
    figure = views.forest(drawn, panels="panel", name="name")
    picture = base64.b64encode(style.svg(figure)).decode()
    table = views.table(
        own,
        {
            "group": "group",
            "measure": measured,
            "value (95 %)": estimate_cell,
            "reference": lambda row: Cell(_number(row, row.others_value), row.others_value, "sc-number"),
            "difference, ratio, state": lambda row: Cell(_compared(row), row.gap),
            "recordings": "segments",
            "speakers": "speakers",
        },
        stacked=True,
    )
    return {
        "name": column,
        "picture": f"data:image/svg+xml;base64,{picture}",
        "alt": group_views.described(drawn),
        "table": table,
    }


def write_page(scores: Scores, path: Path) -> Path:
    """Write one self-contained page."""
    files.write_text(path, standalone(f"{scores.model}: scores", body(scores)))
    return path
