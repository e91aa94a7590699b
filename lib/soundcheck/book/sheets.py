"""The pages for a meeting in the book: one for each comparison and each model but random references."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pandas as pd

from soundcheck.book import pages
from soundcheck.common.day import today
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet.content import Sheet, comparison_sheet, model_sheet
from soundcheck.publish.sheet.earlier import against
from soundcheck.publish.sheet.figures import comparison_pictures, model_pictures
from soundcheck.publish.sheet.page import page
from soundcheck.report.html import Html, element
from soundcheck.results import page_names
from soundcheck.results.compared import read_comparison
from soundcheck.results.finished_run import FinishedRun
from soundcheck.results.record import ComparisonRecord, ModelRecord, RunRecord
from soundcheck.run.output import Output

_RANDOM = "random"


def has_sheet(model: ModelRecord) -> bool:
    """Say whether there is such a page: random references are no subject of a meeting."""
    return model.kind != _RANDOM


def link(name: str) -> dict:
    """Make the cell that leads from the page of a model or a comparison to its sheet."""
    address = element("a", "The page for a meeting", href=f"../{name}.html")
    words = ": one file with the verdict in three lines and the most telling sounds, to print or to send."
    return pages.output(element("p", address, words))


class Sheets:
    """All sheets of a book.

    Parameters
    ----------
    output
        The output folder, with the table of comparisons, executed notebooks and media.
    record, results
        The run's record and the results table.
    """

    def __init__(self, output: Output, record: RunRecord, results: pd.DataFrame) -> None:
        self._record = record
        self._run = FinishedRun(output.display_name, output.results, results, record, {})
        self._facts = functools.cache(functools.partial(ModelFacts, self._run))

    def write(self, sources: pages.Sources) -> None:
        """Register them."""
        day = today()
        for model in filter(has_sheet, self._record.models):
            name = page_names.model_sheet(model.slug)

            def of_model(model: ModelRecord = model) -> Sheet:
                facts = self._facts(model.name)
                return model_sheet(facts, against(facts), day, tuple(model_pictures(facts)))

            _write(sources, name, of_model, "../")
        for entry in self._record.comparisons:
            name = page_names.comparison_sheet(entry.slug)

            def of_comparison(entry: ComparisonRecord = entry) -> Sheet:
                frame, facts = read_comparison(self._run, entry), self._facts(entry.candidate)
                return comparison_sheet(facts, entry, frame, day, tuple(comparison_pictures(frame, facts)))

            _write(sources, name, of_comparison, "../../")


def _write(sources: pages.Sources, name: str, make: Callable[[], Sheet], top: str) -> None:
    def written(footer: Html) -> str:
        made = make()
        return page(made, f"{top}{made.page}", footer)

    sources.html(name, written)
