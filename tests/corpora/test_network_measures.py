"""Networks that measure agree with the packages of their weights; without these nothing breaks."""

import importlib

import numpy as np
import pytest

from soundcheck.common import extras
from soundcheck.common.errors import InputError
from soundcheck.corpora import measured
from soundcheck.corpora.measures import MEASURES

pytestmark = pytest.mark.slow

RATE = 16000
speech_share = importlib.import_module("soundcheck.corpora.measures.networks")  # the module


def voice(seconds: float) -> np.ndarray:
    """Make two formants on a moving pitch, with pauses: enough to sound like something."""
    times = np.arange(round(RATE * seconds)) / RATE
    phase = 2 * np.pi * np.cumsum(140 + 14 * np.sin(6 * np.pi * times)) / RATE
    loud = [
        np.exp(-(((140 * k - 600) / 500) ** 2)) + 0.3 * np.exp(-(((140 * k - 1700) / 300) ** 2))
        for k in range(30)
    ]
    sound = sum(own * np.sin(k * phase) for k, own in enumerate(loud))
    return (0.1 * sound * (np.sin(4 * np.pi * times) > -0.3)).astype(np.float32)


@pytest.mark.parametrize("seconds", [3.3, 9.5, 11.7])
def test_predicted_quality_is_that_of_its_package(seconds, rng):
    dnsmos = pytest.importorskip("speechmos.dnsmos")
    noisy = voice(seconds) + rng.normal(0, 0.01, round(RATE * seconds)).astype(np.float32)
    expected = dnsmos.run(noisy, RATE)["ovrl_mos"]
    assert MEASURES["predicted_quality"](noisy, RATE) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_speech_lasts_as_long_as_its_package_says(seed, monkeypatch):
    """Probabilities that wander give every kind of pause; the package makes spans of them."""
    package = pytest.importorskip("silero_vad")
    rng = np.random.default_rng(seed)
    found = np.clip(
        0.45 + np.cumsum(rng.normal(0, 0.15, 600)) * 0.2 + rng.normal(0, 0.12, 600), 0, 1
    ).tolist()
    samples = 600 * speech_share.WINDOW - 100
    spans = package.get_speech_timestamps_from_probs(found, audio_length_samples=samples)
    monkeypatch.setattr(speech_share, "_probabilities", lambda signal: found)
    expected = sum(span["end"] - span["start"] for span in spans) / samples
    assert speech_share.speech_share(np.zeros(samples), RATE) == pytest.approx(expected, abs=5e-5)


def test_probabilities_of_speech_are_those_of_the_package(rng):
    package = pytest.importorskip("silero_vad")
    torch = importlib.import_module("torch")
    model = package.load_silero_vad(onnx=True)
    noisy = voice(2.0) + rng.normal(0, 0.01, 2 * RATE).astype(np.float32)
    expected = model.audio_forward(torch.from_numpy(noisy[np.newaxis]), RATE).numpy().ravel()
    np.testing.assert_allclose(speech_share._probabilities(noisy), expected, atol=1e-5)


@pytest.mark.parametrize("name", ["speech_share", "predicted_quality"])
def test_what_is_not_installed_is_refused_with_the_command(name, monkeypatch):
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda package: None)
    command = f'pip install "soundcheck-speech\\[{MEASURES[name].extra}\\]"'
    with pytest.raises(InputError, match=command):
        measured.check_installed(["level", name])
    measured.check_installed(["level", "pitch"])


@pytest.mark.parametrize("name", ["speech_share", "predicted_quality"])
def test_nothing_is_measured_without_samples(name):
    assert np.isnan(MEASURES[name](np.zeros(0), RATE))
