"""Features of the demo model: right on simple signals, finite on all."""

import warnings

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from soundcheck_demo.models.features import FALLBACK, NAMES, SAMPLING_RATE, extract

TIME = np.arange(2 * SAMPLING_RATE) / SAMPLING_RATE


def named(signal, sampling_rate=SAMPLING_RATE):
    return dict(zip(NAMES, extract(signal, sampling_rate), strict=True))


def voice(pitch=150.0, seconds=2.0, sampling_rate=SAMPLING_RATE, level=0.05):
    """Sum harmonics that fall by 6 dB an octave."""
    time = np.arange(round(seconds * sampling_rate)) / sampling_rate
    harmonics = np.arange(1, int(4000 / pitch))
    return level * sum(np.sin(2 * np.pi * n * pitch * time) / n for n in harmonics)


AWKWARD = {
    "empty": np.zeros(0),
    "one sample": np.ones(1),
    "ten samples": np.linspace(-1, 1, 10),
    "shorter than Praat's window": voice(seconds=0.04),
    "just Praat's window": voice(seconds=0.0401),
    "silence": np.zeros(16000),
    "direct current": np.full(16000, 0.5),
    "one bit": np.resize([0, 1 / 32768], 16000),
    "impulse": np.eye(1, 16000, 5)[0],
    "square wave": np.resize(np.repeat([-1.0, 1.0], 50), 16000),
    "beyond full scale": 1e30 * voice(),
    "not finite": np.resize([0.1, np.nan, np.inf, -np.inf], 4000),
    "half precision": voice().astype(np.float16),
    "two minutes": np.resize(voice(), 120 * 16000),
}


def test_finite_on_awkward_signals():
    for name, signal in AWKWARD.items():
        signal.flags.writeable = False
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = extract(signal, SAMPLING_RATE)
        assert found.shape == (len(NAMES),) and np.isfinite(found).all(), name


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
def test_nothing_to_measure_gives_the_fallback(name):
    assert named(AWKWARD[name]) == FALLBACK


@pytest.mark.parametrize("pitch", [100.0, 200.0, 400.0])
def test_pitch_in_semitones(pitch):
    found = named(voice(pitch))
    assert found["pitch_median"] == pytest.approx(12 * np.log2(pitch / 100), abs=0.1)
    assert found["pitch_range"] < 0.1
    assert found["voiced_share"] > 0.95
    assert found["periodicity"] > 0.95


def test_pitch_slope_of_a_glide():
    phase = 2 * np.pi * np.cumsum(100 * 2 ** (TIME / 2)) / SAMPLING_RATE  # one octave in two seconds
    found = named(0.1 * sum(np.sin(n * phase) / n for n in range(1, 10)))
    assert found["pitch_slope"] == pytest.approx(12, abs=1)
    assert found["pitch_range"] == pytest.approx(0.7 * 12, abs=1)


def test_noise_has_no_pitch(rng):
    assert named(0.1 * rng.standard_normal(SAMPLING_RATE))["voiced_share"] < 0.1


def test_gain_moves_the_level_only():
    signal = voice()
    soft, loud = named(signal), named(2 * signal)
    assert loud["level_high"] - soft["level_high"] == pytest.approx(20 * np.log10(2), abs=1e-3)
    for name in set(NAMES) - {"level_high"}:
        assert loud[name] == pytest.approx(soft[name], abs=0.01), name


def test_brighter_spectrum_has_flatter_tilt(rng):
    noise = rng.standard_normal(SAMPLING_RATE)
    spectrum = np.fft.rfft(noise)
    hertz = np.maximum(np.fft.rfftfreq(len(noise), 1 / SAMPLING_RATE), 50)
    white, pink = named(0.01 * noise), named(0.1 * np.fft.irfft(spectrum / np.sqrt(hertz)))
    assert white["tilt"] == pytest.approx(0, abs=0.5)
    assert pink["tilt"] == pytest.approx(-3, abs=0.5)  # power falls in inverse proportion to frequency
    assert pink["centroid"] < white["centroid"]
    assert pink["brightness"] < white["brightness"]


def test_bursts_are_counted():
    bursts = voice() * (0.01 + np.sin(np.pi * 4 * TIME) ** 2)  # four a second
    assert named(bursts)["syllable_rate"] == pytest.approx(4, abs=0.6)


def test_sampling_rate_hardly_matters():
    low, high = named(voice(), 16000), named(voice(sampling_rate=48000), 48000)
    for name in ("pitch_median", "level_high", "tilt", "active_seconds"):
        assert high[name] == pytest.approx(low[name], abs=0.2), name


def test_first_minute_counts():
    signal = np.concatenate([np.resize(voice(), 60 * SAMPLING_RATE), voice(300.0)])
    np.testing.assert_array_equal(
        extract(signal, SAMPLING_RATE), extract(signal[: 60 * SAMPLING_RATE], SAMPLING_RATE)
    )
