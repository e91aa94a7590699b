"""A model card from a few rows: what it counts, what it does not claim, and what becomes of a README."""

import dataclasses
import datetime

import pytest
import yaml
from tests.support.finished import FAILED, finished, verdict

from soundcheck.publish.cards.card_format import CardContext
from soundcheck.publish.cards.formats.huggingface import HuggingFaceCard
from soundcheck.publish.facts import ModelFacts
from soundcheck.results.estimates import Estimate, estimate_frame, write_estimates
from soundcheck.suite.card import Card

FIGURE = {
    **{"model": "m", "corpus": "c", "task": "transcript", "measure": "word error rate", "value": 0.1234567},
    **{"low": 0.1, "high": 0.15, "segments": 200, "blocks": 20, "guessing": 1.02, "standing": "proven"},
}
TASKS = {
    name: {"name": name, "kind": kind, "classes": [], "low": 0.0, "high": 1.0}
    for name, kind in (("transcript", "transcription"), ("arousal", "regression"))
}


@pytest.fixture
def made(tmp_path, recorded):
    def make(rows, card=None, existing=None, **changes):
        changes = {"figures": [FIGURE], "suite": {"tasks": TASKS, "corpora": {}}} | changes
        finished(tmp_path / "out", recorded, rows, **changes)
        return make.again(card, existing)

    def again(card=None, existing=None):
        facts, form = ModelFacts.read(tmp_path / "out"), HuggingFaceCard()
        context = CardContext(card or Card(), "", datetime.date(2026, 11, 1))
        if existing is None:
            return form.text(facts, context)
        return form.updated(existing, "README.md", facts, context)

    make.again = again
    return make


def metadata(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_error_rates_are_in_per_cent_with_interval_and_counts(made):
    text = made([verdict()])
    (result,) = metadata(text)["model-index"][0]["results"]
    (metric,) = result["metrics"]
    assert result["task"] == {"type": "automatic-speech-recognition", "name": "transcript"}
    assert (metric["type"], metric["value"]) == ("wer", 12.35)
    args = metric["args"]
    assert (args["low"], args["high"], args["guessing"], args["unit"]) == (10.0, 15.0, 102.0, "%")
    assert (args["segments"], args["blocks"], len(args["results_sha256"])) == (200, 20, 64)
    assert "source" not in result  # the book is not published
    assert "| 12.3 % | 10.0 % to 15.0 % |" in text


def test_what_has_no_value_is_in_the_text_only(made):
    none = FIGURE | {"value": None, "low": None, "high": None, "reason": "0 words"}
    text = made([verdict()], figures=[none])
    assert "model-index" not in metadata(text) and "| none | none |" in text and "0 words |" in text


def test_what_has_no_interval_says_why(made):
    text = made([verdict()], figures=[FIGURE | {"low": None, "high": None, "reason": "1 speaker"}])
    args = metadata(text)["model-index"][0]["results"][0]["metrics"][0]["args"]
    assert args["interval"] == "none: 1 speaker" and "low" not in args


def test_everything_is_counted(made):
    nothing = dict.fromkeys(("value", "low", "high", "passed", "certainty", "reference", "reference_passed"))
    gone = verdict(test="S", skipped="1 | 2 needed", evidence="", state="not evaluated", **nothing)
    undecided = verdict(test="O", state="inconclusive")
    text = made([verdict(), verdict(test="U", **FAILED), gone, undecided])
    assert "Tests: 1 pass, 1 fail, 1 inconclusive, 1 not evaluated, 0 reported." in text
    assert "- Inconclusive, which is no pass: 1 test." in text
    assert "- Not evaluated, for lack of data or labels: 1 test." in text
    assert "| u of arousal | c | 0.40 | 0.30 to 0.45 | above 0.50 | 20 |  |" in text


def test_tests_at_chance_level_are_not_failures(made):
    unfair = verdict(test="U", category="fairness", family="fairness_sex", group="sex: a", **FAILED)
    text = made([verdict(), unfair], figures=[FIGURE | {"task": "arousal", "standing": "hollow"}])
    assert "Tests: 1 pass, 0 fail, " in text and "No group was compared: **nothing is known" in text
    assert "- Not counted: 1 test of fairness and robustness at arousal, where the model is no better" in text


GAP = {"category": "fairness", "matters": 0.05, "threshold": 0.05, "rule": "|gap| <", "against": "others"}
GAP |= {"group": "sex: <b>|", "group_value": 0.4, "others_value": 0.5}


def test_groups_have_both_values_with_interval_margin_and_speakers(made):
    row = verdict(test="Unweighted Average Recall", family="fairness_sex", **FAILED | GAP)
    text = made([verdict(), row])
    assert (
        "| &lt;b&gt;&#124; speakers | c | unweighted average recall of arousal | 0.40 | 0.50 | −0.10 "
        "| −0.20 to −0.050 | 0.050 | 20 |  |"
    ) in text
    assert "better off" not in text
    better = row.__class__(**vars(row) | {"gap": 0.1, "gap_low": 0.05, "gap_high": 0.2})
    text = made([verdict(), better])
    assert "No group is shown to be worse off." in text
    assert "\n\nGroups that are better off than the others:\n\n| " in text


def test_values_of_classes_and_groups_are_estimates_the_worst_first(made, tmp_path):
    made([verdict()])
    about = {"model": "m", "corpus": "c", "family": "f", "task": "arousal", "segments": 9, "speakers": 3}
    rows = [
        Estimate(**about, measure="recall", label=name, value=value, low=0.1, high=0.9)
        for name, value in (("calm", 0.7), ("(0.75, inf]", 0.2))
    ]
    rows.append(Estimate(**about, measure="precision", label="calm", value=0.6))
    rows += [
        Estimate(
            **about | {"task": "transcript"}, measure="word_error_rate", part=f"sex: {name}", value=value
        )
        for name, value in (("f", 0.1), ("m", 0.25))
    ]
    write_estimates(estimate_frame(rows), tmp_path / "out")
    text = made.again()
    assert (
        "| above 0.75 | arousal | c | 0.20 | 0.10 to 0.90 |  |  | 9 | 3 |\n| calm | arousal | c | 0.70 "
        in text
    )
    assert "| m speakers | c | word error rate | 25.0 % | none |  | 9 | 3 |\n| f speakers |" in text


@pytest.mark.parametrize(
    ("license", "found"),
    [
        ("Apache-2.0", {"license": "apache-2.0"}),
        ("Ours: all", {"license": "other", "license_name": "Ours: all"}),
        ("", {}),
    ],
)
def test_licences(made, license, found):
    about = metadata(made([verdict()], Card(license=license)))
    assert {key: about[key] for key in ("license", "license_name") if key in about} == found


def test_only_names_on_hubs_are_base_models(made):
    assert metadata(made([verdict()], Card(base_model="us/base")))["base_model"] == "us/base"
    assert "base_model" not in metadata(made([verdict()], Card(base_model="a network of 2019")))


def test_a_readme_of_others(made):
    mine = "---\nlicense: mit\npipeline_tag: text-to-speech\ntags: [a]\n---\n# Mine\n\nWords\n"
    text = made([verdict()], Card(languages=("de",)), mine)
    assert text.startswith(
        "---\nlicense: mit\npipeline_tag: text-to-speech\ntags: [a]\nlanguage:\n- de\nmodel-index:"
    )
    assert "\n---\n# Mine\n\nWords\n\n<!-- soundcheck:begin -->" in text
    again = made([verdict()], Card(languages=("de",)), text)
    assert again == text
    changed = made([verdict()], Card(languages=("de",), license="apache-2.0"), text)
    assert changed == text.replace("license: mit", "license: apache-2.0").replace(
        "Languages: de", "Licence: apache-2.0\n- Languages: de"
    ).replace("licence, ", "")


@pytest.mark.parametrize("existing", ["", "\n", "\ufeff"])
def test_an_empty_file_gets_a_whole_card(made, existing):
    assert made([verdict()], existing=existing) == made([verdict()])


def test_nothing_claims_to_be_verified(made):
    text = made([verdict()])
    assert "no one else has verified" in text
    assert "verifyToken" not in text and "verified:" not in text


def test_prose_of_people_is_text(made):
    told = dataclasses.replace(Card(), intended_use="For *us*\n\n## not a heading\n<!-- soundcheck:end -->")
    text = made([verdict()], told)
    assert "\n\\## not a heading" in text and text.count("<!-- soundcheck:end -->") == 1
