"""Confidences, of classes, words and intervals: scikit-learn and plain loops as oracles."""

import math

import numpy as np
import pytest
from scipy.stats import foldnorm
from sklearn.metrics import brier_score_loss

from soundcheck.metrics import confidence as metrics
from soundcheck.metrics.additive import value, values
from soundcheck.metrics.confidence import (
    CERTAIN,
    area_under_risk,
    calibration_error,
    debiased_calibration_error,
    equal_mass_bins,
    interval_coverage,
    interval_skill,
    normalised_cross_entropy,
)
from soundcheck.statistics.bootstrap import resample

CLASSES = ("anger", "joy", "neutral")


@pytest.fixture
def data():
    """Labels, probabilities, confidences, whether they are right, and speakers of 400 segments."""
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([1, 1, 2], 400).round(2)
    probabilities[:, 2] = 1 - probabilities[:, :2].sum(axis=1)
    truth = np.array([rng.choice(CLASSES, p=row / row.sum()) for row in probabilities], dtype=object)
    sure = probabilities.max(axis=1)
    correct = (truth == np.array(CLASSES, dtype=object)[probabilities.argmax(axis=1)]).astype(float)
    return truth, probabilities, sure, correct, rng.integers(20, size=400)


# Calibration


def test_calibration_errors_are_those_of_loops(data):
    _, _, sure, correct, blocks = data
    assert np.bincount(equal_mass_bins(np.random.default_rng(1).random(400), 10)).tolist() == [40] * 10
    bins, expected = equal_mass_bins(sure, 7), 0.0
    assert all(len({*bins[sure == value]}) == 1 for value in np.unique(sure))
    for number in set(bins.tolist()):
        inside = bins == number
        expected += inside.mean() * abs(sure[inside].mean() - correct[inside].mean())
    assert value(calibration_error(sure, correct, 7)) == pytest.approx(expected)
    shares = values(metrics.reliability(sure, correct, 7))
    assert shares == pytest.approx([correct[bins == number].mean() for number in range(len(shares))])
    # Without what chance adds to the size of a gap; of predictions that are too sure, too.
    bins = equal_mass_bins(sure, 5)
    for right in (correct, correct * (np.arange(len(correct)) % 3 > 0)):
        expected = 0.0
        for number in range(5):
            inside = bins == number
            gap, count = (sure - right)[inside].sum(), inside.sum()
            rest = [((sure - right)[inside & (blocks == b)] - gap / count).sum() for b in np.unique(blocks)]
            error = np.sqrt(np.square(rest).sum() * 20 / 19)
            expected += (2 * abs(gap) - foldnorm.mean(abs(gap) / error, scale=error)) / len(sure)
        debiased = value(debiased_calibration_error(sure, right, blocks, 5))
        assert debiased == pytest.approx(max(expected, 0))
        assert debiased < value(calibration_error(sure, right, 5))


def test_intervals_of_the_calibration_error_reach_down_to_0_unless_chance_seldom_makes_it_as_large():
    rng, reach_0, bold_low = np.random.default_rng(4), 0, []
    blocks = np.repeat(np.arange(30), 20)
    for seed in range(20):
        sure = rng.uniform(0.3, 1, 600)
        correct = (rng.random(600) < sure).astype(float)
        wrong = correct * (rng.random(600) < 0.6)
        for right in (correct, wrong):
            result = resample(debiased_calibration_error(sure, right, blocks), blocks, 200, seed)
            low, high = (bound[0] for bound in result.interval("t"))
            assert 0 <= low <= result.value[0] <= high
            reach_0 += right is correct and low == 0
        bold_low.append(low)
    assert reach_0 >= 17  # the true error is 0
    assert min(bold_low) > 0.1


# Area under the curve of risk and coverage


def test_area_under_risk_is_the_mean_over_all_orders_of_equal_confidences():
    rng = np.random.default_rng(3)
    sure = rng.integers(1, 40, 3000) / 40
    correct = (rng.random(3000) < sure).astype(float)
    areas = []
    for _ in range(100):
        order = np.lexsort((rng.random(3000), -sure))
        areas.append((np.cumsum(1 - correct[order]) / np.arange(1, 3001)).mean())
    result = value(area_under_risk(sure, correct, np.arange(3000)))
    assert result == pytest.approx(np.mean(areas), abs=1e-3)
    relative = value(area_under_risk(sure, correct, np.arange(3000), relative=True))
    assert relative == pytest.approx(result / (1 - correct.mean()))
    alike = np.full(4, 0.6)  # says nothing, and has the risk of all
    assert value(area_under_risk(alike, np.array([1.0, 0, 1, 1]), np.arange(4))) == pytest.approx(0.25)
    right = area_under_risk(alike, np.ones(4), np.arange(4), relative=True).point()
    assert right.reasons == ("no answer is wrong",)


def test_a_block_that_is_drawn_twice_counts_twice(data):
    _, _, sure, correct, blocks = data
    weights = np.random.default_rng(2).integers(0, 3, (4, 20))
    assert np.isfinite(debiased_calibration_error(sure, correct, blocks).evaluate(weights)).all()
    areas = area_under_risk(sure, correct, blocks).evaluate(weights)[:, 0]
    for row, result in zip(weights, areas, strict=True):
        rows = np.repeat(np.arange(400), row[blocks])
        assert result == pytest.approx(value(area_under_risk(sure[rows], correct[rows], blocks[rows])))


@pytest.mark.parametrize("relative", [False, True])
def test_influence_on_the_area_under_risk_is_that_of_leaving_out(data, relative):
    sure = data[2] + np.random.default_rng(2).normal(0, 1e-3, 400)  # no ties
    correct, people, everything = data[3], data[4], np.arange(400)

    def area(rows):
        return area_under_risk(sure[rows], correct[rows], people[rows], relative=relative)

    (influence, speakers), whole = area(everything).influence(), value(area(everything))
    without = [whole - value(area(np.delete(everything, row))) for row in everything[::4]]
    assert speakers.tolist() == people.tolist() and influence.sum() == pytest.approx(0, abs=1e-12)
    assert np.polyfit(influence[::4, 0], without, 1)[0] == pytest.approx(1, abs=0.06)
    assert np.corrcoef(influence[::4, 0], without)[0, 1] > 0.999


def test_missing_confidences_are_counted_and_refused_by_all_measures_alike(data):
    _, _, sure, correct, blocks = data
    for count, reason, note in (
        (150, "no prediction for 250 of 400 segments", ""),
        (300, "", "no prediction for 100 of 400 segments"),
    ):
        some = np.where(np.arange(400) < count, sure, np.nan)
        measures = [metrics.overconfidence(some, correct), calibration_error(some, correct)]
        measures += [
            measure(some, correct, blocks) for measure in (debiased_calibration_error, area_under_risk)
        ]
        points = [measure.point() for measure in measures]
        assert {(point.reasons, point.notes) for point in points} == {((reason,), (note,))}
    with pytest.raises(ValueError, match="do not fit"):
        metrics.brier_score(["anger"], np.zeros((1, 2)), CLASSES)


# Scores of probabilities


def test_brier_score_is_that_of_scikit_learn_and_its_parts_those_of_a_loop(data):
    truth, probabilities, *_ = data
    score = value(metrics.brier_score(truth, probabilities, CLASSES))
    columns = dict(zip(CLASSES, probabilities.T, strict=True))
    expected = [brier_score_loss(truth == name, column.clip(0, 1)) for name, column in columns.items()]
    assert score == pytest.approx(sum(expected))
    parts = values(metrics.brier_parts(truth, probabilities, CLASSES, 5))
    result = dict(zip(metrics.PARTS, parts, strict=True))
    reliability = resolution = uncertainty = 0.0
    for name, probability in columns.items():
        true, bins = truth == name, equal_mass_bins(probability, 5)
        uncertainty += true.mean() * (1 - true.mean())
        for number in set(bins.tolist()):
            inside = bins == number
            reliability += inside.mean() * (probability[inside].mean() - true[inside].mean()) ** 2
            resolution += inside.mean() * (true[inside].mean() - true.mean()) ** 2
    assert [*result.values()][:3] == pytest.approx([reliability, resolution, uncertainty])
    assert reliability - resolution + uncertainty + result["within bins"] == pytest.approx(score)
    skill = value(metrics.brier_skill(truth, probabilities, CLASSES))
    assert skill == pytest.approx(1 - score / uncertainty)


# Confidences of words


def cross_entropy(confidence, correct):
    """Follow the formula word by word."""
    right = sum(correct)
    share = right / len(correct)
    whole = -right * math.log2(share) - (len(correct) - right) * math.log2(1 - share)
    gain = whole
    for sure, good in zip(confidence, correct, strict=True):
        sure = min(max(sure, CERTAIN), 1 - CERTAIN)
        gain += math.log2(sure if good else 1 - sure)
    return gain / whole


def test_cross_entropy_of_confidences_that_are_drawn_say_nothing_or_are_unknown(rng):
    confidence = np.round(rng.random(200), 2)  # of which some are 0 or 1
    correct = (rng.random(200) < confidence).astype(float)
    statistic = normalised_cross_entropy(confidence, correct)
    assert value(statistic) == pytest.approx(cross_entropy(confidence, correct))
    right = np.array([1.0, 1.0, 1.0, 0.0])
    assert value(normalised_cross_entropy(np.full(4, 0.75), right)) == pytest.approx(0, abs=1e-12)
    some = normalised_cross_entropy([0.9, np.nan, 0.2, 0.5], [1.0, 1.0, 0.0, np.nan])
    assert value(some) == pytest.approx(cross_entropy([0.9, 0.2], [1, 0]))
    for alike in (0.0, 1.0):
        reasons = normalised_cross_entropy([0.5, 0.6], [alike, alike]).point().reasons
        assert reasons == ("all words are right, or none",)


# Intervals for values, by hand


def test_coverage_and_skill_of_intervals():
    truth, low, high = np.array([[0.1, 0.5, 0.9, 0.3], [0.0, 0.6, 0.9, 0.1], [0.2, 0.8, 1, 0.2]])
    assert value(interval_coverage(truth, low, high)) == 0.5
    score = np.mean([0.2, 0.2 + 10 * 0.1 * 2, 0.1, 0.1 + 10 * 0.1 * 2])
    skill = value(interval_skill(truth, low, high, (0.1, 0.9), 0.9))
    assert skill == pytest.approx(1 - score / 0.8)
