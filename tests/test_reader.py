"""What a reader asks, and whether the first page answers it.

Questions and right answers were written before the page, from the tables of the runs and what is known of
the models; answers are looked for in the text of the page, those about a model in its row.
"""

import re

import numpy as np
import pytest
from benchmarks import published_results, states
from bs4 import BeautifulSoup
from tests.support.first_pages import first_page, golden, page_html, record_of

from soundcheck.results.estimates import estimate_frame, read_estimates
from soundcheck.results.record import RunRecord
from soundcheck.results.table import read_results


@pytest.fixture(scope="module")
def demo():
    return first_page(*golden("demo"))


@pytest.fixture(scope="module")
def artie():
    return first_page(*golden("artie"))


@pytest.fixture(scope="module")
def crema_d():
    return first_page(*golden("crema_d"))


@pytest.mark.parametrize(
    ("question", "model", "answers"),
    [
        ("how good is it?", "prosody", ["unweighted average recall", "0.58 0.53 to 0.62; chance 0.25"]),
        ("how good is it?", "sphinx-grammar", ["word error rate", "45.0 % 34.2 to 59.1 %; chance 103 %"]),
        ("how good is it?", "voiceprint", ["equal error rate", "15.6 % 13.3 to 18.3 %; chance 50.0 %"]),
        ("how good is it at its other tasks?", "prosody", ["arousal 0.79", "dominance 0.71", "valence 0.53"]),
        (
            "for whom is it worse?",
            "prosody-biased",
            ["female speakers: concordance of valence 0.13, ", "male speakers 0.57"],
        ),
        ("for whom is it worse?", "sphinx-grammar", ["german speakers: word error rate 79 %, others 28 %"]),
        (
            "for whom is it worse?",
            "voiceprint",
            ["female speakers: false rejection rate 20 %", "male speakers 9.0 %"],
        ),
        (
            "for whom is it worse?",
            "prosody",
            ["pitch: high: recall of arousal (up to 0.25) 0.14, others 0.75"],
        ),
        ("where does it break?", "prosody", ["upward tilt: concordance of dominance 0.72 → 0.052"]),
        ("where does it break?", "voiceprint", ["Clipping 0.05: equal error rate 15.5 % → 36.3 %"]),
        ("was its robustness tested?", "prosody-biased", ["not tested"]),
        ("which class does it find least?", "prosody", ["lowest recall: neutral 0.39"]),
        ("how many tests fail?", "prosody-biased", ["44 fail", "297 inconclusive", "93 pass"]),
    ],
)
def test_the_demo(demo, question, model, answers):
    _, rows = demo
    for answer in answers:
        assert answer in rows[model].replace("\xa0", " "), question


def test_the_demo_as_a_whole(demo):
    text, rows = demo
    biased = [name for name, row in rows.items() if "female speakers:" in row and "no group" not in row]
    assert biased == ["prosody-biased", "voiceprint"]  # which model is biased by sex?
    assert "prosody-biased for prosody: demo, emotion: unweighted average recall 0.577 → 0.482" in text
    assert "significant, worse" in text  # is the candidate better?
    assert not {"random-gaussian", "random-categorical"} & rows.keys()
    assert "Random references: random-categorical unweighted average" in text
    unknown = text[text.index("What could not be concluded") :]
    # What is unknown?
    assert re.search(r"prosody: .*sex: about \d+ in place of 20; .*more than 10 times", unknown)


@pytest.mark.parametrize(
    ("model", "answers"),
    [
        (
            "amazon",
            ["24.6 % 23.1 to 26.2 %", "not tested", "indian speakers: word error rate 35 %, others 19 %"],
        ),
        ("deepspeech", ["41.1 % 39.2 to 43.1 %", "indian speakers: word error rate 54 %, others 34 %"]),
        (
            "google",
            [
                "25.3 % 23.7 to 27.0 %",
                "indian speakers: word error rate 29 %, others 21 %",
                "also: england speakers, female speakers",
            ],
        ),
    ],
)
def test_artie(artie, model, answers):
    for answer in answers:
        assert answer in artie[1][model].replace("\xa0", " ")


def test_artie_as_a_whole(artie):
    text = artie[0].replace("\xa0", " ")
    # Meyer et al. (2020): women are misunderstood more often by Google, Indian English by all systems.
    assert re.search(r"google, female speakers: word error rate is 31 % against 24 % of male speakers", text)
    assert "google for amazon: artie, transcript: word error rate 0.246 → 0.253" in text


def test_crema_d(crema_d):
    text, rows = crema_d
    assert list(rows) == ["humans"]
    for answer in (
        "unweighted average recall",
        "0.47 0.45 to 0.49; chance 0.17",
        "male speakers: recall of happiness 0.24, female speakers 0.41",
        "lowest recall: sadness 0.16",
        "not tested",
    ):
        assert answer in rows["humans"]
    assert "Random references: guess unweighted average recall of emotion6 0.16" in text


@pytest.mark.slow
def test_digits(tmp_path):
    """900 digits of 6 speakers, two of them German, who are misunderstood more often."""
    list(published_results.digits(tmp_path))
    out = tmp_path / "build"
    record = RunRecord.read(out / "run.json")
    text, rows = first_page(record, read_results(out / "results.csv"), read_estimates(out))
    text = text.replace("\xa0", " ")
    for row in rows.values():
        assert "no group shown to be worse; largest difference: de-DE speakers" in row
        assert "too few speakers to generalise" in row
    few = text[text.index("Too few speakers to generalise: what these speakers show") :]
    assert re.search(r"de-DE speakers: word error rate is 23 % against 4.* of the others", few)


@pytest.mark.parametrize("make", [states.page_of_words(2, 20), states.page_of_values(2, 20)])
def test_a_fair_model(make):
    """Simulated: two groups of 20 speakers of the same quality."""
    results = make(np.random.default_rng(3)).assign(model="fair")
    assert not results["state"].eq("fail").any()
    text, rows = first_page(record_of(results, estimate_frame([])), results)
    assert "no group shown to be worse; largest difference: " in rows["fair"]
    assert "The largest findings" in text and ("None of" in text or "Nothing could be concluded" in text)


@pytest.mark.parametrize("seed", range(12))
def test_only_what_fails_is_an_accusation(seed):
    """So whole pages of fair models accuse somebody as rarely as their states do: in 5 of 100 books."""
    results = states.page_of_words(8, 10)(np.random.default_rng(seed)).assign(model="fair")
    page = page_html(record_of(results, estimate_frame([])), results, estimate_frame([]))
    bold = BeautifulSoup(page, "html.parser").select(".sc-models td:nth-child(3) strong, .sc-worries strong")
    assert bool(bold) == results["state"].eq("fail").any()


def test_a_model_that_guesses():
    record, results, estimates = golden("demo", random=("random-categorical",))
    assert next(one for one in record.models if one.name == "random-gaussian").kind == "python"
    row = first_page(record, results, estimates)[1]["random-gaussian"]
    for task in ("arousal", "dominance", "valence"):
        assert f"at {task}" in row
    assert row.index("chance at arousal") < row.index("concordance")
    assert "no better than chance at arousal" in row and "not counted: no better than chance" in row


def test_the_first_page_of_the_demo_is_short(demo):
    words = [word for word in demo[0].split() if any(letter.isalnum() for letter in word)]
    assert len(words) <= 875  # the notice of synthetic speech and the foot of the page come on top
