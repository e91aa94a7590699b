"""Two tables of predictions, compared by the real command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile

from soundcheck import results

SUITE = """
title: Two models
corpora:
  tones: {format: csv, path: segments.csv}
models:
  old: {predictions: old.csv, tasks: [arousal]}
  new: {predictions: new.csv, tasks: [arousal, emotion]}
  third: {predictions: new.csv, tasks: [emotion]}
families: [correctness_regression]
studies: false
"""


def make_project(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = []
    for speaker in range(24):
        hard = rng.normal(0, 0.15)
        for segment in range(5):
            name = f"{speaker:02}_{segment}.wav"
            soundfile.write(folder / name, 0.1 * rng.standard_normal(1600), 16000)
            truth = rng.uniform(0.2, 0.8)
            old, new = truth + hard + rng.normal(0, [0.1, 0.03])
            rows.append((name, f"s{speaker}", truth, "anger", old, new, "anger"))
    table = pd.DataFrame(rows, columns=["file", "speaker", "arousal", "emotion", "old", "new", "said"])
    table = table.round(3)
    table[["file", "speaker", "arousal", "emotion"]].to_csv(folder / "segments.csv", index=False)
    table[["file", "old"]].rename(columns={"old": "arousal"}).to_csv(folder / "old.csv", index=False)
    new = table[["file", "new", "said"]].rename(columns={"new": "arousal", "said": "emotion"})
    new.to_csv(folder / "new.csv", index=False)
    (folder / "suite.yml").write_text(SUITE)
    return folder


@pytest.fixture(scope="module")
def compared(tmp_path_factory, command):
    folder = make_project(tmp_path_factory.mktemp("compare"))
    done = command("compare", "suite.yml", "old", "new", "--strict", cwd=folder, SOUNDCHECK_DEMO_SIZE="small")
    return folder, done


def test_command_tells_and_writes_the_outcome(compared):
    folder, done = compared
    assert done.returncode == 0, done.stdout + done.stderr
    assert "new against old: 3 better, 0 worse, 0 no evidence" in done.stdout
    out = folder / "build" / "compare"
    table = pd.read_csv(out / "comparisons.csv")
    assert list(table.columns) == results.CONTRAST_COLUMNS
    judged = table[table["outcome"].notna()]
    assert judged["outcome"].eq("better").all()
    assert set(judged["test"]) == {
        "Concordance Correlation Coeff",
        "Mean Absolute Error",
        "Pearson Correlation Coeff",
    }
    assert judged["blocks"].eq(24).all()
    difference = judged["candidate_value"] - judged["baseline_value"]
    np.testing.assert_allclose(judged["difference"], difference, atol=1e-11)
    error = judged.set_index("test").loc["Mean Absolute Error"]
    assert error["high"] < 0
    assert error["relative_high"] < 0


def test_book_has_a_page_of_the_comparison(compared):
    folder, _ = compared
    html = folder / "build" / "compare" / "html"
    record = json.loads((folder / "build" / "compare" / "run.json").read_text())
    slug = record["comparisons"][0]["slug"]
    page = (html / "comparisons" / f"{slug}.html").read_text()
    assert page.count("<audio") == 4
    for words in ("▲ better", "corrections", "added errors", "baseline", "positive"):
        assert words in page
    assert f"comparisons/{slug}.html" in (html / "index.html").read_text()
    assert record["comparisons"][0]["outcomes"] == {"better": 3, "worse": 0, "no evidence": 0}
    assert [model["name"] for model in record["models"]] == ["old", "new"]


def test_worse_candidate_fails_if_asked(compared, command):
    folder, _ = compared
    done = command("compare", "suite.yml", "new", "old", "--strict", cwd=folder, SOUNDCHECK_DEMO_SIZE="small")
    assert done.returncode == 1
    assert "old against new: 0 better, 3 worse, 0 no evidence" in done.stdout


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["old", "gnew"], ["CANDIDATE", "gnew", "Did you mean 'new'"]),
        (["old", "old"], ["compared with itself"]),
        (["old", "third"], ["share no task"]),
        (["old"], ["BASELINE and CANDIDATE"]),
        ([], ["lists no comparisons", "comparisons: {"]),
    ],
)
def test_refused(compared, command, tmp_path, names, words):
    folder, _ = compared
    done = command("compare", "suite.yml", *names, "--out", tmp_path / "out", cwd=folder, timeout=60)
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "out" / "results.csv").exists()
