"""Cards in all formats: as recorded, valid by the schemas of others, harmless, written whole or not.

``SOUNDCHECK_RECORD=1 pytest tests/publish/cards/test_formats.py`` records them anew; read the difference.
"""

import datetime
import json
import math
import os
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from markdown_it import MarkdownIt
from tests.support.findings import FIGURE, GAP, NOTHING
from tests.support.finished import FAILED, finished, verdict

from soundcheck.common.messages import InputError
from soundcheck.publish.cards import card_format
from soundcheck.publish.cards.card_format import (
    CARD_FORMATS,
    CardContext,
    CardFormat,
    read_book_url,
    write_cards,
)
from soundcheck.publish.cards.records import interval_methods, measure_of_test, measurements
from soundcheck.results.facts import ModelFacts
from soundcheck.results.record import FamilyRecord
from soundcheck.results.rows import Estimate
from soundcheck.results.table import estimate_frame, write_estimates
from soundcheck.suite.entries import Card
from soundcheck.suite.thresholds import read_family

RECORDED = Path(__file__).with_name("recorded")
SCHEMA = json.loads(RECORDED.with_name("oracles").joinpath("every_eval_ever/eval.schema.json").read_text())
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
DAY = datetime.date(2026, 11, 5)
HOSTILE = '</script><img src=x onerror=alert(1)>|`"*_\n# [y](javascript:z) {{7*7}} ${x}$ \u202e --- & \\'
NOBODY = {"reference": None, "reference_passed": None}  # guessing was not tested
VOICES = {"family": "speaker_verification", "task": "embedding", "rule": "<", "segments": 9000} | NOBODY
WORDS = {"family": "asr_word_errors", "task": "transcript", "rule": "<"} | NOBODY
WELSH = GAP | {"group": "accent: welsh"}
WORSE = WELSH | {"gap": 0.18, "gap_low": 0.11, "gap_high": 0.32}
UNKNOWN = NOTHING | {"family": "fairness_accent", "category": "fairness", "test": "Mean Value", "blocks": 0}
UNKNOWN |= {"rule": "|gap| <", "threshold": 0.075, "segments": 0}
RATES = FIGURE | {"task": "embedding", "segments": 9000}
GREAT = {"test": "Word Error Rate Difference", "rule": "gap <", "gap": 1.25, "gap_high": 1.4}
HOLLOW = FIGURE | {"value": 0.0, "low": -0.1, "high": 0.1, "standing": "hollow"}
SPOKEN = FIGURE | {"task": "transcript", "measure": "word error rate", "guessing": 1.0}
ANYTHING = {"corpus": HOSTILE, "task": HOSTILE, "family": HOSTILE}
MODELS = {
    "fairness only": {
        "rows": [verdict(**WELSH), verdict(**UNKNOWN | {"group": "accent", "skipped": "fewer than 2 groups"})]
    },
    "verification": {
        "rows": [
            verdict("m", "Equal Error Rate", **VOICES | FAILED | {"threshold": 0.1}),
            verdict("m", "Change Eer White Noise", **VOICES, value=-0.1, low=-0.2, high=0.01),
            verdict(**WORSE | VOICES | {"test": "False Rejection Rate Difference", "rule": "gap <"}),
        ],
        "figures": [
            RATES | {"measure": "equal error rate", "value": 0.25, "low": 0.125, "guessing": 0.5},
            RATES | {"measure": "false rejection rate", "guessing": None, "standing": "", "threshold": 0.33},
        ],
        "kinds": {"m": "onnx"},
    },
    "recogniser": {
        "rows": [
            verdict("m", "Word Error Rate", **WORDS | FAILED | {"value": 1.5, "low": 1.2, "high": 1.8}),
            verdict("m", "Character Error Rate", **WORDS, value=0.25, low=0.2, high=0.375),
            verdict(**WORSE | WORDS | GREAT),
        ],
        "figures": [FIGURE | {"task": "transcript", "measure": "word error rate", "value": 1.5, "high": 1.8}],
    },
    "hostile": {
        "rows": [
            verdict(HOSTILE, HOSTILE, **ANYTHING | FAILED | {"label": HOSTILE}),
            verdict(HOSTILE, **GAP | {"group": f"{HOSTILE}: {HOSTILE}", "corpus": HOSTILE, "label": HOSTILE}),
            verdict(HOSTILE, **UNKNOWN | {"group": "accent: b", "skipped": HOSTILE}),
        ],
        "figures": [FIGURE | {"model": HOSTILE, "corpus": HOSTILE, "task": HOSTILE, "guessing": 1.0}],
        "title": HOSTILE,
        "card": dict.fromkeys(
            ("intended_use", "license", "owner", "training_data", "limitations", "version", "contact", "id"),
            HOSTILE,
        ),
    },
}
LISTED = {"card": SAID, "accepted": [ACCEPTED], "corpora": [CORPUS | {"benchmark": BENCHMARK}]}
VARIANTS = dict.fromkeys(MODELS, {}) | {"recogniser, said": LISTED}
VARIANTS |= {"fairness only, hollow": {"figures": [HOLLOW]}}
ABOUT = {"model": "m", "corpus": "c", "family": "f", "segments": 9, "speakers": 3}
RECALL, RATE = {"task": "arousal", "measure": "recall"}, {"task": "transcript", "measure": "word_error_rate"}
ESTIMATES = [
    Estimate(**ABOUT | RECALL, label="calm", value=0.7, low=0.1, high=0.9),
    Estimate(**ABOUT | RECALL, label="(0.75, inf]", value=0.2, low=0.1, high=0.9),
    Estimate(**ABOUT | RECALL | {"measure": "precision"}, label="calm", value=0.6),
    Estimate(**ABOUT | RATE, part="sex: f", value=0.1),
    Estimate(**ABOUT | RATE, part="sex: m", value=0.25),
]


def facts_of(name, folder, **changes):
    """Write the run of one of the models and read its facts."""
    return ModelFacts.read(finished(folder, **MODELS[name] | changes))


def context_of(facts, book_url="https://example.org/book"):
    """Give what cards say beside the facts, on a fixed day."""
    return CardContext.of(facts, book_url, DAY)


@pytest.fixture
def cards(tmp_path, monkeypatch):
    """Give the cards of a model, all or those that are named, by the keyword of their format."""
    noon = datetime.datetime.combine(DAY, datetime.time(12), datetime.UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(noon.timestamp())))

    def make(name, book_url="https://example.org/book", named=tuple(CARD_FORMATS), **changes):
        write_estimates(estimate_frame(ESTIMATES), tmp_path)
        facts = facts_of(name.partition(",")[0], tmp_path, **VARIANTS[name] | changes)
        context, forms = context_of(facts, book_url), {key: CARD_FORMATS[key]() for key in named}
        fitting = {key: form for key, form in forms.items() if not form.obstacle(facts, context)}
        return {key: form.text(facts, context) for key, form in fitting.items()}

    return make


@pytest.mark.parametrize("name", VARIANTS)
def test_cards_are_as_recorded_valid_for_their_readers_and_harmless(cards, name):
    texts = cards(name)
    assert ("hub-results" in texts) == (name == "recogniser, said")
    for keyword, text in texts.items():
        path = RECORDED / f"{name}.{keyword}"
        if os.environ.get("SOUNDCHECK_RECORD"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), keyword
    record = json.loads(texts["every-eval-ever"])
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(texts["cyclonedx"]) is None
    assert list(jsonschema.Draft7Validator(SCHEMA).iter_errors(record)) == []
    keys = [result["evaluation_result_id"] for result in record["evaluation_results"]]
    assert len(set(keys)) == len(keys)
    for keyword in ("cyclonedx", "every-eval-ever"):
        assert texts[keyword].isascii() and not set("<>&") & set(texts[keyword])
    for text in (re.split(r"^---$", texts["huggingface"], flags=re.M)[-1], texts["annex-iv"]):
        html = MarkdownIt("gfm-like", {"linkify": False}).render(text)
        assert not re.search(r"<(img|script|a href=.javascript)", html) and "\u202e" not in html
        for rows in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
            assert len({row.count("<t") for row in re.findall(r"<tr>(.*?)</tr>", rows, re.DOTALL)}) == 1
    claims = r"\b(compl(y|ies|iant)|conforms|certified)\b|verifyToken|verified:"
    assert not re.search(claims, (texts["annex-iv"] + texts["huggingface"]).replace(HOSTILE, ""), re.I)


def test_without_a_published_book_there_are_no_links_and_the_serial_number_is_another(cards):
    texts = cards("recogniser", "", ("annex-iv", "huggingface", "cyclonedx"))
    assert "](" not in texts["annex-iv"] and "source" not in texts["huggingface"].split("---\n")[1]
    linked = json.loads((RECORDED / "recogniser.cyclonedx").read_text(encoding="utf-8"))
    assert json.loads(texts["cyclonedx"])["serialNumber"] != linked["serialNumber"]


BETTER = GAP | {"test": "Unweighted Average Recall", "gap": 0.1, "gap_low": 0.05, "gap_high": 0.2}
PROVEN = HOLLOW | {"task": "transcript", "measure": "word error rate", "standing": "proven"}
PROVEN |= {"value": 0.1234567}
NO_ENDS = {"low": None, "high": None, "reason": "1 speaker"}


@pytest.mark.parametrize(
    ("keyword", "row", "figures", "said"),
    [
        ("huggingface", NOTHING, [], "- Not evaluated: 1 test; the column skipped of results.csv says why."),
        ("huggingface", GAP, [], "html) | 0.30 | 0.48 | −0.18 | −0.32 to −0.11 | 0.075 | 10 |  |"),
        ("huggingface", BETTER, [], "\n\nGroups that are better off than the others:\n\n| "),
        ("huggingface", {}, [PROVEN | NO_ENDS | {"value": None, "reason": "0 words"}], "| none | none |"),
        ("annex-iv", {}, [], "**nothing is known of differences between groups**"),
        ("annex-iv", GAP, [HOLLOW], "at arousal, where the model is no better than chance"),
    ],
)
def test_what_else_a_card_says(cards, keyword, row, figures, said):
    assert said in cards("fairness only", named=[keyword], rows=[verdict(**row)], figures=figures)[keyword]


def test_a_readme_of_others(tmp_path):
    facts, form = facts_of("recogniser", tmp_path), CARD_FORMATS["huggingface"]()

    def put(text, **card):
        return form.updated(text, "README.md", facts, CardContext(Card(**card), "", DAY))

    mine = "---\nlicense: mit\npipeline_tag: text-to-speech\ntags: [a]\n---\n# Mine\n\nWords\n"
    text = put(mine, languages=("de",))
    assert text.startswith(mine.partition("---\n# Mine")[0] + "language:\n- de\nmodel-index:")
    assert "\n---\n# Mine\n\nWords\n\n<!-- soundcheck:begin -->" in text
    assert put(text, languages=("de",)) == text
    named = put(text, languages=("de",), license="Ours", base_model="a network of 2019")
    assert "license: other\n" in named and "license_name: Ours\n" in named and "base_model" not in named
    licensed = put(text, license="Apache-2.0", base_model="us/base")
    assert "license: apache-2.0\n" in licensed and "base_model: us/base\n" in licensed
    assert put("\ufeff") == form.text(facts, CardContext(Card(), "", DAY))
    intended = put(mine, intended_use="For *us*\n\n## not a heading\n<!-- soundcheck:end -->")
    assert "\n\\## not a heading" in intended and intended.count("<!-- soundcheck:end -->") == 1


def test_a_page_of_evidence_is_replaced_only_if_nobody_changed_it(tmp_path):
    facts, page = facts_of("recogniser", tmp_path), CARD_FORMATS["annex-iv"]()
    text, other = page.text(facts, context_of(facts)), context_of(facts, "")
    for untouched in (text, text.replace("\n", "\r\n"), ""):
        assert page.updated(untouched, "evidence.md", facts, other) == page.text(facts, other)
    for changed in (text.replace("*To be added by people.*", "See the manual."), text + "Signed: A", "# Own"):
        with pytest.raises(InputError, match="evidence.md.*people have written into this page"):
            page.updated(changed, "evidence.md", facts, other)


ACCEPTANCE = PROVEN | {"measure": "false acceptance rate", "standing": "", "threshold": 0.5}
NAMED = "corpus c has results of transcript, arousal: name one of them as task: in benchmark:"


@pytest.mark.parametrize(
    ("benchmark", "figures", "obstacle"),
    [
        (BENCHMARK, [PROVEN, HOLLOW | {"value": 0.12345}], NAMED),
        (BENCHMARK | {"task": "arousal"}, [PROVEN, HOLLOW | {"value": 0.12345}], ""),
        (BENCHMARK, [PROVEN, ACCEPTANCE], ""),
        (None, [PROVEN], "no corpus of the model says"),
        (BENCHMARK, [], "has a result of the model"),
    ],
)
def test_leaderboards_get_the_task_of_the_benchmark(tmp_path, benchmark, figures, obstacle):
    changes = {"corpora": [CORPUS | {"benchmark": benchmark}], "suite": {"tasks": TASKS, "corpora": {}}}
    facts = ModelFacts.read(finished(tmp_path, [verdict()], figures=figures, **changes))
    context, form = context_of(facts), CARD_FORMATS["hub-results"]()
    message = form.obstacle(facts, context)
    assert obstacle in message and bool(obstacle) == bool(message)
    if not obstacle:
        wanted = 0.1235 if "task" in benchmark else 12.35
        assert yaml.safe_load(form.text(facts, context))[0]["value"] == wanted


@pytest.fixture
def run(tmp_path):
    return finished(tmp_path / "out", [verdict(), verdict(test="U", **FAILED)])


@pytest.mark.parametrize(
    ("name", "named", "message"),
    [
        ("x", ["huggingface", "hub-results"], "--format hub-results: no corpus of the model says"),
        *((name, (), "leads out of") for name in ("../x.md", "/x.md", "a/../../x.md")),
    ],
)
def test_all_or_none_are_written(run, monkeypatch, name, named, message):
    last = type("Last", (CardFormat,), {"filename": lambda *_: name, "text": lambda *_: ""})
    monkeypatch.setattr(card_format, "CARD_FORMATS", dict(CARD_FORMATS.items()) | {"zzz": last})
    with pytest.raises(InputError, match=message):
        write_cards(run, formats=named)
    assert not (run / "cards").exists()


def test_what_stands_there_and_is_no_text(run, tmp_path):
    (tmp_path / "README.md").write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match="README.md line 2: byte 3 is not UTF-8"):
        write_cards(run, out=tmp_path)
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").mkdir()
    with pytest.raises(InputError, match="README.md: this is a folder"):
        write_cards(run, out=tmp_path)


def test_addresses_of_books():
    for text in ("https://e.org/b", "https://e.org/b/", "https://e.org/b/index.html"):
        assert read_book_url(text).rstrip("/") == "https://e.org/b"
    for text in (
        *("javascript:alert(1)", "file:///home/me/book", "https://", "//e.org", "https://[::1"),
        *("https://me:secret@e.org/", "https://e.org/?token=1", "https://e.org/#a", "https://e.org/a b"),
        *("https://e.org/a)[x](b", "https://e.org/\nx"),
    ):
        with pytest.raises(InputError, match="--book-url"):
            read_book_url(text)


def measure(family, test, rule="<", compares=False):
    digest = read_family(family).digest
    record = FamilyRecord(name=family, title="", category="correctness", question="", digest=digest)
    return measure_of_test(record, test, rule, compares)


CCC = ("fairness_sex", "Concordance Correlation Coeff")
OURS = "soundcheck.fairness_sex.concordance_correlation_coeff"


@pytest.mark.parametrize(
    ("given", "identifier", "lower", "limits"),
    [
        (("asr_word_errors", "Word Error Rate"), "wer", True, (0, math.inf)),
        (("correctness_regression", CCC[1], ">"), "ccc", False, (-1, 1)),
        (("correctness_classification", "Recall Per Class", ">"), "recall", False, (0, 1)),
        (("speaker_verification", "Actual Detection Cost"), "act_dcf", True, (0, math.inf)),
        (("speaker_verification", "Minimum Detection Cost"), "min_dcf", True, (0, 1)),
        # The same name of a difference is another number.
        ((*CCC, "|gap| <"), f"{OURS}.gap", None, (-2, 2)),
        ((*CCC, "|value| <", True), OURS, None, (-2, 2)),
    ],
)
def test_names_of_the_field(given, identifier, lower, limits):
    measured = measure(*given)
    assert (measured.id, measured.limits, measured.near_zero) == (identifier, limits, lower is None)
    assert lower is None or measured.lower_is_better == lower


def test_numbers_of_a_run(tmp_path):
    of = {"value": -0.1, "low": -0.2, "high": 0.0, "gap": -0.3, "reference": None, "reference_passed": None}
    row = verdict("m", group="sex: female", rule="|value| <", **of)
    (number,) = measurements(facts_of("fairness only", tmp_path, rows=[row])).itertuples()
    assert number.value == -0.1 and math.isnan(number.group_value)  # a group that is judged by its value
    beyond = {
        "figures": [FIGURE | {"task": "transcript", "measure": "equal error rate", "value": 1.5}]
    }  # takes its limit away
    blocks = {"suite": {"corpora": {"c": {"blocks": "call"}}}}
    facts = facts_of("recogniser", tmp_path, **beyond, **blocks)
    assert next(measurements(facts).itertuples()).measure.limits == (0, math.inf)
    assert interval_methods(facts) == ["percentile interval, whole blocks resampled (blockwise bootstrap)"]
