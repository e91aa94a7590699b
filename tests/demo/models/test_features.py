"""Features of the demo model, right on simple signals and finite on all; what trainings measure and name."""

import warnings

import audiofile
import numpy as np
import pandas as pd
import pytest
import scipy.signal
from odd_signals import ODD, voice

from soundcheck_demo.models.features import FALLBACK, NAMES, SAMPLING_RATE, extract, standing_out
from soundcheck_demo.models.training import Training, measure, segments
from soundcheck_demo.speech import corpus

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


def test_name_of_a_file_follows_everything_that_decides(tmp_path, monkeypatch):
    source = tmp_path / "module.py"
    source.write_text("one = 1\n", "utf-8")

    def name(beginning="demo-x", size="small", packages=("numpy",)):
        return Training(beginning, dict, (str(source),), packages).file(tmp_path, size).name

    names = [name(), name(size="full"), name(packages=("numpy", "scipy")), name("demo-y")]
    assert name() == names[0]
    monkeypatch.setattr(corpus, "fingerprint", lambda *_: "another corpus")
    names.append(name())
    source.write_text("one = 2\n", "utf-8")
    assert len({*names, name()}) == 6


def test_measures_the_training_split_in_its_order(tmp_path):
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(6)], "split": ["train", "test", "train"] * 2})
    table.to_csv(tmp_path / corpus.TABLE, index=False)
    for n in range(6):
        audiofile.write(tmp_path / f"{n}.wav", np.full(100 + n, n / 10), 16000)
    rows = segments(tmp_path, "train")
    assert rows["file"].tolist() == [f"{n}.wav" for n in (0, 2, 3, 5)] and rows.index.tolist() == [0, 1, 2, 3]
    measured = measure(tmp_path, rows["file"], lambda signal, rate: (len(signal), rate, signal.max()), 2)
    np.testing.assert_allclose(measured, [[100 + n, 16000, n / 10] for n in (0, 2, 3, 5)], atol=1e-4)
