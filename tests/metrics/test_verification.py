"""Error rates of trials: known answers, scikit-learn as the oracle, drawn speakers as repeated trials."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn import metrics

from soundcheck.bootstrap import resample, weights
from soundcheck.metrics import verification
from soundcheck.metrics.additive import value
from soundcheck.metrics.verification import (
    Trials,
    actual_dcf,
    det_curve,
    equal_error_rate,
    equal_error_threshold,
    false_acceptance_rate,
    false_rejection_rate,
    min_dcf,
)
from soundcheck.metrics.weighted import weighted_difference

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

NO_BLOCKS = np.zeros(0, dtype=int)
some = settings(max_examples=40, deadline=None)


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


def test_known_answers():
    data = independent([0.9, 0.8, 0.3, 0.7, 0.2, 0.1], [1, 1, 1, 0, 0, 0])
    assert value(equal_error_rate(data)) == pytest.approx(1 / 3, abs=1e-12)
    assert value(false_acceptance_rate(data, 0.7)) == 0.0  # a score at the threshold is rejected
    assert value(false_acceptance_rate(data, 0.69)) == pytest.approx(1 / 3, abs=1e-12)
    assert value(false_rejection_rate(data, 0.8)) == pytest.approx(2 / 3, abs=1e-12)
    assert value(min_dcf(data)) == pytest.approx(0.05 / 3, abs=1e-12)
    assert value(min_dcf(data, normalised=True)) == pytest.approx(1 / 3, abs=1e-12)
    assert value(actual_dcf(data, 0.2)) == pytest.approx(0.95 / 3, abs=1e-12)
    assert value(min_dcf(data, 0.5, 1, 10)) == pytest.approx(0.5 / 3, abs=1e-12)


def test_between_two_thresholds_rates_are_interpolated():
    """From (FAR, FRR) of (1, 0) at minus infinity all four trials of one score move to (0, 1)."""
    data = independent([0.5] * 4, [1, 0, 0, 1])
    assert value(equal_error_rate(data)) == 0.5
    data = independent([0.1, 0.5, 0.5, 0.9], [0, 1, 0, 1])
    assert value(equal_error_rate(data)) == pytest.approx(0.25, abs=1e-12)


def test_perfect_and_reversed_scores():
    assert value(equal_error_rate(independent([1, 2, 3, 4], [0, 0, 1, 1]))) == 0.0
    assert value(equal_error_rate(independent([1, 2, 3, 4], [1, 1, 0, 0]))) == 1.0
    assert value(min_dcf(independent([1, 2, 3, 4], [0, 0, 1, 1]))) == 0.0
    # Accepting nobody costs 0.05, and nothing costs less than rejecting the targets.
    assert value(min_dcf(independent([1, 2, 3, 4], [1, 1, 0, 0]))) == 0.05


@some
@given(st.integers(0, 2**31), st.sampled_from([0, 3, 12]))
def test_rates_are_those_of_scikit_learn(seed, distinct):
    data = trials(seed, distinct=distinct)
    far, tpr, _ = metrics.roc_curve(data.target, data.scores, drop_intermediate=False)
    expected = optimize.brentq(lambda x: 1 - x - np.interp(x, far, tpr), 0, 1, xtol=1e-13)
    assert value(equal_error_rate(data)) == pytest.approx(expected, abs=1e-9)
    cost = np.min(0.05 * (1 - tpr) + 0.95 * far)
    assert value(min_dcf(data)) == pytest.approx(cost, abs=1e-9)
    assert value(min_dcf(data, normalised=True)) == pytest.approx(cost / 0.05, abs=1e-9)
    thresholds, own_far, own_frr = det_curve(data)
    np.testing.assert_allclose(own_far[::-1], far, atol=1e-12)
    np.testing.assert_allclose(own_frr[::-1], 1 - tpr, atol=1e-12)
    assert thresholds[0] == -np.inf and len(thresholds) == len(set(data.scores)) + 1


@some
@given(st.integers(0, 2**31), st.sampled_from([0, 2, 6]))
def test_drawn_speakers_are_repeated_trials(seed, distinct):
    data = trials(seed, 120, 6, distinct)
    drawn = weights(6, 12, seed % 1000)
    for make in (
        equal_error_rate,
        min_dcf,
        lambda t: min_dcf(t, 0.4, 2, 1, normalised=True),
        lambda t: actual_dcf(t, 0.5),
        lambda t: false_rejection_rate(t, 0.5),
    ):
        found = make(data).evaluate(drawn)[:, 0]
        expected = [value(make(repeated(data, row))) for row in drawn]
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("speakers", [30, 2500])
def test_windows_change_nothing(speakers, monkeypatch):
    """What is found in windows, with counts of pairs for the rest, is what going through everything finds."""
    data = trials(5, 20_000, speakers, 40_000)
    drawn = weights(speakers, 60, 1)
    statistics = [equal_error_rate(data), min_dcf(data)]
    expected = [each.evaluate(drawn) for each in statistics]
    monkeypatch.setattr(verification, "_SMALL", 0)
    monkeypatch.setattr(verification, "_FEW", 0)
    monkeypatch.setattr(verification, "_PILOT", 4)  # some replicates cross outside of the window
    for each, plain in zip(statistics, expected, strict=True):
        assert each.evaluate(drawn).tobytes() == plain.tobytes()


def test_order_sides_and_monotone_changes_do_not_matter():
    data = trials(1)
    mixed = np.random.default_rng(0).permutation(len(data))
    drawn = weights(8, 50, 0)
    others = [
        Trials(*(getattr(data, name)[mixed] for name in ("scores", "target", "first", "second")), 8),
        Trials(data.scores, data.target, data.second, data.first, 8),
        Trials(np.exp(data.scores), data.target, data.first, data.second, 8),
    ]
    for make in (equal_error_rate, min_dcf):
        for other in others:
            assert make(other).evaluate(drawn).tobytes() == make(data).evaluate(drawn).tobytes()


def test_threshold_of_equal_errors():
    data = trials(2, 5000)
    threshold = equal_error_threshold(data)
    rates = [value(rate(data, threshold)) for rate in (false_acceptance_rate, false_rejection_rate)]
    assert rates == pytest.approx([value(equal_error_rate(data))] * 2, abs=0.002)


def test_names_become_numbers():
    data = Trials.of([0.1, 0.2, 0.9], [False, False, True], ["b", "a", "c"], ["a", "c", "c"])
    assert data.first.tolist() == [1, 0, 2] and data.second.tolist() == [0, 2, 2] and data.speakers == 3
    with pytest.raises(ValueError, match="1 recordings have no speaker"):
        Trials.of([0.1], [True], ["a"], [None])
    zeros, one = np.zeros(2, int), np.ones(2, bool)
    for wrong in (
        (np.zeros(2), one, zeros, zeros + 1, 1),
        (np.zeros(2), one, zeros - 1, zeros, 1),
        (np.array([np.inf, 0]), one, zeros, zeros, 1),
        (np.zeros(2), zeros, zeros, zeros, 1),
    ):
        with pytest.raises(ValueError, match="whole numbers|finite"):
            Trials(*wrong)
    with pytest.raises(ValueError, match="threshold"):
        false_acceptance_rate(data, np.nan)
    with pytest.raises(ValueError, match="do not fit"):
        Trials(np.zeros(2), np.zeros(1, bool), np.zeros(2, int), np.zeros(2, int), 1)


@pytest.mark.parametrize("make", [equal_error_rate, min_dcf, lambda t: actual_dcf(t, 0.5)])
@pytest.mark.parametrize(
    ("scores", "target", "reason"),
    [
        ([], [], "no trials"),
        ([0.1, 0.2], [True, True], "no non-target trials"),
        ([0.1, 0.2], [False, False], "no target trials"),
        ([0.1, np.nan, np.nan], [True, False, False], "no score for 2 of 3 trials"),
    ],
)
def test_no_value(make, scores, target, reason):
    found = resample(make(independent(scores, target)), NO_BLOCKS, 100)
    assert found.reasons == (reason,) and np.isnan(found.value[0])
    assert np.isnan(det_curve(independent([], []))[1]).all() and np.isnan(
        equal_error_threshold(independent([], []))
    )


def test_missing_scores_are_counted():
    data = trials(3, 100)
    data.scores[:10] = np.nan
    point = equal_error_rate(data).point()
    assert point.segments.tolist() == [90] and point.notes == ("no score for 10 of 100 trials",)


def test_a_replicate_without_targets_is_undefined():
    data = Trials.of([0.9, 0.8, 0.1, 0.2], [True, True, False, False], list("abab"), list("abcc"))
    found = equal_error_rate(data).evaluate(np.array([[0, 0, 3], [1, 1, 1], [3, 0, 0]]))[:, 0]
    assert np.isnan(found[[0, 2]]).all() and found[1] == 0.0


def test_impossible_costs():
    for arguments in ((0.0,), (1.0,), (0.5, 0.0), (0.5, 1.0, -1.0)):
        with pytest.raises(ValueError, match="lies between"):
            min_dcf(trials(0), *arguments)


def test_models_are_compared_on_the_same_replicates():
    data = trials(4, 2000, 40)
    better = Trials(data.scores + 0.3 * data.target, data.target, data.first, data.second, 40)
    gain = resample(weighted_difference(equal_error_rate(better), equal_error_rate(data)), NO_BLOCKS, 300)
    alone = resample(equal_error_rate(data), NO_BLOCKS, 300)
    assert gain.interval()[1][0] < 0
    assert gain.standard_error < 0.8 * alone.standard_error


def test_normal_scores_have_the_rate_of_theory():
    rng = np.random.default_rng(0)
    target = np.arange(200_000) < 100_000
    data = independent(rng.normal(size=200_000) + 2 * target, target)
    assert value(equal_error_rate(data)) == pytest.approx(stats.norm.cdf(-1), abs=0.003)
