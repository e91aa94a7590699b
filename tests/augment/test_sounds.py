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


@pytest.mark.parametrize("longest_whole", [3600.0, 0.001])  # read at once, or the part alone
def test_parts_begin_anywhere_and_go_round(tmp_path, monkeypatch, longest_whole):
    monkeypatch.setattr(module, "WHOLE", longest_whole)
    signal = np.linspace(0.1, 0.9, 1000).astype(np.float32)
    ramp = in_file(tmp_path / "ramp.wav", signal)
    assert ramp.samples(RATE) == 1000
    for first, count in ((0, 10), (995, 10), (5, 3500), (2001, 4)):
        expected = np.take(signal, np.arange(first, first + count), mode="wrap")
        assert np.allclose(ramp.part(first, count, RATE), expected, atol=1e-6)
    middle = Sound("a", ramp.path, 0.05, "x", start=0.025)
    assert np.allclose(middle.read(RATE), signal[400:1200])
    with pytest.raises(ValueError, match="read-only"):
        ramp.read(RATE)[0] = 0


def test_channels_and_other_rates(tmp_path):
    path = tmp_path / "two.wav"
    soundfile.write(path, np.tile([0.5, 0.1], (400, 1)), RATE, subtype="FLOAT")
    for channel, expected in ((None, 0.3), (0, 0.5), (1, 0.1)):
        assert np.allclose(Sound("two", path, 0.025, channel=channel).read(RATE), expected)
    tone = in_file(tmp_path / "tone.wav", np.sin(2 * np.pi * 500 * np.arange(44100) / 44100), 44100)
    resampled = tone.read(RATE)
    assert len(resampled) == pytest.approx(RATE, abs=2)
    assert np.argmax(np.abs(np.fft.rfft(resampled[:RATE]))) == pytest.approx(500, abs=1)
    with pytest.raises(ValueError, match=r"the sound gone\.wav can no longer be read"):
        Sound("gone", tmp_path / "gone.wav", 1.0).read(RATE)


def test_the_list_is_found_again(tmp_path):
    rooms = in_file(tmp_path / "a.wav", np.ones(400), role="base", channel=0), Sound("b", role="other")
    sounds = Sounds({"rooms": SoundSet("rooms", rooms, "recorded", False, (("c.wav", "0 samples"),))})
    sounds.write(tmp_path / "sounds.json")
    loaded = Sounds.load(tmp_path / "sounds.json")
    assert loaded == sounds and loaded.digest("rooms") == sounds.digest("rooms")
    assert [sound.name for sound in loaded.of("rooms", "base")] == ["a.wav"]
    groups = [(Sound("a", digest=digest, role=role),) for digest in "12" for role in ("", "base")]
    assert len({SoundSet("x", group).digest for group in (*groups, groups[0] + groups[2])}) == 5
    with pytest.raises(ValueError, match="no sounds of the kind base music"):
        sounds.of("music", "base")
