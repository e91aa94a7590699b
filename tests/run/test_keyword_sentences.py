"""Which words are spoken again: whose they are, in which order, and what is left out and why."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.evaluation.lost_words import EVERYBODY, missing_words, vocabulary, words_to_speak
from soundcheck.evaluation.subset import Predictions
from soundcheck.metrics.differential import BETWEEN, NOT_ROBUST, ROBUST, Localised
from soundcheck.report import words as views
from soundcheck.run import predictions
from soundcheck.statistics.bootstrap import resample

WELSH, SCOTTISH, IRISH = (("accent", name) for name in ("welsh", "scottish", "irish"))


def evaluation(sentences=50, **options):
    family = SimpleNamespace(options={"minimum_segments": 4} | options, probes={"sentences": sentences})
    return SimpleNamespace(
        family=family, seed=0, resample=lambda statistic, blocks: resample(statistic, blocks, 200, 0)
    )


def kinds(robust=(), lost=(), between=()):
    counts = ((robust, 0, ROBUST), (lost, 4, NOT_ROBUST), (between, 1, BETWEEN))
    return [Localised(word, 4, missing, kind) for words, missing, kind in counts for word in words]


def chosen(localised, sentences=50, languages=None, **options):
    columns = {"accent": ["welsh", "scottish"]} | ({"language": languages} if languages else {})
    subset = SimpleNamespace(segments=pd.DataFrame(columns))
    return words_to_speak(evaluation(sentences, **options), subset, localised)


LOCALISED = {
    WELSH: kinds(["door", "go"], ["spoons", "thick"], ["red"]),
    SCOTTISH: kinds(["door"], ["go"]),
    EVERYBODY: kinds(["door", "go", "red"], ["a", "b", "c", "d"]),
}


def test_the_group_that_loses_most_words_is_probed():
    probed = chosen(LOCALISED)
    assert probed.group == WELSH and not probed.reason and not probed.refused  # and not everybody
    words = {kind: set(words) for kind, words in probed.kinds.items()}
    assert words == {ROBUST: {"door", "go"}, NOT_ROBUST: {"spoons", "thick"}}
    lost_only = {IRISH: kinds(lost=["one", "two", "three"])}
    assert chosen(LOCALISED | lost_only).group == WELSH  # one with both kinds comes first
    probed = chosen(lost_only | {EVERYBODY: LOCALISED[EVERYBODY]})
    assert probed.group == IRISH and probed.kinds[ROBUST] == []
    assert chosen({EVERYBODY: LOCALISED[EVERYBODY]}).group == EVERYBODY
    assert chosen({WELSH: []}).reason == "no word is robust or not robust, and can be spoken"


def test_a_suite_may_name_the_group():
    assert chosen(LOCALISED, probe_group={"accent": "scottish"}).group == SCOTTISH
    probed = chosen(LOCALISED, probe_group={"accent": "irish"})
    assert probed.group is None and not any(probed.kinds.values())
    assert probed.reason == "it has no group accent: irish of at least 4 segments beside others"
    assert f"tones: no sentences were spoken: {probed.reason}" in str(views.keyword_notes("tones", probed, 0))


def test_the_order_depends_on_the_words_alone():
    many = [f"word{letter}" for letter in "abcdefghijklmnop"]
    first = chosen({EVERYBODY: kinds(many)}, 5)
    again = chosen({EVERYBODY: kinds(many[::-1], lost=["spoons"])}, 5)
    assert again.kinds[ROBUST] == first.kinds[ROBUST] != many[:5]
    assert len(first.kinds[ROBUST]) == 5 and first.surplus == 11
    assert "11 more words were not drawn" in str(views.keyword_notes("tones", first, 5))


def test_what_cannot_be_spoken_is_told():
    probed = chosen({EVERYBODY: kinds(["thick", "5", "ποῦ"], ["<b>", "don't", "7"])})
    assert probed.kinds == {ROBUST: ["thick"], NOT_ROBUST: ["don't"]}
    assert probed.refused["<b>"] == "it holds signs that cannot be spoken"
    assert "tones: not spoken, it holds digits: 5, 7" in str(views.keyword_notes("tones", probed, 100))
    for languages in (["deu", "en"], ["en", "deu"], ["en-GB", None]):  # of welsh and of others
        assert ("read in English" in chosen(LOCALISED, languages=languages).reason) == (languages[0] == "deu")


class Probe:
    """Sentences around words with what a recogniser wrote for them: rows of word, clean, changed."""

    def __init__(self, rows):
        self.rows = rows
        words, *answers = np.array(rows, dtype=object).T
        self.segments = pd.DataFrame({"item": words})
        self.predictions = Predictions(*answers)

    def __len__(self):
        return len(self.rows)

    def take(self, numbers):
        return Probe([self.rows[n] for n in numbers])


def test_nothing_is_spoken_where_nothing_is_tested(monkeypatch, tmp_path):
    texts = np.array(["go left", "go left", None], dtype=object)  # each word twice: enough for a group alone
    described = evaluation(minimum_count=3, group_count=2, words=200)
    described.transformed = lambda: [SimpleNamespace(corpus="tones", predictions=Predictions(texts))]
    assert vocabulary(described, texts) == {}
    monkeypatch.setattr(predictions, "Evaluation", lambda description: described)
    suite = SimpleNamespace(models={"good": SimpleNamespace(about=SimpleNamespace(changes_audio=True))})
    job = SimpleNamespace(model="good", family="own", description={}, rows=tmp_path)
    derived = SimpleNamespace(find=lambda name, depends, make: make())
    monkeypatch.setattr(predictions, "job_fingerprints", list)
    assert predictions.keyword_corpora(suite, [job], tmp_path, 1, derived) == []
    described.family.options["minimum_count"] = 2
    assert vocabulary(described, texts) == {"go": 2, "left": 2}


def test_missing_words_are_counted_for_each_kind():
    # The counts that the paper has for one of its recognisers: 21 and 30 of 50, clean all there.
    rows = [(f"r{n % 10}", f"likes r{n % 10} here", "likes" if n < 21 else f"r{n % 10}") for n in range(50)]
    rows += [(f"w{n % 10}", f"likes w{n % 10} here", "" if n < 30 else f"w{n % 10}") for n in range(50)]
    words = {ROBUST: [f"r{n}" for n in range(10)], NOT_ROBUST: [f"w{n}" for n in range(10)]}
    missing = missing_words(evaluation(), Probe(rows), words).set_index("kind")
    assert missing.loc[[ROBUST, NOT_ROBUST], "clean"].tolist() == [0, 0]
    assert missing.loc[[ROBUST, NOT_ROBUST], "changed"].tolist() == [0.42, 0.6]
    assert missing.loc["difference", "changed"] == pytest.approx(0.18)
    assert missing.loc["relative difference", "changed"] == pytest.approx(9 / 21)
    assert np.isfinite(missing.loc["difference", ["changed_low", "changed_high"]].astype(float)).all()


def test_few_words_have_no_interval():
    rows = [("door", "", "door")] * 8 + [(f"w{n}", f"w{n}", "" if n % 2 else f"w{n}") for n in range(8)]
    words = {ROBUST: ["door"], NOT_ROBUST: [f"w{n}" for n in range(8)]}
    text = str(views.keyword_table(missing_words(evaluation(), Probe(rows), words), "x"))
    robust, lost, difference, _ = text.split("<tr><td")[1:]
    assert " to " not in robust + difference and " to " in lost
    (row,) = missing_words(evaluation(), Probe(rows[:8]), {ROBUST: ["door"], NOT_ROBUST: []}).itertuples()
    assert (row.kind, row.sentences, row.clean, row.changed) == (ROBUST, 8, 1, 0)
