"""The audio library of the field as an oracle, for what both define alike.

Where definitions differ, the test says how and checks the known difference. Tolerance: auglib computes in
float32, so samples may differ by 1e-5 of full scale; what both only copy must be equal.
"""

import itertools

import numpy as np
import pytest
from late import late
from made_sounds import sound, sounds

from soundcheck.augment import edits, filters, level, noise, rooms

auglib = late("auglib")  # the oracle of these tests

RATE = 16000
TOLERANCE = 1e-5


@pytest.fixture
def speech(rng):
    """Three seconds with pauses, a crest factor like that of speech and a peak of 0.5."""
    signal = rng.standard_normal(3 * RATE) * (1 + np.sin(np.arange(3 * RATE) / 2000)) ** 2
    return (0.5 * signal / np.abs(signal).max()).astype(np.float32)


def theirs(transform, signal):
    return np.ravel(transform(signal.copy(), RATE))  # a copy, since some of theirs write into their input


def alike():
    """What both define alike: ours, its options, and theirs."""
    library = auglib.transform
    for gain in (-2, 1):
        yield level.gain, {"gain_db": gain}, library.GainStage(gain)
    for ratio in (0.001, 0.003):
        yield level.clip, {"ratio": ratio}, library.ClipByRatio(ratio)
    for cutoff, order in itertools.product((50, 150, 6500, 7500), (1, 4)):
        options = {"cutoff": cutoff, "order": order}
        yield filters.highpass_filter, options, library.HighPass(cutoff, order=order)
        yield filters.lowpass_filter, options, library.LowPass(cutoff, order=order)
    for samples in (100, 1000):
        options = {"samples": samples}
        yield edits.append_zeros, options, library.AppendValue(samples, unit="samples")
        yield edits.prepend_zeros, options, library.PrependValue(samples, unit="samples")
        yield edits.crop_beginning, options, library.Trim(start_pos=samples, unit="samples")
        yield edits.crop_end, options, library.Trim(end_pos=samples, unit="samples")


def test_what_both_define_alike(speech, rng):
    for function, options, transform in alike():
        ours, expected = function(speech, RATE, rng, **options), theirs(transform, speech)
        tolerance = 0 if function.__module__ == edits.__name__ else TOLERANCE  # what both only copy is equal
        np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance, err_msg=f"{function} {options}")


@pytest.mark.parametrize("frequency", [5000, 6321])
def test_tone_is_louder_by_the_difference_of_crest_factors(speech, rng, frequency):
    expected = theirs(auglib.transform.Tone(frequency, snr_db=40), speech).astype(np.float64) - speech
    ours = noise.additive_tone(speech, RATE, rng, frequency=frequency, snr_db=40).astype(np.float64) - speech
    crest = level.peak(speech) / level.rms(speech)
    assert level.rms(ours) / level.rms(expected) == pytest.approx(crest / np.sqrt(2), rel=0.01)
    assert np.corrcoef(ours, expected)[0, 1] > 0.999


@pytest.mark.parametrize("direction", ["downward", "upward"])
def test_spectral_tilt(speech, rng, direction):
    taps = filters.tilt_filter(direction).astype(np.float32)
    convolved = theirs(auglib.transform.FFTConvolve(taps, keep_tail=True), speech)
    expected = convolved[512 : 512 + speech.size]
    expected = expected * (level.rms(speech) / level.rms(expected))
    ours = filters.spectral_tilt(speech, RATE, rng, direction=direction)
    assert level.peak(ours) < 1  # the limiter has nothing to do here
    assert np.allclose(ours, expected, rtol=0, atol=TOLERANCE)


def test_convolution(speech, rng):
    response = (rng.standard_normal(4000) * np.exp(-np.arange(4000) / 600)).astype(np.float32)
    both = auglib.transform.Compose(
        [auglib.transform.FFTConvolve(response, keep_tail=False), auglib.transform.NormalizeByPeak()]
    )
    material = sounds(rooms=[sound("room", response, role="base")])
    ours = rooms.reverberation(speech, RATE, rng, sounds=material, responses="rooms", role="base")
    assert np.allclose(ours, theirs(both, speech), rtol=0, atol=TOLERANCE)
