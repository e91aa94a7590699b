from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from soundcheck.augment import noise
from soundcheck.augment.level import decibel, peak, rms
from soundcheck.augment.registry import TRANSFORMS
from soundcheck.augment.sounds import Sound, Sounds, SoundSet

RATE = 16000


@pytest.fixture
def signal(rng):
    return (0.1 * rng.standard_normal(3 * RATE)).astype(np.float32)


@pytest.mark.parametrize("frequency", [5000, 5999, 7000])
@pytest.mark.parametrize("snr_db", [40, 45, 50])
def test_tone_has_frequency_level_and_phase(signal, rng, frequency, snr_db):
    toned = noise.additive_tone(signal, RATE, rng, frequency=frequency, snr_db=snr_db)
    tone = toned.astype(np.float64) - signal
    spectrum = np.abs(np.fft.rfft(tone))
    assert np.argmax(spectrum) * RATE / tone.size == pytest.approx(frequency, abs=RATE / tone.size)
    # Amplitude from the energy of a sine, since few samples meet its crest.
    assert decibel(peak(signal)) - decibel(np.sqrt(2) * rms(tone)) == pytest.approx(snr_db, abs=0.1)
    assert toned[0] == signal[0]  # phase 0
    assert tone[1] > 0


def test_tone_known_answer(rng):
    signal = np.array([0.5, 0, 0, -0.5], dtype=np.float32)
    toned = noise.additive_tone(signal, RATE, rng, frequency=4000, snr_db=20)
    assert np.allclose(toned, [0.5, 0.05, 0, -0.55], atol=1e-7)


@pytest.mark.parametrize("offset", [0.1, -0.4])
@pytest.mark.parametrize("based_on", ["rms", "peak", "white", "tone"])
def test_an_offset_counts_neither_as_speech_nor_as_noise(signal, rng, offset, based_on):
    """What is added to a signal with an offset is what is added without, and the offset stays."""
    plain = (0.1 * (signal - signal.mean())).astype(np.float32)
    added = rng.standard_normal(len(plain))
    added -= added.mean()

    def change(one: np.ndarray, other: float) -> np.ndarray:
        if based_on == "white":
            return noise.white_noise(one, RATE, np.random.default_rng(1), snr_db=20)
        if based_on == "tone":
            return noise.additive_tone(one, RATE, rng, frequency=100, snr_db=20)
        return noise.mix(one, added + other, 20, based_on)

    with_offset = change(plain + np.float32(offset), 7 * offset) - offset
    np.testing.assert_allclose(with_offset, change(plain, 0), atol=2e-6)


@pytest.mark.parametrize("frequency", [0, -5, 8000, 9000, float("nan")])
def test_tone_that_cannot_be_represented(signal, rng, frequency):
    with pytest.raises(ValueError, match=f"frequency is {frequency} Hz. .* half the sampling rate, 8000 Hz"):
        noise.additive_tone(signal, RATE, rng, frequency=frequency, snr_db=40)


@pytest.mark.parametrize("snr_db", [-10, 0, 35, 40, 45])
def test_noise_has_the_ratio(signal, rng, snr_db):
    added = noise.white_noise(signal, RATE, rng, snr_db=snr_db).astype(np.float64) - signal
    assert decibel(rms(signal)) - decibel(rms(added)) == pytest.approx(snr_db, abs=0.1)


def test_noise_is_white_and_gaussian(signal, rng):
    added = noise.white_noise(signal, RATE, rng, snr_db=0).astype(np.float64) - signal
    bands = np.abs(np.fft.rfft(added)[1:]).reshape(8, -1) ** 2
    assert np.allclose(10 * np.log10(bands.mean(axis=1) / bands.mean()), 0, atol=0.3)
    assert scipy.stats.kstest(added / added.std(), "norm").pvalue > 0.01
    assert abs(np.corrcoef(added, signal)[0, 1]) < 0.02


def test_noise_comes_from_the_generator_alone(signal):
    def draw(seed):
        np.random.seed(0)  # noqa: NPY002 (the global state must not matter)
        return noise.white_noise(signal, RATE, np.random.default_rng(seed), snr_db=20) - signal

    first, again, other = draw(1), draw(1), draw(2)
    assert np.array_equal(first, again)
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.02


@pytest.mark.parametrize("snr_db", [121, -121, float("nan")])
@pytest.mark.parametrize("signal", [np.zeros(4, np.float32), np.ones(4, np.float32)])
def test_ratio_out_of_range_is_refused_for_silence_too(signal, rng, snr_db):
    with pytest.raises(ValueError, match=f"snr_db is {snr_db}"):
        noise.white_noise(signal, RATE, rng, snr_db=snr_db)
    with pytest.raises(ValueError, match=f"snr_db is {snr_db}"):
        noise.additive_tone(signal, RATE, rng, frequency=100, snr_db=snr_db)


def test_nothing_is_added_to_silence(rng):
    silent = np.zeros(500, dtype=np.float32)
    assert np.array_equal(noise.white_noise(silent, RATE, rng, snr_db=20), silent)
    assert np.array_equal(noise.additive_tone(silent, RATE, rng, frequency=100, snr_db=20), silent)


def test_full_scale_is_not_clipped(rng):
    signal = np.tile(np.float32([1, -1]), 500)
    assert peak(noise.white_noise(signal, RATE, rng, snr_db=20)) > 1
    assert peak(noise.additive_tone(signal, RATE, rng, frequency=100, snr_db=20)) == pytest.approx(1.1)


@pytest.mark.parametrize(("sound", "kind"), [("coughing", "coughing"), ("music", "music")])
def test_the_offset_of_a_recorded_noise_is_no_noise(signal, sound, kind):
    """Else a cough would begin with a step, and music of a given level would be that of the step."""
    recorded = 0.05 * signal[: RATE // 2]
    recorded -= recorded.mean()

    def heard(offset: float, change: str, **options: object) -> np.ndarray:
        sounds = Sounds({kind: SoundSet(kind, (Sound.of("a", recorded + np.float32(offset)),))})
        function = TRANSFORMS[change].function
        return function(signal, RATE, np.random.default_rng(1), sounds=sounds, **options)

    mixed = {"event": sound} if sound == "coughing" else {"noise": sound}
    for change, options in (
        ("sound_event" if sound == "coughing" else "background_noise", {**mixed, "snr_db": 10}),
        ("sound_alone", {"sound": sound, "level_db": -20}),
    ):
        found = [heard(offset, change, **options) for offset in (0, 0.2)]
        np.testing.assert_allclose(found[1], found[0], atol=1e-4)
