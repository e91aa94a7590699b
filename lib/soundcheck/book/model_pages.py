"""Pages about what was tested and with what: models, notebooks that failed, provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from soundcheck.book import findings, pages, sheets
from soundcheck.book.model_tables import family_bars, figures_of
from soundcheck.book.overview import page_of
from soundcheck.common import files
from soundcheck.common.day import today
from soundcheck.common.escaping import heading
from soundcheck.common.manifest import MANIFEST
from soundcheck.common.media import MediaStore
from soundcheck.report import figures as drawn
from soundcheck.report import key_figures, sentences, tables
from soundcheck.report.bars import legend
from soundcheck.report.html import Html, element, join
from soundcheck.results.page_names import model_sheet, result_page
from soundcheck.results.record import PROVENANCE, ModelRecord, RunRecord, SoundsRecord
from soundcheck.results.standing import HOLLOW, standings
from soundcheck.results.states import NOT_EVALUATED
from soundcheck.results.summary import headline, tally

LISTED = 200  # items that a page lists before it only counts


def value_cells(own: pd.DataFrame, blocks: Mapping[str, str], media: MediaStore) -> list[dict]:
    """Make the figure of the values of one model: it takes longer than all else on the model's page."""
    if not own["value"].notna().any():
        return []
    figure, alt = drawn.intervals(own), "Values with 95 % intervals and thresholds"
    return [
        pages.markdown("## Values and their intervals\n\nAt most 60 tests, failed ones first."),
        pages.output(drawn.show(media, figure, alt, finding=sentences.values(own, blocks))),
    ]


def model_cells(
    model: ModelRecord, record: RunRecord, own: pd.DataFrame, values: Sequence[dict]
) -> list[dict]:
    """Make the page of a model: what it is, what it passed, where it gave no answer.

    Parameters
    ----------
    model, record
        The model, and the run.
    own
        Its rows of the results.
    values
        From :func:`value_cells`.
    """
    facts = [
        ("name", model.name),
        ("kind", model.kind),
        ("source", model.target),
        ("tasks", ", ".join(model.tasks)),
        ("description", model.description or "–"),
        ("license", model.license or "–"),
        ("fingerprint", f"{model.fingerprint[:16]} of {model.fingerprint_of}"),
        ("inputs", f"{model.inputs}, without an answer {model.failed + model.unusable}"),
    ]
    if given := model.given(today()):
        facts.append(("answers", given))
    if model.confirmed_different:
        facts.append(
            ("kept answers asked again", f"{model.confirmed_different} of {model.confirmed} were others now")
        )
    if model.repeated:
        facts.append(("asked twice", f"{model.repeated_different} of {model.repeated} answers differed"))
    standing = standings(own, record.figures if model.kind != "random" else None)
    families = []
    for family in record.families:
        rows = own[own["family"] == family.name]
        if len(rows):
            page = f"../results/{model.slug}/{files.slug(family.name)}.html"
            name = element("a", family.title, href=page)
            bars = family_bars(rows, standing[rows.index])
            families.append([name, family.question, bars, tally(rows)[NOT_EVALUATED]])
    cells = [
        pages.markdown(f"# Model {heading(model.name)}"),
        *([sheets.link(model_sheet(model.slug))] if sheets.has_sheet(model) else []),
        *_how_good(model, record, own, standing),
        pages.markdown("## Results by family"),
        pages.output(legend()),
        pages.output(tables.table(families, ["family", "question", "tests", "not evaluated"])),
        pages.markdown("## About the model"),
        pages.output(definitions(facts)),
        pages.output(tables.notes(model.notes)),
    ]
    cells += values
    if model.failures:
        cells.append(pages.markdown("## Inputs without an answer"))
        rows = [
            [entry.corpus, entry.item, entry.change or "–", entry.reason] for entry in model.failures[:LISTED]
        ]
        shown = tables.table(rows, ["corpus", "segment", "change", "reason"])
        cells.append(pages.output(join([shown, more_items(len(model.failures))])))
    return cells


def _how_good(
    model: ModelRecord, record: RunRecord, own: pd.DataFrame, standing: pd.Series
) -> Iterator[dict]:
    """Make the top of a model's page: its numbers, whether it beats chance, and the states of its tests."""
    caveats = record.caveats_of({model.name}, set(own["corpus"]), model.tasks)
    if caveats:
        yield pages.output(tables.caveats_notice(caveats))
    figures = figures_of(record, model.name)
    if figures:
        yield pages.output(key_figures.figure_table(figures))
    notes = key_figures.standing_notes(record.figures, model.name, model.tasks)
    if notes and model.kind != "random":
        yield pages.markdown(
            "Robustness and fairness at tasks at which the model is no better than chance are shown in grey "
            "and not counted: see [about this book](../about.md)."
        )
        yield pages.output(tables.notes(notes))
    kept = own[standing.ne(HOLLOW)]
    said = element("strong", f"{headline(kept)}.", limit=None)
    yield pages.output(element("p", said, f" {tally(kept)}.", limit=None))
    if few := findings.of_few_speakers(record, kept, _page_of, "../"):
        yield pages.markdown(f"## {findings.FEW}")
        yield pages.output(few)


def _page_of(model: str, family: str) -> str:
    return f"../{result_page(model, family)}"


def failures_cells(record: RunRecord) -> list[dict]:
    """Make the page of notebooks that failed; their tests are skipped rows of the results."""
    rows = []
    for entry in record.failed:
        where = element("a", entry.display_name, href=f"{page_of(entry)}.html")
        rows.append([where, entry.status, "".join(entry.error.splitlines()[:1])])
    words = "# Failed notebooks\n\nTheir tests are not evaluated. Each page shows how far its notebook came."
    return [pages.markdown(words), pages.output(tables.table(rows, ["notebook", "how", "error"]))]


def provenance_cells(record: RunRecord) -> list[dict]:
    """Make the page that says with what the book was made."""
    versions = [[name, version] for name, version in record.versions.items()]
    facts = [
        ("run", record.run),
        ("seed", str(record.seed)),
        ("replicates", str(record.replicates)),
        ("interval", record.interval),
        ("voices", record.voices),
        ("digest of results.csv", record.results),
        ("digest of the suite", record.suite["digest"]),
    ]
    families = [[family.name, family.title, family.digest[:16]] for family in record.families]
    return [
        pages.markdown(
            "# Provenance\n\nWith what this book was made. The same suite on the same data gives the same "
            "results."
        ),
        pages.output(definitions(facts)),
        pages.output(_listed_files()),
        pages.markdown("## Versions"),
        pages.output(tables.table(versions, ["package", "version"], sortable=False)),
        *_sounds(record.sounds),
        pages.markdown("## Threshold files"),
        pages.output(tables.table(families, ["family", "title", "digest"], sortable=False)),
    ]


def _listed_files() -> Html:
    """Say how a reader makes sure that the book is as it was built; its own digest cannot stand in it."""
    listed, made_of = (element("a", name, href=name) for name in (MANIFEST, PROVENANCE))
    command = element("code", f"sha256sum -c {MANIFEST}")
    what = ("All files of this book, with the SHA-256 digest of each: ", listed, ". In its folder, ")
    how = (command, " or soundcheck verify finds what was changed since.")
    return element("p", *what, *how, " What the book was made of, for programs: ", made_of, ".")


def _sounds(groups: Sequence[SoundsRecord]) -> list[dict]:
    if not groups:
        return []
    rows = [[g.kind, g.sounds, g.seconds, g.source, g.digest[:16]] for g in groups]
    columns = ["kind", "sounds", "seconds", "source", "digest"]
    words = "## Sounds\n\nNoises and impulse responses that signals were changed with."
    return [pages.markdown(words), pages.output(tables.table(rows, columns, sortable=False))]


def definitions(facts: list[tuple[str, str]]) -> Html:
    """List facts with their names."""
    parts = [
        part for name, value in facts for part in (element("dt", name), element("dd", value, limit=1000))
    ]
    return element("dl", *parts, class_="sc-facts")


def more_items(count: int) -> Html:
    """Say how many items a list of :data:`LISTED` does not show."""
    return (
        element("p", f"… and {count - LISTED} more; left_out.csv lists all.") if count > LISTED else Html("")
    )
