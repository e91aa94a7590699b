"""The neural encoder: says how to install it, and embeds every signal if it is."""

import importlib.metadata
import importlib.util
import sys
import warnings

import audiofile
import numpy as np
import pytest

from soundcheck_demo.models import resemblyzer_encoder as encoder

pytestmark = pytest.mark.slow

installed = pytest.mark.skipif(
    importlib.util.find_spec("resemblyzer") is None, reason='needs pip install "soundcheck-speech[neural]"'
)
REMEDY = r'not installed \(.*resemblyzer.*\)\. Install it: pip install "soundcheck-speech\[neural\]"\.$'


@pytest.fixture
def absent(monkeypatch):
    """Let the package be missing, whether it is or not."""

    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setitem(sys.modules, "resemblyzer", None)
    monkeypatch.setattr(importlib.metadata, "version", version)
    encoder._loaded.cache_clear()
    yield
    encoder._loaded.cache_clear()


@pytest.mark.parametrize(
    "ask", [encoder.prepare, encoder.fingerprint, lambda: encoder.predict(np.zeros(10), 16000)]
)
def test_remedy_without_the_package(absent, ask):
    with pytest.raises(ImportError, match=REMEDY):
        ask()


def voice(seconds=2.0, sampling_rate=16000):
    """Sum harmonics of a pitch that rises and falls; the detector takes it for speech."""
    time = np.arange(round(seconds * sampling_rate)) / sampling_rate
    phase = 2 * np.pi * np.cumsum(140 * (1 + 0.1 * np.sin(2 * np.pi * 2 * time))) / sampling_rate
    sound = sum(np.sin(n * phase) / n for n in range(1, 25))
    return (0.05 * sound * (1.1 + np.sin(2 * np.pi * 3 * time))).astype(np.float32)


def embed(signal, sampling_rate=16000):
    answer = encoder.predict(signal, sampling_rate)
    assert list(answer) == ["embedding"]
    found = answer["embedding"]
    assert found.dtype == np.float32
    assert found.shape == (256,)
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-5)
    return found


AWKWARD = {
    "empty": np.zeros(0),
    "one sample": np.ones(1),
    "shorter than a window": np.linspace(-1, 1, 479),
    "silence": np.zeros(16000),
    "next to silence": np.resize([1e-30, -1e-30], 16000),
    "direct current": np.full(16000, 0.5),
    "beyond full scale": np.resize([1e30, -1e30, 1e20], 5000),
    "not finite": np.resize([0.1, np.nan, np.inf, -np.inf], 4000),
}


@installed
@pytest.mark.parametrize("sampling_rate", [8000, 16000, 44100])
def test_awkward_signals(sampling_rate):
    for signal in map(np.float32, AWKWARD.values()):
        signal.flags.writeable = False
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            embed(signal, sampling_rate)


@installed
def test_does_what_the_package_does():
    resemblyzer = pytest.importorskip("resemblyzer")
    direct = resemblyzer.VoiceEncoder("cpu", verbose=False)
    for signal, sampling_rate in ((voice(), 16000), (voice(3.1, 8000), 8000)):
        expected = direct.embed_utterance(resemblyzer.preprocess_wav(signal, sampling_rate))
        np.testing.assert_allclose(embed(signal, sampling_rate), expected, atol=1e-5)


@installed
def test_answers_depend_on_the_signal_alone(rng):
    torch = pytest.importorskip("torch")
    first = embed(voice())
    embed(rng.standard_normal(30_000).astype(np.float32))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        np.testing.assert_array_equal(embed(voice()), first)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


@installed
def test_fingerprint_names_the_packages():
    assert encoder.fingerprint().startswith("resemblyzer 0.")
    assert "torch" in encoder.fingerprint()


@installed
def test_tells_people_apart(speech):
    import pandas as pd

    table = pd.read_csv(speech / "segments.csv").groupby("speaker").head(10).reset_index(drop=True)
    found = np.array([embed(*audiofile.read(speech / name)) for name in table["file"]])
    alike = found @ found.T
    same = table["speaker"].to_numpy()[:, np.newaxis] == table["speaker"].to_numpy()
    own = same & ~np.eye(len(table), dtype=bool)
    assert alike[own].mean() > alike[~same].mean() + 0.05
