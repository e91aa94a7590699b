"""Retrained models through the real command: is any answer of the old weights believed?"""

import contextlib
import datetime
import json
import sqlite3
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import soundfile

pytestmark = pytest.mark.slow

AT_IMPORT = """
from pathlib import Path

WEIGHT = float(Path(__file__).with_name("import.txt").read_text())

def predict(signal, sampling_rate):
    return {"arousal": WEIGHT}
"""

AT_FIRST_USE = """
import functools
from pathlib import Path

@functools.cache
def weight():
    return float(Path(__file__).with_name("use.txt").read_text())

def predict(signal, sampling_rate):
    return {"arousal": weight()}
"""

THROUGH_C = """
import ctypes, os

def weight():
    c = ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    file = c.fopen(os.path.join(os.path.dirname(__file__), "c.txt").encode(), b"r")
    text = ctypes.create_string_buffer(20)
    c.fread(text, 1, 19, ctypes.c_void_p(file))
    c.fclose(ctypes.c_void_p(file))
    return float(text.value)

def predict(signal, sampling_rate):
    return {"arousal": weight()}
"""

# Whatever the weights are, the last argument is the recording.
PROGRAM = '#!/bin/sh\nfor last; do :; done\necho "$(cat {weights}) $(wc -c < "$last")"\n'

SUITE = """
title: Retrained
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  named: {command: "./named --weights=named.txt {audio}"}
  unnamed: {command: "./unnamed {audio}"}
  listed: {command: "./listed {audio}", files: ["listed*.txt"]}
  import: {python: "at_import:predict", tasks: [arousal]}
  use: {python: "at_first_use:predict", tasks: [arousal]}
  c: {python: "through_c:predict", tasks: [arousal]}
families: [kept]
studies: false
"""

THRESHOLDS = """
family: kept
category: robustness
title: Kept
question: Is anything asked?
tasks: [regression, transcription]
changes:
  Softer: {transform: gain, gain_db: [-6]}
tests:
  Nothing:
    rule: "<"
    thresholds: {arousal: 1, transcript: 1}
    source: this test
"""

CODE = """
from soundcheck.evaluation.evaluation import Evaluation
evaluation = Evaluation.load(run)
evaluation.save()
"""
NOTEBOOK = nbformat.writes(
    nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Kept"),
            nbformat.v4.new_code_cell('run = ""', metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell(CODE),
        ],
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    )
)

SEEN = ("named", "listed", "import", "use")  # the files are known
UNSEEN = ("unnamed", "c")
SEGMENTS = 6
INPUTS = 2 * SEGMENTS


def train(folder: Path, weight: str) -> None:
    for name in (*SEEN, *UNSEEN):
        (folder / f"{name}.txt").write_text(weight)


def write_suite(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    rows = ["file,speaker,arousal,transcript"]
    for number in range(SEGMENTS):
        tone = 0.1 * np.sin(np.arange(1600 + 160 * number) * 0.1)
        soundfile.write(folder / "data" / f"{number}.wav", tone, 16000, subtype="PCM_16")
        rows.append(f"{number}.wav,s{number},0.5,words")
    (folder / "data" / "segments.csv").write_text("\n".join(rows) + "\n")
    for name in ("named", "unnamed", "listed"):
        (folder / name).write_text(PROGRAM.format(weights=f"{name}.txt"))
        (folder / name).chmod(0o755)
    for name, text in (
        ("at_import.py", AT_IMPORT),
        ("at_first_use.py", AT_FIRST_USE),
        ("through_c.py", THROUGH_C),
        ("suite.yml", SUITE),
        ("thresholds/kept.yml", THRESHOLDS),
        ("notebooks/kept.ipynb", NOTEBOOK),
        ("book/methods/kept.md", "# Kept\n\n<!-- thresholds -->\n"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    train(folder, "0.25")
    return folder


def answers(folder: Path, model: str) -> set[str]:
    table = pd.read_parquet(folder / "build" / "predictions" / model / "tones.parquet")
    assert len(table) == INPUTS and not table["error"].any()
    name = "transcript" if "transcript" in table else "arousal"
    return {str(value).split()[0] for value in table[name]}


def record(folder: Path) -> dict[str, dict]:
    models = json.loads((folder / "build" / "run.json").read_text())["models"]
    return {model["name"]: model for model in models}


def stored(folder: Path) -> set[tuple[str, int]]:
    """List what is kept: fingerprints of models, and the number of the row of each answer."""
    with contextlib.closing(sqlite3.connect(folder / "build" / "cache" / "predictions.sqlite")) as store:
        return {*store.execute("SELECT fingerprint, rowid FROM answers")}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, undrawn):
    """A first run, a second of the same, and one after all models were retrained."""
    folder = write_suite(tmp_path_factory.mktemp("retrained"))
    done = {}
    for name in ("first", "second", "retrained"):
        if name == "retrained":
            train(folder, "0.75")
        pages = [] if name == "retrained" else ["--no-book"]  # nobody looks at those before
        run = undrawn("run", "suite.yml", *pages, cwd=folder)
        assert run.returncode == 0, run.stderr
        found = {model: answers(folder, model) for model in (*SEEN, *UNSEEN)}
        done[name] = (run, record(folder), found)
    return folder, done


def test_an_unchanged_suite_asks_nothing_but_canaries(runs):
    _, done = runs
    run, models, found = done["second"]
    today = datetime.date.today().isoformat()
    for name, model in models.items():
        assert (model["asked"], sum(model["days"].values())) == (0, INPUTS)
        assert (model["confirmed"], model["confirmed_different"]) == (5, 0)
        assert f"{name}: predictions: 12 from the cache of {max(model['days'])}, 0 computed now" in run.stdout
        assert model["notes"] == []
        assert max(model["days"]) <= today
    assert done["first"][1]["use"]["asked"] == INPUTS
    assert "use: predictions: 12 computed now, none from the cache" in done["first"][0].stdout
    assert {*map(tuple, found.values())} == {("0.25",)}


@pytest.mark.parametrize("model", SEEN + UNSEEN)
def test_no_answer_of_the_old_weights_is_believed(runs, model):
    _, done = runs
    assert done["retrained"][2][model] == {"0.75"}
    assert done["retrained"][1][model]["asked"] == INPUTS


def test_the_reason_is_told(runs):
    folder, done = runs
    run, models, _ = done["retrained"]
    for name in ("import", "use"):
        told = f"12 inputs were predicted again, because these files are not what they were: {name}.txt"
        assert told in models[name]["notes"]
        assert f"{name}: {told}" in run.stderr
        assert f"{name}.txt" in models[name]["seen_files"]
        assert models[name]["confirmed"] == 0
    for name in UNSEEN:
        (told,) = models[name]["notes"]
        assert told.startswith("5 of 5 cached predictions were different when they were computed again")
        assert "under files:" in told
        assert f"{name}: {told}" in run.stderr
        page = (folder / "build" / "html" / "models" / f"{name}.html").read_text()
        assert "5 of 5 cached predictions were different" in page and "12 given on 20" in page


def test_pages_name_files_without_folders(runs):
    folder, _ = runs
    page = (folder / "build" / "html" / "models" / "use.html").read_text()
    assert "use.txt" in page
    assert str(folder) not in page + (folder / "build" / "run.json").read_text()


def test_fresh_asks_one_model_anew_and_keeps_the_others(runs, undrawn):
    folder, _ = runs
    before = stored(folder)
    run = undrawn("run", "suite.yml", "--fresh", "--model", "c", "--no-book", cwd=folder)
    assert run.returncode == 0
    model = record(folder)["c"]  # the others stay in the book
    assert (model["asked"], model["days"], model["confirmed"]) == (INPUTS, {}, 0)
    after = stored(folder)
    # Answers are kept by what the model's code is; what is told of it covers the files that it opened, too.
    assert (
        {fingerprint for fingerprint, _ in after}
        == {fingerprint for fingerprint, _ in before}
        >= {model["code"]}
    )
    assert "through_c.py" in model["seen_files"] and model["fingerprint"] != model["code"]


def test_a_damaged_store_is_told(runs, undrawn):
    folder, done = runs
    store = folder / "build" / "cache" / "predictions.sqlite"
    store.write_bytes(store.read_bytes()[:10_000])
    run = undrawn("run", "suite.yml", "--model", "use", "--model", "listed", "--no-book", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    for name in ("use", "listed"):
        model = record(folder)[name]
        assert (model["asked"], model["days"]) == (INPUTS, {})
        (told,) = model["notes"]
        assert told.startswith("cached predictions of all models are lost or cannot be read")
        assert told.endswith("it was set aside as predictions.damaged.sqlite")
        assert f"{name}: {told}" in run.stderr
        assert answers(folder, name) == {"0.75"}


def test_files_that_name_nothing_are_refused(tmp_path, undrawn):
    folder = write_suite(tmp_path / "suite")
    (folder / "suite.yml").write_text(SUITE.replace("listed*.txt", "data/*.bin"))
    run = undrawn("run", "suite.yml", cwd=folder)
    assert run.returncode == 2
    assert "models.listed.files" in run.stderr and "'data/*.bin' means no file" in run.stderr
    assert "Traceback" not in run.stderr
