"""What takes samples away, adds zeros or loses packets, against definitions."""

from __future__ import annotations

import numpy as np
import pytest

from soundcheck.augment import edits

RATE = 16000
PACKET = 320


@pytest.fixture
def signal(rng):
    return rng.uniform(0.1, 1, 4000).astype(np.float32)  # no zeros of its own


@pytest.mark.parametrize("samples", [0, 1, 1000])
@pytest.mark.parametrize("rate", [8000, 48000])
def test_zeros_and_crops_are_counted_at_the_right_end(signal, rng, samples, rate):
    appended = edits.append_zeros(signal, rate, rng, samples=samples)
    prepended = edits.prepend_zeros(signal, rate, rng, samples=samples)
    assert appended.size == prepended.size == 4000 + samples
    assert np.array_equal(appended[:4000], signal) and np.array_equal(prepended[samples:], signal)
    assert not appended[4000:].any() and not prepended[:samples].any()
    assert np.array_equal(edits.crop_beginning(signal, rate, rng, samples=samples), signal[samples:])
    assert np.array_equal(edits.crop_end(signal, rate, rng, samples=samples), signal[: 4000 - samples])


@pytest.mark.parametrize("samples", [3999, 4000, 1_000_000])
def test_crop_leaves_one_sample(signal, rng, samples):
    assert edits.crop_beginning(signal, RATE, rng, samples=samples).tolist() == [signal[-1]]
    assert edits.crop_end(signal, RATE, rng, samples=samples).tolist() == [signal[0]]


@pytest.mark.parametrize(
    ("rate", "seconds", "size"), [(16000, 0.1, 1600), (8000, 0.1, 800), (16000, 1, 4000), (16000, 1e-9, 1)]
)
def test_the_middle_is_kept(signal, rng, rate, seconds, size):
    start = (4000 - size) // 2
    middle = edits.central_part(signal, rate, rng, seconds=seconds)
    assert np.array_equal(middle, signal[start : start + size])


@pytest.mark.parametrize("percent, milliseconds", [(5, 20), (25, 20), (10, 10), (10, 50), (50, 20), (0, 20)])
def test_dropped_chunks_are_counted_and_never_neighbours(rng, percent, milliseconds):
    signal = np.ones(RATE + 77, dtype=np.float32)
    dropped = edits.dropped_chunks(signal, RATE, rng, percent=percent, milliseconds=milliseconds)
    length = RATE * milliseconds // 1000
    pairs = len(signal) // (2 * length)
    chunks = dropped[: 2 * pairs * length].reshape(-1, length)
    silent = (chunks == 0).all(axis=1)
    assert silent.sum() == 2 * pairs * percent // 100
    assert (chunks[~silent] == 1).all() and (dropped[2 * pairs * length :] == 1).all()
    assert not (silent[1:] & silent[:-1]).any()


def test_chunks_are_drawn_anew(rng):
    signal = np.ones(RATE, dtype=np.float32)
    drawn = {edits.dropped_chunks(signal, RATE, rng, percent=10, milliseconds=20).tobytes() for _ in range(9)}
    assert len(drawn) == 9
    assert edits.dropped_chunks(signal[:100], RATE, rng, percent=50, milliseconds=20).all()


@pytest.mark.parametrize("percent", [0, 5, 40, 100])
@pytest.mark.parametrize("concealment", ["none", "repetition"])
def test_packets_that_are_lost(percent, concealment):
    """A plain loop over packets: arrived, silent, or the last one that arrived, fading by half."""
    signal = (0.1 * np.random.default_rng(3).standard_normal(16160)).astype(np.float32)
    rng = np.random.default_rng(0)
    result = edits.lost_packets(signal, RATE, rng, percent=percent, concealment=concealment)
    count = -(-len(signal) // PACKET)
    lost = set(np.random.default_rng(0).permutation(count)[: count * percent // 100])
    last, row = None, 0
    for n in range(count):
        place = slice(PACKET * n, min(PACKET * (n + 1), len(signal)))
        expected = signal[place]
        if n in lost:
            row += 1
            expected = np.zeros_like(expected)
            if concealment == "repetition" and last is not None:
                expected = 0.5**row * last[: len(expected)]
        else:
            last, row = expected, 0
        assert np.array_equal(result[place], expected), n
    assert len(lost) == count * percent // 100 and result.size == signal.size


def test_at_a_higher_share_the_same_packets_are_lost_and_more():
    signal = np.ones(100 * PACKET, dtype=np.float32)
    ten, twenty, forty = (
        edits.lost_packets(signal, RATE, np.random.default_rng(5), percent=percent) == 0
        for percent in (10, 20, 40)
    )
    assert [int(one[::PACKET].sum()) for one in (ten, twenty, forty)] == [10, 20, 40]
    assert (twenty | ~ten).all() and (forty | ~twenty).all()
