"""What the page about data shows of formats, with files as it says; Kaldi through a whole run."""

import csv
import json

import pytest
import yaml
from pages import PAGES, example

from soundcheck.suite.suite_file import read_suite

PAGE = PAGES.joinpath("data.md").read_text("utf-8")


@pytest.mark.parametrize("number", range(PAGE.count("```yaml\n")))
def test_examples_of_the_page_are_suites(tmp_path, monkeypatch, number):
    """Files and folders are made as far as the entries name them; `~` is a folder of the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    text = PAGE.split("```yaml\n")[1 + number].partition("```")[0]
    content = yaml.safe_load(text)
    for entry in content.get("corpora", {}).values():
        for key in ("path", "root", "trials", "enrolments"):
            if name := entry.get(key, "").replace("~", str(tmp_path)):
                place = tmp_path / name
                is_file = "." in place.name and key != "root"
                (place.parent if is_file else place).mkdir(parents=True, exist_ok=True)
                place.touch() if is_file else None
    models = "models:\n  m: {random: gaussian}\nfamilies: [correctness_regression]\n"
    text = text if "corpora" in content else f"corpora:\n  c: {{format: csv, path: suite.yml}}\n{text}"
    (tmp_path / "suite.yml").write_text(text.partition("models:")[0] + models)
    assert read_suite(tmp_path / "suite.yml").corpora


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
