"""What a run says of one model, for cards and sheets: facts of the results, sentences and addresses."""

from __future__ import annotations

from soundcheck.report import failures
from soundcheck.results import facts
from soundcheck.results.page_names import model_page, result_page


class ModelFacts(facts.ModelFacts):
    """Facts with sentences and addresses."""

    def sentence(self, row: object) -> str:
        """Write what a row says, with its interval; rows are those of ``itertuples``."""
        said = failures.sentence(row, self.record.block_of(row.corpus))
        return "; ".join(filter(None, (said, failures.both_rules(row).partition(";")[0])))

    def page(self, family: str = "") -> str:
        """Name the page of the book about the model, or about it and a family, relative to the book."""
        name = result_page(self.model.name, family) if family else model_page(self.model.slug)
        return f"{name}.html"
