"""The same rows in each format where they can stand: what is read, or which message comes.

Rows have the names of a format, and a writer for each writes rows as it does.
The list *Field by field* of the manual tells what becomes of each field.
"""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from tests.corpora.given import rows

from soundcheck.common.messages import InputError
from soundcheck.corpora import raw_table

Rows = Sequence[Mapping[str, object]]
RATE = 16000
PAGE = Path(__file__).parents[3] / "book" / "data.md"


def json_lines(path: Path, items: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in items))


def write_csv(folder: Path, these: Rows) -> str:
    pd.DataFrame(these).to_csv(folder / "t.csv", index=False)
    return "format: csv, path: corpus/t.csv"


def write_csv_in_parquet(folder: Path, these: Rows) -> str:
    pd.DataFrame(these).to_parquet(folder / "t.parquet", index=False)
    return "format: csv, path: corpus/t.parquet"


def further(row: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != "file"}


def write_parquet(folder: Path, these: Rows) -> str:
    sounds = [{"bytes": folder.joinpath(row["file"]).read_bytes(), "path": row["file"]} for row in these]
    table = [{"audio": sound} | further(row) for sound, row in zip(sounds, these, strict=True)]
    (folder / "data").mkdir()
    pq.write_table(pa.Table.from_pylist(table), folder / "data" / "all.parquet")
    return "format: parquet, path: corpus/data"


def write_nemo(folder: Path, these: Rows) -> str:
    json_lines(folder / "m.jsonl", these)
    return "format: nemo, path: corpus/m.jsonl"


def write_kaldi(folder: Path, these: Rows) -> str:
    (row,) = these
    for file, value in row.items():
        key = row["utt2spk"] if file.startswith("spk2") else "a"
        folder.joinpath(file).write_text(f"{key} {value}\n")
    return "format: kaldi, path: corpus"


def write_lhotse(folder: Path, these: Rows) -> str:
    cuts = []
    for number, row in enumerate(these):
        info = soundfile.info(folder / row["file"])
        source = {"type": "file", "channels": [*range(info.channels)], "source": row["file"]}
        recording = {"id": row["file"], "sources": [source], "duration": info.duration}
        supervision = {"id": f"u{number}", "start": 0.0, "duration": info.duration, "custom": {}}
        cut = {"id": f"c{number}", "start": 0, "duration": info.duration, "channel": source["channels"]}
        for name, value in further(row).items():
            place, _, inner = name.partition(".")
            if inner:
                supervision["custom"][inner] = value
            else:
                (cut if name == "features" else supervision)[place] = value
        cuts.append(cut | {"recording": recording, "supervisions": [supervision], "type": "MultiCut"})
    json_lines(folder / "cuts.jsonl", cuts)
    return "format: lhotse, path: corpus/cuts.jsonl"


def write_commonvoice(folder: Path, these: Rows) -> str:
    (folder / "clips").mkdir()
    for name in {row["path"] for row in these}:
        folder.joinpath(name).rename(folder / "clips" / name)
    pd.DataFrame(these).to_csv(folder / "test.tsv", sep="\t", index=False)
    return "format: commonvoice, path: corpus"


def write_audiofolder(folder: Path, these: Rows) -> str:
    pd.DataFrame(these).to_csv(folder / "metadata.csv", index=False)
    return "format: audiofolder, path: corpus"


def write_speechbrain(folder: Path, these: Rows) -> str:
    table = pd.DataFrame({"ID": f"u{number}", **row} for number, row in enumerate(these))
    table.assign(wav="$data_root/" + table["wav"]).to_csv(folder / "t.csv", index=False)
    return f"format: speechbrain, path: corpus/t.csv, sampling_rate: {RATE}"


def write_emobox(folder: Path, these: Rows) -> str:
    usual = {"emo": "ang", "type": "raw", "task": "category", "channel": 1}
    json_lines(folder / "data" / "x" / "x.jsonl", [{**usual, "key": row["wav"], **row} for row in these])
    (folder / "data" / "x" / "label_map.json").write_text('{"ang": "Angry", "hap": "Happy"}')
    return "format: emobox, path: corpus/data/x"


WRITE = {
    name.removeprefix("write_"): function for name, function in globals().items() if name.startswith("write_")
}
FILE = {"nemo": "audio_filepath", "kaldi": "wav.scp", "commonvoice": "path", "audiofolder": "file_name"}
FILE |= {"speechbrain": "wav", "emobox": "wav"}  # the field of the file, if it is not called file
TIMES = {  # from 0.1 to 0.25 s, if not called start and end
    "nemo": {"offset": 0.1, "duration": 0.15},
    "lhotse": {"start": 0.1, "duration": 0.15},
    "speechbrain": {"start": 1600, "stop": 4000},
}
USUAL = {
    "audformat": {"speaker": "s"},
    "kaldi": {"utt2spk": "s"},
    "commonvoice": {"client_id": "s", "sentence": "w"},
}


@pytest.fixture
def load(load, tone, tmp_path):
    """Load files with some fields as a format writes them: ``load("nemo", ["a.wav"], {"text": "x"})``."""

    def read(form: str, names: Sequence[str], fields: Mapping[str, object], channels: int = 1):
        folder = tmp_path / "corpus"
        shutil.rmtree(folder, ignore_errors=True)
        for number, name in enumerate(names):
            tone(folder / name, number, channels=channels)
        usual = USUAL.get(form, {}) | fields
        return load(WRITE[form](folder, [{FILE.get(form, "file"): name} | usual for name in names]))

    return read


# Keys and digests name every draw: the same sound has the same ones in each format, today and later.
KEYS = ("a.wav|0.1|0.25", "b.wav|0.1|0.25")
DIGESTS = ("23946c77175d4103375412d3dc6f59d2e68af3cd", "8dab2feb8687a05ee1ceadaf6e14ec6e27ca18ca")


@pytest.mark.parametrize("form", [form for form in WRITE if form not in ("emobox", "kaldi")])
def test_keys_and_digests_are_those_of_earlier_runs(load, form):
    corpus = load(form, ["a.wav", "b.wav"], TIMES.get(form, {"start": 0.1, "end": 0.25}))
    assert rows(corpus, "key", "audio") == [*zip(KEYS, DIGESTS, strict=True)]
    assert not corpus.left_out


CELLS = {"sex": ("f", "female"), "file": ("a.wav", "a.wav"), "emotion": ("ang", "anger")}  # written, read
VALUES = {  # where it cannot be any word
    **{"alignment": {"word": [["x", 0, 0.1]]}, "features": {"type": "fbank"}, "custom.vector": [1, 2]},
    **{"segments": "a 0 0.5 1", "reco2file_and_channel": "a A", "sampling_rate": 16000},
}


def listed() -> dict[str, dict[str, list[str]]]:
    """List the fields of each format by what becomes of them."""
    text = PAGE.read_text("utf-8").partition("### Field by field")[2].partition("\n\nWhat a recording")[0]
    listed = {}
    for line in text.splitlines():
        form, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 2 and "`" in cells[0]:
            fields = listed.setdefault(form.lower().replace(" ", ""), {}).setdefault(cells[1], [])
            fields += re.findall(r"`([^`]+)`", cells[0])
    return listed


LISTED = listed()
COLUMN = re.compile("`[a-z]+`")
ONE_OF_SEVERAL = "refused where the file has several"


def test_the_list_names_every_format():
    assert {*LISTED} == {*WRITE} - {"csv_in_parquet"}
    assert sum(len(fields) for by_end in LISTED.values() for fields in by_end.values()) > 100


@pytest.mark.parametrize("form", [*LISTED])
def test_fields_become_the_columns_that_the_manual_says(load, form, monkeypatch):
    """Columns that have several fields take them in turn."""
    monkeypatch.setattr(raw_table, "MOST_UNUSED", 99)
    columns = {name.strip("`"): fields for name, fields in LISTED[form].items() if COLUMN.fullmatch(name)}
    unused = {field: VALUES.get(field, "x") for field in LISTED[form].get("not used", ())}
    for turn in range(max(map(len, columns.values()), default=0)):
        written = {fields[min(turn, len(fields) - 1)]: column for column, fields in columns.items()}
        fields = {field: CELLS.get(column, "x")[0] for field, column in written.items()}
        corpus = load(form, ["a.wav"], fields | unused)
        read = {column: rows(corpus, column) for column in columns}
        assert read == {column: [(CELLS.get(column, "xx")[1],)] for column in columns}
        left = [one.partition("s ")[2].split(", ") for one in corpus.notices if one.startswith("not used: ")]
        left = {re.sub("^(utt|spk)2", "", name) for names in left for name in names}
        assert left == {re.sub(r"^(custom\.|utt2|spk2)", "", field) for field in unused}


@pytest.mark.parametrize("form", [form for form in LISTED if ONE_OF_SEVERAL in LISTED[form]])
def test_one_channel_of_several_is_refused(load, form):
    for field in LISTED[form][ONE_OF_SEVERAL]:
        with pytest.raises(InputError, match="1 segment of one channel where the file has several"):
            load(form, ["a.wav"], {field: VALUES.get(field, 1)}, channels=2)
