"""Records of evaluations in the format of Every Eval Ever 0.3.0, which has a place for intervals and counts.

Conventions
-----------
- One result for each number of the run, as :mod:`soundcheck.publish.cards.measurements` lists them. Tests
  without a number have no place in the format; how many there are stands in ``source_metadata``.
- Of numbers that should be near 0 whatever their sign, ``lower_is_better`` is about their size; the format
  has no word for that, so ``additional_details`` of the metric say it.
- Whether weights are open nobody told, so that is ``unknown``; who evaluates is ``first_party`` if the card
  names an owner, as no card claims that others have checked it, else ``other``.
"""

from __future__ import annotations

import datetime
import math
from typing import Any

from soundcheck.publish.cards.card_format import CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.json_text import filled, json_text
from soundcheck.publish.cards.measurements import FURTHER, TEXTS, interval_method, measurements
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.facts import counts
from soundcheck.results.record import CorpusRecord

_LOCAL = ("command", "onnx", "onnx-asr", "python", "random", "transformers")  # kinds that run here
_LEVEL = 0.95  # of all intervals


class EveryEvalEver(CardFormat):
    """One JSON file a model: all numbers with intervals, counts, replicates and thresholds."""

    keyword = "every-eval-ever"
    title = "Every Eval Ever record"

    def filename(self, facts: ModelFacts) -> str:
        """Name the file."""
        return "every_eval_ever.json"

    def text(self, facts: ModelFacts, context: CardContext) -> str:
        """Write the record."""
        card, record = context.card, facts.record
        midnight = datetime.datetime.combine(context.date, datetime.time(), datetime.UTC)
        stamp = str(int(midnight.timestamp()))
        model = card.id or facts.model.slug
        corpora = {corpus.name: _source(corpus) for corpus in facts.corpora}
        content = {
            "schema_version": "0.3.0",
            "evaluation_id": f"soundcheck-{record.run}/{model}/{stamp}",
            "retrieved_timestamp": stamp,
            "source_metadata": {
                "source_name": record.title or "Soundcheck",
                "source_type": "evaluation_run",
                "source_organization_name": card.owner or "not stated",
                "evaluator_relationship": "first_party" if card.owner else "other",
                "additional_details": _about_run(facts, context),
            },
            "eval_library": {
                "name": "soundcheck",
                "version": record.version,
                "additional_details": {**record.versions, "seed": str(record.seed)},
            },
            "model_info": {
                "name": facts.model.name,
                "id": model,
                **filled(developer=card.owner),
                "additional_details": _about_model(facts, context),
            },
            "evaluation_results": [
                _result(one, corpora[one.corpus], facts, context) for one in measurements(facts).itertuples()
            ],
        }
        return json_text(content)


def _about_run(facts: ModelFacts, context: CardContext) -> dict[str, object]:
    tests = {f"tests_{state.replace(' ', '_')}": str(count) for state, count in counts(facts.rows).items()}
    return filled(
        results_sha256=facts.sha256,
        run=facts.record.run,
        book=context.book_url,
        **tests,
        families_failed=", ".join(facts.failed),
        synthetic_speech=", ".join(corpus.name for corpus in facts.corpora if corpus.synthetic) or "none",
        missing=", ".join(context.card.missing) or "nothing",
    )


def _about_model(facts: ModelFacts, context: CardContext) -> dict[str, object]:
    model = facts.model
    said = vars(context.card) | {"languages": ", ".join(context.card.languages)}
    return filled(
        **said,
        deployment_type="self_deployed" if model.kind in _LOCAL else "unknown",
        model_availability="unknown",
        kind=model.kind,
        tasks=", ".join(model.tasks),
        description=model.description,
        fingerprint=model.fingerprint,
        inputs=str(model.inputs),
        inputs_failed=str(model.failed),
        answers_unusable=str(model.unusable),
    )


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


def _result(one: Any, source: dict, facts: ModelFacts, context: CardContext) -> dict[str, object]:
    name = (one.family or "key figure", one.measure.name, one.task, one.group, one.label)
    interval = {}
    if not math.isnan(one.low):
        interval = {
            "num_bootstrap_samples": facts.record.replicates,
            "confidence_interval": {
                "lower": one.low,
                "upper": one.high,
                "confidence_level": _LEVEL,
                "method": interval_method(facts.record.interval, one.block),
            },
        }
    return {
        "evaluation_result_id": one.key,
        "evaluation_name": " / ".join(filter(None, name)),
        "source_data": source,
        "metric_config": _metric(one),
        "score_details": {
            "score": one.value,
            "details": _details(one, context.link(facts.page(one.family))),
            "uncertainty": {"num_samples": one.segments, **interval},
        },
    }


def _metric(one: Any) -> dict[str, object]:
    measure = one.measure
    least, most = (
        number if math.isfinite(number) else "Infinity" if number > 0 else "-Infinity"
        for number in measure.limits
    )
    return {
        "metric_id": measure.id,
        "metric_name": measure.name,
        "lower_is_better": measure.lower_is_better,
        "score_type": "continuous",
        "min_score": least,
        "max_score": most,
        **filled(
            evaluation_description=measure.note,
            metric_parameters=filled(threshold=one.threshold, decision_threshold=one.decision_threshold),
            additional_details={"best": "0, whatever the sign"} if measure.near_zero else {},
        ),
    }


def _details(one: Any, page: str) -> dict[str, object]:
    texts = {name: getattr(one, name) for name in ("task", *TEXTS[1:], "block")}
    numbers = filled(**{name: getattr(one, name) for name in ("segments", "blocks", *FURTHER)})
    return filled(**texts, counted=one.unit, page=page, **{name: repr(numbers[name]) for name in numbers})
