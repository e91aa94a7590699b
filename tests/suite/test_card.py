"""What a suite says for cards: read as written, carried in the description, and every problem told."""

import pytest

from soundcheck.suite.card import Benchmark, Card
from soundcheck.suite.suite_file import read_suite

SUITE = """\
corpora:
  demo: {{format: demo{corpus}}}
models:
  guess: {{random: gaussian{model}}}
families: [fairness_sex]
"""


@pytest.fixture
def suite(tmp_path):
    def read(text="", corpus="", model=""):
        (tmp_path / "suite.yml").write_text(SUITE.format(corpus=corpus, model=model) + text)
        return read_suite(tmp_path / "suite.yml")

    return read


def test_nothing_by_default(suite):
    read = suite()
    assert read.card == read.models["guess"].card == Card()
    assert read.corpora["demo"].benchmark is None


def test_what_is_written(suite):
    read = suite(
        "card: {owner: Speech team, contact: 'speech@example.org', license: mit}\n",
        ", benchmark: {id: us/board, task_id: mean_wer, revision: v2}",
        ", card: {version: 2.10, languages: [en, de-CH], id: us/guess, intended_use: 'no: only tests'}",
    )
    assert read.card == Card(owner="Speech team", contact="speech@example.org", license="mit")
    own = read.models["guess"].card
    assert own == Card(
        version="2.10", languages=("en", "de-CH"), id="us/guess", intended_use="no: only tests"
    )
    assert read.corpora["demo"].benchmark == Benchmark("us/board", "mean_wer", "v2")
    described = read.describe()
    assert described["card"]["owner"] == "Speech team"
    assert described["models"]["guess"]["card"]["languages"] == ["en", "de-CH"]
    assert described["corpora"]["demo"]["benchmark"]["task_id"] == "mean_wer"


def test_the_model_wins_over_the_suite():
    both = Card(owner="we", version="2").over(Card(owner="all", license="mit", languages=("en",)))
    assert both == Card(owner="we", version="2", license="mit", languages=("en",))


def test_missing_in_words():
    missing = Card(owner="we", languages=("en",)).missing
    assert missing[:2] == ("intended use", "licence") and "owner" not in missing
    assert not any("hub" in words or "base" in words for words in missing)  # a model may have none
