"""Bills of materials are valid, say of each number what it rests on, and are the same each time."""

import json
import uuid

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from tests.support.tested_models import HOSTILE, MODELS, context_of, facts_of

from soundcheck.publish.cards.card_format import CARD_FORMATS

VALIDATOR = JsonStrictValidator(SchemaVersion.V1_7)
SAID = {"owner": "Us", "contact": "help@example.org", "license": "apache-2.0", "intended_use": "calls"}


@pytest.fixture
def made(tmp_path, recorded):
    def make(name, book_url="https://example.org/book", **changes):
        facts = facts_of(name, tmp_path, recorded, **changes)
        text = CARD_FORMATS["cyclonedx"]().text(facts, context_of(facts, book_url))
        assert VALIDATOR.validate_str(text) is None
        return json.loads(text)

    return make


def properties(content):
    listed = content["components"][0]["modelCard"]["properties"]
    return {one["name"]: one["value"] for one in listed}


def metrics(content):
    return content["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("card", [{}, SAID], ids=["nothing said", "said"])
def test_valid(made, name, card):
    content = made(name, card=card)
    assert len(metrics(content)) >= 1
    assert len(properties(content)["soundcheck:results:sha256"]) == 64


def test_the_validator_refuses_what_is_wrong(made):
    content = made("recogniser")
    metrics(content)[0]["segments"] = "200"
    assert VALIDATOR.validate_str(json.dumps(content)) is not None


def test_numbers_by_group(made):
    content = made("recogniser")
    index, found = next((n, one) for n, one in enumerate(metrics(content)) if "accent" in one["slice"])
    assert found == {
        "type": "Word Error Rate Difference, group minus its reference (transcript)",
        "value": "1.25",
        "slice": "corpus=c, accent=welsh",
        "confidenceInterval": {"lowerBound": "0.1", "upperBound": "0.3"},
    }
    told = properties(content)[f"soundcheck:performanceMetrics:{index}"]
    assert told == (
        "90 segments, 7 speakers; gap < 0.075; fail; https://example.org/book/results/m/asr_word_errors.html"
    )


def test_groups_at_risk_are_those_of_failures(made):
    considerations = made("fairness only")["components"][0]["modelCard"]["considerations"]
    (risk,) = considerations["fairnessAssessments"]
    assert risk["groupAtRisk"] == "accent: welsh"
    assert "0.10 against −0.10 of the others" in risk["harms"] and "95 % 0.10 to 0.30" in risk["harms"]
    assert any("1 not evaluated" in text for text in considerations["technicalLimitations"])


def test_synthetic_speech_is_said(made):
    corpus = {
        **{"name": "c", "slug": "c", "format": "csv", "title": "c", "description": "", "synthetic": True},
        **{"segments": 200, "speakers": 0, "seconds": 6.0, "left_out": (), "notices": (), "digest": "d" * 40},
    }
    model, data = made("recogniser", corpora=[corpus])["components"]
    limits = model["modelCard"]["considerations"]["technicalLimitations"]
    assert "synthetic speech" in limits[0]
    assert "synthetic speech, 200 segments, speakers not known" in data["data"][0]["description"]


def test_what_people_say_and_what_they_do_not(made):
    model = made("recogniser", card=SAID)["components"][0]
    assert model["supplier"] == {"name": "Us", "contact": [{"name": "help@example.org"}]}
    assert model["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    assert model["modelCard"]["considerations"]["useCases"] == ["calls"]
    missing = [one["value"] for one in model["modelCard"]["properties"] if "missing" in one["name"]]
    assert "training data" in missing and "owner" not in missing
    silent = made("recogniser")["components"][0]
    assert not {"supplier", "licenses", "version"} & set(silent)


def test_the_serial_number_is_of_the_content(made):
    first, again, other = made("recogniser"), made("recogniser"), made("recogniser", book_url="")
    assert first == again
    assert first["serialNumber"] != other["serialNumber"]
    assert uuid.UUID(first["serialNumber"].removeprefix("urn:uuid:")).version == 5
    assert first["metadata"]["timestamp"] == "2026-11-05T00:00:00Z"
    assert "externalReferences" not in other["components"][0]


def test_hostile_names_are_kept_and_harmless(tmp_path, recorded):
    facts = facts_of("hostile", tmp_path, recorded)
    text = CARD_FORMATS["cyclonedx"]().text(facts, context_of(facts))
    assert text.isascii() and not set("<>&") & set(text)
    assert json.loads(text)["components"][0]["name"] == HOSTILE.replace("\u202e", "\\u202e")
