"""Measures of sounds against signals with known values, and networks against their packages."""

import importlib.util

import numpy as np
import pytest
import scipy.signal
from benchmarks import measured as known
from odd_signals import ODD, voice

from soundcheck.augment.transmission import codec
from soundcheck.common import resources
from soundcheck.common.messages import InputError
from soundcheck.corpora import audio, columns
from soundcheck.corpora.columns import MEASURES
from soundcheck.corpora.measures import recording
from soundcheck.corpora.measures.voice import mean_pitch, speaking_rate

networks = importlib.import_module("soundcheck.corpora.measures.networks")
RATE = 16000
OURS = {name: entry for name, entry in MEASURES.items() if not entry.extra}  # computed without a network
TIME = np.arange(3 * RATE) / RATE


def sine(peak: float = 1.0, frequency: float = 441.0, seconds: float = 1.0) -> np.ndarray:
    return peak * np.sin(2 * np.pi * frequency * np.arange(round(seconds * RATE)) / RATE)


@pytest.mark.parametrize(("kind", "ratio"), [*((kind, 40) for kind in known.STEADY), ("white", 0)])
def test_noise_of_known_strength(kind, ratio, rng):
    mixed = known.mixed(known.syllables(rng, 6.0), known.noise(kind, 6 * RATE, rng), ratio)
    assert recording.signal_to_noise(mixed, RATE) == pytest.approx(ratio, abs=1)


def test_noise_behind_a_synthesised_voice(rng):
    spoken = known.synthesised(3)
    mixed = known.mixed(spoken, known.noise("white", len(spoken), rng), 10)
    for signal in (mixed, np.pad(mixed, RATE), mixed + 0.5):  # what is padded or offset does not count
        assert recording.signal_to_noise(signal, RATE) == pytest.approx(10, abs=1)


def test_signals_without_noise_or_without_speech(rng):
    assert np.isnan(recording.signal_to_noise(sine(0.5), RATE))
    steady = recording.signal_to_noise(0.1 * rng.standard_normal(3 * RATE), RATE)
    assert np.isnan(steady) or steady < -10
    clean = known.syllables(rng)  # nothing is cleaner than its samples
    ratio = recording.signal_to_noise(0.1 * clean / np.sqrt(np.mean(clean**2)), RATE)
    assert ratio <= 10 * np.log10(0.1**2 / (2**-30 / 12)) + 0.01


def test_level_and_duration_of_known_signals():
    assert recording.level(np.tile([1.0, -1.0], 100), RATE) == 0
    assert recording.level(sine(1.0), RATE) == pytest.approx(-3.01, abs=0.01)
    assert recording.level(sine(0.1), RATE) == pytest.approx(-23.01, abs=0.01)
    assert recording.level(np.concatenate([sine(), np.zeros(RATE)]), RATE) == pytest.approx(-6.02, abs=0.01)
    assert recording.duration(np.zeros(24000), RATE) == 1.5


@pytest.mark.parametrize(("edge", "kind"), [(1000, "noise"), (7000, "syllables")])
def test_edge_of_a_low_pass(edge, kind, rng):
    signal = rng.standard_normal(3 * RATE) if kind == "noise" else known.syllables(rng)
    taps = scipy.signal.firwin(801, edge, fs=RATE, window=("kaiser", 10))
    low = scipy.signal.oaconvolve(0.1 * signal, taps, mode="same")
    # Neither hum nor the noise of 16 bit moves it.
    rounded = np.round((low + 0.01 * sine(1, 50, len(low) / RATE)) * 2**15) / 2**15
    for signal in (low, rounded):
        assert recording.bandwidth(signal, RATE) == pytest.approx(edge, abs=200)


def test_telephone_speech(rng):
    spoken = known.synthesised(0)
    spoken = known.mixed(spoken, rng.standard_normal(len(spoken)), 40)
    assert recording.bandwidth(spoken, RATE) > 7000
    narrow = audio.resampled(audio.resampled(spoken, RATE, 8000), 8000)
    for call in (codec(spoken, RATE, rng, name="amr-nb", bit_rate=12200), narrow):
        assert 3300 <= recording.bandwidth(call, RATE) <= 4000


@pytest.mark.parametrize(("limit", "bits"), [(1.0, 16), (0.5, None), (0.02, 16)])
def test_share_of_clipped_samples(limit, bits):
    loud = sine(limit / 0.7, 441)
    if bits:
        loud, limit = np.round(loud * 2**15) / 2**15, min(round(limit * 2**15), 2**15 - 1) / 2**15
    clipped, share = np.clip(loud, -limit, limit), np.mean(np.abs(loud) >= limit)
    assert recording.clipping(clipped, RATE) == recording.clipping(clipped.astype(np.float32), RATE) == share
    one_side = np.minimum(sine(0.8), 0.3)
    assert recording.clipping(one_side, RATE) == np.mean(sine(0.8) >= 0.3)


def test_round_tops_voices_and_noise_are_not_clipped(rng):
    tops = [sine(peak, frequency) for peak in (0.9, 0.3, 0.01, 0.001) for frequency in (60, 441)]
    for signal in (*tops, *map(known.synthesised, range(3)), 0.1 * rng.standard_normal(RATE)):
        assert recording.clipping(np.round(signal * 2**15) / 2**15, RATE) == 0


@pytest.mark.parametrize(("noise", "share"), [(0, 0.2), (0.03, 0.8)])
def test_share_of_silence(noise, share, rng):
    speech = np.where(np.arange(4 * RATE) % RATE < (1 - share) * RATE, 0.3, 0.0)
    signal = speech * rng.standard_normal(4 * RATE) + noise * rng.standard_normal(4 * RATE)
    assert recording.silence(signal, RATE) == pytest.approx(share, abs=0.03)
    assert recording.silence(np.zeros(RATE), RATE) == 1
    for steady in (0.1 * rng.standard_normal(3 * RATE), np.zeros(100), sine(0.5)):
        assert np.isnan(recording.silence(steady, RATE))


@pytest.mark.parametrize(("rate", "noise"), [(2, None), (6, 20)])
def test_syllables_a_second(rate, noise, rng):
    signal = voice(130, 3) * (0.5 - 0.5 * np.cos(2 * np.pi * rate * TIME)) ** 2
    if noise:
        signal = known.mixed(signal, rng.standard_normal(len(signal)), noise)
    assert speaking_rate(signal, RATE) == pytest.approx(rate, rel=0.1)


def test_a_voice_has_a_pitch_and_noise_neither_pitch_nor_syllables(rng):
    for frequency in (90, 340):
        assert mean_pitch(voice(frequency).astype(np.float32), RATE) == pytest.approx(frequency, rel=0.01)
    hiss = 0.1 * rng.standard_normal(len(TIME)) * (0.5 - 0.5 * np.cos(2 * np.pi * 4 * TIME))
    assert np.isnan(speaking_rate(hiss, RATE)) or speaking_rate(hiss, RATE) < 1
    assert np.isnan(mean_pitch(rng.normal(0, 0.1, RATE).astype(np.float32), RATE))


PACKAGES = {"predicted_quality": "speechmos", "speech_share": "silero_vad"}  # of measures with an extra
# A network hears nine seconds of each, or many times that: those that differ in kind, cut to one piece.
KINDS = ("empty", "ten samples", "silence", "impulse", "beyond full scale", "half precision")


@pytest.mark.parametrize(
    "name", [*OURS, "speech_share", pytest.param("predicted_quality", marks=pytest.mark.slow)]
)
def test_odd_signals_give_a_number_or_nothing(name):
    if name in PACKAGES and not importlib.util.find_spec(PACKAGES[name]):  # to import it takes seconds
        pytest.skip(f"{PACKAGES[name]} is not installed")
    few = [ODD[kind][:10_000] for kind in KINDS]
    of = few if name in PACKAGES else [odd for odd in ODD.values() if np.isfinite(odd).all()]
    for signal in (odd.astype(np.float32) for odd in of):
        signal.setflags(write=False)
        value = MEASURES[name](signal, RATE)
        assert isinstance(value, float) and not np.isinf(value)
    nothing = name not in ("duration", "clipping", "silence")
    assert name in PACKAGES or np.isnan(MEASURES[name](np.zeros(RATE, np.float32), RATE)) == nothing


def test_loudness_changes_the_level_only(rng):
    signal = known.mixed(known.syllables(rng), known.noise("white", 5 * RATE, rng), 20) * 0.1
    for name, measure in OURS.items():
        before, after = measure(signal, RATE), measure(signal * 0.05, RATE)
        expected = before + 20 * np.log10(0.05) if name == "level" else before
        assert after == pytest.approx(expected, rel=1e-3, abs=0.02), name


def test_power_spectra(rng, monkeypatch):
    """Frames are those of a plain loop without muted ones; of long sounds not more than memory bears."""
    signal = (0.1 * rng.standard_normal(RATE)).astype(np.float32)
    signal[3000:3064] = 0.25  # 4 ms of equal samples
    signal[9000:9063] = 0.25  # one sample less
    window, expected = np.hanning(513)[:-1], []
    starts = range(0, len(signal) - 511, 128)
    for start in starts:
        frame = signal[start : start + 512].astype(np.float64)
        if not (start <= 3000 and 3064 <= start + 512):
            spectrum = np.fft.rfft((frame - signal.mean(dtype=np.float64)) * window)
            expected.append(np.abs(spectrum) ** 2 * np.r_[1, np.full(255, 2), 1] / 512 / np.sum(window**2))
    power, _ = recording.power_spectra(signal, RATE)
    assert len(power) == len(starts) - 4 and power == pytest.approx(np.array(expected))
    signal = 0.1 * rng.standard_normal(5 * RATE)
    assert recording.power_spectra(signal, RATE)[0].sum(axis=1).mean() == pytest.approx(
        np.mean(signal**2), rel=0.01
    )
    monkeypatch.setattr("soundcheck.corpora.measures.recording.MOST_FRAMES", 1000)
    power, frequencies = recording.power_spectra(0.1 * rng.standard_normal(30 * RATE), RATE)
    assert 950 < len(power) <= 1000 and power.shape[1] == len(frequencies) == 257


def noisy_voice(seconds: float, rng) -> np.ndarray:
    """Make a voice with pauses in noise: enough to sound like something."""
    time = np.arange(round(RATE * seconds)) / RATE
    pauses = np.sin(4 * np.pi * time) > -0.3
    return (voice(140, seconds) * pauses + rng.normal(0, 0.01, len(time))).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2.5, 11.7])
def test_predicted_quality_is_that_of_its_package(seconds, rng, monkeypatch):
    dnsmos = pytest.importorskip("speechmos.dnsmos")
    # Those of another score, which is not of interest: librosa would be compiled for them.
    monkeypatch.setattr(dnsmos.DNSMOS, "audio_melspec", lambda *_, **__: np.zeros((900, 120)))
    signal = noisy_voice(seconds, rng)
    expected = dnsmos.run(signal, RATE)["ovrl_mos"]
    assert MEASURES["predicted_quality"](signal, RATE) == pytest.approx(expected, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_speech_lasts_as_long_as_its_package_says(seed, monkeypatch):
    """Probabilities that wander give every kind of pause; the package makes spans of them."""
    package = pytest.importorskip("silero_vad")
    rng = np.random.default_rng(seed)
    wander = 0.45 + np.cumsum(rng.normal(0, 0.15, 600)) * 0.2 + rng.normal(0, 0.12, 600)
    probabilities = np.clip(wander, 0, 1).tolist()
    samples = 600 * networks.WINDOW - 100
    spans = package.get_speech_timestamps_from_probs(probabilities, audio_length_samples=samples)
    monkeypatch.setattr(networks, "_probabilities", lambda signal: probabilities)
    expected = sum(span["end"] - span["start"] for span in spans) / samples
    assert networks.speech_share(np.zeros(samples), RATE) == pytest.approx(expected, abs=5e-5)


@pytest.mark.slow
def test_probabilities_of_speech_are_those_of_the_package(rng):
    package = pytest.importorskip("silero_vad")
    torch = importlib.import_module("torch")
    signal = noisy_voice(2.0, rng)
    model = package.load_silero_vad(onnx=True)
    expected = model.audio_forward(torch.from_numpy(signal[np.newaxis]), RATE).numpy().ravel()
    np.testing.assert_allclose(networks._probabilities(signal), expected, atol=1e-5)


@pytest.mark.parametrize("name", PACKAGES)
def test_what_is_not_installed_is_refused_with_the_command(name, monkeypatch):
    assert np.isnan(MEASURES[name](np.zeros(0), RATE))
    monkeypatch.setattr(resources.importlib.util, "find_spec", lambda package: None)
    command = f'pip install "soundcheck-speech\\[{MEASURES[name].extra}\\]"'
    with pytest.raises(InputError, match=command):
        columns.check_installed(["level", name])
    columns.check_installed(["level", "pitch"])
