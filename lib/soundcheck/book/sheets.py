"""The pages for a meeting in the book: one for each comparison and each model but random references."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pandas as pd

from soundcheck.book import pages
from soundcheck.book.kept_cells import KeptCells
from soundcheck.common.day import today
from soundcheck.publish.facts import ModelFacts
from soundcheck.publish.sheet.content import Sheet, comparison_sheet, model_sheet
from soundcheck.publish.sheet.earlier import against
from soundcheck.publish.sheet.figures import Picture, comparison_pictures, model_pictures
from soundcheck.publish.sheet.page import page
from soundcheck.report.html import element
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
    kept
        Keeps their figures: a sheet names its run, so it is written anew with each, but most figures stay.
    """

    def __init__(self, output: Output, record: RunRecord, results: pd.DataFrame, kept: KeptCells) -> None:
        self._record, self._kept = record, kept
        self._run = FinishedRun(output.display_name, output.results, results, record, {})
        self._facts = functools.cache(functools.partial(ModelFacts, self._run))

    def pictures(self) -> Iterator[tuple[Picture, ...]]:
        """Give the figures of all sheets, in their order."""
        for model in filter(has_sheet, self._record.models):
            facts = self._facts(model.name)
            yield self._drawn(page_names.model_sheet(model.slug), model_pictures, facts)
        for entry in self._record.comparisons:
            frame, facts = read_comparison(self._run, entry), self._facts(entry.candidate)
            draw = functools.partial(comparison_pictures, frame)
            yield self._drawn(page_names.comparison_sheet(entry.slug), draw, facts, _written(frame))

    def write(self, sources: pages.Sources) -> None:
        """Have them written with the other pages that Jupyter Book does not read; figures are drawn now."""
        day, drawn = today(), self.pictures()

        def of_model(name: str, pictures: tuple[Picture, ...]) -> Sheet:
            facts = self._facts(name)
            return model_sheet(facts, against(facts), day, pictures)

        def of_comparison(entry: ComparisonRecord, pictures: tuple[Picture, ...]) -> Sheet:
            frame = read_comparison(self._run, entry)
            return comparison_sheet(self._facts(entry.candidate), entry, frame, day, pictures)

        for model in filter(has_sheet, self._record.models):
            make = functools.partial(of_model, model.name, next(drawn))
            _write(sources, page_names.model_sheet(model.slug), make, "../")
        for entry in self._record.comparisons:
            make = functools.partial(of_comparison, entry, next(drawn))
            _write(sources, page_names.comparison_sheet(entry.slug), make, "../../")

    def _drawn(
        self, name: str, draw: Callable[[ModelFacts], list[Picture]], facts: ModelFacts, *depends: object
    ) -> tuple[Picture, ...]:
        def make() -> list[dict]:
            return [vars(picture) | {"svg": picture.svg.decode()} for picture in draw(facts)]

        about = (facts.model.name, _written(facts.rows), self._record.figures, *depends)
        found = self._kept.cells(f"{name}/pictures", make, *about)
        return tuple(Picture(**one | {"svg": one["svg"].encode()}) for one in found)


def _written(frame: pd.DataFrame) -> str:
    return frame.to_json(orient="split", double_precision=15)


def _write(sources: pages.Sources, name: str, make: Callable[[], Sheet], top: str) -> None:
    made = functools.cache(make)
    sources.html(name, lambda mark: page(made(), f"{top}{made().page}", mark))
