"""Records of evaluations in the format of Every Eval Ever 0.3.0, which has a place for intervals and counts.

Conventions
-----------
- One result for each number of the run, as :func:`soundcheck.publish.measurements.measurements` lists them.
  Tests without a number have no place in the format; how many there are stands in ``source_metadata``.
- Of numbers that should be near 0 whatever their sign, ``lower_is_better`` is about their size; the format
  has no word for that, so ``additional_details`` of the metric say it.
- Whether weights are open nobody told, so that is ``unknown``; who evaluates is ``first_party`` if the card
  names an owner, as no card claims that others have checked it, else ``other``.
"""

from __future__ import annotations

import datetime
import math

from soundcheck.publish.cards.card_format import CardFormat
from soundcheck.publish.cards.context import CardContext
from soundcheck.publish.cards.json_text import json_text
from soundcheck.publish.cards.measurements import LEVEL, Measurement, interval_method, measurements
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.record import CorpusRecord
from soundcheck.results.summary import tally

_LOCAL = ("command", "onnx", "onnx-asr", "python", "random", "transformers")  # kinds that run here


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
                **({"developer": card.owner} if card.owner else {}),
                "additional_details": _about_model(facts, context),
            },
            "evaluation_results": [
                _result(one, corpora[one.corpus], facts, context) for one in measurements(facts)
            ],
        }
        return json_text(content)


def _about_run(facts: ModelFacts, context: CardContext) -> dict[str, str]:
    found = tally(facts.rows).items()
    tests = {f"tests_{state.replace(' ', '_')}": str(count) for state, count in found}
    synthetic = [corpus.name for corpus in facts.corpora if corpus.synthetic]
    return {
        "results_sha256": facts.sha256,
        "run": facts.record.run,
        **({"book": context.book_url} if context.book_url else {}),
        **tests,
        **({"families_failed": ", ".join(facts.failed)} if facts.failed else {}),
        "synthetic_speech": ", ".join(synthetic) or "none",
        "missing": ", ".join(context.missing) or "nothing",
    }


def _about_model(facts: ModelFacts, context: CardContext) -> dict[str, str]:
    model, card = facts.model, context.card
    told = {
        **{"kind": model.kind, "tasks": ", ".join(model.tasks), "description": model.description},
        **{"version": card.version, "license": card.license, "languages": ", ".join(card.languages)},
        **{"intended_use": card.intended_use, "limitations": card.limitations, "contact": card.contact},
        **{"training_data": card.training_data, "base_model": card.base_model},
        **{"fingerprint": model.fingerprint, "inputs": str(model.inputs)},
        **{"inputs_failed": str(model.failed), "answers_unusable": str(model.unusable)},
    }
    return {
        "deployment_type": "self_deployed" if model.kind in _LOCAL else "unknown",
        "model_availability": "unknown",
        **{name: text for name, text in told.items() if text},
    }


def _source(corpus: CorpusRecord) -> dict[str, object]:
    details = {
        **{"title": corpus.title, "format": corpus.format, "segments": str(corpus.segments)},
        **{"speakers": str(corpus.speakers or "not known"), "seconds": f"{corpus.seconds:.0f}"},
        **{"synthetic_speech": str(corpus.synthetic).lower(), "digest": corpus.digest},
    }
    source = {"dataset_name": corpus.name, "source_type": "other"}
    if corpus.benchmark is not None:
        source |= {"source_type": "hf_dataset", "hf_repo": corpus.benchmark.id}
        source |= {"samples_number": corpus.segments}
        details |= {"task_id": corpus.benchmark.task_id, "revision": corpus.benchmark.revision}
    return source | {"additional_details": {name: text for name, text in details.items() if text}}


def _result(one: Measurement, source: dict, facts: ModelFacts, context: CardContext) -> dict[str, object]:
    name = [one.family or "key figure", one.measure.name, one.task, one.group, one.label]
    interval = {}
    if one.low is not None and one.high is not None:
        interval = {
            "num_bootstrap_samples": facts.record.replicates,
            "confidence_interval": {
                **{"lower": one.low, "upper": one.high, "confidence_level": LEVEL},
                "method": interval_method(one.interval, one.block),
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


def _metric(one: Measurement) -> dict[str, object]:
    measure = one.measure
    limits = {"threshold": one.threshold, "decision_threshold": one.further.get("decision threshold")}
    parameters = {name: number for name, number in limits.items() if number is not None}
    return {
        **({"evaluation_description": measure.note} if measure.note else {}),
        "metric_id": measure.id,
        "metric_name": measure.name,
        **({"metric_parameters": parameters} if parameters else {}),
        "lower_is_better": measure.lower_is_better,
        **_limits(measure.limits),
        **({"additional_details": {"best": "0, whatever the sign"}} if measure.near_zero else {}),
    }


def _limits(limits: tuple[float, float] | None) -> dict[str, object]:
    """Give the type of a score and its limits; a score of which nobody knows them has no type."""
    if limits is None:
        return {}
    low, high = (
        number if math.isfinite(number) else "Infinity" if number > 0 else "-Infinity" for number in limits
    )
    return {"score_type": "continuous", "min_score": low, "max_score": high}


def _details(one: Measurement, page: str) -> dict[str, str]:
    told = {
        **{"task": one.task, "group": one.group, "label": one.label, "state": one.state},
        **{"rule": one.rule, "threshold": "" if one.threshold is None else repr(one.threshold)},
        **{"segments": str(one.segments), "blocks": str(one.blocks)},
        **{"counted": one.unit, "block": one.block},
        **{"standing": one.standing, "accepted": one.accepted, "remark": one.remark, "page": page},
    }
    numbers = {name.replace(" ", "_"): repr(number) for name, number in one.further.items()}
    return {name: text for name, text in (told | numbers).items() if text}
