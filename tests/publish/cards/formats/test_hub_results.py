"""Results for leaderboards: only of corpora that the suite calls benchmarks, and never by guess."""

import datetime

import pytest
import yaml
from tests.publish.cards.formats.test_huggingface import FIGURE, TASKS
from tests.support.finished import finished, verdict

from soundcheck.publish.cards.card_format import CardContext
from soundcheck.publish.cards.formats.hub_results import HubResults
from soundcheck.publish.facts import ModelFacts
from soundcheck.suite.card import Card

CORPUS = {
    **{"name": "c", "slug": "c", "format": "csv", "title": "c", "description": "", "synthetic": True},
    **{"segments": 200, "speakers": 20, "seconds": 600.0, "left_out": (), "notices": (), "digest": "d" * 40},
}
BENCHMARK = {"id": "us/board", "task_id": "mean_wer"}


@pytest.fixture
def made(tmp_path, recorded):
    def make(benchmark, figures=(FIGURE,), url=""):
        changes = {"figures": figures, "suite": {"tasks": TASKS, "corpora": {}}}
        corpora = [CORPUS | {"benchmark": benchmark}]
        facts = ModelFacts.read(finished(tmp_path / "out", recorded, [verdict()], corpora=corpora, **changes))
        context = CardContext(Card(), url, datetime.date(2026, 11, 1))
        form = HubResults()
        return form.obstacle(facts, context), yaml.safe_load(form.text(facts, context))

    return make


def test_an_entry(made):
    obstacle, (entry,) = made(BENCHMARK, url="https://e.org/b")
    assert obstacle == "" and entry["dataset"] == BENCHMARK and entry["value"] == 12.35
    assert entry["date"] == "2026-11-01" and entry["source"]["url"] == "https://e.org/b/models/m.html"
    assert entry["notes"].startswith(
        "word error rate 12.3 % (95 % 10.0 to 15.0 %, 20 speakers), 200 segments; synth"
    )


def test_two_tasks_and_none_named(made):
    both = (FIGURE, FIGURE | {"task": "arousal", "measure": "concordance"})
    obstacle, _ = made(BENCHMARK, both)
    assert "corpus c has results of transcript, arousal: name one of them as task: in benchmark:" == obstacle
    obstacle, (entry,) = made(BENCHMARK | {"task": "arousal"}, both)
    assert obstacle == "" and entry["value"] == 0.1235


def test_rates_that_any_threshold_trades_do_not_count(made):
    rate = FIGURE | {"measure": "false acceptance rate", "standing": "", "threshold": 0.5}
    assert made(BENCHMARK, (FIGURE, rate))[0] == ""


@pytest.mark.parametrize(
    ("benchmark", "figures", "told"),
    [(None, [FIGURE], "no corpus of the model says"), (BENCHMARK, [], "has a result of the model")],
)
def test_nothing_to_list(made, benchmark, figures, told):
    assert told in made(benchmark, figures)[0]
