"""The one-page summaries in the book: one for each comparison and each model but random references."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pandas as pd

from soundcheck.book import pages
from soundcheck.common.day import today
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet.content import Sheet, comparison_sheet, model_sheet
from soundcheck.publish.sheet.tables import since
from soundcheck.publish.sheet.writing import page
from soundcheck.report.html import element
from soundcheck.results import page_names
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.record import ModelRecord, RunRecord
from soundcheck.run.output import Output


def has_sheet(model: ModelRecord) -> bool:
    """Say whether there is such a page: not about random references."""
    return model.kind != "random"


def link(name: str) -> dict:
    """Make the cell that leads from the page of a model or a comparison to its summary."""
    address = element("a", "One-page summary", href=f"../{name}.html")
    return pages.output(element("p", address, ": answers, figures and sounds in one file, to print or send."))


def write(sources: pages.Sources, output: Output, record: RunRecord, results: pd.DataFrame) -> None:
    """Have all summaries of a book written with the pages that Jupyter Book does not read."""
    run = FinishedRun(output.display_name, output.results, results, record)
    facts_of = functools.cache(functools.partial(ModelFacts, run))

    def of_model(name: str) -> Sheet:
        facts = facts_of(name)
        return model_sheet(facts, since(facts), today())

    def of_comparison(entry: object) -> Sheet:
        return comparison_sheet(facts_of(entry.candidate), entry, run.contrasts(entry), today())

    for model in filter(has_sheet, record.models):
        _register(sources, page_names.model_sheet(model.slug), functools.partial(of_model, model.name))
    for entry in record.comparisons:
        _register(sources, page_names.comparison_sheet(entry.slug), functools.partial(of_comparison, entry))


def _register(sources: pages.Sources, name: str, make: Callable[[], Sheet]) -> None:
    def written() -> str:
        made = make()
        return page(made, "../" * name.count("/") + made.page, pages.footer())

    sources.data(f"{name}.html", written)
