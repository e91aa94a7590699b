"""Voiceprints: train once, embed every signal, tell voices apart, not perfectly."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from odd_signals import ODD, voice

from soundcheck.metrics.additive import value
from soundcheck.metrics.trials import Trials
from soundcheck.metrics.verification import equal_error_rate
from soundcheck_demo.models import voiceprint
from soundcheck_demo.models.features import HOP
from soundcheck_demo.models.voiceprint import BLOCK, NAMES, extract

SIZE = len(NAMES)


@pytest.fixture
def fitted(rng, monkeypatch):
    """Parameters of a model that was trained on what no voice is: 60 segments of 6 speakers."""
    parameters = voiceprint.fit(rng.normal(size=(60, SIZE)), [number % 6 for number in range(60)])
    arrays = {name: np.array(parameters[name]) for name in ("mean", "map")}
    monkeypatch.setattr(voiceprint, "TRAINING", SimpleNamespace(parameters=lambda: arrays))
    return arrays


def error_rates(table, signals):
    """Equal error rates over non-targets of the other sex, and within the sexes."""
    embeddings = np.array([voiceprint.predict(signal, 16000)["embedding"] for signal in signals])
    first, second = np.triu_indices(len(table), 1)
    scores = np.einsum("nk,nk->n", embeddings[first], embeddings[second])
    speaker, sex = table["speaker"].to_numpy(), table["sex"].to_numpy()
    same, alike = speaker[first] == speaker[second], sex[first] == sex[second]
    rates = []
    for chosen in (same | ~alike, alike):
        pairs = speaker[first[chosen]], speaker[second[chosen]]
        rates.append(value(equal_error_rate(Trials.of(scores[chosen], same[chosen], *pairs))))
    return rates


def test_odd_signals(fitted, monkeypatch):
    for name, signal in (ODD | {"two dimensions": voice().reshape(1, -1)}).items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cepstra, answer = extract(signal, 44100), voiceprint.predict(signal, 44100)
        assert cepstra.shape == (SIZE,) and np.isfinite(cepstra).all(), name
        embedding = answer["embedding"]
        assert list(answer) == ["embedding"] and (embedding.dtype, embedding.shape) == (np.float32, (SIZE,))
        assert np.linalg.norm(embedding) == pytest.approx(1, abs=1e-5), name
    monkeypatch.setattr(voiceprint, "extract", lambda *_: fitted["mean"])  # which has no direction
    assert np.linalg.norm(voiceprint.predict(signal, 16000)["embedding"]) == pytest.approx(1)


@pytest.mark.slow
def test_full_model_is_good_but_not_perfect(full_cache, full_corpus, monkeypatch, speech_of):
    monkeypatch.setenv("SOUNDCHECK_CACHE", str(full_cache))
    monkeypatch.delenv("SOUNDCHECK_DEMO_SIZE", raising=False)
    voiceprint.prepare()
    across, within = error_rates(*speech_of(full_corpus))

    assert 0.15 < within < 0.25 and 0.03 < across < 0.1


def test_all_of_a_long_signal_counts_up_to_a_limit(monkeypatch):
    long = np.resize(voice(), 61 * 16000)
    assert len(long) / HOP > 2 * BLOCK  # more frames than are transformed at a time

    np.testing.assert_allclose(extract(long, 16000), extract(voice(), 16000), atol=0.3)
    other = long.copy()
    other[-16000:] = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    assert np.abs(extract(other, 16000) - extract(long, 16000)).max() > 0.1
    monkeypatch.setattr(voiceprint, "LONGEST", 60)
    np.testing.assert_array_equal(extract(other, 16000), extract(other[: 60 * 16000], 16000))
