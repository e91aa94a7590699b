"""Exactness for these speakers: influence against recordings added and left out, errors against new draws."""

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics import verification
from soundcheck.metrics.additive import values
from soundcheck.metrics.classification import recall_per_class
from soundcheck.metrics.combinators import average, difference, restrict
from soundcheck.metrics.regression import concordance_cc, mean_value
from soundcheck.metrics.speakers import speaker_averages
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.weighted import weighted_difference, weighted_sums
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics.evidence import Scale
from soundcheck.statistics.fixed_speakers import (
    FixedSpeakers,
    ForThese,
    difference_ends,
    fixed_speakers,
    value_ends,
)

N = 60
rng = np.random.default_rng(3)
TRUTH = rng.random(N)
PREDICTION = np.clip(TRUTH + rng.normal(0, 0.2, N), 0, 1)
LABEL, GUESS = np.array(list("abc"))[rng.integers(0, 3, (2, N))]
GUESS = np.where(rng.random(N) < 0.6, LABEL, GUESS)
WORDS, ERRORS = rng.integers(1, 9, N).astype(float), rng.integers(0, 4, N).astype(float)
GROUP = np.arange(N) % 3 == 0
COPIES = 50  # of everything: one copy more of a segment is a small change then

STATISTICS = {
    "recalls": lambda i: recall_per_class(LABEL[i], GUESS[i], list("abc")),
    "word error rate": lambda i: word_error_rate(WORDS[i], ERRORS[i]),
    "difference of groups": lambda i: difference(
        restrict(concordance_cc(TRUTH[i], PREDICTION[i]), GROUP[i]),
        restrict(concordance_cc(TRUTH[i], PREDICTION[i]), ~GROUP[i]),
    ),
    "average over groups": lambda i: average(
        [restrict(mean_value(PREDICTION[i]), group) for group in (GROUP[i], ~GROUP[i])]
    ),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_influence_is_what_one_copy_more_changes(name):
    make, everything = STATISTICS[name], np.tile(np.arange(N), COPIES)
    influence = make(np.arange(N)).influence()
    before = values(make(everything))
    for row in (0, 7, 59):
        more = (values(make(np.append(everything, row))) - before) * COPIES
        less = (before - values(make(np.delete(everything, row)))) * COPIES
        assert influence[row] == pytest.approx((more + less) / 2, abs=2e-5)
    assert influence.sum(axis=0) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("name", STATISTICS)
def test_errors_do_not_depend_on_the_order_of_segments_as_sums_do(name):
    orders, blocks = [np.arange(N), np.arange(N)[::-1]], np.arange(N) // 6
    forth, back = (fixed_speakers(STATISTICS[name](order), blocks[order]).error for order in orders)
    assert forth.tolist() == back.tolist()


def test_nothing_varies_where_all_recordings_have_the_same_rate():
    minutes = rng.random(20)
    equal = fixed_speakers(word_error_rate(minutes, 900 * minutes), np.arange(20) // 4)
    assert equal.error.tolist() == [0]


def trials_of_recordings(speakers: int = 12, each: int = 12) -> Trials:
    """Compare all recordings of some speakers."""
    draw = np.random.default_rng(0)
    voice = np.repeat(draw.normal(size=(speakers, 4)), each, axis=0)
    voice += draw.normal(0, 0.7, (speakers * each, 4))
    speaker = np.repeat(np.arange(speakers), each)
    first, second = np.triu_indices(speakers * each, 1)
    scores = -np.abs(voice[first] - voice[second]).sum(axis=1)
    one, other = speaker[first], speaker[second]
    return Trials(scores, one == other, one, other, speakers).of_recordings(first, second)


@pytest.mark.parametrize(
    ("measure", "tolerance"),
    [
        (verification.equal_error_rate, 0.1),
        (lambda trials: verification.actual_dcf(trials, -3.0), 0.02),
        (verification.min_dcf, 0.1),
        (verification.cllr, 0.02),
    ],
)
def test_influence_of_recordings_is_that_of_leaving_them_out(measure, tolerance):
    trials = trials_of_recordings()
    influence, speakers = measure(trials).influence()
    assert speakers.tolist() == np.repeat(np.arange(12), 12).tolist()
    first, second = trials.recordings
    some = range(0, 144, 3)  # four of each speaker
    without = [values(measure(trials.only((first != n) & (second != n))))[0] for n in some]
    expected = values(measure(trials))[0] - np.array(without)
    slope = np.polyfit(influence[some, 0], expected, 1)[0]
    assert slope == pytest.approx(1, abs=tolerance + 0.03)  # leaving out one of 144 is no small change
    assert np.corrcoef(influence[some, 0], expected)[0, 1] > 1 - tolerance


def test_differences_and_sums_of_trials_share_recordings():
    trials = trials_of_recordings()
    part = trials.first % 2 == 0
    one, other = (verification.false_acceptance_rate(trials.only(mask), -3.0) for mask in (part, ~part))
    a, b = one.influence()[0], other.influence()[0]
    assert weighted_difference(one, other).influence()[0] == pytest.approx(a - b)
    mixed = weighted_sums({"": [(2, one), (-0.5, other)]})
    assert mixed.influence()[0] == pytest.approx(2 * a - 0.5 * b)
    unknown = verification.frr_at_far(trials, [0.1])
    assert unknown.influence() is None and weighted_difference(unknown, unknown).influence() is None


def test_speakers_with_one_recording_are_one_stratum():
    for speakers, strata in (
        ([0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0]),  # one recording of each: as if there were no speakers
        ([0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 2, 2]),  # two speakers are alone, and one stratum
        ([0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 1]),  # the third joins the one with the fewest
    ):
        data = np.array([0.1, 0.4, 0.2, 0.9, 0.5, 0.6])
        exactness = fixed_speakers(mean_value(data), np.array(speakers))
        parts = [data[np.array(strata) == n] for n in set(strata)]
        variance = sum(len(part) * part.var(ddof=1) for part in parts) / len(data) ** 2
        assert exactness.error[0] == pytest.approx(np.sqrt(variance))


def test_without_influence_recordings_or_spread_there_is_no_interval():
    ranks = speaker_averages(TRUTH, PREDICTION, np.arange(N) % 6, 1).spearmans_rho()
    for statistic, blocks in ((ranks, np.zeros(0, int)), (mean_value([0.3]), np.zeros(1, int))):
        exactness = fixed_speakers(statistic, blocks)
        assert np.isnan([exactness.error, exactness.freedom]).all()
    same = fixed_speakers(mean_value(np.full(9, 0.3)), np.arange(9) // 3)
    known = same.value(0, 0.3)
    assert same.error[0] == 0 and np.isnan([*known.interval(), known.p_value(0.2)]).all()


@pytest.mark.parametrize(
    ("scale", "compared"), [(Scale(), True), (Scale(0.0, 1.0), False), (Scale(0.0), True)]
)
def test_intervals_and_p_values_agree(scale, compared):
    ends = value_ends(0.2, 0.05, 12.0, scale)
    if compared:
        sides = value_ends(0.4, 0.05, 12.0, scale), value_ends(0.2, 0.04, 20.0, scale)
        ends = difference_ends((0.4, 0.2), (0.05, 0.04, 0.055), sides)
    known = ForThese(ends)
    low, high = known.interval()
    assert 0 < low < 0.2 < high < 1
    for end, side, other in ((low, "greater", "less"), (high, "less", "greater")):
        assert known.p_value(end) == pytest.approx(0.05)
        assert known.p_value(end, side) == pytest.approx(0.025)
        assert known.p_value(end, other) == pytest.approx(0.975)
    assert known.p_value(0.2) == pytest.approx(1)


def test_intervals_of_independent_recordings_are_those_of_wilson_and_newcombe():
    """Newcombe (1998), the example of his table II: 56 of 70 against 48 of 80; and shares on their limits."""
    scale, sides, errors = Scale(0, 1), [], []
    for right, n in ((56, 70), (48, 80), (292, 292), (0, 20)):
        errors.append(np.sqrt(right * (n - right) / n**3))
        sides.append(value_ends(right / n, errors[-1], 9.0, scale, n))
        expected = stats.binomtest(right, n).proportion_ci(0.95, "wilson")
        assert sides[-1](0.025) == pytest.approx((expected.low, expected.high))
    ends = difference_ends((0.8, 0.6), (*errors[:2], np.hypot(*errors[:2])), sides[:2])
    assert ends(0.025) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert np.isnan(ForThese(value_ends(1.0, 0.0, np.nan, scale)).interval()).all()  # of no recordings


def test_values_and_differences_of_few_recordings_by_t():
    """Two labels: errors of the values of either side, then of their differences."""
    errors = np.array([0.05, 0.04, 0.04, 0.03, 0.03, 0.02])
    exactness = FixedSpeakers(errors, np.full(6, 12.0), np.zeros(6, dtype=bool))
    for label, error in ((0, 0.03), (1, 0.02)):
        reach = error * stats.t.ppf(0.975, 12)
        result = exactness.difference(label, (0.4, 0.2)).interval()
        assert result == pytest.approx((0.2 - reach, 0.2 + reach))
    for wrong, value, bounded in (([1.0, 4.0], 0.25, True), ([8.0, 16.0], 1.2, False)):
        # t of one degree of freedom reaches far, but not beyond a model that does all wrong.
        known = fixed_speakers(word_error_rate([10.0, 10.0], wrong), np.arange(2))
        low, high = known.value(0, value, Scale(0.0)).interval()
        assert 0 < low < value < high and (high < 1) == bounded


@pytest.mark.parametrize("recordings", [240, 6000])  # as many rows, or a sketch of them
def test_spreads_of_two_models_give_the_error_of_their_difference(recordings):
    draws = np.random.default_rng(3)
    speakers = np.arange(recordings) % 6
    wrong = draws.random(recordings) < 0.1 + 0.05 * (speakers < 2)
    also = wrong | (draws.random(recordings) < 0.05)
    one, other = (word_error_rate(np.ones(recordings), errors.astype(float)) for errors in (wrong, also))
    before, after = (fixed_speakers(each, speakers, spread=True) for each in (one, other))
    for exactness in (before, after):
        near = 1e-6 if recordings == 240 else 0.1
        assert np.linalg.norm(exactness.spread[:, 0]) == pytest.approx(exactness.error[0], rel=near)

    assert fixed_speakers(one, speakers).spread.size == 0
    change = also.astype(float) - wrong
    squares = [change[speakers == s].var(ddof=1) * (speakers == s).sum() for s in range(6)]
    error = np.sqrt(sum(squares)) / recordings
    assert np.linalg.norm(after.spread[:, 0] - before.spread[:, 0]) == pytest.approx(error, rel=0.1)
