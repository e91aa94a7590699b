"""Voiceprints: train once, embed every signal, tell voices apart, not perfectly."""

import math
import warnings

import audiofile
import numpy as np
import pandas as pd
import pytest
from odd_signals import ODD, voice

from soundcheck.common import store
from soundcheck.metrics.additive import value
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck_demo.models import voiceprint
from soundcheck_demo.models.features import FRAME, HOP
from soundcheck_demo.models.voiceprint import BLOCK, NAMES, extract
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


def error_rates(table, signals, rate=16000):
    """Equal error rates over all pairs, over non-targets of the other sex, and within the sexes."""
    embeddings = np.array([voiceprint.predict(signal, rate)["embedding"] for signal in signals])
    first, second = np.triu_indices(len(table), 1)
    scores = np.einsum("nk,nk->n", embeddings[first], embeddings[second])
    speaker = table["speaker"].to_numpy()
    sex = table["sex"].to_numpy() if "sex" in table else speaker
    same, alike = speaker[first] == speaker[second], sex[first] == sex[second]
    rates = []
    for chosen in (same | True, same | ~alike, alike):
        pairs = speaker[first[chosen]], speaker[second[chosen]]
        rates.append(value(equal_error_rate(Trials.of(scores[chosen], same[chosen], *pairs))))
    return rates


@pytest.mark.parametrize("sampling_rate", [8000, 16000, 44100])
def test_odd_signals(trained, sampling_rate, monkeypatch):
    for name, signal in (ODD | {"two dimensions": voice().reshape(1, -1)}).items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cepstra, answer = extract(signal, sampling_rate), voiceprint.predict(signal, sampling_rate)
        assert cepstra.shape == (SIZE,) and np.isfinite(cepstra).all(), name
        embedding = answer["embedding"]
        assert list(answer) == ["embedding"] and (embedding.dtype, embedding.shape) == (np.float32, (SIZE,))
        assert np.linalg.norm(embedding) == pytest.approx(1, abs=1e-5), name
    mean = np.array(voiceprint.TRAINING.train(trained, size="small")["mean"])
    monkeypatch.setattr(voiceprint, "extract", lambda *_: mean)  # which has no direction
    assert np.linalg.norm(voiceprint.predict(signal, 16000)["embedding"]) == pytest.approx(1)


def test_tells_people_apart_a_little(trained, speech):
    """People are not what it was trained on, and 8 kHz is not what it expects; chance is 0.5."""
    table = pd.read_csv(speech / "segments.csv").groupby("speaker").head(20).reset_index(drop=True)
    assert error_rates(table, [audiofile.read(speech / name)[0] for name in table["file"]], 8000)[0] < 0.45


@pytest.mark.slow
def test_full_model_is_good_but_not_perfect(full_cache, monkeypatch, speech_of):
    monkeypatch.setenv("SOUNDCHECK_CACHE", str(full_cache))
    monkeypatch.delenv("SOUNDCHECK_DEMO_SIZE", raising=False)
    segments = speech_of(corpus.build(full_cache, jobs=2))
    voiceprint.prepare()
    _, across, within = error_rates(*segments)
    assert 0.15 < within < 0.25 and 0.03 < across < 0.1


def test_training_is_reproducible_and_its_parameters_plain_numbers(trained):
    stored = store.read(voiceprint.TRAINING.file(trained, "small"))
    assert voiceprint.TRAINING.fit(corpus.build(trained, size="small"), 1, False) == stored
    assert (stored["speakers"], stored["segments"], stored["features"]) == (4, 96, list(NAMES))
    assert np.shape(stored["mean"]) == (SIZE,) and np.shape(stored["map"]) == (SIZE, SIZE)
    assert np.isfinite(stored["map"]).all()
    assert all(value == float(f"{value:.6g}") for value in stored["mean"])


# The map that makes speakers vary alike in all directions


def test_covariance_within_speakers_becomes_the_identity_in_any_units(rng):
    """Features of six speakers, correlated and of different scales."""
    speakers = np.repeat(list("abcdef"), 50)
    centres = np.repeat(rng.standard_normal((6, SIZE)), 50, axis=0)
    within = rng.standard_normal((300, SIZE)) @ rng.standard_normal((SIZE, SIZE))
    values = (centres + within) * np.logspace(-2, 2, SIZE) + 7.0

    def mapped(values, **options):
        parameters = voiceprint.fit(values, speakers, **options)
        return (values - np.array(parameters["mean"])) @ np.array(parameters["map"])

    result = mapped(values, shrinkage=0.0)
    rest = result - pd.DataFrame(result).groupby(speakers).transform("mean").to_numpy()
    np.testing.assert_allclose(rest.T @ rest / (300 - 6), np.eye(SIZE), atol=0.01)
    np.testing.assert_allclose(result.mean(axis=0), 0, atol=0.01)
    np.testing.assert_allclose(mapped(values), mapped(values * np.logspace(3, -3, SIZE)), atol=0.01)


# Cepstra


def test_cepstra_are_those_of_plain_sums():
    """A second way: sum over frequencies, band by band, with the cosines written out; all is active."""
    signal = voice(seconds=0.5)
    signal = signal - signal.mean()
    mel = np.linspace(*(2595 * np.log10(1 + np.array([100, 7000]) / 700)), 26)
    corners, hertz, rows = 700 * (10 ** (mel / 2595) - 1), np.arange(257) * 16000 / 512, []
    for start in range(0, len(signal) - FRAME + 1, HOP):
        frame = signal[start : start + FRAME]
        power = np.abs(np.fft.fft(np.hamming(FRAME) * frame, 512)[:257]) ** 2
        rows.append([np.interp(hertz, corners[b : b + 3], [0, 1, 0]) @ power for b in range(24)])
    bands = 10 * np.log10(np.array(rows) + 1e-6 * np.max(rows) + 1e-10)
    cosines = [[math.cos(math.pi * n * (b + 0.5) / 24) for n in range(1, 20)] for b in range(24)]
    cepstra = math.sqrt(2 / 24) * bands @ np.array(cosines)
    expected = np.concatenate([cepstra.mean(axis=0), cepstra.std(axis=0)])
    np.testing.assert_allclose(extract(signal, 16000), expected, atol=1e-6)


def test_all_of_a_long_signal_counts_up_to_a_limit(monkeypatch):
    long = np.resize(voice(), 61 * 16000)  # more frames than are transformed at a time
    assert len(long) / HOP > 2 * BLOCK
    np.testing.assert_allclose(extract(long, 16000), extract(voice(), 16000), atol=0.3)
    other = long.copy()
    other[-16000:] = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    assert np.abs(extract(other, 16000) - extract(long, 16000)).max() > 0.1
    monkeypatch.setattr(voiceprint, "LONGEST", 60)
    np.testing.assert_array_equal(extract(other, 16000), extract(other[: 60 * 16000], 16000))
