"""Which trials a run compares."""

from types import SimpleNamespace

import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.corpora.trials.trial_design import trial_lists
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite
from soundcheck.suite.thresholds import read_family

FAMILY = read_family("speaker_verification")
GROUPS = read_family("fairness_groups")
EMBEDS = ModelEntry("embeds", "python", "a:b", ("embedding",))
FEELS = ModelEntry("feels", "python", "a:b", ("arousal",))


def corpus(trials=None, **columns):
    table = pd.DataFrame({"file": ["a", "b", "c"], "start": float("nan"), "end": float("nan"), **columns})
    table["key"], table["audio"] = table["file"], table["file"]
    entry = CorpusEntry("voices", "csv")
    return SimpleNamespace(name="voices", entry=entry, segments=table, trials=trials)


@pytest.fixture
def lists(tmp_path):
    def lists(one, model=EMBEDS, family=FAMILY, *more):
        models = {model.name: model}
        suite = Suite("t", 0, 100, "percentile", (), {}, models, dict(BUILTIN), tmp_path, tmp_path / "s.yml")
        return trial_lists(suite, [family, *more], [one])

    return lists


def test_trials_are_made_of_speakers(lists):
    (place, table), *more = lists(corpus(speaker=["x", "x", "y"])).items()
    assert place == ("voices", "speaker_verification") and not more
    assert table.origin == "generated"
    assert sorted(table.frame["target"].tolist()) == [False, False, True]


def test_a_list_of_the_corpus_is_taken(lists):
    own = object()
    assert lists(corpus(own)) == {("voices", "speaker_verification"): own}


@pytest.mark.parametrize(
    ("one", "options"),
    [
        (corpus(), {}),  # neither list nor speakers
        (corpus(speaker=["x", "x", "y"]), {"model": FEELS}),  # nobody compares
        (corpus(speaker=["x", "x", "y"]), {"family": read_family("fairness_sex")}),
        (corpus(speaker=["x", "x", "y"]), {"family": GROUPS, "model": FEELS}),  # which tests it all the same
    ],
)
def test_nothing_is_made_for_nobody(lists, one, options):
    assert lists(one, **options) == {}


def test_families_that_ask_for_the_same_trials_share_them(lists):
    found = lists(corpus(speaker=["x", "x", "y"]), EMBEDS, FAMILY, GROUPS)
    assert found["voices", "speaker_verification"] is found["voices", "fairness_groups"]
