"""Sounds and folders of recordings that a suite names: which are used, and what is said of the others."""

import os
from pathlib import Path
from types import SimpleNamespace

import audformat
import numpy as np
import pandas as pd
import pytest
import soundfile
import yaml

from soundcheck.augment import recordings, registry
from soundcheck.augment import sounds as module
from soundcheck.augment.recordings import measurements, read_sounds
from soundcheck.augment.registry import missing
from soundcheck.augment.sounds import Sound, Sounds, SoundSet
from soundcheck.common.messages import InputError
from soundcheck.report.method_views import material
from soundcheck.suite.entries import SoundEntry
from soundcheck.suite.families import Perturbation
from soundcheck.suite.thresholds import read_family

REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yml").read_text("utf-8"))
RATE = 16000


@pytest.fixture
def write(tmp_path):
    """Write files of noise: ``write("coughs", "a.wav", "b.wav", channels=2)``."""

    def written(folder, *names, seconds=0.1, channels=1):
        for name in names:
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng(len(str(path)))
            soundfile.write(path, 0.1 * rng.standard_normal((round(seconds * RATE), channels)), RATE)

        return tmp_path / folder

    return written


@pytest.fixture
def read(tmp_path):
    """Read folders as sounds of a suite: ``read(coughing="coughs", rooms=("air", {"base": "hall"}))``."""

    def sounds(**folders):
        entries = {}
        for kind, folder in folders.items():
            folder, more = folder if isinstance(folder, tuple) else (folder, {})
            entries[kind] = SoundEntry(kind, tmp_path / folder, folder, **more)
        return read_sounds(entries, 3600, tmp_path / "cache")

    return sounds


def roles(group):
    return {sound.name: sound.role for sound in group.sounds}


def test_a_folder_is_searched_and_files_that_cannot_be_used_are_listed(write, read):
    names = ("b.wav", "sub/a.flac", ".hidden/x.wav", "._b.wav", "build/html/media/c.flac")
    folder = write("coughs", *names)
    (folder / "build/.soundcheck").write_text("{}")
    (folder / "README.txt").write_text("no sound")
    (folder / "bad.wav").write_bytes(b"no audio at all, but long enough to be looked at")
    (folder / "empty.wav").write_bytes(b"")
    os.mkfifo(folder / "pipe.wav")  # does not block
    group = read(coughing="coughs")["coughing"]
    assert [sound.name for sound in group.sounds] == ["b.wav", "sub/a.flac"]
    assert group.source == "recordings of the suite, coughs" and not group.synthetic
    assert group.duration == pytest.approx(0.2)
    assert {name for name, _ in group.left_out} == {"bad.wav", "empty.wav", "pipe.wav"}


def test_the_layout_of_musan_and_a_kind_of_its_own(write, read):
    write("musan", "speech/librivox/s.wav", "music/jamendo/m.wav", "noise/free-sound/n.wav")
    expected = {"babble": "librivox/s.wav", "environmental": "free-sound/n.wav", "music": "jamendo/m.wav"}
    assert {kind: group.sounds[0].name for kind, group in read(noise="musan").items()} == expected
    write("songs", "s.wav")
    assert list(roles(read(noise="musan", music="songs")["music"])) == ["s.wav"]


def test_nothing_usable_is_refused_for_all_kinds_at_once(tmp_path, read):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/a.wav").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        read(music="empty", sneezing="bad", noise="empty")
    text = str(caught.value)
    assert "sounds.noise: 'empty' has no folder for any kind of noise. Known are babble, speech" in text
    assert "sounds.music: there is no audio file in 'empty'. Put recordings there: .wav" in text
    assert "sounds.sneezing: no recording can be used ('a.wav': 0 bytes, the file is empty)" in text


# Impulse responses by the names of published databases


def test_the_names_of_mardy(write, read):
    places = [(d, p) for d in (1, 2) for p in "LCR"]
    write("mardy", *(f"ir_{d}_{p}_{m}.wav" for d, p in places for m in (1, 4)))
    write("whole", *(f"ir_{d}_{p}.wav" for d, p in places), channels=8)  # of all microphones
    for folder, end in (("mardy", "_4"), ("whole", "")):
        assert roles(read(positions=folder)["positions"]) == {
            f"ir_{d}_{p}{end}.wav": "base" if (d, p) == (1, "C") else "other" for d, p in places
        }


def test_rooms_of_air_are_compared_at_similar_distances(write, read):
    """The published comparison: one response of the booth with lecture_0_1, meeting_0_3 and office_0_2."""
    counts = {"booth": 3, "office": 3, "meeting": 5, "lecture": 6}
    names = [
        f"air_binaural_{room}_{head}_{n}.wav"
        for room, count in counts.items()
        for head in (0, 1)
        for n in range(1, count + 1)
    ]
    write("air", *names, "air_phone_office_hhp_1.wav", channels=2)
    group = read(rooms="air")["rooms"]
    (base,) = (sound for sound in group.sounds if sound.role == "base")
    assert (base.name, base.distance) == ("air_binaural_booth_0_3.wav", 1.5)
    assert {sound.channel for sound in group.sounds} == {0}
    booth = {name for name in names if "booth" in name}
    assert {name for name, role in roles(group).items() if not role} == booth - {base.name}

    def drawn(*wanted):
        responses = Sounds({"rooms": group}).responses("rooms", "other", *wanted)
        return {(sound.label, sound.distance) for sound in responses}

    published = {("lecture", 2.25), ("meeting", 1.9), ("office", 2.0)}
    assert published < drawn(1.5) and drawn(1.5) - published == {
        *(("meeting", metres) for metres in (1.45, 1.7, 2.25)),
        ("office", 1.0),
    }
    assert drawn(1.4, 4) == {("lecture", 5.56), ("lecture", 7.1)}
    why = "nothing tells at which distance it was measured"
    assert group.left_out == (("air_phone_office_hhp_1.wav", why),)


def test_distances_and_rooms_in_the_names_of_air():
    expected = {
        "air_type1_air_binaural_booth_0_1.wav": ("booth", 0.5),
        "air_binaural_lecture_0_1_4.wav": ("lecture", 7.1),  # channel, head, number
        "air_type1_air_binaural_aula_carolina_1_5_90_3.wav": ("aula_carolina", 15),
        "air_binaural_booth_0_9.wav": ("booth", 0),
        "air_phone_office_hfrp_1.wav": ("office", 0),  # a telephone is no part of the room
    }
    places = measurements(Path("nowhere"), "air", [*expected, "air_phone_lecture1_hhp_0.wav"])
    assert {name: (place.label, place.distance) for name, place in places.items()} == expected


# Impulse responses by a table or by folders


def test_a_table_tells_what_responses_stand_for_and_the_base_is_one_of_them(write, read):
    folder = write("rooms", "a.wav", "b.wav", "c.wav", "d.wav", "e.wav", "unlisted.wav")
    rows = "a.wav,booth,0.5 b.wav,Booth,2 c.wav,hall,2.5 d.wav,cave,3 e.wav,hall,0.4"
    (folder / "impulse_responses.csv").write_text("\n".join(["file,label,distance", *rows.split(), ""]))

    def used_as(base):
        return " ".join(
            role or "-" for role in roles(read(rooms=("rooms", {"base": base}))["rooms"]).values()
        )

    assert used_as("BOOTH") == "- base other other other"  # b.wav: two rooms at a similar distance, a.wav one
    assert used_as("a.wav") == "base - other other other"
    assert used_as("hall") == "other other base other -"
    (folder / "impulse_responses.csv").write_text("file,label\na.wav,booth\nb.wav,hall\n")
    assert used_as("booth") == "base other"


def test_tables_that_are_refused(write, read):
    folder = write("rooms", "1.wav", "2.wav", "3.wav")
    for table, message in REFUSED["tables of impulse responses"].items():
        (folder / "impulse_responses.csv").write_text(table.replace("|", "\n") + "\n")
        with pytest.raises(InputError) as caught:
            read(rooms="rooms")
        assert message in str(caught.value), table


def test_without_distances_all_other_rooms_are_compared(write, read):
    write("rooms", "hut/a.wav", "hut/b.wav", "hall/c.wav", "cave/d.wav")
    group = read(rooms=("rooms", {"base": "Hut"}))["rooms"]
    expected = {"hut/a.wav": "base", "hut/b.wav": "", "hall/c.wav": "other", "cave/d.wav": "other"}
    assert roles(group) == expected
    sounds, family = Sounds({"rooms": group}), read_family("robustness_simulated_recording_condition")
    assert len(sounds.responses("rooms", "other", 1.5)) == 2
    tables = str(material(family, sounds))
    assert "Nothing says at which distances the rooms were measured" in tables
    assert "Rooms by distance" not in tables  # no sweep of a single step
    assert not missing(family.changes["Simulated Room"], sounds)
    twice = family.sweeps["Rooms by distance"].steps["2"]
    assert "nothing tells at which distances" in missing(twice, sounds)
    with pytest.raises(InputError, match="sounds.rooms.base: .* is called 'booth'.*cave, hall, hut"):
        read(rooms="rooms")


def test_responses_that_nothing_tells_apart(write, read):
    write("rooms", "x.wav", "y.wav")
    with pytest.raises(InputError, match="nothing tells which room .* Add a table impulse_responses.csv"):
        read(rooms="rooms")
    write("booth only", "air_binaural_booth_0_1.wav", "air_binaural_booth_0_2.wav")
    with pytest.raises(InputError, match="there is nothing to compare the base with"):
        read(rooms="booth only")


def test_what_distances_lack_and_what_may_be_drawn(write, read):
    write("air", *(f"air_binaural_{name}.wav" for name in ("booth_0_3", "office_0_2", "lecture_0_6")))
    sounds, family = Sounds(read(rooms="air")), read_family("robustness_simulated_recording_condition")
    expected = "of rooms, nothing but booth was measured at a distance within a ratio of 1.4 of 6 m"
    assert missing(family.sweeps["Rooms by distance"].steps["4"], sounds) == expected
    for ratios, problem in (([1, 1.5], "ratio of 1 of 1.5 m"), ([1.5, 0], "")):
        options = {"responses": "rooms", "role": ["base", "other"], "ratio": ratios}
        change = Perturbation("Any", "reverberation", options)
        assert problem in missing(change, sounds) and bool(problem) == bool(missing(change, sounds))
    assert len(registry.drawable(change, sounds)) == 3


# Databases


def test_a_database_with_a_column_that_tells_the_kind(write, read):
    folder = write("db", "audio/all.wav", seconds=1.0)
    db = audformat.Database("sounds")
    db.schemes["category"] = audformat.Scheme("str", labels=["coughing", "sneezing"])
    starts = pd.to_timedelta([0.0, 0.2, 0.5], "s")
    index = audformat.segmented_index(["audio/all.wav"] * 3, starts, starts + pd.to_timedelta(0.2, "s"))
    db["events"] = audformat.Table(index)
    db["events"]["category"] = audformat.Column(scheme_id="category")
    db["events"]["category"].set(["coughing", "sneezing", "coughing"])
    db.save(folder)
    kinds = read(**{kind: ("db", {"where": {"category": kind}}) for kind in ("coughing", "sneezing")})
    assert [sound.start for sound in kinds["coughing"].sounds] == [0.0, 0.5]
    (sneeze,) = kinds["sneezing"].sounds
    whole, _ = soundfile.read(folder / "audio/all.wav", dtype="float32")
    assert np.allclose(sneeze.read(RATE), whole[3200:6400])
    write("coughs", "a.wav")
    for where, source, message in (
        ({"category": "talking"}, "db", "no segment has 'talking' in column 'category'"),
        ({"kind": "coughing"}, "db", "sounds.coughing.where: column 'kind' cannot be read from db"),
        ({"a": "b"}, "coughs", "only audformat databases have columns"),
    ):
        with pytest.raises(InputError, match=message):
            read(coughing=(source, {"where": where}))


def test_a_run_needs_no_speech_in_other_languages(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "SOUND_SOURCES", {})
    suite = SimpleNamespace(file=Path("suite.yml"), audio_seconds=60.0, sounds={})
    with pytest.raises(InputError, match="nobody has sounds of music, which"):
        recordings.load_sounds(suite, {"music", "other_language"}, tmp_path)
    sounds = recordings.load_sounds(suite, {"other_language"}, tmp_path)
    changes = read_family("asr_hallucination").changes
    assert "no sounds of the kind other_language; a suite names" in missing(changes["Other Language"], sounds)
    assert not missing(changes["Silence"], sounds)


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
