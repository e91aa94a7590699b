"""Features of the demo model: right on simple signals, finite on all."""

import warnings

import numpy as np
import pytest
import scipy.signal
from odd_signals import ODD, voice

from soundcheck_demo.models.features import FALLBACK, NAMES, SAMPLING_RATE, extract, standing_out

TIME = np.arange(2 * SAMPLING_RATE) / SAMPLING_RATE


def named(signal, sampling_rate=SAMPLING_RATE):
    return dict(zip(NAMES, extract(signal, sampling_rate), strict=True))


def test_finite_on_odd_signals_and_any_noise():
    rng = np.random.default_rng(0)
    noises = {f"noise {n}": 10 ** rng.uniform(-8, 2) * rng.standard_normal(300 * n) for n in range(15)}
    for name, signal in (ODD | noises | {"two minutes": np.resize(voice(), 120 * 16000)}).items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            features = extract(signal, 22050 if name in noises else SAMPLING_RATE)
        assert features.shape == (len(NAMES),) and np.isfinite(features).all(), name

    for name in ("silence", "direct current", "empty", "one bit"):  # nothing to measure
        assert named(ODD[name]) == FALLBACK


def test_pitch_in_semitones_and_its_slope(rng):
    for pitch in (100.0, 200.0, 400.0):
        result = named(voice(pitch))
        assert result["pitch_median"] == pytest.approx(12 * np.log2(pitch / 100), abs=0.1)
        assert result["pitch_range"] < 0.1 and min(result["voiced_share"], result["periodicity"]) > 0.95
    phase = 2 * np.pi * np.cumsum(100 * 2 ** (TIME / 2)) / SAMPLING_RATE  # one octave in two seconds
    result = named(0.1 * sum(np.sin(n * phase) / n for n in range(1, 10)))
    assert result["pitch_slope"] == pytest.approx(12, abs=1)
    assert result["pitch_range"] == pytest.approx(0.7 * 12, abs=1)
    assert named(0.1 * rng.standard_normal(SAMPLING_RATE))["voiced_share"] < 0.1


def test_gain_moves_the_level_only_and_the_rate_hardly_matters():
    soft, loud, fast = named(voice()), named(2 * voice()), named(voice(rate=48000), 48000)
    assert loud.pop("level_high") - soft["level_high"] == pytest.approx(20 * np.log10(2), abs=1e-3)
    assert loud == pytest.approx({name: soft[name] for name in loud}, abs=0.01)
    for name in ("pitch_median", "level_high", "tilt", "active_seconds"):
        assert fast[name] == pytest.approx(soft[name], abs=0.2), name


def test_syllables_are_counted_at_the_maxima_that_scipy_finds():
    rng = np.random.default_rng(0)
    for count in range(1, 200):
        values = rng.normal(scale=2, size=count).cumsum()
        for each in (values, values.round()):  # with plateaus
            assert standing_out(each, 2) == scipy.signal.find_peaks(each, prominence=2)[0].tolist()
