"""The fingerprint of a model follows the weights that it reads: record, card, sheet, history, baseline."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import soundfile

pytestmark = pytest.mark.slow

SUITE = """
title: Retrained
history: kept
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  ours: {python: "model:predict", tasks: [arousal]}
families: [correctness_regression]
replicates: 100
studies: false
"""
MODEL = """
import functools, json
from pathlib import Path

@functools.cache
def slope():
    return json.loads(Path(__file__).with_name("weights.json").read_text())["slope"]

def predict(signal, sampling_rate):
    return {"arousal": slope() * float(abs(signal).max())}
"""


def files_of(folder):
    (folder / "data").mkdir(parents=True)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"file": [f"{n}.wav" for n in range(40)], "speaker": [f"s{n % 10}" for n in range(40)]}
    )
    table["arousal"] = rng.uniform(0.1, 0.9, 40).round(3)
    for name, height in zip(table["file"], table["arousal"] + rng.normal(0, 0.03, 40), strict=True):
        tone = height * np.sin(np.arange(1600) * 0.1)
        soundfile.write(folder / "data" / name, tone, 16000, subtype="PCM_16")
    table.to_csv(folder / "data" / "segments.csv", index=False)
    (folder / "suite.yml").write_text(SUITE)
    (folder / "model.py").write_text(MODEL)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory, undrawn):
    """Runs of a model: from kept answers, after it was retrained, in another folder."""
    folder = files_of(tmp_path_factory.mktemp("retrained"))
    other = files_of(tmp_path_factory.mktemp("elsewhere") / "deep")
    done = {}
    for name, place, slope in (
        ("a", folder, 1.0),
        ("kept", folder, 1.0),
        ("b", folder, 0.5),
        ("moved", other, 0.5),
    ):
        (place / "weights.json").write_text(json.dumps({"slope": slope}))
        run = undrawn("run", "suite.yml", "--no-book", "--out", "build", cwd=place)
        assert run.returncode == 0, run.stderr
        (done[name],) = json.loads((place / "build" / "run.json").read_text())["models"]
        if name in "ab":
            shutil.copytree(place / "build", place / name)
    return folder, done


def test_the_record_follows_the_weights_wherever_they_lie(runs):
    _, done = runs
    assert done["kept"]["asked"] == 0
    prints = {name: model["fingerprint"] for name, model in done.items()}
    assert prints["a"] == prints["kept"] != prints["b"] == prints["moved"]
    assert len({model["code"] for model in done.values()}) == 1
    assert set(done["b"]["seen_files"]) == {"model.py", "weights.json"}


def test_card_and_sheet_show_it_and_what_it_covers(runs, command):
    folder, done = runs
    covered = "of code, options and content of model.py, weights.json"
    for kind, out, page in (("card", "card", "card/README.md"), ("sheet", "sheet.html", "sheet.html")):
        run = command(kind, "b", "--model", "ours", "--out", out, cwd=folder)
        assert run.returncode == 0, run.stderr
        text = (folder / page).read_text()
        assert done["b"]["fingerprint"][:16] in text and covered in text.replace("\\", "")
        assert done["a"]["fingerprint"][:16] not in text


def test_history_and_baseline_say_that_it_is_another_model(runs, command):
    folder, done = runs
    run = command("history", "kept", "--out", "told", cwd=folder)
    assert run.returncode == 0, run.stderr
    frame = pd.read_csv(folder / "told" / "history.csv")
    last = frame[frame["position"].eq(2) & frame["value"].notna()]
    assert len(last) and last["joined"].eq("to another model").all()
    assert last["reason"].eq("another model (other content of weights.json)").all()
    assert last["changed"].eq("model").all() and set(last["model_version"]) == {done["b"]["fingerprint"][:12]}
    run = command("check", "b", "--baseline", "a", cwd=folder)
    assert "model ours is another one (other content of weights.json)" in run.stdout


def test_a_model_that_is_not_named_is_asked_again_with_new_weights(runs, command):
    folder, _ = runs
    suite = SUITE.replace("families:", "  theirs: {random: gaussian, tasks: [arousal]}\nfamilies:")
    (folder / "two.yml").write_text(suite)
    assert command("run", "two.yml", "--no-book", "--out", "two", cwd=folder).returncode == 0
    (folder / "weights.json").write_text('{"slope": 0.7}')
    run = command("run", "two.yml", "--no-book", "--out", "two", "--model", "theirs", cwd=folder)
    assert (
        run.returncode == 0 and "these files are not what they were: weights.json" in run.stdout + run.stderr
    )
