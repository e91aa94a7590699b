"""Regression metrics: known answers, oracles away from the edges, our rule at the edges."""

import audmetric
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sklearn_metrics

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.regression import (
    BINS,
    bin_counts,
    bin_numbers,
    concordance_cc,
    mean_absolute_error,
    mean_error,
    mean_value,
    pearson_cc,
    precision_per_bin,
    recall_per_bin,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=50)


def reasons(statistic):
    return statistic.point().reasons


@given(pairs)
def test_oracles(pairs):
    truth, prediction = np.array(pairs).T
    if np.ptp(truth) < 1e-3 or np.ptp(prediction) < 1e-3:
        return
    assert value(concordance_cc(truth, prediction)) == pytest.approx(
        audmetric.concordance_cc(truth, prediction), abs=1e-9
    )
    assert value(pearson_cc(truth, prediction)) == pytest.approx(
        stats.pearsonr(truth, prediction).statistic, abs=1e-9
    )
    assert value(mean_absolute_error(truth, prediction)) == pytest.approx(
        sklearn_metrics.mean_absolute_error(truth, prediction), abs=1e-9
    )


@pytest.mark.parametrize(("middle", "spread"), [(0.5, 0.2), (1e6, 1.0), (1e6, 1e-3), (-3e4, 1e-5)])
def test_moments_do_not_cancel(rng, middle, spread):
    from fractions import Fraction

    truth = middle + spread * rng.normal(size=200)
    prediction = truth + spread * rng.normal(size=200)
    x, y = [Fraction(v) for v in truth], [Fraction(v) for v in prediction]
    mean_x, mean_y = sum(x) / 200, sum(y) / 200
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    spread_x, spread_y = sum((a - mean_x) ** 2 for a in x), sum((b - mean_y) ** 2 for b in y)
    exact = 2 * covariance / (spread_x + spread_y + 200 * (mean_x - mean_y) ** 2)
    assert value(concordance_cc(truth, prediction)) == pytest.approx(float(exact), abs=1e-11)


def test_constant_prediction():
    truth = [0.1, 0.4, 0.8]
    for constant in (0.0, 0.3, 1 / 3, 0.7):
        prediction = [constant] * 3
        assert value(concordance_cc(truth, prediction)) == 0.0
        assert reasons(pearson_cc(truth, prediction)) == ("constant prediction",)
        expected = np.mean(np.abs(np.array(truth) - constant))
        assert value(mean_absolute_error(truth, prediction)) == pytest.approx(expected, abs=1e-12)


def test_constant_within_a_group_is_seen_through_rounding(rng):
    truth = rng.random(300)
    group = rng.random(300) < 0.3
    for constant in rng.random(50):
        prediction = np.where(group, constant, rng.random(300))
        assert value(restrict(concordance_cc(truth, prediction), group)) == 0.0
        assert reasons(restrict(pearson_cc(truth, prediction), group)) == ("constant prediction",)


def test_one_segment():
    assert value(mean_absolute_error([0.5], [0.75])) == 0.25
    assert reasons(concordance_cc([0.5], [0.75])) == ("1 segment",)
    assert reasons(pearson_cc([0.5], [0.75])) == ("1 segment",)
    assert reasons(recall_per_bin([0.5], [0.75])) == ("1 segment",) * 4
    assert concordance_cc([0.5], [0.75]).point().segments.tolist() == [1]


def test_no_segment():
    for metric in (concordance_cc, pearson_cc, mean_absolute_error, mean_error):
        assert reasons(metric([], [])) == ("no segments",)
        assert reasons(metric([np.nan], [0.5])) == ("no segments",)
    assert reasons(mean_value([])) == ("no segments",)
    assert reasons(precision_per_bin([], [])) == ("no segments",) * 4


def test_bins_are_closed_on_the_right():
    edges = [-5.0, 0.0, 0.25, np.nextafter(0.25, 1), 0.5, 0.75, 0.76, 1.0, 7.0, np.nan]
    assert bin_numbers(edges).tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3, -1]
    assert bin_counts(edges).tolist() == [3, 2, 1, 3]
    assert BINS == ("(-inf, 0.25]", "(0.25, 0.5]", "(0.5, 0.75]", "(0.75, inf]")


@given(pairs)
def test_bins_against_scikit_learn(pairs):
    truth, prediction = np.array(pairs).T
    a, b = (
        np.digitize(truth, [0.25, 0.5, 0.75], right=True),
        np.digitize(prediction, [0.25, 0.5, 0.75], right=True),
    )
    here = np.isin(range(4), a)
    for metric, oracle in (
        (recall_per_bin, sklearn_metrics.recall_score),
        (precision_per_bin, sklearn_metrics.precision_score),
    ):
        found = metric(truth, prediction).point()
        expected = oracle(a, b, labels=range(4), average=None, zero_division=0)
        np.testing.assert_allclose(found.value[here], expected[here], atol=1e-9)
        assert [bool(reason) for reason in found.reasons] == (~here).tolist()


def test_absent_bin_says_which():
    found = reasons(recall_per_bin([0.1, 0.2, 0.9], [0.3, 0.3, 0.3]))
    assert found[1] == "bin (0.25, 0.5] does not occur in the truth"
    assert values(precision_per_bin([0.1, 0.2, 0.9], [0.3, 0.3, 0.3])).tolist()[0] == 0.0
