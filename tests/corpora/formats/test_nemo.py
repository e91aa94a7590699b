"""Manifests of NeMo."""

import json

import pytest
import yaml
from pages import example

from soundcheck.common.errors import InputError

FULL = {"lang": "de", "speaker": "s1", "pred_text": "ein", "device": "phone"}


@pytest.fixture
def manifest(tmp_path):
    def write(*rows: dict, name: str = "m.jsonl"):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (tmp_path / name).write_text(text, "utf-8")

    return write


def test_the_table(load, manifest, write_sound, tmp_path):
    for n in range(2):
        write_sound(tmp_path / "wavs" / f"{n}.wav", n)
    manifest(
        {"audio_filepath": "/theirs/wavs/0.wav", "duration": 0.5, "text": "grüß dich, du", **FULL},
        {"audio_filepath": "wavs/1.wav", "offset": 0.1, "duration": 0.2, "text": "", "speaker": 7},
        {"audio_filepath": "wavs/1.wav", "offset": 0.3, "duration": 0.1, "text": None},
    )
    corpus = load("format: nemo, path: m.jsonl, cut: /theirs, groups: [device], blocks: [language]")
    assert [item.reason for item in corpus.left_out] == ["no language, so it belongs to no block"] * 2
    corpus = load("format: nemo, path: m.jsonl, cut: /theirs, groups: [device], blocks: [file]")
    table = corpus.segments
    assert table["file"].tolist() == ["wavs/0.wav", "wavs/1.wav", "wavs/1.wav"]
    assert table["start"].fillna(-1).tolist() == [-1, 0.1, 0.3]
    assert table["end"].fillna(-1).tolist() == [-1, 0.3, 0.4]  # 0.1 + 0.2, without the rest of floats
    assert table["key"].tolist()[1:] == ["wavs/1.wav|0.1|0.3", "wavs/1.wav|0.3|0.4"]
    assert table["duration"].round(9).tolist() == [0.5, 0.2, 0.1]
    assert table["transcript"].tolist() == ["grüß dich, du", None, None]
    assert table["speaker"].tolist() == ["s1", "7", None]
    assert table["language"].tolist() == ["de", None, None]
    assert table["device"].tolist() == ["phone", None, None]
    assert set(corpus.offered) >= {"pred_text", "audio_filepath"}


@pytest.mark.parametrize(
    ("row", "end", "seconds", "words"),
    [
        ({"duration": 0.2}, 0.2, 0.2, "not that of the file, only these seconds count: '0.wav 0.2'"),
        ({"duration": 0.2, "offset": None}, 0.2, 0.2, "only these seconds count"),
        ({"duration": 0.2, "offset": 0}, 0.2, 0.2, ""),
        ({"duration": 0.496}, None, 0.5, ""),  # rounded
        ({"duration": 0.504}, None, 0.5, ""),
        ({"duration": 0.7}, None, 0.5, "not that of the file, the file counts to its end: '0.wav'"),
        ({"duration": 7}, None, 0.5, "the file counts to its end"),
        ({"duration": None}, None, 0.5, ""),
    ],
)
def test_no_offset_is_the_beginning(load, manifest, write_sound, tmp_path, row, end, seconds, words):
    write_sound(tmp_path / "0.wav", 0)
    manifest({"audio_filepath": "0.wav", "text": "x", **row})
    corpus = load("format: nemo, path: m.jsonl")
    assert corpus.segments["end"].fillna(-1).tolist() == [end or -1]
    assert corpus.segments["duration"].tolist() == [pytest.approx(seconds)]
    told = " ".join(text for text in corpus.notices if "have a duration" in text)
    assert words in told and bool(words) == bool(told)


def test_other_columns_are_mapped(load, manifest):
    manifest(
        {"audio_filepath": "a", "duration": 1.5, "command": "go", "label": "ang", "text": 3},
        {"audio_filepath": "b", "offset": 2, "duration": 1, "command": "stop", "label": "hap"},
    )
    columns = "columns: {transcript: command, emotion: label}"
    values = "values: {emotion: {ang: anger, hap: happiness}}"
    with pytest.raises(InputError, match="line 1, key text: a number, not a text"):
        load(f"format: nemo, path: m.jsonl, audio: false, {columns}, {values}")
    manifest(
        {"audio_filepath": "a", "duration": 1.5, "command": "go", "label": "ang"},
        {"audio_filepath": "b", "offset": 2, "duration": 1, "command": "stop", "label": "hap"},
    )
    table = load(f"format: nemo, path: m.jsonl, audio: false, {columns}, {values}").segments
    assert table["transcript"].tolist() == ["go", "stop"]
    assert table["emotion"].tolist() == ["anger", "happiness"]
    assert table["duration"].tolist() == [1.5, 1.0] and table["end"].iloc[1] == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"file": "a.wav"}', "m.jsonl line 1, key audio_filepath: it is missing or empty"),
        ('{"audio_filepath": ["a.wav", "b.wav"]}', "key audio_filepath: a list, not a text"),
        ('{"audio_filepath": "a.wav", "duration": "long"}', "key duration: a text, not a number"),
        ('{"audio_filepath": "a.wav", "audio_filepath": "b"}', "'audio_filepath' stands twice"),
        ('{"audio_filepath": "a.wav"}\nrubbish', "line 2: 'rubbish' is no JSON"),
        ('{"audio_filepath": "../a.wav"}', "line 1, column file: '../a.wav' leads out of the corpus folder"),
        ('{"audio_filepath": "/etc/passwd"}', "is an absolute path. Declare `cut: /etc` and `root: /etc`"),
        ('{"audio_filepath": "s3://b/a.wav"}', "is an address; nothing is fetched"),
        ('{"audio_filepath": "a.wav", "speaker": "\\ud800"}', "line 1, key speaker: .* half a character"),
        ("file,speaker\na.wav,s1\n", "This looks like `format: csv`"),
        ("client_id\tpath\tsentence\nx\ta.mp3\thi\n", "This looks like `format: commonvoice`"),
    ],
)
def test_what_is_refused(load, tmp_path, content, words):
    (tmp_path / "m.jsonl").write_text(content)
    with pytest.raises(InputError, match=words):
        load("format: nemo, path: m.jsonl")


def test_read_as_csv_it_is_recognised(load, manifest):
    manifest({"audio_filepath": "a", "duration": 1.5, "text": "so, it, is"})
    with pytest.raises(InputError, match="m.jsonl: This looks like `format: nemo`"):
        load("format: csv, path: m.jsonl")


def test_the_columns_that_the_suite_maps_must_be_there(load, manifest):
    manifest({"audio_filepath": "a", "txt": "x"})
    with pytest.raises(InputError, match="column text: corpora.c.columns.transcript names it.*'txt'"):
        load("format: nemo, path: m.jsonl, audio: false, columns: {transcript: text}")


def test_the_example_of_the_page(load, manifest):
    entry = yaml.safe_load(example("data", "NeMo manifests"))["corpora"].popitem()[1]
    rows = [
        {"audio_filepath": f"{entry['cut']}/s{n}/u.wav", "duration": 1.5, "text": "go", "gender": "fm"[n % 2]}
        for n in range(4)
    ]
    manifest(*rows, name=entry["path"])
    corpus = load(json.dumps(entry)[1:-1])
    assert corpus.segments["file"].tolist() == [f"s{n}/u.wav" for n in range(4)]
    assert corpus.segments["duration"].tolist() == [1.5] * 4
    assert "the corpus has no audio: models that listen are not asked about it" in corpus.notices
    told = "column sex: 'f' counts as 'female' (2 rows), 'm' counts as 'male' (2 rows)"
    assert told in corpus.notices
