"""What a page says of a comparison: the answer first, p-values, words; text of data stays text."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.report.given import HOSTILE, cells, texts

from soundcheck.common.tasks import BUILTIN
from soundcheck.evaluation.comparison import Pair
from soundcheck.report import comparisons
from soundcheck.results.contrast import Contrast, contrast_frame
from soundcheck.statistics import bootstrap

FOUND = Contrast(
    *("old", HOSTILE, "c", "f", "correctness", "t", HOSTILE),
    **{"baseline_value": 0.5, "candidate_value": 0.4, "difference": -0.1, "low": -0.15, "high": -0.05},
    **{"outcome": "worse", "rule": ">", "blocks": 6, "segments": 60, "pairing": "paired"},
    **{"p_value": 0.00412345, "adjusted_p_value": 0.00412345, "certainty": 1.0},
)


@pytest.mark.parametrize(("p", "said"), [(0.00412345, "p = 0.0041"), (np.nan, ""), (1e-9, "p < 0.001")])
def test_answer_and_table(p, said):
    frame = contrast_frame([FOUND])
    answer, table = str(comparisons.answer(frame)), str(comparisons.contrast_table(frame.assign(p_value=p)))
    assert "is better than old on 0 and worse on 1 of 1 test for new speakers." in answer
    assert "−0.150 to −0.050" in table and "<img" not in answer + table
    line = " ".join(cells(table)[1])
    assert said in line and bool(said) == bool(re.search("p [=<]", line)) and "†" not in table


def pair(*given):
    """Make a pair of transcripts, or of classes, of six speakers."""
    said, baseline, candidate = map(texts, given)
    task = BUILTIN["emotion" if said[0] == "anger" else "transcript"]
    return Pair("c", task, pd.DataFrame({"key": list("abcdef")}), said, baseline, candidate, np.arange(6), "")


def test_what_was_corrected_and_broken():
    resampled = {"interval": "percentile", "resample": lambda pair, own: bootstrap.resample(own, pair.blocks)}
    comparison = SimpleNamespace(**resampled)
    spoken = pair([f"{HOSTILE} on"] * 6, ["on"] * 6, [f"{HOSTILE} off"] * 6)
    shown, words = str(comparisons.word_impacts(comparison, [spoken])), str(comparisons.words(spoken))
    assert "changed words" in words and "<img" not in words and "0.0\xa0%" in shown
    classes = pair(["anger"] * 6, ["anger"] * 5 + ["joy"], ["joy"] + ["anger"] * 5)
    shown = str(comparisons.impacts(comparison, [classes]))
    assert shown.count("16.7\xa0%") == 2 and "33.3\xa0%" in shown and "neutral" in shown
    assert "share no task" in str(comparisons.corrected_and_broken(comparison, [], []))


def test_right_is_better_whatever_the_rule():
    frame = contrast_frame([FOUND, dataclasses.replace(FOUND, test="Errors", rule="<", outcome="better")])
    figure = comparisons._differences(frame.assign(name=["more is better", "fewer is better"]))
    assert [line.get_xdata()[0] for line in figure.axes[0].lines] == [-0.1, 0.1]
