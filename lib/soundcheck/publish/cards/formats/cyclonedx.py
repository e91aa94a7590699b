"""Bills of materials with a model card: CycloneDX 1.7 as JSON, which supply-chain tools read.

- ``performanceMetrics`` have text, an interval and a slice, and nothing else. What else belongs to the number
  with index 17 stands in the property ``soundcheck:performanceMetrics:17`` of the model card: how much was
  measured, what it had to meet, what came of it, and the page of the book.
- A group of people is at risk if a test about it fails.
- The serial number is made of the content, so that the same results on the same day give the same file.
"""

import math
import uuid
from collections.abc import Mapping
from typing import Any

from soundcheck.common.messages import counted
from soundcheck.publish.cards import content
from soundcheck.publish.cards.card_format import CardContext, CardFormat
from soundcheck.publish.cards.records import (
    answer,
    described_tasks,
    interval_methods,
    json_text,
    measurements,
    plain,
    record,
    task_type,
)
from soundcheck.publish.facts import page, sentence
from soundcheck.results.facts import ModelFacts, counts
from soundcheck.results.record import CorpusRecord
from soundcheck.results.states import HOLLOW

_SPDX = ("Apache-2.0", "BSD-3-Clause", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-4.0")
_SPDX += ("CC0-1.0", "MIT", "MPL-2.0")
_LICENCES = {name.lower(): name for name in _SPDX}  # hubs write them in small letters
_SPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "soundcheck.cyclonedx")


class CycloneDX(CardFormat):
    """One JSON file a model: a ``machine-learning-model`` with its card, and the corpora of its tests."""

    keyword = "cyclonedx"
    file = "bom.cdx.json"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the bill of materials."""
        card, numbers = context.card, list(measurements(facts).itertuples())
        licence = _LICENCES.get(card.license.lower())
        limits = content.text("limitations.txt", facts, context, plain).splitlines()
        differences = facts.findings[facts.findings["group"].ne("")].groupby("group", sort=False)
        made = record(
            "cyclonedx",
            {
                "described": _described,
                "digits": lambda number: "" if math.isnan(number) else repr(number),
                "kind_and_name": lambda task: f"{task_type(facts, task.name)}: {task.name}",
                "prediction": answer,
                "slice": _slice,
            },
            facts=facts,
            run=facts.record,
            model=facts.model,
            card=card,
            context=context,
            numbers=numbers,
            licence={"id": licence} if licence else {"name": card.license} if card.license else {},
            pages=[("model-card", page(facts)), ("quality-metrics", "all_results.html")]
            if context.book_url
            else [],
            tasks=[task for name, task in described_tasks(facts).items() if name in facts.model.tasks],
            limitations=[line.removeprefix("- ") for line in limits],
            at_risk=[
                (name, "; ".join(sentence(facts, row) for row in rows.itertuples()))
                for name, rows in differences
            ],
            intervals=interval_methods(facts),
        )
        about = made["components"][0]["modelCard"]["properties"]
        about |= {f"tests:{state}": count for state, count in counts(facts.rows).items()}
        about |= {f"version:{name}": version for name, version in facts.record.versions.items()}
        about |= {f"performanceMetrics:{n}": _behind(row, facts, context) for n, row in enumerate(numbers)}
        for part in (made["components"][0]["modelCard"], *made["components"][1:]):
            part["properties"] = _properties(part["properties"])
        made["serialNumber"] = ""
        made["serialNumber"] = f"urn:uuid:{uuid.uuid5(_SPACE, json_text(made))}"
        return json_text(made)


def _slice(row: Any) -> str:
    column, _, group = row.group.partition(": ")
    slices = [("corpus", row.corpus), (column, group or "all"), ("label", row.label)]
    return ", ".join(f"{name}={value}" for name, value in slices if name and value)


def _behind(row: Any, facts: ModelFacts, context: CardContext) -> str:
    """Say of a number how much was measured, what it had to meet, and what came of it."""
    parts = (
        f"{counted(row.segments, row.unit)}, {counted(row.blocks, row.block)}",
        "" if math.isnan(row.threshold) else f"{row.rule} {row.threshold!r}",
        row.state,
        "no better than chance at the task" if row.standing == HOLLOW else "",
        row.accepted and f"accepted: {row.accepted}",
        row.remark,
        context.link(page(facts, row.family)),
    )
    return "; ".join(filter(None, parts))


def _described(corpus: CorpusRecord) -> str:
    synthetic = "synthetic speech, " if corpus.synthetic else ""
    speakers = f"{corpus.speakers} speakers" if corpus.speakers else "speakers not known"
    about = f"For testing: {synthetic}{corpus.segments} segments, {speakers}, {corpus.seconds:.0f} s."
    return f"{about} {corpus.description}".strip()


def _properties(values: Mapping[str, object]) -> list[dict[str, str]]:
    """Write properties, of a list one for each item; empty texts are left out."""
    listed = {name: value if isinstance(value, list | tuple) else [value] for name, value in values.items()}
    return [
        {"name": f"soundcheck:{name}", "value": str(item)}
        for name, items in listed.items()
        for item in items
        if item != ""
    ]
