"""Suites that ``soundcheck init`` writes: for each kind of model, and for tiny data of each format."""

import csv
import gzip
import io
import json
import os
import re

import audformat
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import soundfile

from soundcheck.common.errors import InputError
from soundcheck.common.yaml_text import flow
from soundcheck.corpora.load import load_corpus
from soundcheck.start import folder_index, suites
from soundcheck.start.suites import KINDS
from soundcheck.suite.model_kind import MODEL_KINDS, ModelKeys
from soundcheck.suite.suite_file import read_suite
from soundcheck.suite.yaml_reader import read_yaml

pytestmark = pytest.mark.slow

COUNT = 8
WORDS = ["turn left", "turn right"]
SPEAKERS = [f"s{number % 4}" for number in range(COUNT)]
SEXES = [["female", "male"][number % 2] for number in range(COUNT)]


def tone(number):
    return 0.1 * np.sin(2 * np.pi * (200 + 50 * number) * np.arange(3200) / 16000)


def sounds(folder, *names):
    """Write recordings; gives their names."""
    names = names or [f"{number}.wav" for number in range(COUNT)]
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / name, tone(number), 16000)
    return list(names)


def table(path, rows, delimiter=","):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def make_csv(folder):
    rows = [
        {"path": name, "spk": SPEAKERS[n], "gender": "FM"[n % 2], "emo": ["ang", "hap", "neu", "sad"][n % 4]}
        | {"activation": 1.5 + n / 2.5, "device": ["phone", "mic"][n % 2], "age": 20 + n, "note": f"note {n}"}
        for n, name in enumerate(sounds(folder))
    ]
    table(folder / "labels.csv", rows)
    return {
        **{"format": "csv", "path": "../data/labels.csv", "range": {"arousal": ["1", "5"]}},
        "columns": {"file": "path", "speaker": "spk", "sex": "gender", "arousal": "activation"}
        | {"emotion": "emo"},
        "values": {"emotion": {"ang": "anger", "hap": "happiness", "neu": "neutral", "sad": "sadness"}},
    }, {"arousal", "emotion"}


def make_audformat(folder):
    db = audformat.Database("made", languages=["deu"])
    db.schemes["emotion"] = audformat.Scheme("str", labels=["anger", "fear", "neutral"])
    db["files"] = audformat.Table(audformat.filewise_index(sounds(folder)))
    for column, values in {"emotion": ["anger", "fear", "neutral", "fear"] * 2, "speaker": SPEAKERS}.items():
        db["files"][column] = audformat.Column(scheme_id=column if column in db.schemes else None)
        db["files"][column].set(values)
    db.save(folder, storage_format="csv")
    return {"format": "audformat", "path": "../data", "columns": {"feeling": "emotion"}}, {"feeling"}


def make_nemo(folder):
    sounds(folder / "wavs")
    rows = [
        {"audio_filepath": f"/home/them/{n}.wav", "duration": 0.2, "text": WORDS[n % 2]} for n in range(COUNT)
    ]
    lines(folder / "train_manifest.json", rows[:2])
    lines(folder / "test_manifest.json", rows)
    lists = {"format": "nemo", "path": "../data/test_manifest.json", "cut": "/home/them/"}
    return lists | {"root": "../data/wavs"}, {"transcript"}


def make_commonvoice(folder):
    names = sounds(folder / "clips", *(f"{n}.mp3" for n in range(COUNT)))
    rows = [
        {
            "client_id": SPEAKERS[n],
            "path": name,
            "sentence": WORDS[n % 2],
            "age": ["teens", "fourties"][n % 2],
        }
        | {"gender": "male_masculine", "accents": "", "locale": "en"}
        for n, name in enumerate(names)
    ]
    for split in ("train", "test"):
        table(folder / f"{split}.tsv", rows, "\t")
    return {"format": "commonvoice", "path": "../data/test.tsv"}, {"transcript"}


def make_audiofolder(folder):
    rows = [{"file_name": name, "mos": 1 + n / 2} for n, name in enumerate(sounds(folder))]
    table(folder / "metadata.csv", rows)
    return {"format": "audiofolder", "path": "../data"}, {"mos"}


def make_folders_of_recordings(folder):
    sounds(folder, *(f"{label}/{n}.wav" for label in ("angry", "bored") for n in range(4)))
    return {"format": "audiofolder", "path": "../data", "columns": {"feeling": "label"}}, {"feeling"}


def make_parquet(folder):
    rows = []
    for n in range(COUNT):
        file = io.BytesIO()
        soundfile.write(file, tone(n), 16000, format="WAV")
        rows.append({"audio": {"bytes": file.getvalue(), "path": f"{n}.wav"}, "text": WORDS[n % 2]})
    (folder / "data").mkdir(parents=True)
    pa.parquet.write_table(pa.Table.from_pylist(rows), folder / "data" / "test-00000-of-00001.parquet")
    return {"format": "parquet", "path": "../data"}, {"transcript"}


def make_kaldi(folder):
    names = sounds(folder)
    for name, cells in {
        "wav.scp": names,
        "text": [WORDS[n % 2] for n in range(COUNT)],
        "utt2spk": SPEAKERS,
    }.items():
        (folder / name).write_text("".join(f"{SPEAKERS[n]}-{n} {cell}\n" for n, cell in enumerate(cells)))
    return {"format": "kaldi", "path": "../data"}, {"transcript"}


def make_lhotse(folder):
    rows = [
        {
            **{"id": f"c{n}", "start": 0, "duration": 0.2, "channel": 0, "type": "MonoCut"},
            "supervisions": [
                {"id": f"u{n}", "recording_id": f"r{n}", "start": 0, "duration": 0.2, "channel": 0}
                | {"text": WORDS[n % 2], "speaker": SPEAKERS[n], "gender": SEXES[n]}
            ],
            "recording": {"id": f"r{n}", "sampling_rate": 16000, "num_samples": 3200, "duration": 0.2}
            | {"sources": [{"type": "file", "channels": [0], "source": name}]},
        }
        for n, name in enumerate(sounds(folder))
    ]
    lines(folder / "cuts.jsonl.gz", rows)
    return {"format": "lhotse", "path": "../data/cuts.jsonl.gz"}, {"transcript"}


def make_emobox(folder):
    rows = [
        {"key": f"made-{n}", "dataset": "made", "wav": name, "sample_rate": 16000, "length": 0.2}
        | {"task": "category", "emo": ["ang", "hap", "neu", "sad"][n % 4], "channel": 1}
        for n, name in enumerate(sounds(folder))
    ]
    lines(folder / "fold_1" / "made_test_fold_1.jsonl", rows)
    (other,) = sounds(folder, "other.wav")
    lines(folder / "fold_1" / "made_train_fold_1.jsonl", [rows[0] | {"key": "made-x", "wav": other}])
    labels = {"ang": "Angry", "hap": "Happy", "neu": "Neutral", "sad": "Sad"}
    (folder / "label_map.json").write_text(json.dumps(labels))
    return {"format": "emobox", "path": "../data", "fold": "1"}, {"emotion"}


def make_speechbrain(folder):
    rows = [
        {"ID": n, "duration": 0.2, "wav": f"$data_root/{name}", "spk_id": SPEAKERS[n], "wrd": WORDS[n % 2]}
        for n, name in enumerate(sounds(folder))
    ]
    table(folder / "test.csv", rows)
    return {"format": "speechbrain", "path": "../data/test.csv"}, {"transcript"}


def make_trials(folder):
    names = sounds(folder, *(f"s{n % 4}/{n}.wav" for n in range(COUNT)))
    pairs = [(a, b) for a in names for b in names if a < b]
    text = "".join(f"{int(a[:2] == b[:2])} {a} {b}\n" for a, b in pairs)
    (folder / "veri_test.txt").write_text(text)
    return {"format": "trials", "path": "../data/veri_test.txt"}, {"embedding"}


MAKERS = {name.removeprefix("make_"): make for name, make in globals().items() if name.startswith("make_")}


def plain(value):
    """What a reader of YAML gives, as texts."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else str(value)


@pytest.fixture(params=MAKERS)
def made(request, tmp_path):
    """Data of a format, the keys of the corpus and the tasks that ought to be found."""
    (tmp_path / "data").mkdir()
    expected, tasks = MAKERS[request.param](tmp_path / "data")
    return tmp_path, expected, tasks


def test_what_lies_in_a_folder_is_recognised_and_loads(made):
    folder, expected, tasks = made
    told = suites.write_suite(folder / "new", None, folder / "data")
    assert f"format {expected['format']}" in told
    text = (folder / "new" / "suite.yml").read_text("utf-8")
    corpus = plain(read_yaml(folder / "new" / "suite.yml", "suite.yml", []).data["corpora"]["data"])
    assert {key: corpus.get(key) for key in expected} == expected, text
    suite = read_suite(folder / "new" / "suite.yml")
    assert set(suite.models["mine"].tasks) == tasks
    loaded = load_corpus(suite.corpora["data"], suite, folder / "cache")
    assert len(loaded.segments) == COUNT
    assert not [one for one in loaded.left_out if one.stage != "label"]  # some emotions are none of the four
    for task in tasks - {"transcript", "embedding"}:
        assert loaded.segments[task].notna().all()
    assert str(folder) not in text


def test_families_that_fit_are_those_of_a_run(tmp_path, undrawn):
    """What the comments promise against what a run tests, without changes of the sound."""
    (tmp_path / "data").mkdir()
    make_csv(tmp_path / "data")
    assert undrawn("init", "new", "--data", "data", cwd=tmp_path).returncode == 0
    text = (tmp_path / "new" / "suite.yml").read_text()
    fit = re.findall(r"^    #   (\w+)$", text, re.MULTILINE)
    unfit = re.findall(r"^    #   (\w+) \(", text, re.MULTILINE)
    assert (
        "correctness_regression" in fit
        and "fairness_accent" in unfit
        and "asr_word_errors" not in fit + unfit
    )
    assert "groups: [device, {age: " in text
    looked = [name for name in fit + unfit if not name.startswith("robustness")]
    short = text.replace("families: all", f"families: {looked}\nstudies: false\nreplicates: 100")
    (tmp_path / "new" / "suite.yml").write_text(short.replace("'", ""))
    done = undrawn("run", "new/suite.yml", "--out", "out", "--no-book", "--model", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    for path in (tmp_path / "out" / "notebooks").rglob("*.ipynb"):
        if path.stem in unfit and path.stem in looked:  # a run says the same
            assert "the corpus has no column" in path.read_text()
    frame = pd.read_csv(tmp_path / "out" / "results.csv")
    assert {"correctness_regression", "correctness_classification"} <= set(frame["family"])
    assert not set(frame.loc[frame["value"].notna(), "family"]) & set(unfit)


def test_a_few_files_of_the_same_name_are_not_the_recordings(tmp_path):
    rows = [
        {"audio_filepath": f"/home/them/{n}.wav", "duration": 0.2, "text": WORDS[n % 2]} for n in range(COUNT)
    ]
    lines(tmp_path / "manifest.json", rows)
    sounds(tmp_path / "other", *(f"{n}.wav" for n in range(2)))
    suites.write_suite(tmp_path / "suite", None, tmp_path / "manifest.json")
    text = (tmp_path / "suite" / "suite.yml").read_text("utf-8")
    assert "audio: false # most of the first files are not there" in text and "root:" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_an_entry_with_all_its_keys(tmp_path, kind):
    told = suites.write_suite(tmp_path, kind, None)
    text = (tmp_path / "suite.yml").read_text("utf-8")
    entry = text[text.index("\n  mine:\n") : text.index("\nfamilies: all")]
    there = set(re.findall(r"^    (?:# )?([\w-]+):", entry, re.MULTILINE))
    refused = {"endpoint": {"batch"}}.get(kind, set())
    refused |= {"range", "values"} if kind in ("endpoint", "onnx-asr", "command") else set()  # texts
    refused |= {"missing"} if kind not in ("endpoint", "onnx-asr", "command") else set()  # of transcripts
    refused |= {"batch", "time_limit", "files"} if kind == "predictions" else set()  # nobody is asked
    assert {
        kind,
        *(MODEL_KINDS[kind].keys or ModelKeys).model_fields,
    } - refused <= there and not refused & there
    target = re.search(rf"^    {kind}: (.+)$", entry, re.MULTILINE)[1]
    if kind in ("onnx", "onnx-asr", "transformers", "predictions"):
        assert f"put {target} beside suite.yml" in told
        with pytest.raises(InputError, match="does not exist"):  # the only thing that is missing
            read_suite(tmp_path / "suite.yml")
        (tmp_path / target).mkdir() if "folder" in target else (tmp_path / target).touch()
    assert read_suite(tmp_path / "suite.yml").models["mine"].kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_commented_out_is_right(tmp_path, kind):
    """Every key that a user may take into use is one that the reader knows, with a value that it takes."""
    (tmp_path / "data").mkdir()
    make_csv(tmp_path / "data")
    suites.write_suite(tmp_path / "new", kind, tmp_path / "data")
    path = tmp_path / "new" / "suite.yml"
    text = path.read_text()
    begin, end = (
        text.index("    tasks:", text.index("  mine:")),
        text.index("  random-", text.index("  mine:")),
    )
    used = re.sub(r"^    # (\w+:)", r"    \1", text[begin:end], flags=re.MULTILINE)
    used = used.replace(" {audio}", "") if "stays: true" in used else used
    text = text[:begin].replace(" {audio}", "") + used + text[end:]
    path.write_text(text)
    for name in ("model.onnx", "weights", "my_program.py"):
        (tmp_path / "new" / name).touch()
    (tmp_path / "new" / "model-folder").mkdir()
    assert read_suite(path).models["mine"].kind == kind


@pytest.mark.parametrize("kind", ["command", "python", "predictions"])
def test_models_to_replace_answer(tmp_path, undrawn, kind):
    (tmp_path / "data").mkdir()
    make_csv(tmp_path / "data")
    done = undrawn("init", "new", "--data", "data", "--model", kind, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = undrawn("run", "new/suite.yml", "--plan", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr


def test_a_corpus_without_sound_gets_a_table_to_fill_in(tmp_path):
    rows = [{"audio_filepath": f"/gone/{n}.wav", "duration": 1.0, "text": WORDS[n % 2]} for n in range(COUNT)]
    lines(tmp_path / "data" / "manifest.jsonl", rows)
    suites.write_suite(tmp_path / "new", None, tmp_path / "data" / "manifest.jsonl")
    assert "audio: false" in (tmp_path / "new" / "suite.yml").read_text()
    table = pd.read_csv(tmp_path / "new" / "predictions.csv")
    assert list(table) == ["file", "transcript"] and len(table) == COUNT
    suite = read_suite(tmp_path / "new" / "suite.yml")
    assert len(load_corpus(suite.corpora["data"], suite, tmp_path / "cache").segments) == COUNT


@pytest.mark.parametrize("apart", [True, False])
def test_predictions_beside_the_data_are_taken(tmp_path, undrawn, apart):
    names = sounds(tmp_path / "data" / "wavs")
    rows = [
        {"audio_filepath": f"wavs/{f}", "duration": 0.2, "text": WORDS[n % 2]} for n, f in enumerate(names)
    ]
    lines(tmp_path / "data" / "whisper.json", [row | {"pred_text": WORDS[0]} for row in rows])
    if apart:
        lines(tmp_path / "data" / "test_manifest.json", rows)
    done = undrawn("init", "new", "--data", "data", cwd=tmp_path)
    assert "whisper.json: predictions of a model (pred_text)" in done.stdout, done.stderr
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["suite.yml"]
    suite = read_suite(tmp_path / "new" / "suite.yml")
    assert suite.corpora["data"].path.name == ("test_manifest.json" if apart else "whisper.json")
    assert suite.models["mine"].path.name == "whisper.json"
    line = ("run", "new/suite.yml", "--out", "out", "--no-book", "--family", "asr_word_errors")
    done = undrawn(*line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "word error rate 25.0\xa0%" in done.stdout  # one of four words is another one


def test_what_is_not_recognised(tmp_path, undrawn):
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "notes.txt").write_text("hello\n")
    (tmp_path / "data" / "broken.jsonl").write_bytes(b"\xff{{{")
    (tmp_path / "data" / "list.json").write_text("[1, 2]")
    done = undrawn("init", "new", "--data", "data", cwd=tmp_path)
    assert done.returncode == 2 and "no format is recognised among 3 files" in done.stderr
    assert "wav.scp" in done.stderr and "audio_filepath" in done.stderr and "Traceback" not in done.stderr
    for options, message in (
        (("--data", "nowhere"), "it does not exist"),
        (("--model", "onxx"), "Did you mean 'onnx'?"),
        (("--family", "mine", "--model", "onnx"), "leave out --model and --data"),
    ):
        done = undrawn("init", "new", *options, cwd=tmp_path)
        assert done.returncode == 2 and message in done.stderr
    assert not (tmp_path / "new").exists()


def test_huge_folders_are_looked_at_in_part(tmp_path, monkeypatch):
    for name, most in (("MOST_ENTRIES", 50), ("MOST_AUDIO", 5), ("MOST_TABLES", 5)):
        monkeypatch.setattr(folder_index, name, most)
    for number in range(60):
        (tmp_path / "deep").mkdir(exist_ok=True)
        (tmp_path / "deep" / f"{number}.wav").touch()
    assert len(folder_index.FolderIndex(tmp_path).audio) == 5


def test_links_are_not_followed_out(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    make_csv(tmp_path / "elsewhere")
    (tmp_path / "data").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "data" / "inner")
    os.symlink(tmp_path / "elsewhere" / "labels.csv", tmp_path / "data" / "labels.csv")
    with pytest.raises(InputError, match="no format is recognised among 0 files"):
        suites.write_suite(tmp_path / "new", None, tmp_path / "data")


def test_texts_stay_what_they_are(tmp_path):
    for text in ("no", "a: b", "#", "x # y", "", " a", "1", "é, [", "../a b", ".", "null", "-"):
        (tmp_path / "a.yml").write_text(f"given: {flow({'list': [text], text or 'empty': text})}\n")
        given = read_yaml(tmp_path / "a.yml", "a.yml", []).data["given"]
        assert given["list"] == [text] and given[text or "empty"] == text


@pytest.mark.parametrize(
    ("splits", "line", "evaluated"),
    [
        (["Train", "Test"], "split: Test # there are Test (4), Train (4)", {"Test"}),
        (["train", "val"], "split: val # there are train (4), val (4)", {"val"}),
        (
            ["Train", "Test1", "Test2"],
            "# split: all # there are Test1 (3), Test2 (2), Train (3)",
            {"Test1", "Test2"},
        ),
        (["A", "B"], "split: all # there are A (4), B (4)", {"A", "B"}),
        (["train"], "split: train # there are train (8)", {"train"}),
    ],
)
def test_splits_are_chosen_as_in_a_run(tmp_path, splits, line, evaluated):
    names = sounds(tmp_path / "data")
    rows = [
        {"file": name, "split": splits[n % len(splits)], "transcript": "a"} for n, name in enumerate(names)
    ]
    table(tmp_path / "data" / "t.csv", rows)
    suites.write_suite(tmp_path / "new", None, tmp_path / "data" / "t.csv")
    assert f"    {line}\n" in (tmp_path / "new" / "suite.yml").read_text()
    suite = read_suite(tmp_path / "new" / "suite.yml")
    (entry,) = suite.corpora.values()
    assert set(load_corpus(entry, suite, tmp_path / "cache").segments["split"]) == evaluated


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ";"), ("t.tsv", "\t")])
def test_tables_with_other_separators_are_recognised(tmp_path, name, separator):
    rows = [
        ("file", "mode", "transcript"),
        *((f"{n}.wav", ("train", "test")[n % 2], "a b") for n in range(8)),
    ]
    (tmp_path / name).write_text("".join(separator.join(row) + "\n" for row in rows))
    suites.write_suite(tmp_path / "new", None, tmp_path / name)
    text = (tmp_path / "new" / "suite.yml").read_text()
    assert "split: test # there are test (4), train (4)" in text and "groups: [mode]" not in text


@pytest.mark.parametrize(("speakers", "is_task"), [(["Unknown", "s1"], False), (["NA", "s1"], True)])
def test_words_for_nobody_are_no_speakers_to_verify(tmp_path, speakers, is_task):
    names = sounds(tmp_path / "data")
    table(
        tmp_path / "data" / "t.csv",
        [{"file": name, "speaker": speakers[n % 2]} for n, name in enumerate(names)],
    )
    suites.write_suite(tmp_path / "new", None, tmp_path / "data" / "t.csv")
    assert ("embedding" in (tmp_path / "new" / "suite.yml").read_text()) == is_task


COLUMNS = {  # name of a column, its values by number -> what the suite says
    "label": (lambda n: f"spk{n % 5:02d}", "columns: {speaker: label}"),
    "class": (lambda n: f"{'MF'[n % 2]}{n % 6:03d}", "columns: {speaker: class}"),
    "category": (lambda n: f"name {chr(97 + n // 2)}", "tasks: [arousal]"),  # nothing to test
    "emotion": (lambda n: ("ANG", "HAP", "NEU", "SAD")[n % 4], "{ANG: anger, HAP: happiness,"),
    "EmoClass": (lambda n: ("ANG", "HAP", "NEU", "SAD")[n % 4], "{emotion: EmoClass}"),
    "intent": (lambda n: ("off", "on")[n % 2], "columns: {own_intent: intent}"),
    "mos": (lambda n: 1 + n % 9 / 2, "range: [1, 5]"),
    "arousal": (lambda n: 1.86 + n / 10, "range: {arousal: [1, 7]}"),
    "act": (lambda n: 1 + n % 5, "range: {arousal: [1, 5]}"),
    "SpkrID": (lambda n: f"{n % 5}", "columns: {speaker: SpkrID}"),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_what_a_column_is_taken_for(tmp_path, column):
    value, says = COLUMNS[column]
    table(tmp_path / "data" / "segments.csv", [{"file": f"{n}.wav", column: value(n)} for n in range(40)])
    suites.write_suite(tmp_path / "suite", None, tmp_path / "data")
    assert says in (tmp_path / "suite" / "suite.yml").read_text()
    read_suite(tmp_path / "suite" / "suite.yml")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [{"file": f"{n // 2}.wav", "arousal": n % 5} for n in range(20)],
            "there 2 times with different arousal",
        ),
        ([{"file": "" if n == 3 else f"{n}.wav", "arousal": 0.5} for n in range(20)], "line 5, column file"),
        ([{"file": f"{n}.wav", "arousal": 0.5, "start": 2, "end": 1} for n in range(20)], "is after end"),
    ],
)
def test_data_that_a_run_would_refuse_are_refused(tmp_path, rows, words):
    table(tmp_path / "data" / "segments.csv", rows)
    with pytest.raises(InputError, match=words):
        suites.write_suite(tmp_path / "suite", None, tmp_path / "data")
    assert not (tmp_path / "suite").exists()
