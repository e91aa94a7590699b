"""What the page about data shows of formats, with files as it says; Kaldi through a whole run."""

import csv
import gzip
import json

import pandas as pd
import pytest
import yaml
from pages import example
from segment_rows import rows

from soundcheck.corpora.load import load_corpus
from soundcheck.suite.suite_file import read_suite


def cut_of_lhotse() -> bytes:
    source = {"type": "file", "channels": [0], "source": "/export/corpora/LibriSpeech/61/a.wav"}
    supervision = {"id": "a-1", "start": 0, "duration": 0.5, "speaker": "61", "text": "TURN LEFT"}
    cut = {
        **{"id": "a", "start": 0, "duration": 0.5, "channel": 0, "type": "MonoCut"},
        "supervisions": [supervision],
        "recording": {"id": "a", "sources": [source], "sampling_rate": 16000, "duration": 0.5},
    }
    return gzip.compress(json.dumps(cut).encode())


def line_of_emobox(name: str) -> dict:
    wav = f"downloads/emovo/{name}.wav"
    return {"key": f"emovo-{name}", "wav": wav, "task": "category", "length": 0.5, "emo": "gio"}


EMOVO = "EmoBox/data/emovo"
SPEECHBRAIN = "ID,duration,wav,spk_id,wrd,gender\na,0.5,$data_root/61/a.wav,61,TURN LEFT,F\n"
COMMON_VOICE = "client_id\tpath\tsentence\tage\taccents\n"
COMMON_VOICE += "c1\ta.mp3\tso\tfourties\tUnited States English,Midwestern\nc2\tb.mp3\tno\tteens\t\n"
CALLS = [("ang", "male_masculine"), ("hap", "female"), ("unknown", "")]
CALLS = [f"/mnt/theirs/calls/day1/{n}.wav,{label},{sex}" for n, (label, sex) in enumerate(CALLS)]
MEETINGS = [
    {"audio_filepath": f"/data/meetings/s{n}/u.wav", "duration": 1.5, "text": "go", "gender": "fm"[n]}
    for n in range(2)
]
EXAMPLES = {  # heading of the page -> files, columns, rows
    "What every table of segments may say": (
        {"manifest.csv": "\n".join(["path,label,sex", *CALLS])}
        | {f"audio/calls/day1/{n}.wav": n for n in range(3)},
        ("file", "emotion", "sex"),
        [("day1/0.wav", "anger", "male"), ("day1/1.wav", "happiness", "female"), ("day1/2.wav", None, None)],
    ),
    "NeMo manifests": (
        {"test_manifest.json": "".join(json.dumps(row) + "\n" for row in MEETINGS)},
        ("file", "duration", "sex"),
        [("s0/u.wav", 1.5, "female"), ("s1/u.wav", 1.5, "male")],
    ),
    "Common Voice": (
        {"cv-corpus-21.0/en/test.tsv": COMMON_VOICE}
        | {f"cv-corpus-21.0/en/clips/{name}.mp3": number for number, name in enumerate("ab")},
        ("file", "age", "accent"),
        [("a.mp3", "forties", "United States English"), ("b.mp3", "teens", None)],
    ),
    "Lhotse": (
        {"audio/LibriSpeech/61/a.wav": 1, "manifests/cuts_test-clean.jsonl.gz": cut_of_lhotse()},
        ("file", "item", "transcript"),
        [("61/a.wav", "a-1", "TURN LEFT")],
    ),
    "EmoBox": (
        {f"EmoBox/downloads/emovo/{name}.wav": 1 for name in ("gio-f1-b1", "gio-f2-b2")}
        | {
            f"{EMOVO}/label_map.json": {"gio": "Happy"},
            f"{EMOVO}/fold_1/emovo_train_fold_1.jsonl": line_of_emobox("gio-f1-b1"),
            f"{EMOVO}/fold_1/emovo_test_fold_1.jsonl": line_of_emobox("gio-f2-b2"),
        },
        ("item", "speaker", "emotion"),
        [("emovo-gio-f2-b2", "f2", "happiness")],
    ),
    "SpeechBrain": (
        {"audio/LibriSpeech/61/a.wav": 1, "results/test-clean.csv": SPEECHBRAIN},
        ("file", "speaker", "sex"),
        [("61/a.wav", "61", "female")],
    ),
    "Folders of the Hugging Face Hub": (
        {"emotions/test/ang/a.wav": 1, "emotions/test/hap/b.wav": 2},
        ("file", "emotion"),
        [("test/ang/a.wav", "anger"), ("test/hap/b.wav", "happiness")],
    ),
    "Parquet shards": (
        {
            "minds14/en-US/train-00000-of-00001.parquet": pd.DataFrame(
                {"audio": [{"bytes": b"", "path": "en-US~1.wav"}], "english_transcription": ["hello"]}
            )
        },
        ("transcript",),
        [("hello",)],
    ),
}


@pytest.mark.parametrize("heading", EXAMPLES)
def test_examples_of_the_page(write, tone, tmp_path, monkeypatch, heading):
    monkeypatch.setenv("HOME", str(tmp_path))
    files, columns, expected = EXAMPLES[heading]
    if heading == "Parquet shards":
        sound = tone(tmp_path / "made.wav").read_bytes()
        (table,) = files.values()
        table.at[0, "audio"]["bytes"] = sound
    write(files)
    text = example("data", heading).partition("models:")[0]
    models = "models:\n  guess: {random: gaussian}\nfamilies: [correctness_regression]\n"
    (tmp_path / "suite.yml").write_text(text + models)
    suite = read_suite(tmp_path / "suite.yml")
    (entry,) = suite.corpora.values()
    assert rows(load_corpus(entry, suite, tmp_path / "cache"), *columns) == expected


KALDI = {  # two recordings, three utterances
    **{f"audio/eval2000/{name}.wav": number for number, name in enumerate("ab")},
    "data/eval2000/wav.scp": "a /export/corpora/eval2000/a.wav\nb /export/corpora/eval2000/b.wav\n",
    "data/eval2000/segments": "a-0 a 0 0.25\na-1 a 0.25 -1\nb-0 b 0.10 0.5\n",
    "data/eval2000/text": "a-0 turn left now\na-1 switch on\nb-0 the light please\n",
    "data/eval2000/utt2spk": "a-0 s1\na-1 s1\nb-0 s2\n",
    "data/eval2000/utt2noise": "a-0 car\na-1 car\nb-0 street\n",
}
PREDICTED = [("a", 0, 0.25, "turn left"), ("a", 0.25, 0.25, "switch it on"), ("b", 0.1, 0.4, "light please")]
WORDS = [
    ("a", 0.02, "turn"),
    ("a", 0.12, "left"),
    ("a", 0.3, "switch"),
    ("b", 0.2, "light"),
    ("b", 0.01, "um"),
]
PREDICTIONS = {
    "whisper": [
        {"audio_filepath": f"/x/{name}.flac", "offset": start, "duration": length, "time": 0.1}
        | {"text": "", "pred_text": text}
        for name, start, length, text in PREDICTED
    ],
    "kaldi": "".join(f"{name} 1 {start} 0.05 {word} 0.9\n" for name, start, word in WORDS),
    "meetings": json.dumps(
        [
            {"session_id": name, "start_time": start, "end_time": start + length}
            | {"words": text, "speaker": "0"}
            for name, start, length, text in PREDICTED
        ]
    ),
    "utterances": "turn left now (a-0)\nswitch on (a-1)\nthe light please (b-0)\n",
}


def test_predictions_in_four_formats_for_a_data_folder_of_kaldi(undrawn, write, tmp_path):
    models = yaml.safe_load(example("models", "Predictions that you have already"))["models"]
    models["utterances"] = {"predictions": "hyp.trn", "tasks": ["transcript"]}
    models = {name: models[name] for name in PREDICTIONS}
    write(KALDI | {models[name]["predictions"]: content for name, content in PREDICTIONS.items()})
    suite = {
        **yaml.safe_load(example("data", "Kaldi and ESPnet")),
        **{"models": models, "families": ["asr_word_errors"], "replicates": 100, "studies": False},
    }
    write({"suite.yml": yaml.safe_dump(suite, sort_keys=False)})
    done = undrawn("run", "suite.yml", "--no-book", cwd=tmp_path, HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "build" / "results.csv", newline="") as file:
        results = list(csv.DictReader(file))
    rates = {row["model"]: float(row["value"]) for row in results if row["test"] == "Word Error Rate"}
    assert rates == {
        "whisper": pytest.approx(3 / 8),  # now and the are missing, it is too much
        "kaldi": pytest.approx(4 / 8),
        "meetings": pytest.approx(3 / 8),
        "utterances": 0,
    }
    record = json.loads((tmp_path / "build/run.json").read_text())
    notes = {model["name"]: model["notes"] for model in record["models"]}
    assert any("0.3 s for 0.9 s of sound: 3 times real time, as given" in one for one in notes["whisper"])
    assert "1 word belongs to no segment of the corpora" in notes["kaldi"]
    for path in (tmp_path / "build").rglob("*.*"):
        if path.is_file() and path.suffix in (".json", ".csv", ".ipynb", ".md"):
            assert "/export/corpora" not in path.read_text("utf-8"), path
