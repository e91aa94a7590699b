"""Measures of sounds against signals that were made with known values."""

import numpy as np
import pytest
import scipy.signal
from benchmarks import measured as known
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from soundcheck.augment.codec import codec
from soundcheck.corpora import audio
from soundcheck.corpora.measures import MEASURES
from soundcheck.corpora.measures.spectra import bandwidth, power_spectra, signal_to_noise
from soundcheck.corpora.measures.voice import mean_pitch, speaking_rate
from soundcheck.corpora.measures.waveform import clipping, duration, level, silence

RATE = 16000
OURS = {name: own for name, own in MEASURES.items() if not own.extra}  # computed without a network


def buzz(frequency: float, seconds: float = 0.5) -> np.ndarray:
    """Make a voice-like pulse train."""
    time = np.arange(int(seconds * RATE)) / RATE
    return 0.1 * sum(np.cos(2 * np.pi * n * frequency * time) / n for n in range(1, 12))


def sine(peak: float = 1.0, frequency: float = 441.0, seconds: float = 1.0, rate: int = RATE) -> np.ndarray:
    return peak * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)


# Signal-to-noise ratio --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", known.STEADY)
@pytest.mark.parametrize("ratio", [0, 10, 20, 40])
def test_noise_of_known_strength(kind, ratio, rng):
    heard = known.mixed(known.syllables(rng, 6.0), known.noise(kind, 6 * RATE, rng), ratio)
    assert signal_to_noise(heard, RATE) == pytest.approx(ratio, abs=1)


@pytest.mark.parametrize("ratio", [10, 20])
def test_noise_behind_a_synthesised_voice(ratio, rng):
    voice = known.synthesised(3)
    heard = known.mixed(voice, known.noise("white", len(voice), rng), ratio)
    assert signal_to_noise(heard, RATE) == pytest.approx(ratio, abs=1)


def test_what_is_padded_or_offset_does_not_count(rng):
    heard = known.mixed(known.syllables(rng), known.noise("white", 5 * RATE, rng), 15)
    assert signal_to_noise(np.pad(heard, RATE), RATE) == pytest.approx(15, abs=1)
    assert signal_to_noise(heard + 0.5, RATE) == pytest.approx(15, abs=1)


def test_only_noise_has_no_ratio(rng):
    assert np.isnan(signal_to_noise(sine(0.5), RATE))
    steady = signal_to_noise(0.1 * rng.standard_normal(3 * RATE), RATE)
    assert np.isnan(steady) or steady < -10


def test_nothing_is_cleaner_than_its_samples(rng):
    clean = known.syllables(rng)
    found = signal_to_noise(0.1 * clean / np.sqrt(np.mean(clean**2)), RATE)
    assert found <= 10 * np.log10(0.1**2 / (2**-30 / 12)) + 0.01


# Level and duration -----------------------------------------------------------------------------------------


def test_level_of_known_signals():
    assert level(np.tile([1.0, -1.0], 100), RATE) == 0
    assert level(sine(1.0), RATE) == pytest.approx(-3.01, abs=0.01)
    assert level(sine(0.1), RATE) == pytest.approx(-23.01, abs=0.01)
    assert level(np.concatenate([sine(), np.zeros(RATE)]), RATE) == pytest.approx(-6.02, abs=0.01)


def test_duration():
    assert duration(np.zeros(24000), RATE) == 1.5


# Bandwidth --------------------------------------------------------------------------------------------------


def low_pass(signal: np.ndarray, edge: float) -> np.ndarray:
    taps = scipy.signal.firwin(801, edge, fs=RATE, window=("kaiser", 10))
    return scipy.signal.oaconvolve(signal, taps, mode="same")


@pytest.mark.parametrize("edge", [1000, 3400, 4000, 5500, 7000])
@pytest.mark.parametrize("kind", ["noise", "syllables"])
def test_edge_of_a_low_pass(edge, kind, rng):
    signal = rng.standard_normal(3 * RATE) if kind == "noise" else known.syllables(rng)
    heard = low_pass(0.1 * signal, edge)
    assert bandwidth(heard, RATE) == pytest.approx(edge, abs=200)
    # Neither hum nor the noise of 16 bit moves it.
    rounded = np.round((heard + 0.01 * sine(1, 50, len(heard) / RATE)) * 2**15) / 2**15
    assert bandwidth(rounded, RATE) == pytest.approx(edge, abs=200)


@pytest.mark.parametrize("line", ["sampled at 8 kHz", "amr-nb"])
def test_telephone_speech(line, rng):
    spoken = known.synthesised(0)
    voice = known.mixed(spoken, rng.standard_normal(len(spoken)), 40)
    assert bandwidth(voice, RATE) > 7000
    if line == "amr-nb":
        heard = codec(voice, RATE, rng, name="amr-nb", bit_rate=12200)
    else:
        heard = audio.resampled(audio.resampled(voice, RATE, 8000), 8000)
    assert 3300 <= bandwidth(heard, RATE) <= 4000


# Clipping ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1.0, 0.5, 0.02])
@pytest.mark.parametrize("bits", [None, 16])
def test_share_of_clipped_samples(limit, bits):
    loud = sine(limit / 0.7, 441)
    if bits:
        loud, limit = np.round(loud * 2**15) / 2**15, min(round(limit * 2**15), 2**15 - 1) / 2**15
    cut = np.clip(loud, -limit, limit)
    assert clipping(cut, RATE) == np.mean(np.abs(loud) >= limit)
    assert clipping(cut.astype(np.float32), RATE) == np.mean(np.abs(loud) >= limit)


def test_one_side_may_be_clipped():
    loud = sine(0.8)
    assert clipping(np.minimum(loud, 0.3), RATE) == np.mean(loud >= 0.3)


@pytest.mark.parametrize("peak", [0.9, 0.3, 0.01, 0.001])
@pytest.mark.parametrize("frequency", [60, 441])
def test_a_round_top_is_not_clipped(peak, frequency):
    assert clipping(np.round(sine(peak, frequency) * 2**15) / 2**15, RATE) == 0


def test_voices_are_not_clipped(rng):
    for number in range(3):
        assert clipping(np.round(known.synthesised(number) * 2**15) / 2**15, RATE) == 0
    assert clipping(0.1 * rng.standard_normal(RATE), RATE) == 0


# Silence ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0, 1e-4, 0.01, 0.03])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_share_of_silence(noise, share, rng):
    speech = np.where(np.arange(4 * RATE) % RATE < (1 - share) * RATE, 0.3, 0.0)
    heard = speech * rng.standard_normal(4 * RATE) + noise * rng.standard_normal(4 * RATE)
    assert silence(heard, RATE) == pytest.approx(share, abs=0.03)


def test_silence_without_speech(rng):
    assert silence(np.zeros(RATE), RATE) == 1
    assert np.isnan(silence(0.1 * rng.standard_normal(3 * RATE), RATE))
    assert np.isnan(silence(np.zeros(100), RATE)) and np.isnan(silence(sine(0.5), RATE))


# Pitch and rate ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frequency", [90, 145, 230, 340])
def test_pitch_of_a_voice(frequency):
    assert mean_pitch(buzz(frequency).astype(np.float32), RATE) == pytest.approx(frequency, rel=0.01)


@pytest.mark.parametrize("rate", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("noise", [None, 20])
def test_syllables_a_second(rate, noise, rng):
    seconds = 4
    time = np.arange(seconds * RATE) / RATE
    loudness = (0.5 - 0.5 * np.cos(2 * np.pi * rate * time)) ** 2
    heard = buzz(130, seconds) * loudness
    if noise:
        heard = known.mixed(heard, rng.standard_normal(len(heard)), noise)
    assert speaking_rate(heard, RATE) == pytest.approx(rate, rel=0.1)


def test_bursts_without_voice_are_no_syllables(rng):
    time = np.arange(3 * RATE) / RATE
    hiss = 0.1 * rng.standard_normal(len(time)) * (0.5 - 0.5 * np.cos(2 * np.pi * 4 * time))
    assert np.isnan(speaking_rate(hiss, RATE)) or speaking_rate(hiss, RATE) < 1


# All of them ------------------------------------------------------------------------------------------------

OTHERS = sorted({*MEASURES} - {"predicted_quality"})
PACKAGES = {"predicted_quality": "speechmos", "speech_share": "silero_vad"}  # of measures with an extra
ODD = {
    "none": np.zeros(0),
    "one": np.ones(1),
    "five": np.ones(5),
    "silence": np.zeros(RATE),
    "constant": np.full(RATE, 0.25),
    "click": np.eye(1, RATE, 100)[0],
    "short": buzz(200, 0.02),
    "square": np.tile(np.repeat([0.5, -0.5], 40), 100),
    "faint": 1e-9 * buzz(200),
    "loud": 900 * buzz(200),
}


# The network of predicted quality hears nine seconds of each.
@pytest.mark.parametrize("name", [*OTHERS, pytest.param("predicted_quality", marks=pytest.mark.slow)])
@pytest.mark.parametrize("signal", ODD)
def test_odd_signals_give_a_number_or_nothing(name, signal):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    kept = ODD[signal].astype(np.float32)
    given = kept.copy()
    given.setflags(write=False)
    found = MEASURES[name](given, RATE)
    assert isinstance(found, float)
    assert not np.isinf(found)
    assert np.array_equal(kept, given)


@pytest.mark.parametrize("name", sorted({*OURS} - {"duration", "clipping", "silence"}))
def test_silence_has_nothing_to_measure(name):
    assert np.isnan(MEASURES[name](np.zeros(RATE, np.float32), RATE))


def test_noise_has_no_pitch(rng):
    assert np.isnan(mean_pitch(rng.normal(0, 0.1, RATE).astype(np.float32), RATE))


@given(
    arrays.arrays(np.float32, st.integers(0, 3000), elements=st.floats(-1, 1, width=32)),
    st.sampled_from([8000, 16000, 44100]),
)
def test_any_signal_is_measured_twice_alike(signal, rate):
    for name in ("signal_to_noise", "level", "bandwidth", "clipping"):
        first, second = MEASURES[name](signal, rate), MEASURES[name](signal.copy(), rate)
        assert first == second or (np.isnan(first) and np.isnan(second))
        assert not np.isinf(first)


@pytest.mark.parametrize("factor", [0.5, 0.05])
def test_loudness_changes_the_level_only(factor, rng):
    heard = known.mixed(known.syllables(rng), known.noise("white", 5 * RATE, rng), 20) * 0.1
    for name, found in OURS.items():
        before, after = found(heard, RATE), found(heard * factor, RATE)
        expected = before + 20 * np.log10(factor) if name == "level" else before
        assert after == pytest.approx(expected, rel=1e-3, abs=0.02), name


def test_every_measure_says_what_it_is():
    assert all(found.title and found.unit for found in MEASURES.values())
    for found in MEASURES.values():
        assert not found.function.__name__.startswith("_")


def test_ten_minutes_have_no_more_frames_than_memory_bears():
    signal = np.zeros(600 * RATE, np.float32)
    signal[::7] = 0.1
    power, frequencies = power_spectra(signal, RATE)
    assert 19_000 < len(power) <= 20_000
    assert power.shape[1] == len(frequencies) == 257


def test_the_power_of_frames_is_that_of_the_signal(rng):
    signal = 0.1 * rng.standard_normal(5 * RATE)
    power, _ = power_spectra(signal, RATE)
    assert power.sum(axis=1).mean() == pytest.approx(np.mean(signal**2), rel=0.01)


def test_frames_are_those_of_a_plain_loop_without_muted_ones(rng):
    signal = (0.1 * rng.standard_normal(RATE)).astype(np.float32)
    signal[3000:3064] = 0.25  # 4 ms of equal samples
    signal[9000:9063] = 0.25  # one sample less
    window = np.hanning(513)[:-1]
    expected = []
    for start in range(0, len(signal) - 511, 128):
        frame = signal[start : start + 512].astype(np.float64)
        if not (start <= 3000 and 3064 <= start + 512):
            spectrum = np.fft.rfft((frame - signal.mean(dtype=np.float64)) * window)
            expected.append(np.abs(spectrum) ** 2 * np.r_[1, np.full(255, 2), 1] / 512 / np.sum(window**2))
    power, _ = power_spectra(signal, RATE)
    assert len(power) == len(range(0, len(signal) - 511, 128)) - 4
    assert power == pytest.approx(np.array(expected))
