"""Recordings that a suite brings: folders, known layouts, databases, and what is wrong with them."""

import dataclasses
import os
import re
from pathlib import Path
from types import SimpleNamespace

import audformat
import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.augment import recordings, registry
from soundcheck.augment.recordings import read_sounds
from soundcheck.augment.registry import missing
from soundcheck.augment.responses import measurements
from soundcheck.augment.sounds import Sounds
from soundcheck.common.errors import InputError
from soundcheck.report.sound_tables import material
from soundcheck.suite.entries import SoundEntry
from soundcheck.suite.families import Perturbation
from soundcheck.suite.thresholds import read_family

RATE = 16000


def write(path, seconds=0.1, rate=RATE, channels=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(len(str(path)))
    soundfile.write(path, 0.1 * rng.standard_normal((round(seconds * rate), channels)), rate)


def read(tmp_path, **folders):
    entries = {}
    for kind, folder in folders.items():
        more = {}
        if isinstance(folder, tuple):
            folder, more = folder
        entries[kind] = SoundEntry(kind, tmp_path / folder, folder, **more)
    return read_sounds(entries, 3600, tmp_path / "cache")


def test_a_folder_is_searched(tmp_path):
    for name in ("b.wav", "sub/a.flac", ".hidden/x.wav", "._b.wav", "build/html/media/c.flac"):
        write(tmp_path / "coughs" / name)
    (tmp_path / "coughs/build/.soundcheck").write_text("{}")
    (tmp_path / "coughs" / "README.txt").write_text("no sound")
    found = read(tmp_path, coughing="coughs")["coughing"]
    assert [sound.name for sound in found.sounds] == ["b.wav", "sub/a.flac"]
    assert found.source == "recordings of the suite, coughs" and not found.synthetic
    assert found.duration == pytest.approx(0.2)


def test_the_layout_of_musan(tmp_path):
    for name in ("speech/librivox/s.wav", "music/jamendo/m.wav", "noise/free-sound/n.wav"):
        write(tmp_path / "musan" / name)
    found = read(tmp_path, noise="musan")
    assert {kind: group.sounds[0].name for kind, group in found.items()} == {
        "babble": "librivox/s.wav",
        "environmental": "free-sound/n.wav",
        "music": "jamendo/m.wav",
    }


def test_a_kind_of_its_own_comes_before_the_collection(tmp_path):
    write(tmp_path / "musan/music/m.wav")
    write(tmp_path / "songs/s.wav")
    found = read(tmp_path, noise="musan", music="songs")
    assert [sound.name for sound in found["music"].sounds] == ["s.wav"]


def test_files_that_cannot_be_used_are_listed(tmp_path):
    write(tmp_path / "coughs/good.wav")
    (tmp_path / "coughs/bad.wav").write_bytes(b"no audio at all, but long enough to be looked at")
    (tmp_path / "coughs/empty.wav").write_bytes(b"")
    found = read(tmp_path, coughing="coughs")["coughing"]
    assert [sound.name for sound in found.sounds] == ["good.wav"]
    assert [name for name, _ in found.left_out] == ["bad.wav", "empty.wav"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a Unix thing")
def test_a_pipe_does_not_block(tmp_path):
    write(tmp_path / "coughs/good.wav")
    os.mkfifo(tmp_path / "coughs/pipe.wav")
    assert read(tmp_path, coughing="coughs")["coughing"].left_out[0][0] == "pipe.wav"


def test_nothing_usable_is_refused_for_all_kinds_at_once(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/a.wav").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        read(tmp_path, music="empty", sneezing="bad", noise="empty")
    text = str(caught.value)
    assert "sounds.noise: 'empty' has no folder for any kind of noise. Known are babble, speech" in text
    assert "sounds.music: there is no audio file in 'empty'. Put recordings there: .wav" in text
    assert "sounds.sneezing: no recording can be used ('a.wav': 0 bytes, the file is empty)" in text


def responses(folder, *names, **more):
    for name in names:
        write(folder / name, **more)


def roles(found):
    return {sound.name: sound.role for sound in found.sounds}


def test_the_names_of_mardy(tmp_path):
    names = [f"ir_{d}_{p}_{m}.wav" for d in (1, 2) for p in "LCR" for m in (1, 4)]
    responses(tmp_path / "mardy", *names, rate=48000)
    found = roles(read(tmp_path, positions="mardy")["positions"])
    whole = [f"ir_{d}_{p}.wav" for d in (1, 2, 3) for p in "LCR"]  # a file for all microphones
    responses(tmp_path / "whole", *whole, rate=48000, channels=8)
    assert roles(read(tmp_path, positions="whole")["positions"]) == {
        name: "base" if name == "ir_1_C.wav" else "other" for name in whole
    }
    assert found == {
        f"ir_{d}_{p}_4.wav": "base" if (d, p) == (1, "C") else "other" for d in (1, 2) for p in "LCR"
    }


def test_the_names_of_air(tmp_path):
    names = (
        "air_binaural_booth_0_3.wav",
        "air_binaural_lecture_0_1.wav",
        "air_type1_air_binaural_office_0_2.wav",
    )
    responses(tmp_path / "air", *names, channels=2)
    found = read(tmp_path, rooms="air")["rooms"]
    assert roles(found) == {names[0]: "base", names[1]: "other", names[2]: "other"}
    assert all(sound.channel == 0 for sound in found.sounds)


def test_a_telephone_is_no_part_of_the_room_that_air_names(tmp_path):
    names = ("air_phone_office_hfrp_1.wav", "air_phone_office_hhp_1.wav", "air_phone_lecture1_hhp_0.wav")
    responses(tmp_path / "air", *names)
    found = measurements(tmp_path / "air", "air", names)
    assert {name: (place.label, place.distance) for name, place in found.items()} == {
        names[0]: ("office", 0),
        names[1]: ("office", 0),
    }


def published_air():
    """Names of the binaural part of the Aachen database, without and with a dummy head."""
    counts = {"booth": 3, "office": 3, "meeting": 5, "lecture": 6}
    names = [
        f"air_binaural_{room}_{head}_{n}.wav"
        for room, count in counts.items()
        for head in (0, 1)
        for n in range(1, count + 1)
    ]
    names += [f"air_binaural_stairway_1_{n}_{azimuth}.wav" for n in (1, 2, 3) for azimuth in (0, 90)]
    return names + [f"air_binaural_aula_carolina_1_{n}_90_3.wav" for n in range(1, 7)]


def test_rooms_of_air_are_compared_at_similar_distances(tmp_path):
    """The published comparison: one response of the booth with lecture_0_1, meeting_0_3 and office_0_2."""
    responses(tmp_path / "air", *published_air(), "air_phone_office_hhp_1.wav")
    found = read(tmp_path, rooms="air")["rooms"]
    (base,) = (sound for sound in found.sounds if sound.role == "base")
    assert (base.name, base.distance) == ("air_binaural_booth_0_3.wav", 1.5)
    assert {sound.name for sound in found.sounds if not sound.role} == {
        f"air_binaural_booth_{head}_{n}.wav" for head in (0, 1) for n in (1, 2, 3)
    } - {base.name}
    near = Sounds({"rooms": found}).responses("rooms", "other", 1.5)
    published = {f"air_binaural_{name}.wav" for name in ("lecture_0_1", "meeting_0_3", "office_0_2")}
    assert published < {sound.name for sound in near}
    assert {(sound.label, sound.distance) for sound in near} == {
        ("aula_carolina", 1.0),
        ("aula_carolina", 2.0),
        ("lecture", 2.25),
        *(("meeting", metres) for metres in (1.45, 1.7, 1.9, 2.25)),
        ("office", 1.0),
        ("office", 2.0),
        ("stairway", 1.0),
        ("stairway", 2.0),
    }
    assert found.left_out == (
        ("air_phone_office_hhp_1.wav", "nothing tells at which distance it was measured"),
    )
    far = Sounds({"rooms": found}).responses("rooms", "other", 1.4, 4)
    assert {(sound.label, sound.distance) for sound in far} == {
        ("aula_carolina", 5.0),
        ("lecture", 5.56),
        ("lecture", 7.1),
    }


def test_the_distance_in_other_names_of_air():
    names = {
        "air_type1_air_binaural_booth_0_1.wav": 0.5,
        "air_binaural_lecture_0_1_4.wav": 7.1,  # channel, head, number
        "air_binaural_stairway_0_1_2_90.wav": 2,
        "air_binaural_aula_carolina_0_1_6_90_3.wav": 20,
        "air_type1_air_binaural_aula_carolina_1_5_90_3.wav": 15,
        "air_binaural_booth_0_9.wav": 0,
        "air_binaural_cellar_0_1.wav": 0,
    }
    found = measurements(Path("nowhere"), "air", list(names))
    assert {name: place.distance for name, place in found.items()} == names


def test_the_base_is_one_response(tmp_path):
    responses(tmp_path / "rooms", "a.wav", "b.wav", "c.wav", "d.wav", "e.wav")
    table = tmp_path / "rooms" / "impulse_responses.csv"
    table.write_text(
        "file,label,distance\na.wav,booth,0.5\nb.wav,Booth,2\nc.wav,hall,2.5\nd.wav,cave,3\ne.wav,hall,0.4\n"
    )

    def chosen(**more):
        return roles(read(tmp_path, rooms=("rooms", more))["rooms"])

    assert chosen(base="BOOTH")["b.wav"] == "base"  # two rooms at a similar distance, a.wav has one
    others = dict.fromkeys(("c.wav", "d.wav", "e.wav"), "other")
    assert chosen(base="a.wav") == {"a.wav": "base", "b.wav": ""} | others
    assert chosen(base="hall") == {
        "a.wav": "other",
        "b.wav": "other",
        "c.wav": "base",
        "d.wav": "other",
        "e.wav": "",
    }


@pytest.mark.parametrize(
    "table, messages",
    [
        (
            "file,label,distance\n1.wav,booth,1\n2.wav,hall,",
            ("line 3, column distance: '2.wav' has no distance",),
        ),
        (
            "file,label,distance\n1.wav,booth,0\n2.wav,hall,1",
            ("line 2, column distance: '0' is not a valid",),
        ),
        ("file,label,distance\n1.wav,booth,-1.5\n2.wav,hall,1", ("'-1.5' is not a valid distance",)),
        (
            "file,label,distance\n1.wav,booth,near\n2.wav,hall,1",
            ("line 2, column distance: 'near' is not a",),
        ),
        ("file,label,distance\n1.wav,booth,nan\n2.wav,hall,1", ("'nan' is not a number.",)),
        ('file,label,distance\n1.wav,booth,"1,5"\n2.wav,hall,1', ("(write a point, not a comma)",)),
        (
            "file,label,distance\n1.wav,booth,1\n2.wav,hall,1\n3.wav,booth,1",
            ("line 4, column label: 'booth' has two impulse responses at 1 m, '1.wav' and '3.wav'.",),
        ),
        (
            "file,label\n1.wav,booth\n2.wav,hall\n1.wav,cave",
            ("line 4, column file: '1.wav' stands here a second",),
        ),
        (
            "file,label\n9.wav,booth\n2.wav,",
            ("line 2, column file: '9.wav' is not an audio file", "line 3, column label: the cell is empty"),
        ),
        ("name\nx", ("column file: the column is missing", "column label: the column is missing")),
    ],
)
def test_tables_that_are_refused(tmp_path, table, messages):
    responses(tmp_path / "rooms", "1.wav", "2.wav", "3.wav")
    (tmp_path / "rooms" / "impulse_responses.csv").write_text(f"{table}\n")
    with pytest.raises(InputError) as caught:
        read(tmp_path, rooms="rooms")
    assert all(message in str(caught.value) for message in messages)


def test_without_distances_all_other_rooms_are_compared(tmp_path):
    responses(tmp_path / "rooms", "hut/a.wav", "hut/b.wav", "hall/c.wav", "cave/d.wav")
    found = read(tmp_path, rooms=("rooms", {"base": "hut"}))["rooms"]
    assert roles(found) == {
        "hut/a.wav": "base",
        "hut/b.wav": "",
        "hall/c.wav": "other",
        "cave/d.wav": "other",
    }
    assert len(Sounds({"rooms": found}).responses("rooms", "other", 1.5)) == 2
    family = read_family("robustness_simulated_recording_condition")
    shown = str(material(family, Sounds({"rooms": found})))
    assert "Nothing says at which distances the rooms were measured" in shown
    assert "Rooms by distance" not in shown  # no sweep of a single step
    steps = family.sweeps["Rooms by distance"].steps
    assert not registry.missing(family.changes["Simulated Room"], Sounds({"rooms": found}))
    assert "nothing tells at which distances" in registry.missing(steps["2"], Sounds({"rooms": found}))


def test_the_page_says_what_each_response_is_used_for(tmp_path):
    responses(
        tmp_path / "air", *(f"air_binaural_{name}.wav" for name in ("booth_0_3", "office_0_2", "lecture_0_6"))
    )
    sounds = Sounds(read(tmp_path, rooms="air"))
    family = read_family("robustness_simulated_recording_condition")

    def cells(sounds):
        rows = re.findall("<tr><td.*?</tr>", str(material(family, sounds)).replace("\n", ""))
        return [re.findall(">([^<>]+)</td>", row) for row in rows]

    found = cells(sounds)
    assert ["booth", "1.5", "air_binaural_booth_0_3.wav", "Base Room"] in found
    assert ["lecture", "10.2", "air_binaural_lecture_0_6.wav", "nothing"] in found
    assert ["office", "2", "air_binaural_office_0_2.wav", "Simulated Room"] in found  # a step alone: no sweep
    responses(tmp_path / "air", "air_binaural_lecture_0_2.wav")
    found = cells(Sounds(read(tmp_path, rooms="air")))
    assert ["office", "2", "air_binaural_office_0_2.wav", "Simulated Room; Rooms by distance, 1"] in found
    assert ["lecture", "4", "air_binaural_lecture_0_2.wav", "Rooms by distance, 2"] in found
    both = Perturbation(
        "Any", "reverberation", {"responses": "rooms", "role": ["base", "other"], "ratio": [1, 1.5]}
    )
    assert "ratio of 1 of 1.5 m" in registry.missing(both, sounds)
    both = dataclasses.replace(both, options={**both.options, "ratio": [1.5, 0]})
    assert len(registry.drawable(both, sounds)) == 3 and not registry.missing(both, sounds)
    step = family.sweeps["Rooms by distance"].steps["4"]
    assert registry.missing(step, sounds) == (
        "of rooms, nothing but booth was measured at a distance within a ratio of 1.4 of 6 m"
    )


def test_a_base_of_ones_own(tmp_path):
    responses(tmp_path / "rooms", "hall/a.wav", "hall/b.wav", "cellar/c.wav")
    found = read(tmp_path, rooms=("rooms", {"base": "Cellar"}))["rooms"]
    assert roles(found) == {"cellar/c.wav": "base", "hall/a.wav": "other", "hall/b.wav": "other"}
    with pytest.raises(
        InputError, match="sounds.rooms.base: no impulse response is called 'booth'.*cellar, hall"
    ):
        read(tmp_path, rooms="rooms")


def test_a_table_tells_what_responses_stand_for(tmp_path):
    responses(tmp_path / "rooms", "1.wav", "2.wav", "3.wav")
    (tmp_path / "rooms" / "impulse_responses.csv").write_text("file,label\n1.wav,booth\n2.wav,hall\n")
    assert roles(read(tmp_path, rooms="rooms")["rooms"]) == {"1.wav": "base", "2.wav": "other"}


def test_responses_that_nothing_tells_apart(tmp_path):
    responses(tmp_path / "rooms", "x.wav", "y.wav")
    with pytest.raises(InputError, match="nothing tells which room .* Add a table impulse_responses.csv"):
        read(tmp_path, rooms="rooms")
    responses(tmp_path / "booth only", "air_binaural_booth_0_1.wav", "air_binaural_booth_0_2.wav")
    with pytest.raises(InputError, match="there is nothing to compare the base with"):
        read(tmp_path, rooms="booth only")


@pytest.fixture
def database(tmp_path):
    write(tmp_path / "db/audio/all.wav", seconds=1.0)
    db = audformat.Database("sounds")
    db.schemes["category"] = audformat.Scheme("str", labels=["coughing", "sneezing"])
    starts = pd.to_timedelta([0.0, 0.2, 0.5], "s")
    index = audformat.segmented_index(["audio/all.wav"] * 3, starts, starts + pd.to_timedelta(0.2, "s"))
    db["events"] = audformat.Table(index)
    db["events"]["category"] = audformat.Column(scheme_id="category")
    db["events"]["category"].set(["coughing", "sneezing", "coughing"])
    db.save(tmp_path / "db")
    return tmp_path


def test_a_database_with_a_column_that_tells_the_kind(database):
    entries = {kind: ("db", {"where": {"category": kind}}) for kind in ("coughing", "sneezing")}
    found = read(database, **entries)
    assert [(s.start, pytest.approx(s.duration)) for s in found["coughing"].sounds] == [
        (0.0, 0.2),
        (0.5, 0.2),
    ]
    (sneeze,) = found["sneezing"].sounds
    whole, _ = soundfile.read(database / "db/audio/all.wav", dtype="float32")
    assert np.allclose(sneeze.read(RATE), whole[3200:6400])


def test_a_database_without_the_value(database):
    with pytest.raises(InputError, match="no segment has 'talking' in column 'category'"):
        read(database, coughing=("db", {"where": {"category": "talking"}}))
    with pytest.raises(InputError, match="sounds.coughing.where: column 'kind' cannot be read from db"):
        read(database, coughing=("db", {"where": {"kind": "coughing"}}))


def test_a_column_of_a_folder_is_refused(tmp_path):
    write(tmp_path / "coughs/a.wav")
    with pytest.raises(InputError, match="only audformat databases have columns"):
        read(tmp_path, coughing=("coughs", {"where": {"a": "b"}}))


def test_a_run_needs_no_speech_in_other_languages(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "SOUND_SOURCES", {})
    suite = SimpleNamespace(file=Path("suite.yml"), audio_limit=60.0, sounds={})
    with pytest.raises(InputError, match="nobody has sounds of music, which"):
        recordings.load_sounds(suite, {"music", "other_language"}, tmp_path)
    sounds = recordings.load_sounds(suite, {"other_language"}, tmp_path)
    changes = read_family("asr_hallucination").changes
    assert "no sounds of the kind other_language; a suite names" in missing(changes["Other Language"], sounds)
    assert not missing(changes["Silence"], sounds)
