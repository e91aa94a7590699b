"""Confidences of words: the cross entropy against its formula, bins against scikit-learn."""

import math

import numpy as np
import pytest

from soundcheck.metrics.additive import value
from soundcheck.metrics.confidence import CERTAIN, normalised_cross_entropy, recognised_words
from soundcheck.statistics.bootstrap import resample


def loop(confidence, correct):
    """Follow the formula word by word."""
    right = sum(correct)
    share = right / len(correct)
    whole = -right * math.log2(share) - (len(correct) - right) * math.log2(1 - share)
    for sure, good in zip(confidence, correct, strict=True):
        sure = min(max(sure, CERTAIN), 1 - CERTAIN)
        whole += math.log2(sure if good else 1 - sure)
    return whole / (-right * math.log2(share) - (len(correct) - right) * math.log2(1 - share))


@pytest.mark.parametrize("seed", range(5))
def test_cross_entropy_is_that_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    confidence = np.round(rng.random(200), 2)  # of which some are 0 or 1
    correct = (rng.random(200) < confidence).astype(float)
    assert value(normalised_cross_entropy(confidence, correct)) == pytest.approx(loop(confidence, correct))


def test_of_what_is_known_the_rest_is_left_out():
    sure, right = [0.9, np.nan, 0.2, 0.5], [1.0, 1.0, 0.0, np.nan]
    assert value(normalised_cross_entropy(sure, right)) == pytest.approx(loop([0.9, 0.2], [1, 0]))


def test_one_confidence_for_all_is_worth_nothing_or_less():
    right = np.array([1.0, 1.0, 1.0, 0.0])
    assert value(normalised_cross_entropy(np.full(4, 0.75), right)) == pytest.approx(0, abs=1e-12)
    assert value(normalised_cross_entropy(np.full(4, 0.9), right)) < 0
    assert value(normalised_cross_entropy(right, right)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_without_any_doubt_there_is_none(right):
    point = normalised_cross_entropy([0.5, 0.6], [right, right]).point()
    assert np.isnan(point.value[0]) and point.reasons == ("all words are right, or none",)


def test_replicates_are_values_of_drawn_blocks():
    rng = np.random.default_rng(1)
    confidence, blocks = rng.random(60), np.arange(60) // 6
    correct = (rng.random(60) < confidence).astype(float)
    found = resample(normalised_cross_entropy(confidence, correct), blocks, 50, seed=3)
    low, high = found.interval("percentile")
    assert low[0] < found.value[0] < high[0] and found.blocks[0] == 10


def test_left_out_words_are_no_words_of_the_recogniser():
    steps = recognised_words("turn the light on now", "turn a light on on")
    assert [(step.hypothesis, step.kind == "equal") for step in steps] == [
        ("turn", True),
        ("a", False),
        ("light", True),
        ("on", True),
        ("on", False),
    ]
    assert recognised_words("turn left", "") == []
