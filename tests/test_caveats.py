"""What makes numbers doubtful stands wherever they do: last lines, pages, check, sheet and card."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import soundfile

TURNED = "is worse than chance. Are the scores distances? Then declare `distances: true`"
TWICE = "inputs that were predicted twice got another prediction"
MODEL = """import itertools

CALLS = itertools.count()


def predict(signal, sampling_rate):
    return {"arousal": next(CALLS) % 7 / 7}
"""
SUITE = """
corpora:
  voices: {format: trials, path: trials.txt, audio: false}
  calls: {format: csv, path: calls.csv}
models:
  distances: {scores: distances.txt, corpora: [voices]}
  similar: {scores: distances.txt, corpora: [voices], distances: true}
  moody: {python: "moody:predict", tasks: [arousal], corpora: [calls]}
families: [speaker_verification, correctness_regression]
comparisons: {turned: {baseline: similar, candidate: distances}}
"""


def write(folder):
    rng = np.random.default_rng(0)
    trials, scores = [], []
    names = [f"id{speaker:02}/{number}.wav" for speaker in range(16) for number in range(3)]
    for first in names:
        for second in rng.choice(names, 6, replace=False):
            same = first[:4] == second[:4]
            if first != second:
                trials.append(f"{int(same)} {first} {second}")
                scores.append(f"{first} {second} {rng.normal(0.2 if same else 0.9, 0.1):.4f}")
    (folder / "trials.txt").write_text("\n".join(trials) + "\n")
    (folder / "distances.txt").write_text("\n".join(scores) + "\n")
    rows = ["file,speaker,arousal"]
    for number in range(12):
        soundfile.write(folder / f"{number}.wav", rng.normal(0, 0.1, 8000), 8000)
        rows.append(f"{number}.wav,s{number % 6},{number / 12:.3f}")
    (folder / "calls.csv").write_text("\n".join(rows) + "\n")
    (folder / "moody.py").write_text(MODEL)
    (folder / "suite.yml").write_text(SUITE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("caveats")
    write(folder)
    done = command("run", "suite.yml", "--out", "out", "--no-book", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "last lines").write_text(done.stdout)
    return folder


def test_last_lines_name_the_direction_and_the_key(folder):
    lines = (folder / "last lines").read_text()
    assert re.search(rf"Caveat: distances, voices, embedding: equal error rate .* {re.escape(TURNED)}", lines)
    assert "worse than chance at embedding" in lines and "hollow at embedding" not in lines
    assert "Caveat: similar" not in lines  # the same scores with the key that mends them
    assert re.search(rf"Caveat: moody: [1-9]\d* of \d+ {TWICE}", lines)


def test_the_record_holds_what_pages_say(folder):
    caveats = json.loads((folder / "out" / "run.json").read_text())["caveats"]
    assert {caveat["model"] for caveat in caveats} == {"moody", "distances"}


def test_a_gate_says_it_of_the_models_that_it_judges(folder, command):
    every = command("check", "out", cwd=folder).stdout
    assert TURNED in every and TWICE in every
    one = command("check", "out", "--model", "similar", cwd=folder).stdout
    assert "Caveat" not in one


def test_sheet_and_card_say_it(folder, command):
    shown = command("sheet", "out", "--model", "distances", "--text", "lines.md", cwd=folder)
    assert "How good: distances is worse than chance:" in shown.stdout and TURNED in shown.stdout
    assert "**Caveat:**" in (folder / "lines.md").read_text()
    assert TURNED in (folder / "out" / "sheets" / "distances.html").read_text()
    made = command("card", "out", "--model", "moody", "--out", "card", cwd=folder)
    assert made.returncode == 0 and TWICE in (folder / "card" / "README.md").read_text()


@pytest.mark.slow
def test_pages_say_it_above_their_numbers(folder, command):
    done = command("run", "suite.yml", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    html = folder / "out" / "html"
    told = "worse than chance. Are the scores distances?"
    for page in ("index", "models/distances", "results/distances/speaker_verification", "comparisons/turned"):
        text = (html / f"{page}.html").read_text()
        assert told in text, page
        assert text.index(told) < text.index("<table"), page
    for page in ("models/similar", "results/similar/speaker_verification"):
        assert told not in (html / f"{page}.html").read_text()
    assert TWICE in (html / "results" / "moody" / "correctness_regression.html").read_text()


def test_models_that_are_not_asked_again_keep_theirs(tmp_path, command):
    words = [("anger", "angry") if number % 3 else ("sadness", "sadness") for number in range(60)]
    rows = [f"{n}.wav,s{n % 6},{n / 60:.3f},{emotion}" for n, (emotion, _) in enumerate(words)]
    (tmp_path / "calls.csv").write_text("\n".join(["file,speaker,arousal,emotion", *rows, ""]))
    for name, word in (("before", 1), ("after", 0)):
        said = [f"{n}.wav,{7 if n < 2 else n / 60:.3f},{pair[word]}" for n, pair in enumerate(words)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["file,arousal,emotion", *said, ""]))
    (tmp_path / "suite.yml").write_text("""
corpora: {calls: {format: csv, path: calls.csv, audio: false}}
models:
  before: {predictions: before.csv, tasks: [arousal, emotion]}
  after: {predictions: after.csv, tasks: [emotion]}
families: [correctness_regression, correctness_classification]
studies: false
""")
    said = []
    for words in ([], ["--model", "after"], ["--model", "after"]):
        done = command("run", "suite.yml", "--out", "out", "--no-book", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        said.append([line for line in done.stdout.splitlines() if line.startswith("Caveat: ")])
        said.append(json.loads((tmp_path / "out" / "run.json").read_text())["caveats"])
    lines, recorded = said[:2]
    assert [re.findall("far outside|are not classes", line)[0] for line in lines] == [
        "far outside",
        "are not classes",
    ]
    assert said == [lines, recorded] * 3
    card = command("card", "out", "--model", "before", "--out", "card", cwd=tmp_path)
    assert card.returncode == 0 and "are not classes" in (tmp_path / "card" / "README.md").read_text()


def test_a_new_list_of_trials_is_scored_for_all_models(tmp_path, command):
    write(tmp_path)
    suite = """
corpora: {voices: {format: trials, path: trials.txt, audio: false}}
models: {one: {scores: distances.txt}, two: {scores: distances.txt, distances: true}}
families: [speaker_verification]
studies: false
"""
    (tmp_path / "suite.yml").write_text(suite)
    trials = (tmp_path / "trials.txt").read_text().splitlines()
    run = ("run", "suite.yml", "--out", "out", "--no-book")
    for words, lines in (
        ([], trials[:-20]),
        (["--model", "two"], trials[:-20]),
        (["--model", "two"], trials),  # more of them between the same segments
        (["--model", "two"], sorted(trials[:-20])),  # the same in another order
    ):
        (tmp_path / "trials.txt").write_text("\n".join([*lines, ""]))
        done = command(*run, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        for model in ("one", "two"):
            table = pd.read_parquet(tmp_path / "out" / "predictions" / model / "voices.parquet")
            assert len(table) == len(lines)  # also of the model that is not named
