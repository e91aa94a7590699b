"""Tables and figures about recognisers: right numbers, safe text, honest conclusions."""

import numpy as np
import pandas as pd
import pytest

from soundcheck.bootstrap import resample
from soundcheck.metrics.alignment import confusions
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.differential import MEAN, against_base
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.report import recognition_figures, recognition_tables

HOSTILE = "<script>alert(1)</script>"


def difference(first, second, blocks):
    words = np.full(len(first), 10.0)
    statistic = paired_difference(word_error_rate(words, first), word_error_rate(words, second))
    return resample(statistic, np.asarray(blocks), 300, 0)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (1, 4, "a makes fewer word errors than b"),
        (4, 1, "a makes more word errors than b"),
        (2, 2, "the evidence does not tell which of a and b is better"),
    ],
)
def test_conclusion(first, second, said):
    rng = np.random.default_rng(0)
    blocks = np.arange(300) // 10
    ours, theirs = (rng.binomial(10, rate / 10, 300).astype(float) for rate in (first, second))
    found = difference(ours, theirs, blocks)
    text = str(
        recognition_tables.conclusion("a", "b", "talk", found, difference(ours, theirs, np.arange(300)))
    )
    assert said in text and "30 blocks" in text and "times as wide as the ordinary one" in text


def test_conclusion_without_an_interval():
    one = difference(np.array([1.0, 2.0]), np.array([2.0, 2.0]), [0, 0])
    text = str(recognition_tables.conclusion("a", HOSTILE, "talk", one, one))
    assert "Whether that is chance cannot be told" in text and HOSTILE not in text
    none = difference(np.array([np.nan]), np.array([1.0]), [0])
    assert "nothing can be said" in str(recognition_tables.conclusion("a", "b", "talk", none, none))


def test_aligned_words_are_escaped_and_marked():
    text = str(recognition_tables.aligned_words(f"go {HOSTILE} left", "go right now left"))
    assert HOSTILE not in text and "&lt;script&gt;" in text
    assert "≠" in text and "+" in text
    long = str(recognition_tables.aligned_words("go " * 500, "stop"))
    assert "300 more words are not shown" in long


def test_confusions_are_shown_with_counts():
    frame = confusions(["go left", "go left", "stop"], ["go right", "go right", HOSTILE])
    text = str(recognition_tables.confusion_table(frame))
    assert "right" in text and ">2<" in text and HOSTILE not in text


def test_counts_and_words():
    counts = {
        "in all": pd.DataFrame([[3, 0]], columns=["german", "welsh"], index=["all"]),
        "by τ": pd.DataFrame([[3, 0], [1, 0]], columns=["german", "welsh"], index=[0.01, 0.1]),
    }
    text = str(recognition_tables.count_table(counts, "Violations"))
    assert text.count("<tr>") == 4 and ">0.01<" in text
    one = {"by pair": pd.DataFrame([[3, 0]], columns=["german", HOSTILE], index=["a–b"])}
    text = str(recognition_tables.count_table(one, "Violations"))
    assert "a–b" in text and HOSTILE not in text  # a single pair is named as well
    words = [("bags", 4, 3, 0.75), ("six", 4, 0, 0.0), ("red", 4, 1, 0.25)]
    text = str(recognition_tables.word_table(words, 0.5, "words"))
    assert [text.index(kind) for kind in ("not robust", ">robust", "in between")]


def test_violations_beside_those_of_a_base():
    tables = {
        "in all": against_base({"male": 28, "female": 176, HOSTILE: 1400}, "male")[1],
        "comprehensible": against_base({"male": 0, "female": 5, HOSTILE: 2}, "male")[1],
    }
    text = str(recognition_tables.base_table(tables, "male", "Violations"))
    assert "6.29" in text and "+528.6" in text and "1,400" in text and "+2,714.3" not in text
    assert text.count("male has none") == 3 and HOSTILE not in text
    assert text.count("<tr>") == 1 + 2 + 1 and MEAN in text


def test_figures_are_drawn():
    rates = pd.DataFrame(
        {
            "group": ["a", HOSTILE],
            "value": [0.2, np.nan],
            "low": [0.1, np.nan],
            "high": [0.4, np.nan],
            "segments": 3,
        }
    )
    assert len(recognition_figures.rate_bars(rates, 0.2).axes) == 1
    levels = pd.DataFrame(
        [(t, s, g, 0.1) for t in ("Noise", "Drop", "Scale") for s in "12" for g in ("x", "y")],
        columns=["transformation", "level", "group", "value"],
    )
    assert len(recognition_figures.degradation_curves(levels, "degradation").axes) == 4
    table = pd.DataFrame([[1, 2], [3, 4]], columns=["x", "y"], index=["a", "b"])
    assert len(recognition_figures.violation_bars([("by τ", table), ("by pair", table)]).axes) == 2
    assert recognition_figures.rating_curves({"Noise": {"10": 7.2, "2": 6.8}}, 7.2).axes
    drawn = {"blockwise": np.array([0.1, np.nan, 0.2]), "ordinary": np.array([0.1, 0.3])}
    assert recognition_figures.replicates_of_difference(drawn, 0.1, "difference").axes
    assert recognition_figures.replicates_of_difference({}, 0.1, "difference").axes
