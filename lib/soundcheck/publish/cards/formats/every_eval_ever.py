"""Records of evaluations in the format of Every Eval Ever 0.3.0, which has a place for intervals and counts.

- One result for each number of the run, as :mod:`soundcheck.publish.cards.records` lists them. Tests
  without a number have no place in the format; how many there are stands in ``source_metadata``.
- Of numbers that should be near 0 whatever their sign, ``lower_is_better`` is about their size; the format
  has no word for that, so ``additional_details`` of the metric say it.
- Whether weights are open nobody told, so that is ``unknown``; who evaluates is ``first_party`` if the card
  names an owner, as no card claims that others have checked it, else ``other``.
"""

import datetime
import math
from typing import Any

from soundcheck.publish.cards.card_format import CardContext, CardFormat
from soundcheck.publish.cards.records import (
    FURTHER,
    TEXTS,
    filled,
    interval_method,
    json_text,
    measurements,
    record,
)
from soundcheck.publish.facts import page
from soundcheck.results.facts import ModelFacts, counts
from soundcheck.results.record import CorpusRecord

_LOCAL = ("command", "onnx", "onnx-asr", "python", "random", "transformers")  # kinds that run here
_LEVEL = 0.95  # of all intervals


class EveryEvalEver(CardFormat):
    """One JSON file a model: all numbers with intervals, counts, replicates and thresholds."""

    keyword = "every-eval-ever"
    file = "every_eval_ever.json"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the record."""

        def details(row: Any) -> dict[str, object]:
            texts = {name: getattr(row, name) for name in ("task", *TEXTS[1:], "block")}
            numbers = {name: getattr(row, name) for name in ("segments", "blocks", *FURTHER)}
            written = {name: repr(number) for name, number in filled(**numbers).items()}
            return filled(**texts, counted=row.unit, page=context.link(page(facts, row.family)), **written)

        def interval(row: Any) -> dict[str, object]:
            method = interval_method(facts.record.interval, row.block)
            ends = {"lower": row.low, "upper": row.high}
            return {} if math.isnan(row.low) else {**ends, "confidence_level": _LEVEL, "method": method}

        midnight = datetime.datetime.combine(context.date, datetime.time(), datetime.UTC)
        made = record(
            "every_eval_ever",
            {"bound": _bound, "details": details, "interval": interval, "title": _title},
            facts=facts,
            run=facts.record,
            model=facts.model,
            card=context.card,
            context=context,
            counts=counts(facts.rows),
            id=context.card.id or facts.model.slug,
            is_local=facts.model.kind in _LOCAL,
            numbers=measurements(facts).itertuples(),
            sources={corpus.name: _source(corpus) for corpus in facts.corpora},
            stamp=str(int(midnight.timestamp())),
        )
        made.setdefault("evaluation_results", [])  # which a record has to have
        return json_text(made)


def _bound(limit: float) -> float | str:
    return limit if math.isfinite(limit) else "Infinity" if limit > 0 else "-Infinity"


def _title(row: Any) -> str:
    names = (row.family or "key figure", row.measure.name, row.task, row.group, row.label)
    return " / ".join(filter(None, names))


def _source(corpus: CorpusRecord) -> dict[str, object]:
    details = {name: str(getattr(corpus, name)) for name in ("title", "format", "segments", "digest")}
    details |= {"speakers": str(corpus.speakers or "not known"), "seconds": f"{corpus.seconds:.0f}"}
    details |= {"synthetic_speech": str(corpus.synthetic).lower()}
    source = {"dataset_name": corpus.name, "source_type": "other"}
    if corpus.benchmark is not None:
        source |= {"source_type": "hf_dataset", "hf_repo": corpus.benchmark.id}
        source |= {"samples_number": corpus.segments}
        details |= {"task_id": corpus.benchmark.task_id, "revision": corpus.benchmark.revision}
    return source | {"additional_details": filled(**details)}
