"""Normalised scores: plain loops as the oracle, sides that cannot be normalised."""

import statistics

import numpy as np
import pytest

from soundcheck.metrics.similarity import NORMS, normalised_scores


def loop(score, one, other, top):
    """Normalise one score with the standard library."""

    def against(cohort):
        return (score - statistics.fmean(cohort)) / statistics.pstdev(cohort)

    z, t = against(one), against(other)
    near = [against(sorted(side, reverse=True)[:top]) for side in (one, other)]
    return [z, t, (z + t) / 2, sum(near) / 2]


@pytest.mark.parametrize("top", [2, 5, 100])
def test_plain_loops_give_the_same(top):
    rng = np.random.default_rng(top)
    enrolled, tested = rng.normal(size=(4, 9)), rng.normal(size=(6, 9))
    first, second = rng.integers(4, size=30), rng.integers(6, size=30)
    scores = rng.normal(size=30)
    found = normalised_scores(scores, first, second, enrolled, tested, top)
    assert tuple(found) == NORMS
    for n, score in enumerate(scores):
        expected = loop(score, enrolled[first[n]].tolist(), tested[second[n]].tolist(), top)
        assert [found[name][n] for name in NORMS] == pytest.approx(expected)


def test_sides_that_score_the_same_against_everybody_have_no_score():
    enrolled, tested = np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.4]]), np.array([[0.3, np.nan, 0.2], [0, 1, 2]])
    found = normalised_scores(np.full(3, 0.5), np.array([0, 1, 1]), np.array([1, 0, 1]), enrolled, tested, 3)
    assert np.isnan(found["z-norm"]).tolist() == [True, False, False]
    assert np.isnan(found["t-norm"]).tolist() == [False, True, False]
    assert np.isnan(found["adaptive s-norm"]).tolist() == [True, True, False]
