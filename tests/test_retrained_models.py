"""Retrained models through the real command: no prediction of old weights is believed, and all are told."""

import shutil

import numpy as np
import pandas as pd
import pytest
from runs import Run, inside, run, sound, write

pytestmark = pytest.mark.slow

# Each reads its weight when it is imported or when it is first used.
MODELS = {
    "import": """
from pathlib import Path

WEIGHT = float(Path(__file__).with_name("import.txt").read_text())

def predict(signal, sampling_rate):
    return {"arousal": WEIGHT}
""",
    "use": """
import functools
from pathlib import Path

@functools.cache
def weight():
    return float(Path(__file__).with_name("use.txt").read_text())

def predict(signal, sampling_rate):
    return {"arousal": weight() + 1e-5 * len(signal)}
""",
}
# Whatever the weights are, the last argument is the recording.
PROGRAM = '#!/bin/sh\nfor last; do :; done\necho "$(cat {}.txt) $(wc -c < "$last")"\n'
SUITE = """
title: Retrained
history: kept
replicates: 100
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  named: {command: "./named --weights=named.txt {audio}"}
  unnamed: {command: "./unnamed {audio}"}
  listed: {command: "./listed {audio}", files: ["listed*.txt"]}
  import: {python: "at_import:predict", tasks: [arousal]}
  use: {python: "at_use:predict", tasks: [arousal]}
families: [correctness_regression, asr_word_errors]
studies: false
"""
SEEN, UNSEEN = ("named", "listed", "import", "use"), ("unnamed",)  # whether the files are known
INPUTS = 8


def train(folder, weight):
    write(folder, {f"{name}.txt": weight for name in (*SEEN, *UNSEEN)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("retrained"), []
    for number in range(INPUTS):
        sound(folder / "data" / f"{number}.wav", 0.1 * np.sin(np.arange(1600 + 160 * number) * 0.1))
        rows.append((f"{number}.wav", f"s{number // 2}", 0.05 * number + 0.1, "words"))
    table = pd.DataFrame(rows, columns=["file", "speaker", "arousal", "transcript"])
    programs = {name: PROGRAM.format(name) for name in ("named", "unnamed", "listed")}
    write(folder, programs | {f"at_{name}.py": text for name, text in MODELS.items()})
    for name in programs:
        (folder / name).chmod(0o755)
    train(folder, "0.25")
    return write(folder, {"data/segments.csv": table, "suite.yml": SUITE})


def predicted(out, model):
    table = pd.read_parquet(out / "predictions" / model / "tones.parquet")
    assert len(table) == INPUTS and not table["error"].any()
    cells = table["transcript" if "transcript" in table else "arousal"]
    return {str(cell)[:4] for cell in cells}


def models_of(out):
    return {model["name"]: model for model in Run(out).record["models"]}


@pytest.fixture(scope="module")
def runs(folder, unbuilt):
    """A first run, a second of the same, and one after all models were retrained."""
    ended = {}
    for name in ("first", "second", "retrained"):
        if name == "retrained":
            train(folder, "0.75")
        pages = [] if name == "retrained" else ["--no-book"]  # nobody looks at those before
        done = run(unbuilt, folder, *pages).done
        predictions = {model: predicted(folder / "out", model) for model in (*SEEN, *UNSEEN)}
        ended[name] = (done, models_of(folder / "out"), predictions)
        if name != "second":
            shutil.copytree(folder / "out", folder / name)
    return ended


def test_an_unchanged_suite_asks_nothing_but_canaries(runs):
    done, models, predictions = runs["second"]
    for name, model in models.items():
        assert (model["asked"], sum(model["days"].values())) == (0, INPUTS)
        assert (model["confirmed"], model["confirmed_different"], model["notes"]) == (5, 0, [])
        message = f"{name}: predictions: {INPUTS} from the cache of {max(model['days'])}, 0 computed now"
        assert message in done.stdout
    assert f"use: predictions: {INPUTS} computed now, none from the cache" in runs["first"][0].stdout
    assert all(values <= {"0.25", "0.26", "0.27", "0.28", "0.29"} for values in predictions.values())


def test_no_prediction_of_the_old_weights_is_believed_and_the_reason_is_told(folder, runs):
    done, models, predictions = runs["retrained"]
    assert all(min(values) >= "0.75" for values in predictions.values())
    assert all(model["asked"] == INPUTS for model in models.values())
    book = Run(folder / "out")
    for name in ("import", "use"):
        message = (
            f"{INPUTS} inputs were predicted again, because these files are not what they were: {name}.txt"
        )
        assert message in models[name]["notes"] and f"{name}: {message}" in done.stderr
        assert f"{name}.txt" in models[name]["seen_files"] and models[name]["confirmed"] == 0
    for name in UNSEEN:
        (message,) = models[name]["notes"]
        assert message.startswith("5 of 5 cached predictions were different when they were computed again")
        assert "under files:" in message and f"{name}: {message}" in done.stderr
        assert "5 of 5 cached predictions were different" in book.page(f"models/{name}")
    page = book.page("models/use")  # names files without folders
    assert "use.txt" in page and str(folder) not in page + (folder / "out" / "run.json").read_text()
    prints = {name: models["use"]["fingerprint"] for name, (_, models, _) in runs.items()}
    assert prints["first"] == prints["second"] != prints["retrained"]
    assert len({models["use"]["code"] for _, models, _ in runs.values()}) == 1
    assert set(models["use"]["seen_files"]) == {"at_use.py", "use.txt"}


def test_card_history_and_baseline_say_that_it_is_another_model(folder, runs):
    first, retrained = (runs[name][1]["use"]["fingerprint"] for name in ("first", "retrained"))
    inside("card", "retrained", "--model", "use", "--out", "card", cwd=folder)
    text = (folder / "card" / "README.md").read_text()
    assert retrained[:16] in text and first[:16] not in text
    assert "of code, options and content of at_use.py, use.txt" in text.replace("\\", "")
    inside("history", "kept", "--out", "message", cwd=folder)
    frame = pd.read_csv(folder / "message" / "history.csv")
    last = frame[frame["position"].eq(2) & frame["value"].notna() & frame["model"].eq("use")]
    assert len(last) and last["joined"].eq("to another model").all() and last["changed"].eq("model").all()
    assert last["reason"].eq("another model (other content of use.txt)").all()
    done = inside("check", "retrained", "--baseline", "first", cwd=folder)
    assert "model use is another one (other content of use.txt)" in done.stdout
