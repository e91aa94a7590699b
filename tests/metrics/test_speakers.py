"""Values of speakers: computed by hand with pandas, minima, missing predictions, intervals over speakers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from soundcheck.metrics.additive import value, values
from soundcheck.metrics.speakers import speaker_averages, speaker_proportions
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
