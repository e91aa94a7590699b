"""Folders of sounds as the Hugging Face Hub knows them."""

import json
import os

import pandas as pd
import pytest
from pages import example

from soundcheck.common.errors import InputError

FOLDER = "format: audiofolder, path: data"


@pytest.fixture
def folder(tmp_path, write_sound):
    """Write two sounds for each split, nothing else."""
    for n, name in enumerate(("train/a.wav", "train/b.wav", "test/a.wav", "test/sub/b.flac")):
        write_sound(tmp_path / "data" / name, n)
    return tmp_path / "data"


def test_a_table_in_the_folder(load, folder):
    rows = ["file_name,transcription,text,speaker_id,gender", "train/a.wav,x,no,s1,f"]
    rows += ['test/a.wav,"so, it is",no,s2,male', "test/sub/b.flac,NA,no,s2,male"]
    (folder / "metadata.csv").write_text("\n".join(rows) + "\n")
    corpus = load(FOLDER)
    table = corpus.segments
    assert table["file"].tolist() == ["test/a.wav", "test/sub/b.flac"]
    assert table["transcript"].tolist() == ["so, it is", "NA"]
    assert table["speaker"].tolist() == ["s2", "s2"] and table["sex"].tolist() == ["male", "male"]
    assert table["split"].tolist() == ["test", "test"]
    assert "transcript is the column transcription, not text; `columns:` takes another" in corpus.notices
    assert "1 sound in the folder stand in no metadata table: not used" in corpus.notices
    assert len(load(f"{FOLDER}, split: all").segments) == 3


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_for_each_split(load, folder, kind):
    for split, names in (("train", ["a.wav", "b.wav"]), ("test", ["a.wav", "sub/b.flac"])):
        frame = pd.DataFrame({"file_name": names, "text": [f"{split} {name}" for name in names]})
        frame[f"only_{split}"] = "x"
        place = folder / split / f"metadata.{kind}"
        if kind == "csv":
            frame.to_csv(place, index=False)
        elif kind == "jsonl":
            place.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
        else:
            frame.to_parquet(place)
    (folder / "test" / "sub" / "b.flac").write_bytes(b"")
    corpus = load(f"{FOLDER}, split: all, groups: [only_test]")
    table = corpus.segments.set_index("file")
    assert table["transcript"].to_dict() == {
        "train/a.wav": "train a.wav",
        "train/b.wav": "train b.wav",
        "test/a.wav": "test a.wav",
    }
    assert table["only_test"].tolist() == ["x", None, None]
    assert [item.item for item in corpus.left_out] == ["test/sub/b.flac"]
    place = folder / "test" / f"metadata.{kind}"
    if kind == "csv":
        place.write_text(place.read_text() + "a.wav,again,x\n")
        what = (
            r"test/metadata.csv line 2 and data/test/metadata.csv line 4: the segment 'test/a.wav' is there"
        )
        with pytest.raises(InputError, match=what):
            load(FOLDER)


def test_folders_are_labels(load, tmp_path, write_sound):
    for n, name in enumerate(("train/ang/a.wav", "test/ang/b.wav", "dev/hap/c.wav", "test/.x/d.wav")):
        write_sound(tmp_path / "data" / name, n)
    (tmp_path / "data" / "test" / "hap").symlink_to(tmp_path / "data" / "train" / "ang")
    corpus = load(f"{FOLDER}, split: all")
    assert "emotion" not in corpus.segments
    assert "the folders are the column label, which nothing uses: 'ang', 'hap'" in corpus.notices[0]
    entry = f"{FOLDER}, columns: {{emotion: label}}, values: {{emotion: {{ang: anger, hap: happiness}}}}"
    table = load(f"{entry}, split: all").segments
    assert table["file"].tolist() == ["dev/hap/c.wav", "test/ang/b.wav", "train/ang/a.wav"]
    assert table["emotion"].tolist() == ["happiness", "anger", "anger"]
    assert table["split"].tolist() == ["validation", "test", "train"]
    assert load(entry).segments["file"].tolist() == ["test/ang/b.wav"]
    assert load(f"{entry}, split: dev").segments["file"].tolist() == ["dev/hap/c.wav"]


def test_the_example_of_the_page(load, tmp_path, write_sound):
    for n, name in enumerate(("test/ang/a.wav", "test/hap/b.wav")):
        write_sound(tmp_path / "emotions" / name, n)
    text = example("data", "Folders of the Hugging Face Hub")
    entry = ", ".join(line.split("#")[0].strip() for line in text.splitlines()[2:])
    assert load(entry).segments["emotion"].tolist() == ["anger", "happiness"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("metadata.csv", "name,text\na.wav,x\n", "csv line 1, column file_name: the column is missing"),
        ("metadata.csv", "file_name\n../x.wav\n", "'../x.wav' leads out of the corpus folder"),
        ("train/metadata.csv", "file_name\n../../x.wav\n", "leads out of the corpus folder"),
        ("train/metadata.csv", "file_name\n/etc/passwd\n", "is an absolute path"),
        ("train/metadata.csv", 'file_name\n\n""\n', "column file_name: the cell is empty"),
        ("metadata.csv", "file_name,file_name\na,b\n", "two columns are called 'file_name'"),
        ("metadata.csv", '{"file_name": "a.wav"}\n', "line 1: this is JSON, not a table"),
        ("metadata.jsonl", '{"file_name": 3}\n', "jsonl line 1, key file_name: a number, not a text"),
        ("metadata.jsonl", '{"audio_filepath": "a"}\n', "This looks like `format: nemo`|key file_name"),
        ("metadata.jsonl", "file_name\na.wav\n", "is no JSON"),
        ("metadata.parquet", "PAR1 rubbish PAR1", "not a valid Parquet table"),
        ("metadata.csv", "client_id,path,sentence\nx,y,z\n", "This looks like `format: commonvoice`"),
    ],
)
def test_what_is_refused(load, folder, name, content, words):
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=words):
        load(FOLDER)


def test_two_tables_for_one_folder(load, folder):
    for name in ("metadata.csv", "metadata.jsonl"):
        (folder / "train" / name).write_text("file_name\na.wav\n")
    with pytest.raises(InputError, match="data/train: metadata.csv and metadata.jsonl are both there"):
        load(FOLDER)


def test_empty_folders_and_links(load, tmp_path, folder):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="neither a metadata table nor a sound"):
        load("format: audiofolder, path: empty")
    (tmp_path / "empty" / "x.parquet").touch()
    with pytest.raises(InputError, match="This looks like `format: parquet`"):
        load("format: audiofolder, path: empty")
    outside = tmp_path / "outside.csv"
    outside.write_text("file_name\na.wav\n")
    os.symlink(outside, folder / "metadata.csv")
    with pytest.raises(InputError, match="'metadata.csv': the path leads out of its folder"):
        load(FOLDER)
