"""Influence values against recordings added in part, errors against recordings drawn again."""

import numpy as np
import pytest
from scipy import stats

from soundcheck.metrics.additive import values
from soundcheck.metrics.calibration import cllr
from soundcheck.metrics.classification import recall_per_class, unweighted_average_recall
from soundcheck.metrics.combinators import average, difference, restrict
from soundcheck.metrics.regression import concordance_cc, mean_absolute_error, mean_value
from soundcheck.metrics.speakers import speaker_averages
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import (
    actual_dcf,
    equal_error_rate,
    false_acceptance_rate,
    frr_at_far,
    min_dcf,
)
from soundcheck.metrics.weighted import weighted_difference, weighted_sums
from soundcheck.metrics.word_errors import word_error_rate
from soundcheck.statistics.evidence import Scale
from soundcheck.statistics.fixed_speakers import ForThese, difference_ends, fixed_speakers, value_ends

N = 60
rng = np.random.default_rng(3)
TRUTH = rng.random(N)
PREDICTION = np.clip(TRUTH + rng.normal(0, 0.2, N), 0, 1)
SAID, HEARD = np.array(list("abc"))[rng.integers(0, 3, (2, N))]
HEARD = np.where(rng.random(N) < 0.6, SAID, HEARD)
WORDS = rng.integers(1, 9, N).astype(float)
ERRORS = rng.integers(0, 4, N).astype(float)
GROUP = np.arange(N) % 3 == 0
TWICE = 50  # copies of everything: one copy more of a segment is a small change then

STATISTICS = {
    "mean absolute error": lambda i: mean_absolute_error(TRUTH[i], PREDICTION[i]),
    "concordance": lambda i: concordance_cc(TRUTH[i], PREDICTION[i]),
    "recalls": lambda i: recall_per_class(SAID[i], HEARD[i], list("abc")),
    "average recall": lambda i: unweighted_average_recall(SAID[i], HEARD[i], list("abc")),
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
    make, everything = STATISTICS[name], np.tile(np.arange(N), TWICE)
    found = make(np.arange(N)).influence()
    before = values(make(everything))
    for row in (0, 7, 59):
        more = (values(make(np.append(everything, row))) - before) * TWICE
        less = (before - values(make(np.delete(everything, row)))) * TWICE
        assert found[row] == pytest.approx((more + less) / 2, abs=2e-5)
    assert found.sum(axis=0) == pytest.approx(0, abs=1e-7)


def of_recordings(seed: int, speakers: int = 12, each: int = 12) -> Trials:
    """Compare all recordings of some speakers."""
    draw = np.random.default_rng(seed)
    voice = np.repeat(draw.normal(size=(speakers, 4)), each, axis=0) + draw.normal(
        0, 0.7, (speakers * each, 4)
    )
    speaker = np.repeat(np.arange(speakers), each)
    first, second = np.triu_indices(speakers * each, 1)
    scores = -np.abs(voice[first] - voice[second]).sum(axis=1)
    one, other = speaker[first], speaker[second]
    return Trials(scores, one == other, one, other, speakers).of_recordings(first, second)


@pytest.mark.parametrize(
    ("measure", "tolerance"),
    [
        (equal_error_rate, 0.1),
        (lambda trials: false_acceptance_rate(trials, -3.0), 0.02),
        (lambda trials: actual_dcf(trials, -3.0), 0.02),
        (min_dcf, 0.1),
        (cllr, 0.02),
    ],
)
def test_influence_of_recordings_is_that_of_leaving_them_out(measure, tolerance):
    trials = of_recordings(0)
    influence, speakers = measure(trials).influence()
    assert speakers.tolist() == np.repeat(np.arange(12), 12).tolist()
    value = values(measure(trials))[0]
    without = [
        values(measure(trials.only((trials.recordings[0] != n) & (trials.recordings[1] != n))))[0]
        for n in range(len(speakers))
    ]
    expected = value - np.array(without)
    slope = np.polyfit(influence[:, 0], expected, 1)[0]
    assert slope == pytest.approx(1, abs=tolerance + 0.03)  # leaving out one of 144 is no small change
    assert np.corrcoef(influence[:, 0], expected)[0, 1] > 1 - tolerance


def test_differences_and_sums_of_trials_share_recordings():
    trials = of_recordings(1)
    part = trials.first % 2 == 0
    one, other = (false_acceptance_rate(trials.only(mask), -3.0) for mask in (part, ~part))
    a, b = one.influence()[0], other.influence()[0]
    assert weighted_difference(one, other).influence()[0] == pytest.approx(a - b)
    mixed = weighted_sums({"": [(2, one), (-0.5, other)]})
    assert mixed.influence()[0] == pytest.approx(2 * a - 0.5 * b)
    unknown = frr_at_far(trials, [0.1])
    assert unknown.influence() is None and weighted_difference(unknown, unknown).influence() is None


def test_errors_are_those_of_recordings_drawn_again():
    """Speakers differ a lot and stay; the spread over draws of their recordings is what is estimated."""
    draw = np.random.default_rng(0)
    own, speakers = draw.normal(0, 1, 8), np.repeat(np.arange(8), [2, 3, 4, 5, 10, 20, 40, 80])

    def recorded() -> np.ndarray:
        return own[speakers] + draw.normal(0, 0.3, len(speakers)) * (1 + speakers % 2)

    means = [recorded().mean() for _ in range(4000)]
    found = [fixed_speakers(mean_value(recorded()), speakers) for _ in range(200)]
    errors = np.array([each.error[0] for each in found])
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(np.std(means), rel=0.06)
    assert not found[0].independent[0] and 60 < found[0].freedom[0] < len(speakers)


@pytest.mark.parametrize(
    ("speakers", "independent", "freedom"),
    [
        ([0, 1, 2, 3, 4, 5], True, 5),  # one recording of each: as if there were no speakers
        ([0, 0, 1, 1, 2, 3], False, None),  # two speakers are alone, and one stratum
        ([0, 0, 0, 1, 1, 2], False, None),  # the third joins the one with the fewest
        ([0, 0, 0, 0, 0, 0], False, 5),
    ],
)
def test_speakers_with_one_recording_are_one_stratum(speakers, independent, freedom):
    data = np.array([0.1, 0.4, 0.2, 0.9, 0.5, 0.6])
    found = fixed_speakers(mean_value(data), np.array(speakers))
    assert found.independent[0] == independent
    strata = np.array(
        [0, 0, 0, 0, 0, 0] if freedom else {2: [0, 0, 0, 1, 1, 1], 3: [0, 0, 1, 1, 2, 2]}[speakers[-1]]
    )
    parts = [data[strata == n] for n in range(strata.max() + 1)]
    variance = sum(len(part) * part.var(ddof=1) for part in parts) / len(data) ** 2
    assert found.error[0] == pytest.approx(np.sqrt(variance))
    assert freedom is None or found.freedom[0] == pytest.approx(freedom)


def test_what_has_no_errors_has_none():
    ranks = speaker_averages(TRUTH, PREDICTION, np.arange(N) % 6, 1).spearmans_rho()
    for found in (
        fixed_speakers(ranks, np.zeros(0, int)),
        fixed_speakers(mean_value([0.3]), np.zeros(1, int)),
    ):
        assert np.isnan(found.error).all() and np.isnan(found.freedom).all()
    same = fixed_speakers(mean_value(np.full(9, 0.3)), np.arange(9) // 3)
    known = same.value(0, 0.3)
    assert same.error[0] == 0 and np.isnan(known.interval()).all() and np.isnan(known.p_value(0.2))


SCALES = [Scale(), Scale(0.0, 1.0), Scale(0.0), Scale(-1.0, 1.0)]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("difference", [False, True])
def test_intervals_and_p_values_agree(scale, difference):
    ends = value_ends(0.2, 0.05, 12.0, scale)
    if difference:
        sides = value_ends(0.4, 0.05, 12.0, scale), value_ends(0.2, 0.04, 20.0, scale)
        ends = difference_ends((0.4, 0.2), (0.05, 0.04, 0.055), sides)
    known = ForThese(ends)
    low, high = known.interval()
    assert 0 < low < 0.2 < high < 1
    for end, side in ((low, "greater"), (high, "less")):
        assert known.p_value(end) == pytest.approx(0.05)
        assert known.p_value(end, side) == pytest.approx(0.025)
        assert known.p_value(end, "less" if side == "greater" else "greater") == pytest.approx(0.975)
    assert known.p_value(0.2) == pytest.approx(1)


def test_intervals_of_independent_recordings_are_those_of_wilson_and_newcombe():
    """Newcombe (1998), the example of his table II: 56 of 70 against 48 of 80."""
    counts, scale = ((56, 70), (48, 80)), Scale(0, 1)
    errors = [np.sqrt(right * (n - right) / n**3) for right, n in counts]
    sides = [
        value_ends(right / n, error, 9.0, scale, n) for (right, n), error in zip(counts, errors, strict=True)
    ]
    for ends, (right, n) in zip(sides, counts, strict=True):
        expected = stats.binomtest(right, n).proportion_ci(0.95, "wilson")
        assert ends(0.025) == pytest.approx((expected.low, expected.high))
    ends = difference_ends((0.8, 0.6), (*errors, np.hypot(*errors)), sides)
    assert ends(0.025) == pytest.approx((0.0524, 0.3339), abs=1e-4)


@pytest.mark.parametrize(("value", "n"), [(1.0, 292), (0.0, 20)])
def test_shares_on_their_limits(value, n):
    expected = stats.binomtest(round(value * n), n).proportion_ci(0.95, "wilson")
    ends = value_ends(value, 0.0, np.nan, Scale(0, 1), n)
    assert ends(0.025) == pytest.approx((expected.low, expected.high))
    other = ForThese(value_ends(value, 0.0, np.nan, Scale(0, 1)))
    assert np.isnan(other.interval()).all()  # of no recordings nothing is known


@pytest.mark.parametrize("recordings", [240, 6000])  # as many rows, or a sketch of them
def test_spreads_of_two_models_give_the_error_of_their_difference(recordings):
    draws = np.random.default_rng(3)
    speakers = np.arange(recordings) % 6
    wrong = draws.random(recordings) < 0.1 + 0.05 * (speakers < 2)
    also = wrong | (draws.random(recordings) < 0.05)
    one, other = (word_error_rate(np.ones(recordings), errors.astype(float)) for errors in (wrong, also))
    before, after = (fixed_speakers(each, speakers, spread=True) for each in (one, other))
    for found in (before, after):
        assert np.linalg.norm(found.spread[:, 0]) == pytest.approx(found.error[0], rel=0.1)
    assert fixed_speakers(one, speakers).spread.size == 0
    change = also.astype(float) - wrong
    squares = [change[speakers == s].var(ddof=1) * (speakers == s).sum() for s in range(6)]
    error = np.sqrt(sum(squares)) / recordings
    assert np.linalg.norm(after.spread[:, 0] - before.spread[:, 0]) == pytest.approx(error, rel=0.1)
