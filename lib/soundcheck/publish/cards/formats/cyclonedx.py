"""Bills of materials with a model card: CycloneDX 1.7 as JSON, which supply-chain tools read.

Conventions
-----------
- ``performanceMetrics`` have text, an interval and a slice, and nothing else. What else belongs to the number
  with index 17 stands in the property ``soundcheck:performanceMetrics:17`` of the model card: how much was
  measured, what it had to meet, what came of it, and the page of the book.
- A group of people is at risk if a test about it fails.
- The serial number is made of the content, so that the same results on the same day give the same file.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from typing import Any

from soundcheck.common.wording import counted
from soundcheck.publish.cards import content
from soundcheck.publish.cards.card_format import CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.hub import answer, described_tasks, plain, task_type
from soundcheck.publish.cards.json_text import filled, json_text
from soundcheck.publish.cards.measurements import interval_methods, measurements
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.facts import counts
from soundcheck.results.record import CorpusRecord
from soundcheck.results.standing import HOLLOW
from soundcheck.suite.card import FIELDS, Card

_SPDX = ("Apache-2.0", "BSD-3-Clause", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-4.0")
_SPDX += ("CC0-1.0", "MIT", "MPL-2.0")
_LICENCES = {name.lower(): name for name in _SPDX}  # hubs write them in small letters
_WRITTEN = ("training_data", "languages", "base_model", "id")  # about the model, in the card
_SPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "soundcheck.cyclonedx")


class CycloneDX(CardFormat):
    """One JSON file a model: a ``machine-learning-model`` with its card, and the corpora of its tests."""

    keyword = "cyclonedx"
    title = "CycloneDX bill of materials"

    def filename(self, facts: ModelFacts) -> str:
        """Name the file; tools know it by its end."""
        return "bom.cdx.json"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the bill of materials."""
        soundcheck = {"type": "application", "name": "Soundcheck", "version": facts.record.version}
        content = {
            "$schema": "http://cyclonedx.org/schema/bom-1.7.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.7",
            "serialNumber": "",
            "version": 1,
            "metadata": {
                "timestamp": f"{context.date}T00:00:00Z",
                "tools": {"components": [soundcheck]},
            },
            "components": [_model(facts, context), *map(_corpus, facts.corpora)],
        }
        content["serialNumber"] = f"urn:uuid:{uuid.uuid5(_SPACE, json_text(content))}"
        return json_text(content)


def _model(facts: ModelFacts, context: CardContext) -> dict[str, object]:
    card, model, licence = context.card, facts.model, _LICENCES.get(context.card.license.lower())
    pages = {"model-card": facts.page(), "quality-metrics": "all_results.html"}
    links = [{"type": kind, "url": context.link(page)} for kind, page in pages.items()]
    named = {"id": licence} if licence else {"name": card.license}
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model:{model.slug}",
        "name": model.name,
        **filled(
            supplier=filled(name=card.owner, contact=[{"name": card.contact}] if card.contact else []),
            version=card.version,
            description=model.description,
            licenses=[{"license": named}] if card.license else [],
            externalReferences=links if context.book_url else [],
        ),
        "modelCard": _card(facts, context),
    }


def _card(facts: ModelFacts, context: CardContext) -> dict[str, object]:
    card, found = context.card, list(measurements(facts).itertuples())
    tasks = [task for name, task in described_tasks(facts).items() if name in facts.model.tasks]
    limits = content.text("limitations.txt", facts, context, plain).splitlines()
    limitations = [line.removeprefix("- ") for line in limits if line]
    differences = facts.findings[facts.findings["group"].ne("")]
    at_risk = [
        {"groupAtRisk": group, "harms": "; ".join(map(facts.sentence, own.itertuples()))}
        for group, own in differences.groupby("group", sort=False)
    ]
    return {
        "modelParameters": {
            "task": ", ".join(f"{task_type(facts, task.name)}: {task.name}" for task in tasks),
            "datasets": [{"ref": f"corpus:{corpus.slug}"} for corpus in facts.corpora],
            "inputs": [{"format": "audio"}],
            "outputs": [{"format": answer(task)} for task in tasks],
        },
        "quantitativeAnalysis": {"performanceMetrics": [_metric(one) for one in found]},
        "considerations": filled(
            useCases=[*filter(None, [card.intended_use])],
            technicalLimitations=[*filter(None, [card.limitations]), *limitations],
            fairnessAssessments=at_risk,
        ),
        "properties": _properties(_about(facts, card) | _behind(found, facts, context)),
    }


def _metric(one: Any) -> dict[str, object]:
    column, _, group = one.group.partition(": ")
    slices = [("corpus", one.corpus), (column, group or "all"), ("label", one.label)]
    bounds = {"lowerBound": repr(one.low), "upperBound": repr(one.high)}
    return {
        "type": f"{one.measure.name} ({one.task})",
        "value": repr(one.value),
        "slice": ", ".join(f"{name}={value}" for name, value in slices if name and value),
        **filled(confidenceInterval={} if math.isnan(one.low) else bounds),
    }


def _about(facts: ModelFacts, card: Card) -> dict[str, object]:
    """Give what a reader needs to find the numbers again, and what nobody wrote."""
    record, model = facts.record, facts.model
    about = {"results:sha256": facts.sha256, "run": record.run, "seed": record.seed}
    about |= {"replicates": record.replicates, "interval": interval_methods(facts)}
    about |= {"model:kind": model.kind, "model:fingerprint": model.fingerprint}
    about |= {"model:inputs": model.inputs, "model:inputs failed": model.failed}
    about |= {"model:answers unusable": model.unusable}
    about |= {f"card:{FIELDS[name]}": getattr(card, name) for name in _WRITTEN}
    about |= {"card:missing": card.missing, "families:failed": facts.failed}
    about |= {f"tests:{state}": count for state, count in counts(facts.rows).items()}
    return about | {f"version:{name}": version for name, version in record.versions.items()}


def _behind(found: list, facts: ModelFacts, context: CardContext) -> dict[str, object]:
    """Say of each number how much was measured, what it had to meet, and what came of it."""
    said = {}
    for index, one in enumerate(found):
        parts = (
            f"{counted(one.segments, one.unit)}, {counted(one.blocks, one.block)}",
            "" if math.isnan(one.threshold) else f"{one.rule} {one.threshold!r}",
            one.state,
            "no better than chance at the task" if one.standing == HOLLOW else "",
            one.accepted and f"accepted: {one.accepted}",
            one.remark,
            context.link(facts.page(one.family)),
        )
        said[f"performanceMetrics:{index}"] = "; ".join(filter(None, parts))
    return said


def _corpus(corpus: CorpusRecord) -> dict[str, object]:
    synthetic = "synthetic speech, " if corpus.synthetic else ""
    speakers = f"{corpus.speakers} speakers" if corpus.speakers else "speakers not known"
    about = f"For testing: {synthetic}{corpus.segments} segments, {speakers}, {corpus.seconds:.0f} s."
    description = f"{about} {corpus.description}".strip()
    properties = {"digest": corpus.digest, "format": corpus.format}
    properties |= {"synthetic": str(corpus.synthetic).lower(), "left out": len(corpus.unused)}
    return {
        "type": "data",
        "bom-ref": f"corpus:{corpus.slug}",
        "name": corpus.name,
        "data": [{"type": "dataset", "name": corpus.title or corpus.name, "description": description}],
        "properties": _properties(properties | {"notices": len(corpus.notices)}),
    }


def _properties(values: Mapping[str, object]) -> list[dict[str, str]]:
    """Write properties, of a list one for each item; empty texts are left out."""
    listed = {name: value if isinstance(value, list | tuple) else [value] for name, value in values.items()}
    return [
        {"name": f"soundcheck:{name}", "value": str(item)}
        for name, items in listed.items()
        for item in items
        if item != ""
    ]
