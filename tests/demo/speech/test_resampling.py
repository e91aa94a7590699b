"""What is resampled here is what Praat would make of it, to the last sample at both ends."""

import numpy as np
import parselmouth
import pytest
from parselmouth.praat import call

from soundcheck_demo.speech.resampling import SPOKEN_RATE, resample


@pytest.mark.parametrize("length", [150, 12345, 20001, 33333, 44100])
def test_it_is_the_resampling_of_praat(length):
    signal = np.random.default_rng(length).standard_normal(length)
    expected = call(parselmouth.Sound(signal, SPOKEN_RATE), "Resample", 16000, 50).values[0]
    assert np.abs(resample(signal) - expected).max() < 1e-9  # of a step of 16 bit: 3e-5
