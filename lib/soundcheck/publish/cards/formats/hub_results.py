"""Results for the leaderboards of a hub: ``.eval_results/soundcheck.yaml``, of corpora that are benchmarks.

Only a suite can say which benchmark a corpus is (``benchmark:``). Interval, counts and the digest of the
results go into the notes, the only place that the format has for them.
"""

from __future__ import annotations

import yaml

from soundcheck.publish.cards.card_format import CardContext, CardFormat
from soundcheck.publish.cards.hub import in_unit, plain
from soundcheck.publish.cards.records import filled
from soundcheck.publish.facts import ModelFacts
from soundcheck.report.key_figures import sentence
from soundcheck.results.record import CorpusRecord, KeyFigure


class HubResults(CardFormat):
    """Entries of benchmarks; error rates are in per cent."""

    keyword = "hub-results"
    title = "results for the leaderboards of the Hugging Face Hub"
    file = ".eval_results/soundcheck.yaml"

    def obstacle(self, facts: ModelFacts, context: CardContext) -> str:
        """Say why there is nothing to list."""
        if not any(corpus.benchmark for corpus in facts.corpora):
            return "no corpus of the model says which benchmark it is (benchmark: in the suite)"
        listed = {corpus.name: _figures(facts, corpus) for corpus in facts.corpora}
        for name, figures in listed.items():
            if len(figures) > 1:
                tasks = ", ".join(figure.task for figure in figures)
                return f"corpus {name} has results of {tasks}: name one of them as task: in benchmark:"
        return "" if any(listed.values()) else "no corpus that is a benchmark has a result of the model"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the entries."""
        figures = [(corpus, figure) for corpus in facts.corpora for figure in _figures(facts, corpus)]
        entries = [_entry(facts, context, corpus, figure) for corpus, figure in figures]
        return yaml.safe_dump(entries, allow_unicode=True, sort_keys=False, width=10**6)


def _figures(facts: ModelFacts, corpus: CorpusRecord) -> list[KeyFigure]:
    """List the figures of a benchmark: those that decide how good a model is."""
    if corpus.benchmark is None:
        return []
    figures = [one for one in facts.figures if one.corpus == corpus.name and one.standing]
    return [one for one in figures if one.value is not None and corpus.benchmark.task in ("", one.task)]


def _entry(facts: ModelFacts, context: CardContext, corpus: CorpusRecord, figure: KeyFigure) -> dict:
    about, synthetic = corpus.benchmark, "; synthetic speech" if corpus.synthetic else ""
    notes = (
        f"{sentence(figure)}, {figure.segments:,} segments{synthetic}; "
        f"Soundcheck {facts.record.version}, SHA-256 of results.csv {facts.sha256}"
    )
    page = context.link(facts.page())
    return filled(
        dataset=filled(id=about.id, task_id=plain(about.task_id), revision=plain(about.revision)),
        value=in_unit(figure.value, figure.measure),
        date=context.date.isoformat(),
        source={"url": page, "name": "Soundcheck"} if page else {},
        notes=plain(notes),
    )
