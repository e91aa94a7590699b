"""Shards of the Hugging Face Hub: sounds in Parquet files."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.corpora.given import rows

from soundcheck.common import files
from soundcheck.corpora import parquet_shards

SHARDS = "format: parquet, path: hub/data"
AUDIO = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
FEATURES = {
    "audio": {"_type": "Audio", "sampling_rate": 16000},
    "emotion": {"_type": "ClassLabel", "names": ["anger", "neutral"]},
}


@pytest.fixture
def sound(tmp_path, tone):
    return lambda number, kind="wav": tone(tmp_path / f"made.{kind}", number).read_bytes()


@pytest.fixture
def shard(tmp_path):

    def write(name: str, sounds: list, features: object = FEATURES, **columns: object) -> Path:
        path = tmp_path / "hub" / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table({"audio": pa.array(sounds, AUDIO), **columns})
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
        pq.write_table(table, path, row_group_size=2)
        return path

    return write


@pytest.fixture
def hub(shard, sound, tmp_path):
    first = [{"bytes": sound(n), "path": f"x/{n}.wav"} for n in range(3)]
    second = [{"bytes": sound(3, "flac"), "path": "3.flac"}, None, {"bytes": sound(4), "path": "0.wav"}]
    more = {"gender": ["female", "male", None], "emotion": [0, 1, -1], "age": pa.nulls(3)}
    shard("test-00000-of-00002.parquet", first, text=["a", "NA", ""], **more)
    shard("test-00001-of-00002.parquet", second, text=["d", "e", "f"], speech=[1.5, None, float("nan")])
    shard("train-00000-of-00001-0123abcd.parquet", first[:1], text=["t"], lists=[[1, 2]])
    return tmp_path / "hub" / "data"


def test_the_table(load, hub, tmp_path):
    assert load(f"{SHARDS}, audio: false").segments["file"].tolist()[:2] == ["0.wav", "3.flac"]
    assert not (tmp_path / "cache" / "parquet").exists()
    corpus = load(f"{SHARDS}, groups: [speech, age]")
    columns = ("file", "transcript", "sex", "emotion", "speech", "age", "split", "duration")
    assert rows(corpus, *columns) == [  # 0.wav is there twice, so both get another name
        ("test/0-0.wav", "a", "female", "anger", None, None, "test", 0.5),
        ("test/1-2.wav", "f", None, None, None, None, "test", 0.5),
        ("test/1.wav", "NA", "male", "neutral", None, None, "test", 0.5),
        ("test/2.wav", None, None, None, None, None, "test", 0.5),
        ("test/3.flac", "d", None, None, "1.5", None, "test", 0.5),
    ]
    assert corpus.segments["audio"].is_unique
    (absent,) = corpus.left_out
    assert absent.item == "hub/data/test-00001-of-00002.parquet row 2"
    assert absent.reason == "the shard holds no sound for this row"
    assert "the split 'test' (2 shards) is evaluated; not used: 'train' (1 shard)" in corpus.notices
    assert not list((tmp_path / "cache").rglob(f"{files.TEMPORARY}*"))


def test_other_splits_and_missing_shards(load, refused, hub):
    assert rows(load(f"{SHARDS}, split: train"), "file") == [("train/0.wav",)]
    assert len(load(f"{SHARDS}, split: all").segments) == 6
    refused("no shard belongs to the split 'dev'. Allowed: test, train", f"{SHARDS}, split: dev")
    shard = load(f"{SHARDS}/test-00001-of-00002.parquet")
    assert rows(shard, "file") == [("test/0.wav",), ("test/3.flac",)]
    (hub / "test-00000-of-00002.parquet").unlink()
    assert "1 of 2 shards of 'test' are not there" in load(SHARDS).notices


def test_sounds_are_written_once_and_again_if_they_are_gone_or_a_run_was_stopped(load, hub, monkeypatch):
    sounds, read, stop = parquet_shards._sounds, [], [5]

    def stopping(shard, column):
        for data in sounds(shard, column):
            read.append(shard.path.name[:10])
            if len(read) in stop:
                raise KeyboardInterrupt
            yield data

    monkeypatch.setattr(parquet_shards, "_sounds", stopping)
    with pytest.raises(KeyboardInterrupt):
        load(SHARDS)
    stop.clear()
    first, second = ["test-00000"] * 3, ["test-00001"] * 3
    corpus = load(SHARDS)
    assert len(corpus.segments) == 5 and read == [*first, *second[:2], *second]  # begins the second again
    read.clear()
    assert load(SHARDS).segments.equals(corpus.segments) and read == []
    (corpus.root / "test" / "3.flac").unlink()
    assert load(SHARDS).segments.equals(corpus.segments) and read == second
    (corpus.root / "test" / "2.wav").write_bytes(b"cut")
    assert load(SHARDS).segments.equals(corpus.segments) and read == [*second, *first]


def test_names_stay_inside_and_what_is_no_sound_is_listed(load, shard, sound, tmp_path):
    sounds = [{"bytes": data, "path": None} for data in (b"", b"rubbish", sound(2)[:500])]  # are left out
    names = ["../../out.wav", "/etc/x.wav", "C:\\y.wav", ".hidden.wav", "a b.wav", "", None, "..", "z" * 300]
    names += ["1089-134686-0000.wav", "0-3.wav", "A.wav", "a.wav", "ü.wav", "a\0.wav"]
    sounds += [{"bytes": sound(n), "path": name} for n, name in enumerate(names)]
    shard("x..y-00000-of-00001.parquet", sounds)
    corpus = load(SHARDS)
    unpacked = {Path(name).name for name in corpus.segments["file"]}
    assert unpacked >= {"out.wav", "x.wav", "y.wav", "1089-134686-0000.wav", "0-6", "0-13.wav", "0-14.wav"}
    assert len(unpacked) == len(names) and len(corpus.left_out) == 3
    everything = {*tmp_path.rglob("*.wav")} - {tmp_path / "made.wav"}
    assert all(path.is_relative_to(tmp_path / "cache") for path in everything)


def test_damaged_shards_are_refused(refused, hub):
    first, second = (hub / f"test-0000{n}-of-00002.parquet" for n in (0, 1))
    content = second.read_bytes()
    for broken in (content[:-20], b"", b"PAR1" + b"x" * 100 + b"PAR1"):
        second.write_bytes(broken)
        refused("test-00001-of-00002.parquet: it is no Parquet file, or a damaged", SHARDS)
    second.write_bytes(content)
    chunk = pq.ParquetFile(first).metadata.row_group(1).column(0)
    begin, size = chunk.dictionary_page_offset or chunk.data_page_offset, chunk.total_compressed_size
    content = first.read_bytes()
    first.write_bytes(content[:begin] + b"\xff" * size + content[begin + size :])
    refused("test-00000-of-00002.parquet: it is no Parquet", SHARDS)


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("data/other/test-00000-of-00001.parquet", {"text": ["x"]}, "several data sets: ., other. Name one"),
        ("data/test-00002-of-00002.parquet", {"text": ["x"]}, "does not have the column 'audio' that the fi"),
        ("alone/x.parquet", None, "no Parquet file in the folder"),
        ("linked/y.parquet", None, "y.parquet: the link leads out of the folder. Download"),
        (
            "alone/x.parquet",
            {"file": ["a.wav"]},
            "not clear which column holds the sounds .*a table of names of files is",
        ),
    ],
)
def test_shards_that_cannot_be_read(refused, hub, name, columns, words):
    path = hub.parent / name
    path.parent.mkdir(exist_ok=True)
    if columns:
        pd.DataFrame(columns).to_parquet(path)
    if "linked" in name:
        path.symlink_to(hub / "test-00000-of-00002.parquet")
    refused(words, SHARDS if name.startswith("data") else f"format: parquet, path: hub/{name.split('/')[0]}")


@pytest.mark.parametrize("features", [None, {"emotion": {"_type": "ClassLabel", "names": "anger"}}])
def test_odd_features_mean_nothing(load, shard, sound, features):
    sounds = [{"bytes": sound(number), "path": f"{number}.wav"} for number in range(2)]
    shard("test-00000-of-00001.parquet", sounds, features, emotion=[0, 1])
    assert [item.item for item in load(SHARDS).left_out] == ["label '0'", "label '1'"]


def test_columns_of_lists_that_would_be_used_are_refused(load, refused, shard, sound):
    sounds, name = [{"bytes": sound(1), "path": None}], "test-00000-of-00001.parquet"
    shard(name, sounds, transcript=[["a", "b"]], speaker_id=[[1]], other=["c"])
    text = refused("column speaker_id: .*list(.|\n)*column transcript: .*not a cell", SHARDS)
    assert len(text.splitlines()) == 2
    shard(name, sounds, transcript=[["a", "b"]], sentence=["c"], odd=[[1]])
    assert rows(load(SHARDS), "transcript") == [("c",)]


def test_a_column_of_bytes_is_chosen(load, refused, sound):
    table, entry = pd.DataFrame({"one": [sound(1)], "two": [sound(1)]}), "format: parquet, path: hub"
    refused(
        "not clear which column holds the sounds .*'one', 'two'.*Choose one", entry, {"hub/x.parquet": table}
    )
    assert rows(load(f"{entry}, columns: {{file: two}}"), "file", "duration") == [("0-0", 0.5)]
    table = pd.DataFrame({"sound": [{"path": "a.wav", "bytes": sound(1)}]})
    assert rows(load(entry, {"hub/x.parquet": table}), "file") == [("a.wav",)]  # fields in any order
