"""Numbers and classes against labels: known answers, oracles away from the edges, our rule at the edges."""

from fractions import Fraction

import audmetric
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import distance
from sklearn import metrics as sklearn_metrics

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.change import EVENTS, impact, impact_codes, is_unchanged
from soundcheck.metrics.classification import (
    accuracy,
    class_counts,
    class_numbers,
    precision_per_class,
    recall_per_class,
    unweighted_average_precision,
    unweighted_average_recall,
    with_label_shares,
)
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.distribution import (
    bin_proportions,
    class_proportions,
    histogram_numbers,
    jensen_shannon_distance,
    proportion_in_range,
    relative_difference_per_class,
)
from soundcheck.metrics.regression import (
    bin_numbers,
    concordance_cc,
    mean_absolute_error,
    pearson_cc,
    precision_per_bin,
    recall_per_bin,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CLASSES = ("anger", "happiness", "neutral", "sadness")
EDGES = [-np.inf, 0.25, 0.5, 0.75, np.inf]
pairs_of_numbers = st.lists(st.tuples(*[st.floats(0, 1, width=32)] * 2), min_size=1, max_size=60)
pairs_of_classes = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from((*CLASSES, "joy"))), min_size=1, max_size=60
)


def reasons(statistic):
    return statistic.point().reasons


# Numbers


@given(pairs_of_numbers)
def test_errors_and_correlations_are_those_of_other_packages(pairs):
    truth, prediction = np.array(pairs, dtype=float).T
    expected = sklearn_metrics.mean_absolute_error(truth, prediction)
    assert value(mean_absolute_error(truth, prediction)) == pytest.approx(expected, abs=1e-9)
    if len(pairs) < 3 or np.ptp(truth) < 1e-3 or np.ptp(prediction) < 1e-3:
        return
    expected = audmetric.concordance_cc(truth, prediction)
    assert value(concordance_cc(truth, prediction)) == pytest.approx(expected, abs=1e-9)
    expected = stats.pearsonr(truth, prediction).statistic
    assert value(pearson_cc(truth, prediction)) == pytest.approx(expected, abs=1e-9)


def test_moments_do_not_cancel(rng):
    truth = 1e6 + 1e-3 * rng.normal(size=200)
    prediction = truth + 1e-3 * rng.normal(size=200)
    x, y = [Fraction(v) for v in truth], [Fraction(v) for v in prediction]
    mean_x, mean_y = sum(x) / 200, sum(y) / 200
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    spread_x, spread_y = sum((a - mean_x) ** 2 for a in x), sum((b - mean_y) ** 2 for b in y)
    exact = 2 * covariance / (spread_x + spread_y + 200 * (mean_x - mean_y) ** 2)
    assert value(concordance_cc(truth, prediction)) == pytest.approx(float(exact), abs=1e-11)


def test_constant_predictions_are_seen_through_rounding_and_bins_are_closed_on_the_right(rng):
    truth, group = rng.random(300), rng.random(300) < 0.3
    for constant in (1 / 3, *rng.random(9)):
        prediction = np.where(group, constant, rng.random(300))
        assert value(restrict(concordance_cc(truth, prediction), group)) == 0.0
        assert reasons(restrict(pearson_cc(truth, prediction), group)) == ("constant prediction",)
    edges = [-5.0, 0.0, 0.25, np.nextafter(0.25, 1), 0.5, 0.75, 0.76, 1.0, 7.0, np.nan]
    assert bin_numbers(edges).tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3, -1]
    assert histogram_numbers(np.arange(11) / 10).tolist() == [0, *range(10)]
    assert histogram_numbers([-3.0, 1.0001, 7.0]).tolist() == [0, 9, 9]  # outside: in the outer ones


@given(pairs_of_numbers)
def test_bins_and_histograms_are_those_of_other_packages(pairs):
    truth, prediction = np.array(pairs, dtype=float).T
    a, b = (np.digitize(each, EDGES[1:-1], right=True) for each in (truth, prediction))
    if len(pairs) > 1:
        occurs = np.isin(range(4), a)
        for metric, oracle in (
            (recall_per_bin, sklearn_metrics.recall_score),
            (precision_per_bin, sklearn_metrics.precision_score),
        ):
            point = metric(truth, prediction).point()
            expected = oracle(a, b, labels=range(4), average=None, zero_division=0)
            np.testing.assert_allclose(point.value[occurs], expected[occurs], atol=1e-9)
            assert [bool(reason) for reason in point.reasons] == (~occurs).tolist()
    shares = [np.bincount(each, minlength=4) / len(pairs) for each in (a, b)]
    np.testing.assert_allclose(values(bin_proportions(prediction)), shares[1], atol=1e-12)
    tenths = np.array([-np.inf, *np.arange(1, 10) / 10, np.inf]) + 1e-9  # room for the rounding of edges
    p, q = (np.histogram(-each, np.sort(-tenths))[0][::-1] for each in (truth, prediction))
    expected = distance.jensenshannon(p, q, base=2)
    assert value(jensen_shannon_distance(truth, prediction)) == pytest.approx(expected, abs=1e-7)


# Classes


@given(pairs_of_classes)
def test_class_metrics_are_those_of_other_packages(pairs):
    truth, prediction = (list(side) for side in zip(*pairs, strict=True))
    n, occur = len(pairs), [name for name in CLASSES if name in truth]
    places = [CLASSES.index(name) for name in occur]
    shares = np.array([[side.count(name) / n for name in CLASSES] for side in (truth, prediction)])
    np.testing.assert_allclose(values(class_proportions(prediction, CLASSES)), shares[1], atol=1e-12)
    differences = values(relative_difference_per_class(truth, prediction, CLASSES))
    np.testing.assert_allclose(differences, shares[1] - shares[0], atol=1e-12)
    expected = sklearn_metrics.confusion_matrix(truth, prediction, labels=[*CLASSES, "joy"])
    counts = accuracy(truth, prediction, CLASSES).sums().reshape(4, 5)
    assert counts[:, :4].tolist() == expected[:4, :4].tolist()
    if n == 1:
        return
    options = {"labels": occur, "average": None, "zero_division": 0}
    recalls = sklearn_metrics.recall_score(truth, prediction, **options)
    precisions = sklearn_metrics.precision_score(truth, prediction, **options)
    for metric, expected in ((recall_per_class, recalls), (precision_per_class, precisions)):
        np.testing.assert_allclose(values(metric(truth, prediction, CLASSES))[places], expected, atol=1e-9)
    average = value(unweighted_average_recall(truth, prediction, CLASSES))
    assert average == pytest.approx(recalls.mean(), abs=1e-9)
    expected = audmetric.accuracy(truth, prediction, labels=[*CLASSES, "joy"])
    assert value(accuracy(truth, prediction, CLASSES)) == pytest.approx(expected, abs=1e-9)
    average = value(unweighted_average_precision(truth, prediction, CLASSES))
    assert average == pytest.approx(precisions.mean(), abs=1e-9)


def test_classes_that_do_not_occur_are_named_and_left_out_of_averages():
    some = ["anger", "neutral", "neutral"], ["anger", "sadness", "neutral"]
    for metric in (recall_per_class, precision_per_class):
        expected = [f"class '{name}' does not occur in the truth" for name in ("happiness", "sadness")]
        assert list(reasons(metric(*some, CLASSES))[1::2]) == expected
    for truth, prediction, note in (
        (*some, "over 2 of 4 classes"),
        (["anger"] * 4, ["anger"] * 3 + ["neutral"], "not informative: 1 class in the truth"),
    ):
        point = unweighted_average_recall(truth, prediction, CLASSES).point()
        assert point.value[0] == 0.75 and point.notes == (note,)
    never_predicted = precision_per_class(["a", "b", "b"], ["a", "a", "a"], ["a", "b"]).point()
    assert never_predicted.value.tolist() == [pytest.approx(1 / 3), 0.0]
    assert never_predicted.segments.tolist() == [3, 2] and never_predicted.reasons == ("", "")


def test_precision_at_given_shares_of_labels(rng):
    truth, predicted = rng.choice(list("abc"), (2, 60))

    times = np.select([truth == "a", truth == "b"], [3, 2], 1)
    repeated = np.repeat(truth, times)
    more = precision_per_class(repeated, np.repeat(predicted, times), "abc")
    result = with_label_shares(precision_per_class(truth, predicted, "abc"), class_counts(repeated, "abc"))
    np.testing.assert_allclose(values(result), values(more), atol=1e-12)
    without_c = precision_per_class(list("aab"), list("aba"), "abc")
    assert np.isnan(values(with_label_shares(without_c, [1, 1, 1]))[2])
    with pytest.raises(ValueError, match="2 classes"):
        with_label_shares(without_c, [1, 1])


# Predictions of a changed signal or of another model


def test_exactly_the_tolerance_is_a_change_for_all_decimals():
    clean = np.arange(0, 96) / 100
    for changed in (clean + 0.05, np.round(clean + 0.05, 2)):
        assert not is_unchanged(clean, changed).any() and not is_unchanged(changed, clean).any()
    assert is_unchanged(clean, clean + 0.0499999).all()
    result = is_unchanged(["a", "b", "c", None], ["a", "c", None, None])
    assert result.tolist()[:2] == [1.0, 0.0] and np.isnan(result[2:]).all()
    # 0.54 to 0.56 crosses the border of what is right, but by less than the tolerance.
    baseline, candidate = np.array([0.5, 0.55, 0.54, 0.3]), np.array([0.549, 0.5, 0.56, 0.7])
    assert impact_codes(np.full(4, 0.5), baseline, candidate).tolist() == [3, 2, 3, 1]


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=40))
def test_corrections_and_added_errors_are_those_of_counting(rows):
    truth, baseline, candidate = np.array(CLASSES, dtype=object)[np.array(rows).T]
    counted = {
        "added errors": np.mean((baseline == truth) & (candidate != truth)),
        "corrections": np.mean((baseline != truth) & (candidate == truth)),
        "changed errors": np.mean((baseline != truth) & (candidate != truth) & (baseline != candidate)),
    }
    *shares, net = values(impact(truth, baseline, candidate))
    assert dict(zip(EVENTS, shares, strict=True)) == pytest.approx(counted, abs=1e-12)
    assert net == pytest.approx(np.mean(candidate == truth) - np.mean(baseline == truth), abs=1e-12)


# Without segments or with one


def test_one_segment_and_labels_without_predictions():
    alone = [metric([0.5], [0.75]) for metric in (concordance_cc, pearson_cc, recall_per_bin)]
    alone += [metric(["a"], ["a"], ["a", "b"]) for metric in (precision_per_class, unweighted_average_recall)]
    assert {reason for statistic in alone for reason in reasons(statistic)} == {"1 segment"}
    none = [metric([np.nan], [0.5]) for metric in (precision_per_bin, mean_absolute_error)]
    none += [restrict(proportion_in_range([0.5]), np.array([False])), impact([np.nan], [0.5], [0.5])]
    assert {reason for statistic in none for reason in reasons(statistic)} == {"no segments"}
    absent = reasons(recall_per_bin([0.1, 0.2, 0.9], [0.3, 0.3, 0.3]))
    assert absent[1] == "bin (0.25, 0.5] does not occur in the truth"
    point = impact([0.5, 0.5, 0.5], [0.5, np.nan, 0.5], [0.9, 0.9, 0.5]).point()
    assert point.segments.tolist() == [2] * 4 and point.notes == ("no prediction for 1 of 3 segments",) * 4
    with pytest.raises(ValueError, match="same class is given twice"):
        recall_per_class(["a"], ["a"], ["a", "a"])
    names = ["NA", "none", "001", "1"]
    assert class_numbers(pd.Series(names, dtype="str"), names).tolist() == [0, 1, 2, 3]
