"""Faults of the same kind in each format where they can stand: what is read, or which message comes.

A corpus is described by rows under our names; a builder for each format writes it as that format does.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
import yaml
from segment_rows import rows

from soundcheck.common.errors import InputError
from soundcheck.corpora.corpus import Corpus

RATE = 16000
USUAL = (
    "file",
    "start",
    "end",
    "speaker",
    "sex",
    "language",
    "transcript",
)  # with names of their own somewhere
Rows = Sequence[Mapping[str, object]]
Writer = Callable[[Path, Rows], str]


def further(row: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in USUAL}


def renamed(these: Rows, **names: str) -> list[dict[str, object]]:
    return [{names.get(name, name): value for name, value in row.items()} for row in these]


def json_lines(path: Path, items: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in items))


def write_csv(folder: Path, these: Rows) -> str:
    pd.DataFrame(these).to_csv(folder / "t.csv", index=False)
    return "format: csv, path: corpus/t.csv"


def write_parquet(folder: Path, these: Rows) -> str:
    pd.DataFrame(these).to_parquet(folder / "t.parquet", index=False)
    return "format: csv, path: corpus/t.parquet"


def write_shards(folder: Path, these: Rows) -> str:
    table = pd.DataFrame(these)
    sounds = [{"bytes": folder.joinpath(name).read_bytes(), "path": name} for name in table.pop("file")]
    table["audio"] = sounds
    (folder / "data").mkdir()
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / "data" / "all.parquet")
    return "format: parquet, path: corpus/data"


def write_audformat(folder: Path, these: Rows) -> str:
    table = pd.DataFrame(these)
    timed = [name for name in ("start", "end") if name in table]
    for name in timed:
        table[name] = [str(pd.Timedelta(seconds, "s")) for seconds in table[name]]
    columns = {name: {} for name in table.columns if name not in ("file", *timed)}
    kind = "segmented" if timed else "filewise"
    header = {"name": "x", "tables": {"t": {"type": kind, "columns": columns}}}
    (folder / "db.yaml").write_text(yaml.safe_dump(header))
    table.to_csv(folder / "db.t.csv", index=False)
    return "format: audformat, path: corpus"


def write_nemo(folder: Path, these: Rows) -> str:
    items = []
    for row in renamed(these, file="audio_filepath", transcript="text", sex="gender", language="lang"):
        if "end" in row:
            row["offset"], row["duration"] = row["start"], row.pop("end") - row.pop("start")
        items.append(row)
    json_lines(folder / "m.jsonl", items)
    return "format: nemo, path: corpus/m.jsonl"


def write_kaldi(folder: Path, these: Rows) -> str:
    lines: dict[str, dict[str, str]] = {}

    def add(file: str, name: str, value: object) -> None:
        lines.setdefault(file, {}).setdefault(name, str(value))

    for number, row in enumerate(these):
        name = f"u{number}"
        recording = row["file"].split(".")[0] if "end" in row else name
        add("wav.scp", recording, row["file"])
        if "end" in row:
            add("segments", name, f"{recording} {row['start']} {row['end']} {row.get('channel', '')}")
        elif "channel" in row:
            add("reco2file_and_channel", name, f"{row['file']} {row['channel']}")
        add("utt2spk", name, row.get("speaker", name))
        if "sex" in row:
            add("spk2gender", row.get("speaker", name), row["sex"])
        if "transcript" in row:
            add("text", name, row["transcript"])
        for column, value in further(row).items():
            if column not in ("channel", "duration"):
                add(f"utt2{column}", name, value)
        if "duration" in row:
            add("utt2dur", name, row["duration"])
    for file, values in lines.items():
        folder.joinpath(file).write_text("".join(f"{name} {value}\n" for name, value in values.items()))
    return "format: kaldi, path: corpus"


def write_lhotse(folder: Path, these: Rows) -> str:
    cuts = []
    for number, row in enumerate(these):
        info = soundfile.info(folder / row["file"])
        channels = list(range(info.channels))
        start, end = row.get("start", 0.0), row.get("end", info.duration)
        own = {"channel": row["channel"]} if "channel" in row else {}
        supervision = {
            **{"id": f"u{number}", "start": 0.0, "duration": end - start, "custom": further(row)},
            **{"text": row.get("transcript"), "speaker": row.get("speaker"), "gender": row.get("sex"), **own},
        }
        source = {"type": "file", "channels": channels, "source": row["file"]}
        recording = {"id": row["file"], "sources": [source], "duration": info.duration}
        length = row.get("duration", end - start)
        cut = {"id": f"c{number}", "start": start, "duration": length, "recording": recording}
        supervision["duration"] = length
        cuts.append(cut | {"channel": channels, "supervisions": [supervision], "type": "MultiCut"})
    json_lines(folder / "cuts.jsonl", cuts)
    return "format: lhotse, path: corpus/cuts.jsonl"


def write_commonvoice(folder: Path, these: Rows) -> str:
    (folder / "clips").mkdir()
    for name in {row["file"] for row in these}:
        folder.joinpath(name).rename(folder / "clips" / name)
    names = {"file": "path", "speaker": "client_id", "transcript": "sentence", "sex": "gender"}
    pd.DataFrame(renamed(these, **names)).to_csv(folder / "test.tsv", sep="\t", index=False)
    return "format: commonvoice, path: corpus"


def write_audiofolder(folder: Path, these: Rows) -> str:
    pd.DataFrame(renamed(these, file="file_name")).to_csv(folder / "metadata.csv", index=False)
    return "format: audiofolder, path: corpus"


def write_speechbrain(folder: Path, these: Rows) -> str:
    table = pd.DataFrame(renamed(these, file="wav", speaker="spk_id", transcript="wrd", sex="gender"))
    keys = ""
    if "end" in table:
        table["start"] = (table["start"] * RATE).astype(int)
        table["stop"] = (table.pop("end") * RATE).astype(int)
        keys = f", sampling_rate: {RATE}"
    table.insert(0, "ID", [f"u{number}" for number in range(len(table))])
    table["wav"] = "$data_root/" + table["wav"]
    table.to_csv(folder / "t.csv", index=False)
    return f"format: speechbrain, path: corpus/t.csv{keys}"


def write_emobox(folder: Path, these: Rows) -> str:
    items = renamed(these, file="wav", sex="gender", emotion="emo", duration="length")
    usual = {"emo": "ang", "type": "raw", "task": "category", "channel": 1}
    json_lines(folder / "data" / "x" / "x.jsonl", [usual | item | {"key": item["wav"]} for item in items])
    (folder / "data" / "x" / "label_map.json").write_text('{"ang": "Angry", "hap": "Happy"}')
    return "format: emobox, path: corpus/data/x"


WRITE: dict[str, Writer] = {
    name.removeprefix("write_"): function for name, function in globals().items() if name.startswith("write_")
}
TIMED = [name for name in WRITE if name not in ("emobox",)]  # formats whose segments may have times
SPLIT = [name for name in WRITE if name not in ("emobox",)]  # that may have a column of splits


def sound(path: Path, number: int = 0, channels: int = 1, seconds: float = 0.5) -> None:
    time = np.arange(int(seconds * RATE)) / RATE
    tones = [0.1 * np.sin(2 * np.pi * (100 + 30 * number + 7 * one) * time) for one in range(channels)]
    soundfile.write(path, np.stack(tones, axis=1), RATE)


@pytest.fixture
def read(load, tmp_path) -> Callable[..., Corpus]:
    """Load rows as a format writes them: ``read("nemo", [{...}], channels=2, keys="split: dev")``."""

    def built(
        form: str, these: Rows, *, channels: int = 1, keys: str = "", write: Writer | None = None
    ) -> Corpus:
        folder = tmp_path / "corpus"
        folder.mkdir()
        for number, name in enumerate(sorted({row["file"] for row in these})):
            sound(folder / name, number, channels)
        entry = (write or WRITE[form])(folder, these)
        return load(f"{entry}{', ' if keys else ''}{keys}")

    return built


def people(count: int, **columns: Sequence[object]) -> list[dict[str, object]]:
    """Make rows of as many speakers, a file each; a column is given as a list of its cells."""
    return [
        {"file": f"{'abcdefghij'[n]}.wav", "speaker": f"s{n}"}
        | {name: column[n] for name, column in columns.items()}
        for n in range(count)
    ]


# What holds for the readers of formats alone ----------------------------------------------------------------


# Keys and digests name every draw: the same sound has the same ones in each format, today and later.
KEYS = ("a.wav|0.1|0.25", "b.wav|0.1|0.25")
DIGESTS = ("23946c77175d4103375412d3dc6f59d2e68af3cd", "8dab2feb8687a05ee1ceadaf6e14ec6e27ca18ca")


@pytest.mark.parametrize("form", TIMED)
def test_keys_and_digests_are_those_of_earlier_runs(read, form):
    corpus = read(form, [*people(2, start=[0.1, 0.1], end=[0.25, 0.25])])
    assert rows(corpus, "key", "audio") == [*zip(KEYS, DIGESTS, strict=True)]
    assert not corpus.left_out


@pytest.mark.parametrize("form", [form for form in TIMED if form != "commonvoice"])
def test_one_channel_of_several_is_refused(read, form):
    one = people(2, channel=[0, 1])
    with pytest.raises(InputError, match=r"channel.*2 segments of one channel where the file has several"):
        read(form, one, channels=2)


@pytest.mark.parametrize("form", WRITE)
def test_the_channel_of_a_file_with_one_is_no_matter(read, form):
    assert len(read(form, people(2, channel=[0, 0])).segments) == 2


@pytest.mark.parametrize("audio", ["true", "false"])
@pytest.mark.parametrize("form", [form for form in TIMED if form != "shards"])
def test_two_channels_are_two_segments_without_sound(read, form, audio):
    both = [
        {"file": "a.wav", "start": 0.0, "end": 0.25, "speaker": f"s{n}", "channel": n, "transcript": text}
        for n, text in enumerate(("turn left", "turn right"))
    ]
    if audio == "true":
        with pytest.raises(InputError, match="2 segments are other channels of the same times.*a file of"):
            read(form, both, channels=2)
        return
    corpus = read(form, both, channels=2, keys="audio: false")
    ending = "" if form == "kaldi" else ".wav"
    assert rows(corpus, "file", "speaker", "transcript") == [
        (f"a-0{ending}", "s0", "turn left"),
        (f"a-1{ending}", "s1", "turn right"),
    ]
    assert f"names of files have their channel at the end, such as 'a-0{ending}'" in corpus.notices


@pytest.mark.parametrize("form", [form for form in TIMED if form != "commonvoice"])
def test_the_mean_of_channels_is_heard_where_a_suite_says_so(read, form):
    keys = 'values: {channel: {"0": "", "1": ""}}'
    assert len(read(form, people(2, channel=[0, 1]), channels=2, keys=keys).segments) == 2


CHANNELS = {
    "hyp.stm": "a 0 s 0 0.25 turn left\na 1 t 0 0.25 turn right\n",
    "hyp.ctm": "a 0 0 0.1 turn\na 0 0.1 0.1 left\na 1 0 0.1 turn\na 1 0.1 0.1 right\n",
    "hyp.json": json.dumps(
        [
            {"session_id": "a", "channel": n, "start_time": 0, "end_time": 0.25, "words": f"turn {word}"}
            for n, word in enumerate(("left", "right"))
        ]
    ),
    "hyp.csv": "file,start,end,transcript\na-0.wav,0,0.25,turn left\na-1.wav,0,0.25,turn right\n",
}


def test_channels_of_answers_find_those_of_a_corpus(tmp_path, command):
    both = "a.wav,0,0.25,s0,0,turn left\na.wav,0,0.25,s1,1,turn right\n"
    (tmp_path / "t.csv").write_text(f"file,start,end,speaker,channel,transcript\n{both}")
    models = ""
    for name, text in CHANNELS.items():
        (tmp_path / name).write_text(text)
        models += f"  {name.replace('.', '-')}: {{predictions: {name}, tasks: [transcript]}}\n"
    corpus = "corpora: {c: {format: csv, path: t.csv, audio: false}}\n"
    (tmp_path / "suite.yml").write_text(f"{corpus}models:\n{models}families: [asr_word_errors]\n")
    done = command("run", "suite.yml", "--no-book", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = pd.read_csv(tmp_path / "build" / "results.csv")
    errors = results[results["test"] == "Word Error Rate"].groupby("model")["value"].max()
    assert errors.to_dict() == dict.fromkeys((name.replace(".", "-") for name in CHANNELS), 0.0)


@pytest.mark.parametrize("form", WRITE)
def test_what_nothing_reads_is_named(read, form):
    corpus = read(form, people(2, mood=["x", "y"], extra=["1", "2"]))
    told = [one for one in corpus.notices if one.startswith("not used: columns")]
    assert len(told) == 1 and "extra, mood" in told[0]
    for read_column in ("speaker", "client_id", "file", "path", "wav", "audio"):
        assert read_column not in told[0].split(": columns ")[1].split(", ")


@pytest.mark.parametrize("form", WRITE)
def test_what_a_suite_groups_by_is_used(read, form):
    corpus = read(form, people(2, mood=["x", "y"]), keys="groups: [mood]")
    assert corpus.segments["mood"].tolist() == ["x", "y"]
    assert not any("mood" in one for one in corpus.notices)


def moved(form: str, before: str) -> Writer:
    """Write a corpus whose files have something before their names, and lie in a folder ``x``."""

    def write(folder: Path, these: Rows) -> str:
        entry = WRITE[form](folder, these)
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".csv", ".tsv", ".jsonl", ".scp"):
                inside = json.dumps(before)[1:-1] if path.suffix == ".jsonl" else before
                text = path.read_text().replace("$data_root/", "")
                path.write_text(text.replace("a.wav", f"{inside}a.wav").replace("b.wav", f"{inside}b.wav"))
            elif path.suffix == ".parquet":
                table = pd.read_parquet(path)
                table.assign(file=before + table["file"]).to_parquet(path)
            elif path.suffix == ".wav":
                (path.parent / "x").mkdir(exist_ok=True)
                path.rename(path.parent / "x" / path.name)
        return entry

    return write


@pytest.mark.parametrize("form", [form for form in WRITE if form != "shards"])
@pytest.mark.parametrize(("before", "cut"), [("/d/e/", "/d/e"), ("C:\\d\\", "C:\\d"), ("C:\\d\\", "C:/d/")])
def test_files_are_relative_to_a_root_after_a_cut(read, form, before, cut):
    root = "corpus/clips/x" if form == "commonvoice" else "corpus/x"
    corpus = read(form, people(2), keys=f"root: {root}, cut: '{cut}'", write=moved(form, before))
    assert corpus.segments["file"].tolist() == ["a.wav", "b.wav"]


@pytest.mark.parametrize("form", [form for form in WRITE if form != "shards"])
def test_backslashes_in_names_of_files_are_slashes(read, form):
    corpus = read(form, people(2), write=moved(form, "x\\"))
    assert corpus.segments["file"].tolist() == ["x/a.wav", "x/b.wav"]


@pytest.mark.parametrize("form", [form for form in WRITE if form not in ("shards", "audiofolder")])
def test_a_file_of_another_extension_is_suggested(read, form):
    def write(folder: Path, these: Rows) -> str:
        entry = WRITE[form](folder, these)
        for path in sorted(folder.rglob("a.wav")):  # where all are missing, another remedy may come first
            path.rename(path.with_suffix(".flac"))
        return entry

    with pytest.raises(InputError, match="'a.wav' does not exist. Did you mean 'a.flac'"):
        read(form, people(2), write=write)


@pytest.mark.parametrize("key", ["root: corpus", "cut: /x"])
def test_sounds_in_shards_are_in_no_folder(read, key):
    with pytest.raises(InputError, match="the sounds are in the shards themselves"):
        read("shards", people(2), keys=key)


CODES = {"ang": "anger", "hap": "happiness"}


@pytest.mark.parametrize("form", WRITE)
def test_codes_of_labels(read, form):
    own = "" if form == "emobox" else f"values: {{emotion: {json.dumps(CODES)}}}"
    corpus = read(form, people(2, emotion=list(CODES)), keys=own)
    assert corpus.segments["emotion"].tolist() == ["anger", "happiness"]


# What other parts do, for each format -----------------------------------------------------------------------


@pytest.mark.parametrize("form", SPLIT)
@pytest.mark.parametrize("column", ["Partition", "dataset_split", "mode"])  # the last one by its values alone
def test_columns_of_splits_not_called_split(read, form, column):
    corpus = read(form, people(4, **{column: ["train", "train", "test", "test"]}))
    assert corpus.segments["speaker"].tolist() == ["s2", "s3"]
    assert f"split is the column {column}; `columns:` takes another" in corpus.notices
    assert not any("not used: columns" in one for one in corpus.notices)


@pytest.mark.parametrize("form", SPLIT)
def test_speakers_that_also_train_void_numbers(read, form):
    these = people(4, split=["Train", "Train", "Test", "Test"])
    these[0]["speaker"] = "s3"
    (caveat,) = read(form, these).caveats
    assert str(caveat).startswith("c: 1 of 2 Test speakers also train, so results tell little about")


NOBODY = ("Unknown", "n/a", "none", "?", "unk", "N.A.", "Not specified", "null")


@pytest.mark.parametrize("form", WRITE)
def test_words_that_mean_nobody(read, form):
    these = people(10, sex=["f", "m", *NOBODY])
    these[0]["speaker"] = "Unknown"
    corpus = read(form, these)
    assert rows(corpus, "speaker", "sex")[:2] == [("s1", "male"), ("s2", None)]
    assert corpus.segments["sex"].notna().sum() == 1
    told = " ".join([*corpus.notices, *(f"{one.item} {one.reason}" for one in corpus.left_out)])
    assert all(f"'{word}' (1 segment)" in told for word in NOBODY) and "no speaker" in told


@pytest.mark.parametrize("form", [form for form in WRITE if form != "kaldi"])  # a speaker has one sex there
def test_one_name_for_two_people_is_doubted(read, form):
    these = people(4, sex=["f", "m", "f", "m"])
    for row in these:
        row["speaker"] = "s"
    (caveat,) = read(form, these).caveats
    assert caveat.text.startswith("1 of 1 speaker are of both sexes, so one name may stand for two people")
    assert "blocks: [part, speaker]" in caveat.text and (caveat.corpus, caveat.task) == ("c", "")


@pytest.mark.parametrize("form", WRITE)
def test_other_words_may_mean_nobody(read, form):
    these = people(3, sex=["f", "m", "none"])
    these[0]["speaker"] = "none"
    corpus = read(form, these, keys="unknown: [X]")
    assert corpus.segments["speaker"].tolist() == ["none", "s1", "s2"]


@pytest.mark.parametrize("form", WRITE)
def test_a_duration_without_a_start(read, form):
    corpus = read(form, people(2, duration=[0.25, 0.25]))
    heard = corpus.segments["duration"].tolist()
    assert heard == [0.25, 0.25] or any("duration" in one or "utt2dur" in one for one in corpus.notices)
    if form in ("nemo", "lhotse"):
        assert heard == [0.25, 0.25]
