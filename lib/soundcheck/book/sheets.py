"""The pages for a meeting in the book: one for each comparison and each model but random references."""

from __future__ import annotations

import datetime
import functools

import pandas as pd

from soundcheck.book import pages
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet.content import Sheet, comparison_sheet, model_sheet
from soundcheck.publish.sheet.earlier import against
from soundcheck.publish.sheet.page import page
from soundcheck.report.html import element
from soundcheck.results import page_names
from soundcheck.results.compared import read_comparison
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.record import ModelRecord, RunRecord
from soundcheck.run.output import Output

__all__ = ["has_sheet", "link", "write"]

_RANDOM = "random"


def has_sheet(model: ModelRecord) -> bool:
    """Say whether there is such a page: random references are no subject of a meeting."""
    return model.kind != _RANDOM


def link(name: str) -> dict:
    """Make the cell that leads from the page of a model or a comparison to its sheet."""
    address = element("a", "The page for a meeting", href=f"../{name}.html")
    words = ": one file with the verdict in three lines and the most telling sounds, to print or to send."
    return pages.output(element("p", address, words))


def write(sources: pages.Sources, output: Output, record: RunRecord, results: pd.DataFrame) -> None:
    """Write all sheets of a book.

    Parameters
    ----------
    sources
        Where to.
    output
        The output folder, with the table of comparisons, executed notebooks and media.
    record, results
        The run's record and the results table.
    """
    run = FinishedRun(output.display_name, output.results, results, record, {})
    today = datetime.date.today()
    for model in filter(has_sheet, record.models):
        facts = ModelFacts(run, model.name)
        made = model_sheet(facts, against(facts), today)
        _write(sources, page_names.model_sheet(model.slug), made, "../")
    for entry in record.comparisons:
        facts = ModelFacts(run, entry.candidate)
        made = comparison_sheet(facts, entry, read_comparison(run, entry), today)
        _write(sources, page_names.comparison_sheet(entry.slug), made, "../../")


def _write(sources: pages.Sources, name: str, made: Sheet, top: str) -> None:
    sources.html(name, functools.partial(page, made, f"{top}{made.page}"))
