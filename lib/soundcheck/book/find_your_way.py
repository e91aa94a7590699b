"""The page *Find your way*: what a reader wants to know, and where in this book it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from soundcheck.book import history_page, pages, sheets
from soundcheck.book.findings import place_of
from soundcheck.common import files
from soundcheck.report import failures, tables
from soundcheck.report.html import Html, element, join
from soundcheck.results.page_names import (
    comparison_page,
    comparison_sheet,
    corpus_page,
    model_page,
    model_sheet,
    result_page,
)
from soundcheck.results.record import PROVENANCE, RunRecord
from soundcheck.results.standing import HOLLOW, standings
from soundcheck.results.states import FAIL, counted

NAME = "find_your_way"
MOST_LINKS = 8  # of a line
SEARCH = (
    "The search (Ctrl + K) finds families, models, corpora, groups such as an accent, and the segments that "
    "pages show."
)
Link = tuple[str, str]  # its text, and the address


def cells(record: RunRecord, results: pd.DataFrame, beside: Iterable[str] = ()) -> list[dict]:
    """Make the page.

    Parameters
    ----------
    record
        The run's record.
    results
        The finished results table.
    beside
        Further pages of the book that a run may or may not have.
    """
    rows = [[asked, _links(links)] for asked, links in _lines(record, results, set(beside)) if links]
    shown = tables.table(rows, ["you want to know", "go to"], sortable=False, stacked=True)
    return [
        pages.markdown("# Find your way"),
        pages.output(shown),
        pages.output(element("p", SEARCH, class_="sc-note")),
    ]


def _lines(record: RunRecord, results: pd.DataFrame, beside: set[str]) -> Iterator[tuple[str, list[Link]]]:
    """List questions with the links that answer them."""
    models = [(model.name, f"{model_page(model.slug)}.html") for model in record.models]
    tested = [model for model in record.models if sheets.has_sheet(model)]
    failed = counted(results[failures.counted_in(record, results) & results["state"].eq(FAIL)])
    failed = failed[standings(failed, record.figures).ne(HOLLOW)] if len(failed) else failed
    worst = failures.by_excess(failed)
    yield "in ten seconds: what fails, what could not be concluded", [("first page", "index.html")]
    yield "how good a model is", models
    of_groups = worst[worst["group"].ne("")].drop_duplicates(["model", "group"])
    yield (
        "for which groups a model is worse, the largest difference first",
        [(f"{row.model}: {row.group}", place_of(row, result_page)) for row in of_groups.itertuples()],
    )
    yield "which family of tests fails most", _families(record, failed)
    yield (
        "all tests of a group, a family or a state",
        [("all results, with filters", "all_results.html"), ("as a file", "results.csv")],
    )
    compared = [(entry.name, f"{comparison_page(entry.slug)}.html") for entry in record.comparisons]
    yield "whether one model is better than another", compared
    yield (
        "what changed from run to run",
        [("over time", f"{history_page.NAME}.html")] * (history_page.NAME in beside),
    )
    # Always there, so that books do not depend on it; the page says how to measure, and where to look.
    yield "how quick and how large models are", [("what answers cost", "models.html#what-answers-cost")]
    corpora = [(corpus.name, f"{corpus_page(corpus.slug)}.html") for corpus in record.corpora]
    yield "who speaks, and what was measured on the sounds", corpora
    yield "how it sounds", _sounds(record)
    yield (
        "what could not be concluded, was left out or not evaluated",
        [
            ("what could not be concluded", "index.html#what-could-not-be-concluded"),
            ("what is missing", "index.html#what-is-missing"),
            ("left_out.csv", "left_out.csv"),
        ],
    )
    meetings = [(model.name, f"{model_sheet(model.slug)}.html") for model in tested]
    meetings += [(entry.name, f"{comparison_sheet(entry.slug)}.html") for entry in record.comparisons]
    yield "one page for a meeting, to print or to send", meetings
    yield (
        "what a word or a sign means",
        [
            ("how to read a verdict", "reading.html"),
            ("columns", "columns.html"),
            ("about this book", "about.html"),
        ],
    )
    methods = [(family.title, f"methods/{files.slug(family.name)}.html") for family in record.families]
    yield (
        "how something is computed",
        [("statistics", "statistics.html"), ("measures", "measures.html"), *methods],
    )
    yield (
        "with what it was made, and whether it is unchanged",
        [("provenance", "provenance.html"), ("verify", "verify.html"), (PROVENANCE, PROVENANCE)],
    )
    yield (
        "how to make a book of your own",
        [("a suite", "suite.html"), ("models", "models.html"), ("data", "data.html")],
    )


def _families(record: RunRecord, failed: pd.DataFrame) -> list[Link]:
    """Name where most tests fail, by model and family."""
    titles = {family.name: family.title for family in record.families}
    found = failed.groupby(["model", "family"], sort=True).size().sort_values(ascending=False, kind="stable")
    return [
        (f"{model}: {titles.get(family, family)} ({count} fail)", f"{result_page(model, family)}.html")
        for (model, family), count in found.items()
    ]


def _sounds(record: RunRecord) -> list[Link]:
    """Name pages with players: of robustness what was changed, of corpora some segments."""
    robust = {family.name: family.title for family in record.families if family.category == "robustness"}
    heard = [
        (f"{entry.model}: {robust[entry.family]}", f"{result_page(entry.model, entry.family)}.html")
        for entry in record.notebooks
        if entry.family in robust and not entry.failed
    ]
    corpora = [
        (f"corpus {corpus.name}", f"{corpus_page(corpus.slug)}.html#listen")
        for corpus in record.corpora
        if corpus.seconds
    ]
    return [*corpora[: MOST_LINKS // 2], *heard]


def _links(links: Sequence[Link]) -> Html:
    """Write links one after the other, and how many more there are."""
    shown = [element("a", text, href=address) for text, address in links[:MOST_LINKS]]
    parts = [part for one in shown for part in (one, Html(" · "))][:-1]
    left = len(links) - len(shown)
    return join([*parts, element("span", f" … and {left} more") if left else Html()])
