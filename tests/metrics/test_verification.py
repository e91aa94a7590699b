"""Error rates of trials: known answers, scikit-learn as the oracle, drawn speakers as repeated trials."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from sklearn import metrics
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from soundcheck.metrics import trials as trial_curves
from soundcheck.metrics import verification
from soundcheck.metrics.additive import value, values
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import (
    actual_dcf,
    cllr,
    det_curve,
    equal_error_rate,
    equal_error_threshold,
    false_acceptance_rate,
    false_rejection_rate,
    fit_calibration,
    frr_at_far,
    min_cllr,
    min_dcf,
    min_dcf_threshold,
)
from soundcheck.metrics.weighted import memoised, weighted_sums
from soundcheck.statistics.bootstrap import resample, weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

NO_BLOCKS = np.zeros(0, dtype=int)
RATES = (0.0, 0.01, 0.07, 0.25, 0.29, 0.5, 0.93, 1.0)
some = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**31)


def trials(seed: int, n: int = 300, speakers: int = 8, distinct: int = 0) -> Trials:
    """Draw trials; ``distinct`` limits the number of different scores."""
    rng = np.random.default_rng(seed)
    first, other = rng.integers(speakers, size=(2, n))
    second = np.where(rng.random(n) < 0.3, first, other)
    scores = rng.normal(size=n) + 1.2 * (first == second)
    if distinct:
        scores = np.round(scores * distinct / 6)
    return Trials(scores, first == second, first, second, speakers)


def independent(scores, target) -> Trials:
    """Give each trial a speaker of its own."""
    n = len(scores)
    return Trials(np.asarray(scores, float), np.asarray(target, bool), np.arange(n), np.arange(n), n)


def repeated(data: Trials, row: np.ndarray) -> Trials:
    """Repeat each trial as often as drawing its speakers does."""
    times = np.where(data.first == data.second, row[data.first], row[data.first] * row[data.second])
    return independent(np.repeat(data.scores, times), np.repeat(data.target, times))


# Known answers


def test_perfect_reversed_and_constant_scores():
    perfect, reverse = (independent([1, 2, 3, 4], targets) for targets in ([0, 0, 1, 1], [1, 1, 0, 0]))
    # All trials of the last are accepted or all rejected; its curve is a line from one to the other.
    constant = independent([0.3] * 7, [1, 0, 0, 1, 0, 0, 0])
    for measure, expected in (  # accepting nobody costs 0.05, and nothing costs less than rejecting targets
        (equal_error_rate, (0, 1, 0.5)),
        (min_dcf, (0, 0.05, 0.05)),
        (min_cllr, (0, 1, 1)),
        (lambda data: min_dcf(data, p_target=0.9, c_miss=2, c_false_alarm=3), (0, 0.3, 0.3)),
    ):
        assert [value(measure(data)) for data in (perfect, reverse, constant)] == pytest.approx(expected)
    for data, missed in ((perfect, [0.0] * 8), (reverse, [1.0] * 7 + [0.0]), (constant, 1 - np.array(RATES))):
        np.testing.assert_allclose(values(frr_at_far(data, RATES)), missed, atol=1e-12)
    hundred = independent(np.arange(200), [0] * 50 + [1] * 100 + [0] * 50)
    for rate in (0.29, 0.07, 0.57):  # their products with 100 are not whole in binary numbers
        assert value(frr_at_far(hundred, [rate])) == (0.0 if rate > 0.5 else 1.0)
    for data in (independent(np.random.default_rng(n).normal(size=100), [0, 1] * 50) for n in range(50)):
        assert value(false_rejection_rate(data, equal_error_threshold(data))) == value(equal_error_rate(data))


def test_cost_of_likelihood_ratios():
    # Odds of 3 to 1 for and against: log2(4 / 3) where right, log2(4) where wrong.
    odds = np.log([3, 3, 3, 1 / 3, 1 / 3])
    for scores, target, expected in (
        ([0] * 5, [1, 0, 0, 1, 0], 1.0),
        (odds, [1, 1, 0, 0, 1], (2 * np.log2(4 / 3) + 2) / 6 + (np.log2(4 / 3) + 2) / 4),
        ([-1.7e308, 0], [1, 0], 0.5e100 / np.log(2)),
    ):
        assert value(cllr(independent(scores, target))) == pytest.approx(expected, rel=1e-11, abs=1e-11)


# Oracles


@some
@given(seeds, st.sampled_from([0, 3, 12]))
def test_rates_are_those_of_scikit_learn(seed, distinct):
    data = trials(seed, distinct=distinct)
    far, tpr, _ = metrics.roc_curve(data.target, data.scores, drop_intermediate=False)
    expected = optimize.brentq(lambda x: 1 - x - np.interp(x, far, tpr), 0, 1, xtol=1e-13)
    assert value(equal_error_rate(data)) == pytest.approx(expected, abs=1e-9)
    cost = np.min(0.05 * (1 - tpr) + 0.95 * far)
    assert value(min_dcf(data, normalised=True)) == pytest.approx(cost / 0.05, abs=1e-9)
    thresholds, own_far, own_frr = det_curve(data)
    np.testing.assert_allclose([own_far[::-1], own_frr[::-1]], [far, 1 - tpr], atol=1e-12)
    assert thresholds[0] == -np.inf and len(thresholds) == len(set(data.scores)) + 1
    for p, miss, false_alarm in ((0.05, 1, 1), (0.3, 2, 5)):
        lowest = np.min(miss * p * (1 - tpr) + false_alarm * (1 - p) * far)
        costs = {"p_target": p, "c_miss": miss, "c_false_alarm": false_alarm}
        assert value(min_dcf(data, **costs)) == pytest.approx(lowest, abs=1e-12)
        cost = actual_dcf(data, min_dcf_threshold(data, **costs), **costs)
        assert value(cost) == pytest.approx(lowest, abs=1e-12)
    missed = []
    for rate in RATES:  # along the line to the first threshold that accepts more
        below, beyond = far <= rate + 1e-13, np.flatnonzero(far > rate + 1e-13)
        x, y = far[below].max(), tpr[below].max()
        part = 0.0 if x >= rate - 1e-13 else (rate - x) / (far[beyond[0]] - x)
        missed.append(1 - y - part * (tpr[beyond[0]] - y) if part else 1 - y)
    np.testing.assert_allclose(values(frr_at_far(data, RATES)), missed, atol=1e-12)
    posterior = IsotonicRegression().fit_transform(data.scores, data.target.astype(float))
    with np.errstate(divide="ignore"):
        calibrated = np.log(posterior) - np.log1p(-posterior)
    calibrated = np.clip(calibrated - np.log(data.target.sum() / (~data.target).sum()), -200, 200)
    best = value(cllr(Trials(calibrated, data.target, data.first, data.second, 8)))
    lowest = value(min_cllr(data))
    assert lowest == pytest.approx(best, abs=1e-9)
    assert 0 <= lowest <= min(value(cllr(data)), 1) + 1e-12


ALL = {
    "equal error rate": equal_error_rate,
    "lowest cost": min_dcf,
    "lowest cost, other costs": lambda t: min_dcf(t, p_target=0.4, c_miss=2, normalised=True),
    "cost": lambda t: actual_dcf(t, 0.5),
    "rejection": lambda t: false_rejection_rate(t, 0.5),
    "rejection at acceptance": lambda t: frr_at_far(t, RATES),
    "likelihood ratios": cllr,
    "lowest of likelihood ratios": min_cllr,
}


@pytest.mark.parametrize("distinct", [0, 2, 6])
def test_drawn_speakers_are_repeated_trials(distinct):
    data = trials(distinct, 120, 6, distinct)
    drawn = np.vstack([weights(6, 12), np.eye(6, dtype=int)[:2] * 6])  # one speaker has no non-targets
    for name, make in ALL.items():
        expected = [values(make(repeated(data, row))) for row in drawn]
        np.testing.assert_allclose(make(data).evaluate(drawn), expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("speakers", [30, 2500])
def test_windows_and_joined_steps_change_next_to_nothing(speakers, monkeypatch):
    """Sums are exact, so windows and one replicate alone give the same bytes."""
    data, drawn = trials(5, 20_000, speakers, 40_000), weights(speakers, 60, 1)
    statistics = [equal_error_rate(data), min_dcf(data), cllr(data), frr_at_far(data, RATES), min_cllr(data)]
    expected = [each.evaluate(drawn) for each in statistics]
    for statistic, whole in zip(statistics, expected, strict=True):
        assert statistic.evaluate(drawn[59:])[0].tobytes() == whole[59].tobytes()
    monkeypatch.setattr(trial_curves, "_SMALL", 0)
    monkeypatch.setattr(verification, "_PILOT", 4)  # some replicates cross outside of the window
    for statistic, whole in zip(statistics[:2], expected, strict=False):
        assert statistic.evaluate(drawn).tobytes() == whole.tobytes()
    monkeypatch.setattr(trial_curves, "_MOST_STEPS", 500)
    for statistic, whole in zip(statistics[3:], expected[3:], strict=True):
        assert 0 < np.abs(statistic.evaluate(drawn) - whole).max() < 0.01


def test_threshold_of_the_lowest_cost_is_the_lower_one_in_the_middle_of_equal_ones():
    data = independent([1, 2, 3, 4, 5, 6, 7], [1, 0, 1, 0, 1, 0, 1])  # of minus infinity, 2, 4 and 6
    assert min_dcf_threshold(data, p_target=0.5, c_miss=4, c_false_alarm=3) == 2.0
    assert np.isnan(min_dcf_threshold(independent([0.1], [True])))


def test_no_value():
    for scores, target, reason in (
        ([], [], "no trials"),
        ([0.1, 0.2], [True, True], "no non-target trials"),
        ([0.1, np.nan, np.nan], [True, False, False], "no score for 2 of 3 trials"),
    ):
        for name, make in ALL.items():
            if name != "rejection" or "non-target" not in reason:
                result = resample(make(independent(scores, target)), NO_BLOCKS, 100)
                assert set(result.reasons) == {reason} and np.isnan(result.value).all(), name
        assert np.isnan(equal_error_threshold(independent(scores, target)))


ZEROS, ONES = np.zeros(2, int), np.ones(2, bool)


def test_impossible_trials_are_refused():
    for make, message in (
        (lambda data: Trials.of([0.1], [True], ["a"], [None]), "1 recordings have no speaker"),
        (lambda data: Trials(np.array([np.inf, 0]), ONES, ZEROS, ZEROS, 1), "finite"),
        (lambda data: Trials(np.zeros(2), ZEROS, ZEROS, ZEROS, 1), "finite"),
        (lambda data: Trials(np.zeros(2), ONES[:1], ZEROS, ZEROS, 1), "do not fit"),
        (lambda data: false_acceptance_rate(data, np.nan), "threshold"),
        *((lambda data, r=r: frr_at_far(data, r), "from 0 to 1") for r in ([np.nan], [[0.1]])),
        *((lambda data, c=c: min_dcf(data, **c), "lies between") for c in ({"p_target": 0}, {"c_miss": -1})),
    ):
        with pytest.raises(ValueError, match=message):
            make(trials(0))


# Sums of such statistics


def test_sums_are_those_of_values_and_replicates():
    one, two, three = (equal_error_rate(trials(seed)) for seed in range(3))
    terms = {"a": [(1, one), (-2, two)], "b": [(0.5, one), (0.5, three)]}
    result = resample(weighted_sums(terms), NO_BLOCKS, 50)
    a, b, c = (resample(part, NO_BLOCKS, 50).replicates.ravel() for part in (one, two, three))
    np.testing.assert_allclose(result.replicates, np.stack([a - 2 * b, (a + c) / 2], axis=-1), atol=1e-9)
    assert result.labels == ("a", "b") and result.blocks.tolist() == [8, 8]
    without = equal_error_rate(trials(1).only(~trials(1).target))
    point = weighted_sums({"a": [(1, one)], "b": [(1, without)]}).point()
    assert np.isnan(point.value).tolist() == [False, True] and point.reasons == ("", "no target trials")


def test_replicates_are_computed_once(monkeypatch):
    computed, statistic = [], equal_error_rate(trials(0))
    once, evaluate = memoised(statistic), statistic.evaluate
    monkeypatch.setattr(statistic, "evaluate", lambda w: computed.append(len(w)) or evaluate(w))
    for seed in (0, 0, 1):
        drawn = resample(once, NO_BLOCKS, 30, seed).replicates
        expected = resample(equal_error_rate(trials(0)), NO_BLOCKS, 30, seed).replicates
        assert np.array_equal(drawn, expected)
    assert computed == [30, 1, 30]


# Scores as likelihood ratios


def test_scikit_learn_fits_the_same_line(rng):
    target = np.arange(460) < 60
    scores = rng.normal(size=460) + 1.5 * target
    n = np.where(target, target.sum(), (~target).sum())
    labels, shares = np.concatenate([target, ~target]), np.concatenate([(n + 1) / (n + 2), 1 / (n + 2)])
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    oracle.fit(np.tile(scores, 2)[:, np.newaxis], labels, 100 * shares / np.tile(n, 2))
    result = fit_calibration(scores, target)
    assert result.slope == pytest.approx(oracle.coef_[0, 0], rel=1e-4)
    assert result.offset == pytest.approx(oracle.intercept_[0], rel=1e-4)
    assert result == fit_calibration(np.append(scores, np.nan), np.append(target, True))  # left out
    other = 3.0 - 1e6 * scores  # units do not matter
    applied = fit_calibration(other, target).apply(other)
    np.testing.assert_allclose(applied, result.apply(scores), atol=1e-5)


def test_lines_of_separated_and_equal_scores():
    separated = fit_calibration(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    assert 0 < separated.slope < 100 and separated.apply(np.array([0.5]))[0] == pytest.approx(0, abs=1e-9)
    assert np.isnan(separated.apply(np.array([np.nan]))[0])
    for score in (0.1, -1e300):  # says nothing
        assert fit_calibration(np.full(7, score), np.arange(7) < 3).apply(np.array([score])) == [0.0]
    with pytest.raises(ValueError, match="both kinds"):
        fit_calibration(np.array([0.1, 0.2, np.nan]), np.array([True, True, False]))
