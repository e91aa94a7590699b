"""A picture of a sound shows its level and its frequencies, on the same scale for all sounds."""

import io

import numpy as np
import pytest
from PIL import Image

from soundcheck.report.players import BANDS, COLUMNS, HEIGHT, HIGHEST_HZ, WIDTH, band_levels, picture

RATE = 16000


def sine(hertz: float, amplitude: float = 1.0, seconds: float = 1.0, rate: int = RATE) -> np.ndarray:
    times = np.arange(round(rate * seconds)) / rate
    return (amplitude * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize("amplitude", [1.0, 0.1, 0.001])
@pytest.mark.parametrize("rate", [8000, 16000, 48000])
def test_a_sine_in_the_middle_of_a_band_has_its_level_there(amplitude, rate):
    band = 17
    levels = band_levels(sine((band + 0.5) * HIGHEST_HZ / BANDS, amplitude, rate=rate), rate)
    assert levels.shape == (BANDS, COLUMNS)
    inner = levels[:, 5:-5]  # at the ends the window looks at nothing
    assert (inner.argmax(axis=0) == BANDS - 1 - band).all()
    np.testing.assert_allclose(inner.max(axis=0), 20 * np.log10(amplitude), atol=0.7)


def test_sums_of_bands_are_the_power_of_noise(rng):
    noise = rng.normal(0, 0.1, RATE * 2)
    power = (10 ** (band_levels(noise, RATE)[:, 5:-5] / 10)).sum(axis=0).mean()
    # A sine of full scale, of power a half, counts as 1.
    np.testing.assert_allclose(power, 2 * 0.1**2, rtol=0.05)


def test_bands_above_half_the_rate_hold_nothing():
    levels = band_levels(sine(1000, rate=8000), 8000)
    assert (levels[: BANDS // 2 - 1] == -150).all() and levels.max() > -2


@pytest.mark.parametrize("samples", [1, 2, 100, 1600, 30 * RATE])
def test_any_length_has_a_picture_that_is_small(samples, rng):
    data = picture(rng.normal(0, 0.1, samples).astype(np.float32), RATE)
    assert Image.open(io.BytesIO(data)).size == (WIDTH, HEIGHT)
    assert len(data) < 8000


def test_silence_is_one_colour_and_the_signal_stays_as_it_is():
    signal = np.zeros(1000, np.float32)
    signal.setflags(write=False)
    drawn = pixels(picture(signal, RATE))
    assert len(np.unique(drawn[HEIGHT - 2 * BANDS :].reshape(-1, 3), axis=0)) == 1
