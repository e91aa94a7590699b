"""Results for the leaderboards of a hub: ``.eval_results/soundcheck.yaml``, of corpora that are benchmarks.

Only a suite can say which benchmark a corpus is (``benchmark:``). The interval, the counts and what they rest
on go into the notes, the only place that the format has for them.
"""

from __future__ import annotations

from typing import Any

from soundcheck.publish.cards.card_format import CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.model_index import plain, value_of
from soundcheck.publish.cards.readme import dumped
from soundcheck.publish.facts import ModelFacts
from soundcheck.report.key_figures import sentence
from soundcheck.results.record import CorpusRecord, KeyFigure


class HubResults(CardFormat):
    """Entries of benchmarks; error rates are in per cent."""

    keyword = "hub-results"
    title = "results for the leaderboards of the Hugging Face Hub"

    def obstacle(self, facts: ModelFacts, context: CardContext) -> str:
        """Say why there is nothing to list."""
        if not any(corpus.benchmark for corpus in facts.corpora):
            return "no corpus of the model says which benchmark it is (benchmark: in the suite)"
        for corpus in facts.corpora:
            found = _figures(facts, corpus)
            if len(found) > 1:
                tasks = ", ".join(figure.task for figure in found)
                return f"corpus {corpus.name} has results of {tasks}: name one of them as task: in benchmark:"
        return "" if _entries(facts, context) else "no corpus that is a benchmark has a result of the model"

    def filename(self, facts: ModelFacts) -> str:
        """Name the file."""
        return ".eval_results/soundcheck.yaml"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the entries."""
        return dumped(_entries(facts, context))


def _figures(facts: ModelFacts, corpus: CorpusRecord) -> list[KeyFigure]:
    """List the figures of a benchmark: those that decide how good a model is."""
    about = corpus.benchmark
    if about is None:
        return []
    own = [figure for figure in facts.figures if figure.corpus == corpus.name and figure.standing]
    return [one for one in own if one.value is not None and about.task in ("", one.task)]


def _entries(facts: ModelFacts, context: CardContext) -> list[dict[str, Any]]:
    found = []
    for corpus in facts.corpora:
        for figure in _figures(facts, corpus):
            about = corpus.benchmark
            data = {"id": about.id, "task_id": plain(about.task_id), "revision": plain(about.revision)}
            entry = {
                "dataset": {key: text for key, text in data.items() if text},
                "value": value_of(figure, figure.value),
                "date": context.date.isoformat(),
            }
            if context.book_url:
                entry["source"] = {"url": context.link(facts.page()), "name": "Soundcheck"}
            synthetic = "; synthetic speech" if corpus.synthetic else ""
            entry["notes"] = plain(
                f"{sentence(figure)}, {figure.segments:,} segments{synthetic}; "
                f"Soundcheck {facts.record.version}, SHA-256 of results.csv {facts.sha256}"
            )
            found.append(entry)
    return found
