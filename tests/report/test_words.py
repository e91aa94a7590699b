"""Tables and figures of recognisers: right numbers and safe text."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.media import MediaStore
from soundcheck.evaluation.fault_localisation import EVERYBODY, KeywordSentences
from soundcheck.evaluation.words import PROFILE, Compared
from soundcheck.metrics.alignment import confusions
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.differential import BETWEEN, MEAN, NOT_ROBUST, ROBUST, Localised, against_base
from soundcheck.metrics.word_changes import wrong_words
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.report import violation_views, words
from soundcheck.statistics.bootstrap import resample
from soundcheck.suite.families import Perturbation, PerturbationSeries
from soundcheck.suite.thresholds import read_family

HOSTILE = "<script>alert(1)</script>"


def test_confusions_are_shown_with_counts():
    frame = confusions(["go left", "go left", "stop"], ["go right", "go right", HOSTILE])
    text = str(words.confusion_table(frame))
    assert "right" in text and ">2<" in text and HOSTILE not in text


def test_drops_have_the_rows_of_the_paper():
    # Average drops of the paper for native and Korean speakers: of two recognisers here.
    rows = {("IBM", "Noise"): [1.0, 3.0], ("IBM", "Drop"): [0.0, 1.0]}
    rows |= {("Google", "Noise"): [0.5, 1.0], ("Google", "Drop"): [0.5, 2.0]}
    index = pd.MultiIndex.from_tuples(rows, names=["recogniser", "transformation"])
    drops = pd.DataFrame(list(rows.values()), index=index, columns=["english", "<korean>"])
    text = str(words.drop_table(drops, "drops"))
    cells = [re.findall(r"<td[^>]*>([^<]*)</td>", line) for line in text.split("<tr>")[2:]]
    shown = {tuple(row[:2]): [float(number) for number in row[2:]] for row in cells}
    assert shown == {
        ("recogniser", "IBM"): [0.5, 2.0],
        ("recogniser", "Google"): [0.5, 1.5],
        ("transformation", "Noise"): [0.75, 2.0],
        ("transformation", "Drop"): [0.25, 1.5],
        ("all", ""): [0.5, 1.75],
    }
    assert "<korean>" not in text


def test_agreement_of_drops_and_violations():
    # Table 9 (mean of the three recognisers) and Table 4 (all violations) of the paper.
    names = ["English", "Ganda", "French", "Gujarati", "Indonesian", "Korean", "Russian"]
    drops = pd.DataFrame(
        [
            [1.21, 1.51, 1.21, 1.17, 1.07, 1.55, 1.64],
            [1.03, 1.94, 1.38, 1.35, 1.48, 1.92, 1.70],
            [0.47, 0.66, 0.40, 0.48, 0.36, 0.87, 0.63],
        ],
        columns=names,
    ).mean()
    violations = pd.Series([312, 844, 413, 406, 311, 1086, 853], index=names)
    text = str(words.agreement_table(drops, violations, "paper"))
    expected = drops.rank().corr(violations.rank())
    assert expected > 0.8 and f"rank correlation {expected:.2f} (Spearman, 7 groups)" in text
    assert "1086" in text
    two = words.agreement_table(drops[:2], violations[:2], "paper")
    assert "fewer than 3 groups" in str(two)
    flat = words.agreement_table(drops, violations * 0, "paper")
    assert "all groups are equal" in str(flat)


def difference(first, second, blocks):
    words = np.full(len(first), 10.0)
    statistic = paired_difference(word_error_rate(words, first), word_error_rate(words, second))
    return resample(statistic, np.asarray(blocks), 300, 0)


def compared(first, second, blocks, other="b"):
    blockwise, ordinary = (difference(first, second, own) for own in (blocks, np.arange(len(first))))
    return Compared("a", other, "talk", "points", 10 * len(first), blockwise, ordinary)


def both_ways(seed):
    """Draw errors of two recognisers in 8 blocks of 10 segments that are not alike."""
    rng = np.random.default_rng(seed)
    ours, theirs = (rng.binomial(10, rate, 80).astype(float) for rate in (0.2, 0.25))
    return compared(ours, theirs, np.arange(80) // 10)


@pytest.mark.parametrize("kind", ["percentile", "expanded", "gaussian"])
def test_comparison_table_has_the_chosen_interval_standard_error_and_words(kind):
    found = both_ways(45)
    text = str(words.comparison_table([found], kind))
    assert text.count("a minus b, absolute") == 2  # resampled in both ways
    error = np.std(found.blockwise.replicates[:, 0], ddof=1)
    assert f">{100 * error:.2f}\xa0points<" in text and "standard error" in text
    assert ">words<" in text and ">800<" in text and ">80<" in text and ">8<" in text
    assert ("expanded 95 %" in text) == ("12.89" in text) == (kind == "expanded")
    assert "percentile 95 %" in text and "Gaussian 95 %" in text


def test_counts():
    counts = {
        "in all": pd.DataFrame([[3, 0]], columns=["german", "welsh"], index=["all"]),
        "by τ": pd.DataFrame([[3, 0], [1, 0]], columns=["german", "welsh"], index=[0.01, 0.1]),
    }
    text = str(violation_views.count_table(counts, "Violations"))
    assert text.count("<tr>") == 4 and ">0.01<" in text
    one = {"by pair": pd.DataFrame([[3, 0]], columns=["german", HOSTILE], index=["a–b"])}
    text = str(violation_views.count_table(one, "Violations"))
    assert "a–b" in text and HOSTILE not in text  # a single pair is named as well


def test_violations_beside_those_of_a_base():
    tables = {
        "in all": against_base({"male": 28, "female": 176, HOSTILE: 1400}, "male")[1],
        "comprehensible": against_base({"male": 0, "female": 5, HOSTILE: 2}, "male")[1],
    }
    text = str(violation_views.base_table(tables, "male", "Violations"))
    assert "6.29" in text and "+528.6" in text and "1,400" in text and "+2,714.3" not in text
    assert text.count("male has none") == 3 and HOSTILE not in text
    assert text.count("<tr>") == 1 + 2 + 1 and MEAN in text


def test_ratings_below_the_limit_stand_in_brackets():
    options = {"ratings": {"Noise": {10: 7.22, 2: 6.84}, HOSTILE: {1: 7}}, "shown_rating": 7.2}
    text = str(violation_views.rating_table(options))
    assert ">10: 7.22<" in text and ">(2: 6.84)<" in text and HOSTILE not in text


def test_pages_say_which_signals_were_rated():
    def notes(**given):
        steps = {
            name: PerturbationSeries(
                name, "", {"1": Perturbation(name, "x", {} if kind is None else {"definition": kind})}
            )
            for name, kind in given.items()
        }
        return " ".join(violation_views.rating_notes(steps))

    said = notes(Clipping="text", High="text", Low="text", Noise=None)
    assert said.startswith("Clipping, High and Low: people rated signals as the released generator makes")
    assert notes(Clipping="released", Low="text").startswith("Low: people rated")
    assert notes(Clipping="released", Noise=None) == "The signals are made as those were that people rated."
    shipped = read_family("asr_fairness").transformations
    assert violation_views.rating_notes(shipped)[0].startswith("Clipping, High pass and Low pass: ")


def test_words_most_often_wrong_and_who_has_them_right():
    frame = wrong_words(["go up", "go on", None], {"m": ["no up", "no", "x"], "<b>": ["go up", "go up", "x"]})
    assert frame.to_numpy().tolist() == [["go", 2, 2, 0], ["on", 1, 1, 1]]
    text = str(words.wrong_word_table(frame, "c"))
    assert "<b>" not in text and "all alike" in text and "the 2 of 2 words" in text
    assert "2 (100.0\xa0%)" in text
    alone = str(words.wrong_word_table(frame[["word", "said", "m"]], "c"))
    assert "fewest" not in alone


def test_the_error_profile_names_the_group_with_most_errors(tmp_path):
    rates = {
        "all": (0.1, 0.2, 0.05, 0.0),
        "sex: male": (0.1, 0.1, 0.0, 0.0),
        f"sex: {HOSTILE}": (0.1, 0.3, 0.1, 0.2),
    }
    rows = [
        {"corpus": "c", "part": part, "measure": name, "value": value, "low": value, "high": value}
        for part, own in rates.items()
        for name, value in zip(PROFILE, own, strict=True)
    ]
    evaluation = SimpleNamespace(media=MediaStore(tmp_path))
    text = str(words.error_profile(evaluation, pd.DataFrame(rows)))
    assert "deletions 30.0\xa0% (all: 20.0\xa0%)" in text and HOSTILE not in text
    assert not words.error_profile(evaluation, pd.DataFrame(rows[:4]))


def test_words_of_groups_are_listed_in_full():
    found = {
        EVERYBODY: [
            Localised("bags", 4, 3, NOT_ROBUST),
            Localised("six", 4, 0, ROBUST),
            Localised("red", 4, 1, BETWEEN),
        ]
    }
    _, text = map(str, words.localised_tables(found, KeywordSentences(None, {}), "words"))
    assert [text.index(kind) for kind in ("not robust", ">robust", "in between")]
    assert "75.0" in text and "everybody" in text


def test_words_of_groups_are_told():
    lost = [Localised(HOSTILE, 4, 4, NOT_ROBUST), *(Localised(f"w{n}", 3, 2, NOT_ROBUST) for n in range(29))]
    pooled = [Localised("w0", 9, 6, NOT_ROBUST), Localised("six", 9, 0, ROBUST)]
    found = {("accent", "welsh"): lost, ("accent", HOSTILE): [], EVERYBODY: pooled}
    text = str(words.group_words(found, "words"))
    assert HOSTILE not in text and "&lt;script&gt;" in text
    assert "accent: welsh" in text and "w0 (2 of 3)" in text and "and 10 more" in text
    assert ">29<" in text  # of 30 words that are not robust, everybody together misses all but one


def test_pages_say_in_what_they_differ_from_the_study():
    family = read_family("asr_fairness")
    every = violation_views.settings_notes(SimpleNamespace(family=family))
    assert not any("limits the changes" in note for note in every)
    assert "Drop and Frame: only every second chunk can be lost, never two neighbours." in every
    few = {name: family.transformations[name] for name in ("Noise", "Clipping")}
    notes = violation_views.settings_notes(SimpleNamespace(family=SimpleNamespace(transformations=few)))
    assert any("2 of the study's 8 transformations, 10 of its 41 settings" in note for note in notes)


@pytest.mark.parametrize(
    ("left_out", "shown"),
    [
        (["", "it destroys the words"], "settings that are left out; 1 are counted"),
        (["", ""], "<p>calls: none; all 2 settings are counted.</p>"),
    ],
)
def test_settings_that_are_left_out(left_out, shown):
    judged = pd.DataFrame({"transformation": "Noise", "level": ["20", "0"], "distance": 0.5})
    html = str(violation_views.excluded_table(judged.assign(left_out=left_out), "calls"))
    assert shown in html and ("<td" in html) == any(left_out)
