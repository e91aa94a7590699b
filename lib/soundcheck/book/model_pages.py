"""Pages about what was tested and with what: models and their one-page summaries, failures, provenance."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from soundcheck.book import pages
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
from soundcheck.report.formats import value_cell
from soundcheck.report.html import Html, element, join
from soundcheck.report.states import mark
from soundcheck.results.facts import ModelFacts, counts, headline
from soundcheck.results.page_names import model_sheet, result_page
from soundcheck.results.record import PROVENANCE, FailedInput, RunRecord
from soundcheck.results.states import FAIL, HOLLOW, PASS

LISTED = 200  # items that a page lists before it only counts
ROOT = "../"  # from the page of a model to the first page


def model_cells(facts: ModelFacts) -> list[dict]:
    """Make the page of a model: its row of the first page, families, worst findings, values, what it is."""
    model, record = facts.model, facts.record
    about = templates.html("model", model=model, given=model.given(today()))
    sections = {
        "Families": families_table(facts),
        "The largest findings": largest([facts], MODEL_FINDINGS, ROOT) if len(facts.failing) else Html(),
        FEW_TITLE: of_few_speakers(record, facts.counted, ROOT, alone=True),
        "How good it is": figures_table(facts),
        "Values of groups and classes": parts_table(facts),
        "About the model": about + notices.notes(model.notes),
        "Inputs without a prediction": failures_table(model.failures),
    }
    notes = key_figures.standing_notes(record.figures, model.name, model.tasks)
    top = [
        notices.caveats_notice(facts.caveats),
        models_table([facts], ROOT),
        Html() if facts.counts[PASS] + facts.counts[FAIL] else said(f"{headline(facts.counted)}."),
        notices.notes([] if facts.random else notes),
    ]
    summary = [] if facts.random else [summary_link(model_sheet(model.slug))]
    title = pages.markdown(f"# Model {heading(model.name)}")
    return [title, *summary, pages.output(join(top)), *pages.sections(sections)]


def summary_link(name: str) -> dict:
    """Make the cell that leads from the page of a model or a comparison to its one-page summary."""
    address = element("a", "One-page summary", href=f"../{name}.html")
    return pages.output(element("p", address, ": results, figures and sounds in one file, to print or send."))


def families_table(facts: ModelFacts) -> Html:
    """Show each family with the state of its headline test and the states of all its tests."""
    lines = []
    for family, rows in facts.families:
        page = f"{ROOT}{result_page(facts.model.name, family.name)}.html"
        left = int(facts.uncounted["family"].eq(family.name).sum())
        bar = states.bar(counts(rows[rows["standing"].ne(HOLLOW)] if left else rows))
        if left:
            words = f"{left} not counted: {key_figures.EXPLAINED[HOLLOW]}"
            bar += element("small", words, class_="sc-line")
        title, state = element("a", family.title, href=page), mark(facts.state_of(family)[0])
        lines.append({"family": title, "headline test": state, "all tests": bar})
    return views.table(lines, sortable=False, none="")


def figures_table(facts: ModelFacts) -> Html:
    """Show its key figures with their intervals, and whether they are better than chance."""
    rows = []
    for figure in facts.figures:
        row = {"measure": key_figures.name(figure), "corpus": figure.corpus}
        row["value"] = key_figures.value(figure) or "–"
        row["95 %"] = key_figures.interval(figure) or figure.reason
        row["95 % for these speakers"] = key_figures.interval(figure, sample=True)
        row["chance"] = "" if figure.guessing is None else key_figures.value(figure, figure.guessing)
        row |= {"segments or trials": figure.segments, "speakers": figure.blocks}
        row["that is"] = key_figures.against_chance(figure)
        if figure.threshold is not None:
            row["that is"] = f"at the threshold in use, {key_figures.significant(figure.threshold, 3)}"
        rows.append(row)
    return views.table(rows, sortable=False, stacked=True, none="")


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
    return views.table(frame, columns, first=20, filters={"measure": "measure"}, none="")


def failures_table(entries: Sequence[FailedInput]) -> Html:
    """List inputs that a model gave no prediction for."""
    columns = {"corpus": "corpus", "segment": "item", "change": lambda row: row.change or "–"}
    columns |= {"reason": "reason"}
    table = views.table(pd.DataFrame(entries[:LISTED]), columns, none="")
    more = f"… and {len(entries) - LISTED} more; left_out.csv lists all."
    return table + said(more) if len(entries) > LISTED else table


def failures_cells(record: RunRecord) -> list[dict]:
    """Make the page of notebooks that failed; their tests are skipped rows of the results."""
    columns = {
        "notebook": lambda row: element("a", row.entry.display_name, href=f"{page_of(row.entry)}.html"),
        "how": lambda row: row.entry.status,
        "error": lambda row: row.entry.error.partition("\n")[0],
    }
    words = "# Failed notebooks\n\nTheir tests are not evaluated. Each page shows how far its notebook came."
    rows = [{"entry": entry} for entry in record.failed]
    return [pages.markdown(words), pages.output(views.table(rows, columns))]


def provenance_cells(record: RunRecord) -> list[dict]:
    """Make the page that says with what the book was made."""

    def short(row: object) -> str:
        return row.digest[:16]

    sounds = {name: name for name in ("kind", "sounds", "seconds", "source")} | {"digest": short}
    tables = {
        "Versions": (record.versions.items(), {"package": "0", "version": "1"}),
        "Sounds\n\nNoises and impulse responses that signals were changed with.": (record.sounds, sounds),
        "Threshold files": (record.families, {"family": "name", "title": "title", "digest": short}),
    }
    words = "# Provenance\n\nWith what this book was made. The same suite and data give the same results."
    top = templates.html("provenance", record=record, manifest=MANIFEST, provenance=PROVENANCE)
    shown = {
        title: views.table(pd.DataFrame(rows).rename(columns=str), columns, sortable=False, none="")
        for title, (rows, columns) in tables.items()
    }
    return [pages.markdown(words), pages.output(top), *pages.sections(shown)]
