"""Intervals of estimates: within the possible range, of recordings on a limit, or none and why."""

import dataclasses

import numpy as np
import pytest

from soundcheck.evaluation.conclusions import estimate_rows, scale_within
from soundcheck.metrics.change import unchanged
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.regression import concordance_cc
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.results.estimates import Estimate, collected
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.evidence import Scale
from soundcheck.statistics.fixed_speakers import fixed_speakers, value_ends
from soundcheck.suite.measures import info_of

FEW = "interval withheld: all of {} speakers at {}, 20 needed"
rng = np.random.default_rng(0)
NOTHING = "interval withheld: nothing varies"


def estimated(measure, statistic, speakers, condition="", kind="t"):
    """Give the only row of a statistic."""
    found = resample(statistic, speakers, 200)
    scale = scale_within(info_of(measure), found)
    about = dict.fromkeys(("model", "corpus", "family", "task"), "x")
    about |= {"measure": measure, "condition": condition}
    (row,) = estimate_rows(
        about, found, fixed_speakers(statistic, speakers), found.interval(kind, scale=scale), scale
    )
    return row


def recall(right, count):
    heard = np.where(np.arange(count) < right, "a", "b")
    return recall_per_class(["a"] * count, heard, ["a"])


def all_right(n):
    return recall(n, n)


def all_wrong(n):
    return recall(0, n)


def same(n):
    return unchanged(np.full(n, 0.5), np.full(n, 0.5))


def words(errors):
    return lambda n: word_error_rate(np.full(n, 5.0), np.full(n, errors))


def on_limit(recordings, value):
    """Give the interval of a share of 0 or 1."""
    return value_ends(value, 0.0, np.nan, Scale(0, 1), recordings)(0.025)


# measure, statistic of 8 recordings a speaker, speakers, condition -> why not for new speakers, for these
@pytest.mark.parametrize(
    ("measure", "make", "speakers", "condition", "why", "these"),
    [
        ("recall", all_right, 12, "", FEW.format(12, 1), on_limit(96, 1.0)),
        ("recall", all_right, 30, "", "", on_limit(240, 1.0)),
        ("recall", all_wrong, 12, "", FEW.format(12, 0), on_limit(96, 0.0)),
        ("unchanged_predictions", same, 12, "Clip", FEW.format(12, 1), on_limit(96, 1.0)),
        ("unchanged_predictions", same, 30, "", NOTHING, None),  # with themselves
        ("word_error_rate", words(0.0), 12, "", FEW.format(12, 0), None),
        ("word_error_rate", words(1.0), 12, "", NOTHING, None),
    ],
)
def test_values_that_do_not_vary(measure, make, speakers, condition, why, these):
    row = estimated(measure, make(8 * speakers), np.repeat(np.arange(speakers), 8), condition)
    assert (row.low is None, row.excluded) == (why != "", why)
    assert (
        these is None and row.low_sample is None or (row.low_sample, row.high_sample) == pytest.approx(these)
    )


@pytest.mark.parametrize("kind", ["t", "gaussian", "percentile", "expanded"])
@pytest.mark.parametrize("speakers", [5, 8, 40])
def test_intervals_lie_within_the_possible_range(kind, speakers):
    blocks = np.repeat(np.arange(speakers), 4)
    n = len(blocks)
    errors = np.where(rng.random(n) < 0.1, 30.0, 0.0)
    errors[0] = 30.0
    rate = estimated("word_error_rate", word_error_rate(np.full(n, 9.0), errors), blocks, kind=kind)
    right = estimated("recall", recall(n - 1, n), blocks, kind=kind)
    truth = rng.random(n)
    alike = estimated(
        "concordance_cc", concordance_cc(truth, truth + rng.normal(0, 0.01, n)), blocks, kind=kind
    )
    for row, low, high in ((rate, 0, np.inf), (right, 0, 1), (alike, -1, 1)):
        for ends in ((row.low, row.high), (row.low_sample, row.high_sample)):
            assert ends == (None, None) or low <= ends[0] <= row.value <= ends[1] <= high


def test_a_group_that_one_family_compares_keeps_its_interval():
    plain = dict(model="m", corpus="c", task="transcript", measure="word_error_rate", part="accent: us")
    plain |= dict(value=0.1, low_sample=0.08, high_sample=0.12, segments=40, speakers=9)
    small = Estimate(family="asr_word_errors", excluded="40 segments, 50 needed", **plain)
    compared = Estimate(family="fairness_groups", low=0.05, high=0.15, **plain)
    assert collected([small, compared]) == collected([compared, small]) == [compared]
    other = dataclasses.replace(compared, value=0.2)
    assert [row.measure for row in collected([compared, other])] == [
        *("word_error_rate", "word_error_rate (fairness_groups)")
    ]
