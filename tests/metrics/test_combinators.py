"""Statistics made of statistics: known answers, reasons, counts, and replicates of the parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import (
    MOST_SUMS,
    against_all,
    against_average,
    average,
    combine,
    difference,
    paired,
    paired_difference,
    relabel,
    relative_difference,
    restrict,
    shift,
    shift_difference,
    stack,
    standardised_difference,
)
from soundcheck.metrics.distribution import bin_proportions, class_proportions
from soundcheck.metrics.regression import (
    concordance_cc,
    correlations,
    mean_absolute_error,
    mean_error,
    mean_value,
)
from soundcheck.metrics.speakers import speaker_averages
from soundcheck.metrics.weighted import weighted_difference
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import weights

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


# Shifts by context and their differences: known answers, the plain formula, missing cells


LANGUAGES = ("de", "en", "zh")


def data(seed=0, n=300):
    rng = np.random.default_rng(seed)
    language, sentiment = rng.integers(3, size=n), rng.integers(3, size=n)
    return rng.random(n), [language == i for i in range(3)], sentiment == 0


@pytest.mark.parametrize("kind", ["mean", "bins", "classes"])
def test_against_the_plain_formula(kind):
    prediction, groups, context = data()
    if kind == "mean":
        statistic, plain = mean_value(prediction), lambda rows: np.array([prediction[rows].mean()])
    elif kind == "bins":
        edges = [-np.inf, 0.25, 0.5, 0.75, np.inf]
        statistic = bin_proportions(prediction)
        plain = lambda rows: np.histogram(prediction[rows], edges)[0] / rows.sum()  # noqa: E731
    else:
        classes = np.array(["a", "b"], dtype=object)[(prediction > 0.4).astype(int)]
        statistic = class_proportions(classes, ("a", "b"))
        plain = lambda rows: np.array([(classes[rows] == c).mean() for c in "ab"])  # noqa: E731
    shifts = [plain(group & context) - plain(group) for group in groups]
    for tested in range(3):
        expected = shifts[tested] - np.mean(shifts, axis=0)
        found = shift_difference(statistic, groups, tested, context)
        np.testing.assert_allclose(values(found), expected, atol=1e-9)
        assert set(found.point().segments) == {int((groups[tested] & context).sum())}


def test_a_group_without_the_context_leaves_no_average():
    prediction, groups, context = data(1)
    context = context & ~groups[2]
    point = shift_difference(mean_value(prediction), groups, 0, context).point()
    assert np.isnan(point.value[0]) and point.reasons == ("no segments",)


# Standardised differences: weighted formulas written out, cells of one side, what is left of noise


CLASSES = ("a", "b", "c")


def data_strata(seed=0, n=400, cells=5):
    """Truth, predictions, classes and cells of a group that lies more in the high cells."""
    rng = np.random.default_rng(seed)
    group = rng.random(n) < 0.4
    cell = np.minimum((rng.random(n) ** np.where(group, 0.5, 1) * cells).astype(int), cells - 1)
    truth = rng.random(n)
    guess = truth + 0.1 * cell * group + rng.normal(0, 0.1, n)
    names = np.array(CLASSES, dtype=object)
    said = np.where(rng.random(n) < 0.2 + 0.1 * cell, truth, 0)
    own = names[(truth * 3).astype(int)], names[(said * 3).astype(int)]
    return rng, group, cell, truth, guess, *own


def weight(side, cell, inside):
    """The weight of each segment, written out."""
    found = np.zeros(len(side))
    for c in set(cell[inside]):
        of_cell = inside & (cell == c)
        for own in (side, ~side):
            if (of_cell & own).any() and (of_cell & ~own).any():
                found[of_cell & own] = of_cell.sum() / (of_cell & own).sum()
    return found


def weighted_concordance(w, x, y):
    w = w / w.sum()
    mx, my = (w * x).sum(), (w * y).sum()
    both = (w * (x - mx) * (y - my)).sum()
    return 2 * both / ((w * (x - mx) ** 2).sum() + (w * (y - my) ** 2).sum() + (mx - my) ** 2)


def test_concordance_is_that_of_weighted_moments():
    _, group, cell, truth, guess, *_ = data_strata()
    left_out = np.where(cell == 4, -1, cell)
    w = weight(group, cell, left_out >= 0)
    expected = [weighted_concordance(w[s], truth[s], guess[s]) for s in (group, ~group)]
    found = standardised_difference(concordance_cc(truth, guess), group, ~group, left_out, 5)
    assert value(found) == pytest.approx(expected[0] - expected[1], abs=1e-9)
    assert found.point().segments.tolist() == [int((group & (cell < 4)).sum())]


def test_replicates_are_weighted_anew():
    _, group, cell, truth, guess, *_ = data_strata()
    blocks = np.arange(400) // 20
    found = resample(
        standardised_difference(concordance_cc(truth, guess), group, ~group, cell, 5), blocks, 20, 3
    )
    for drawn, replicate in zip(weights(20, 20, 3), found.replicates[:, 0], strict=True):
        rows = np.repeat(np.arange(400), drawn[blocks])
        w = weight(group[rows], cell[rows], np.ones(len(rows), bool))
        own = group[rows]
        expected = [weighted_concordance(w[s], truth[rows][s], guess[rows][s]) for s in (own, ~own)]
        assert replicate == pytest.approx(expected[0] - expected[1], abs=1e-9)


def test_a_cell_of_one_side_counts_for_neither():
    group = np.array([True, True, True, False, False])
    found = standardised_difference(
        mean_value([0.1, 0.3, 0.9, 0.2, 0.4]), group, ~group, np.array([0, 0, 1, 0, 0]), 2
    )
    assert value(found) == pytest.approx(0.2 - 0.3)
    nothing = standardised_difference(mean_value([0.1, 0.2]), *np.eye(2, dtype=bool), np.array([0, 1]), 2)
    assert nothing.point().reasons == ("undefined",)


def test_segments_without_prediction_have_no_weight():
    _, group, cell, truth, guess, *_ = data_strata()
    guess[::7] = np.nan
    there = ~np.isnan(guess)
    whole = standardised_difference(mean_absolute_error(truth, guess), group, ~group, cell, 5)
    rest = standardised_difference(
        mean_absolute_error(truth[there], guess[there]), group[there], ~group[there], cell[there], 5
    )
    assert value(whole) == pytest.approx(value(rest), abs=1e-12)
    assert "no prediction for 58 of 400" in whole.point().notes[0]


def test_parts_over_different_segments_have_their_own_weights():
    rng, group, cell, _, guess, *_ = data_strata()
    context = rng.random(400) < 0.3
    everybody = np.ones(400, dtype=bool)
    found = standardised_difference(shift(mean_value(guess), everybody, context), group, ~group, cell, 5)
    expected = 0.0
    for rows, sign in ((context, 1), (everybody, -1)):
        w = weight(group, cell, rows)
        means = [np.average(guess[rows & s], weights=w[rows & s]) for s in (group, ~group)]
        expected += sign * (means[0] - means[1])
    assert value(found) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 200))
def test_one_cell_is_the_plain_difference(seed, n):
    _, group, _, truth, guess, own, said = data_strata(seed, n)
    if not 2 < group.sum() < n - 2:
        return
    one = np.zeros(n, dtype=int)
    for statistic in (
        *correlations(truth, guess),
        bin_proportions(guess),
        recall_per_class(own, said, CLASSES),
    ):
        plain = difference(restrict(statistic, group), restrict(statistic, ~group)).point()
        found = standardised_difference(statistic, group, ~group, one, 1).point()
        assert found.value == pytest.approx(plain.value, abs=1e-9, nan_ok=True)
        assert (found.reasons, found.segments.tolist()) == (plain.reasons, plain.segments.tolist())


def test_what_cannot_be_compared_is_refused():
    _, group, cell, truth, guess, *_ = data_strata()
    statistic = concordance_cc(truth, guess)
    with pytest.raises(ValueError, match="both sides"):
        standardised_difference(statistic, group, np.ones(400, dtype=bool), cell, 5)
    with pytest.raises(ValueError, match="from -1 to 3"):
        standardised_difference(statistic, group, ~group, cell, 4)
    with pytest.raises(ValueError, match="sums are more"):
        standardised_difference(statistic, group, ~group, cell, MOST_SUMS)
