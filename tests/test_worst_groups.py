"""Groups that nobody named, through the real command: a weakness planted in two columns is found and told."""

import json

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck.results.table import read_results

pytestmark = pytest.mark.slow

SPEAKERS, EACH, SECONDS = 60, 20, 0.1
PHONE = "<b>phone</b>"
CLASSES = ("anger", "happiness", "neutral", "sadness")
VOICES, HEARD = 40, 10
SUITE = """
title: Worst
interval: t
thresholds: gap
replicates: 300
studies: false
corpora:
  rooms: {format: csv, path: rooms.csv, groups: [device]}
  voices: {format: csv, path: voices.csv, groups: [sex × device]}
  listed: {format: trials, path: trials.csv, audio: false}
models:
  uneven: {predictions: uneven.csv, tasks: [arousal, emotion, transcript], corpora: [rooms]}
  even: {predictions: even.csv, tasks: [emotion], corpora: [rooms]}
  voiceprint: {predictions: voiceprint.csv, tasks: [embedding], corpora: [voices]}
  scored: {scores: scores.txt, corpora: [listed]}
families: [fairness_worst_groups]
"""


def segments() -> pd.DataFrame:
    """Sixty speakers with twenty segments each, over four devices that change from segment to segment."""
    rng = np.random.default_rng(1)
    speaker = np.repeat(np.arange(SPEAKERS), EACH)
    place = np.tile(np.arange(EACH), SPEAKERS)
    table = pd.DataFrame(
        {
            "file": [f"s{s:02d}.wav" for s in speaker],
            "start": np.round(SECONDS * place, 3),
            "end": np.round(SECONDS * (place + 1), 3),
            "speaker": [f"s{s:02d}" for s in speaker],
            "sex": np.array(["female", "male"])[speaker % 2],
            "accent": [f"village {s}" for s in speaker],  # too many to look at
            "device": rng.choice([PHONE, "headset", "room", "car"], size=len(speaker)),
            "emotion": rng.choice(CLASSES, size=len(speaker)),
            "arousal": rng.random(len(speaker)).round(3),
            "transcript": "turn the light on",
        }
    )
    worse = (table["sex"].eq("female") & table["device"].eq(PHONE)).to_numpy()
    table["worse"] = worse
    habit = rng.normal(0, 0.05, SPEAKERS)[speaker]
    for name, chance in (("uneven", 0.15 + habit + 0.4 * worse), ("even", 0.15 + habit)):
        wrong = rng.random(len(speaker)) < chance
        other = np.roll(CLASSES, 1)[table["emotion"].map(CLASSES.index)]
        table[f"{name} emotion"] = np.where(wrong, other, table["emotion"])
    shift = rng.normal(0, 0.05, len(speaker)) + 0.3 * worse
    table["uneven arousal"] = (table["arousal"] + np.where(table["arousal"] < 0.5, 1, -1) * shift).round(6)
    table["uneven transcript"] = np.where(
        rng.random(len(speaker)) < 0.3, "turn the light off", "turn the light on"
    )
    return table


def voices() -> pd.DataFrame:
    """Make embeddings of forty speakers, noisy for women over a telephone."""
    rng = np.random.default_rng(2)
    speaker = np.repeat(np.arange(VOICES), HEARD)
    table = pd.DataFrame(
        {
            "file": [f"s{s:02d}.wav" for s in speaker],
            "start": np.round(SECONDS * np.tile(np.arange(HEARD), VOICES), 3),
            "end": np.round(SECONDS * np.tile(np.arange(1, HEARD + 1), VOICES), 3),
            "speaker": [f"s{s:02d}" for s in speaker],
            "sex": np.array(["female", "male"])[speaker % 2],
            "device": rng.choice([PHONE, "headset", "room", "car"], size=len(speaker)),
        }
    )
    noise = np.where(table["sex"].eq("female") & table["device"].eq(PHONE), 2.0, 0.3)
    heard = rng.normal(size=(VOICES, 16))[speaker] + noise[:, None] * rng.normal(size=(len(speaker), 16))
    table["embedding"] = [" ".join(f"{number:.5f}" for number in row) for row in heard]
    return table


@pytest.fixture(scope="module")
def run(tmp_path_factory, command):
    """Run the suite; gives the folder, the rows, and the segments of both corpora."""
    folder, table, heard = tmp_path_factory.mktemp("worst"), segments(), voices()
    time = np.arange(round(EACH * SECONDS * 16000)) / 16000
    for n, file in enumerate(sorted(set(table["file"]))):
        soundfile.write(folder / file, 0.1 * np.sin(2 * np.pi * (110 + 2 * n) * time), 16000)
    given = table.drop(columns=[name for name in table if "even " in name or name == "worse"])
    given.to_csv(folder / "rooms.csv", index=False)
    for name, tasks in (("uneven", ("arousal", "emotion", "transcript")), ("even", ("emotion",))):
        answers = {task: table[f"{name} {task}"] for task in tasks}
        table[["file", "start", "end"]].assign(**answers).to_csv(folder / f"{name}.csv", index=False)
    heard.drop(columns="embedding").to_csv(folder / "voices.csv", index=False)
    heard[["file", "start", "end", "embedding"]].to_csv(folder / "voiceprint.csv", index=False)
    pairs = [
        (f"s{s}/{n}.wav", f"s{t}/{n + 1}.wav", int(s == t))
        for s in range(9)
        for t in range(9)
        for n in (0, 2)
    ]
    rows = [f"{one},{other},{label}" for one, other, label in pairs]
    (folder / "trials.csv").write_text("enrol,test,label\n" + "\n".join(rows))
    scores = [f"{label + 0.01 * n} {one} {other}" for n, (one, other, label) in enumerate(pairs)]
    (folder / "scores.txt").write_text("\n".join(scores))
    (folder / "suite.yml").write_text(SUITE)
    done = command("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder, read_results(folder / "out" / "results.csv"), table


def row_of(frame: pd.DataFrame, model: str, task: str) -> pd.Series:
    (row,) = [row for _, row in frame[frame["model"].eq(model) & frame["task"].eq(task)].iterrows()]
    return row


def page_of(folder, model: str) -> str:
    """Give all that the page of a model shows."""
    notebook = folder / "out" / "notebooks" / model / "fairness_worst_groups.ipynb"
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return "".join("".join(output.get("data", {}).get("text/html", "")) for output in outputs)


@pytest.mark.parametrize("task", ["arousal", "emotion"])
def test_a_planted_weakness_is_named_and_holds(run, task):
    _, frame, table = run
    row = row_of(frame, "uneven", task)
    assert (row["value"], row["passed"], row["holds"], row["label"], row["group"]) == (1, False, True, "", "")
    wrong = table["uneven emotion"].ne(table["emotion"]).astype(float)
    error = wrong if task == "emotion" else (table["uneven arousal"] - table["arousal"]).abs()
    gap = error[table["worse"]].mean() - error[~table["worse"]].mean()
    assert row["skipped"].startswith(f"sex: female × device: {PHONE} ({gap:.2g} worse, ")
    assert row["p_value"] < 0.001 and pd.isna(row["low"]) and row["reference"] == 0
    assert (row["blocks"], row["segments"]) == (SPEAKERS, SPEAKERS * EACH)


def test_where_all_are_served_alike_nothing_is_named(run):
    _, frame, _ = run
    for model, task in (("even", "emotion"), ("uneven", "transcript")):
        row = row_of(frame, model, task)
        assert (row["value"], row["passed"], row["holds"]) == (0, True, False)
        assert row["skipped"].startswith("none of ") and row["evidence"] == "none"


def test_trials_are_searched_by_the_recording_that_is_tested(run):
    folder, frame, _ = run
    row = row_of(frame, "voiceprint", "embedding")
    assert row["value"] >= 1 and row["holds"]
    # A column that the suite names itself comes first where it says the same as a product.
    assert row["skipped"].startswith(f"sex × device: female × {PHONE} (")
    shown = page_of(folder, "voiceprint")
    assert "share of rejected trials" in shown and "<audio" in shown and PHONE not in shown


def test_without_sounds_and_columns_there_is_nothing_to_look_at(run):
    _, frame, _ = run
    row = row_of(frame, "scored", "embedding")
    assert pd.isna(row["passed"]) and row["skipped"].startswith("no group has 5 speakers")


def test_the_page_says_what_was_looked_at_and_lets_it_be_heard(run):
    folder, _, _ = run
    shown = page_of(folder, "uneven")
    assert PHONE not in shown and "sex: female × device: &lt;b&gt;phone&lt;/b&gt;" in shown
    assert "left out: it has 60 values, more than 50" in shown
    assert shown.count("<audio") >= 8 and "How much higher the mean absolute error of" in shown
    assert "of 100 simulated corpora of 60 speakers" in shown
    nothing = page_of(folder, "even")
    assert "No group is shown to be worse: rooms, emotion" in nothing and "<audio" not in nothing


def test_the_first_page_names_the_groups(run):
    folder, _, _ = run
    page = (folder / "out" / "html" / "index.html").read_text("utf-8")
    assert "1 group is worse off than the others in arousal: sex: female × device: &lt;b&gt;phone" in page
    assert PHONE not in page
