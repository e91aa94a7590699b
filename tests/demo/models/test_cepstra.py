"""Cepstra: right on simple spectra, finite on all signals, blind to gain."""

import math
import warnings

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from soundcheck_demo.models import cepstra
from soundcheck_demo.models.cepstra import BLOCK, CEPSTRA, NAMES, extract
from soundcheck_demo.models.features import FRAME, HOP

COUNT = CEPSTRA - 1


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


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("sampling_rate", [8000, 16000, 44100])
def test_finite_on_awkward_signals(name, sampling_rate):
    signal = AWKWARD[name].copy()
    signal.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = extract(signal, sampling_rate)
    assert found.shape == (len(NAMES),) == (2 * COUNT,)
    assert np.isfinite(found).all()


@hypothesis.given(
    st.integers(0, 4000),
    st.integers(0, 2**32 - 1),
    st.floats(-8, 2),
    st.sampled_from([8000, 16000, 22050, 48000]),
)
@hypothesis.settings(max_examples=20, deadline=None)
def test_finite_on_any_noise(samples, seed, magnitude, sampling_rate):
    signal = 10**magnitude * np.random.default_rng(seed).standard_normal(samples)
    assert np.isfinite(extract(signal.astype(np.float32), sampling_rate)).all()


@pytest.mark.parametrize("name", ["silence", "direct current", "empty", "one bit"])
def test_nothing_active_gives_zeros(name):
    np.testing.assert_array_equal(extract(AWKWARD[name], 16000), 0)


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


def test_spectral_slope_moves_the_first_cepstrum():
    flat, steep = extract(voice(slope=0.5), 16000), extract(voice(slope=2), 16000)
    assert steep[NAMES.index("mean_1")] > flat[NAMES.index("mean_1")] + 10


def test_deviation_is_that_over_time(rng):
    noise = 0.1 * rng.standard_normal(16000)
    low = 0.2 * np.sin(2 * np.pi * 300 * np.arange(16000) / 16000)
    changing = extract(np.concatenate([noise, low]), 16000)[COUNT:]
    assert changing[0] > 3 * extract(noise, 16000)[COUNT:][0]


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
    assert cepstra.LONGEST == 600
    monkeypatch.setattr(cepstra, "LONGEST", 20)
    signal = np.random.default_rng(0).standard_normal(25 * 16000)
    np.testing.assert_array_equal(extract(signal, 16000), extract(signal[: 20 * 16000], 16000))
    assert (extract(signal, 16000) != extract(signal[: 15 * 16000], 16000)).any()


def test_input_is_left_alone():
    signal = voice().astype(np.float32)
    before = signal.copy()
    extract(signal, 16000)
    np.testing.assert_array_equal(signal, before)
