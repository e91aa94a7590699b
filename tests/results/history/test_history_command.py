"""``soundcheck history`` and ``history:`` through the real command, and what is refused."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.book.history_page import write_history
from soundcheck.common.errors import InputError

pytestmark = pytest.mark.slow

SUITE = """
title: Small
history: kept
corpora:
  calls: {format: csv, path: data/segments.csv, audio: false}
models:
  ours: {predictions: answers.csv, tasks: [arousal, valence]}
families: [correctness_regression]
interval: t
replicates: 100
studies: false
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    """Five runs of a model that gets better at arousal in the third and worse at valence in the fourth."""
    folder = tmp_path_factory.mktemp("history")
    (folder / "data").mkdir()
    (folder / "suite.yml").write_text(SUITE)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(240)], "duration": 2.0})
    table["speaker"] = [f"s{n % 20}" for n in range(240)]
    table["arousal"], table["valence"] = rng.uniform(0.1, 0.9, (2, 240)).round(3)
    table.to_csv(folder / "data" / "segments.csv", index=False)
    errors, said = rng.normal(0, 0.15, (2, 240)), []
    for run in range(5):
        sizes = {"arousal": 0.2 if run >= 2 else 1, "valence": 3 if run >= 3 else 1}
        answers = table[["file"]].copy()
        for (task, size), own in zip(sizes.items(), errors, strict=True):
            answers[task] = np.clip(table[task] + size * own + rng.normal(0, 0.02, 240), 0, 1)
        answers.to_csv(folder / "answers.csv", index=False)
        said.append(undrawn("run", "suite.yml", "--no-book", "--out", "build", cwd=folder))
    return folder, said


def page(folder):
    return (folder / "history.html").read_text(encoding="utf-8")


def test_a_model_that_improves_in_one_thing_and_breaks_in_another(project, command):
    folder, said = project
    assert [done.returncode for done in said] == [0] * 5, said[-1].stderr
    assert len([path for path in (folder / "kept").iterdir() if path.is_dir()]) == 5
    done = command("history", "kept", "--out", "told", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "5 runs, 6 tests: 3 values became worse, 3 values became better, among 24" in done.stdout
    frame = pd.read_csv(folder / "told" / "history.csv")
    marks = frame[frame["mark"].isin(["better", "worse"])]
    found = set(zip(marks["task"], marks["position"], marks["mark"], strict=True))
    assert found == {("arousal", 3, "better"), ("valence", 4, "worse")}
    assert frame.loc[frame["position"] > 1, "joined"].eq("to another model").all()
    text = page(folder / "told")
    assert text.count("▼ worse") == 3 and "Content-Security-Policy" in text
    outside = re.findall(r"""(?:src|href)=["'](?!data:image/|history\.csv)|url\(|@import|<script""", text)
    assert outside == [] and str(folder) not in text


def test_the_same_results_again_are_kept_once_and_a_kept_run_is_a_baseline(project, undrawn):
    folder, _ = project
    before = sorted(os.listdir(folder / "kept"))
    assert undrawn("run", "suite.yml", "--no-book", "--out", "build", cwd=folder).returncode == 0
    assert sorted(os.listdir(folder / "kept")) == before
    first = next(name for name in before if not name.startswith("."))
    done = undrawn("check", "build", "--baseline", f"kept/{first}", cwd=folder)
    assert done.returncode == 1 and "6 tests paired, 0 unpaired" in done.stdout


def test_a_history_changes_no_result_and_a_run_is_not_lost_with_it(project, undrawn):
    folder, _ = project
    (folder / "plain.yml").write_text(SUITE.replace("history: kept\n", ""))
    assert undrawn("run", "plain.yml", "--no-book", "--out", "plain", cwd=folder).returncode == 0
    assert (folder / "plain" / "results.csv").read_bytes() == (folder / "build" / "results.csv").read_bytes()
    (folder / "bad.yml").write_text(SUITE.replace("history: kept", "history: blocked/kept"))
    (folder / "blocked").mkdir()
    (folder / "blocked" / "kept").write_text("not a folder")
    done = undrawn("run", "bad.yml", "--no-book", "--out", "plain", cwd=folder)
    assert done.returncode == 2 and "history: 'blocked/kept': this is a file, not a folder" in done.stderr
    if Path("/proc/self/task").is_dir():  # where not even root makes a folder
        (folder / "bad.yml").write_text(SUITE.replace("history: kept", "history: /proc/self/task"))
        done = undrawn("run", "bad.yml", "--no-book", "--out", "plain", cwd=folder)
        told = "This run was not saved in the history: "
        assert (done.returncode == 3 and told in done.stdout) or "cannot be written" in done.stderr
    inside = SUITE.replace("history: kept", "history: build/kept")
    (folder / "bad.yml").write_text(inside)
    done = undrawn("run", "bad.yml", "--no-book", "--out", "build", cwd=folder)
    assert done.returncode == 2 and "output folder of the run" in done.stderr


def test_bad_input_is_refused_with_all_problems(write, judged, tmp_path):
    one, other = write("a", [judged()]), write("b", [judged(value=0.6)])
    strange = write("c", [judged("Another", 0.6)])
    edited = shutil.copytree(other, tmp_path / "edited")
    (edited / "results.csv").write_text((edited / "results.csv").read_text().replace("0.6", "0.9"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as caught:
        write_history([one, edited, tmp_path / "gone", tmp_path / "empty"], tmp_path / "out")
    told = str(caught.value)
    assert "edited: results.csv: the file is not the one that the run wrote" in told
    assert "gone" in told and "neither results nor kept runs" in told and not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="RUN c: it has no test in common"):
        write_history([one, other, strange], tmp_path / "out")
    with pytest.raises(InputError, match="RUN a: it has no test in common"):
        write_history([one, strange], tmp_path / "out")
    with pytest.raises(InputError, match="all runs have the same results"):
        write_history([one, one], tmp_path / "out")
    with pytest.raises(InputError, match="no run has such a model"):
        write_history([one, other], tmp_path / "out", ["n"])
    (other / "run.json").write_text("{")
    with pytest.raises(InputError, match="run.json: the record of the run cannot be read"):
        write_history([one, other], tmp_path / "out")


def test_doubled_runs_count_once_and_names_are_harmless(write, judged, tmp_path):
    name = "<script>alert(1)</script>"
    runs = [write("a", [judged(model=name)]), write("b", [judged(model=name, value=0.6)])]
    said = write_history([*runs, runs[0]], tmp_path / "page.html", [name])
    assert "a has the same results as a and counts once" in said and (tmp_path / "history.csv").is_file()
    text = (tmp_path / "page.html").read_text()
    assert "&lt;script&gt;" in text and "<script" not in text
