"""``soundcheck history``, ``history:`` and the page *History* by the real command, and what is refused."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from soundcheck.book.history_page import write_history
from soundcheck.common import files
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
    """Two runs of a model that gets better at arousal and worse at valence."""
    folder = tmp_path_factory.mktemp("history")
    (folder / "data").mkdir()
    (folder / "suite.yml").write_text(SUITE)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(240)], "duration": 2.0})
    table["speaker"] = [f"s{n % 20}" for n in range(240)]
    table[["arousal", "valence"]] = rng.uniform(0.1, 0.9, (240, 2)).round(3)
    table.to_csv(folder / "data" / "segments.csv", index=False)
    errors = rng.normal(0, 0.15, (240, 2))
    for sizes, book in (((1, 1), ["--no-book"]), ((0.2, 3), [])):
        heard = table[["arousal", "valence"]] + sizes * errors + rng.normal(0, 0.02, (240, 2))
        table[["file"]].join(heard.clip(0, 1)).to_csv(folder / "answers.csv", index=False)
        done = undrawn("run", "suite.yml", *book, "--out", "build", cwd=folder, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_a_model_that_improves_in_one_thing_and_breaks_in_another(project, undrawn):
    done = undrawn("history", "kept", "--out", "pages", cwd=project)
    assert "2 runs, 6 tests: 3 values became worse, 3 values became better, among 6" in done.stdout
    frame = pd.read_csv(project / "pages" / "history.csv").query("position > 1")
    assert {*zip(frame["task"], frame["mark"], strict=True)} == {("arousal", "better"), ("valence", "worse")}
    assert frame["joined"].eq("to another model").all()
    text = (project / "pages" / "history.html").read_text(encoding="utf-8")
    assert text.count("▼ worse") == 3 and "Content-Security-Policy" in text
    outside = re.findall(r"""(?:src|href)=["'](?!data:image/|history\.csv)|url\(|@import|<script""", text)
    assert outside == [] and str(project) not in text


def test_the_book_has_a_page_and_the_same_results_again_are_kept_once(project, undrawn):
    html, runs = project / "build" / "html", sorted(os.listdir(project / "kept"))
    text = (html / "over_time.html").read_text(encoding="utf-8")
    assert "2 runs, 6 tests" in text and "▼ worse" in text and 'href="history.csv"' in text
    assert 'href="over_time.html"' in (html / "index.html").read_text(encoding="utf-8")
    assert str(project) not in text
    pages = {path: files.digest(path) for path in html.rglob("*") if path.is_file()}
    assert undrawn("run", "suite.yml", "--out", "build", cwd=project).returncode == 0
    assert pages == {path: files.digest(path) for path in html.rglob("*") if path.is_file()}
    assert sorted(os.listdir(project / "kept")) == runs
    first = next(name for name in runs if not name.startswith("."))
    done = undrawn("check", "build", "--baseline", f"kept/{first}", cwd=project)
    assert done.returncode == 1 and "6 tests paired, 0 unpaired" in done.stdout


def test_a_history_changes_no_result_and_a_run_is_not_lost_with_it(project, undrawn):
    (project / "file").write_text("not a folder")

    def run(history):
        (project / "other.yml").write_text(SUITE.replace("history: kept", history))
        return undrawn("run", "other.yml", "--no-book", "--out", "plain", cwd=project)

    assert run("").returncode == 0
    assert (project / "plain/results.csv").read_bytes() == (project / "build/results.csv").read_bytes()
    done = run("history: file")
    assert done.returncode == 2 and "history: 'file': this is a file, not a folder" in done.stderr
    if Path("/proc/self/task").is_dir():  # where not even root makes a folder
        done = run("history: /proc/self/task")
        lost = "This run was not saved in the history: "
        assert (done.returncode == 3 and lost in done.stdout) or "cannot be written" in done.stderr


def test_bad_input_is_refused_with_all_problems(write, judged, tmp_path):
    one, other = write("a", [judged()]), write("b", [judged(number=0.6)])
    strange = write("c", [judged("Another", 0.6)])
    edited = shutil.copytree(other, tmp_path / "edited")
    (edited / "results.csv").write_text((edited / "results.csv").read_text().replace("0.6", "0.9"))
    (tmp_path / "empty").mkdir()
    for runs, models, words in (
        ([edited], [], "edited: results.csv: the file is not the one that the run wrote"),
        ([edited, tmp_path / "gone", tmp_path / "empty"], [], "neither results nor kept runs"),
        ([one, other, strange], [], "RUN c: it has no test in common"),
        ([one, one], [], "all runs have the same results"),
        ([one, other], ["n"], "no run has such a model"),
    ):
        with pytest.raises(InputError, match=words):
            write_history(runs, tmp_path / "out", models)
    assert not (tmp_path / "out").exists()


def test_doubled_runs_count_once_and_names_are_harmless(write, judged, tmp_path):
    name = "<script>alert(1)</script>"
    runs = [write("a", [judged(model=name)]), write("b", [judged(model=name, number=0.6)])]
    text = write_history([*runs, runs[0]], tmp_path / "page.html", [name])
    assert "a has the same results as a and counts once" in text and (tmp_path / "history.csv").is_file()
    page = (tmp_path / "page.html").read_text()
    assert "&lt;script&gt;" in page and "<script" not in page
