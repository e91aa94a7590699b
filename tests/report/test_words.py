"""Words of recognisers: right numbers, aligned lines that are copied as they were said, and safe text."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from tests.report.given import HOSTILE, cells

from soundcheck.common.media import MediaStore
from soundcheck.evaluation.lost_words import KeywordSentences
from soundcheck.evaluation.words import EVERYBODY, PROFILE, Compared
from soundcheck.metrics.alternatives import WordingReader
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.differential import BETWEEN, MEAN, NOT_ROBUST, ROBUST, Localised, against_base
from soundcheck.metrics.word_errors import confusions, word_error_rate, wrong_words
from soundcheck.report import violation_views, words
from soundcheck.report.listening import aligned_words, legend
from soundcheck.statistics.bootstrap import resample
from soundcheck.suite.thresholds import read_family


def copied(html):
    """Give each line as somebody copies it: without what cannot be selected."""
    page = BeautifulSoup(str(html), "html.parser")
    for note in page.select("span, del"):
        note.decompose()
    return [" ".join(line.get_text().split()) for line in page.select("dt, dd")]


@pytest.mark.parametrize(
    ("said", "written", "seen"),
    [
        ("go on", "go up", ["<mark ", 'aria-hidden="true">≠<', "replaced on by up"]),
        ("go on", "go", ["<del ", 'aria-hidden="true">−<', "left out on"]),
        ("go on", "go on now", ["<ins ", 'aria-hidden="true">+<', "put in now"]),
        ("", "go", ["(nothing)"]),
    ],
)
def test_what_is_copied_is_what_was_said_and_each_error_has_a_sign_an_element_and_words(said, written, seen):
    html = str(aligned_words(said, {"recognised": written}))
    assert copied(html) == ["said", said, "recognised", written]
    whole = html + BeautifulSoup(html, "html.parser").get_text()
    assert [part for part in seen if part not in whole] == []


def test_one_wording_of_several_is_shown():
    reference = WordingReader(str, alternatives=True)("{ um / @ } (please) stop here")
    html = aligned_words(reference, {"recognised": "stop hear"})
    assert copied(html) == ["said", "stop here", "recognised", "stop hear"]
    both = aligned_words(reference, {"a": "please stop hear", "b": "please stop here", "c": None})
    assert copied(both)[:6] == ["said", "please stop here", "a", "please stop hear", "b", "please stop here"]
    assert "(no transcript)" in both and copied(both)[6:] == ["c", ""]


def test_words_of_two_recognisers_tell_who_has_them_right():
    html = str(aligned_words("one two three four", {"first": "one two x y", "second": "one z three w"}))
    reference = html[: html.index("<dt>first")]
    assert re.findall(r'sc-word-(\w+)"', reference) == ["last", "first", "both"]
    for words_ in ("(right in first only)", "(right in second only)", "(wrong in both)"):
        assert words_ in html
    assert all(sign in reference for sign in "▾▴✗")
    assert all(sign in str(legend([("first", "second")])) for sign in "▾▴✗≠−+")


def test_right_to_left_texts():
    html = str(aligned_words(f"go {HOSTILE} \u202eleft", {HOSTILE: f"{HOSTILE} שלום עולם 🎤"}))
    assert HOSTILE not in html and "\u202e" not in html and html.count('<dd dir="auto">') == 2
    # What we say is left out where a browser looks for the direction of a line.
    assert html.count("<span") == html.count('dir="ltr"') + html.count('aria-hidden="true"')


def test_drops_have_the_rows_of_the_paper():
    # Average drops of the paper for native and Korean speakers: of two recognisers here.
    rows = {("IBM", "Noise"): [1.0, 3.0], ("IBM", "Drop"): [0.0, 1.0]}
    rows |= {("Google", "Noise"): [0.5, 1.0], ("Google", "Drop"): [0.5, 2.0]}
    index = pd.MultiIndex.from_tuples(rows, names=["recogniser", "transformation"])
    drops = pd.DataFrame(list(rows.values()), index=index, columns=["english", "<korean>"])
    means = {
        tuple(row[:2]): [float(cell) for cell in row[2:]] for row in cells(words.drop_table(drops, "d"))[1:]
    }
    assert means == {
        ("recogniser", "IBM"): [0.5, 2.0],
        ("recogniser", "Google"): [0.5, 1.5],
        ("transformation", "Noise"): [0.75, 2.0],
        ("transformation", "Drop"): [0.25, 1.5],
        ("all", ""): [0.5, 1.75],
    }


def test_agreement_of_drops_and_violations():
    # Table 9 (mean of the three recognisers) and Table 4 (all violations) of the paper.
    names = ["English", "Ganda", "French", "Gujarati", "Indonesian", "Korean", "Russian"]
    drops = pd.Series([0.903, 1.370, 0.997, 1.000, 0.970, 1.447, 1.323], index=names)
    violations = pd.Series([312, 844, 413, 406, 311, 1086, 853], index=names)
    expected = drops.rank().corr(violations.rank())
    text = str(words.agreement_table(drops, violations, "paper"))
    assert expected > 0.8 and f"rank correlation {expected:.2f} (Spearman, 7 groups)" in text
    assert "no rank correlation" in str(words.agreement_table(drops, violations * 0, "paper"))


@pytest.mark.parametrize("kind", ["percentile", "expanded"])
def test_comparison_table_has_the_chosen_interval_standard_error_and_words(kind):
    rng = np.random.default_rng(45)  # errors of two recognisers in 8 blocks of 10 segments that are not alike
    first, second = (rng.binomial(10, rate, 80).astype(float) for rate in (0.2, 0.25))
    statistic = paired_difference(*(word_error_rate(np.full(80, 10.0), errors) for errors in (first, second)))
    ways = [resample(statistic, blocks, 300, 0) for blocks in (np.arange(80) // 10, np.arange(80))]
    text = str(words.comparison_table([Compared("a", "b", "points", 800, *ways)], kind))
    assert text.count("a minus b, absolute") == 2  # resampled in both ways
    assert f">{100 * np.std(ways[0].replicates[:, 0], ddof=1):.2f}\xa0points<" in text
    assert ">words<" in text and ">800<" in text and ">80<" in text and ">8<" in text
    assert ("expanded 95 %" in text) == ("12.89" in text) == (kind == "expanded")


def test_violations_are_counted_beside_those_of_a_base():
    tables = {
        "in all": against_base({"male": 28, "female": 176, HOSTILE: 1400}, "male")[1],
        "comprehensible": against_base({"male": 0, "female": 5, HOSTILE: 2}, "male")[1],
    }
    lines = cells(violation_views.base_table(tables, "male", "Violations"))
    text = " ".join(cell for line in lines for cell in line)
    assert "6.29" in text and "528.6" in text and "1,400" in text
    assert text.count("male has none") == 3 and len(lines) == 4 and MEAN in text


def test_words_that_are_confused_rated_and_most_often_wrong():
    frame = confusions(["go left", "go left", "stop"], ["go right", "go right", HOSTILE])
    assert {"left", "right", "2"} <= set(cells(words.confusion_table(frame))[1])
    options = {"ratings": {"Noise": {10: 7.22, 2: 6.84}, HOSTILE: {1: 7}}, "shown_rating": 7.2}
    text = str(violation_views.rating_table(options))
    assert ">10: 7.22<" in text and ">(2: 6.84)<" in text  # below the limit in brackets
    frame = wrong_words(["go up", "go on", None], {"m": ["no up", "no", "x"], "<b>": ["go up", "go up", "x"]})
    assert frame.to_numpy().tolist() == [["go", 2, 2, 0], ["on", 1, 1, 1]]
    text = str(words.wrong_word_table(frame, "c"))
    assert "<b>" not in text and "the 2 of 2 words" in text and "2 (100.0\xa0%)" in text


def test_the_error_profile_names_the_group_with_most_errors(tmp_path):
    rates = {"all": (0.1, 0.2, 0.05, 0.0), "sex: male": (0.1, 0.1, 0.0, 0.0)}
    rates |= {f"sex: {HOSTILE}": (0.1, 0.3, 0.1, 0.2)}
    rows = pd.DataFrame({"part": np.repeat(list(rates), 4), "measure": [*PROFILE] * 3, "corpus": "c"})
    rows = rows.assign(**dict.fromkeys(("value", "low", "high"), np.ravel(list(rates.values()))))
    evaluation = SimpleNamespace(media=MediaStore(tmp_path))
    text = str(words.error_profile(evaluation, rows))
    assert "deletions 30.0\xa0% (all: 20.0\xa0%)" in text and HOSTILE not in text


def test_words_of_groups_are_listed_in_full_and_told():
    kinds = {"bags": (3, NOT_ROBUST), "six": (0, ROBUST), "red": (1, BETWEEN)}
    by_group = {EVERYBODY: [Localised(word, 4, lost, kind) for word, (lost, kind) in kinds.items()]}
    _, text = map(str, words.localised_tables(by_group, KeywordSentences(None, {}), "words"))
    assert [text.index(kind) for kind in ("not robust", ">robust", "in between")] and "75.0" in text
    lost = [Localised(HOSTILE, 4, 4, NOT_ROBUST), *(Localised(f"w{n}", 3, 2, NOT_ROBUST) for n in range(29))]
    pooled = [Localised("w0", 9, 6, NOT_ROBUST), Localised("six", 9, 0, ROBUST)]
    by_group = {("accent", "welsh"): lost, ("accent", HOSTILE): [], EVERYBODY: pooled}
    text = str(words.group_words(by_group, "words"))
    assert HOSTILE not in text and "accent: welsh" in text and "w0 (2 of 3)" in text and "and 10 more" in text
    assert ">29<" in text  # of 30 words that are not robust, everybody together misses all but one


def test_pages_say_how_many_changes_of_the_study_they_have():
    family = read_family("asr_fairness")
    assert violation_views.settings_notes(SimpleNamespace(family=family)) == []
    few = {name: family.transformations[name] for name in ("Noise", "Clipping")}
    (note,) = violation_views.settings_notes(SimpleNamespace(family=SimpleNamespace(transformations=few)))
    assert "2 of the study's 8 transformations, 10 of its 41 settings" in note
