"""Lost packets and distance against their definitions."""

import numpy as np
import pytest

from soundcheck.augment.transmission import far_field, lost_packets

RATE = 16000
PACKET = 320


def speech(seconds=1.0, seed=3):
    return (0.1 * np.random.default_rng(seed).standard_normal(round(seconds * RATE))).astype(np.float32)


@pytest.mark.parametrize("percent", [0, 5, 40, 100])
@pytest.mark.parametrize("concealment", ["none", "repetition"])
def test_packets_that_are_lost(percent, concealment):
    """A plain loop over packets: kept, silent, or the last one that arrived, fading by half."""
    signal = speech(1.01)
    heard = lost_packets(signal, RATE, np.random.default_rng(0), percent=percent, concealment=concealment)
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
        assert np.array_equal(heard[place], expected), n
    assert len(lost) == count * percent // 100 and heard.size == signal.size


def test_at_a_higher_share_the_same_packets_are_lost_and_more():
    signal = np.ones(100 * PACKET, dtype=np.float32)
    silent = [
        lost_packets(signal, RATE, np.random.default_rng(5), percent=percent) == 0 for percent in (10, 20, 40)
    ]
    assert [int(one[::PACKET].sum()) for one in silent] == [10, 20, 40]
    assert (silent[1] | ~silent[0]).all() and (silent[2] | ~silent[1]).all()


@pytest.mark.parametrize("metres", [0.5, 1, 4])
def test_direct_sound_and_tail_of_a_click(metres):
    """The energy of the tail is that of the direct path at 1 m, and grows by 6 dB for each doubling."""
    click = np.zeros(RATE, dtype=np.float32)
    click[0] = 0.5
    heard = far_field(click, RATE, np.random.default_rng(0), metres=metres, snr_db=120).astype(float)
    direct, tail = heard[0] ** 2, np.sum(heard[PACKET // 20 :] ** 2)
    assert 10 * np.log10(tail / direct) == pytest.approx(20 * np.log10(metres), abs=0.6)
    assert np.sqrt(np.mean(heard**2)) == pytest.approx(np.sqrt(np.mean(click.astype(float) ** 2)), rel=1e-4)
    halves = [
        np.sum(heard[part] ** 2) for part in (slice(16, 2000), slice(4016, 6000))
    ]  # a quarter second apart
    assert 10 * np.log10(halves[0] / halves[1]) == pytest.approx(30, abs=2)


def test_noise_of_the_room():
    """With a tail that is short and faint, what is left is the noise: 20 dB below the speech at 2 m."""
    signal = speech(4)
    options = {"metres": 2.0, "snr_db": 26.02, "critical_distance": 1000, "reverberation_time": 0.05}
    heard = far_field(signal, RATE, np.random.default_rng(1), **options).astype(float)
    spoken = signal * (np.dot(heard, signal) / np.dot(signal, signal))
    ratio = np.sum(spoken**2) / np.sum((heard - spoken) ** 2)
    assert 10 * np.log10(ratio) == pytest.approx(20, abs=0.3)
    assert not far_field(np.zeros(500, np.float32), RATE, np.random.default_rng(0), metres=2).any()


@pytest.mark.parametrize(
    "transform, options, told",
    [
        (lost_packets, {"percent": 101}, "percent"),
        (lost_packets, {"percent": 5, "milliseconds": 0}, "milliseconds"),
        (far_field, {"metres": 0}, "metres"),
        (far_field, {"metres": 1, "reverberation_time": 9}, "reverberation_time"),
        (far_field, {"metres": 1, "critical_distance": 0}, "critical_distance"),
        (far_field, {"metres": 1, "snr_db": 200}, "snr_db"),
    ],
)
def test_wrong_options_are_named(transform, options, told):
    with pytest.raises(ValueError, match=told):
        transform(np.zeros(10, np.float32), RATE, np.random.default_rng(0), **options)
