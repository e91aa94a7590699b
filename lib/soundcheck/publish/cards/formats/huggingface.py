"""What the Hugging Face Hub reads: the README.md of a model, and entries for the leaderboards of benchmarks.

Only a suite can say which benchmark a corpus is (``benchmark:``). Interval, counts and the digest of the
results go into the notes of an entry, the only place that its format has for them.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from soundcheck.common.escaping import heading
from soundcheck.publish.cards import content
from soundcheck.publish.cards.card_format import CardContext, CardFormat
from soundcheck.publish.cards.readme import updated
from soundcheck.publish.cards.records import filled, in_unit, plain, results_of, task_type
from soundcheck.publish.facts import page
from soundcheck.report.key_figures import RATES, sentence
from soundcheck.results.facts import ModelFacts
from soundcheck.results.record import CorpusRecord, KeyFigure
from soundcheck.suite.model_kind import Card


class HubResults(CardFormat):
    """Entries of benchmarks; error rates are in per cent."""

    keyword = "hub-results"
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
    address = context.link(page(facts))
    return filled(
        dataset=filled(id=about.id, task_id=plain(about.task_id), revision=plain(about.revision)),
        value=in_unit(figure.value, figure.measure),
        date=context.date.isoformat(),
        source={"url": address, "name": "Soundcheck"} if address else {},
        notes=plain(notes),
    )


_LIBRARIES = ("transformers", "onnx")  # kinds of models that hubs know by the same name
_TAGS = ("automatic-speech-recognition", "audio-classification")  # tasks that hubs know
# Licences that hubs know; any other is "other", with its name beside it.
_LICENCES = frozenset(Path(content.__file__).with_name("hub_licences.txt").read_text("utf-8").split())


class HuggingFaceCard(CardFormat):
    """``README.md``; one that is there is updated in the keys and between the markers that are ours."""

    keyword = "huggingface"
    file = "README.md"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the card."""
        title = f"\n# {heading(facts.model.name)}\n"
        return self._put(title, "README.md", _measured(facts), facts, context)

    def updated(self, existing: str, name: str, facts: ModelFacts, context: CardContext) -> str:
        """Change what is ours; the rest stays."""
        if not existing.strip("\ufeff \t\r\n"):
            return self.text(facts, context)
        return self._put(existing, name, {}, facts, context)

    def _put(
        self, text: str, file_name: str, keys: dict[str, Any], facts: ModelFacts, context: CardContext
    ) -> str:
        name = plain(context.card.id.rpartition("/")[2] or facts.model.name)
        block = content.text("card.md", facts, context)
        keys = _written(context.card) | keys
        return updated(text, file_name, keys, name, results_of(facts, context), block)


def _written(card: Card) -> dict[str, Any]:
    """Give what people said about the model, as the hub has it."""
    licence, known = card.license, card.license.lower() in _LICENCES
    is_name = re.fullmatch(r"[\w.-]+/[\w.-]+", card.base_model)
    return filled(
        language=[*card.languages],
        license=licence.lower() if known else licence and "other",
        license_name="" if known else plain(licence),
        base_model=card.base_model if is_name else "",
    )


def _measured(facts: ModelFacts) -> dict[str, Any]:
    """Give what the run knows; only for new cards, as people like to choose these words."""
    types = {task_type(facts, task) for task in facts.model.tasks} & {*_TAGS}
    has_rate = any(figure.measure == RATES[0] for figure in facts.figures)
    return filled(
        library_name=facts.model.kind if facts.model.kind in _LIBRARIES else "",
        pipeline_tag=types.pop() if len(types) == 1 else "",
        metrics=["wer"] if has_rate else [],
        tags=["soundcheck"],
    )
