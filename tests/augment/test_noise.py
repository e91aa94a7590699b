"""What is added to speech, against definitions: tones, noises, backgrounds, events."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from made_sounds import sounds

from soundcheck.augment import noise
from soundcheck.augment.level import decibel, peak, rms

RATE = 16000


@pytest.fixture
def speech(rng):
    return (0.05 * rng.standard_normal(3 * RATE)).astype(np.float32)


def parts(mixed, speech):
    """Take a mix apart: how much of the speech is in it, and what was added, at the scale of the speech."""
    mixed, speech = mixed.astype(np.float64), speech.astype(np.float64)
    factor = mixed @ speech / (speech @ speech)
    return factor, mixed / factor - speech


@pytest.mark.parametrize("frequency, snr_db", [(5000, 40), (5999, 45), (7000, 50)])
def test_tone_has_frequency_level_and_phase(speech, rng, frequency, snr_db):
    toned = noise.additive_tone(speech, RATE, rng, frequency=frequency, snr_db=snr_db)
    tone = toned.astype(np.float64) - speech
    assert np.argmax(np.abs(np.fft.rfft(tone))) * RATE / tone.size == pytest.approx(frequency, abs=0.4)
    # Amplitude from the energy of a sine, since few samples meet its crest.
    assert decibel(peak(speech)) - decibel(np.sqrt(2) * rms(tone)) == pytest.approx(snr_db, abs=0.1)
    assert toned[0] == speech[0] and tone[1] > 0  # phase 0
    known = noise.additive_tone(np.float32([0.5, 0, 0, -0.5]), RATE, rng, frequency=4000, snr_db=20)
    assert np.allclose(known, [0.5, 0.05, 0, -0.55], atol=1e-7)


@pytest.mark.parametrize("snr_db", [-10, 0, 40])
def test_noise_has_the_ratio(speech, rng, snr_db):
    added = noise.white_noise(speech, RATE, rng, snr_db=snr_db).astype(np.float64) - speech
    assert decibel(rms(speech)) - decibel(rms(added)) == pytest.approx(snr_db, abs=0.1)


def test_noise_is_white_gaussian_and_from_the_generator_alone(speech, rng):
    added = noise.white_noise(speech, RATE, rng, snr_db=0).astype(np.float64) - speech
    bands = np.abs(np.fft.rfft(added)[1:]).reshape(8, -1) ** 2
    assert np.allclose(10 * np.log10(bands.mean(axis=1) / bands.mean()), 0, atol=0.3)
    assert scipy.stats.kstest(added / added.std(), "norm").pvalue > 0.01
    assert abs(np.corrcoef(added, speech)[0, 1]) < 0.02
    first, again, other = (
        noise.white_noise(speech, RATE, np.random.default_rng(seed), snr_db=20) - speech for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again) and abs(np.corrcoef(first, other)[0, 1]) < 0.02


def test_nothing_is_added_to_silence_and_full_scale_is_not_clipped(rng):
    silent, loud = np.zeros(500, dtype=np.float32), np.tile(np.float32([1, -1]), 500)
    assert not noise.white_noise(silent, RATE, rng, snr_db=20).any()
    assert not noise.additive_tone(silent, RATE, rng, frequency=100, snr_db=20).any()
    assert peak(noise.white_noise(loud, RATE, rng, snr_db=20)) > 1
    assert peak(noise.additive_tone(loud, RATE, rng, frequency=100, snr_db=20)) == pytest.approx(1.1)


@pytest.mark.parametrize("snr_db", [-5, 10, 30])
@pytest.mark.parametrize("based_on", ["rms", "peak"])
def test_mix_has_the_ratio_and_keeps_the_level(speech, rng, snr_db, based_on):
    added = rng.uniform(-1, 1, len(speech))
    mixed = noise.mix(speech, added, snr_db, based_on)
    matrix = np.stack([speech.astype(np.float64), added], axis=1)
    (of_speech, of_noise), *_ = np.linalg.lstsq(matrix, mixed, rcond=None)
    measure = peak if based_on == "peak" else rms
    ratio = decibel(measure(of_speech * speech)) - decibel(measure(of_noise * added))
    assert ratio == pytest.approx(snr_db, abs=0.01)
    assert decibel(rms(mixed)) == pytest.approx(decibel(rms(speech)), abs=0.001)


@pytest.mark.parametrize("kind", ["babble", "environmental", "music", "white"])
def test_background_has_the_ratio_and_the_level(speech, rng, kind):
    material = sounds(**{kind: [rng.standard_normal(7 * RATE) * 0.1 for _ in range(9)]})
    mixed = noise.background_noise(speech, RATE, rng, sounds=material, noise=kind, snr_db=20)
    _, added = parts(mixed, speech)
    assert decibel(rms(speech)) - decibel(rms(added)) == pytest.approx(20, abs=0.1)
    assert decibel(rms(mixed)) == pytest.approx(decibel(rms(speech)), abs=0.1)


def test_a_mix_that_would_clip_is_scaled_as_a_whole(rng):
    loud = np.where(np.arange(4000) // 20 % 2, 0.95, -0.95).astype(np.float32)
    material = sounds(music=[rng.standard_normal(9000)])
    mixed = noise.background_noise(loud, RATE, rng, sounds=material, noise="music", snr_db=0)
    assert 0.999 < peak(mixed) <= 1 and rms(mixed) < rms(loud)


def test_a_short_sound_is_repeated(speech, rng):
    material = sounds(music=[rng.standard_normal(500)])
    mixed = noise.background_noise(speech, RATE, rng, sounds=material, noise="music", snr_db=-60)
    _, added = parts(mixed, speech)
    assert np.corrcoef(added[:500], added[500:1000])[0, 1] > 0.99


def test_babble_has_four_to_seven_voices_of_the_gains():
    """Voices are sines of one frequency each, so their number and gains can be counted in the spectrum."""
    time = np.arange(RATE) / RATE
    material = sounds(babble=[np.sin(2 * np.pi * 100 * (n + 1) * time) for n in range(60)])
    numbers, gains = set(), set()
    for seed in range(300):
        babble = noise.draw_sound("babble", material, RATE, RATE, np.random.default_rng(seed))
        amplitudes = np.abs(np.fft.rfft(babble))[100:6100:100] * 2 / RATE
        voices = amplitudes[amplitudes > 0.01]
        numbers.add(len(voices))
        once = np.round(20 * np.log10(voices)).astype(int)  # a voice that is drawn twice has another gain
        gains |= {
            gain for gain, size in zip(once, voices, strict=True) if abs(10 ** (gain / 20) - size) < 1e-6
        }
    assert {4, 5, 6, 7} <= numbers and max(numbers) == 7
    assert set(range(-20, -12)) <= gains and min(gains) == -20


def test_an_event_is_heard_once_anywhere():
    material = sounds(coughing=[np.tile([1.0, -1.0], 800)])
    starts, lengths = [], []
    for seed in range(400):
        placed = noise.draw_sound("coughing", material, 16000, RATE, np.random.default_rng(seed))
        loud = np.flatnonzero(placed)
        assert len(placed) == 16000 and np.array_equal(loud, np.arange(loud[0], loud[-1] + 1))
        starts.append(loud[0])
        lengths.append(len(loud))
    assert min(lengths) >= 0.05 * RATE and max(lengths) == 1600
    assert min(starts) < 400 and max(starts) > 14800  # cut off at the end, but never all of it
    assert 6500 < np.mean(starts) < 8700


def test_the_energy_of_an_event_is_spread_over_the_signal(speech, rng):
    material = sounds(sneezing=[np.sin(np.arange(800))])
    mixed = noise.sound_event(speech, RATE, rng, sounds=material, event="sneezing", snr_db=10)
    _, added = parts(mixed, speech)
    assert decibel(rms(speech)) - decibel(rms(added)) == pytest.approx(10, abs=0.1)
    loudest = np.sqrt(np.convolve(added**2, np.ones(800) / 800, "same").max())
    assert decibel(loudest) > decibel(rms(speech)) + 5


def test_an_event_longer_than_the_signal_and_one_that_begins_with_silence(rng):
    short = rng.standard_normal(300).astype(np.float32)
    for event in (rng.standard_normal(5000), np.concatenate([np.zeros(5000), np.ones(10)])):
        material = sounds(coughing=[event])
        mixed = noise.sound_event(short, RATE, rng, sounds=material, event="coughing", snr_db=0)
        assert len(mixed) == 300


def test_silent_signals_stay_and_silent_sounds_are_named(speech, rng):
    material = sounds(music=[np.zeros(99)], coughing=[np.zeros(99)], babble=[np.ones(99)])
    silence = np.zeros(400, np.float32)
    assert not noise.background_noise(silence, RATE, rng, sounds=material, noise="babble", snr_db=20).any()
    with pytest.raises(ValueError, match="the sounds of the kind music are silent"):
        noise.background_noise(speech, RATE, rng, sounds=material, noise="music", snr_db=20)
    with pytest.raises(ValueError, match="the sounds of the kind coughing are silent"):
        noise.sound_event(speech, RATE, rng, sounds=material, event="coughing", snr_db=20)


def test_different_files_get_different_sounds():
    """Unlike the published suite, in which every file got the same sneeze."""
    material = sounds(sneezing=[(n + 1.0) * np.tile([1, -1], 5) for n in range(8)])
    seeds = map(np.random.default_rng, range(100))
    assert len({noise.draw_sound("sneezing", material, 400, RATE, rng).max() for rng in seeds}) == 8


def test_pink_noise_falls_by_three_decibels_an_octave(rng):
    power = np.zeros(8)
    for _ in range(20):
        spectrum = np.abs(np.fft.rfft(noise.pink(48000, rng))) ** 2
        power += [spectrum[2**k : 2 ** (k + 1)].mean() for k in range(6, 14)]
    level = 10 * np.log10(power)
    assert np.allclose(np.diff(level), -3.01, atol=0.5)
    assert np.polyfit(np.arange(8), level, 1)[0] == pytest.approx(-3.01, abs=0.1)
    for count in (1, 2, 3, 1000, 16001):
        drawn = noise.pink(count, rng)
        assert len(drawn) == count and np.isfinite(drawn).all()
        assert peak(drawn) == pytest.approx(1) or not drawn.any()
