"""What is added to speech or takes its place: noises, events, rooms and sounds alone, against definitions."""

import numpy as np
import pytest
import scipy.stats
from tests.augment.made_sounds import sound, sounds

from soundcheck.augment import edits, noise, registry
from soundcheck.augment.level import decibel, peak, rms
from soundcheck.augment.transmission import far_field, reverberation
from soundcheck.suite.thresholds import read_family

RATE = 16000
CLICK = np.eye(1, 400)[0]


@pytest.fixture
def speech(rng):
    return (0.05 * rng.standard_normal(3 * RATE)).astype(np.float32)


def added_to(speech, mixed):
    """Take what was added out of a mix, at the scale of the speech."""
    mixed, speech = mixed.astype(np.float64), speech.astype(np.float64)
    return mixed / (mixed @ speech / (speech @ speech)) - speech


def ratio_db(speech, added):
    return decibel(rms(speech)) - decibel(rms(added))


def test_a_tone_has_frequency_level_and_phase(speech, rng):
    tone = noise.additive_tone(speech, RATE, rng, frequency=7000, snr_db=40).astype(np.float64) - speech
    assert np.argmax(np.abs(np.fft.rfft(tone))) * RATE / tone.size == pytest.approx(7000, abs=0.4)
    # Amplitude from the energy of a sine, since few samples meet its crest.
    assert decibel(peak(speech)) - decibel(np.sqrt(2) * rms(tone)) == pytest.approx(40, abs=0.1)
    known = noise.additive_tone(np.float32([0.5, 0, 0, -0.5]), RATE, rng, frequency=4000, snr_db=20)
    assert np.allclose(known, [0.5, 0.05, 0, -0.55], atol=1e-7)  # begins with phase 0


def test_noise_is_white_gaussian_and_from_the_generator_alone(speech):
    first, again = (
        noise.white_noise(speech, RATE, np.random.default_rng(1), snr_db=0).astype(np.float64) - speech
        for _ in range(2)
    )
    assert ratio_db(speech, first) == pytest.approx(0, abs=0.1) and np.array_equal(first, again)
    bands = np.abs(np.fft.rfft(first)[1:]).reshape(8, -1) ** 2
    assert np.allclose(10 * np.log10(bands.mean(axis=1) / bands.mean()), 0, atol=0.3)
    assert scipy.stats.kstest(first / first.std(), "norm").pvalue > 0.01
    assert abs(np.corrcoef(first, speech)[0, 1]) < 0.02


@pytest.mark.parametrize(("snr_db", "based_on"), [(-5, "rms"), (30, "peak")])
def test_mix_has_the_ratio_and_keeps_the_level(speech, rng, snr_db, based_on):
    added = rng.uniform(-1, 1, len(speech))
    mixed = noise.mix(speech, added, snr_db, based_on)
    matrix = np.stack([speech.astype(np.float64), added], axis=1)
    (of_speech, of_noise), *_ = np.linalg.lstsq(matrix, mixed, rcond=None)
    measure = peak if based_on == "peak" else rms
    ratio = decibel(measure(of_speech * speech)) - decibel(measure(of_noise * added))
    assert ratio == pytest.approx(snr_db, abs=0.01)
    assert decibel(rms(mixed)) == pytest.approx(decibel(rms(speech)), abs=0.001)


@pytest.mark.parametrize("kind", ["babble", "environmental", "white"])
def test_background_has_the_ratio_and_the_level(speech, rng, kind):
    material = sounds(**{kind: [rng.standard_normal(7 * RATE) * 0.1 for _ in range(9)]})
    mixed = noise.background_noise(speech, RATE, rng, sounds=material, noise=kind, snr_db=20)
    assert ratio_db(speech, added_to(speech, mixed)) == pytest.approx(20, abs=0.1)
    assert decibel(rms(mixed)) == pytest.approx(decibel(rms(speech)), abs=0.1)
    loud = np.where(np.arange(4000) // 20 % 2, 0.95, -0.95).astype(np.float32)
    mixed = noise.background_noise(loud, RATE, rng, sounds=material, noise=kind, snr_db=0)
    assert 0.999 < peak(mixed) <= 1 and rms(mixed) < rms(loud)  # it would clip
    silence = np.zeros(400, np.float32)
    assert not noise.background_noise(silence, RATE, rng, sounds=material, noise=kind, snr_db=20).any()


def test_babble_has_four_to_seven_voices_of_the_gains():
    """Voices are sines of one frequency each, so their number and gains can be counted in the spectrum."""
    time = np.arange(RATE) / RATE
    material = sounds(babble=[np.sin(2 * np.pi * 100 * (n + 1) * time) for n in range(60)])
    numbers, gains = set(), set()
    for seed in range(150):
        babble = noise.draw_sound("babble", material, RATE, RATE, np.random.default_rng(seed))
        amplitudes = np.abs(np.fft.rfft(babble))[100:6100:100] * 2 / RATE
        voices = amplitudes[amplitudes > 0.01]
        numbers.add(len(voices))
        whole = np.round(20 * np.log10(voices))  # a voice that is drawn twice has another gain
        gains |= set(whole[abs(10 ** (whole / 20) - voices) < 1e-6].astype(int).tolist())
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
    # Cut off at the end, but never all of it.
    assert min(starts) < 400 and max(starts) > 14800 and 6500 < np.mean(starts) < 8700


def test_the_energy_of_an_event_is_spread_over_the_signal(speech, rng):
    material = sounds(sneezing=[np.sin(np.arange(800))])
    mixed = noise.sound_event(speech, RATE, rng, sounds=material, event="sneezing", snr_db=10)
    added = added_to(speech, mixed)
    assert ratio_db(speech, added) == pytest.approx(10, abs=0.1)
    loudest = np.sqrt(np.convolve(added**2, np.ones(800) / 800, "same").max())
    assert decibel(loudest) > decibel(rms(speech)) + 5
    longer = sounds(coughing=[np.concatenate([np.zeros(5000), np.ones(10)])])  # and silent at first
    mixed = noise.sound_event(speech[:300], RATE, rng, sounds=longer, event="coughing", snr_db=0)
    assert len(mixed) == 300


def test_short_sounds_are_repeated_and_silent_ones_named(speech, rng):
    short = sounds(music=[rng.standard_normal(500)])
    mixed = noise.background_noise(speech, RATE, rng, sounds=short, noise="music", snr_db=-60)
    added = added_to(speech, mixed)
    assert np.corrcoef(added[:500], added[500:1000])[0, 1] > 0.99
    silent = sounds(music=[np.zeros(99)], coughing=[np.zeros(99)])
    for kind in ("music", "coughing"):
        with pytest.raises(ValueError, match=f"the sounds of the kind {kind} are silent"):
            noise.draw_sound(kind, silent, 400, RATE, rng)


def test_pink_noise_falls_by_three_decibels_an_octave(rng):
    spectra = [np.abs(np.fft.rfft(noise.pink(48000, rng))) ** 2 for _ in range(20)]
    octaves = [np.mean([power[2**k : 2 ** (k + 1)].mean() for power in spectra]) for k in range(6, 14)]
    assert np.allclose(np.diff(10 * np.log10(octaves)), -3.01, atol=0.5)
    assert len(noise.pink(1, rng)) == 1 and peak(noise.pink(1000, rng)) == pytest.approx(1)


# Rooms and distance


def delayed(role, delay, size=90, **more):
    return sound(f"delay {delay}", np.eye(1, size, delay)[0], role=role, **more)


def reverberated(signal, material, seed=0, role="base", **more):
    rng = np.random.default_rng(seed)
    return reverberation(signal, RATE, rng, sounds=material, responses="rooms", role=role, **more)


def test_rooms_are_drawn_at_the_wanted_distance():
    metres = {10: 0.5, 20: 1.0, 30: 2.25, 40: 3.0}
    others = [delayed("other", delay, distance=distance) for delay, distance in metres.items()]
    material = sounds(rooms=[delayed("base", 5, distance=1.5), *others])

    def delays(role, **more):
        return {int(np.argmax(reverberated(CLICK, material, seed, role, **more))) for seed in range(60)}

    assert delays("base", ratio=1.5) == {5} and delays("other") == {10, 20, 30, 40}
    assert delays("other", ratio=1.5) == {20, 30}  # both ends are within
    assert delays("other", ratio=1.5, times=2.0) == {30, 40}
    nothing = "nothing but delay 5 was measured at a distance within a ratio of 1"
    with pytest.raises(ValueError, match=nothing):
        delays("other", ratio=1.1, times=9.0)
    late = sounds(rooms=[delayed("base", 800, 900)])
    assert not reverberated(np.zeros(9, np.float32), late).any()
    with pytest.raises(ValueError, match="nothing is heard through the impulse response delay 800"):
        reverberated(np.tile([1, -1], 50), late)


@pytest.mark.parametrize("metres", [0.5, 4])
def test_direct_sound_tail_and_noise_of_a_room(metres):
    """The energy of the tail is that of the direct path at 1 m, and grows by 6 dB for each doubling."""
    click = np.zeros(RATE, dtype=np.float32)
    click[0] = 0.5
    result = far_field(click, RATE, np.random.default_rng(0), metres=metres, snr_db=120).astype(float)
    direct, tail = result[0] ** 2, np.sum(result[16:] ** 2)
    assert 10 * np.log10(tail / direct) == pytest.approx(20 * np.log10(metres), abs=0.6)
    assert np.sum(result**2) == pytest.approx(0.25, rel=2e-4)
    early, late = np.sum(result[16:2000] ** 2), np.sum(result[4016:6000] ** 2)  # a quarter second apart
    assert 10 * np.log10(early / late) == pytest.approx(30, abs=2)
    # With a tail that is short and faint, what is left is the noise: 20 dB below the speech at 2 m.
    options = {"metres": 2.0, "snr_db": 26.02, "critical_distance": 1000, "reverberation_time": 0.05}
    signal = (0.1 * np.random.default_rng(3).standard_normal(4 * RATE)).astype(np.float32)
    result = far_field(signal, RATE, np.random.default_rng(1), **options).astype(float)
    assert ratio_db(signal, added_to(signal, result)) == pytest.approx(20, abs=0.3)


# Sounds in the place of speech

KINDS = ("babble", "coughing", "environmental", "music", "other_language", "sneezing")


@pytest.fixture
def material(rng):
    signals = [np.pad(rng.uniform(-0.5, 0.5, 4000), (0, 1000)) for _ in range(3)]
    return sounds(**dict.fromkeys(KINDS, signals))


@pytest.mark.parametrize("kind", ["babble", "coughing", "music", "white"])
def test_a_sound_alone_has_its_level_and_nothing_of_the_speech(material, speech, kind):
    def alone(signal, level_db):
        rng, options = np.random.default_rng(1), {"sound": kind, "level_db": level_db}
        return edits.sound_alone(signal, RATE, rng, sounds=material, **options)

    result = alone(speech, -20)
    assert len(result) == len(speech) and np.array_equal(result, alone(-0.1 * speech, -20))
    assert decibel(rms(result[result != 0])) == pytest.approx(-20, abs=0.01)
    loud = alone(speech, 0)
    assert peak(loud) == pytest.approx(1) and rms(loud) < 0.75  # scaled down as a whole


def test_silence_backwards_and_looped_speech(speech, rng):
    assert np.array_equal(edits.silence(speech, RATE, rng), np.zeros(3 * RATE, np.float32))
    assert edits.silence(speech, RATE, rng, seconds=2.5).shape == (40000,)
    followed = edits.followed_by_silence(speech, RATE, rng, seconds=0.5)
    assert np.array_equal(followed, np.concatenate([speech, np.zeros(8000, np.float32)]))
    assert np.array_equal(edits.backwards(speech, RATE, rng), speech[::-1])
    looped = edits.cut_and_looped(speech[:RATE], RATE, rng, piece=0.25, seconds=2)
    assert len(looped) == 2 * RATE and np.array_equal(looped[4000:], looped[:-4000])  # without a pause
    assert sum(np.array_equal(speech[n : n + 4000], looped[:4000]) for n in range(12001)) == 1
    short = edits.cut_and_looped(speech[:100], RATE, rng, piece=0.25)
    assert np.array_equal(short, speech[:100])


@pytest.mark.parametrize("name", list(read_family("asr_hallucination").changes))
def test_the_length_is_known_without_the_signal(name, material, speech):
    change, expected = read_family("asr_hallucination").changes[name], {"Speech Then Silence": 30}
    signal, drawn = registry.apply(change, speech[:RATE], RATE, seed=7, content="abc", sounds=material)
    assert registry.drawn_options(change, seed=7, content="abc")[0] == drawn
    heard, unspoken_part = edits.seconds_heard(change.transform, drawn, 1.0)
    assert heard == len(signal) / RATE
    assert unspoken_part == expected.get(name, 0 if name in ("Looped Speech", "Backwards Speech") else heard)
