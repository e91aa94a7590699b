"""Statistics as exact sums, and statistics made of statistics: known answers, reasons, counts, replicates."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soundcheck.metrics.additive import Columns, largest, layers, value, values
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import (
    against_all,
    average,
    difference,
    paired,
    paired_difference,
    relative_difference,
    restrict,
    shift_difference,
    stack,
    standardised_difference,
)
from soundcheck.metrics.distribution import bin_proportions
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, mean_value
from soundcheck.metrics.speakers import speaker_averages
from soundcheck.metrics.weighted import weighted_difference
from soundcheck.statistics.bootstrap import resample, weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

# Exact sums

finite = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


def column(data) -> Columns:
    rows = np.ones(len(data), dtype=bool)
    return Columns(rows, ~rows, (np.asarray(data, dtype=np.float64),))


@given(st.lists(finite, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_sums_are_those_of_fractions_in_any_order(numbers, random):
    blocks, places = np.arange(len(numbers)) % 3, list(range(len(numbers)))
    random.shuffle(places)
    one = column(numbers).exact_sums(blocks, 3)
    other = column(np.array(numbers)[places]).exact_sums(blocks[places], 3)
    assert [side.tobytes() for side in one] == [side.tobytes() for side in other]
    high, low = column(numbers).exact_sums(np.zeros(len(numbers), dtype=int), 1)
    exact = math.fsum(numbers)
    assert high[0, 0] == len(numbers)
    assert high[0, 1] + low[0, 1] == pytest.approx(exact, rel=1e-15, abs=1e-14 * max(map(abs, numbers)))


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 6)), min_size=1, max_size=60), st.integers(1, 10**6)
)
def test_weighted_sums_of_a_layer_are_exact(numbers, weight):
    parts = list(layers(np.array(numbers), weight * len(numbers), 3))
    together = np.sum(parts, axis=0) if parts else np.zeros(len(numbers))
    np.testing.assert_allclose(together, numbers, rtol=0, atol=2.0**-40 * largest(np.array(numbers)))
    for part in parts:
        exact = sum(Fraction(float(x)) * weight for x in part)
        assert Fraction(float((part * weight).sum())) == exact
    assert list(layers(np.zeros(3), 9, 2)) == list(layers(np.zeros(0), 0, 2)) == []


# Counts and reasons


def test_missing_predictions_are_noted_and_refused():
    for missing, expected, reason, note in (
        (5, 0.1, "", ""),  # few
        (6, 0.1, "", "no prediction for 6 of 100 segments"),
        (51, np.nan, "no prediction for 51 of 100 segments", "no prediction for 51 of 100 segments"),
    ):
        prediction = np.where(np.arange(100) < missing, np.nan, 0.6)
        error = mean_absolute_error(np.full(100, 0.5), prediction)
        point = error.point()
        assert (point.reasons, point.segments.tolist()) == ((reason,), [100 - missing])
        assert reason or point.notes == (note,)
        assert point.value[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        group = np.arange(100) < missing + 1  # those of a group count for the group
        assert restrict(error, group).point().reasons == (
            f"no prediction for {missing} of {missing + 1} segments",
        )
        assert restrict(error, ~group).point().notes == ("",)


NONE = np.array([False] * 4)
TRUTH, PREDICTION = [0.0, 0.5, 0.5, 1.0], [0.2, 0.5, 0.9, 1.0]


def mae(prediction=PREDICTION):
    return mean_absolute_error(TRUTH, prediction)


def rho_of(speakers):
    numbers = np.arange(speakers) / speakers
    return speaker_averages(numbers, numbers, list(range(speakers)), 1).spearmans_rho()


def test_combined_statistics_keep_reasons_and_see_the_same_segments():
    part = restrict(concordance_cc(TRUTH, PREDICTION), np.arange(4) == 0)
    for gap in (difference(part, concordance_cc(TRUTH, PREDICTION)), difference(mae(), part)):
        assert gap.point().reasons == ("1 segment",)
    assert value(relative_difference(mae(), mae([0.4, 0.5, 0.5, 1.0]))) == pytest.approx(0.5, abs=1e-12)
    assert relative_difference(mae(), mae(TRUTH)).point().reasons == ("a difference relative to 0",)
    sides = mae([0.2, None, 0.9, 1.0]), mae([None, 0.5, 0.5, 1.0])
    assert list(map(value, paired(*sides))) == [pytest.approx(0.2), 0.0]
    point = paired_difference(*sides).point()
    assert point.segments.tolist() == [2] and "2 of 4" in point.notes[0]
    parts = [restrict(mae(), np.arange(4) == 0), restrict(mae(), np.arange(4) > 0)]
    assert value(average(parts)) == pytest.approx((0.2 + 0.4 / 3) / 2)
    assert np.isnan(value(average([*parts, restrict(mae(), NONE)])))
    point = stack({"error": mae(), "none": restrict(mae(), NONE)}).point()
    assert point.value[0] == 0.15 and point.segments.tolist() == [4, 0]
    assert point.reasons == ("", "no segments")


def test_what_does_not_fit_together():
    for make, message in (
        (lambda: difference(mean_value([0.1]), recall_per_class(["a"], ["a"], "ab")), "same labels"),
        (lambda: difference(mean_value([0.1]), mean_value([0.1, 0.2])), "same segments"),
        (lambda: weighted_difference(rho_of(3), rho_of(4)), "same blocks"),
        (lambda: restrict(mae(), np.ones(4, dtype=int)), "mask of 4"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_replicates_are_those_of_the_parts(rng):
    """Everything is computed within the same replicates."""
    truth, group, blocks = rng.random(200), rng.random(200) < 0.4, np.arange(200) // 10
    one, two = (concordance_cc(truth, truth + rng.normal(0, error, 200)) for error in (0.1, 0.2))
    a, b, c = (resample(each, blocks, 60).replicates for each in (one, two, restrict(one, group)))
    for made, expected in (
        (against_all(one, group), c - a),
        (paired_difference(one, two), a - b),
        (relative_difference(one, two), (a - b) / b),
        (average([one, two]), (a + b) / 2),
        (stack({"1": one, "2": two}), np.hstack([a, b])),
    ):
        np.testing.assert_allclose(resample(made, blocks, 60).replicates, expected, atol=1e-10)


def test_differences_of_shifts_are_those_of_the_plain_formula(rng):
    language, context = rng.integers(4, size=300), rng.integers(3, size=300) == 0
    prediction = np.where(language < 3, rng.random(300), np.nan)  # in the last one nothing is predicted
    groups = [language == i for i in range(4)]
    edges = [-np.inf, 0.25, 0.5, 0.75, np.inf]
    for statistic, plain in (
        (mean_value(prediction), lambda rows: np.array([prediction[rows].mean()])),
        (bin_proportions(prediction), lambda rows: np.histogram(prediction[rows], edges)[0] / rows.sum()),
    ):
        shifts = [np.subtract(plain(group & context), plain(group)) for group in groups[:3]]
        for tested in range(3):
            result = shift_difference(statistic, groups, tested, context)
            np.testing.assert_allclose(values(result), shifts[tested] - np.mean(shifts, axis=0), atol=1e-9)
            assert set(result.point().segments) == {int((groups[tested] & context).sum())}
    point = shift_difference(mean_value(prediction), groups, 0, context & ~groups[2]).point()
    assert np.isnan(point.value[0]) and point.reasons == ("no segments",)  # no average over groups


# Standardised differences: weighted formulas written out


def in_cells(seed=0, n=400, cells=5):
    """Group, cells that it lies in the high ones of, truth and predictions."""
    rng = np.random.default_rng(seed)
    group = rng.random(n) < 0.4
    cell = np.minimum((rng.random(n) ** np.where(group, 0.5, 1) * cells).astype(int), cells - 1)
    truth = rng.random(n)
    return group, cell, truth, truth + 0.1 * cell * group + rng.normal(0, 0.1, n)


def weight(side, cell, inside):
    """The weight of each segment, written out."""
    result = np.zeros(len(side))
    for c in set(cell[inside]):
        of_cell = inside & (cell == c)
        for of_side in (side, ~side):
            if (of_cell & of_side).any() and (of_cell & ~of_side).any():
                result[of_cell & of_side] = of_cell.sum() / (of_cell & of_side).sum()
    return result


def weighted_concordances(w, group, x, y):
    """Subtract the concordance of others from that of the group."""
    both = []
    for side in (group, ~group):
        share, a, b = w[side] / w[side].sum(), x[side], y[side]
        mean_a, mean_b = (share * a).sum(), (share * b).sum()
        covariance = (share * (a - mean_a) * (b - mean_b)).sum()
        spread = (share * (a - mean_a) ** 2).sum() + (share * (b - mean_b) ** 2).sum()
        both.append(2 * covariance / (spread + (mean_a - mean_b) ** 2))
    return both[0] - both[1]


def test_concordance_is_that_of_weighted_moments_in_each_replicate():
    group, cell, truth, guess = in_cells()
    left_out = np.where(cell == 4, -1, cell)
    expected = weighted_concordances(weight(group, cell, left_out >= 0), group, truth, guess)
    result = standardised_difference(concordance_cc(truth, guess), group, ~group, left_out, 5)
    assert value(result) == pytest.approx(expected, abs=1e-9)
    assert result.point().segments.tolist() == [int((group & (cell < 4)).sum())]
    with_gaps, known = np.where(np.arange(400) % 7, guess, np.nan), np.arange(400) % 7 > 0
    gaps = standardised_difference(mean_absolute_error(truth, with_gaps), group, ~group, cell, 5)
    sides = group[known], ~group[known], cell[known], 5
    rest = standardised_difference(mean_absolute_error(truth[known], guess[known]), *sides)
    assert value(gaps) == pytest.approx(value(rest), abs=1e-12)
    assert "no prediction for 58 of 400" in gaps.point().notes[0]
    result = standardised_difference(concordance_cc(truth, guess), group, ~group, cell, 5)
    blocks = np.arange(400) // 20
    replicates = resample(result, blocks, 20, 3).replicates[:, 0]
    for drawn, replicate in zip(weights(20, 20, 3), replicates, strict=True):
        rows = np.repeat(np.arange(400), drawn[blocks])
        w = weight(group[rows], cell[rows], np.ones(len(rows), bool))
        expected = weighted_concordances(w, group[rows], truth[rows], guess[rows])
        assert replicate == pytest.approx(expected, abs=1e-9)
