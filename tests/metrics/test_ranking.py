"""Rank correlation over speakers: SciPy as the oracle, drawn speakers as repeated ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from soundcheck.metrics.additive import value
from soundcheck.metrics.speakers import SpeakerValues, quartile_overlap
from soundcheck.metrics.weighted import weighted_difference
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def rho_of(truth, prediction, labels=("",)):
    """Rank correlation of values that speakers have already, ``(speakers, labels)``."""
    k = len(truth)
    names = tuple(map(str, range(k)))
    return SpeakerValues(
        names, truth, prediction, labels, np.arange(k), np.ones(k, int), k, 0
    ).spearmans_rho()


some = settings(max_examples=30, deadline=None)
tables = st.integers(3, 25).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=n, max_size=n)
)


@some
@given(tables)
def test_rho_is_that_of_scipy_ties_included(pairs):
    truth, prediction = np.array(pairs, dtype=float).T
    found = value(rho_of(truth[:, None], prediction[:, None]))
    if len(set(truth)) == 1 or len(set(prediction)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(truth, prediction).statistic, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_speaker_drawn_twice_is_two_speakers(seed):
    rng = np.random.default_rng(seed)
    truth, prediction = rng.integers(0, 6, (2, 15)).astype(float)
    statistic = rho_of(truth[:, None], prediction[:, None])
    drawn = weights(15, 40, seed)
    for row, found in zip(drawn, statistic.evaluate(drawn)[:, 0], strict=True):
        x, y = np.repeat(truth, row), np.repeat(prediction, row)
        expected = stats.spearmanr(x, y).statistic if len(set(x)) > 1 < len(set(y)) else np.nan
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_order_of_speakers_and_monotone_changes_do_not_matter():
    rng = np.random.default_rng(1)
    truth, prediction = rng.random((2, 30, 1))
    one = value(rho_of(truth, prediction))
    mixed = rng.permutation(30)
    assert value(rho_of(truth[mixed], prediction[mixed])) == one
    assert value(rho_of(np.exp(truth), prediction**3)) == one
    assert value(rho_of(truth, -prediction)) == -one


def test_intervals_draw_speakers():
    rng = np.random.default_rng(2)
    truth = rng.random((40, 1))
    statistic = rho_of(truth, truth + rng.normal(0, 0.2, (40, 1)))
    found = resample(statistic, np.zeros(0, dtype=int), 500)
    low, high = found.interval()
    assert low[0] < found.value[0] < high[0] and found.blocks.tolist() == [40]
    nothing = resample(weighted_difference(statistic, statistic), np.zeros(0, dtype=int), 100)
    assert not nothing.replicates.any()


@pytest.mark.parametrize(
    ("truth", "prediction", "reason"),
    [
        ([], [], "no speaker has enough labelled segments"),
        ([0.1], [0.2], "1 speaker"),
        ([0.1, 0.2], [0.5, 0.5], "all speakers have the same predicted value"),
        ([0.5, 0.5], [0.1, 0.2], "all speakers have the same true value"),
    ],
)
def test_no_order(truth, prediction, reason):
    statistic = rho_of(np.array(truth, float).reshape(-1, 1), np.array(prediction, float).reshape(-1, 1))
    found = resample(statistic, np.zeros(0, dtype=int), 100)
    assert found.reasons == (reason,) and np.isnan(found.value[0])


def test_ends_of_the_order():
    truth = np.arange(8.0)
    assert quartile_overlap(truth, truth) == {"top": 1.0, "bottom": 1.0, "confusion": 0.0}
    assert quartile_overlap(truth, -truth) == {"top": 0.0, "bottom": 0.0, "confusion": 1.0}
    swapped = truth[[7, 1, 2, 3, 4, 5, 6, 0]]
    assert quartile_overlap(truth, swapped) == {"top": 0.5, "bottom": 0.5, "confusion": 0.5}
    assert all(np.isnan(list(quartile_overlap([1, 2], [1, 2]).values())))  # half of two rounds to nobody
