"""The neural encoder: says how to install it, and embeds every signal if it is."""

import importlib.metadata
import importlib.util
import sys
import warnings

import numpy as np
import pytest
from odd_signals import ODD, voice

from soundcheck_demo.models import resemblyzer_encoder as encoder

pytestmark = pytest.mark.slow

installed = pytest.mark.skipif(
    importlib.util.find_spec("resemblyzer") is None, reason='needs pip install "soundcheck-speech[neural]"'
)
REMEDY = r'not installed \(.*resemblyzer.*\)\. Install it: pip install "soundcheck-speech\[neural\]"\.$'


def test_remedy_without_the_package(monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setitem(sys.modules, "resemblyzer", None)
    monkeypatch.setattr(importlib.metadata, "version", version)
    encoder._loaded.cache_clear()
    for use in (encoder.prepare, encoder.fingerprint, lambda: encoder.predict(np.zeros(10), 16000)):
        with pytest.raises(ImportError, match=REMEDY):
            use()
    encoder._loaded.cache_clear()


def embed(signal, sampling_rate=16000):
    answer = encoder.predict(signal, sampling_rate)
    assert list(answer) == ["embedding"]
    embedding = answer["embedding"]
    assert embedding.dtype == np.float32 and embedding.shape == (256,)
    assert np.linalg.norm(embedding) == pytest.approx(1, abs=1e-5)
    return embedding


@installed
@pytest.mark.parametrize("sampling_rate", [8000, 44100])
def test_odd_signals(sampling_rate):
    for signal in ODD.values():
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            embed(signal.astype(np.float32), sampling_rate)


@installed
def test_does_what_the_package_does_whatever_was_embedded_before(rng):
    resemblyzer, torch = pytest.importorskip("resemblyzer"), pytest.importorskip("torch")
    direct = resemblyzer.VoiceEncoder("cpu", verbose=False)
    for rate in (16000, 8000):
        signal = voice(rate=rate).astype(np.float32)
        expected = direct.embed_utterance(resemblyzer.preprocess_wav(signal, rate))
        np.testing.assert_allclose(embed(signal, rate), expected, atol=1e-5)
    first = embed(signal, 8000)
    embed(rng.standard_normal(30_000).astype(np.float32))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        np.testing.assert_array_equal(embed(signal, 8000), first)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert encoder.fingerprint().startswith("resemblyzer 0.") and "torch" in encoder.fingerprint()
