"""What a reader asks, and whether the first page answers it.

Questions and right answers were written before the page, from the tables of the runs and what is known of
the models; answers are looked for in the text of the page, those about a model in its row.
"""

import functools
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from benchmarks import published_results, states
from bs4 import BeautifulSoup
from first_pages import first_page, golden, page_html, record_of

from soundcheck.results.record import RunRecord
from soundcheck.results.table import estimate_frame, read_estimates, read_results


@pytest.fixture(scope="module")
def pages():
    """First pages of golden files, made when they are asked for: text, and rows of models by name."""
    made = functools.cache(lambda name: first_page(*golden(name)))
    return lambda name: (plain(made(name)[0]), {model: plain(row) for model, row in made(name)[1].items()})


def plain(text):
    return text.replace("\xa0", " ")


QUESTIONS = yaml.safe_load(Path(__file__).with_name("reader.yml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("page", "model"), [(page, model) for page in QUESTIONS for model in QUESTIONS[page]]
)
def test_the_row_of_a_model_answers(pages, page, model):
    for question, answers in QUESTIONS[page][model].items():
        assert [answer for answer in answers if answer not in pages(page)[1][model]] == [], question


def test_the_demo_as_a_whole(pages):
    text, rows = pages("demo")
    biased = [name for name, row in rows.items() if "female speakers:" in row and "no group" not in row]
    assert biased == ["prosody-biased", "voiceprint"]  # which model is biased by sex?
    assert "prosody-biased for prosody: demo, emotion: unweighted average recall 0.577 → 0.482" in text
    assert "significantly worse" in text  # is the candidate better?
    assert not {"random-gaussian", "random-categorical"} & rows.keys()
    assert "Random references: random-categorical unweighted average" in text
    unknown = text[text.index("What could not be concluded") :]
    # What is unknown?
    assert re.search(r"prosody: .*sex: about \d+ in place of 20; .*more than 10 times", unknown)
    words = [word for word in text.split() if any(letter.isalnum() for letter in word)]
    assert len(words) <= 880  # the notice of synthetic speech and the foot of the page come on top


def test_artie_and_crema_d_as_a_whole(pages):
    text, _ = pages("artie")
    # Meyer et al. (2020): women are misunderstood more often by Google, Indian English by all systems.
    assert re.search(r"google, female speakers: word error rate is 31 % against 24 % of male speakers", text)
    assert "google for amazon: artie, transcript: word error rate 0.246 → 0.253" in text
    text, rows = pages("crema_d")
    assert list(rows) == ["humans"]
    assert "Random references: guess unweighted average recall of emotion6 0.16" in text


@pytest.mark.slow
def test_digits(tmp_path, undrawn, monkeypatch):
    """900 digits of 6 speakers, two of them German, who are misunderstood more often."""
    forked = SimpleNamespace(run=lambda words, cwd, **_: undrawn(*words[4:], cwd=cwd))
    monkeypatch.setattr(published_results, "subprocess", forked)
    list(published_results.digits(tmp_path))
    out = tmp_path / "build"
    record = RunRecord.read(out / "run.json")
    text, rows = first_page(record, read_results(out / "results.csv"), read_estimates(out))
    text = text.replace("\xa0", " ")
    for row in rows.values():
        assert "no group significantly worse beyond the margin; largest difference: de-DE speakers" in row
        assert "too few speakers to generalise" in row
    few = text[text.index("Too few speakers to generalise: what these speakers show") :]
    assert re.search(r"de-DE speakers: word error rate is 23 % against 4.* of the others", few)


@pytest.mark.parametrize("make", [states.page_of_words(2, 20), states.page_of_values(2, 20)])
def test_a_fair_model(make):
    """Simulated: two groups of 20 speakers of the same quality."""
    results = make(np.random.default_rng(3)).assign(model="fair")
    assert not results["state"].eq("fail").any()
    text, rows = first_page(record_of(results, estimate_frame([])), results)
    assert "no group significantly worse beyond the margin; largest difference: " in rows["fair"]
    assert "The largest findings" in text and ("None of" in text or "Nothing could be concluded" in text)


@pytest.mark.parametrize("seed", range(6))
def test_only_what_fails_is_an_accusation(seed):
    """So whole pages of fair models accuse somebody as rarely as their states do: in 5 of 100 books."""
    results = states.page_of_words(8, 10)(np.random.default_rng(seed)).assign(model="fair")
    page = page_html(record_of(results, estimate_frame([])), results, estimate_frame([]))
    bold = BeautifulSoup(page, "html.parser").select(".sc-models td:nth-child(3) strong, .sc-worries strong")
    assert bool(bold) == results["state"].eq("fail").any()


def test_a_model_that_guesses():
    results, estimates = (table[table["model"].eq("random-gaussian")] for table in golden("demo")[1:])
    record = record_of(results, estimates, random=("random-categorical",))
    assert [model.kind for model in record.models] == ["python"]
    row = first_page(record, results, estimates)[1]["random-gaussian"]
    for task in ("arousal", "dominance", "valence"):
        assert f"at {task}" in row
    assert row.index("chance at arousal") < row.index("concordance")
    assert "no better than chance at arousal" in row and "not counted: no better than chance" in row
