"""The bootstrap against loops, SciPy and its own promise: coverage."""

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics.change import unchanged
from soundcheck.metrics.classification import (
    recall_per_class,
)
from soundcheck.metrics.combinators import difference, restrict
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, mean_value, pearson_cc
from soundcheck.statistics import draws
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import every_segment, weights
from soundcheck.statistics.evidence import Scale

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def speakers(rng, blocks=30, each=20, share=0.3):
    """Truth, prediction and block of segments whose errors are correlated within a speaker."""
    block = np.repeat(np.arange(blocks), each)

    def correlated():
        own = rng.normal(size=blocks)[block]
        return np.sqrt(share) * own + np.sqrt(1 - share) * rng.normal(size=len(block))

    truth = 0.5 + 0.15 * correlated()
    return truth, truth + 0.1 * correlated(), block


def test_large_weights_are_drawn_in_pieces_with_the_same_result(monkeypatch, rng):
    truth, prediction, block = speakers(rng, blocks=50)
    whole = resample(concordance_cc(truth, prediction), block)
    monkeypatch.setattr(draws, "_CHUNK", 50 * 7)
    pieces = resample(concordance_cc(truth, prediction), block)
    monkeypatch.setattr(draws, "_CACHED_WEIGHTS", 0)
    drawn_again = resample(concordance_cc(truth, prediction), block)
    monkeypatch.setattr(draws, "_SUMS_AT_ONCE", 6 * 2 * 33)
    few_at_once = resample(concordance_cc(truth, prediction), block)
    monkeypatch.undo()
    monkeypatch.setattr(draws, "_SUMS_AT_ONCE", 1)
    one_at_once = resample(concordance_cc(truth, prediction), block)
    for found in (pieces, drawn_again, few_at_once, one_at_once):
        assert whole.replicates.tobytes() == found.replicates.tobytes()


# Replicates


def naive_ccc(x, y):
    return 2 * np.mean((x - x.mean()) * (y - y.mean())) / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)


def naive_recall(x, y, name):
    return np.mean(y[x == name] == name) if (x == name).any() else np.nan


NAIVE = {
    "ccc": (concordance_cc, naive_ccc),
    "pearson": (pearson_cc, lambda x, y: np.corrcoef(x, y)[0, 1]),
    "mae": (mean_absolute_error, lambda x, y: np.mean(np.abs(x - y))),
    "unchanged": (unchanged, lambda x, y: np.mean(np.abs(x - y) < 0.05)),
}


@pytest.mark.parametrize("name", NAIVE)
def test_replicates_are_those_of_a_loop_over_blocks(name, rng):
    metric, naive = NAIVE[name]
    truth, prediction, block = speakers(rng, blocks=25)
    found = resample(metric(truth, prediction), block, 200)
    rows = [np.flatnonzero(block == b) for b in range(25)]
    for sample, counts in zip(found.replicates[:, 0], weights(25, 200), strict=True):
        drawn = np.concatenate([np.tile(rows[b], count) for b, count in enumerate(counts)])
        assert sample == pytest.approx(naive(truth[drawn], prediction[drawn]), abs=1e-12)


def test_replicates_of_classes_and_groups_are_those_of_a_loop(rng):
    classes = ["a", "b", "c"]
    truth, prediction = rng.choice(classes, 200, p=[0.6, 0.35, 0.05]), rng.choice(classes, 200)
    group, block = rng.random(200) < 0.5, rng.integers(0, 15, 200)
    metric = recall_per_class(truth, prediction, classes)
    found = resample(difference(restrict(metric, group), metric), block, 200)
    rows = [np.flatnonzero(block == b) for b in range(15)]
    for sample, counts in zip(found.replicates, weights(15, 200), strict=True):
        drawn = np.concatenate([np.tile(rows[b], count) for b, count in enumerate(counts)])
        x, y, inside = truth[drawn], prediction[drawn], group[drawn]
        naive = [naive_recall(x[inside], y[inside], name) - naive_recall(x, y, name) for name in classes]
        np.testing.assert_allclose(sample, naive, atol=1e-12)


def test_blocks_without_contribution_change_nothing(rng):
    truth, prediction, block = speakers(rng)
    one = resample(concordance_cc(truth, prediction), block + 5)
    truth = np.concatenate([np.full(9, np.nan), truth])
    prediction = np.concatenate([np.full(9, 0.5), prediction])
    block = np.concatenate([[0, 1, 2, 3, 4, 90, 91, 92, 7], block + 5])
    two = resample(concordance_cc(truth, prediction), block)
    assert one.replicates.tobytes() == two.replicates.tobytes()
    assert one.blocks.tolist() == two.blocks.tolist() == [30]


@pytest.mark.parametrize("blocks", [[0, 1], [0, -1, 2], [0.0, 1.0, 2.0], [[0, 1, 2]]])
def test_block_numbers_are_checked(blocks):
    with pytest.raises(ValueError, match="A block number from 0 is needed for each of 3 segments"):
        resample(mean_value([0.1, 0.2, 0.3]), np.array(blocks))


# Edges


def test_no_segments():
    found = resample(concordance_cc([np.nan, np.nan], [0.1, 0.2]), np.array([0, 1]))
    assert found.reasons == ("no segments",)
    assert np.isnan(found.interval()).all() and found.blocks.tolist() == [0]


def test_one_block_has_a_value_and_no_interval():
    found = resample(concordance_cc([0.1, 0.5, 0.9], [0.2, 0.5, 0.7]), np.zeros(3, int))
    assert np.isfinite(found.value[0])
    assert np.isnan(found.interval()).all()
    assert found.withheld == ("interval withheld: 1 block, 5 needed",)
    assert np.isnan(found.certainty(0, ">", 0.5, True))


def test_constant_prediction_has_the_interval_zero(rng):
    truth, _, block = speakers(rng)
    found = resample(concordance_cc(truth, np.full(len(truth), 1 / 3)), block)
    assert found.value.tolist() == [0.0]
    assert [bound.tolist() for bound in found.interval()] == [[0.0], [0.0]]


def test_rare_class_is_told_and_then_withheld():
    classes = ["a", "b"]
    for rare, withheld in ((5, False), (1, True), (2, True)):
        truth = np.array(["b"] * rare + ["a"] * (40 - rare))
        found = resample(recall_per_class(truth, truth, classes), np.arange(40), 4000)
        missing = np.isnan(found.replicates[:, 1]).mean()
        assert missing == pytest.approx((1 - rare / 40) ** 40, abs=0.02)
        assert bool(found.withheld[1]) == withheld
        assert np.isnan(found.interval()[0][1]) == withheld
        if not withheld:
            assert found.notes[1] == f"undefined in {100 * missing:.1f} % of the replicates"
        assert found.withheld[0] == "" and found.notes[0] == ""


# Intervals of resampled values


def test_blocks_widen_the_interval_by_the_design_effect(rng):
    truth, prediction, block = speakers(rng, blocks=400, each=10, share=0.4)
    statistic = mean_value(prediction - truth)
    ordinary = np.subtract(*resample(statistic, every_segment(len(block)), 2000).interval())
    blockwise = np.subtract(*resample(statistic, block, 2000).interval())
    assert blockwise / ordinary == pytest.approx(np.sqrt(1 + 9 * 0.4), rel=0.12)


def test_certainty_on_an_exact_threshold():
    n = 200_000
    found = resample(mean_absolute_error(np.full(n, 0.5), np.full(n, 0.6)), np.arange(n) % 200)
    assert (found.replicates == 0.1).all()
    assert found.certainty(0, "<", 0.1, False) == 1.0


# Validity by simulation


def tolerated(rate, low, high, n):
    return low - 2.6 * np.sqrt(0.95 * 0.05 / n) <= rate <= high + 2.6 * np.sqrt(0.95 * 0.05 / n)


def coverage(true, kind, data_sets, make, metric, blocks, seed=0):
    rng = np.random.default_rng(seed)
    hits = 0
    for n in range(data_sets):
        clean, changed, block = make(rng, blocks)
        low, high = resample(metric(clean, changed), block, 500, seed=n).interval(kind)
        hits += low[0] <= true <= high[0]
    return hits / data_sets


def moderately_correlated(rng, blocks):
    return speakers(rng, blocks, share=0.2)


# The true CCC: truth has variance 0.15², the error 0.1², the prediction their sum, and there is no bias.
TRUE_CCC = 2 * 0.15**2 / (0.15**2 + 0.15**2 + 0.1**2)


@pytest.mark.parametrize(
    ("blocks", "kind", "low", "high"),
    [(40, "percentile", 0.92, 0.97), (20, "percentile", 0.90, 0.97), (10, "expanded", 0.92, 0.97)],
)
def test_intervals_of_ccc_cover(blocks, kind, low, high):
    rate = coverage(TRUE_CCC, kind, 400, moderately_correlated, concordance_cc, blocks)
    assert tolerated(rate, low, high, 400), rate


def test_certainty_on_the_threshold_is_uniform():
    rng = np.random.default_rng(1)
    passing, inconclusive = [], 0
    for n in range(500):
        truth, prediction, block = speakers(rng, blocks=100, each=5, share=0.2)
        found = resample(mean_value(prediction - truth), block, 500, seed=n)
        passed = bool(found.value[0] > 0)
        sure = found.certainty(0, ">", 0.0, passed)
        passing.append(sure if passed else 1 - sure)
        (low,), (high,) = found.interval()
        inconclusive += low <= 0 <= high
    assert stats.kstest(passing, "uniform").pvalue > 0.001
    assert abs(inconclusive / 500 - 0.95) <= 0.02 + 2.6 * np.sqrt(0.95 * 0.05 / 500)


def test_standard_errors_are_those_of_the_replicates_and_scales_contain_them(rng):
    truth, prediction, block = speakers(rng)
    found = resample(mean_absolute_error(truth, prediction), block, 200)
    assert found.standard_error[0] == pytest.approx(np.std(found.replicates, ddof=1), rel=1e-11)
    assert found.lies_within(Scale(0.0, 1.0)) and not found.lies_within(Scale(0.5, 1.0))
    assert np.isnan(resample(mean_value([0.1, 0.2]), np.array([0, 0])).standard_error[0])
