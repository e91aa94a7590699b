"""Confidences against plain loops."""

import numpy as np
import pytest

from soundcheck.metrics import confidence as brier
from soundcheck.metrics import confidence as metrics
from soundcheck.metrics.additive import value, values
from soundcheck.statistics.bootstrap import resample

CLASSES = ("anger", "joy", "neutral")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([1, 1, 2], 400).round(2)
    probabilities[:, 2] = 1 - probabilities[:, :2].sum(axis=1)
    truth = np.array([rng.choice(CLASSES, p=row / row.sum()) for row in probabilities], dtype=object)
    sure = probabilities.max(axis=1)
    correct = (truth == np.array(CLASSES, dtype=object)[probabilities.argmax(axis=1)]).astype(float)
    return truth, probabilities, sure, correct, rng.integers(20, size=400)


def test_bins_hold_the_same_number_and_equal_values_share_one(data):
    sizes = np.bincount(metrics.equal_mass_bins(np.random.default_rng(1).random(400), 10))
    assert sizes.tolist() == [40] * 10
    bins = metrics.equal_mass_bins(data[2], 10)
    for one in np.unique(data[2]):
        assert len({*bins[data[2] == one]}) == 1
    assert metrics.equal_mass_bins(np.full(5, 0.3)).tolist() == [0] * 5
    assert metrics.equal_mass_bins(np.full(3, np.nan)).tolist() == [-1] * 3


def test_calibration_error_is_that_of_a_loop(data):
    _, _, sure, correct, _ = data
    expected = 0
    bins = metrics.equal_mass_bins(sure, 7)
    for number in set(bins.tolist()):
        own = bins == number
        expected += own.mean() * abs(sure[own].mean() - correct[own].mean())
    assert value(metrics.calibration_error(sure, correct, 7)) == pytest.approx(expected)
    shares = values(metrics.reliability(sure, correct, 7))
    assert shares == pytest.approx([correct[bins == number].mean() for number in range(len(shares))])


def test_without_chance_the_error_is_smaller_and_sums_of_blocks_make_it(data):
    _, _, sure, correct, blocks = data
    found = value(metrics.debiased_calibration_error(sure, correct, blocks, 5))
    bins, expected = metrics.equal_mass_bins(sure, 5), 0.0
    rng = np.random.default_rng(0)
    for number in range(5):
        own = bins == number
        gap, count = (sure - correct)[own].sum(), own.sum()
        rest = [((sure - correct)[own & (blocks == b)] - gap / count).sum() for b in np.unique(blocks)]
        error = np.sqrt(np.square(rest).sum() * 20 / 19)
        chance = np.abs(rng.normal(gap, error, 1_000_000)).mean() - abs(gap)
        expected += (abs(gap) - chance) / len(sure)
    assert found == pytest.approx(max(expected, 0), abs=2e-3)
    assert found < value(metrics.calibration_error(sure, correct, 5))


def test_a_block_that_is_drawn_twice_counts_twice(data):
    _, _, sure, correct, blocks = data
    weights = np.random.default_rng(2).integers(0, 3, (4, 20))
    for make in (metrics.area_under_risk, metrics.debiased_calibration_error):
        replicates = make(sure, correct, blocks).evaluate(weights)[:, 0]
        assert np.isfinite(replicates).all()
    area = metrics.area_under_risk(sure, correct, blocks).evaluate(weights)[:, 0]
    for row, found in zip(weights, area, strict=True):
        rows = np.repeat(np.arange(400), row[blocks])
        assert found == pytest.approx(value(metrics.area_under_risk(sure[rows], correct[rows], blocks[rows])))


def test_area_under_risk_is_the_mean_over_all_orders_of_equal_confidences():
    rng = np.random.default_rng(3)
    sure, correct = rng.integers(1, 40, 3000) / 40, None
    correct = (rng.random(3000) < sure).astype(float)
    areas = []
    for _ in range(200):
        order = np.lexsort((rng.random(3000), -sure))
        areas.append((np.cumsum(1 - correct[order]) / np.arange(1, 3001)).mean())
    blocks = np.arange(3000)
    found = value(metrics.area_under_risk(sure, correct, blocks))
    assert found == pytest.approx(np.mean(areas), abs=1e-3)
    relative = value(metrics.area_under_risk(sure, correct, blocks, relative=True))
    assert relative == pytest.approx(found / (1 - correct.mean()))


def test_a_confidence_that_says_nothing_has_the_risk_of_all():
    correct = np.array([1.0, 0, 1, 1])
    assert value(metrics.area_under_risk(np.full(4, 0.6), correct, np.arange(4))) == pytest.approx(0.25)
    nothing_wrong = metrics.area_under_risk(np.full(4, 0.6), np.ones(4), np.arange(4), relative=True).point()
    assert nothing_wrong.reasons == ("no answer is wrong",)


def test_what_is_missing_is_counted():
    sure, correct = np.array([0.9, np.nan, 0.4, 0.8]), np.array([1.0, 1.0, np.nan, 0.0])
    assert value(metrics.overconfidence(sure, correct)) == pytest.approx(0.35)
    assert metrics.overconfidence(sure, correct).point().segments[0] == 2
    assert value(metrics.calibration_error(sure, correct, 2)) == pytest.approx((0.1 + 0.8) / 2)
    nothing = np.full(3, np.nan)
    assert metrics.area_under_risk(nothing, nothing, np.arange(3)).point().reasons == ("no segments",)
    assert np.isnan(value(metrics.calibration_error(nothing, nothing)))
    with pytest.raises(ValueError, match="do not fit"):
        brier.brier_score(["anger"], np.zeros((1, 2)), CLASSES)


def test_too_few_confidences_are_refused_by_all_measures_alike(data):
    _, _, sure, correct, blocks = data
    few = np.where(np.arange(400) < 150, sure, np.nan)
    found = [
        metrics.overconfidence(few, correct),
        metrics.calibration_error(few, correct),
        metrics.debiased_calibration_error(few, correct, blocks),
        metrics.area_under_risk(few, correct, blocks),
        metrics.area_under_risk(few, correct, blocks, relative=True),
    ]
    assert {measure.point().reasons for measure in found} == {("no prediction for 250 of 400 segments",)}
    most = np.where(np.arange(400) < 300, sure, np.nan)
    assert metrics.area_under_risk(most, correct, blocks).point().notes == (
        "no prediction for 100 of 400 segments",
    )


def test_intervals_of_the_calibration_error_reach_down_to_0_unless_chance_seldom_makes_it_as_large():
    rng, held, bold_low = np.random.default_rng(4), 0, []
    blocks = np.repeat(np.arange(30), 20)
    for seed in range(40):
        sure = rng.uniform(0.3, 1, 600)
        correct = (rng.random(600) < sure).astype(float)
        for own, bold in ((correct, False), (correct * (rng.random(600) < 0.6), True)):
            found = resample(metrics.debiased_calibration_error(sure, own, blocks), blocks, 200, seed)
            low, high = (bound[0] for bound in found.interval("t"))
            assert 0 <= low <= found.value[0] <= high
            if bold:
                bold_low.append(low)
            else:
                held += low == 0
    assert held >= 36  # the true error is 0
    assert min(bold_low) > 0.1
    # That chance is the share of replicates of the gaps, moved to 0, that are as large.
    statistic = metrics.debiased_calibration_error(sure, correct, blocks, 5)
    weights = rng.multinomial(30, np.full(30, 1 / 30), 300)
    bins, gaps = metrics.equal_mass_bins(sure, 5), sure - correct
    moved = np.zeros(300)
    for number in range(5):
        inside = bins == number
        apart = np.where(inside, gaps - gaps[inside].mean(), 0.0)
        moved += abs(weights @ np.bincount(blocks, apart)) * np.sqrt(30 / 29)
    plain = value(metrics.calibration_error(sure, correct, 5))
    assert statistic.by_chance(weights)[0] == pytest.approx(np.mean(moved / 600 >= plain))


@pytest.mark.parametrize("relative", [False, True])
def test_influence_on_the_area_under_risk_is_that_of_leaving_out(data, relative):
    sure = data[2] + np.random.default_rng(2).normal(0, 1e-3, 400)  # no ties
    correct, people = data[3], data[4]

    def area(rows):
        return metrics.area_under_risk(sure[rows], correct[rows], people[rows], relative=relative)

    everything = np.arange(400)
    influence, speakers = area(everything).influence()
    without = [value(area(everything)) - value(area(np.delete(everything, row))) for row in range(400)]
    assert speakers.tolist() == people.tolist() and influence.sum() == pytest.approx(0, abs=1e-12)
    assert np.polyfit(influence[:, 0], without, 1)[0] == pytest.approx(1, abs=0.04)
    assert np.corrcoef(influence[:, 0], without)[0, 1] > 0.999
