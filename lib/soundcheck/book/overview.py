"""The first page: what holds, how good the models are, what is open and what is missing."""

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
from soundcheck.results import states
from soundcheck.results.page_names import comparison_page, corpus_page, model_page, result_page
from soundcheck.results.record import ComparisonRecord, NotebookRecord, RunRecord, StudyRecord
from soundcheck.results.standing import HOLLOW, standings
from soundcheck.results.verdict import HOLDS, OPEN_FAIL, OPEN_PASS, SHOWN

TOLD = [  # columns that the tables of models and families rest on
    *(
        "model",
        "family",
        "category",
        "task",
        "group",
        "passed",
        "holds",
        "evidence",
        "reference_passed",
        "skipped",
    )
]
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
    """Make the first page: what holds, what to worry about, how good the models are, and what is open.

    Parameters
    ----------
    record
        The run's record.
    results
        The results table.
    """
    synthetic = any(corpus.synthetic for corpus in record.corpora)
    standing = standings(results, record.figures)
    counts = failures.counted_in(record, results) & standing.ne(HOLLOW)
    found = states(results)
    holding = results[counts & found.eq(HOLDS)]
    undecided = results[counts & found.isin([OPEN_PASS, OPEN_FAIL])]
    made, told = (
        kinds(record),
        results[TOLD],
    )  # of all columns, every part of the table takes longer to cut out
    return [
        pages.markdown(f"# {heading(record.title, 'Soundcheck')}"),
        pages.output(
            join(
                [
                    tables.caveats_notice(record.caveats),
                    conclusions(record, results[counts], found[counts]),
                    tables.synthetic_notice(synthetic),
                ]
            )
        ),
        pages.markdown("## What to worry about first"),
        pages.output(findings.worries(record, holding, result_page)),
        pages.markdown("## How good the models are\n\n" + SCORES),
        pages.output(legend()),
        *_kind_cells(made, lambda kind: model_table(record, told, standing, kind)),
        pages.markdown("## Tests by family"),
        *_kind_cells(made, lambda kind: family_table(record, told, standing, kind, result_page)),
        pages.markdown("## What could not be concluded\n\n" + OPEN),
        pages.output(findings.open_table(record, undecided, result_page)),
        *comparisons(record),
        pages.markdown("## What is missing"),
        pages.output(missing(record, results)),
    ]


SCORES = (
    "The number that says how good a model is at its task, with its 95 % t interval; then the share of clear "
    "passes among the clear tests that tell something, averaged over families. Models that are most often "
    "correct stand first."
)
OPEN = (
    "An open test is no pass: what its interval still allows may hide. Intervals shrink with the square root "
    "of the number of speakers; the last column plans with that, and with values that stay as they are."
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
    """Count what was left out, failed or skipped, with the way to the details."""
    items = []
    for corpus in record.corpora:
        shown = link(corpus.name, corpus_page(corpus.slug))
        count = len(corpus.unused)
        if count:
            items.append(element("li", f"{count} items of the corpus left out: ", shown))
        items += [element("li", shown, f": {told}") for told in corpus.unlabelled]
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
    shown = int(states(results).eq(SHOWN).sum())
    if shown:
        told = f"{shown} values shown without verdict, because no threshold is set for their task: "
        items.append(element("li", told, link("all results", "all_results")))
    skipped = int(results["passed"].isna().sum()) - shown
    if skipped:
        items.append(
            element(
                "li", f"{skipped} tests skipped, with their reasons in ", link("all results", "all_results")
            )
        )
    return (
        element("ul", *items)
        if items
        else element("p", "Nothing was left out, nothing failed, nothing was skipped.")
    )
