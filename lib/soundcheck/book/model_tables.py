"""Tables of the first page: models of one kind beside each other, and never models of different kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd

from soundcheck.common import files
from soundcheck.common.tasks import BUILTIN, CLASSIFICATION, EMBEDDING, REGRESSION, TRANSCRIPTION
from soundcheck.report import key_figures, tables
from soundcheck.report.bars import state_bar
from soundcheck.report.html import Html, element, join
from soundcheck.results.page_names import model_page
from soundcheck.results.record import KeyFigure, ModelRecord, RunRecord
from soundcheck.results.standing import HOLLOW
from soundcheck.results.states import FAIL, NOT_EVALUATED, PASS
from soundcheck.results.summary import ASPECTS, CORRECTNESS, aspects, tally

MOST_COLUMNS = 6  # models beside each other


class Kind(NamedTuple):
    """A kind of model: its title, the kinds of task that it answers, and which of its tasks a run has."""

    title: str
    of_task: tuple[str, ...]
    tasks: tuple[str, ...] = ()


KINDS = (
    Kind("Values and classes", (REGRESSION, CLASSIFICATION)),
    Kind("Recognition of words", (TRANSCRIPTION,)),
    Kind("Verification of speakers", (EMBEDDING,)),
)


def kinds(record: RunRecord) -> list[Kind]:
    """List the kinds of model that a run has, with the tasks of each."""
    declared = {name: about["kind"] for name, about in record.suite.get("tasks", {}).items()}
    known = {name: task.kind for name, task in BUILTIN.items()} | declared
    asked = list(dict.fromkeys(task for model in record.models for task in model.tasks))
    found = [kind._replace(tasks=tuple(t for t in asked if known.get(t) in kind.of_task)) for kind in KINDS]
    return [kind for kind in found if kind.tasks]


def figures_of(record: RunRecord, model: str, tasks: Sequence[str] = ()) -> list[KeyFigure]:
    """Give the numbers of a model, at some tasks if they are named."""
    found = record.figures or ()
    return [f for f in found if f.model == model and (not tasks or f.task in tasks)]


def _ordered(record: RunRecord, results: pd.DataFrame, kind: Kind) -> tuple[list[ModelRecord], list]:
    """Give the models of a kind, those that pass most tests of correctness first, and random references."""
    own = [model for model in record.models if set(model.tasks) & set(kind.tasks)]

    def order(model: ModelRecord) -> tuple[int, str]:
        rows = results[results["model"].eq(model.name) & results["task"].isin(kind.tasks)]
        found = tally(rows[aspects(rows).eq(CORRECTNESS)])
        return (found[FAIL] - found[PASS], model.name)

    tested = sorted((model for model in own if model.kind != "random"), key=order)
    return tested, [model for model in own if model.kind == "random"]


def model_table(record: RunRecord, results: pd.DataFrame, standing: pd.Series, kind: Kind) -> Html:
    """Show the models of a kind: their numbers, and the states of their tests by aspect.

    Parameters
    ----------
    record
        The run's record.
    results
        The results table.
    standing
        How the model of each row stands at its task, see :func:`soundcheck.results.standing.standings`.
    kind
        From :func:`kinds`.
    """
    tested, random = _ordered(record, results, kind)
    parts = []
    for models, caption in ((tested, ""), (random, "Random references, for comparison")):
        if not models:
            continue
        rows = [_model_row(record, results, standing, kind, model) for model in models]
        columns = ["model", "how good", *ASPECTS]
        sortable = len(models) > 1
        parts.append(tables.table(rows, columns, caption=caption, sortable=sortable, stacked=True))
    return join(parts)


def _model_row(
    record: RunRecord, results: pd.DataFrame, standing: pd.Series, kind: Kind, model: ModelRecord
) -> list[object]:
    own = results[results["model"].eq(model.name) & results["task"].isin(kind.tasks)]
    about = aspects(own)
    cells: list[object] = []
    for aspect in ASPECTS:
        rows = own[about.eq(aspect)]
        found = tally(rows)
        shown = family_bars(rows, None if model.kind == "random" else standing[rows.index])
        cells.append(tables.Cell(shown, found[PASS] - found[FAIL], "sc-score"))
    figures = figures_of(record, model.name, kind.tasks)
    several = len({figure.corpus for figure in figures}) > 1
    numbers = [_short(figure, several) for figure in figures]
    notes = key_figures.standing_notes(
        record.figures, model.name, [task for task in model.tasks if task in kind.tasks]
    )
    name = element("a", model.name, href=f"{model_page(model.slug)}.html")
    if model.kind != "random":
        name = name + join(
            element("small", note.partition(":")[0], class_="sc-line sc-standing", title=note)
            for note in notes
        )
    return [tables.Cell(name, model.name), tables.Cell(join(numbers), None, "sc-figures"), *cells]


def _short(figure: KeyFigure, several: bool) -> Html:
    """Write a number in two lines: what it is, then the value with its interval."""
    of = figure.measure if figure.measure in key_figures.RATES else f"{figure.task}, {figure.measure}"
    where = f", {figure.corpus}" if several else ""
    span = key_figures.interval(figure)
    shown = f"{key_figures.value(figure)} " if figure.value is not None else "– "
    company = f"({span})" if span else f"({figure.reason})"
    return element(
        "span",
        element("small", f"{of}{where}", class_="sc-line"),
        element("strong", shown),
        element("small", company),
        class_="sc-line",
    )


def family_table(
    record: RunRecord, results: pd.DataFrame, standing: pd.Series, kind: Kind, page: Callable[[str, str], str]
) -> Html:
    """Show families against the models of a kind; families that say nothing about them stand in a line below.

    Parameters
    ----------
    record, results, standing, kind
        See :func:`model_table`.
    page
        Function from model and family to the page of their results.
    """
    tested, random = _ordered(record, results, kind)
    models = [*tested, *random]
    own = results[results["task"].isin(kind.tasks)]
    failed = {(entry.model, entry.family): entry.failed for entry in record.notebooks}
    groups = {key: rows for key, rows in own.groupby(["model", "family"], sort=False)}

    def cell(model: ModelRecord, family: str) -> Html | str:
        if (model.name, family) not in failed:
            return "–"
        address = f"{page(model.name, family)}.html"
        if failed[model.name, family]:
            return element("a", "✗ failed to run", href=address)
        rows = groups.get((model.name, family), own.iloc[:0])
        counts = standing[rows.index] if model.kind != "random" else None
        return element("a", family_bars(rows, counts), href=address)

    families = [family for family in record.families if any((m.name, family.name) in failed for m in models)]
    judged = [f for f in families if any(_tells(groups, failed, m.name, f.name) for m in models)]
    parts = []
    if judged:
        links = [element("a", f.title, href=f"methods/{files.slug(f.name)}.html") for f in judged]
        names = [element("a", model.name, href=f"{model_page(model.slug)}.html") for model in models]
        if len(models) > max(MOST_COLUMNS, len(judged)):
            rows = [
                [name, *(cell(model, f.name) for f in judged)]
                for name, model in zip(names, models, strict=True)
            ]
            parts.append(tables.table(rows, ["model", *links], sortable=False))
        else:
            rows = [
                [link, *(cell(model, f.name) for model in models)]
                for link, f in zip(links, judged, strict=True)
            ]
            parts.append(tables.table(rows, ["family", *names], sortable=False))
    parts += _not_tested(record, own, families, judged)
    return join(parts)


def family_bars(rows: pd.DataFrame, standing: pd.Series | None) -> Html:
    """Show the bar of the tests that count, and below it, greyed, those of the tests that do not.

    Parameters
    ----------
    rows
        Rows of one model and family.
    standing
        How the model stands at the task of each row; ``None`` if that makes no difference.
    """
    if standing is None:
        return state_bar(tally(rows))
    left = rows[standing.eq(HOLLOW)]
    counted = rows.drop(left.index)
    parts = [state_bar(tally(counted))] if _any(counted) or not _any(left) else []
    if _any(left):
        words = element("small", f"{key_figures.EXPLAINED[HOLLOW]}, not counted:", class_="sc-line")
        parts.append(element("span", words, state_bar(tally(left)), class_="sc-hollow"))
    return join(parts)


def _tells(groups: dict, failed: dict, model: str, family: str) -> bool:
    """Say whether a family evaluated anything of a model, or broke."""
    if failed.get((model, family)):
        return True
    rows = groups.get((model, family))
    return rows is not None and _any(rows)


def _any(rows: pd.DataFrame) -> bool:
    """Say whether any row is evaluated or, without a threshold, reported."""
    return bool(rows["state"].ne(NOT_EVALUATED).any())


def _not_tested(record: RunRecord, own: pd.DataFrame, families: list, judged: list) -> list[Html]:
    """Say in a line each which families are not made for these models, and which judged nothing and why."""
    lines = []
    silent = [family for family in families if family not in judged]
    silent_of = []
    for family in silent:
        reasons = own.loc[own["family"].eq(family.name), "skipped"]
        why = reasons.mode().iloc[0] if len(reasons) else "no row"
        silent_of.append(f"{family.title} ({why})")
    if silent_of:
        lines.append(f"Nothing could be evaluated by: {'; '.join(silent_of)}.")
    others = [family.title for family in record.families if family not in families]
    if others:
        lines.append(f"Not made for these models, or not asked of them: {', '.join(others)}.")
    return [element("p", line, class_="sc-note", limit=None) for line in lines]
