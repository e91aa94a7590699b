"""What a page says of a comparison: the answer first, p-values, words; text of data stays text."""

import dataclasses
import html
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.comparison import Pair
from soundcheck.report import comparisons
from soundcheck.results.contrast import Contrast, contrast_frame
from soundcheck.statistics import bootstrap

HOSTILE = "<b>x</b>"
FOUND = Contrast(
    *("old", HOSTILE, "c", "f", "correctness", "t", HOSTILE),
    **{"baseline_value": 0.5, "candidate_value": 0.4, "difference": -0.1, "low": -0.15, "high": -0.05},
    **{"outcome": "worse", "rule": ">", "blocks": 6, "segments": 60, "pairing": "paired"},
    **{"p_value": 0.00412345, "adjusted_p_value": 0.00412345, "certainty": 1.0},
)


def test_answer_and_table():
    frame = contrast_frame([FOUND])
    answer, table = str(comparisons.answer(frame)), str(comparisons.contrast_table(frame))
    assert "is better than old on 0 and worse on 1 of 1 test for new speakers." in answer
    assert "p = 0.0041" in table and "−0.150 to −0.050" in table
    assert "†" not in table and "of replicates" not in table  # t intervals know how few blocks there are
    for text in (answer, table):
        assert "<b>" not in text and "&lt;b&gt;" in text


@pytest.mark.parametrize(("p", "said"), [(np.nan, ""), (1e-9, "p < 0.001"), (0.25, "p = 0.25")])
def test_p_values(p, said):
    table = str(comparisons.contrast_table(contrast_frame([FOUND]).assign(p_value=p)))
    assert said in html.unescape(table) and (said or "p =" not in table)


def pair(*texts):
    """Make a pair of transcripts, or of classes, of six speakers."""
    said, baseline, candidate = (np.array(own, dtype=object) for own in texts)
    task = BUILTIN["emotion" if said[0] == "anger" else "transcript"]
    return Pair("c", task, pd.DataFrame({"key": list("abcdef")}), said, baseline, candidate, np.arange(6), "")


def test_what_was_corrected_and_broken():
    comparison = SimpleNamespace(
        interval="percentile", resample=lambda pair, own: bootstrap.resample(own, pair.blocks)
    )
    spoken = pair([f"{HOSTILE} on"] * 6, ["on"] * 6, [f"{HOSTILE} off"] * 6)
    shown, words = str(comparisons.word_impacts(comparison, [spoken])), str(comparisons.words(spoken))
    assert ">12<" in shown and "0.0\xa0%" in shown  # one word of each segment is corrected, one broken
    assert "2 of 2 changed words" in words and "<b>" not in words and "&lt;b&gt;" in words
    classes = pair(["anger"] * 6, ["anger"] * 5 + ["joy"], ["joy"] + ["anger"] * 5)
    shown = str(comparisons.impacts(comparison, [classes]))
    assert shown.count("16.7\xa0%") == 2 and "33.3\xa0%" in shown and "neutral" in shown
    assert "share no task" in str(comparisons.corrected_and_broken(comparison, [], []))


def test_right_is_better_whatever_the_rule():
    frame = contrast_frame([FOUND, dataclasses.replace(FOUND, test="Errors", rule="<", outcome="better")])
    figure = comparisons._differences(frame.assign(name=["more is better", "fewer is better"]))
    points = [line.get_xdata()[0] for line in figure.axes[0].lines]
    assert points == [-0.1, 0.1]
