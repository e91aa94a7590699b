"""Voiceprints: train once, embed every signal, tell voices apart, not perfectly."""

import math
import warnings

import audiofile
import numpy as np
import pandas as pd
import pytest

from soundcheck.common import store
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck_demo.models import voiceprint
from soundcheck_demo.models.features import FRAME, HOP
from soundcheck_demo.models.voiceprint import BLOCK, CEPSTRA, NAMES, extract
from soundcheck_demo.speech import corpus

SIZE = len(NAMES)


@pytest.fixture(scope="module")
def trained(shared_cache):
    """A cache with the small corpus and its parameters, where the model finds them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOUNDCHECK_CACHE", str(shared_cache))
        patch.setenv("SOUNDCHECK_DEMO_SIZE", "small")
        voiceprint.prepare(jobs=2)
        yield shared_cache


def segments(folder):
    table = pd.read_csv(folder / "segments.csv", keep_default_na=False)
    table = table[table["split"] == "test"].reset_index(drop=True)
    return table, [audiofile.read(folder / name)[0] for name in table["file"]]


def error_rate(table, embeddings, chosen):
    """Equal error rate over all pairs that ``chosen(first, second)`` chooses."""
    first, second = np.triu_indices(len(table), 1)
    speaker = table["speaker"].to_numpy()
    wanted = chosen(first, second)
    first, second = first[wanted], second[wanted]
    scores = np.einsum("nk,nk->n", embeddings[first], embeddings[second])
    trials = Trials.of(scores, speaker[first] == speaker[second], speaker[first], speaker[second])
    return equal_error_rate(trials).point().value[0]


def embed(signals):
    return np.array([voiceprint.predict(signal, 16000)["embedding"] for signal in signals])


def check_answer(answer):
    assert list(answer) == ["embedding"]
    assert answer["embedding"].dtype == np.float32
    assert answer["embedding"].shape == (SIZE,)
    assert np.linalg.norm(answer["embedding"]) == pytest.approx(1, abs=1e-5)


def voice(seconds=2.0, sampling_rate=16000, slope=1.0):
    """Sum harmonics of 150 Hz up to 3.9 kHz."""
    time = np.arange(round(seconds * sampling_rate)) / sampling_rate
    return 0.05 * sum(np.sin(2 * np.pi * n * 150 * time) / n**slope for n in range(1, 27))


AWKWARD = {
    "empty": np.zeros(0),
    "one sample": np.ones(1),
    "ten samples": np.linspace(-1, 1, 10),
    "silence": np.zeros(16000),
    "direct current": np.full(16000, 0.5),
    "one bit": np.resize([0, 1 / 32768], 16000),
    "impulse": np.eye(1, 16000, 5)[0],
    "square wave": np.resize(np.repeat([-1.0, 1.0], 50), 16000),
    "beyond full scale": 1e30 * voice(),
    "not finite": np.resize([0.1, np.nan, np.inf, -np.inf], 4000),
    "half precision": voice().astype(np.float16),
    "two dimensions": voice().reshape(1, -1),
}


@pytest.mark.parametrize("sampling_rate", [8000, 16000, 44100])
def test_awkward_signals(trained, sampling_rate):
    for name, signal in AWKWARD.items():
        signal.flags.writeable = False
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cepstra = extract(signal, sampling_rate)
            check_answer(voiceprint.predict(signal, sampling_rate))
        assert cepstra.shape == (SIZE,) and np.isfinite(cepstra).all(), name
        if sampling_rate == 16000 and name in ("silence", "direct current", "empty", "one bit"):
            np.testing.assert_array_equal(cepstra, 0)


def test_the_very_mean_has_a_direction(trained, monkeypatch):
    mean = np.array(voiceprint.TRAINING.train(trained, size="small")["mean"])
    monkeypatch.setattr(voiceprint, "extract", lambda *_: mean)
    check_answer(voiceprint.predict(np.zeros(10), 16000))


def test_tells_voices_apart(trained):
    """Chance is 0.5; the small corpus has trained with four voices only."""
    table, signals = segments(corpus.build(trained, size="small"))
    embeddings = embed(signals)
    sex = table["sex"].to_numpy()
    speaker = table["speaker"].to_numpy()
    assert 0.01 < error_rate(table, embeddings, lambda a, b: a < b) < 0.35
    across = error_rate(table, embeddings, lambda a, b: (speaker[a] == speaker[b]) | (sex[a] != sex[b]))
    within = error_rate(table, embeddings, lambda a, b: sex[a] == sex[b])
    assert across < within


def test_training_is_reproducible(trained):
    folder = corpus.build(trained, size="small")
    stored = store.read(voiceprint.TRAINING.file(trained, "small"))
    assert voiceprint.TRAINING.fit(folder, 1, False) == stored


def test_parameters_are_plain_numbers(trained):
    parameters = voiceprint.TRAINING.train(trained, size="small")
    assert (parameters["speakers"], parameters["segments"]) == (4, 96)
    assert parameters["features"] == list(NAMES)
    assert np.shape(parameters["mean"]) == (SIZE,)
    assert np.shape(parameters["map"]) == (SIZE, SIZE)
    assert np.isfinite(parameters["map"]).all()
    assert all(value == float(f"{value:.6g}") for value in parameters["mean"])


@pytest.fixture
def measured(rng):
    """Features of six speakers, correlated and of different scales."""
    speakers = np.repeat(list("abcdef"), 50)
    centres = np.repeat(rng.standard_normal((6, SIZE)), 50, axis=0)
    within = rng.standard_normal((300, SIZE)) @ rng.standard_normal((SIZE, SIZE))
    return (centres + within) * np.logspace(-2, 2, SIZE) + 7.0, speakers


def covariance_within(values, speakers):
    rest = values - pd.DataFrame(values).groupby(speakers).transform("mean").to_numpy()
    return rest.T @ rest / (len(values) - len(set(speakers)))


def mapped(parameters, values):
    return (values - np.array(parameters["mean"])) @ np.array(parameters["map"])


def test_covariance_within_speakers_becomes_the_identity(measured):
    values, speakers = measured
    found = mapped(voiceprint.fit(values, speakers, shrinkage=0.0), values)
    np.testing.assert_allclose(covariance_within(found, speakers), np.eye(SIZE), atol=0.01)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=0.01)


def test_full_shrinkage_only_standardises(measured):
    values, speakers = measured
    found = np.array(voiceprint.fit(values, speakers, shrinkage=1.0)["map"])
    standard = np.diag(1 / values.std(axis=0))
    np.testing.assert_allclose(found / found[0, 0], standard / standard[0, 0], rtol=1e-4, atol=1e-12)


def test_units_do_not_matter(measured):
    values, speakers = measured
    units = np.logspace(3, -3, SIZE)
    one = mapped(voiceprint.fit(values, speakers), values)
    two = mapped(voiceprint.fit(values * units, speakers), values * units)
    np.testing.assert_allclose(one, two, atol=0.01)


@pytest.mark.slow
def test_full_model_is_good_but_not_perfect(full_cache, monkeypatch):
    monkeypatch.setenv("SOUNDCHECK_CACHE", str(full_cache))
    monkeypatch.delenv("SOUNDCHECK_DEMO_SIZE", raising=False)
    table, signals = segments(corpus.build(full_cache, jobs=2))
    voiceprint.prepare()
    embeddings = embed(signals)
    sex, speaker = (table[name].to_numpy() for name in ("sex", "speaker"))
    within = error_rate(table, embeddings, lambda a, b: sex[a] == sex[b])
    across = error_rate(table, embeddings, lambda a, b: (speaker[a] == speaker[b]) | (sex[a] != sex[b]))
    assert 0.15 < within < 0.25
    assert 0.03 < across < 0.1


def test_tells_people_apart_a_little(trained, speech):
    """People are not what it was trained on, and 8 kHz is not what it expects."""
    table = pd.read_csv(speech / "segments.csv")
    chosen = table.groupby("speaker").head(20).reset_index(drop=True)
    signals = [audiofile.read(speech / name) for name in chosen["file"]]
    embeddings = np.array([voiceprint.predict(*signal)["embedding"] for signal in signals])
    assert error_rate(chosen, embeddings, lambda a, b: a < b) < 0.45


def test_known_answer():
    """A second way: sum over frequencies, band by band, with the cosines written out; all is active."""
    signal = voice(0.5)
    signal = signal - signal.mean()
    mel = np.linspace(*(2595 * np.log10(1 + np.array([100, 7000]) / 700)), 26)
    corners = 700 * (10 ** (mel / 2595) - 1)
    hertz = np.arange(257) * 16000 / 512
    rows = []
    for start in range(0, len(signal) - FRAME + 1, HOP):
        frame = signal[start : start + FRAME]
        power = np.abs(np.fft.fft(np.hamming(FRAME) * frame, 512)[:257]) ** 2
        triangles = [np.interp(hertz, corners[b : b + 3], [0, 1, 0]) for b in range(24)]
        rows.append([triangle @ power for triangle in triangles])
    bands = 10 * np.log10(np.array(rows) + 1e-6 * np.max(rows) + 1e-10)
    cepstra = np.array(
        [
            [
                math.sqrt(2 / 24) * sum(row[b] * math.cos(math.pi * n * (b + 0.5) / 24) for b in range(24))
                for n in range(1, 20)
            ]
            for row in bands
        ]
    )
    expected = np.concatenate([cepstra.mean(axis=0), cepstra.std(axis=0)])
    np.testing.assert_allclose(extract(signal, 16000), expected, atol=1e-6)


def test_gain_changes_nothing():
    signal = voice()
    np.testing.assert_allclose(extract(0.1 * signal, 16000), extract(signal, 16000), atol=0.01)


def test_pauses_change_nothing_much(rng):
    noise, pause = 0.1 * rng.standard_normal(32000), np.zeros(16000)
    found = extract(np.concatenate([pause, noise, pause]), 16000)
    np.testing.assert_allclose(found, extract(noise, 16000), atol=0.5)
    assert np.abs(extract(noise, 16000) - extract(voice(), 16000)).max() > 10


def test_deviation_is_that_over_time(rng):
    noise = 0.1 * rng.standard_normal(16000)
    low = 0.2 * np.sin(2 * np.pi * 300 * np.arange(16000) / 16000)
    changing = extract(np.concatenate([noise, low]), 16000)[(CEPSTRA - 1) :]
    assert changing[0] > 3 * extract(noise, 16000)[(CEPSTRA - 1) :][0]


@pytest.mark.parametrize("sampling_rate", [22050, 44100, 48000])
def test_sampling_rate_hardly_matters(sampling_rate):
    found = extract(voice(sampling_rate=sampling_rate), sampling_rate)
    np.testing.assert_allclose(found[:5], extract(voice(), 16000)[:5], atol=1.5)


def test_all_of_a_long_signal_counts():
    long = np.resize(voice(), 61 * 16000)  # more frames than are transformed at a time
    assert len(long) / HOP > 2 * BLOCK
    np.testing.assert_allclose(extract(long, 16000), extract(voice(), 16000), atol=0.3)
    other = long.copy()
    other[-16000:] = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    assert np.abs(extract(other, 16000) - extract(long, 16000)).max() > 0.1


def test_first_ten_minutes_count(monkeypatch):
    assert voiceprint.LONGEST == 600
    monkeypatch.setattr(voiceprint, "LONGEST", 20)
    signal = np.random.default_rng(0).standard_normal(25 * 16000)
    np.testing.assert_array_equal(extract(signal, 16000), extract(signal[: 20 * 16000], 16000))
    assert (extract(signal, 16000) != extract(signal[: 15 * 16000], 16000)).any()
