"""Which words are spoken again: whose they are, in which order, and what is left out and why."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.evaluation.fault_localisation import (
    EVERYBODY,
    missing_words,
    vocabulary,
    words_to_speak,
)
from soundcheck.evaluation.subset import Predictions
from soundcheck.metrics.differential import BETWEEN, NOT_ROBUST, ROBUST, Localised
from soundcheck.report import words as views
from soundcheck.run import predictions
from soundcheck.statistics.bootstrap import resample

WELSH, SCOTTISH = ("accent", "welsh"), ("accent", "scottish")


def evaluation(sentences=50, **options):
    family = SimpleNamespace(options={"minimum_segments": 4} | options, probes={"sentences": sentences})
    return SimpleNamespace(
        family=family, seed=0, resample=lambda statistic, blocks: resample(statistic, blocks, 200, 0)
    )


def subset(**columns):
    segments = pd.DataFrame({"accent": ["welsh", "scottish"]} | columns)
    return SimpleNamespace(segments=segments)


def kinds(robust=(), lost=(), between=()):
    found = [Localised(word, 4, 4, NOT_ROBUST) for word in lost]
    found += [Localised(word, 4, 1, BETWEEN) for word in between]
    return found + [Localised(word, 4, 0, ROBUST) for word in robust]


FOUND = {
    WELSH: kinds(["door", "go"], ["spoons", "thick"], ["red"]),
    SCOTTISH: kinds(["door"], ["door", "go", "left"][1:2]),
    EVERYBODY: kinds(["door", "go", "red"], ["a", "b", "c", "d"]),
}


def test_the_group_that_loses_most_words_is_probed():
    probed = words_to_speak(evaluation(), subset(), FOUND)
    assert probed.group == WELSH  # and not everybody
    assert {kind: set(words) for kind, words in probed.kinds.items()} == {
        ROBUST: {"door", "go"},
        NOT_ROBUST: {"spoons", "thick"},
    }
    assert not probed.reason and not probed.refused


def test_a_group_with_both_kinds_comes_first():
    found = FOUND | {("accent", "irish"): kinds(lost=["one", "two", "three"])}
    assert words_to_speak(evaluation(), subset(), found).group == WELSH
    only = {("accent", "irish"): found["accent", "irish"], EVERYBODY: found[EVERYBODY]}
    probed = words_to_speak(evaluation(), subset(), only)
    assert probed.group == ("accent", "irish") and probed.kinds[ROBUST] == []


def test_a_suite_may_name_the_group():
    assert words_to_speak(evaluation(probe_group={"accent": "scottish"}), subset(), FOUND).group == SCOTTISH
    probed = words_to_speak(evaluation(probe_group={"accent": "irish"}), subset(), FOUND)
    assert probed.group is None and not any(probed.kinds.values())
    assert probed.reason == "it has no group accent: irish of at least 4 segments beside others"
    assert f"tones: no sentences were spoken: {probed.reason}" in str(views.keyword_notes("tones", probed, 0))


def test_without_groups_everybody_is_probed():
    probed = words_to_speak(evaluation(), subset(), {EVERYBODY: FOUND[EVERYBODY]})
    assert probed.group == EVERYBODY and set(probed.kinds[ROBUST]) == {"door", "go", "red"}


def test_no_word_at_all():
    probed = words_to_speak(evaluation(), subset(), {WELSH: [], EVERYBODY: []})
    assert probed.reason == "no word is robust or not robust, and can be spoken"


def test_the_order_depends_on_the_words_alone():
    many = [f"word{letter}" for letter in "abcdefghijklmnop"]
    first = words_to_speak(evaluation(5), subset(), {EVERYBODY: kinds(many)})
    assert len(first.kinds[ROBUST]) == 5 and first.surplus == 11
    assert "11 more words were not drawn" in str(views.keyword_notes("tones", first, 5))
    again = words_to_speak(evaluation(5), subset(), {EVERYBODY: kinds(many[::-1], lost=["spoons"])})
    assert again.kinds[ROBUST] == first.kinds[ROBUST] != many[:5]
    kept = [word for word in many if word != first.kinds[ROBUST][0]]
    fewer = words_to_speak(evaluation(5), subset(), {EVERYBODY: kinds(kept)})
    assert fewer.kinds[ROBUST][:4] == first.kinds[ROBUST][1:]


def test_what_cannot_be_spoken_is_told():
    found = {EVERYBODY: kinds(["thick", "5", "ποῦ"], ["<b>", "don't", "7"])}
    probed = words_to_speak(evaluation(), subset(), found)
    assert probed.kinds == {ROBUST: ["thick"], NOT_ROBUST: ["don't"]}
    assert probed.refused["<b>"] == "it holds signs that cannot be spoken"
    notes = str(views.keyword_notes("tones", probed, 100))
    assert "tones: not spoken, it holds digits: 5, 7" in notes
    assert "tones: 100 sentences, around words of everybody" in notes


def test_other_languages_are_not_read_in_english():
    probed = words_to_speak(evaluation(), subset(language=["deu", "en"]), FOUND)
    assert "read in English" in probed.reason and not any(probed.kinds.values())
    for languages in (["en", "deu"], ["en-GB", None], [None, None]):  # of welsh and of others
        assert not words_to_speak(evaluation(), subset(language=languages), FOUND).reason


class Probe:
    """Sentences around words with what a recogniser wrote for them."""

    def __init__(self, rows):
        self.segments = pd.DataFrame({"item": [word for word, *_ in rows]})
        clean, changed = (np.array([row[n] for row in rows], dtype=object) for n in (1, 2))
        self.predictions = Predictions(clean, changed)

    def __len__(self):
        return len(self.segments)

    def take(self, rows):
        texts = zip(self.segments["item"], self.predictions.clean, self.predictions.changed, strict=True)
        taken = list(texts)
        return Probe([taken[n] for n in rows])


def test_nothing_is_spoken_where_nothing_is_tested(monkeypatch, tmp_path):
    texts = np.array(["go left", "go left", None], dtype=object)  # each word twice: enough for a group alone
    heard = evaluation(minimum_count=3, group_count=2, words=200)
    heard.transformed = lambda: [SimpleNamespace(corpus="tones", predictions=Predictions(texts))]
    assert vocabulary(heard, texts) == {}
    monkeypatch.setattr(predictions, "Evaluation", lambda description: heard)
    suite = SimpleNamespace(models={"good": SimpleNamespace(about=SimpleNamespace(changes_audio=True))})
    job = SimpleNamespace(model="good", family="own", description={}, rows=tmp_path)
    assert predictions.keyword_corpora(suite, [job], tmp_path) == []
    heard.family.options["minimum_count"] = 2
    assert vocabulary(heard, texts) == {"go": 2, "left": 2}


def test_missing_words_are_counted_for_each_kind():
    # The counts that the paper has for one of its recognisers: 21 and 30 of 50, clean all there.
    rows = [(f"r{n % 10}", f"likes r{n % 10} here", "likes" if n < 21 else f"r{n % 10}") for n in range(50)]
    rows += [(f"w{n % 10}", f"likes w{n % 10} here", "" if n < 30 else f"w{n % 10}") for n in range(50)]
    chosen = {ROBUST: [f"r{n}" for n in range(10)], NOT_ROBUST: [f"w{n}" for n in range(10)]}
    found = missing_words(evaluation(), Probe(rows), chosen).set_index("kind")
    assert found.loc[[ROBUST, NOT_ROBUST], "clean"].tolist() == [0, 0]
    assert found.loc[[ROBUST, NOT_ROBUST], "changed"].tolist() == [0.42, 0.6]
    assert found.loc["difference", "changed"] == pytest.approx(0.18)
    assert found.loc["relative difference", "changed"] == pytest.approx(9 / 21)
    assert np.isfinite(found.loc["difference", ["changed_low", "changed_high"]].astype(float)).all()
    text = str(views.keyword_table(found.reset_index(), "missing"))
    assert ">50<" in text and "42.9\xa0%" in text and "18.0\xa0points" in text
    assert "relative to 0" in text  # of the clean ones
    assert "42.0\xa0%" in text and " to " in text


def test_few_words_have_no_interval():
    rows = [(word, "", word) for word in ("door", "go") for _ in range(4)]
    rows += [(f"w{n}", f"w{n}", "" if n % 2 else f"w{n}") for n in range(8)]
    chosen = {ROBUST: ["door", "go"], NOT_ROBUST: [f"w{n}" for n in range(8)]}
    found = missing_words(evaluation(), Probe(rows), chosen)
    text = str(views.keyword_table(found, "x"))
    robust, lost, difference, _ = text.split("<tr><td")[1:]
    assert " to " not in robust + difference and " to " in lost


def test_one_kind_alone_is_not_compared():
    spoken = Probe([("door", "door", ""), ("door", "door", "door")])
    chosen = {ROBUST: [], NOT_ROBUST: ["door"]}
    (row,) = missing_words(evaluation(), spoken, chosen).itertuples()
    assert row.kind == NOT_ROBUST and row.sentences == 2 and (row.clean, row.changed) == (0, 0.5)
