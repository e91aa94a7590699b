"""The page of a history: what became better or worse, the runs, what is not comparable, and figures.

Conventions
-----------
- A section is a title of our own words and finished HTML; names from data stand in the HTML only, escaped.
- No place on any disk is shown: runs are known by the name of their folder and the digest of their results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from soundcheck.common.media import EmbeddedMedia, MediaStore
from soundcheck.common.wording import counted
from soundcheck.history.figures import MOST_PANELS, SERIES, described, family_figure
from soundcheck.history.past_runs import PastRun, PastRuns
from soundcheck.history.points import marked, matters, points
from soundcheck.history.series import models_of, strangers
from soundcheck.report import tables
from soundcheck.report.comparisons import badge
from soundcheck.report.html import Html, element, join
from soundcheck.report.style import show
from soundcheck.results.contrast import BETTER, PAIRED, UNPAIRED, WORSE

MOST_MARKS = 100
MOST_REASONS = 60
_NAMES = ["model", "family", *SERIES]


@dataclasses.dataclass(frozen=True)
class History:
    """What a page is made of.

    Parameters
    ----------
    past
        The runs, and what was left out.
    points
        Their points, see :func:`soundcheck.history.points.points`.
    apart
        Runs that were left out because they share no test with the others.
    """

    past: PastRuns
    points: pd.DataFrame
    apart: tuple[PastRun, ...] = ()


def history_of(past: PastRuns, models: Sequence[str] = ()) -> History:
    """Put runs together; those that share no test with the others are left out.

    Parameters
    ----------
    past
        The runs.
    models
        Only these models; default all but random references.

    Raises
    ------
    InputError
        If no run has a model that is asked for.
    """
    apart = strangers(past.runs, models_of(past.runs, models))
    runs = tuple(run for run in past.runs if run not in apart)
    found = dataclasses.replace(past, runs=runs)
    return History(found, points(runs, models_of(runs, models) if runs else []), tuple(apart))


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of the page; the first one has no title."""

    title: str
    content: Html


def sections(history: History, media: MediaStore | EmbeddedMedia, table: str) -> list[Section]:
    """Make the page.

    Parameters
    ----------
    history
        What it is made of.
    media
        Where figures go.
    table
        Address of the table of all points.
    """
    runs, frame = history.past.runs, history.points
    synthetic = any(c.get("synthetic") is True for run in runs for c in run.finished.part("corpora").values())
    first = [
        element("p", element("strong", conclusion(frame), limit=None)),
        tables.synthetic_notice(synthetic),
    ]
    first.append(element("p", _rule(matters(runs)), limit=None))
    first.append(element("p", "All points, with intervals and reasons: ", element("a", table, href=table)))
    made = [Section("", join(first))]
    if len(marked(frame)):
        made.append(Section("What changed", _marks(frame)))
    made.append(Section("Runs", _runs(runs, frame)))
    if len(reasons := _reasons(frame)):
        made.append(Section("Where lines break, and why", _broken(reasons)))
    left_out = [*_left_out(history)]
    if left_out:
        made.append(Section("What was left out", element("ul", *left_out)))
    made.append(Section("Values over the runs", join(_figures(runs, frame, media))))
    return made


def conclusion(frame: pd.DataFrame) -> str:
    """Say in a sentence or two what changed; names come from data and are not escaped."""
    compared = frame[frame["p_value"].notna()]
    runs = counted(int(frame["position"].nunique()), "run")
    tests = counted(len(frame[_NAMES].drop_duplicates()), "test")
    if compared.empty:
        return f"{runs}, {tests}: no two values could be compared."
    counts = {name: int(compared["mark"].eq(name).sum()) for name in (WORSE, BETTER)}
    paired, unpaired = (int(compared["pairing"].eq(name).sum()) for name in (PAIRED, UNPAIRED))
    how = f"{counted(len(compared), 'comparison')} with the run before ({paired} paired, {unpaired} unpaired)"
    if not any(counts.values()):
        return f"{runs}, {tests}: nothing became significantly better or worse, among {how}."
    told = ", ".join(f"{counted(count, 'value')} became {name}" for name, count in counts.items() if count)
    return f"{runs}, {tests}: {told}, among {how}."


def _rule(size: float) -> str:
    most = f" and by more than {size:g}" if size else ""
    return (
        "Better or worse is a difference from the run before that is significant among all comparisons of "
        f"this page at a false discovery rate of 5 %{most}. A page about runs in which nothing changed marks "
        "anything in at most 5 of 100 cases; no mark is not the same as no change."
    )


def _marks(frame: pd.DataFrame) -> Html:
    own = marked(frame)
    rows = []
    before = frame.set_index([*_NAMES, "position"])["value"]
    several = own["corpus"].nunique() > 1
    for row in own.head(MOST_MARKS).itertuples():
        earlier = before[(*(getattr(row, name) for name in _NAMES), row.against)]
        p = row.adjusted_p_value
        difference = tables.number(row.difference)
        bounds = f"{tables.number(row.difference_low)} to {tables.number(row.difference_high)}"
        how = f"{row.pairing}, {'p < 0.0001' if p < 0.0001 else f'p = {p:.2g}'}"
        new = f"new: {row.changed or 'nothing that is recorded'}"
        values = f"{tables.number(earlier)} → {tables.number(row.value)}"
        rows.append(
            [
                badge(row.mark),
                tables.Cell(f"{row.against}\u00a0→\u00a0{row.position}", row.position),
                tables.Cell(
                    tables.two_lines(
                        row.family, " · ".join(filter(None, (row.model, several and row.corpus)))
                    )
                ),
                row.task,
                tables.test_cell(row),
                tables.Cell(values, row.value, "sc-number"),
                tables.Cell(tables.two_lines(difference, bounds), row.difference, "sc-number"),
                tables.two_lines(how, f"{new}; {row.reason}" if row.reason else new),
            ]
        )
    columns = ["", "runs", "family", "task", "test", "value", "difference and 95 % interval", "comparison"]
    parts = [tables.table(rows, columns)]
    if len(own) > MOST_MARKS:
        parts.append(
            element("p", f"{len(own) - MOST_MARKS} more are in the table of all points.", class_="sc-note")
        )
    return join(parts)


def _runs(runs: Sequence[PastRun], frame: pd.DataFrame) -> Html:
    rows = []
    models = list(dict.fromkeys(frame["model"]))
    for position, run in enumerate(runs, start=1):
        own = frame[frame["position"].eq(position)]
        with_value = own[own["value"].notna()]
        versions = [
            f"{name} {own.loc[own['model'].eq(name), 'model_version'].iloc[0] or 'unknown'}"
            for name in models
            if own["model"].eq(name).any()
        ]
        marks = [
            f"{int(own['mark'].eq(name).sum())} {name}"
            for name in (WORSE, BETTER)
            if own["mark"].eq(name).any()
        ]
        missing = [name for name in models if not with_value["model"].eq(name).any()]
        told = "; ".join([*marks, *(f"nothing of {name}" for name in missing)])
        rows.append(
            [
                position,
                run.date or tables.two_lines("unknown", run.name),
                run.digest,
                tables.Cell(join(element("span", text, class_="sc-line") for text in versions)),
                run.data_version(sorted(set(own["corpus"]))) or "unknown",
                run.soundcheck or "unknown",
                len(with_value),
                told,
            ]
        )
    columns = [
        "run",
        "kept (UTC)",
        "results",
        "models",
        "data",
        "Soundcheck",
        "values",
        "against the run before",
    ]
    return tables.table(rows, columns, sortable=False)


def _reasons(frame: pd.DataFrame) -> pd.DataFrame:
    """Count the points before which the line breaks, by runs, family and reason without its numbers."""
    own = frame[frame["reason"].ne("") & frame["value"].notna()]
    if own.empty:
        return own
    short = own["reason"].str.replace(r" \([^()]*\)", "", regex=True)
    own = own.assign(short=short, compared=own["p_value"].notna())
    keys = ["position", "model", "family", "short"]
    return (
        own.groupby(keys, sort=True)
        .agg(tests=("value", "size"), compared=("compared", "sum"), example=("reason", "first"))
        .reset_index()
    )


def _broken(reasons: pd.DataFrame) -> Html:
    rows = [
        [row.position, row.model, row.family, row.tests, row.compared, row.example]
        for row in reasons.head(MOST_REASONS).itertuples()
    ]
    columns = ["up to run", "model", "family", "tests", "compared all the same", "why, of the first of them"]
    parts = [tables.table(rows, columns)]
    if len(reasons) > MOST_REASONS:
        told = f"{len(reasons) - MOST_REASONS} more are in the table of all points."
        parts.append(element("p", told, class_="sc-note"))
    return join(parts)


def _left_out(history: History) -> Iterator[Html]:
    for name, first in history.past.doubled:
        yield element("li", f"{name} has the same results as {first} and counts once.", limit=None)
    for problem in history.past.problems:
        yield element("li", str(problem), limit=None)
    for run in history.apart:
        yield element("li", f"{run.name} has no test in common with the other runs.", limit=None)


def _figures(
    runs: Sequence[PastRun], frame: pd.DataFrame, media: MediaStore | EmbeddedMedia
) -> Iterable[Html]:
    families = [item for run in runs for item in run.finished.part("families").items()]
    titles = {name: str(about.get("title", name)) for name, about in families}
    drawn = frame[frame["value"].notna()]
    for (model, family), own in drawn.groupby(["model", "family"], sort=False):
        tests = len(own[SERIES].drop_duplicates())
        fewer = f", {MOST_PANELS} of {tests} tests, those with marks first" if tests > MOST_PANELS else ""
        yield element(
            "p", f"{titles.get(family, family)}: {model}{fewer}", class_="sc-players-title", limit=None
        )
        yield show(media, family_figure(own, len(runs)), f"{family} of {model}: {described(own)}")
