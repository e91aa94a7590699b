"""The list *Field by field* of the manual: each field of each format becomes what the page says."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from segment_rows import rows

from soundcheck.common.errors import InputError

PAGE = Path(__file__).parents[2] / "book" / "data.md"
CELLS = {"sex": ("f", "female"), "file": ("a.wav", "a.wav"), "emotion": ("ang", "anger")}  # written, read
NAMES = re.compile(r"`([^`]+)`")
ONE_OF_SEVERAL = "refused where the file has several"


def listed() -> Iterator[tuple[str, str, str]]:
    """Give format, field and what becomes of it; fields that stand together and become two columns, too."""
    text = PAGE.read_text("utf-8").partition("### Field by field")[2].partition("\n\nWhat a recording")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 3 and (fields := NAMES.findall(cells[1])):
            form, _, becomes = cells
            if becomes == "`start`, `end`":
                yield form, ",".join(fields), becomes
            else:
                yield from ((form, field, becomes) for field in fields)


def sound(path: Path, channels: int = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tone = 0.1 * np.sin(2 * np.pi * 150 * np.arange(8000) / 16000)
    soundfile.write(path, np.stack([tone, *[0.5 * tone] * (channels - 1)], axis=1), 16000)


def table(
    path: Path, usual: Mapping[str, object], fields: Mapping[str, object], separator: str = ","
) -> None:
    row = {name: value for name, value in usual.items() if name not in fields} | fields
    pd.DataFrame([row]).to_csv(path, index=False, sep=separator)


def write_csv(folder: Path, fields: Mapping[str, object]) -> str:
    table(folder / "t.csv", {"file": "a.wav"}, fields)
    return "format: csv, path: t.csv"


def write_nemo(folder: Path, fields: Mapping[str, object]) -> str:
    (folder / "m.jsonl").write_text(json.dumps({"audio_filepath": "a.wav"} | fields))
    return "format: nemo, path: m.jsonl"


def write_commonvoice(folder: Path, fields: Mapping[str, object]) -> str:
    sound(folder / "clips" / "a.wav")
    table(folder / "test.tsv", {"path": "a.wav", "client_id": "s", "sentence": "w"}, fields, "\t")
    return "format: commonvoice, path: ."


def write_kaldi(folder: Path, fields: Mapping[str, object]) -> str:
    lines = {"wav.scp": "u a.wav", "utt2spk": "u s"}
    for name, value in fields.items():
        key = "s" if name.startswith("spk2") and name != "spk2utt" else "u"
        lines[name] = f"{key} {value}"
    for name, line in lines.items():
        (folder / "data").mkdir(exist_ok=True)
        (folder / "data" / name).write_text(f"{line}\n")
    return "format: kaldi, path: data, root: ."


def write_lhotse(folder: Path, fields: Mapping[str, object]) -> str:
    channels = list(range(soundfile.info(folder / "a.wav").channels))
    recording = {"id": "r", "duration": 0.5}
    recording["sources"] = [{"type": "file", "channels": channels, "source": "a.wav"}]
    cut = {"id": "c", "start": 0, "duration": 0.5, "channel": channels, "recording": recording}
    supervision = {"id": "x", "start": 0, "duration": 0.5, "channel": channels}
    for name, value in fields.items():
        place, _, inner = name.partition(".")
        if place == "recording":
            recording[inner] = value
        elif place == "custom":
            supervision["custom"] = {inner: value}
        else:
            (cut if name in ("features", "tracks") else supervision)[name] = value
    (folder / "cuts.jsonl").write_text(json.dumps(cut | {"supervisions": [supervision]}))
    return "format: lhotse, path: cuts.jsonl"


def write_audiofolder(folder: Path, fields: Mapping[str, object]) -> str:
    table(folder / "metadata.csv", {"file_name": "a.wav"}, fields)
    return "format: audiofolder, path: ."


def write_parquet(folder: Path, fields: Mapping[str, object]) -> str:
    row = {"audio": {"bytes": (folder / "a.wav").read_bytes(), "path": "a.wav"}} | fields
    (folder / "shards").mkdir()
    pq.write_table(pa.Table.from_pylist([row]), folder / "shards" / "all.parquet")
    return "format: parquet, path: shards"


def write_speechbrain(folder: Path, fields: Mapping[str, object]) -> str:
    table(folder / "t.csv", {"ID": "u", "duration": 0.5, "wav": "a.wav"}, fields)
    return "format: speechbrain, path: t.csv, sampling_rate: 16000"


def write_emobox(folder: Path, fields: Mapping[str, object]) -> str:
    sound(folder / "box" / "a.wav")
    lists = folder / "box" / "data" / "x"
    lists.mkdir(parents=True)
    (lists / "x.jsonl").write_text(json.dumps({"key": "u", "wav": "a.wav", "emo": "ang"} | fields))
    (lists / "label_map.json").write_text('{"ang": "Angry"}')
    return "format: emobox, path: box/data/x"


WRITE = {
    **{"csv": write_csv, "NeMo": write_nemo, "Common Voice": write_commonvoice, "Kaldi": write_kaldi},
    **{"Lhotse": write_lhotse, "audiofolder": write_audiofolder, "parquet": write_parquet},
    **{"SpeechBrain": write_speechbrain, "EmoBox": write_emobox},
}
TIMES = {  # that are 0.1 to 0.3 s
    "offset,duration": {"offset": 0.1, "duration": 0.2},
    "start,duration": {"start": 0.1, "duration": 0.2},
    "start,stop": {"start": 1600, "stop": 4800},
    "segments": {"segments": "u 0.1 0.3"},
}
VALUES = {  # where it cannot be any word
    **{"alignment": {"word": [["x", 0, 0.1]]}, "features": {"type": "fbank"}, "custom.vector": [1, 2]},
    **{"recording.transforms": [{"name": "Speed"}], "tracks": [{}], "segments": "u 0 0.5 1"},
    **{"reco2file_and_channel": "a A", "wav.scp": "a.wav", "duration": 0.5, "sampling_rate": 16000},
}
LISTED = [*listed()]


def test_the_list_is_read():
    assert {form for form, _, _ in LISTED} == {*WRITE} and len(LISTED) > 90


@pytest.mark.parametrize(("form", "field", "becomes"), LISTED)
def test_a_field_becomes_what_the_page_says(load, tmp_path, form, field, becomes):
    sound(tmp_path / "a.wav", 2 if becomes == ONE_OF_SEVERAL else 1)
    column = becomes.strip("`")
    if becomes == "`start`, `end`":
        entry = WRITE[form](tmp_path, TIMES[field])
        assert rows(load(entry), "start", "end") == [(0.1, pytest.approx(0.3))]
    elif becomes == ONE_OF_SEVERAL:
        entry = WRITE[form](tmp_path, {field: VALUES.get(field, 1)})
        with pytest.raises(InputError, match="1 segment of one channel where the file has several"):
            load(entry)
    elif becomes == "refused":
        entry = WRITE[form](tmp_path, {field: VALUES[field]})
        with pytest.raises(InputError, match="is not done here"):
            load(entry)
    elif becomes == "not used":
        corpus = load(WRITE[form](tmp_path, {field: VALUES.get(field, "x")}))
        told = [one for one in corpus.notices if one.startswith("not used: ")]
        name = field.removeprefix("custom.")
        shown = {name, re.sub("^(utt|spk)2", "", name)}
        assert any(shown & {*one.partition("s ")[2].split(", ")} for one in told), corpus.notices
    elif column in (
        "the length with `audio: false",
        "the length with `audio: false`, otherwise compared with the file",
    ):
        corpus = load(WRITE[form](tmp_path, {field: 0.25}) + ", audio: false")
        assert corpus.segments["duration"].tolist() == [0.25]
    elif field in ("task", "type"):
        with pytest.raises(InputError, match="the lists have no utterance"):
            load(WRITE[form](tmp_path, {field: "valence"}))
    elif form == "EmoBox" and field == "channel":
        sound(tmp_path / "box" / "a.wav", 2)
        assert not load(WRITE[form](tmp_path, {field: 2})).left_out
    else:
        written, read = CELLS.get(column, ("x", "x"))
        corpus = load(WRITE[form](tmp_path, {field: written}))
        assert corpus.segments[column].tolist() == [read]
        assert not any(field in one for one in corpus.notices if one.startswith("not used"))
