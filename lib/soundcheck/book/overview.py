"""The first page: what the models can, where to look first, what is missing."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from soundcheck import files, verdicts
from soundcheck.book import pages
from soundcheck.report import tables
from soundcheck.report.html import Html, element, join

WORRIES = 12  # failed tests that the first page names


def result_page(model: str, family: str) -> str:
    """Name the page of a model and family."""
    return f"results/{files.slug(model)}/{files.slug(family)}"


def link(text: str, page: str) -> Html:
    """Link to a page from the first page."""
    return element("a", text, href=f"{page}.html")


def cells(welcome: str, record: Mapping, results: pd.DataFrame) -> list[dict]:
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
    synthetic = any(corpus["synthetic"] for corpus in record["corpora"])
    return [
        pages.markdown(welcome),
        pages.output(
            join([element("p", element("strong", record["title"])), tables.synthetic_notice(synthetic)])
        ),
        pages.markdown(
            "## Overview\n\nShare of tests passed, by model and family; below it the share among "
            "*informative* tests, those that the random reference model fails."
        ),
        pages.output(matrix(record, results)),
        pages.markdown(
            "## Ranking\n\nThe pooled share counts every test once, so families with many tests lead it; the "
            "averaged share gives every family the same weight."
        ),
        pages.output(ranking(record, results)),
        pages.markdown(
            "## What to worry about first\n\nFailed informative tests, the surest verdicts first."
        ),
        pages.output(worries(record, results)),
        pages.markdown("## What is missing"),
        pages.output(missing(record, results)),
    ]


def matrix(record: Mapping, results: pd.DataFrame) -> Html:
    """Show models against families."""
    families = record["families"]
    status = {(entry["model"], entry["family"]): entry["status"] for entry in record["notebooks"]}
    rows = []
    for model in record["models"]:
        cells: list[object] = [link(model["name"], f"models/{model['slug']}")]
        for family in families:
            key = (model["name"], family["name"])
            if key not in status:
                cells.append("–")
                continue
            own = results[(results["model"] == key[0]) & (results["family"] == key[1])]
            text = tables.share(own) if status[key] == "ok" else "failed to run"
            inner = tables.share(own[verdicts.informative(own)]) if status[key] == "ok" else ""
            small = element("small", f"informative: {inner}") if inner else Html("")
            cells.append(join([link(text, result_page(*key)), element("br"), small]))
        rows.append(cells)
    return tables.table(rows, ["model", *(family["title"] for family in families)], sortable=False)


def ranking(record: Mapping, results: pd.DataFrame) -> Html:
    """Rank the models by the averaged share of informative tests."""
    entries = []
    for model in record["models"]:
        total = verdicts.summary(results[results["model"] == model["name"]])
        name = link(model["name"], f"models/{model['slug']}")
        if model["kind"] == "random":
            name = name + element("small", " (random reference)")
        shares = [
            total.all.share,
            total.all.family_share,
            total.informative.share,
            total.informative.family_share,
        ]
        counts = f"{total.all.passed} / {total.all.failed} / {total.all.skipped}"
        order = [-1.0 if share is None else share for share in (shares[3], shares[1])]
        entries.append((order, [name, counts, *(percent(share) for share in shares)]))
    entries.sort(key=lambda entry: entry[0], reverse=True)
    columns = ["model", "passed / failed / skipped", "pooled", "averaged over families"]
    columns += ["pooled, informative", "averaged, informative"]
    return tables.table([row for _, row in entries], columns)


def percent(share: float | None) -> str:
    """Write a share in percent; a dash if there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def worries(record: Mapping, results: pd.DataFrame) -> Html:
    """Name the surest failures of models that are not random."""
    random = [model["name"] for model in record["models"] if model["kind"] == "random"]
    failed = results[
        results["passed"].eq(False) & verdicts.informative(results) & ~results["model"].isin(random)
    ]
    failed = failed.sort_values(["certainty", "model", "family", "test"], ascending=[False, True, True, True])
    if failed.empty:
        return element("p", "No informative test failed.")
    rows = []
    for row in failed.head(WORRIES).itertuples():
        name = " · ".join(part for part in (row.task, row.test, row.label) if part)
        value = f"{row.value:.3f}" + (f" ({tables.interval(row)})" if tables.interval(row) else "")
        sure = "" if pd.isna(row.certainty) else f"{100 * row.certainty:.0f} %"
        cells = [
            row.model,
            link(name, result_page(row.model, row.family)),
            row.corpus,
            value,
            tables.rule(row),
            sure,
        ]
        rows.append(cells)
    more = len(failed) - len(rows)
    columns = ["model", "test", "corpus", "value (95 % interval)", "threshold", "certainty"]
    shown = tables.table(rows, columns)
    rest = element("p", f"{more} more failed: see ", link("all results", "all_results")) if more else Html("")
    return join([shown, rest])


def missing(record: Mapping, results: pd.DataFrame) -> Html:
    """Count what was left out, failed or skipped, with the way to the details."""
    items = []
    for corpus in record["corpora"]:
        count = len(corpus["left_out"])
        if count:
            text = f"{count} items of the corpus left out: "
            items.append(element("li", text, link(corpus["name"], f"corpora/{corpus['slug']}")))
    for model in record["models"]:
        if model["failed"] or model["unusable"]:
            count = model["failed"] + model["unusable"]
            text = f"{count} of {model['inputs']} inputs without an answer: "
            items.append(element("li", text, link(model["name"], f"models/{model['slug']}")))
    for entry in record["notebooks"]:
        if entry["status"] != "ok":
            page = result_page(entry["model"], entry["family"])
            items.append(
                element("li", "notebook failed: ", link(f"{entry['family']} of {entry['model']}", page))
            )
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
