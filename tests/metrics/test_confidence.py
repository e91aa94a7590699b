"""Confidences against plain loops."""

import math

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from soundcheck.metrics import confidence as metrics
from soundcheck.metrics.additive import value, values
from soundcheck.metrics.confidence import (
    CERTAIN,
    equal_mass_bins,
    interval_coverage,
    interval_skill,
    normalised_cross_entropy,
    recognised_words,
)
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
        metrics.brier_score(["anger"], np.zeros((1, 2)), CLASSES)


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


# Scores of probabilities, against scikit-learn and plain loops


def test_brier_score_is_that_of_scikit_learn(data):
    truth, probabilities, *_ = data
    expected = sum(
        brier_score_loss(truth == name, probabilities[:, place].clip(0, 1))
        for place, name in enumerate(CLASSES)
    )
    assert value(metrics.brier_score(truth, probabilities, CLASSES)) == pytest.approx(expected)


def test_parts_make_the_score_and_each_is_that_of_a_loop(data):
    truth, probabilities, *_ = data
    found = dict(
        zip(metrics.PARTS, values(metrics.brier_parts(truth, probabilities, CLASSES, 5)), strict=True)
    )
    reliability = resolution = uncertainty = 0.0
    for place, name in enumerate(CLASSES):
        true, bins = truth == name, equal_mass_bins(probabilities[:, place], 5)
        uncertainty += true.mean() * (1 - true.mean())
        for number in set(bins.tolist()):
            own = bins == number
            reliability += own.mean() * (probabilities[own, place].mean() - true[own].mean()) ** 2
            resolution += own.mean() * (true[own].mean() - true.mean()) ** 2
    assert [*found.values()][:3] == pytest.approx([reliability, resolution, uncertainty])
    score = value(metrics.brier_score(truth, probabilities, CLASSES))
    assert reliability - resolution + uncertainty + found["within bins"] == pytest.approx(score)
    skill = value(metrics.brier_skill(truth, probabilities, CLASSES))
    assert skill == pytest.approx(1 - score / uncertainty)


# Confidences of words: the cross entropy against its formula, bins against scikit-learn


def loop(confidence, correct):
    """Follow the formula word by word."""
    right = sum(correct)
    share = right / len(correct)
    whole = -right * math.log2(share) - (len(correct) - right) * math.log2(1 - share)
    for sure, good in zip(confidence, correct, strict=True):
        sure = min(max(sure, CERTAIN), 1 - CERTAIN)
        whole += math.log2(sure if good else 1 - sure)
    return whole / (-right * math.log2(share) - (len(correct) - right) * math.log2(1 - share))


@pytest.mark.parametrize("seed", range(5))
def test_cross_entropy_is_that_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    confidence = np.round(rng.random(200), 2)  # of which some are 0 or 1
    correct = (rng.random(200) < confidence).astype(float)
    assert value(normalised_cross_entropy(confidence, correct)) == pytest.approx(loop(confidence, correct))


def test_of_what_is_known_the_rest_is_left_out():
    sure, right = [0.9, np.nan, 0.2, 0.5], [1.0, 1.0, 0.0, np.nan]
    assert value(normalised_cross_entropy(sure, right)) == pytest.approx(loop([0.9, 0.2], [1, 0]))


def test_one_confidence_for_all_is_worth_nothing_or_less():
    right = np.array([1.0, 1.0, 1.0, 0.0])
    assert value(normalised_cross_entropy(np.full(4, 0.75), right)) == pytest.approx(0, abs=1e-12)
    assert value(normalised_cross_entropy(np.full(4, 0.9), right)) < 0
    assert value(normalised_cross_entropy(right, right)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_without_any_doubt_there_is_none(right):
    point = normalised_cross_entropy([0.5, 0.6], [right, right]).point()
    assert np.isnan(point.value[0]) and point.reasons == ("all words are right, or none",)


def test_replicates_are_values_of_drawn_blocks():
    rng = np.random.default_rng(1)
    confidence, blocks = rng.random(60), np.arange(60) // 6
    correct = (rng.random(60) < confidence).astype(float)
    found = resample(normalised_cross_entropy(confidence, correct), blocks, 50, seed=3)
    low, high = found.interval("percentile")
    assert low[0] < found.value[0] < high[0] and found.blocks[0] == 10


def test_left_out_words_are_no_words_of_the_recogniser():
    steps = recognised_words("turn the light on now", "turn a light on on")
    assert [(step.hypothesis, step.kind == "equal") for step in steps] == [
        ("turn", True),
        ("a", False),
        ("light", True),
        ("on", True),
        ("on", False),
    ]
    assert recognised_words("turn left", "") == []


# Intervals for values, against numbers by hand


def test_coverage_and_skill_of_intervals():
    truth, low, high = (
        np.array([0.1, 0.5, 0.9, 0.3]),
        np.array([0.0, 0.6, 0.9, 0.1]),
        np.array([0.2, 0.8, 1, 0.2]),
    )
    assert value(interval_coverage(truth, low, high)) == 0.5
    assert value(interval_coverage(truth, low, high, above=0.9)) == pytest.approx(-0.4)
    score = np.mean([0.2, 0.2 + 10 * 0.1 * 2, 0.1, 0.1 + 10 * 0.1 * 2])
    usual = np.mean([0.8 + 20 * 0.0, 0.8, 0.8, 0.8])
    found = value(interval_skill(truth, low, high, (0.1, 0.9), 0.9))
    assert found == pytest.approx(1 - score / usual)
