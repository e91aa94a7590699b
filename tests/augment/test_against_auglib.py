"""The audio library of the field as an oracle, for what both define alike.

Tolerance: auglib computes in float32, so samples may differ by 1e-5 of full scale; what both only copy must
be equal.
"""

import numpy as np
import pytest
from late import late
from tests.augment.made_sounds import sound, sounds

from soundcheck.augment import edits, level, transmission

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
    yield level.gain, {"gain_db": -2}, library.GainStage(-2)
    yield level.clip, {"ratio": 0.003}, library.ClipByRatio(0.003)
    for cutoff, order in ((150, 1), (6500, 4)):
        options = {"cutoff": cutoff, "order": order}
        yield transmission.highpass_filter, options, library.HighPass(cutoff, order=order)
        yield transmission.lowpass_filter, options, library.LowPass(cutoff, order=order)
    options = {"samples": 100}
    yield edits.append_zeros, options, library.AppendValue(100, unit="samples")
    yield edits.prepend_zeros, options, library.PrependValue(100, unit="samples")
    yield edits.crop_beginning, options, library.Trim(start_pos=100, unit="samples")
    yield edits.crop_end, options, library.Trim(end_pos=100, unit="samples")


def test_what_both_define_alike(speech, rng):
    for function, options, transform in alike():
        ours, expected = function(speech, RATE, rng, **options), theirs(transform, speech)
        tolerance = 0 if function.__module__ == edits.__name__ else TOLERANCE  # what both only copy is equal
        np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance, err_msg=f"{function} {options}")


def test_convolution(speech, rng):
    response = (rng.standard_normal(4000) * np.exp(-np.arange(4000) / 600)).astype(np.float32)
    both = auglib.transform.Compose(
        [auglib.transform.FFTConvolve(response, keep_tail=False), auglib.transform.NormalizeByPeak()]
    )
    material = sounds(rooms=[sound("room", response, role="base")])
    ours = transmission.reverberation(speech, RATE, rng, sounds=material, responses="rooms", role="base")
    assert np.allclose(ours, theirs(both, speech), rtol=0, atol=TOLERANCE)
