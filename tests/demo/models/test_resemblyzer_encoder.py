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


@installed
def test_does_what_the_package_does_for_every_signal_whatever_was_embedded_before():
    resemblyzer = pytest.importorskip("resemblyzer")
    direct = resemblyzer.VoiceEncoder("cpu", verbose=False)
    signal = voice(rate=8000).astype(np.float32)
    expected = direct.embed_utterance(resemblyzer.preprocess_wav(signal, 8000))
    first = encoder.predict(signal, 8000)["embedding"]
    np.testing.assert_allclose(first, expected, atol=1e-5)
    for odd in ODD.values():
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            embedding = encoder.predict(odd.astype(np.float32), 44100)["embedding"]
        assert (embedding.dtype, embedding.shape) == (np.float32, (256,))
        assert np.linalg.norm(embedding) == pytest.approx(1, abs=1e-5)
    np.testing.assert_array_equal(encoder.predict(signal, 8000)["embedding"], first)
