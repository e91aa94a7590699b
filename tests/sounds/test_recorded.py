"""Recordings that a suite brings: folders, known layouts, databases, and what is wrong with them."""

import os

import audformat
import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.entries import SoundEntry
from soundcheck.errors import InputError
from soundcheck.sounds.recorded import read_sounds
from soundcheck.sounds.responses import labels

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
    found = labels(tmp_path / "air", "air", names)
    assert found == {names[0]: "office", names[1]: "office"}


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
    table = tmp_path / "rooms" / "impulse_responses.csv"
    table.write_text("file,label\n1.wav,booth\n2.wav,hall\n")
    assert roles(read(tmp_path, rooms="rooms")["rooms"]) == {"1.wav": "base", "2.wav": "other"}
    table.write_text("file,label\n9.wav,booth\n2.wav,\n")
    with pytest.raises(InputError) as caught:
        read(tmp_path, rooms="rooms")
    assert "impulse_responses.csv line 2, column file: '9.wav' is no audio file" in str(caught.value)
    assert "line 3, column label: the cell is empty" in str(caught.value)
    table.write_text("name\nx\n")
    with pytest.raises(
        InputError, match=r"column file: the column is missing\. Add it\.\n.*column label: the column"
    ):
        read(tmp_path, rooms="rooms")


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


def test_a_changed_file_has_another_digest(tmp_path):
    write(tmp_path / "coughs/a.wav")
    before = read(tmp_path, coughing="coughs")["coughing"].digest
    assert read(tmp_path, coughing="coughs")["coughing"].digest == before
    write(tmp_path / "coughs/a.wav", seconds=0.2)
    assert read(tmp_path, coughing="coughs")["coughing"].digest != before
