"""Manifests of NeMo."""

import pytest
from segment_rows import rows
from tests.corpora.refusals import refusals

ENTRY = "format: nemo, path: m.jsonl"
COMMANDS = [
    {"audio_filepath": "a", "duration": 1.5, "command": "go", "label": "ang"},
    {"audio_filepath": "b", "offset": 2, "duration": 1, "command": "stop", "label": "hap"},
]
MAPPED = "audio: false, columns: {transcript: command, emotion: label}"
MAPPED += ", values: {emotion: {ang: anger, hap: happiness}}"


def test_the_table(load):
    first = {"lang": "de", "speaker": "s1", "pred_text": "ein", "device": "phone", "text": "grüß dich, du"}
    second = {"audio_filepath": "wavs/1.wav", "offset": 0.1, "duration": 0.2, "text": "", "speaker": 7}
    third = {"audio_filepath": "wavs/1.wav", "offset": 0.3, "duration": 0.1, "text": None}
    manifest = [{"audio_filepath": "/theirs/wavs/0.wav", "duration": 0.5} | first, second, third]
    files = {"m.jsonl": manifest, "wavs/0.wav": 0, "wavs/1.wav": 1}
    corpus = load(f"{ENTRY}, cut: /theirs, blocks: [language]", files)
    assert [item.reason for item in corpus.left_out] == ["no language, so it belongs to no block"] * 2
    corpus = load(f"{ENTRY}, cut: /theirs, groups: [device], blocks: [file]", files)
    columns = ("key", "duration", "transcript", "speaker", "language", "device")
    assert rows(corpus, *columns) == [  # 0.1 + 0.2 without the rest of floats
        ("wavs/0.wav||", 0.5, "grüß dich, du", "s1", "de", "phone"),
        ("wavs/1.wav|0.1|0.3", pytest.approx(0.2), None, "7", None, None),
        ("wavs/1.wav|0.3|0.4", pytest.approx(0.1), None, None, None, None),
    ]
    assert set(corpus.offered) >= {"pred_text", "audio_filepath"}


@pytest.mark.parametrize(
    ("row", "end", "seconds", "words"),
    [
        ({"duration": 0.2}, 0.2, 0.2, "not that of the file, only these seconds count: '0.wav 0.2'"),
        ({"duration": 0.2, "offset": None}, 0.2, 0.2, "only these seconds count"),
        ({"duration": 0.2, "offset": 0}, 0.2, 0.2, ""),
        ({"duration": 0.504}, None, 0.5, ""),  # rounded
        ({"duration": 0.7}, None, 0.5, "not that of the file, the file counts to its end: '0.wav'"),
        ({"duration": None}, None, 0.5, ""),
    ],
)
def test_no_offset_is_the_beginning(load, row, end, seconds, words):
    corpus = load(ENTRY, {"0.wav": 0, "m.jsonl": {"audio_filepath": "0.wav", "text": "x", **row}})
    assert rows(corpus, "end", "duration") == [(end, pytest.approx(seconds))]
    notice = " ".join(text for text in corpus.notices if "have a duration" in text)
    assert words in notice and bool(words) == bool(notice)


def test_other_columns_are_mapped(load, refused):
    corpus = load(f"{ENTRY}, {MAPPED}", {"m.jsonl": COMMANDS})
    assert rows(corpus, "transcript", "emotion", "end", "duration") == [
        ("go", "anger", None, 1.5),
        ("stop", "happiness", 3, 1.0),
    ]
    files = {"m.jsonl": [COMMANDS[0] | {"text": 3}]}
    refused("line 1, key text: a number, not a text", f"{ENTRY}, {MAPPED}", files)


@pytest.mark.parametrize(("content", "words"), refusals("nemo"))
def test_refused(refused, content, words):
    refused(words, ENTRY, {"m.jsonl": content})


def test_columns_that_the_suite_maps_are_there(refused):
    files = {"m.jsonl": {"audio_filepath": "a", "txt": "x"}}
    words = "column text: corpora.c.columns.transcript names it.*'txt'"
    refused(words, f"{ENTRY}, audio: false, columns: {{transcript: text}}", files)
