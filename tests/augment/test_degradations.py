"""Degradations of speech against their definitions."""

import numpy as np
import pytest

from soundcheck.augment import degradations as d
from soundcheck.augment.level import peak

RATE = 16000


@pytest.fixture
def speech(rng):
    return (0.4 * np.clip(rng.standard_normal(RATE) / 4, -1, 1)).astype(np.float32)


@pytest.mark.parametrize("factor", [2.0, 0.5, 0.1])
def test_amplitude(speech, rng, factor):
    assert np.allclose(d.scaled_amplitude(speech, RATE, rng, factor=factor), factor * speech, rtol=1e-6)


@pytest.mark.parametrize("limit", [0.05, 0.01, 1.0])
def test_clipping_keeps_the_peak(speech, rng, limit):
    clipped = d.clipped_at(speech, RATE, rng, limit=limit)
    highest = peak(speech)
    assert peak(clipped) == pytest.approx(highest, rel=1e-6)
    beyond = np.abs(speech) >= limit * highest
    assert np.allclose(np.abs(clipped[beyond]), highest, rtol=1e-5)
    assert np.allclose(clipped[~beyond], speech[~beyond] / limit, rtol=1e-5)


def test_the_released_definition_clips_at_full_scale(rng):
    """The text clips the same samples of loud and quiet speech, the released generator fewer of quiet one."""
    loud = rng.laplace(size=RATE)
    loud = (loud / np.abs(loud).max()).astype(np.float32)
    shares = {}
    for level in (1.0, 0.3, 0.1):
        signal = (level * loud).astype(np.float32)
        released = d.clipped_at(signal, RATE, rng, limit=0.05, definition="released")
        shares[level] = (np.abs(released) >= np.float32(0.05)).mean()
        assert shares[level] == (np.abs(signal) / 1.414 >= 0.05).mean()
        assert peak(released) <= 0.05 + 1e-9  # nothing is scaled back
        untouched = np.abs(released) < 0.05
        assert np.allclose(released[untouched], signal[untouched] / 1.414)
        text = d.clipped_at(signal, RATE, rng, limit=0.05)
        assert (np.abs(text) >= 0.999 * level).mean() == pytest.approx(
            (np.abs(loud) >= 0.05).mean(), abs=1e-3
        )
    assert shares[1.0] > 0.4 and shares[0.3] < shares[1.0] / 3 and shares[0.1] < 0.01


@pytest.mark.parametrize("percent, milliseconds", [(5, 20), (25, 20), (10, 10), (10, 50), (50, 20), (0, 20)])
def test_dropped_chunks_are_counted_and_never_neighbours(rng, percent, milliseconds):
    signal = np.ones(RATE + 77, dtype=np.float32)
    dropped = d.dropped_chunks(signal, RATE, rng, percent=percent, milliseconds=milliseconds)
    length = RATE * milliseconds // 1000
    pairs = len(signal) // (2 * length)
    chunks = dropped[: 2 * pairs * length].reshape(-1, length)
    silent = (chunks == 0).all(axis=1)
    assert silent.sum() == 2 * pairs * percent // 100
    assert (chunks[~silent] == 1).all()
    assert not (silent[1:] & silent[:-1]).any()
    assert (dropped[2 * pairs * length :] == 1).all()


def test_chunks_are_drawn_anew(rng):
    signal = np.ones(RATE, dtype=np.float32)
    drawn = {d.dropped_chunks(signal, RATE, rng, percent=10, milliseconds=20).tobytes() for _ in range(9)}
    assert len(drawn) == 9
    short = np.ones(100, dtype=np.float32)
    assert d.dropped_chunks(short, RATE, rng, percent=50, milliseconds=20).all()


@pytest.mark.parametrize("factor", [0.9, 0.8, 0.7, 0.6, 0.5])
def test_slower_is_longer_and_lower(rng, factor):
    tone = np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE).astype(np.float32)
    slow = d.slowed_down(tone, RATE, rng, factor=factor)
    assert len(slow) == pytest.approx(RATE / factor, abs=1)
    spectrum = np.abs(np.fft.rfft(slow * np.hanning(len(slow))))
    assert np.argmax(spectrum) * RATE / len(slow) == pytest.approx(1000 * factor, abs=2)


@pytest.mark.parametrize(
    "call, options, words",
    [
        (d.scaled_amplitude, {"factor": 0}, "factor is 0"),
        (d.clipped_at, {"limit": 1.5}, "limit is 1.5"),
        (d.dropped_chunks, {"percent": 60, "milliseconds": 20}, "percent is 60"),
        (d.dropped_chunks, {"percent": 5, "milliseconds": 0.1}, "milliseconds is 0.1"),
        (d.slowed_down, {"factor": 0.01}, "factor is 0.01"),
    ],
)
def test_options_out_of_range(speech, rng, call, options, words):
    with pytest.raises(ValueError, match=words):
        call(speech, RATE, rng, **options)
