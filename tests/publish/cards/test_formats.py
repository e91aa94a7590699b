"""Cards in all formats: recorded byte for byte, valid by the schemas of others, harmless whatever names say.

``SOUNDCHECK_RECORD=1 pytest tests/publish/cards/test_formats.py`` records them anew; read the difference.
"""

import datetime
import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from markdown_it import MarkdownIt
from tests.support.finished import FAILED, finished, verdict
from tests.support.tested_models import HOSTILE, MODELS, context_of, facts_of

from soundcheck.common.errors import InputError
from soundcheck.publish.cards.card_format import CARD_FORMATS, CardContext
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.estimates import Estimate, estimate_frame, write_estimates
from soundcheck.suite.card import Card

RECORDED = Path(__file__).with_name("recorded")
SCHEMA = Path(__file__).with_name("oracles") / "every_eval_ever" / "eval.schema.json"
CORPUS = {
    **{"name": "c", "slug": "c", "format": "csv", "title": "c", "description": "", "synthetic": True},
    **{"segments": 200, "speakers": 0, "seconds": 6.0, "left_out": (), "notices": (), "digest": "d" * 40},
}
BENCHMARK = {"id": "us/board", "task_id": "mean_wer"}
SAID = {"owner": "Us", "contact": "help@example.org", "license": "apache-2.0", "id": "us/ours"}
SAID |= {"intended_use": "Calls.\n\n<b>Not</b> for hiring.", "languages": ["en", "no"]}
ACCEPTED = {"model": "m", "test": "Word Error Rate Difference", "why": "known | so", "until": "2026-11-05"}
TASKS = {
    name: {"name": name, "kind": kind, "classes": [], "low": 0.0, "high": 1.0}
    for name, kind in (("transcript", "transcription"), ("arousal", "regression"))
}
HOLLOW = {
    **{"model": "m", "corpus": "c", "task": "arousal", "measure": "concordance", "value": 0.0, "blocks": 20},
    **{"low": -0.1, "high": 0.1, "segments": 200, "guessing": 0.0, "standing": "hollow"},
}
VARIANTS = {name: {} for name in MODELS} | {
    "recogniser, said": {
        "card": SAID,
        "accepted": [ACCEPTED],
        "corpora": [CORPUS | {"benchmark": BENCHMARK}],
    },
    "fairness only, hollow": {"figures": [HOLLOW]},
}
ESTIMATE = {"model": "m", "corpus": "c", "family": "f", "task": "arousal", "segments": 9, "speakers": 3}
ESTIMATES = [
    *(
        Estimate(**ESTIMATE, measure="recall", label=label, value=value, low=0.1, high=0.9)
        for label, value in (("calm", 0.7), ("(0.75, inf]", 0.2))
    ),
    Estimate(**ESTIMATE, measure="precision", label="calm", value=0.6),
    *(
        Estimate(**ESTIMATE | {"task": "transcript"}, measure="word_error_rate", part=part, value=value)
        for part, value in (("sex: f", 0.1), ("sex: m", 0.25))
    ),
]


@pytest.fixture(scope="module")
def day():
    with pytest.MonkeyPatch.context() as patched:
        noon = datetime.datetime(2026, 11, 5, 12, tzinfo=datetime.UTC)
        patched.setenv("SOURCE_DATE_EPOCH", str(int(noon.timestamp())))
        yield


@pytest.fixture
def cards(tmp_path, recorded, day):
    """Give all cards of a model, by the keyword of their format."""

    def make(name, book_url="https://example.org/book", **changes):
        content = MODELS[name.partition(",")[0]]() | VARIANTS[name] | changes
        write_estimates(estimate_frame(ESTIMATES), tmp_path)
        facts = ModelFacts.read(finished(tmp_path, recorded, **content))
        context = context_of(facts, book_url)
        forms = {keyword: form() for keyword, form in CARD_FORMATS.items()}
        return {k: f.text(facts, context) for k, f in forms.items() if not f.obstacle(facts, context)}

    return make


@pytest.mark.parametrize("name", VARIANTS)
def test_cards_are_as_recorded(cards, name):
    files = {RECORDED / f"{name}.{keyword}": text for keyword, text in cards(name).items()}
    if os.environ.get("SOUNDCHECK_RECORD"):
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    assert ("hub-results" in str(files)) == (name == "recogniser, said")
    for path, text in files.items():
        assert text == path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("name", VARIANTS)
def test_cards_are_valid_for_their_readers_and_harmless(cards, name):
    texts = cards(name)
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(texts["cyclonedx"]) is None
    record = json.loads(texts["every-eval-ever"])
    jsonschema.Draft7Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(record)
    keys = [result["evaluation_result_id"] for result in record["evaluation_results"]]
    assert len(set(keys)) == len(keys)
    for keyword in ("cyclonedx", "every-eval-ever"):
        assert texts[keyword].isascii() and not set("<>&") & set(texts[keyword])
    for keyword in ("huggingface", "annex-iv"):
        body = (
            re.split(r"^---$", texts[keyword], flags=re.M)[-1] if keyword == "huggingface" else texts[keyword]
        )
        html = MarkdownIt("gfm-like", {"linkify": False}).render(body)
        assert not re.search(r"<(img|script|a href=.javascript)", html) and "\u202e" not in html
        for rows in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
            assert len({row.count("<t") for row in re.findall(r"<tr>(.*?)</tr>", rows, re.DOTALL)}) == 1
    claims = r"\b(compl(y|ies|iant)|conforms|certified)\b|verifyToken|verified:"
    assert not re.search(claims, (texts["annex-iv"] + texts["huggingface"]).replace(HOSTILE, ""), re.I)


def test_the_validators_refuse_what_is_wrong(cards):
    texts = cards("recogniser")
    bom, record = json.loads(texts["cyclonedx"]), json.loads(texts["every-eval-ever"])
    bom["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"][0]["segments"] = "200"
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(json.dumps(bom)) is not None
    record["evaluation_results"][0]["metric_config"]["lower_is_better"] = "yes"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(record)


def test_without_a_published_book_there_are_no_links_and_the_serial_number_is_another(cards):
    texts, linked = cards("recogniser", ""), cards("recogniser")
    assert "](" not in texts["annex-iv"] and "source" not in texts["huggingface"].split("---\n")[1]
    numbers = [json.loads(one["cyclonedx"])["serialNumber"] for one in (texts, linked, cards("recogniser"))]
    assert numbers[0] != numbers[1] == numbers[2]


GONE = dict.fromkeys(("value", "low", "high", "passed", "certainty", "reference", "reference_passed"))
GAP = {
    "category": "fairness",
    "family": "fairness_sex",
    "matters": 0.05,
    "threshold": 0.05,
    "rule": "|gap| <",
}
GAP |= {
    "against": "others",
    "group": "sex: <b>|",
    "group_value": 0.4,
    "others_value": 0.5,
    "test": "Mean Value",
}
NO_VALUE = {"value": None, "low": None, "high": None, "reason": "0 words"}
FIGURE = HOLLOW | {
    "task": "transcript",
    "measure": "word error rate",
    "standing": "proven",
    "value": 0.1234567,
}
RATE = FIGURE | {"measure": "false acceptance rate", "standing": "", "threshold": 0.5}


@pytest.mark.parametrize(
    ("keyword", "rows", "figures", "said"),
    [
        (
            "huggingface",
            [verdict(test="O", state="inconclusive")],
            [],
            "- Inconclusive, which is no pass: 1 test.",
        ),
        (
            "huggingface",
            [verdict(skipped="1 | 2", evidence="", state="not evaluated", **GONE)],
            [],
            "- Not evaluated, for lack of data or labels: 1 test.",
        ),
        (
            "huggingface",
            [verdict(**FAILED | GAP)],
            [],
            "html) | 0.40 | 0.50 | −0.10 | −0.20 to −0.050 | 0.050 | 20 |  |",
        ),
        (
            "huggingface",
            [
                verdict(
                    **FAILED
                    | GAP
                    | {"test": "Unweighted Average Recall", "gap": 0.1, "gap_low": 0.05, "gap_high": 0.2}
                )
            ],
            [],
            "\n\nGroups that are better off than the others:\n\n| ",
        ),
        ("huggingface", [verdict()], [FIGURE | NO_VALUE], "| none | none |"),
        (
            "huggingface",
            [verdict()],
            [FIGURE | {"low": None, "high": None, "reason": "1 speaker"}],
            "none: 1 speaker",
        ),
        ("annex-iv", [verdict()], [], "**nothing is known of differences between groups**"),
        (
            "annex-iv",
            [verdict(**FAILED | GAP)],
            [HOLLOW],
            "at arousal, where the model is no better than chance",
        ),
    ],
)
def test_what_else_a_card_says(cards, keyword, rows, figures, said):
    assert said in cards("fairness only", rows=rows, figures=figures)[keyword]


@pytest.mark.parametrize(
    ("license", "expected"),
    [
        ("Apache-2.0", {"license": "apache-2.0"}),
        ("Ours: all", {"license": "other", "license_name": "Ours: all"}),
        ("", {}),
    ],
)
def test_licences_and_base_models(cards, license, expected):
    for base in ("us/base", "a network of 2019"):
        text = cards("recogniser", card={"license": license, "base_model": base})["huggingface"]
        about = yaml.safe_load(text.split("---\n")[1])
        assert {key: about[key] for key in ("license", "license_name") if key in about} == expected
        assert ("base_model" in about) == (base == "us/base")


def test_a_readme_of_others(tmp_path, recorded):
    facts, form = facts_of("recogniser", tmp_path, recorded), CARD_FORMATS["huggingface"]()

    def put(text, **card):
        context = CardContext(Card(**card), "", datetime.date(2026, 11, 5))
        return form.updated(text, "README.md", facts, context)

    mine = "---\nlicense: mit\npipeline_tag: text-to-speech\ntags: [a]\n---\n# Mine\n\nWords\n"
    text = put(mine, languages=("de",))
    assert text.startswith(mine.partition("---\n# Mine")[0] + "language:\n- de\nmodel-index:")
    assert "\n---\n# Mine\n\nWords\n\n<!-- soundcheck:begin -->" in text
    assert put(text, languages=("de",)) == text
    changed = put(text, languages=("de",), license="apache-2.0")
    assert "license: apache-2.0\n" in changed and "license: mit" not in changed
    for empty in ("", "\n", "\ufeff"):
        assert put(empty) == form.text(facts, CardContext(Card(), "", datetime.date(2026, 11, 5)))
    told = put(mine, intended_use="For *us*\n\n## not a heading\n<!-- soundcheck:end -->")
    assert "\n\\## not a heading" in told and told.count("<!-- soundcheck:end -->") == 1


def test_a_page_of_evidence_is_replaced_only_if_nobody_changed_it(tmp_path, recorded):
    facts, page = facts_of("recogniser", tmp_path, recorded), CARD_FORMATS["annex-iv"]()
    text, other = page.text(facts, context_of(facts)), context_of(facts, "")
    for untouched in (text, text.replace("\n", "\r\n"), ""):
        assert page.updated(untouched, "evidence.md", facts, other) == page.text(facts, other)
    for changed in (text.replace("*To be added by people.*", "See the manual."), text + "Signed: A", "# Own"):
        with pytest.raises(InputError, match="evidence.md.*people have written into this page"):
            page.updated(changed, "evidence.md", facts, other)


def test_leaderboards_get_the_task_of_the_benchmark(cards, tmp_path, recorded):
    both = [FIGURE, HOLLOW | {"standing": "proven", "value": 0.12345}]

    def listed(benchmark, figures):
        corpora, suite = [CORPUS | {"benchmark": benchmark}], {"tasks": TASKS, "corpora": {}}
        rows, form = [verdict()], CARD_FORMATS["hub-results"]()
        folder = finished(tmp_path, recorded, rows, corpora=corpora, figures=figures, suite=suite)
        facts = ModelFacts.read(folder)
        context = context_of(facts)
        return form.obstacle(facts, context), yaml.safe_load(form.text(facts, context))

    named = "corpus c has results of transcript, arousal: name one of them as task: in benchmark:"
    assert listed(BENCHMARK, both)[0] == named
    assert listed(BENCHMARK | {"task": "arousal"}, both)[1][0]["value"] == 0.1235
    assert listed(BENCHMARK, [FIGURE, RATE])[0] == ""
    assert "no corpus of the model says" in listed(None, [FIGURE])[0]
    assert "has a result of the model" in listed(BENCHMARK, [])[0]
