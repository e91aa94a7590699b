"""Values of speakers and of files over time: pandas and SciPy as oracles, missing predictions, replicates."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.speakers import SpeakerValues, quartile_overlap, speaker_averages, speaker_proportions
from soundcheck.metrics.temporal import drift, file_changes, neighbours
from soundcheck.statistics.bootstrap import block_codes, resample, weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CLASSES = ("anger", "happiness", "neutral", "sadness")


def corpus(seed=0, speakers=12, n=300):
    rng = np.random.default_rng(seed)
    names = np.array([f"s{k:02d}" for k in rng.integers(speakers, size=n)], dtype=object)
    truth = rng.random(n)
    return pd.DataFrame({"speaker": names, "truth": truth, "prediction": truth + rng.normal(0, 0.2, n)})


def averages(data, column="prediction"):
    return speaker_averages(data["truth"], data[column], data["speaker"])


def test_averages_and_shares_are_those_of_pandas(rng):
    data = corpus()
    result, means = averages(data), data.groupby("speaker")[["truth", "prediction"]].mean()
    assert result.names == tuple(means.index)
    np.testing.assert_allclose(result.truth[:, 0], means["truth"], atol=1e-12)
    errors, statistic = (means["truth"] - means["prediction"]).abs().to_numpy(), result.mean_absolute_error()
    assert value(statistic) == pytest.approx(errors.mean(), abs=1e-9)
    resampled = resample(statistic, block_codes(data["speaker"])[0], 60)  # speakers are drawn
    np.testing.assert_allclose(resampled.replicates[:, 0], weights(12, 60) @ errors / 12, atol=1e-11)
    assert statistic.point().segments.tolist() == [300]
    labels, other = rng.choice(CLASSES, 500), rng.choice((*CLASSES, "boredom"), 500)
    guesses, names = np.where(rng.random(500) < 0.6, labels, other), rng.choice(list("abcdef"), 500)
    result = speaker_proportions(labels, guesses, names, CLASSES)
    errors, ranks = result.mean_absolute_error(), result.spearmans_rho()
    assert errors.labels == ranks.labels == CLASSES
    for n, label in enumerate(CLASSES):
        shares = pd.DataFrame({"t": labels == label, "p": guesses == label}).groupby(names).mean()
        np.testing.assert_allclose(result.prediction[:, n], shares["p"], atol=1e-12)
        assert values(errors)[n] == pytest.approx((shares["t"] - shares["p"]).abs().mean(), abs=1e-9)
        rho = stats.spearmanr(shares["t"], shares["p"]).statistic
        assert values(ranks)[n] == pytest.approx(rho, abs=1e-9)


def test_speakers_need_enough_segments():
    speakers, truth = ["a"] * 10 + ["b"] * 9 + [None] * 20, np.linspace(0, 1, 39)
    assert speaker_averages(truth, truth, speakers).names == ("a",)
    assert speaker_averages(truth, truth, speakers, minimum=9).names == ("a", "b")
    truth[0] = np.nan  # without a label
    assert len(speaker_averages(truth, truth, speakers)) == 0
    names = np.repeat(CLASSES, [8, 8, 8, 7])
    counts = [len(speaker_proportions(names, names, ["a"] * 31, CLASSES, class_minimum=n)) for n in (8, 7)]
    assert counts == [0, 1]
    nobody = speaker_averages([0.1], [0.2], ["a"])
    for statistic in (nobody.mean_absolute_error(), nobody.spearmans_rho()):
        assert statistic.point().reasons == ("no speaker has enough labelled segments",)


def test_missing_predictions_leave_both_averages():
    data = corpus(n=240)
    gaps = data["prediction"].mask(data["speaker"].eq("s03") | (np.arange(240) % 7 == 0))
    data["p"], data["few"] = gaps, np.where(np.arange(240) < 60, 0.5, np.nan)
    means = data[["speaker", "truth", "p"]].dropna().groupby("speaker").mean()
    result = averages(data, "p")
    point = result.mean_absolute_error().point()
    assert point.value[0] == pytest.approx((means["truth"] - means["p"]).abs().mean(), abs=1e-9)
    assert point.notes[0] == f"no prediction for {int(gaps.isna().sum())} of 240 segments"
    assert result.spearmans_rho().n_blocks == len(means)
    few = averages(data, "few").spearmans_rho()
    assert few.point().reasons == ("no prediction for 180 of 240 segments",)


# Rank correlation over speakers


def rho_of(truth, prediction):
    """Rank correlation of values that speakers have already."""
    truth, prediction = (np.array(each, dtype=float).reshape(-1, 1) for each in (truth, prediction))
    k = len(truth)
    counts = np.arange(k), np.ones(k, int), k, 0
    return SpeakerValues(tuple(map(str, range(k))), truth, prediction, ("",), *counts).spearmans_rho()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=25))
def test_rho_is_that_of_scipy_with_speakers_drawn_twice_as_two(pairs):
    truth, prediction = np.array(pairs, dtype=float).T
    statistic, drawn = rho_of(truth, prediction), weights(len(pairs), 5)
    for row, result in zip(drawn, statistic.evaluate(drawn)[:, 0], strict=True):
        x, y = np.repeat(truth, row), np.repeat(prediction, row)
        expected = stats.spearmanr(x, y).statistic if len(set(x)) > 1 < len(set(y)) else np.nan
        assert result == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_no_order():
    for truth, prediction, reason in (
        ([0.1], [0.2], "1 speaker"),
        ([0.1, 0.2], [0.5, 0.5], "all speakers have the same predicted value"),
        ([0.5, 0.5], [0.1, 0.2], "all speakers have the same true value"),
    ):
        assert rho_of(truth, prediction).point().reasons == (reason,)


def test_ends_of_the_order():
    truth, swapped = np.append(np.arange(8.0), np.nan), [7, 1, 2, 3, 4, 5, 6, 0, 8]  # one has no predictions
    for prediction, *expected in ((truth, 1, 1, 0), (-truth, 0, 0, 1), (truth[swapped], 0.5, 0.5, 0.5)):
        assert list(quartile_overlap(truth, prediction).values()) == expected
    assert all(np.isnan(list(quartile_overlap([1, 2], [1, 2]).values())))  # half of two rounds to nobody


# Changes from one segment of a file to the next

N = 6
COURSES = {  # of a file, and its mean change
    "constant": (np.full(N, 0.4), 0.0),
    "linear": (0.2 + 0.06 * np.arange(N), 0.06),
    "falling": (0.9 - 0.12 * np.arange(N), 0.12),
    "alternating": (np.tile([0.3, 0.6], N)[:N], 0.3),
}


@pytest.fixture
def courses():
    """Files, starts, values and neighbouring segments of the courses, in a shuffled order of rows."""
    order = np.random.default_rng(1).permutation(len(COURSES) * N)
    files, starts = np.repeat(list(COURSES), N)[order], np.tile(3.0 * np.arange(N), len(COURSES))[order]
    truth = np.concatenate([values_of_file for values_of_file, _ in COURSES.values()])[order]
    return files, starts, truth, neighbours(files, starts, starts + 2.0)


def test_known_changes_in_any_order(courses):
    files, starts, truth, pairs = courses
    result = file_changes(truth, truth, pairs)
    assert result.names == tuple(sorted(COURSES))
    assert result.truth == pytest.approx([COURSES[name][1] for name in result.names])
    assert np.allclose(starts[pairs.after] - starts[pairs.before], 3)
    assert (files[pairs.after] == files[pairs.before]).all() and len(pairs.before) == 4 * (N - 1)
    assert files[pairs.first].tolist() == list(result.names) and (starts[pairs.first] == 0).all()
    assert np.allclose(pairs.place, starts / starts.max())
    pairs = neighbours(["a"] * 5, np.arange(5.0), np.arange(1.0, 6.0))  # classes change or do not
    result = file_changes(np.array([0, 0, 3, 1, 1.0]), np.array([2, 2, 2, 2, 0.0]), pairs, 1.0, classes=True)
    assert result.truth.tolist() == [0.5] and result.prediction.tolist() == [0.25]


def test_a_perfect_a_constant_and_a_restless_model(courses):
    _, starts, truth, pairs = courses
    measures = ("mean_absolute_error", "mean_error", "reactivity", "stability", "jensen_shannon_distance")

    def scores(prediction):
        result = file_changes(truth, prediction, pairs)
        return [value(getattr(result, measure)()) for measure in measures]

    assert scores(truth) == [0, 0, 1, 1, 0]
    assert scores(truth + 0.2) == pytest.approx([0, 0, 1, 1, 0])  # values themselves do not matter
    # Of four files the quarter is one: the alternating one changes most, by 0.3, the constant one least.
    mean = np.mean([change for _, change in COURSES.values()])
    *constant, distance = scores(np.full(len(truth), 0.5))
    assert constant == pytest.approx([mean, -mean, 0, 1]) and distance > 0.5

    restless = truth + np.where(np.isin(np.rint(starts / 3), [1, 3, 5]), 0.15, -0.15)
    assert scores(restless)[3] == pytest.approx(2 * (1 / (0.3 / 0.3 + 1) - 0.5))


def test_missing_predictions_leave_out_both_changes_and_are_counted(courses):
    files, starts, truth, pairs = courses
    missing = ((files == "linear") & (starts == 3)) | (files == "constant")
    result = file_changes(truth, np.where(missing, np.nan, truth), pairs)
    assert result.names == ("alternating", "falling", "linear")
    point = result.mean_absolute_error().point()
    assert point.value[0] == 0 and point.segments[0] == 3 * N - 1
    assert point.notes[0] == f"no prediction for {N + 1} of {4 * N} segments"
    assert result.reactivity().point().reasons == ("3 files, 4 needed",)
    prediction = np.where(missing | (files == "falling"), np.nan, truth)
    for sides in ((truth, prediction), (prediction, truth)):  # predictions for changed signals, or others
        refused = file_changes(*sides, pairs).mean_absolute_error().point()
        assert refused.reasons == (f"no prediction for {2 * N + 1} of {4 * N} segments",)
    pairs = neighbours(["a", "b", "b", None, "b"], [np.nan, 5, 0, 1, 2], [np.nan, 6, 1, 2, np.nan], 3)
    assert pairs.names == ("b",) and pairs.before.tolist() == [2, 4] and pairs.after.tolist() == [4, 1]
    nothing = neighbours(["a", "b"], [0, 0], [1, 1])
    assert len(nothing) == 0 and np.isnan(value(drift([0, 1], [0, 1], nothing)))


def test_drift_is_the_slope_of_what_is_added(courses):
    files, _, before, pairs = courses
    assert value(drift(before, before, pairs)) == 0
    added = np.vectorize(dict(constant=0.4, linear=-0.2, falling=0.0, alternating=0.6).get)(files)
    added = added * pairs.place + 0.1 * np.random.default_rng(0).standard_normal(len(before))
    slopes = [np.polyfit(pairs.place[files == name], added[files == name], 1)[0] for name in COURSES]
    result = drift(before, before + added, pairs)
    assert value(result) == pytest.approx(np.mean(slopes))
