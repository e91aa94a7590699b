"""Codecs and the telephone line against their definitions."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from soundcheck.augment import codec
from soundcheck.augment.level import decibel, peak, rms
from soundcheck.corpora.audio import resampled

RATE = 16000


@pytest.fixture
def speech(rng):
    """Three seconds of coloured noise with pauses, a peak of 0.5."""
    signal = np.convolve(rng.standard_normal(3 * RATE), np.ones(8) / 8, "same")
    signal = signal * (1 + np.sin(np.arange(3 * RATE) / 2500)) ** 2
    return (0.5 * signal / np.abs(signal).max()).astype(np.float32)


def band(signal, low, high):
    spectrum = np.abs(np.fft.rfft(signal.astype(np.float64))) ** 2
    hertz = np.fft.rfftfreq(len(signal), 1 / RATE)
    return 10 * np.log10(spectrum[(hertz >= low) & (hertz < high)].mean() + 1e-30)


@pytest.mark.parametrize("name", sorted(codec.CODECS))
def test_codecs_give_the_signal_back_in_place(speech, rng, name):
    bit_rate = {"amr-nb": 12200, "mp3": 64000, "opus": 64000}.get(name, 64000)
    heard = codec.codec(speech, RATE, rng, name=name, bit_rate=bit_rate)
    assert len(heard) == len(speech)
    both = np.fft.irfft(np.fft.rfft(heard, 2 * len(speech)) * np.conj(np.fft.rfft(speech, 2 * len(speech))))
    lag = int(np.argmax(both))
    assert lag == pytest.approx(80 if name == "amr-nb" else 0, abs=2)  # 5 ms, as on a telephone
    assert decibel(rms(heard)) == pytest.approx(decibel(rms(speech)), abs=3)


@pytest.mark.parametrize("name", ["amr-nb", "g711-a", "g711-mu"])
def test_telephones_have_no_high_frequencies(speech, rng, name):
    heard = codec.codec(speech, RATE, rng, name=name, bit_rate=12200 if name == "amr-nb" else 64000)
    assert band(heard, 4200, 8000) < band(heard, 500, 3000) - 40


@pytest.mark.parametrize("name, law", [("g711-a", "ALAW"), ("g711-mu", "ULAW")])
def test_g711_against_another_implementation(rng, tmp_path, name, law):
    signal = rng.uniform(-0.9, 0.9, 1600).astype(np.float32)
    soundfile.write(tmp_path / "law.wav", signal, 8000, subtype=law)
    expected, _ = soundfile.read(tmp_path / "law.wav", dtype="float32")
    assert np.allclose(codec.coded(signal, name), expected, atol=0.035)  # one step of the loudest
    assert np.corrcoef(codec.coded(signal, name), expected)[0, 1] > 0.9999


def test_fewer_bits_are_worse(rng):
    time = np.arange(2 * RATE) / RATE
    voice = sum(np.sin(2 * np.pi * (140 + 20 * np.sin(3 * time)) * k * time) / k for k in range(1, 20))
    voice = (0.2 * voice).astype(np.float32)
    narrow = resampled(voice, RATE, 8000)

    def distance(bit_rate):
        heard = codec.coded(narrow, "amr-nb", bit_rate)
        frames = [
            np.abs(np.fft.rfft(x.reshape(-1, 320) * np.hanning(320))) for x in (heard[40:-280], narrow[:-320])
        ]
        return rms((np.log10(frames[0] + 1e-3) - np.log10(frames[1] + 1e-3)).ravel())

    assert distance(12200) < distance(7400) < distance(4750)


def compress(signal):
    return codec.compress(signal, 8000)


@pytest.mark.parametrize(
    "level_db, expected_db", [(-60, -56), (-30, -26), (-24, -20), (-16, -12.8), (-10, -8), (-3, -2.4), (0, 0)]
)
def test_compressor_at_a_steady_level(level_db, expected_db):
    steady = np.full(8000, 10 ** (level_db / 20))
    assert 20 * np.log10(compress(steady)[-1]) == pytest.approx(expected_db, abs=1e-3)


def test_compressor_is_smooth_and_rises():
    levels = np.linspace(-40, 0, 400)
    curve = codec._transfer(levels, -20.0, 0.8, 4.0)
    assert (np.diff(curve) > 0).all() and np.abs(np.diff(curve, 2)).max() < 0.01
    assert np.array_equal(codec._transfer(levels, -20.0, 0.8, 0.0) == levels + 4, levels < -20)


@pytest.mark.skipif(not shutil.which("sox"), reason="SoX is the oracle of this test")
def test_compressor_against_sox(speech, tmp_path):
    signal = resampled(speech, RATE, 8000)
    signal = signal / np.abs(signal).max()
    soundfile.write(tmp_path / "in.wav", signal, 8000, subtype="PCM_32")
    command = ["sox", "in.wav", "-b", "32", "out.wav", "compand", "0.01,0.02", "4:-20,-16"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    expected, _ = soundfile.read(tmp_path / "out.wav")
    assert np.abs(compress(signal) - expected).max() < 1e-3


def test_phone_restores_the_level_and_has_its_bands(speech, rng):
    heard = codec.low_quality_phone(speech, RATE, rng)
    assert len(heard) == len(speech)
    assert decibel(rms(heard)) == pytest.approx(decibel(rms(speech)), abs=0.1)
    # Above 4 kHz nothing is left but the hiss, which falls off below 3 kHz.
    assert band(heard, 4300, 7900) < band(heard, 400, 3000) - 15


def test_phone_hiss_is_25_decibels_below_full_scale(speech, rng, monkeypatch):
    monkeypatch.setattr(codec, "coded", lambda signal, *_: np.eye(1, len(signal))[0].astype(np.float32))
    drawn = {}
    draw = codec.pink
    monkeypatch.setattr(codec, "pink", lambda count, rng: drawn.setdefault("noise", draw(count, rng)))
    heard = codec.low_quality_phone(speech, RATE, rng).astype(np.float64)
    sections = codec.butterworth("highpass", 3000.0, 2, RATE).copy()
    hiss = codec.scipy.signal.sosfilt(sections, 10 ** (-25 / 20) * drawn["noise"].astype(np.float64))
    assert np.corrcoef(heard[200:], hiss[200:])[0, 1] > 0.999
    assert peak(drawn["noise"]) == pytest.approx(1)


@pytest.mark.parametrize("count", [1, 2, 79, 161, 1601])
def test_any_length(rng, count):
    signal = rng.uniform(-0.5, 0.5, count).astype(np.float32)
    assert len(codec.low_quality_phone(signal, RATE, rng)) == count
    for name in codec.CODECS:
        bit_rate = 12200 if name == "amr-nb" else 64000
        assert len(codec.codec(signal, RATE, rng, name=name, bit_rate=bit_rate)) == count


@pytest.mark.parametrize(
    "absent, problem",
    [
        ("library", "the codec library PyAV cannot be loaded"),
        ("codec", "PyAV comes without no_such_encoder here, which the codec amr-nb needs"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, absent, problem):
    if absent == "library":
        monkeypatch.setitem(sys.modules, "av", None)
    else:
        monkeypatch.setitem(codec.CODECS, "amr-nb", codec.Codec("no_such_encoder", 8000, "amr"))
    codec.missing.cache_clear()
    try:
        assert codec.missing("amr-nb").startswith(problem)
        with pytest.raises(ValueError, match=problem):
            codec.coded(np.zeros(9, np.float32), "amr-nb")
    finally:
        codec.missing.cache_clear()
