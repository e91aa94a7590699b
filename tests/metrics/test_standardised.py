"""Standardised differences: weighted formulas written out, cells of one side, what is left of noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soundcheck.metrics.additive import value
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import MOST_SUMS, difference, restrict, shift, standardised_difference
from soundcheck.metrics.distribution import bin_proportions
from soundcheck.metrics.regression import concordance_cc, correlations, mean_absolute_error, mean_value
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CLASSES = ("a", "b", "c")


def data(seed=0, n=400, cells=5):
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
    _, group, cell, truth, guess, *_ = data()
    left_out = np.where(cell == 4, -1, cell)
    w = weight(group, cell, left_out >= 0)
    expected = [weighted_concordance(w[s], truth[s], guess[s]) for s in (group, ~group)]
    found = standardised_difference(concordance_cc(truth, guess), group, ~group, left_out, 5)
    assert value(found) == pytest.approx(expected[0] - expected[1], abs=1e-9)
    assert found.point().segments.tolist() == [int((group & (cell < 4)).sum())]


def test_replicates_are_weighted_anew():
    _, group, cell, truth, guess, *_ = data()
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
    _, group, cell, truth, guess, *_ = data()
    guess[::7] = np.nan
    there = ~np.isnan(guess)
    whole = standardised_difference(mean_absolute_error(truth, guess), group, ~group, cell, 5)
    rest = standardised_difference(
        mean_absolute_error(truth[there], guess[there]), group[there], ~group[there], cell[there], 5
    )
    assert value(whole) == pytest.approx(value(rest), abs=1e-12)
    assert "no prediction for 58 of 400" in whole.point().notes[0]


def test_parts_over_different_segments_have_their_own_weights():
    rng, group, cell, _, guess, *_ = data()
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
    _, group, _, truth, guess, own, said = data(seed, n)
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
    _, group, cell, truth, guess, *_ = data()
    statistic = concordance_cc(truth, guess)
    with pytest.raises(ValueError, match="both sides"):
        standardised_difference(statistic, group, np.ones(400, dtype=bool), cell, 5)
    with pytest.raises(ValueError, match="from -1 to 3"):
        standardised_difference(statistic, group, ~group, cell, 4)
    with pytest.raises(ValueError, match="sums are more"):
        standardised_difference(statistic, group, ~group, cell, MOST_SUMS)
