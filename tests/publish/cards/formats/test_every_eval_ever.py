"""Records follow the schema of Every Eval Ever, and say of each number what it rests on."""

import json
from pathlib import Path

import jsonschema
import pytest
from tests.support.finished import verdict
from tests.support.tested_models import HOSTILE, MODELS, context_of, facts_of

from soundcheck.publish.cards.card_format import CARD_FORMATS

SCHEMA = Path(__file__).parents[1] / "oracles/every_eval_ever/eval.schema.json"


@pytest.fixture(scope="module")
def check():
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema).validate


@pytest.fixture
def made(tmp_path, recorded, check):
    def make(name, **changes):
        facts = facts_of(name, tmp_path, recorded, **changes)
        text = CARD_FORMATS["every-eval-ever"]().text(facts, context_of(facts))
        content = json.loads(text)
        check(content)
        return content

    return make


def by_name(content):
    return {result["evaluation_name"]: result for result in content["evaluation_results"]}


@pytest.mark.parametrize("name", MODELS)
def test_follows_the_schema(made, name):
    results = made(name)["evaluation_results"]
    keys = [result["evaluation_result_id"] for result in results]
    assert results and len(set(keys)) == len(keys)


def test_the_schema_refuses_what_is_wrong(check, made):
    content = made("recogniser")
    content["evaluation_results"][0]["metric_config"]["lower_is_better"] = "yes"
    with pytest.raises(jsonschema.ValidationError):
        check(content)


def test_a_number_with_its_company(made):
    result = by_name(made("recogniser"))["asr_word_errors / Character Error Rate / transcript"]
    score = result["score_details"]
    assert score["score"] == 0.25
    assert score["uncertainty"] == {
        "num_samples": 200,
        "num_bootstrap_samples": 100,
        "confidence_interval": {
            **{"lower": 0.2, "upper": 0.375, "confidence_level": 0.95},
            "method": "percentile interval, whole speakers resampled (blockwise bootstrap)",
        },
    }
    told = {name: score["details"][name] for name in ("blocks", "block", "threshold", "rule", "state")}
    assert told == {**{"blocks": "20", "block": "speaker", "threshold": "0.5", "rule": "<", "state": "pass"}}
    page = "https://example.org/book/results/m/asr_word_errors.html"
    assert score["details"]["page"] == page
    metric = result["metric_config"]
    assert (metric["metric_id"], metric["lower_is_better"]) == ("cer", True)
    assert (metric["min_score"], metric["max_score"]) == (0.0, "Infinity")


def test_gaps_are_scored_by_what_is_judged(made):
    result = by_name(made("fairness only"))[
        "fairness_accent / Mean Value, group minus its reference / arousal / accent: welsh"
    ]
    interval = result["score_details"]["uncertainty"]["confidence_interval"]
    assert (result["score_details"]["score"], interval["lower"], interval["upper"]) == (0.2, 0.1, 0.3)
    assert result["score_details"]["details"]["group_value"] == "0.1"
    assert result["metric_config"]["additional_details"] == {"best": "0, whatever the sign"}


def test_tests_without_number_are_counted(made):
    content = made("fairness only")
    assert len(content["evaluation_results"]) == 1
    told = content["source_metadata"]["additional_details"]
    assert (told["tests_not_evaluated"], told["tests_fail"]) == ("1", "1")


def test_no_interval_is_left_out(made):
    rows = [verdict("m", low=None, high=None, certainty=None, evidence="none")]
    (result,) = made("fairness only", rows=rows)["evaluation_results"]
    assert result["score_details"]["uncertainty"] == {"num_samples": 200}


def test_trials_and_decision_thresholds(made):
    found = by_name(made("verification"))
    figure = found["key figure / false rejection rate / embedding"]
    assert figure["metric_config"]["metric_parameters"] == {"decision_threshold": 0.33}
    assert figure["score_details"]["details"]["counted"] == "trial"


def test_nothing_is_claimed_that_nobody_said(made):
    content = made("recogniser")
    source = content["source_metadata"]
    assert (source["source_organization_name"], source["evaluator_relationship"]) == ("not stated", "other")
    assert "owner" in source["additional_details"]["missing"]
    told = content["model_info"]["additional_details"]
    assert (told["deployment_type"], told["model_availability"]) == ("unknown", "unknown")


def test_what_people_say(made):
    card = {"owner": "Us", "id": "us/ours", "license": "mit"}
    content = made("verification", card=card)
    assert content["source_metadata"]["evaluator_relationship"] == "first_party"
    assert content["model_info"]["id"] == "us/ours"
    assert content["evaluation_id"].split("/")[1:] == ["us", "ours", "1793836800"]
    assert content["model_info"]["additional_details"]["deployment_type"] == "self_deployed"


def test_hostile_names_are_kept_and_harmless(tmp_path, recorded):
    facts = facts_of("hostile", tmp_path, recorded)
    text = CARD_FORMATS["every-eval-ever"]().text(facts, context_of(facts))
    assert text.isascii() and not set("<>&") & set(text)
    name = json.loads(text)["model_info"]["name"]
    assert name == HOSTILE.replace("\u202e", "\\u202e")


def test_same_results_same_bytes(tmp_path, recorded):
    facts = facts_of("recogniser", tmp_path, recorded)
    texts = {CARD_FORMATS["every-eval-ever"]().text(facts, context_of(facts)) for _ in range(2)}
    assert len(texts) == 1 and facts.sha256 in texts.pop()
