"""One sound, all sounds of a kind, and the list that workers and notebooks get."""

import numpy as np
import pytest
import soundfile

from soundcheck.augment import sounds as module
from soundcheck.augment.sounds import Sound, Sounds, SoundSet

RATE = 16000


def in_file(path, signal, rate=RATE, **more) -> Sound:
    soundfile.write(path, signal, rate, subtype="FLOAT")
    return Sound(path.name, path, len(signal) / rate, "digest", **more)


@pytest.fixture(params=["file", "long file"])
def ramp(request, tmp_path, monkeypatch):
    signal = np.linspace(0.1, 0.9, 1000).astype(np.float32)
    if request.param == "long file":
        monkeypatch.setattr(module, "WHOLE", 0.001)
    return in_file(tmp_path / "ramp.wav", signal), signal


@pytest.mark.parametrize("first, count", [(0, 10), (995, 10), (5, 3500), (2001, 4)])
def test_parts_begin_anywhere_and_go_round(ramp, first, count):
    sound, signal = ramp
    assert sound.samples(RATE) == 1000
    expected = np.take(signal, np.arange(first, first + count), mode="wrap")
    assert np.allclose(sound.part(first, count, RATE), expected, atol=1e-6)


def test_a_part_of_a_file(tmp_path):
    whole = np.arange(1, 1601, dtype=np.float32) / 2000
    sound = in_file(tmp_path / "a.wav", whole)
    part = Sound("a", sound.path, 0.05, "x", start=0.025)
    assert np.allclose(part.read(RATE), whole[400:1200])


def test_channels(tmp_path):
    stereo = np.stack([np.full(400, 0.5), np.full(400, 0.1)], axis=1)
    path = tmp_path / "two.wav"
    soundfile.write(path, stereo, RATE, subtype="FLOAT")
    assert np.allclose(Sound("mixed", path, 0.025).read(RATE), 0.3)
    assert np.allclose(Sound("first", path, 0.025, channel=0).read(RATE), 0.5)
    assert np.allclose(Sound("second", path, 0.025, channel=1).read(RATE), 0.1)


def test_other_rates_are_resampled(tmp_path):
    time = np.arange(44100) / 44100
    sound = in_file(tmp_path / "tone.wav", np.sin(2 * np.pi * 500 * time), 44100)
    found = sound.read(RATE)
    assert len(found) == pytest.approx(RATE, abs=2)
    assert np.argmax(np.abs(np.fft.rfft(found[:RATE]))) == pytest.approx(500, abs=1)


def test_a_file_that_vanished_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"the sound gone\.wav can no longer be read"):
        Sound("gone", tmp_path / "gone.wav", 1.0).read(RATE)


def test_what_is_read_cannot_be_changed(tmp_path):
    sound = in_file(tmp_path / "a.wav", np.ones(400))
    with pytest.raises(ValueError, match="read-only"):
        sound.read(RATE)[0] = 0


def test_the_list_is_found_again(tmp_path):
    sounds = Sounds(
        {
            "rooms": SoundSet(
                "rooms",
                (in_file(tmp_path / "a.wav", np.ones(400), role="base", channel=0), Sound("b", role="other")),
                "recorded",
                False,
                (("c.wav", "0 samples"),),
            )
        }
    )
    sounds.write(tmp_path / "sounds.json")
    found = Sounds.load(tmp_path / "sounds.json")
    assert found == sounds
    assert found.digest("rooms") == sounds.digest("rooms")
    assert [sound.name for sound in found.of("rooms", "base")] == ["a.wav"]


def test_the_digest_tells_contents_and_roles_apart():
    one, two, base = Sound("a", digest="1"), Sound("a", digest="2"), Sound("a", digest="1", role="base")
    assert len({SoundSet("x", group).digest for group in ((one,), (two,), (one, two), (base,))}) == 4
    assert SoundSet("x", (Sound("other name", digest="1"),)).digest == SoundSet("x", (one,)).digest
    assert Sounds().digest("music") == ""


def test_a_kind_or_role_without_sounds_is_named():
    sounds = Sounds({"rooms": SoundSet("rooms", (Sound("a", role="other"),))})
    with pytest.raises(ValueError, match="no sounds of the kind base rooms"):
        sounds.of("rooms", "base")
    with pytest.raises(ValueError, match="no sounds of the kind music"):
        sounds.of("music")
    assert "rooms" in sounds and "music" not in sounds
