"""The first page: what fails, how good the models are, what could not be concluded and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from soundcheck.book import findings, pages
from soundcheck.book.conclusions import conclusions
from soundcheck.book.model_tables import Kind, family_table, kinds, model_table
from soundcheck.common.escaping import heading
from soundcheck.report import failures, tables
from soundcheck.report.bars import legend
from soundcheck.report.html import Html, element, join
from soundcheck.results.page_names import comparison_page, corpus_page, model_page, result_page
from soundcheck.results.record import ComparisonRecord, NotebookRecord, RunRecord, StudyRecord
from soundcheck.results.standing import HOLLOW, standings
from soundcheck.results.states import NOT_EVALUATED, REPORTED
from soundcheck.results.summary import tally

NEEDED = "model family category task group state mirrors skipped".split()  # of tables of models and families
MOST_LINKS = 50  # models that a method page links to


def page_of(notebook: NotebookRecord | ComparisonRecord | StudyRecord) -> str:
    """Name the page of an executed notebook."""
    if isinstance(notebook, NotebookRecord):
        return result_page(notebook.model, notebook.family)
    return comparison_page(notebook.slug) if isinstance(notebook, ComparisonRecord) else notebook.name


def link(text: str | Html, page: str) -> Html:
    """Link to a page from a page in the top folder."""
    return element("a", text, href=f"{page}.html")


def cells(record: RunRecord, results: pd.DataFrame) -> list[dict]:
    """Make the first page: what fails, how good the models are, and what could not be concluded.

    Parameters
    ----------
    record
        The run's record.
    results
        The results table.
    """
    synthetic = any(corpus.synthetic for corpus in record.corpora)
    standing = standings(results, record.figures)
    rows = results[failures.counted_in(record, results) & standing.ne(HOLLOW)]
    made, narrow = kinds(record), results[NEEDED]  # every part of a wide table takes longer to cut out
    few = findings.of_few_speakers(record, rows, result_page)
    return [
        pages.markdown(f"# {heading(record.title, 'Soundcheck')}"),
        pages.output(
            join(
                [
                    tables.caveats_notice(record.caveats),
                    conclusions(record, rows),
                    tables.synthetic_notice(synthetic),
                ]
            )
        ),
        pages.markdown("## What fails"),
        pages.output(findings.failed(record, rows, result_page)),
        *([pages.markdown(f"## {findings.FEW}\n\n{FEW}"), pages.output(few)] if few else []),
        pages.markdown("## How good the models are\n\n" + SCORES),
        pages.output(legend()),
        *_kind_cells(made, lambda kind: model_table(record, narrow, standing, kind)),
        pages.markdown("## Tests by family"),
        *_kind_cells(made, lambda kind: family_table(record, narrow, standing, kind, result_page)),
        pages.markdown("## What could not be concluded\n\n" + INCONCLUSIVE),
        pages.output(findings.inconclusive_table(record, rows, result_page)),
        *comparisons(record),
        pages.markdown("## What is missing"),
        pages.output(missing(record, results)),
    ]


SCORES = (
    "The number that says how good a model is at its task, with its 95 % interval; then its tests by "
    "state. Models that pass more tests of correctness than they fail stand first."
)
FEW = (
    "These differences describe the speakers of the test set. Nothing shows that they are true of other "
    "speakers of the group, so they count as no failure."
)
INCONCLUSIVE = (
    "An inconclusive test is no pass: what its interval contains is not excluded. Intervals shrink with the "
    "square root of the number of speakers; the last column plans with that, and with values that stay as "
    "they are."
)


def _kind_cells(made: Sequence[Kind], show: Callable[[Kind], Html]) -> list[dict]:
    """Make the cells of each kind of model, under its title if there are several."""
    cells = []
    for kind in made:
        if len(made) > 1:
            cells.append(pages.markdown(f"### {kind.title}"))
        cells.append(pages.output(show(kind)))
    return cells


def comparisons(record: RunRecord) -> list[dict]:
    """Show what each comparison found."""
    rows = []
    for entry in record.comparisons:
        counts = ["✗ failed to run", "", ""] if entry.failed else entry.outcomes.values()
        rows.append([link(entry.name, page_of(entry)), entry.candidate, entry.baseline, *counts])
    if not rows:
        return []
    columns = ["comparison", "candidate", "baseline", "▲ better", "▼ worse", "· no evidence"]
    words = (
        "## Comparisons\n\nTests on which the candidate is better or worse than the baseline, by paired "
        "t-tests at a false discovery rate of 5 % over all tests of the comparison."
    )
    return [pages.markdown(words), pages.output(tables.table(rows, columns))]


def tested(record: RunRecord, family: str) -> Html:
    """Link from a method page to the results of its family."""
    models = [entry.model for entry in record.notebooks if entry.family == family][:MOST_LINKS]
    if not models:
        return element("p", "No model of this book was tested with this family.")
    links = [element("a", name, href=f"../{result_page(name, family)}.html") for name in models]
    parts = [part for one in links for part in (one, Html(", "))][:-1]
    return element("p", element("strong", "Results: "), *parts)


def missing(record: RunRecord, results: pd.DataFrame) -> Html:
    """Count what was left out, failed or not evaluated, with the way to the details."""
    items = []
    for corpus in record.corpora:
        shown = link(corpus.name, corpus_page(corpus.slug))
        count = len(corpus.unused)
        if count:
            items.append(element("li", f"{count} items of the corpus left out: ", shown))
        items += [element("li", shown, f": {note}") for note in corpus.unlabelled]
    for model in record.models:
        count = model.failed + model.unusable
        if count:
            text = f"{count} of {model.inputs} inputs without an answer: "
            items.append(element("li", text, link(model.name, model_page(model.slug))))
        if model.answers_of:
            text = f"not asked in the last run, with answers of {model.answers_of}: "
            items.append(element("li", text, link(model.name, model_page(model.slug))))
    items += [
        element("li", "notebook failed: ", link(entry.display_name, page_of(entry)))
        for entry in record.failed
    ]
    every, found = link("all results", "all_results"), tally(results)
    if found[REPORTED]:
        why = "values reported without threshold: "
        items.append(element("li", f"{found[REPORTED]:,} {why}", every))
    if found[NOT_EVALUATED]:
        items.append(element("li", f"{found[NOT_EVALUATED]:,} tests not evaluated, with reasons in ", every))
    complete = element("p", "Nothing was left out, nothing failed, everything was evaluated.")
    return element("ul", *items) if items else complete
