"""Statistics made of statistics: known answers, reasons, counts, and replicates of the parts."""

import numpy as np
import pytest

from soundcheck.metrics.additive import value
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import (
    against_all,
    against_average,
    average,
    combine,
    paired,
    paired_difference,
    relabel,
    relative_difference,
    restrict,
    stack,
)
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, mean_error, mean_value
from soundcheck.metrics.speakers import speaker_averages
from soundcheck.metrics.weighted import weighted_difference
from soundcheck.statistics.bootstrap import resample

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

NONE, FIRST = np.array([False] * 4), np.array([True, True, False, False])
TRUTH, ANSWER = [0.0, 0.5, 0.5, 1.0], [0.2, 0.5, 0.9, 1.0]


def mae():
    return mean_absolute_error(TRUTH, ANSWER)


def rho_of(speakers):
    values = np.arange(speakers) / speakers
    return speaker_averages(values, values, list(range(speakers)), 1).spearmans_rho()


def random(seed=0, n=200):
    rng = np.random.default_rng(seed)
    truth = rng.random(n)
    return truth, truth + rng.normal(0, 0.1, n), truth + rng.normal(0, 0.2, n), rng.random(n) < 0.4


def test_masks_are_checked():
    for mask in (np.ones(3, dtype=bool), np.ones(4, dtype=int)):
        with pytest.raises(ValueError, match="mask of 4"):
            restrict(mae(), mask)


def test_relative_differences_are_shares_of_the_second():
    other = mean_absolute_error(TRUTH, [0.4, 0.5, 0.5, 1.0])
    assert value(relative_difference(mae(), other)) == pytest.approx(0.5, abs=1e-12)
    perfect = mean_absolute_error(TRUTH, TRUTH)
    assert relative_difference(mae(), perfect).point().reasons == ("a difference relative to 0",)


def test_paired_statistics_see_the_same_segments():
    gaps = mean_absolute_error(TRUTH, [0.2, None, 0.9, 1.0])
    others = mean_absolute_error(TRUTH, [None, 0.5, 0.5, 1.0])
    one, two = paired(gaps, others)
    assert one.rows.tolist() == two.rows.tolist() == [False, False, True, True]
    assert value(one) == pytest.approx(0.2) and value(two) == 0.0
    found = paired_difference(gaps, others).point()
    assert found.segments.tolist() == [2] and "2 of 4" in found.notes[0]


def test_an_average_weighs_its_parts_alike():
    parts = [
        restrict(mae(), np.array(mask)) for mask in ([True, False, False, False], [False, True, True, True])
    ]
    found = average(parts)
    assert value(found) == pytest.approx((0.2 + 0.4 / 3) / 2)
    assert found.point().segments.tolist() == [4]
    assert np.isnan(value(average([*parts, restrict(mae(), NONE)])))


def test_stacked_statistics_keep_their_values_counts_and_reasons():
    found = stack({"error": mae(), "bias": mean_error(TRUTH, ANSWER), "none": restrict(mae(), NONE)}).point()
    assert found.value[:2].tolist() == [0.15, 0.15] and np.isnan(found.value[2])
    assert found.segments.tolist() == [4, 4, 0]
    assert found.reasons == ("", "", "no segments")
    with pytest.raises(ValueError, match="single value"):
        stack({"x": recall_per_class(["a"], ["a"], ("a", "b"))})


def test_new_labels_change_nothing_else():
    renamed = relabel(mae(), lambda label: f"group {label}")
    assert renamed.labels == ("group ",) and value(renamed) == value(mae())
    rho = rho_of(3)
    assert relabel(rho, lambda _: "x").labels == ("x",) and rho.labels == ("",)


def test_only_alike_statistics_combine():
    with pytest.raises(ValueError, match="same labels"):
        combine([mae(), relabel(mae(), lambda _: "other")], np.subtract)
    with pytest.raises(ValueError, match="same blocks"):
        weighted_difference(rho_of(3), rho_of(4))


@pytest.mark.parametrize("name", ["against all", "paired", "relative", "average", "stack"])
def test_replicates_are_those_of_the_parts(name):
    """Everything is computed within the same replicates."""
    truth, a, b, group = random()
    blocks = np.arange(200) // 10
    one, two = concordance_cc(truth, a), concordance_cc(truth, b)
    samples = [resample(each, blocks, 60).replicates for each in (one, two, restrict(one, group))]
    made, expected = {
        "against all": (against_all(one, group), samples[2] - samples[0]),
        "paired": (paired_difference(one, two), samples[0] - samples[1]),
        "relative": (relative_difference(one, two), (samples[0] - samples[1]) / samples[1]),
        "average": (average([one, two]), (samples[0] + samples[1]) / 2),
        "stack": (stack({"1": one, "2": two}), np.hstack(samples[:2])),
    }[name]
    np.testing.assert_allclose(resample(made, blocks, 60).replicates, expected, atol=1e-10)


def test_average_over_equal_groups_is_that_of_all(rng):
    prediction, names = rng.random(90), np.repeat(["a", "b", "c"], 30)
    masks = [names == name for name in "abc"]
    for place, mask in enumerate(masks):
        mean = mean_value(prediction)
        one, other = against_average(mean, masks, place), against_all(mean, mask)
        assert value(one) == pytest.approx(value(other), abs=1e-12)
        assert one.point().segments.tolist() == [30]
        # segment by segment the groups vary in size from replicate to replicate; block by block they do not
        blocks = np.tile(np.arange(30), 3)
        both = [resample(statistic, blocks, 200, 0).replicates for statistic in (one, other)]
        np.testing.assert_allclose(*both, atol=1e-12)
