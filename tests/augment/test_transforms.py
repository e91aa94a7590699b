"""Levels, filters, edits, codecs and prosody against their definitions; see also `test_against_auglib`."""

import shutil
import subprocess
import sys

import numpy as np
import parselmouth
import pytest
import soundfile
from tests.augment.made_sounds import sound, sounds

from soundcheck.augment import edits, level, registry, transmission
from soundcheck.augment.level import decibel, rms
from soundcheck.augment.prosody import changed_pitch, changed_tempo, slowed_down
from soundcheck.corpora.audio import resampled

RATE = 16000
PACKET = 320


@pytest.fixture
def noise(rng):
    return (0.2 * rng.standard_normal(3 * RATE)).astype(np.float32)


@pytest.fixture
def speech(rng):
    """Three seconds of coloured noise with pauses, a peak of 0.5."""
    signal = np.convolve(rng.standard_normal(3 * RATE), np.ones(8) / 8, "same")
    signal = signal * (1 + np.sin(np.arange(3 * RATE) / 2500)) ** 2
    return (0.5 * signal / np.abs(signal).max()).astype(np.float32)


# Levels


def test_levels_are_exact_matched_and_limited_as_a_whole(noise):
    for size in (1e-40, 1e30):  # neither underflows nor overflows
        signal = np.tile([size, -size], 50).astype(np.float32)
        assert level.rms(signal) == pytest.approx(float(signal[0]), rel=1e-9)

    matched = level.level_match(noise, 0.01 * noise[::-1])
    assert level.rms(matched) == pytest.approx(level.rms(noise), rel=1e-6)
    silent, loud = np.zeros(4), np.array([1.0, -1.0, 1.0, -1.0])
    assert not level.level_match(silent, loud).any()
    matched = level.level_match(loud, silent)
    assert not matched.any() and matched is not silent
    assert level.limit(loud) is loud  # full scale is no excess
    limited = level.limit(np.array([-0.5, -2.0, 1.0]))
    assert np.allclose(limited, [-0.25, -1, 0.5], rtol=1e-6) and level.peak(limited) <= 1


@pytest.mark.parametrize(("ratio", "samples"), [(0.001, 100), (0.29, 999)])
def test_clip_cuts_exactly_the_share(rng, ratio, samples):
    signal = rng.standard_normal(samples).astype(np.float32)
    clipped = level.clip(signal, RATE, rng, ratio=ratio)
    cut = round(ratio * 1000) * samples // 1000  # in whole numbers, which do not round
    assert np.count_nonzero(clipped != signal) == cut
    assert level.peak(clipped) == np.sort(np.abs(signal))[::-1][cut]
    # A small change must not silence, and equal magnitudes count once.
    for same, share in ((np.eye(1, 1000, 17)[0], 0.003), (np.tile([1, -1], 500), 0.3)):
        assert np.array_equal(level.clip(same, RATE, rng, ratio=share), same)


def test_the_text_clips_a_share_of_any_speech_and_the_released_definition_at_full_scale(rng):
    speech = rng.laplace(size=RATE)
    speech -= speech.mean()
    speech = (0.3 * speech / np.abs(speech).max()).astype(np.float32)
    released = level.clipped_at(speech, RATE, rng, limit=0.05, definition="released")
    np.testing.assert_allclose(released, np.clip(speech / 1.414, -0.05, 0.05), atol=1e-7)
    text = level.clipped_at(speech, RATE, rng, limit=0.05)
    np.testing.assert_allclose(level.clipped_at(speech + 1, RATE, rng, limit=0.05), text + 1, atol=1e-5)
    assert (np.abs(text) >= 0.999 * 0.3).mean() == pytest.approx((np.abs(speech) >= 0.015).mean(), abs=1e-3)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("clipped_at", {"limit": 0.2}),
        ("far_field", {"metres": 2}),
        ("reverberation", {"responses": "rooms", "role": "base"}),
        ("spectral_tilt", {"direction": "upward"}),
        ("background_noise", {"noise": "music", "snr_db": 20, "based_on": "peak"}),
        ("sound_event", {"event": "coughing", "snr_db": 20}),
        ("white_noise", {"snr_db": 20}),
    ],
)
def test_an_offset_changes_nothing_but_itself(noise, rng, name, options):
    """An inaudible constant makes speech neither quieter nor does it set in with a thud."""
    plain = (0.1 * (noise - noise.mean())).astype(np.float32)
    recorded = 0.05 * rng.standard_normal(RATE // 2)
    recorded -= recorded.mean()
    results = []
    for shift in (0.0, 0.05, -0.3):
        more = recorded + 0.7 * shift  # nor does that of a recorded noise
        material = sounds(music=[more], coughing=[more], rooms=[sound("a", recorded, role="base")])
        signal, chance = plain + np.float32(shift), np.random.default_rng(1)
        function = registry.TRANSFORMS[name].function
        result = function(signal, RATE, chance, sounds=material, **options).astype(np.float64)
        results.append(result - result.mean())
    np.testing.assert_allclose(results[1:], [results[0]] * 2, atol=2e-5)


# Filters


@pytest.mark.parametrize(
    ("transform", "octave"), [(transmission.highpass_filter, 250), (transmission.lowpass_filter, 1000)]
)
def test_the_released_filters_run_forward_and_backward(rng, transform, octave):
    """-6 dB at the cutoff and -25 dB an octave beyond, where one pass takes away 3 and 12.5 dB."""
    impulse, options = np.eye(1, RATE, RATE // 2, dtype=np.float32)[0], {"cutoff": 500, "order": 2}
    once, twice = (
        transform(impulse, RATE, rng, definition=definition, **options) for definition in ("text", "released")
    )
    one, both = (20 * np.log10(np.abs(np.fft.rfft(each.astype(float)))) for each in (once, twice))
    assert both[500] == pytest.approx(-6.02, abs=0.02) and one[500] == pytest.approx(-3.01, abs=0.02)
    assert both[octave] == pytest.approx(-25, abs=0.35) and one[octave] == pytest.approx(-12.5, abs=0.2)
    middle = np.argmax(np.abs(twice))
    assert middle == RATE // 2  # no delay
    assert np.allclose(twice[middle - 99 : middle], twice[middle + 99 : middle : -1], atol=1e-6)
    assert len(transform(np.zeros(2), RATE, rng, definition="released", **options)) == 2


@pytest.mark.parametrize("direction", ["downward", "upward"])
def test_tilt_filters_are_linear_ramps_without_delay_and_the_level_is_restored(rng, direction):
    ramp, taps = np.arange(513) / 512, transmission.tilt_filter(direction)
    assert taps.shape == (1024,) and np.argmax(np.abs(taps)) == 512
    assert np.allclose(taps[1:], taps[:0:-1], atol=1e-15)
    spectrum = np.abs(np.fft.rfft(taps))
    assert np.allclose(spectrum[1:-1], (1 - ramp if direction == "downward" else 2 * ramp)[1:-1], atol=1e-12)
    assert direction == "downward" or (spectrum[0] == pytest.approx(0.013) and spectrum[-1] < 0.1)
    for samples in (1, 10, 48000):
        signal = (0.02 * rng.standard_normal(samples)).astype(np.float32)
        tilted = transmission.spectral_tilt(signal, RATE, rng, direction=direction)
        assert tilted.size == samples
        assert decibel(rms(tilted)) == pytest.approx(decibel(rms(signal)), abs=0.1)


# What takes samples away or loses packets


def test_crops_leave_one_sample_and_the_middle_is_kept(rng):
    signal = rng.uniform(0.1, 1, 4000).astype(np.float32)
    assert edits.crop_beginning(signal, RATE, rng, samples=4000).tolist() == [signal[-1]]
    assert edits.crop_end(signal, RATE, rng, samples=4000).tolist() == [signal[0]]
    for rate, seconds, size in ((8000, 0.1, 800), (16000, 1, 4000), (16000, 1e-9, 1)):
        start, middle = (4000 - size) // 2, edits.central_part(signal, rate, rng, seconds=seconds)
        assert np.array_equal(middle, signal[start : start + size])


@pytest.mark.parametrize(("percent", "milliseconds"), [(10, 50), (50, 20), (0, 20)])
def test_dropped_chunks_are_counted_and_never_neighbours(rng, percent, milliseconds):
    signal = np.ones(RATE + 77, dtype=np.float32)
    dropped = edits.dropped_chunks(signal, RATE, rng, percent=percent, milliseconds=milliseconds)
    length = RATE * milliseconds // 1000
    pairs = len(signal) // (2 * length)
    chunks, rest = np.split(dropped, [2 * pairs * length])
    silent = (chunks.reshape(-1, length) == 0).all(axis=1)
    assert silent.sum() == 2 * pairs * percent // 100 and not (silent[1:] & silent[:-1]).any()
    assert (chunks.reshape(-1, length)[~silent] == 1).all() and (rest == 1).all()
    again = edits.dropped_chunks(signal, RATE, rng, percent=percent, milliseconds=milliseconds)
    assert np.array_equal(again, dropped) == (percent in (0, 50))  # nothing, or every other one


@pytest.mark.parametrize("percent", [40, 100])
@pytest.mark.parametrize("concealment", ["none", "repetition"])
def test_lost_packets_are_silent_or_the_last_one_that_arrived_fading_by_half(percent, concealment):
    """At a higher share the same packets are lost, and more."""
    signal = (0.1 * np.random.default_rng(3).standard_normal(16160)).astype(np.float32)
    rng = np.random.default_rng(0)
    result = edits.lost_packets(signal, RATE, rng, percent=percent, concealment=concealment)
    count = -(-len(signal) // PACKET)
    lost = set(np.random.default_rng(0).permutation(count)[: count * percent // 100])
    last, row = np.zeros(PACKET), 0
    for n in range(count):
        place = slice(PACKET * n, min(PACKET * (n + 1), len(signal)))
        row, last = (row + 1, last) if n in lost else (0, signal[place])
        gain = 0 if row and concealment == "none" else 0.5**row
        assert np.array_equal(result[place], (gain * last[: len(signal[place])]).astype(np.float32)), n
    assert len(lost) == count * percent // 100 and result.size == signal.size
    many = edits.lost_packets(np.ones(16000), RATE, rng, percent=32.3, milliseconds=1, concealment="none")
    assert (many.reshape(1000, -1) == 0).all(axis=1).sum() == 323  # not 322.99999999999994


# Codecs and the telephone line


def band(signal, low, high):
    spectrum = np.abs(np.fft.rfft(signal.astype(np.float64))) ** 2
    hertz = np.fft.rfftfreq(len(signal), 1 / RATE)
    return 10 * np.log10(spectrum[(hertz >= low) & (hertz < high)].mean() + 1e-30)


@pytest.mark.parametrize("name", sorted(transmission.CODECS))
def test_codecs_give_the_signal_back_in_place(speech, rng, name):
    bit_rate = 12200 if name == "amr-nb" else 64000
    decoded = transmission.codec(speech, RATE, rng, name=name, bit_rate=bit_rate)
    assert len(decoded) == len(speech)
    spectra = (np.fft.rfft(signal, 2 * len(speech)) for signal in (decoded, speech))
    lag = int(np.argmax(np.fft.irfft(next(spectra) * np.conj(next(spectra)))))
    assert lag == pytest.approx(80 if name == "amr-nb" else 0, abs=2)  # 5 ms, as on a telephone
    assert decibel(rms(decoded)) == pytest.approx(decibel(rms(speech)), abs=3)
    if name in ("amr-nb", "g711-a", "g711-mu"):  # telephones have no high frequencies
        assert band(decoded, 4200, 8000) < band(decoded, 500, 3000) - 40
    for count in (1, 1601):
        short = rng.uniform(-0.5, 0.5, count).astype(np.float32)
        assert len(transmission.codec(short, RATE, rng, name=name, bit_rate=bit_rate)) == count
    if name == "amr-nb":  # fewer bits sound otherwise
        worse = transmission.codec(speech, RATE, rng, name=name, bit_rate=4750)
        assert rms(worse - decoded) > 0.1 * rms(decoded)


@pytest.mark.parametrize(("name", "law"), [("g711-a", "ALAW"), ("g711-mu", "ULAW")])
def test_g711_against_another_implementation(rng, tmp_path, name, law):
    signal = rng.uniform(-0.9, 0.9, 1600).astype(np.float32)
    soundfile.write(tmp_path / "law.wav", signal, 8000, subtype=law)
    expected, _ = soundfile.read(tmp_path / "law.wav", dtype="float32")
    assert np.allclose(transmission.coded(signal, name), expected, atol=0.035)  # one step of the loudest
    assert np.corrcoef(transmission.coded(signal, name), expected)[0, 1] > 0.9999


@pytest.mark.parametrize(("level_db", "expected_db"), [(-60, -56), (-20, -48.8 / 3), (-10, -8), (0, 0)])
def test_compressor_at_a_steady_level(level_db, expected_db):
    steady = np.full(8000, 10 ** (level_db / 20))
    assert 20 * np.log10(transmission.compress(steady, 8000)[-1]) == pytest.approx(expected_db, abs=1e-3)


@pytest.mark.skipif(not shutil.which("sox"), reason="SoX is the oracle of this test")
def test_compressor_against_sox(speech, tmp_path):
    signal = resampled(speech, RATE, 8000)
    signal = signal / np.abs(signal).max()
    soundfile.write(tmp_path / "in.wav", signal, 8000, subtype="PCM_32")
    command = ["sox", "in.wav", "-b", "32", "out.wav", "compand", "0.01,0.02", "4:-20,-16"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    expected, _ = soundfile.read(tmp_path / "out.wav")
    assert np.abs(transmission.compress(signal, 8000) - expected).max() < 1e-3


def test_the_phone_restores_the_level_and_has_its_bands_and_hiss(speech, rng):
    line = transmission.low_quality_phone(speech, RATE, rng)
    assert len(line) == len(speech) and decibel(rms(line)) == pytest.approx(decibel(rms(speech)), abs=0.1)
    # Above 4 kHz nothing is left but the hiss, which falls off below 3 kHz.
    assert band(line, 4300, 7900) < band(line, 400, 3000) - 15
    assert band(line, 4300, 7900) > band(speech, 500, 3000) - 60
    assert len(transmission.low_quality_phone(speech[:1], RATE, rng)) == 1


@pytest.mark.parametrize("library", [False, True])
def test_a_missing_codec_is_named(monkeypatch, library):
    problem = "PyAV comes without no_such_encoder here, which the codec amr-nb needs"
    monkeypatch.setitem(transmission.CODECS, "amr-nb", transmission.Codec("no_such_encoder", 8000, "amr"))
    if library:
        problem = "the codec library PyAV cannot be loaded"
        monkeypatch.setitem(sys.modules, "av", None)
    transmission.missing.cache_clear()
    try:
        assert transmission.missing("amr-nb").startswith(problem)
        with pytest.raises(ValueError, match=problem):
            transmission.coded(np.zeros(9, np.float32), "amr-nb")
    finally:
        transmission.missing.cache_clear()


# Tempo without pitch, pitch without tempo, and both, on signals of known pitch


def voice(pitch, seconds=1.0):
    """Pulses through two resonances."""
    time = np.arange(round(seconds * RATE)) / RATE
    pulses = np.diff(np.floor(time * pitch), prepend=0.0)
    grain = sum(np.exp(-time[:800] * 400) * np.sin(2 * np.pi * f * time[:800]) for f in (600, 1400))
    return (0.2 * np.convolve(pulses, grain)[: time.size]).astype(np.float32)


def pitch_of(signal):
    pitch = parselmouth.Sound(signal.astype(np.float64), RATE).to_pitch().selected_array["frequency"]
    return np.median(pitch[pitch > 0])


def test_length_and_pitch_of_a_changed_voice(rng):
    for change, options, longer, higher in (
        (changed_tempo, {"factor": 0.7}, 1 / 0.7, 1),
        (changed_tempo, {"factor": 2.0}, 0.5, 1),
        (changed_pitch, {"semitones": 2}, 1, 2 ** (2 / 12)),
        (slowed_down, {"factor": 0.5}, 2, 0.5),
    ):
        result = change(voice(180.0), RATE, rng, **options)
        assert result.size == pytest.approx(longer * RATE, rel=0.02)
        assert pitch_of(result) == pytest.approx(180 * higher, rel=0.02)
        short = rng.uniform(-0.5, 0.5, round(0.04 * RATE)).astype(np.float32)
        assert change is slowed_down or np.array_equal(change(short, RATE, rng, **options), short)
