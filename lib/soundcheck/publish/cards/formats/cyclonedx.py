"""Bills of materials with a model card: CycloneDX 1.7 as JSON, which supply-chain tools read.

Conventions
-----------
- ``performanceMetrics`` have text, an interval and a slice, and nothing else. What else belongs to the number
  with index 17 stands in the property ``soundcheck:performanceMetrics:17`` of the model card: what it rests
  on, what it had to meet, what came of it, and the page of the book.
- The number of a test is the one that is judged, see :mod:`soundcheck.publish.cards.measurements`.
- A group of people is at risk if a test about it fails.
- The serial number is made of the content, so that the same results on the same day give the same file.
"""

from __future__ import annotations

import uuid
from urllib.parse import quote

from soundcheck.publish.cards.card_format import CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.described_tasks import answer, described_tasks, shared_name
from soundcheck.publish.cards.json_text import json_text
from soundcheck.publish.cards.limits import limits_found, worse_off
from soundcheck.publish.cards.measurements import Measurement, interval_methods, measurements
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.record import CorpusRecord
from soundcheck.results.standing import HOLLOW
from soundcheck.results.summary import tally

_SPDX = ("Apache-2.0", "BSD-3-Clause", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-4.0")
_SPDX += ("CC0-1.0", "MIT", "MPL-2.0")
_LICENCES = {name.lower(): name for name in _SPDX}  # hubs write them in small letters
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
    card, model = context.card, facts.model
    pages = {"model-card": facts.page(), "quality-metrics": "all_results.html"}
    known = _LICENCES.get(card.license.lower())
    links = [{"type": kind, "url": context.link(quote(page))} for kind, page in pages.items()]
    supplier = {
        **({"name": card.owner} if card.owner else {}),
        **({"contact": [{"name": card.contact}]} if card.contact else {}),
    }
    optional = {
        **{"supplier": supplier, "version": card.version, "description": model.description},
        "licenses": [{"license": {"id": known} if known else {"name": card.license}}] if card.license else [],
        "externalReferences": links if context.book_url else [],
    }
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model:{model.slug}",
        "name": model.name,
        **{name: value for name, value in optional.items() if value},
        "modelCard": _card(facts, context),
    }


def _card(facts: ModelFacts, context: CardContext) -> dict[str, object]:
    tasks = [task for name, task in described_tasks(facts.record).items() if name in facts.model.tasks]
    found = measurements(facts)
    return {
        "modelParameters": {
            "task": ", ".join(map(shared_name, tasks)),
            "datasets": [{"ref": f"corpus:{corpus.slug}"} for corpus in facts.corpora],
            "inputs": [{"format": "audio"}],
            "outputs": [{"format": answer(task)} for task in tasks],
        },
        "quantitativeAnalysis": {"performanceMetrics": [_metric(one) for one in found]},
        "considerations": _considerations(facts, context),
        "properties": [
            {"name": f"soundcheck:{name}", "value": value}
            for name, value in [*_about(facts, context), *_company(found, facts, context)]
        ],
    }


def _metric(one: Measurement) -> dict[str, object]:
    column, _, group = one.group.partition(": ")
    slices = [("corpus", one.corpus), (column, group or "all"), ("label", one.label)]
    return {
        "type": f"{one.measure.name} ({one.task})",
        "value": repr(one.value),
        "slice": ", ".join(f"{name}={value}" for name, value in slices if name and value),
        **(
            {"confidenceInterval": {"lowerBound": repr(one.low), "upperBound": repr(one.high)}}
            if one.low is not None and one.high is not None
            else {}
        ),
    }


def _considerations(facts: ModelFacts, context: CardContext) -> dict[str, object]:
    card = context.card
    at_risk = [{"groupAtRisk": group, "harms": "; ".join(found)} for group, found in worse_off(facts)]
    return {
        **({"useCases": [card.intended_use]} if card.intended_use else {}),
        "technicalLimitations": [*([card.limitations] if card.limitations else []), *limits_found(facts)],
        **({"fairnessAssessments": at_risk} if at_risk else {}),
    }


def _about(facts: ModelFacts, context: CardContext) -> list[tuple[str, str]]:
    """List what a reader needs to find the numbers again, and what nobody wrote."""
    record, model, card = facts.record, facts.model, context.card
    written = {"training data": card.training_data, "languages": ", ".join(card.languages)}
    written |= {"base model": card.base_model, "id on a hub": card.id}
    return [
        ("results:sha256", facts.sha256),
        ("run", record.run),
        ("seed", str(record.seed)),
        ("replicates", str(record.replicates)),
        *[("interval", method) for method in interval_methods(facts)],
        ("model:kind", model.kind),
        ("model:fingerprint", model.fingerprint),
        ("model:inputs", str(model.inputs)),
        ("model:inputs failed", str(model.failed)),
        ("model:answers unusable", str(model.unusable)),
        *[(f"card:{name}", text) for name, text in written.items() if text],
        *[("card:missing", name) for name in context.missing],
        *[(f"tests:{state}", str(count)) for state, count in tally(facts.rows).items()],
        *[("families:failed", name) for name in facts.failed],
        *[(f"version:{name}", version) for name, version in record.versions.items()],
    ]


def _company(found: list[Measurement], facts: ModelFacts, context: CardContext) -> list[tuple[str, str]]:
    """Say of each number what it rests on, what it had to meet, and what came of it."""
    told = []
    for index, one in enumerate(found):
        has_to = "" if one.threshold is None else f"{one.rule} {one.threshold!r}"
        no_merit = "no better than chance at the task" if one.standing == HOLLOW else ""
        accepted = f"accepted: {one.accepted}" if one.accepted else ""
        page = context.link(facts.page(one.family))
        parts = (one.counts, has_to, one.state, no_merit, accepted, one.remark, page)
        told.append((f"performanceMetrics:{index}", "; ".join(filter(None, parts))))
    return told


def _corpus(corpus: CorpusRecord) -> dict[str, object]:
    synthetic = "synthetic speech, " if corpus.synthetic else ""
    speakers = f"{corpus.speakers} speakers" if corpus.speakers else "speakers not known"
    about = f"For testing: {synthetic}{corpus.segments} segments, {speakers}, {corpus.seconds:.0f} s."
    data = {
        **{"type": "dataset", "name": corpus.title or corpus.name},
        **{"description": f"{about} {corpus.description}".strip()},
    }
    properties = {
        **{"digest": corpus.digest, "format": corpus.format, "synthetic": str(corpus.synthetic).lower()},
        **{"left out": str(len(corpus.unused)), "notices": str(len(corpus.notices))},
    }
    return {
        **{"type": "data", "bom-ref": f"corpus:{corpus.slug}", "name": corpus.name, "data": [data]},
        "properties": [{"name": f"soundcheck:{name}", "value": text} for name, text in properties.items()],
    }
