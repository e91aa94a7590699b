"""Calibration of scores: scikit-learn as the oracle, separated and equal scores, what units do not change."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from soundcheck.metrics.calibration import bayes_threshold, fit_calibration


def drawn(seed, targets=60, others=400, apart=1.5):
    rng = np.random.default_rng(seed)
    target = np.arange(targets + others) < targets
    return rng.normal(size=len(target)) + apart * target, target


@pytest.mark.parametrize("seed", range(4))
def test_scikit_learn_fits_the_same_line(seed):
    scores, target = drawn(seed)
    counts = {kind: int(np.sum(target == kind)) for kind in (True, False)}
    rows, labels, weights = [], [], []
    for score, kind in zip(scores, target, strict=True):
        n = counts[bool(kind)]
        for label, share in ((kind, (n + 1) / (n + 2)), (not kind, 1 / (n + 2))):
            rows.append([score])
            labels.append(label)
            weights.append(share / n)
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(rows, labels, np.array(weights) * 100)
    found = fit_calibration(scores, target)
    assert found.slope == pytest.approx(oracle.coef_[0, 0], rel=1e-4)
    assert found.offset == pytest.approx(oracle.intercept_[0], rel=1e-4)


def test_missing_scores_are_left_out():
    scores, target = drawn(1)
    found = fit_calibration(np.append(scores, np.nan), np.append(target, True))
    assert found == fit_calibration(scores, target)
    assert np.isnan(found.apply(np.array([np.nan]))[0])


@pytest.mark.parametrize(("factor", "shift"), [(1e-6, 0.0), (1e6, 1e6), (1.0, -1e4), (-1.0, 3.0)])
def test_units_of_scores_do_not_matter(factor, shift):
    scores, target = drawn(2)
    other = factor * scores + shift
    expected = fit_calibration(scores, target).apply(scores)
    np.testing.assert_allclose(fit_calibration(other, target).apply(other), expected, atol=1e-5)


def test_scores_that_separate_both_kinds_have_a_finite_line():
    found = fit_calibration(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    assert 0 < found.slope < 100
    assert found.apply(np.array([0.5]))[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("score", [0.0, 0.1, -1e300])
def test_equal_scores_say_nothing(score):
    found = fit_calibration(np.full(7, score), np.arange(7) < 3)
    assert found.apply(np.array([score])) == [0.0]


def test_one_kind_is_refused():
    with pytest.raises(ValueError, match="both kinds"):
        fit_calibration(np.array([0.1, 0.2, np.nan]), np.array([True, True, False]))


def test_the_threshold_follows_from_the_cost():
    assert bayes_threshold(0.5, 1, 1) == 0
    assert bayes_threshold(0.01, 10, 1) == pytest.approx(np.log(9.9))
