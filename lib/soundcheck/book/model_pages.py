"""Pages about what was tested and with what: models, notebooks that failed, provenance."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from soundcheck.book import pages, sheets
from soundcheck.book.overview import (
    FEW_TITLE,
    MODEL_FINDINGS,
    largest,
    models_table,
    of_few_speakers,
    page_of,
    said,
)
from soundcheck.common import templates
from soundcheck.common.day import today
from soundcheck.common.escaping import heading
from soundcheck.common.manifest import MANIFEST
from soundcheck.report import failures, key_figures, notices, states, views
from soundcheck.report.formats import Cell, value_cell
from soundcheck.report.html import Html, element, join
from soundcheck.report.states import mark
from soundcheck.results.facts import ModelFacts, counts, headline
from soundcheck.results.page_names import model_sheet, result_page
from soundcheck.results.record import PROVENANCE, FailedInput, RunRecord
from soundcheck.results.standing import HOLLOW
from soundcheck.results.states import FAIL, PASS

LISTED = 200  # items that a page lists before it only counts
ROOT = "../"  # from the page of a model to the first page


def model_cells(facts: ModelFacts) -> list[dict]:
    """Make the page of a model: its row of the first page, families, worst findings, values, what it is."""
    model, record = facts.model, facts.record
    sections = {
        "Families": families_table(facts),
        "The largest findings": largest([facts], MODEL_FINDINGS, ROOT) if len(facts.failing) else Html(),
        FEW_TITLE: of_few_speakers(record, facts.counted, ROOT, alone=True),
        "How good it is": figures_table(facts),
        "Values of groups and classes": parts_table(facts),
        "About the model": templates.html("model", model=model, given=model.given(today()))
        + notices.notes(model.notes),
        "Inputs without a prediction": failures_table(model.failures) if model.failures else Html(),
    }
    notes = key_figures.standing_notes(record.figures, model.name, model.tasks)
    top = [
        notices.caveats_notice(facts.caveats),
        models_table([facts], ROOT),
        Html() if facts.counts[PASS] + facts.counts[FAIL] else said(f"{headline(facts.counted)}."),
        notices.notes([] if facts.random else notes),
    ]
    cells = [pages.markdown(f"# Model {heading(model.name)}"), pages.output(join(top))]
    cells[1:1] = [sheets.link(model_sheet(model.slug))] if sheets.has_sheet(model) else []
    for title, part in sections.items():
        cells += [pages.markdown(f"## {title}"), pages.output(part)] if part else []
    return cells


def families_table(facts: ModelFacts) -> Html:
    """Show each family with the state of its headline test and the states of all its tests."""
    uncounted = facts.uncounted["family"]
    rows = pd.DataFrame(
        {
            "family": family,
            "state": facts.state_of(family)[0],
            "all": counts(rows[rows["standing"].ne(HOLLOW)] if (uncounted == family.name).any() else rows),
            "left": int((uncounted == family.name).sum()),
        }
        for family, rows in facts.families
    )

    def name(row: object) -> Html:
        page = f"{ROOT}{result_page(facts.model.name, row.family.name)}.html"
        return element("a", row.family.title, href=page)

    def tests(row: object) -> Html:
        words = f"{row.left} not counted: {key_figures.EXPLAINED[HOLLOW]}" if row.left else ""
        return states.bar(row.all) + (element("small", words, class_="sc-line") if words else Html())

    columns = {
        "family": name,
        "headline test": lambda row: Cell(mark(row.state), row.state),
        "all tests": tests,
    }
    return views.table(rows, columns, sortable=False) if len(rows) else Html()


def figures_table(facts: ModelFacts) -> Html:
    """Show its key figures with their intervals, and whether they are better than chance."""

    def is_(row: object) -> str:
        at = f"at the threshold in use, {key_figures.significant(row.figure.threshold, 3)}"
        return key_figures.against_chance(row.figure) if row.figure.threshold is None else at

    frame = pd.DataFrame({"figure": facts.figures})
    columns = {
        "measure": lambda row: key_figures.name(row.figure),
        "corpus": lambda row: row.figure.corpus,
        "value": lambda row: key_figures.value(row.figure) or "–",
        "95 %": lambda row: key_figures.interval(row.figure) or row.figure.reason,
        "95 % for these speakers": lambda row: key_figures.sample_interval(row.figure),
        "chance": lambda row: (
            key_figures.value(row.figure, row.figure.guessing) if row.figure.guessing is not None else ""
        ),
        "segments or trials": lambda row: row.figure.segments,
        "speakers": lambda row: row.figure.blocks,
        "that is": is_,
    }
    return views.table(frame, columns, sortable=False, stacked=True) if len(frame) else Html()


def parts_table(facts: ModelFacts) -> Html:
    """Show how good it is for each group and class: values of the tables of estimates, the worst first."""
    classes = facts.classes.assign(title="recall", part=facts.classes["label"])
    frame = pd.concat([facts.group_values, classes])
    columns = {
        "measure": lambda row: row.title if row.title in key_figures.RATES else f"{row.title} of {row.task}",
        "group or class": lambda row: failures.people(row.part),
        "corpus": "corpus",
        "value": lambda row: value_cell(row.value, row.low, row.high),
        "segments": "segments",
        "speakers": "speakers",
    }
    filters = {"measure": "measure"}
    return views.table(frame, columns, first=20, filters=filters) if len(frame) else Html()


def failures_table(entries: Sequence[FailedInput]) -> Html:
    """List inputs that a model gave no prediction for."""
    columns = {
        "corpus": "corpus",
        "segment": "item",
        "change": lambda row: row.change or "–",
        "reason": "reason",
    }
    return views.table(pd.DataFrame(entries[:LISTED]), columns) + more_items(len(entries))


def failures_cells(record: RunRecord) -> list[dict]:
    """Make the page of notebooks that failed; their tests are skipped rows of the results."""
    frame = pd.DataFrame({"entry": record.failed})
    columns = {
        "notebook": lambda row: element("a", row.entry.display_name, href=f"{page_of(row.entry)}.html"),
        "how": lambda row: row.entry.status,
        "error": lambda row: row.entry.error.partition("\n")[0],
    }
    words = "# Failed notebooks\n\nTheir tests are not evaluated. Each page shows how far its notebook came."
    return [pages.markdown(words), pages.output(views.table(frame, columns))]


def provenance_cells(record: RunRecord) -> list[dict]:
    """Make the page that says with what the book was made."""
    sounds = pd.DataFrame(
        [[one.kind, one.sounds, one.seconds, one.source, one.digest[:16]] for one in record.sounds],
        columns=["kind", "sounds", "seconds", "source", "digest"],
    )
    sections = {
        "Versions": pd.DataFrame(record.versions.items(), columns=["package", "version"]),
        "Sounds\n\nNoises and impulse responses that signals were changed with.": sounds,
        "Threshold files": pd.DataFrame(
            [[one.name, one.title, one.digest[:16]] for one in record.families],
            columns=["family", "title", "digest"],
        ),
    }
    words = "# Provenance\n\nWith what this book was made. The same suite and data give the same results."
    top = templates.html("provenance", record=record, manifest=MANIFEST, provenance=PROVENANCE)
    cells = [pages.markdown(words), pages.output(top)]
    for title, frame in sections.items():
        shown = pages.output(views.table(frame, {name: name for name in frame}, sortable=False))
        cells += [pages.markdown(f"## {title}"), shown] if len(frame) else []
    return cells


def more_items(count: int) -> Html:
    """Say how many items a list of :data:`LISTED` does not show."""
    return said(f"… and {count - LISTED} more; left_out.csv lists all.") if count > LISTED else Html()
