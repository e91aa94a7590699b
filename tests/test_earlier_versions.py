"""Output folders of a version that kept no states: each command reads them, and says what is missing."""

import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from soundcheck.common import files
from soundcheck.results.verdict import RESULT_COLUMNS

pytestmark = pytest.mark.slow

SUITE = """
title: Small
corpora:
  calls: {format: csv, path: data/segments.csv, audio: false}
models:
  ours: {predictions: answers.csv, tasks: [arousal]}
  theirs: {predictions: others.csv, tasks: [arousal]}
families: [correctness_regression, fairness_sex]
replicates: 100
studies: false
"""
NEWER = RESULT_COLUMNS[RESULT_COLUMNS.index("group_value") :]
VERDICTS = {"clear pass": 2, "open pass": 1, "open fail": 1, "fail that holds": 1, "shown": 0, "skipped": 3}
TOLD = "old: the results are of an earlier version. States follow its rules"


def age(folder):
    """Take away from an output folder what the version before did not write."""
    table = pd.read_csv(folder / "results.csv", dtype=str, keep_default_na=False).drop(columns=NEWER)
    table.to_csv(folder / "results.csv", index=False)
    pd.read_parquet(folder / "results.parquet").drop(columns=NEWER).to_parquet(folder / "results.parquet")
    for path in folder.glob("estimates.*"):
        path.unlink()
    record = json.loads((folder / "run.json").read_text())
    record["results"] = files.digest(folder / "results.csv")
    record["run"] = record["results"][:12]
    record["verdicts"] = dict.fromkeys(record["verdicts"], VERDICTS)
    del record["own_tests"]
    for model in record["models"]:
        del model["code"]
        model["seen_files"] = [*model["seen_files"]]
    for figure in record["figures"]:
        del figure["low_sample"], figure["high_sample"]
    for model in record["suite"]["models"].values():
        model.pop("missing", None)
    (folder / "run.json").write_text(json.dumps(record))
    manifest = folder / "manifest.sha256"
    names = [line.split("  ", 1)[1] for line in manifest.read_text().splitlines()]
    there = [(name, folder / name) for name in names if (folder / name).is_file()]
    digests = [(hashlib.sha256(path.read_bytes()).hexdigest(), name) for name, path in there]
    manifest.write_text("".join(f"{digest}  {name}\n" for digest, name in digests))


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    folder = tmp_path_factory.mktemp("earlier")
    (folder / "data").mkdir()
    (folder / "suite.yml").write_text(SUITE)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(240)], "duration": 2.0})
    table["speaker"] = [f"s{n % 20}" for n in range(240)]
    table["sex"] = ["female" if n % 20 < 10 else "male" for n in range(240)]
    table["arousal"] = rng.uniform(0.1, 0.9, 240).round(3)
    table.to_csv(folder / "data" / "segments.csv", index=False)
    for name, error in (("answers", 0.1), ("others", 0.3)):
        answers = np.clip(table["arousal"] + error * rng.normal(size=240), 0, 1)
        table[["file"]].assign(arousal=answers).to_csv(folder / f"{name}.csv", index=False)
    done = undrawn("run", "suite.yml", "--no-book", "--out", "new", cwd=folder)
    assert done.returncode == 0, done.stderr
    shutil.copytree(folder / "new", folder / "old")
    age(folder / "old")
    return folder


@pytest.mark.parametrize(
    ("arguments", "codes", "said"),
    [
        (("check", "old"), (1,), TOLD),
        (("check", "old", "--strict"), (1,), TOLD),
        (
            ("check", "old/results.csv", "--model", "ours"),
            (0, 1),
            "results.csv: the results are of an earlier",
        ),
        (("check", "new", "--baseline", "old"), (0,), "Nothing got worse."),
        (("check", "old", "--baseline", "new"), (0,), TOLD),
        (("history", "old", "new", "--out", "told"), (0,), "nothing became significantly better or worse"),
        (("compare", "old", "new", "--no-book", "--out", "both"), (0,), "have the same value"),
        (("card", "old", "--model", "ours", "--out", "card"), (0,), TOLD),
        (("sheet", "old", "--model", "ours", "--out", "sheet.html"), (0,), TOLD),
        (("sheet", "new", "--model", "ours", "--baseline", "old", "--out", "since.html"), (0,), "Written"),
        (("verify", "old"), (0,), "The states are those of an earlier version, and were not counted again."),
        (("verify", "old"), (0,), "Nothing was changed, added or removed."),
    ],
)
def test_a_folder_of_before_is_read(project, command, arguments, codes, said):
    done = command(*arguments, cwd=project)
    text = done.stdout + done.stderr
    assert done.returncode in codes, text
    assert said in text and "Traceback" not in text and "not judged any more" not in text
    assert done.stderr.count("of an earlier version. States") <= 1


def test_nothing_is_missing_in_sentences_of_a_folder_of_before(project, command):
    command("card", "old", "--model", "theirs", "--out", "their", cwd=project)
    card = (project / "their" / "README.md").read_text()
    assert "The results are of an earlier version, which kept neither values of groups nor" in card
    assert "nan" not in card.split()


def test_a_run_adds_to_a_folder_of_before(project, undrawn):
    shutil.copytree(project / "old", project / "added")
    arguments = ("run", "suite.yml", "--no-book", "--out", "added")
    done = undrawn(*arguments, "--model", "theirs", cwd=project)
    assert done.returncode == 0, done.stderr
    frame = pd.read_csv(project / "added" / "results.csv")
    assert [*frame] == RESULT_COLUMNS and set(frame["model"]) == {"ours", "theirs"}
    assert frame["state"].notna().all() and frame["state_sample"].notna().all()
