"""What a page says of a comparison: the answer first, p-values, words; text of data stays text."""

import html

import numpy as np
import pytest

from soundcheck.metrics.word_changes import changed_words, word_changes
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.report import comparisons, word_tables
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


@pytest.mark.parametrize(("p", "said"), [(np.nan, ""), (1e-9, "p < 0.0001"), (0.25, "p = 0.25")])
def test_p_values(p, said):
    table = str(comparisons.contrast_table(contrast_frame([FOUND]).assign(p_value=p)))
    assert said in html.unescape(table) and (said or "p =" not in table)


def test_words():
    texts = [[f"{HOSTILE} on"] * 6, ["on"] * 6, [f"{HOSTILE} off"] * 6]
    changes = word_changes(*texts)
    net = bootstrap.resample(word_error_rate(changes["words"], changes["corrected"]), np.arange(6))
    shown = str(comparisons.word_changes_table([("c", changes, net)], "percentile"))
    words = str(word_tables.word_change_table(changed_words(*texts), "c"))
    assert ">12<" in shown and "+50.0 %" in shown
    assert "2 of 2 changed words" in words and "<b>" not in words
    assert "do not both transcribe" in str(comparisons.word_changes_table([], "percentile"))
    assert "share no task" in str(comparisons.impact_table([], "percentile"))
