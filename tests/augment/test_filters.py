from __future__ import annotations

import numpy as np
import pytest

from soundcheck.augment import filters
from soundcheck.augment.level import decibel, peak, rms

RATE = 16000
DIRECTIONS = ["downward", "upward"]
FREQUENCIES = np.fft.rfftfreq(RATE, 1 / RATE)  # a bin each Hz


def impulse(samples=RATE, at=0, size=1.0):
    signal = np.zeros(samples, dtype=np.float32)
    signal[at] = size
    return signal


def response_db(answer):
    return 20 * np.log10(np.abs(np.fft.rfft(answer.astype(np.float64))))


def butterworth_db(kind, frequency, cutoff, order):
    ratio = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * cutoff / RATE)
    return -10 * np.log10(1 + (ratio if kind == "lowpass" else 1 / ratio) ** (2 * order))


@pytest.mark.parametrize(
    "kind, cutoff",
    [
        ("highpass", 50),
        ("highpass", 150),
        ("lowpass", 7500),
        ("lowpass", 1000),
    ],
)
@pytest.mark.parametrize("order", [1, 2, 4])
def test_butterworth_response(rng, kind, cutoff, order):
    transform = {"highpass": filters.highpass_filter, "lowpass": filters.lowpass_filter}[kind]
    measured = response_db(transform(impulse(), RATE, rng, cutoff=cutoff, order=order))
    expected = butterworth_db(kind, FREQUENCIES[1:-1], cutoff, order)
    audible = expected > -80  # below lies the rounding of float32
    assert audible.sum() > 1000
    assert np.abs(measured[1:-1] - expected)[audible].max() < 0.5
    assert measured[cutoff] == pytest.approx(-3.01, abs=0.05)


@pytest.mark.parametrize("transform", [filters.highpass_filter, filters.lowpass_filter])
def test_butterworth_is_causal_and_of_first_order_by_default(rng, transform):
    answer = transform(impulse(at=100), RATE, rng, cutoff=1000)
    assert not answer[:100].any()
    assert np.array_equal(answer, transform(impulse(at=100), RATE, rng, cutoff=1000, order=1))
    assert not np.array_equal(answer, transform(impulse(at=100), RATE, rng, cutoff=1000, order=2))


@pytest.mark.parametrize(
    "transform, octave", [(filters.highpass_filter, 250), (filters.lowpass_filter, 1000)]
)
def test_the_released_definition_runs_forward_and_backward(rng, transform, octave):
    """-6 dB at the cutoff and -25 dB an octave beyond, where one pass takes away 3 and 12.5 dB."""
    options = {"cutoff": 500, "order": 2}
    once = response_db(transform(impulse(at=RATE // 2), RATE, rng, **options))
    twice = transform(impulse(at=RATE // 2), RATE, rng, definition="released", **options)
    measured = response_db(twice)
    assert measured[500] == pytest.approx(-6.02, abs=0.02)
    assert measured[octave] == pytest.approx(-25, abs=0.35)
    assert once[octave] == pytest.approx(-12.5, abs=0.2)
    audible = once > -40
    assert np.allclose(measured[audible], 2 * once[audible], atol=0.1)
    middle = np.argmax(np.abs(twice))
    assert middle == RATE // 2  # no delay
    assert np.allclose(twice[middle - 99 : middle], twice[middle + 99 : middle : -1], atol=1e-6)


@pytest.mark.parametrize("samples", [1, 2, 5, 9, 10])
def test_the_released_definition_takes_short_signals(rng, samples):
    filtered = filters.lowpass_filter(np.ones(samples), RATE, rng, cutoff=500, order=2, definition="released")
    assert np.allclose(filtered, 1, atol=1e-6)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tilt_filter_is_symmetric_and_read_only(direction):
    taps = filters.tilt_filter(direction)
    assert taps.shape == (1024,)
    assert np.argmax(np.abs(taps)) == 512
    assert np.allclose(taps[1:], taps[:0:-1], atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        taps[0] = 1


def test_tilt_response_on_the_grid_of_its_design():
    ramp = np.arange(513) / 512
    down = np.abs(np.fft.rfft(filters.tilt_filter("downward")))
    up = np.abs(np.fft.rfft(filters.tilt_filter("upward")))
    assert np.allclose(down, 1 - ramp, atol=1e-12)
    assert np.allclose(up[1:-1], 2 * ramp[1:-1], atol=1e-12)
    assert up[0] == pytest.approx(0.013)
    assert up[-1] < 0.1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tilt_response_between_the_grid(rng, direction):
    tilted = filters.spectral_tilt(impulse(at=RATE // 2, size=0.5), RATE, rng, direction=direction)
    measured = response_db(tilted)
    band = slice(200, 7501)
    ramp = FREQUENCIES / 8000 if direction == "upward" else 1 - FREQUENCIES / 8000
    expected = 20 * np.log10(ramp[band])
    offset = np.median(measured[band] - expected)  # the level match
    assert np.abs(measured[band] - expected - offset).max() < 0.5


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("samples", [1, 10, 1024, 48000])
def test_tilt_restores_the_level(rng, direction, samples):
    signal = (0.02 * rng.standard_normal(samples)).astype(np.float32)
    tilted = filters.spectral_tilt(signal, RATE, rng, direction=direction)
    assert tilted.size == samples
    assert decibel(rms(tilted)) == pytest.approx(decibel(rms(signal)), abs=0.1)


def test_tilt_limits_by_the_largest_magnitude(rng):
    low = np.sin(2 * np.pi * 100 / RATE * np.arange(RATE)).astype(np.float32)
    clicks = low.copy()
    clicks[::500] *= -1
    for signal in (clicks, -clicks):
        tilted = filters.spectral_tilt(signal, RATE, rng, direction="upward")
        assert peak(tilted) == pytest.approx(1, abs=1e-6)
        assert peak(tilted) <= 1
        assert rms(tilted) < 0.9 * rms(signal)  # the level is given up, not the peaks


def test_tilt_agrees_with_plain_convolution(rng):
    signal = (0.02 * rng.standard_normal(3000)).astype(np.float32)
    signal -= signal.mean()
    for direction in DIRECTIONS:
        full = np.convolve(signal.astype(np.float64), filters.tilt_filter(direction))
        assert full.size == 3000 + 1023
        expected = full[512:-511]
        expected *= rms(signal) / rms(expected)
        assert np.allclose(filters.spectral_tilt(signal, RATE, rng, direction=direction), expected, atol=1e-7)
