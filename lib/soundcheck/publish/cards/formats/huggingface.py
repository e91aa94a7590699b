"""The README.md of a model on a hub: metadata that the hub reads, and the whole card for people."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from soundcheck.common.escaping import heading
from soundcheck.publish.cards import content
from soundcheck.publish.cards.card_format import CardContext, CardFormat
from soundcheck.publish.cards.hub import plain, results_of, task_type
from soundcheck.publish.cards.readme import updated
from soundcheck.publish.facts import ModelFacts
from soundcheck.report.key_figures import RATES

_LIBRARIES = ("transformers", "onnx")  # kinds of models that hubs know by the same name
_TAGS = ("automatic-speech-recognition", "audio-classification")  # tasks that hubs know
# Licences that hubs know; any other is "other", with its name beside it.
_LICENCES = frozenset(Path(content.__file__).with_name("hub_licences.txt").read_text("utf-8").split())


class HuggingFaceCard(CardFormat):
    """``README.md``; one that is there is updated in the keys and between the markers that are ours."""

    keyword = "huggingface"
    title = "model card for the Hugging Face Hub"
    file = "README.md"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the card."""
        keys = {**_written(facts, context), **_measured(facts)}
        return self._put(f"\n# {heading(facts.model.name)}\n", "README.md", keys, facts, context)

    def updated(self, existing: str, shown: str, facts: ModelFacts, context: CardContext) -> str:
        """Change what is ours; the rest stays."""
        if not existing.strip("\ufeff \t\r\n"):
            return self.text(facts, context)
        return self._put(existing, shown, _written(facts, context), facts, context)

    def _put(
        self, text: str, shown: str, keys: dict[str, Any], facts: ModelFacts, context: CardContext
    ) -> str:
        name = plain(context.card.id.rpartition("/")[2] or facts.model.name)
        return updated(
            text, shown, keys, name, results_of(facts, context), content.text("card.md", facts, context)
        )


def _written(facts: ModelFacts, context: CardContext) -> dict[str, Any]:
    """Give what people said about the model, as the hub has it."""
    card = context.card
    keys: dict[str, Any] = {}
    if card.languages:
        keys["language"] = [*card.languages]
    if card.license:
        known = card.license.lower() in _LICENCES
        keys["license"] = card.license.lower() if known else "other"
        keys |= {} if known else {"license_name": plain(card.license)}
    if re.fullmatch(r"[\w.-]+/[\w.-]+", card.base_model):
        keys["base_model"] = card.base_model
    return keys


def _measured(facts: ModelFacts) -> dict[str, Any]:
    """Give what the run knows; only for new cards, as people like to choose these words."""
    keys: dict[str, Any] = {}
    if facts.model.kind in _LIBRARIES:
        keys["library_name"] = facts.model.kind
    types = {task_type(facts, task) for task in facts.model.tasks} & {*_TAGS}
    if len(types) == 1:
        keys["pipeline_tag"] = types.pop()
    if any(figure.measure == RATES[0] for figure in facts.figures):
        keys["metrics"] = ["wer"]
    return keys | {"tags": ["soundcheck"]}
