"""The README.md of a model on a hub: metadata that the hub reads, and the whole card for people."""

from __future__ import annotations

import re
from typing import Any

from soundcheck.common.escaping import heading
from soundcheck.publish.cards import content
from soundcheck.publish.cards.card_format import CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.hub_tasks import task_type
from soundcheck.publish.cards.model_index import plain, results_of
from soundcheck.publish.cards.readme import updated
from soundcheck.publish.facts import ModelFacts
from soundcheck.report.key_figures import RATES

_LIBRARIES = ("transformers", "onnx")  # kinds of models that hubs know by the same name
_TAGS = ("automatic-speech-recognition", "audio-classification")  # tasks that hubs know
# Identifiers of licences that hubs know; any other is "other", with its name beside it.
_LICENSES = frozenset(
    """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda cc
    cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
    cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
    cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0 etalab-2.0
    eupl-1.1 eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc h-research intel-research
    lppl-1.3c ms-pl apple-ascl apple-amlr mpl-2.0 odc-by odbl openmdw-1.0 openmdw-1.1 openrail++ osl-3.0
    postgresql ofl-1.1 ncsa unlicense zlib pddl lgpl-lr deepfloyd-if-license
    fair-noncommercial-research-license llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 gemma unknown
    """.split()
)


class HuggingFaceCard(CardFormat):
    """``README.md``; one that is there is updated in the keys and between the markers that are ours."""

    keyword = "huggingface"
    title = "model card for the Hugging Face Hub"

    def filename(self, facts: ModelFacts) -> str:
        """Name the file."""
        return "README.md"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the card."""
        own = {**_written(facts, context), **_measured(facts)}
        return self._put(f"\n# {heading(facts.model.name)}\n", "README.md", own, facts, context)

    def updated(self, existing: str, shown: str, facts: ModelFacts, context: CardContext) -> str:
        """Change what is ours; the rest stays."""
        if not existing.strip("\ufeff \t\r\n"):
            return self.text(facts, context)
        return self._put(existing, shown, _written(facts, context), facts, context)

    def _put(
        self, text: str, shown: str, own: dict[str, Any], facts: ModelFacts, context: CardContext
    ) -> str:
        name = plain(context.card.id.rpartition("/")[2] or facts.model.name)
        return updated(
            text, shown, own, name, results_of(facts, context), content.text("cards/card.md", facts, context)
        )


def _written(facts: ModelFacts, context: CardContext) -> dict[str, Any]:
    """Give what people said about the model, as the hub has it."""
    card = context.card
    found: dict[str, Any] = {}
    if card.languages:
        found["language"] = [*card.languages]
    if card.license:
        known = card.license.lower() in _LICENSES
        found["license"] = card.license.lower() if known else "other"
        found |= {} if known else {"license_name": plain(card.license)}
    if re.fullmatch(r"[\w.-]+/[\w.-]+", card.base_model):
        found["base_model"] = card.base_model
    return found


def _measured(facts: ModelFacts) -> dict[str, Any]:
    """Give what the run knows; only for new cards, as people like to choose these words."""
    found: dict[str, Any] = {}
    if facts.model.kind in _LIBRARIES:
        found["library_name"] = facts.model.kind
    types = {task_type(facts.record, task) for task in facts.model.tasks} & {*_TAGS}
    if len(types) == 1:
        found["pipeline_tag"] = types.pop()
    if any(figure.measure == RATES[0] for figure in facts.figures):
        found["metrics"] = ["wer"]
    return found | {"tags": ["soundcheck"]}
