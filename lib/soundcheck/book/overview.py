"""The first page: what the models can, where to look first, what is missing."""

from __future__ import annotations

import pandas as pd

from soundcheck.book import pages
from soundcheck.common import files
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join
from soundcheck.results import informative, summary
from soundcheck.results.record import ComparisonRecord, NotebookRecord, RunRecord, StudyRecord
from soundcheck.statistics.bootstrap import FEW_BLOCKS

WORRIES, WORRIES_EACH = 20, 3
MOST_COLUMNS = 6  # models beside each other
MOST_LINKS = 50  # models that a method page links to


def result_page(model: str, family: str) -> str:
    """Name the page of a model and family."""
    return f"results/{files.slug(model)}/{files.slug(family)}"


def page_of(notebook: NotebookRecord | ComparisonRecord | StudyRecord) -> str:
    """Name the page of an executed notebook."""
    if isinstance(notebook, NotebookRecord):
        return result_page(notebook.model, notebook.family)
    return f"comparisons/{notebook.slug}" if isinstance(notebook, ComparisonRecord) else notebook.name


def link(text: str | Html, page: str) -> Html:
    """Link to a page from a page in the top folder."""
    return element("a", text, href=f"{page}.html")


def cells(welcome: str, record: RunRecord, results: pd.DataFrame) -> list[dict]:
    """Make the first page.

    Parameters
    ----------
    welcome
        The written text of the page, our own words.
    record
        The run's record.
    results
        The results table.
    """
    synthetic = any(corpus.synthetic for corpus in record.corpora)
    return [
        pages.markdown(welcome),
        pages.output(
            join([element("p", element("strong", record.title)), tables.synthetic_notice(synthetic)])
        ),
        pages.markdown(
            "## Overview\n\nTests passed, by model and family; below, the same among the *informative* "
            "tests, those that the random reference model fails. [How to read a verdict](reading.md) says "
            "more."
        ),
        pages.output(matrix(record, results)),
        pages.markdown(
            "## Ranking\n\nThe pooled share counts every test once, so families with many tests lead it; the "
            "averaged share gives every family the same weight. Models are in the order of the last column."
        ),
        pages.output(ranking(record, results)),
        *comparisons(record),
        pages.markdown(
            "## What to worry about first\n\nFailed tests: the surest verdicts first, among them those that "
            f"miss their threshold by most, and of each model and family at most {WORRIES_EACH}. Verdicts on "
            "few blocks (†) come last, because their certainty is too high. A test that guessing passes and "
            "a model fails counts, too: that is how unfairness shows."
        ),
        pages.output(surest_failures(record, results)),
        pages.markdown("## What is missing"),
        pages.output(missing(record, results)),
    ]


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


def matrix(record: RunRecord, results: pd.DataFrame) -> Html:
    """Show families against models, whatever there is more of down the page."""
    families, models = record.families, record.models
    failed = {(entry.model, entry.family): entry.failed for entry in record.notebooks}
    names = {model.name: link(model.name, f"models/{model.slug}") for model in models}
    groups = {key: rows for key, rows in results.groupby(["model", "family"], sort=False)}

    def cell(model: str, family: str) -> object:
        if (model, family) not in failed:
            return "–"
        if failed[model, family]:
            return link("✗ failed to run", result_page(model, family))
        own = groups.get((model, family), results.iloc[:0])
        shown = link(tables.proportion_bar(own), result_page(model, family))
        inner = tables.proportion_bar(own[informative(own)])
        return element("div", shown, element("small", "informative:"), inner, class_="sc-pair")

    if len(models) > max(MOST_COLUMNS, len(families)):
        rows = [[names[m], *(cell(m, family.name) for family in families)] for m in names]
        return tables.table(rows, ["model", *(family.title for family in families)], sortable=False)
    rows = [
        [
            link(family.title, f"methods/{files.slug(family.name)}"),
            *(cell(m, family.name) for m in names),
        ]
        for family in families
    ]
    return tables.table(rows, ["family", *names.values()], sortable=False)


def tested(record: RunRecord, family: str) -> Html:
    """Link from a method page to the results of its family."""
    models = [entry.model for entry in record.notebooks if entry.family == family][:MOST_LINKS]
    if not models:
        return element("p", "No model of this book was tested with this family.")
    links = [element("a", name, href=f"../{result_page(name, family)}.html") for name in models]
    parts = [part for one in links for part in (one, Html(", "))][:-1]
    return element("p", element("strong", "Results: "), *parts)


def ranking(record: RunRecord, results: pd.DataFrame) -> Html:
    """Rank the models by the averaged share of informative tests."""
    entries = []
    for model in record.models:
        total = summary(results[results["model"] == model.name])
        name = link(model.name, f"models/{model.slug}")
        if model.kind == "random":
            name = name + element("small", " (random reference)")
        shares = [
            total.all.share,
            total.all.family_share,
            total.informative.share,
            total.informative.family_share,
        ]
        counts = tables.Cell(
            f"{total.all.passed} / {total.all.failed} / {total.all.skipped}", total.all.passed, "sc-rule"
        )
        order = [-1.0 if share is None else share for share in (shares[3], shares[1])]
        entries.append((order, [name, counts, *map(_percent_cell, shares)]))
    entries.sort(key=lambda entry: entry[0], reverse=True)
    columns = ["model", "passed / failed / skipped", "pooled", "averaged over families"]
    columns += ["pooled, informative", "averaged, informative"]
    return tables.table([row for _, row in entries], columns)


def percent(share: float | None) -> str:
    """Write a share in percent; a dash if there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def _percent_cell(share: float | None) -> tables.Cell:
    return tables.Cell(percent(share), share, "sc-number")


def surest_failures(record: RunRecord, results: pd.DataFrame) -> Html:
    """Name the surest failures of models that are not random."""
    random = [model.name for model in record.models if model.kind == "random"]
    failed = results[results["passed"].eq(False) & ~results["model"].isin(random)]
    miss = (failed["value"].abs() - failed["threshold"].abs()).abs() / (failed["high"] - failed["low"])
    failed = failed.assign(few=failed["blocks"] < FEW_BLOCKS, miss=miss.replace(float("inf"), 1e9))
    order = {"few": True, "certainty": False, "miss": False, "model": True, "family": True, "test": True}
    failed = failed.sort_values(list(order), ascending=list(order.values()), kind="stable")
    if failed.empty:
        return element("p", "No test failed.")
    rows = []
    first = failed.groupby(["model", "family"], sort=False).head(WORRIES_EACH)
    for row in first.head(WORRIES).itertuples():
        name = tables.row_name(row, row.task)
        sure = "" if pd.isna(row.certainty) else f"{100 * row.certainty:.0f} %"
        cells = [
            row.model,
            tables.Cell(link(name, result_page(row.model, row.family)), name, "sc-wide"),
            row.corpus,
            tables.Cell(tables.number(row.value, threshold=row.threshold), row.value, "sc-number"),
            tables.Cell(tables.interval(row), None, "sc-rule"),
            tables.Cell(tables.rule(row), row.threshold, "sc-rule"),
            tables.Cell(sure, None if pd.isna(row.certainty) else row.certainty, "sc-number"),
        ]
        rows.append(cells)
    more = len(failed) - len(rows)
    columns = ["model", "test", "corpus", "value", "95 % interval", "threshold", "certainty"]
    shown = tables.table(rows, columns)
    rest = element("p", f"{more} more failed: see ", link("all results", "all_results")) if more else Html("")
    return join([shown, rest])


def missing(record: RunRecord, results: pd.DataFrame) -> Html:
    """Count what was left out, failed or skipped, with the way to the details."""
    items = []
    for corpus in record.corpora:
        shown = link(corpus.name, f"corpora/{corpus.slug}")
        count = len(corpus.unused)
        if count:
            items.append(element("li", f"{count} items of the corpus left out: ", shown))
        items += [element("li", shown, f": {told}") for told in corpus.unlabelled]
    for model in record.models:
        count = model.failed + model.unusable
        if count:
            text = f"{count} of {model.inputs} inputs without an answer: "
            items.append(element("li", text, link(model.name, f"models/{model.slug}")))
        if model.answers_of:
            text = f"not asked in the last run, with answers of {model.answers_of}: "
            items.append(element("li", text, link(model.name, f"models/{model.slug}")))
    items += [
        element("li", "notebook failed: ", link(entry.display_name, page_of(entry)))
        for entry in record.failed
    ]
    skipped = int(results["passed"].isna().sum())
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
