"""Shards of the Hugging Face Hub: sounds in Parquet files."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pages import example

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.corpora import parquet_shards

SHARDS = "format: parquet, path: hub/data"
AUDIO = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
FEATURES = {
    "audio": {"_type": "Audio", "sampling_rate": 16000},
    "emotion": {"_type": "ClassLabel", "names": ["anger", "neutral"]},
}


@pytest.fixture
def sound(tmp_path, write_sound):
    """Give the bytes of a sound."""
    return lambda number, kind="wav": write_sound(tmp_path / f"made.{kind}", number).read_bytes()


@pytest.fixture
def shard(tmp_path):
    """Write a shard with a column of sounds and others."""

    def write(
        name: str, sounds: list, features: object = FEATURES, group: int = 2, **columns: object
    ) -> Path:
        path = tmp_path / "hub" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table({"audio": pa.array(sounds, AUDIO), **columns})
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
        pq.write_table(table, path, row_group_size=2)
        return path

    return write


@pytest.fixture
def hub(shard, sound):
    """Write three shards of two splits."""
    first = [{"bytes": sound(n), "path": f"x/{n}.wav"} for n in range(3)]
    second = [{"bytes": sound(3, "flac"), "path": "3.flac"}, None, {"bytes": sound(4), "path": "0.wav"}]
    more = {"gender": ["female", "male", None], "emotion": [0, 1, -1], "age": pa.nulls(3)}
    shard("data/test-00000-of-00002.parquet", first, text=["a", "NA", ""], **more)
    shard("data/test-00001-of-00002.parquet", second, text=["d", "e", "f"], speech=[1.5, None, float("nan")])
    shard("data/train-00000-of-00001-0123abcd.parquet", first[:1], text=["t"], lists=[[1, 2]])


def test_the_table(load, hub, tmp_path):
    corpus = load(f"{SHARDS}, groups: [speech, age]")
    table = corpus.segments
    names = ["test/0-0.wav", "test/1-2.wav", "test/1.wav", "test/2.wav", "test/3.flac"]
    assert table["file"].tolist() == names  # 0.wav is there twice, so both get another name
    assert table["transcript"].tolist() == ["a", "f", "NA", None, "d"]
    assert table["sex"].tolist() == ["female", None, "male", None, None]
    assert table["emotion"].tolist() == ["anger", None, "neutral", None, None]
    assert table["speech"].tolist() == [None, None, None, None, "1.5"]
    assert table["age"].isna().all() and table["split"].eq("test").all()
    assert table["duration"].round(6).eq(0.5).all() and table["audio"].is_unique
    (absent,) = corpus.left_out
    assert absent.item == "hub/data/test-00001-of-00002.parquet row 2"
    assert absent.reason == "the shard holds no sound for this row"
    assert "evaluated is the split 'test' (2 shards); not used: 'train' (1 shard)" in corpus.notices
    assert not list((tmp_path / "cache").rglob(f"{files.TEMPORARY}*"))


def test_other_splits(load, hub):
    assert load(f"{SHARDS}, split: train").segments["file"].tolist() == ["train/0.wav"]
    assert len(load(f"{SHARDS}, split: all").segments) == 6
    with pytest.raises(InputError, match="no shard belongs to the split 'dev'. Allowed: test, train"):
        load(f"{SHARDS}, split: dev")
    one = load(f"{SHARDS}/test-00001-of-00002.parquet")
    assert one.segments["file"].tolist() == ["test/0.wav", "test/3.flac"]


def test_without_audio_nothing_is_unpacked(load, hub, tmp_path):
    corpus = load(f"{SHARDS}, audio: false")
    assert corpus.segments["file"].tolist()[:2] == ["0.wav", "3.flac"]
    assert not (tmp_path / "cache" / "parquet").exists()


def test_sounds_are_written_once_and_again_if_they_are_gone(load, hub, monkeypatch):
    written, write = [], parquet_shards._write
    monkeypatch.setattr(parquet_shards, "_write", lambda *one: (written.append(one[-1]), write(*one)))
    first = load(SHARDS)
    assert load(SHARDS).segments.equals(first.segments) and written == [0, 1]
    (first.root / "test" / "3.flac").unlink()
    assert load(SHARDS).segments.equals(first.segments) and written == [0, 1, 1]
    (first.root / "test" / "2.wav").write_bytes(b"cut")
    assert load(SHARDS).segments.equals(first.segments) and written == [0, 1, 1, 0]


def test_a_run_that_was_stopped_goes_on(load, hub, monkeypatch):
    sounds, read = parquet_shards._sounds, []

    def stopping(shard, column):
        for data in sounds(shard, column):
            read.append(shard.path.name[:10])
            if len(read) == 5:
                raise KeyboardInterrupt
            yield data

    monkeypatch.setattr(parquet_shards, "_sounds", stopping)
    with pytest.raises(KeyboardInterrupt):
        load(SHARDS)
    assert len(load(SHARDS).segments) == 5
    assert read == ["test-00000"] * 3 + ["test-00001"] * 5  # the second one begins again


def test_names_stay_inside(load, shard, sound, tmp_path):
    names = ["../../out.wav", "/etc/x.wav", "C:\\y.wav", ".hidden.wav", "a b.wav", "", None, "..", "z" * 300]
    names += ["1089-134686-0000.wav", "0-3.wav", "A.wav", "a.wav", "ü.wav", "a\0.wav"]
    shard("data/..-00000-of-00001.parquet", [])
    os.remove(tmp_path / "hub" / "data" / "..-00000-of-00001.parquet")
    shard("data/x..y-00000-of-00001.parquet", [{"bytes": sound(n), "path": p} for n, p in enumerate(names)])
    corpus = load(SHARDS)
    found = {Path(name).name for name in corpus.segments["file"]}
    assert found >= {"out.wav", "x.wav", "y.wav", "1089-134686-0000.wav", "0-3", "0-10.wav", "0-11.wav"}
    assert len(found) == len(names) and len(corpus.segments) == len(names)
    everything = {path for path in tmp_path.rglob("*.wav")} - {tmp_path / "made.wav"}
    assert all(path.is_relative_to(tmp_path / "cache") for path in everything)


def test_several_columns_of_bytes(load, tmp_path, sound):
    (tmp_path / "hub").mkdir()
    data = pa.array([sound(1)], pa.binary())
    pq.write_table(pa.table({"one": data, "two": data}), tmp_path / "hub" / "x.parquet")
    with pytest.raises(InputError, match="several columns hold bytes: one, two. Choose one with"):
        load("format: parquet, path: hub")
    corpus = load("format: parquet, path: hub, columns: {file: two}")
    assert corpus.segments["file"].tolist() == ["0-0"] and corpus.segments["duration"].tolist() == [0.5]


def test_what_a_sound_is_not_is_listed(load, shard, sound):
    sounds = [sound(1), b"", b"rubbish", sound(2)[:500]]
    shard("data/test-00000-of-00001.parquet", [{"bytes": one, "path": None} for one in sounds])
    corpus = load(SHARDS)
    assert corpus.segments["file"].tolist() == ["test/0-0"] and len(corpus.left_out) == 3


def test_damaged_shards(load, hub, tmp_path):
    path = tmp_path / "hub" / "data" / "test-00001-of-00002.parquet"
    content = path.read_bytes()
    for broken in (content[:-20], b"", b"PAR1" + b"x" * 100 + b"PAR1"):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="test-00001-of-00002.parquet: it is no Parquet file, or a dam"):
            load(SHARDS)
    file = pq.ParquetFile(path.parent / "test-00000-of-00002.parquet")
    chunk = file.metadata.row_group(1).column(0)
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    path.write_bytes(content)
    first = path.parent / "test-00000-of-00002.parquet"
    content = bytearray(first.read_bytes())
    content[begin : begin + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    first.write_bytes(content)
    with pytest.raises(InputError, match="test-00000-of-00002.parquet: it is no Parquet"):
        load(SHARDS)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("other/test-00000-of-00001.parquet", "shards of several data sets: ., other. Name one of these"),
        ("test-00002-of-00002.parquet", "does not have the column 'audio' that the first shard has"),
    ],
)
def test_shards_that_do_not_belong_together(load, hub, tmp_path, name, words):
    path = tmp_path / "hub" / "data" / name
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"text": ["x"]}), path)
    with pytest.raises(InputError, match=words):
        load(SHARDS)


def test_missing_shards_are_told(load, hub, tmp_path):
    (tmp_path / "hub" / "data" / "test-00000-of-00002.parquet").unlink()
    assert "1 of 2 shards of 'test' are not there" in load(SHARDS).notices


def test_other_folders(load, hub, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no Parquet file in the folder"):
        load("format: parquet, path: empty")
    pq.write_table(pa.table({"file": ["a.wav"], "arousal": [0.5]}), tmp_path / "empty" / "x.parquet")
    with pytest.raises(InputError, match="no column holds sounds .*A table of names of files is"):
        load("format: parquet, path: empty")
    (tmp_path / "empty" / "y.parquet").symlink_to(tmp_path / "hub/data/test-00000-of-00002.parquet")
    with pytest.raises(InputError, match="y.parquet: the link leads out of the folder. Download"):
        load("format: parquet, path: empty")


def test_odd_features_mean_nothing(load, shard, sound):
    sounds = [{"bytes": sound(1), "path": "a.wav"}, {"bytes": sound(2), "path": "b.wav"}]
    for features in (None, [], {"emotion": 3}, {"emotion": {"_type": "ClassLabel", "names": "anger"}}):
        shard("data/test-00000-of-00001.parquet", sounds, features, emotion=[0, 1])
        assert [item.item for item in load(SHARDS).left_out] == ["label '0'", "label '1'"]


def test_the_example_of_the_page(load, shard, sound, tmp_path):
    sounds = [{"bytes": sound(1), "path": "en-US~1.wav"}]
    columns = {"transcription": ["hola"], "english_transcription": ["hello"], "lang_id": [4]}
    shard("minds14/en-US/train-00000-of-00001.parquet", sounds, **columns)
    text = example("data", "Parquet shards")
    entry = ", ".join(line.split("#")[0].strip() for line in text.splitlines()[2:])
    (tmp_path / "hub" / "minds14").rename(tmp_path / "minds14")
    assert load(entry).segments["transcript"].tolist() == ["hello"]


def test_columns_of_lists_that_would_be_used_are_refused(load, shard, sound):
    sounds = [{"bytes": sound(1), "path": None}]
    shard("data/test-00000-of-00001.parquet", sounds, transcript=[["a", "b"]], speaker_id=[[1]], other=["c"])
    with pytest.raises(
        InputError, match="column speaker_id: .*list(.|\n)*column transcript: .*not a cell"
    ) as raised:
        load(SHARDS)
    assert len(raised.value.problems) == 2
    shard("data/test-00000-of-00001.parquet", sounds, transcript=[["a", "b"]], sentence=["c"], odd=[[1]])
    assert load(SHARDS).segments["transcript"].tolist() == ["c"]
