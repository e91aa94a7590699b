"""Folders of sounds as the Hugging Face Hub knows them."""

import pandas as pd
import pytest
from segment_rows import rows
from tests.corpora.refusals import refusals

ENTRY = "format: audiofolder, path: data"
SOUNDS = {
    f"data/{n}": i for i, n in enumerate(("train/a.wav", "train/b.wav", "test/a.wav", "test/sub/b.flac"))
}


def test_a_table_in_the_folder(load):
    lines = ["file_name,transcription,text,speaker_id,gender", "train/a.wav,x,no,s1,f"]
    lines += ['test/a.wav,"so, it is",no,s2,male', "test/sub/b.flac,NA,no,s2,male"]
    files = SOUNDS | {"data/metadata.csv": "\n".join(lines)}
    corpus = load(ENTRY, files)
    assert rows(corpus, "file", "transcript", "speaker", "sex", "split") == [
        ("test/a.wav", "so, it is", "s2", "male", "test"),
        ("test/sub/b.flac", "NA", "s2", "male", "test"),
    ]
    assert "transcript is the column transcription, not text; `columns:` takes another" in corpus.notices
    assert "1 sound in the folder stand in no metadata table: not used" in corpus.notices
    assert len(load(f"{ENTRY}, split: all", files).segments) == 3


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_for_each_split(load, kind):
    files = SOUNDS | {"data/test/sub/b.flac": b""}
    for split, names in (("train", ["a.wav", "b.wav"]), ("test", ["a.wav", "sub/b.flac"])):
        frame = pd.DataFrame({"file_name": names, "text": names, f"only_{split}": "x"})
        content = frame.to_dict("records") if kind == "jsonl" else frame
        files |= {f"data/{split}/metadata.{kind}": content}
    corpus = load(f"{ENTRY}, split: all, groups: [only_test]", files)
    assert rows(corpus, "file", "transcript", "only_test") == [
        ("test/a.wav", "a.wav", "x"),
        ("train/a.wav", "a.wav", None),
        ("train/b.wav", "b.wav", None),
    ]
    assert [item.item for item in corpus.left_out] == ["test/sub/b.flac"]


def test_folders_are_labels(load, tmp_path):
    names = ("train/ang/a.wav", "test/ang/b.wav", "dev/hap/c.wav", "test/.x/d.wav")
    files = {f"data/{name}": number for number, name in enumerate(names)}
    (tmp_path / "data/test").mkdir(parents=True)
    (tmp_path / "data/test/hap").symlink_to(tmp_path / "data/train/ang")
    corpus = load(f"{ENTRY}, split: all", files)
    assert "emotion" not in corpus.segments
    assert "the folders are the column label, which nothing uses: 'ang', 'hap'" in corpus.notices[0]
    entry = f"{ENTRY}, columns: {{emotion: label}}, values: {{emotion: {{ang: anger, hap: happiness}}}}"
    dev, test, train = rows(load(f"{entry}, split: all"), "file", "emotion", "split")
    assert dev == ("dev/hap/c.wav", "happiness", "validation")
    assert test == ("test/ang/b.wav", "anger", "test")
    assert train == ("train/ang/a.wav", "anger", "train")
    assert rows(load(entry), "file") == [("test/ang/b.wav",)]
    assert rows(load(f"{entry}, split: dev"), "file") == [("dev/hap/c.wav",)]


@pytest.mark.parametrize(("name", "content", "words"), refusals("audiofolder"))
def test_refused(refused, name, content, words):
    refused(words, f"{ENTRY}, split: all", SOUNDS | {f"data/{name}": content})


def test_folders_that_cannot_be_read(refused, write, tmp_path):
    two = {f"data/train/{name}": "file_name\na.wav\n" for name in ("metadata.csv", "metadata.jsonl")}
    refused("data/train: metadata.csv and metadata.jsonl are both there", ENTRY, SOUNDS | two)
    (tmp_path / "empty").mkdir()
    refused("neither a metadata table nor a sound", "format: audiofolder, path: empty")
    refused("like `format: parquet`", "format: audiofolder, path: empty", {"empty/x.parquet": b""})
    write({"outside.csv": "file_name\na.wav\n", "linked/a.wav": 1})
    (tmp_path / "linked/metadata.csv").symlink_to(tmp_path / "outside.csv")
    refused("'metadata.csv': the path leads out of its folder", "format: audiofolder, path: linked")
