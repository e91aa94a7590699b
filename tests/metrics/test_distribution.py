"""Shares, histograms and their distance: known answers, SciPy and audmetric as oracles, missing data."""

import audmetric
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import distance

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.classification import accuracy
from soundcheck.metrics.combinators import restrict
from soundcheck.metrics.distribution import (
    bin_proportions,
    class_proportions,
    histogram_numbers,
    jensen_shannon_distance,
    proportion_in_range,
    relative_difference_per_bin,
    relative_difference_per_class,
)

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CLASSES = ("anger", "happiness", "neutral", "sadness")
unit = st.floats(0, 1, width=32)
pairs = st.lists(st.tuples(unit, unit), min_size=1, max_size=80)
named = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from((*CLASSES, "joy"))), min_size=1, max_size=80
)
quick = settings(max_examples=40, deadline=None)


@quick
@given(pairs)
def test_distance_is_that_of_scipy(data):
    truth, prediction = np.array(data, dtype=np.float64).T
    edges = np.array([-np.inf, *np.arange(1, 10) / 10, np.inf])
    # Bins closed on the right, with room for the rounding of the edges.
    p, q = (np.histogram(-each, np.sort(-(edges + 1e-9)))[0][::-1] for each in (truth, prediction))
    expected = distance.jensenshannon(p, q, base=2)
    assert value(jensen_shannon_distance(truth, prediction)) == pytest.approx(expected, abs=1e-7)


def test_edges_belong_to_the_bin_on_their_left_and_what_is_outside_to_the_outer_ones():
    assert histogram_numbers(np.arange(11) / 10).tolist() == [0, *range(10)]
    assert histogram_numbers([-3.0, 1.0001, 7.0]).tolist() == [0, 9, 9]
    assert value(jensen_shannon_distance([0.95, 0.95], [1.5, 0.91])) == 0.0


@quick
@given(named)
def test_shares_and_accuracy_are_those_of_counting(data):
    truth, prediction = map(list, zip(*data, strict=True))
    n = len(truth)
    expected = [(prediction.count(c) - truth.count(c)) / n for c in CLASSES]
    found = values(relative_difference_per_class(truth, prediction, CLASSES))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    shares = values(class_proportions(prediction, CLASSES))
    np.testing.assert_allclose(shares, [prediction.count(c) / n for c in CLASSES], atol=1e-12)
    if n > 1:
        assert value(accuracy(truth, prediction, CLASSES)) == pytest.approx(
            audmetric.accuracy(truth, prediction, labels=[*CLASSES, "joy"]), abs=1e-9
        )


@quick
@given(pairs)
def test_shares_of_bins_are_those_of_counting(data):
    truth, prediction = np.array(data, dtype=np.float64).T
    edges = [-np.inf, 0.25, 0.5, 0.75, np.inf]
    counts = [
        np.array(
            [np.sum((low < each) & (each <= high)) for low, high in zip(edges[:-1], edges[1:], strict=True)]
        )
        for each in (truth, prediction)
    ]
    expected = (counts[1] - counts[0]) / len(truth)
    np.testing.assert_allclose(values(relative_difference_per_bin(truth, prediction)), expected, atol=1e-12)
    np.testing.assert_allclose(values(bin_proportions(prediction)), counts[1] / len(truth), atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: class_proportions([], CLASSES),
        lambda: bin_proportions([]),
        lambda: relative_difference_per_class([], [], CLASSES),
        lambda: relative_difference_per_bin([], []),
        lambda: jensen_shannon_distance([], []),
        lambda: proportion_in_range([]),
        lambda: restrict(proportion_in_range([0.5]), np.array([False])),
    ],
)
def test_no_segments(make):
    point = make().point()
    assert np.isnan(point.value).all() and set(point.reasons) == {"no segments"}


def test_missing_predictions_are_counted():
    point = jensen_shannon_distance([0.1, 0.2, 0.3, np.nan], [0.1, 0.2, np.nan, 0.5]).point()
    assert point.segments.tolist() == [2] and "no prediction for 1 of 3" in point.notes[0]
    point = class_proportions(["anger", None, None], CLASSES).point()
    assert set(point.reasons) == {"no prediction for 2 of 3 segments"}
    with pytest.raises(ValueError, match="do not fit"):
        jensen_shannon_distance([0.1], [0.1, 0.2])
