"""Synthesised sounds: drawn alike each time, different among themselves, and what they claim to be."""

import numpy as np
import pytest
import soundfile

from soundcheck.common.seeds import generator
from soundcheck_demo.sounds import build, environment, events, music, rooms

RATE = 16000
MAKERS = {"cough": events.cough, "sneeze": events.sneeze, "music": music.music, **environment.SCENES}


@pytest.mark.parametrize("name", MAKERS)
def test_sounds_vary_and_repeat(name):
    def make(n):
        return MAKERS[name](generator(0, "test", n))

    one, two = make(1), make(2)
    assert np.array_equal(one, make(1))
    assert np.isfinite(one).all() and np.abs(one).max() > 0
    if name == "dial_tone":  # three kinds of tone
        assert len({make(n).tobytes() for n in range(20)}) == 3
    else:
        assert not np.array_equal(one, two)
    seconds = len(one) / RATE
    low, high = {"cough": (0.15, 2), "sneeze": (0.5, 1.5), "music": (12, 12)}.get(name, (6, 8))
    assert low <= seconds <= high


def test_a_dial_tone_has_its_frequencies():
    found = set()
    for n in range(20):
        spectrum = np.abs(np.fft.rfft(environment.dial_tone(generator(0, "dial", n))))
        found.add(tuple(np.flatnonzero(spectrum > spectrum.max() / 2) / environment.SECONDS))
    assert {(425.0,), (350.0, 440.0)} <= found


def test_dialled_keys_are_pairs_of_tones():
    signal = environment.dialling(generator(0, "keys"))
    spectrum = np.abs(np.fft.rfft(signal)) ** 2
    hertz = np.fft.rfftfreq(len(signal), 1 / RATE)
    near = np.min(np.abs(hertz[:, None] - np.array(environment.ROWS + environment.COLUMNS)), axis=1) < 30
    assert spectrum[near].sum() > 0.9 * spectrum.sum()


def direct(response):
    return int(np.argmax(np.abs(response)))


def direct_to_reverberant(response):
    place = direct(response)
    near = slice(max(0, place - 30), place + 40)
    energy = response**2
    return 10 * np.log10(energy[near].sum() / (energy.sum() - energy[near].sum()))


def test_the_direct_path_takes_its_time():
    size, absorption, _ = rooms.ROOMS["lecture room"]
    delays = [direct(rooms.response(size, absorption, d)) for d in (1, 2, 3)]
    assert np.allclose(np.diff(delays), RATE / 343, atol=3)


def test_rooms_differ_as_rooms_do():
    booth = rooms.response(*rooms.ROOMS["booth"][:2], 0.6)
    hall = rooms.response(*rooms.ROOMS["lecture room"][:2], 4.1)
    assert direct_to_reverberant(booth) > 5 > direct_to_reverberant(hall)
    assert len(hall) > 5 * len(booth)
    assert np.array_equal(booth, rooms.response(*rooms.ROOMS["booth"][:2], 0.6))


def test_rooms_are_measured_at_distances_similar_to_that_of_the_booth():
    """The test of rooms compares these; farther ones show twice and four times the distance."""
    (near,) = rooms.ROOMS["booth"][2]
    booth = direct_to_reverberant(rooms.response(*rooms.ROOMS["booth"][:2], near))
    for name, (size, absorption, distances) in rooms.ROOMS.items():
        if name != "booth":
            assert 1 / 1.5 <= distances[0] / near <= 1.5, name
            found = [direct_to_reverberant(rooms.response(size, absorption, metres)) for metres in distances]
            assert booth > found[0] and found == sorted(found, reverse=True), name
    for times in (1, 2, 4):
        within = [
            name
            for name, (_, _, distances) in rooms.ROOMS.items()
            if name != "booth" and any(1 / 1.4 <= metres / near / times <= 1.4 for metres in distances)
        ]
        assert len(within) >= 2


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(build, "VOICES", 2)
    monkeypatch.setattr(build, "SENTENCES", 1)
    monkeypatch.setattr(build, "PIECES", 1)
    monkeypatch.setattr(rooms, "ROOMS", {"booth": rooms.ROOMS["booth"], "office": rooms.ROOMS["office"]})
    monkeypatch.setattr(rooms, "DISTANCES", (1,))


def test_the_same_files_for_any_jobs(few, tmp_path):
    def contents(folder):
        return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    one = build.build(tmp_path / "one", jobs=1)
    two = build.build(tmp_path / "two", jobs=2)
    assert contents(one) == contents(two)
    assert {path.name for path in one.iterdir() if path.is_dir()} == set(build.SOURCES)
    for path in one.rglob("*.wav"):
        signal, rate = soundfile.read(path)
        assert rate == RATE and signal.ndim == 1
        assert 0.69 < np.abs(signal).max() < 0.71
