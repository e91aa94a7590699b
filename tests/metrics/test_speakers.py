"""Values of speakers: computed by hand with pandas, minima, missing predictions, intervals over speakers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.speakers import SpeakerValues, quartile_overlap, speaker_averages, speaker_proportions
from soundcheck.metrics.weighted import weighted_difference
from soundcheck.statistics.bootstrap import resample
from soundcheck.statistics.draws import block_codes, weights

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

CLASSES = ("anger", "happiness", "neutral", "sadness")


def numbers(seed=0, speakers=12, n=300):
    rng = np.random.default_rng(seed)
    names = np.array([f"s{k:02d}" for k in rng.integers(speakers, size=n)], dtype=object)
    truth = rng.random(n)
    return pd.DataFrame({"speaker": names, "truth": truth, "prediction": truth + rng.normal(0, 0.2, n)})


def classes(seed=0, speakers=6, n=500):
    rng = np.random.default_rng(seed)
    names = np.array([f"s{k}" for k in rng.integers(speakers, size=n)], dtype=object)
    truth = np.array(CLASSES, dtype=object)[rng.integers(4, size=n)]
    other = np.array([*CLASSES, "boredom"], dtype=object)[rng.integers(5, size=n)]
    return pd.DataFrame(
        {"speaker": names, "truth": truth, "prediction": np.where(rng.random(n) < 0.6, truth, other)}
    )


def test_averages_are_those_of_pandas():
    data = numbers()
    found = speaker_averages(data["truth"], data["prediction"], data["speaker"])
    means = data.groupby("speaker")[["truth", "prediction"]].mean()
    assert found.names == tuple(means.index)
    np.testing.assert_allclose(found.truth[:, 0], means["truth"], atol=1e-12)
    expected = (means["truth"] - means["prediction"]).abs().mean()
    assert value(found.mean_absolute_error()) == pytest.approx(expected, abs=1e-9)
    rho = stats.spearmanr(means["truth"], means["prediction"]).statistic
    assert value(found.spearmans_rho()) == pytest.approx(rho, abs=1e-9)
    assert found.mean_absolute_error().point().segments.tolist() == [300]


def test_shares_are_those_of_pandas():
    data = classes()
    found = speaker_proportions(data["truth"], data["prediction"], data["speaker"], CLASSES)
    for n, label in enumerate(CLASSES):
        shares = data.assign(t=data["truth"].eq(label), p=data["prediction"].eq(label)).groupby("speaker")
        shares = shares[["t", "p"]].mean()
        np.testing.assert_allclose(found.prediction[:, n], shares["p"], atol=1e-12)
        expected = (shares["t"] - shares["p"]).abs().mean()
        assert values(found.mean_absolute_error())[n] == pytest.approx(expected, abs=1e-9)
        rho = stats.spearmanr(shares["t"], shares["p"]).statistic
        assert values(found.spearmans_rho())[n] == pytest.approx(rho, abs=1e-9)
    assert found.mean_absolute_error().labels == found.spearmans_rho().labels == CLASSES


def test_speakers_need_enough_segments():
    speakers = ["a"] * 10 + ["b"] * 9 + [None] * 20
    truth = np.linspace(0, 1, 39)
    assert speaker_averages(truth, truth, speakers).names == ("a",)
    assert speaker_averages(truth, truth, speakers, minimum=9).names == ("a", "b")
    unlabelled = truth.copy()
    unlabelled[0] = np.nan
    assert len(speaker_averages(unlabelled, truth, speakers)) == 0
    names = np.repeat(CLASSES, [8, 8, 8, 7])
    who = ["a"] * 31
    assert len(speaker_proportions(names, names, who, CLASSES)) == 0
    assert len(speaker_proportions(names, names, who, CLASSES, class_minimum=7)) == 1


def test_missing_predictions_leave_both_averages():
    data = numbers(n=240)
    gaps = data["prediction"].copy()
    gaps[data["speaker"].eq("s03") | (np.arange(240) % 7 == 0)] = np.nan
    found = speaker_averages(data["truth"], gaps, data["speaker"])
    means = data.assign(p=gaps).dropna().groupby("speaker")[["truth", "p"]].mean()
    expected = (means["truth"] - means["p"]).abs().mean()
    point = found.mean_absolute_error().point()
    assert point.value[0] == pytest.approx(expected, abs=1e-9)
    assert point.notes[0] == f"no prediction for {int(gaps.isna().sum())} of 240 segments"
    assert found.spearmans_rho().n_blocks == len(means)
    nearly_all = np.full(240, np.nan)
    nearly_all[:60] = 0.5
    for statistic in (
        speaker_averages(data["truth"], nearly_all, data["speaker"]).mean_absolute_error(),
        speaker_averages(data["truth"], nearly_all, data["speaker"]).spearmans_rho(),
    ):
        assert statistic.point().reasons == ("no prediction for 180 of 240 segments",)


def test_nobody():
    found = speaker_averages([0.1], [0.2], ["a"])
    for statistic in (found.mean_absolute_error(), found.spearmans_rho()):
        resampled = resample(statistic, np.zeros(1, dtype=int), 100)
        assert resampled.reasons == ("no speaker has enough labelled segments",)


def test_replicates_draw_speakers():
    data = numbers(1)
    found = speaker_averages(data["truth"], data["prediction"], data["speaker"])
    distance = np.abs(found.truth - found.prediction)[:, 0]
    resampled = resample(found.mean_absolute_error(), block_codes(data["speaker"])[0], 60)
    drawn = weights(12, 60)
    np.testing.assert_allclose(resampled.replicates[:, 0], drawn @ distance / 12, atol=1e-11)
    assert resampled.blocks.tolist() == [12]


# Rank correlation over speakers: SciPy as the oracle, drawn speakers as repeated ones


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
