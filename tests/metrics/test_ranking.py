"""Rank correlation over speakers: SciPy as the oracle, drawn speakers as repeated ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.ranking import quartile_overlap, spearmans_rho, spearmans_rho_of
from soundcheck.metrics.weighted import weighted_difference
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

some = settings(max_examples=30, deadline=None)
tables = st.integers(3, 25).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=n, max_size=n)
)


@some
@given(tables)
def test_rho_is_that_of_scipy_ties_included(pairs):
    truth, prediction = np.array(pairs, dtype=float).T
    found = value(spearmans_rho_of(truth[:, None], prediction[:, None]))
    if len(set(truth)) == 1 or len(set(prediction)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(truth, prediction).statistic, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_speaker_drawn_twice_is_two_speakers(seed):
    rng = np.random.default_rng(seed)
    truth, prediction = rng.integers(0, 6, (2, 15)).astype(float)
    statistic = spearmans_rho_of(truth[:, None], prediction[:, None])
    drawn = weights(15, 40, seed)
    for row, found in zip(drawn, statistic.evaluate(drawn)[:, 0], strict=True):
        x, y = np.repeat(truth, row), np.repeat(prediction, row)
        expected = stats.spearmanr(x, y).statistic if len(set(x)) > 1 < len(set(y)) else np.nan
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_averages_of_segments_are_ranked():
    speakers = np.array([0, 0, 1, 1, 2, 3])
    truth = [0.1, 0.3, 0.5, 0.5, 0.9, np.nan]
    prediction = [0.9, 0.1, 0.2, 0.2, np.nan, 0.5]
    statistic = spearmans_rho(truth, prediction, speakers, 4)
    assert statistic.n_blocks == 2 and value(statistic) == -1.0
    point = statistic.point()
    assert point.segments.tolist() == [4] and point.notes == ("no prediction for 1 of 5 segments",)


def test_equal_averages_are_ties_whatever_the_order_of_the_segments():
    rng = np.random.default_rng(3)
    speakers = np.repeat(np.arange(10), 12)
    for _ in range(20):
        truth = np.round(rng.integers(0, 5, 120) * 0.225 + 0.05, 2)
        prediction = np.round(rng.random(120), 2)
        mixed = rng.permutation(120)
        one = spearmans_rho(truth, prediction, speakers, 10)
        two = spearmans_rho(truth[mixed], prediction[mixed], speakers[mixed], 10)
        drawn = weights(10, 20)
        np.testing.assert_array_equal(one.evaluate(drawn), two.evaluate(drawn))
        whole = [np.rint(values * 1000).reshape(10, 12).sum(axis=1) for values in (truth, prediction)]
        assert value(one) == pytest.approx(stats.spearmanr(*whole).statistic, abs=1e-9)


def test_a_constant_model_ranks_nobody_however_many_segments_speakers_have():
    rng = np.random.default_rng(0)
    speakers = rng.integers(0, 30, 600)
    point = spearmans_rho(rng.random(600), np.full(600, 0.1), speakers, 30).point()
    assert np.isnan(point.value[0]) and point.reasons == ("all speakers have the same predicted value",)


def test_unanswered_segments_are_noted_and_too_many_refused():
    truth, speakers = np.random.default_rng(4).random(100), np.arange(100) // 10
    for missing, reason, note in ((0, False, False), (5, False, False), (6, False, True), (51, True, False)):
        prediction = truth.copy()
        prediction[:missing] = np.nan
        point = spearmans_rho(truth, prediction, speakers, 10).point()
        text = f"no prediction for {missing} of 100 segments"
        assert point.reasons == (text if reason else "",) and point.notes == (text if note else "",)
        assert np.isnan(point.value[0]) == reason


def test_several_values_have_a_rho_each():
    rng = np.random.default_rng(0)
    truth, prediction = rng.random((2, 20, 3))
    statistic = spearmans_rho_of(truth, prediction, ("a", "b", "c"), 200)
    expected = [stats.spearmanr(x, y).statistic for x, y in zip(truth.T, prediction.T, strict=True)]
    np.testing.assert_allclose(values(statistic), expected, atol=1e-9)
    assert statistic.blocks().tolist() == [20] * 3


def test_order_of_speakers_and_monotone_changes_do_not_matter():
    rng = np.random.default_rng(1)
    truth, prediction = rng.random((2, 30, 1))
    one = value(spearmans_rho_of(truth, prediction))
    mixed = rng.permutation(30)
    assert value(spearmans_rho_of(truth[mixed], prediction[mixed])) == one
    assert value(spearmans_rho_of(np.exp(truth), prediction**3)) == one
    assert value(spearmans_rho_of(truth, -prediction)) == -one


def test_intervals_draw_speakers():
    rng = np.random.default_rng(2)
    truth = rng.random((40, 1))
    statistic = spearmans_rho_of(truth, truth + rng.normal(0, 0.2, (40, 1)), segments=400)
    found = resample(statistic, np.zeros(0, dtype=int), 500)
    low, high = found.interval()
    assert low[0] < found.value[0] < high[0] and found.blocks.tolist() == [40]
    nothing = resample(weighted_difference(statistic, statistic), np.zeros(0, dtype=int), 100)
    assert not nothing.replicates.any()


@pytest.mark.parametrize(
    ("truth", "prediction", "reason"),
    [
        ([], [], "no speakers"),
        ([0.1], [0.2], "1 speaker"),
        ([0.1, 0.2], [0.5, 0.5], "all speakers have the same predicted value"),
        ([0.5, 0.5], [0.1, 0.2], "all speakers have the same true value"),
    ],
)
def test_no_order(truth, prediction, reason):
    statistic = spearmans_rho_of(
        np.array(truth, float).reshape(-1, 1), np.array(prediction, float).reshape(-1, 1)
    )
    found = resample(statistic, np.zeros(0, dtype=int), 100)
    assert found.reasons == (reason,) and np.isnan(found.value[0])


def test_values_that_cannot_be_ranked_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        spearmans_rho_of(np.zeros((3, 1)), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="finite"):
        spearmans_rho_of(np.array([[np.nan]]), np.zeros((1, 1)))


def test_ends_of_the_order():
    truth = np.arange(8.0)
    assert quartile_overlap(truth, truth) == {"top": 1.0, "bottom": 1.0, "confusion": 0.0}
    assert quartile_overlap(truth, -truth) == {"top": 0.0, "bottom": 0.0, "confusion": 1.0}
    swapped = truth[[7, 1, 2, 3, 4, 5, 6, 0]]
    assert quartile_overlap(truth, swapped) == {"top": 0.5, "bottom": 0.5, "confusion": 0.5}
    assert all(np.isnan(list(quartile_overlap([1, 2], [1, 2]).values())))  # half of two rounds to nobody
