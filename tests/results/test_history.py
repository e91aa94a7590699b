"""A history: known marks, pairing, what no line joins; runs kept whole or not at all; the real command."""

import concurrent.futures
import datetime
import os
import re
import unittest.mock

import numpy as np
import pandas as pd
import pytest
from tests.results.made import TASK

from soundcheck.book.history_page import write_history
from soundcheck.common import files
from soundcheck.common.messages import InputError, SoundcheckError
from soundcheck.results import finished_run
from soundcheck.results.contrast import compared_alone
from soundcheck.results.finished_run import folders_in, read_history, read_runs
from soundcheck.results.history import history_of

FAMILY = {"name": "f", "title": "F", "category": "correctness", "question": "", "digest": "2"}


def of(*folders):
    return history_of(read_runs(folders)).points


def test_one_thing_better_another_worse_and_nothing_else(write, judged):
    values = {"A": [0.6, 0.7, 0.7], "B": [0.8, 0.8, 0.7], "C": [0.7] * 3}
    runs = [[judged(test, numbers[n] + 0.0001 * n) for test, numbers in values.items()] for n in range(3)]
    frame = of(*(write(f"run{n}", tests, model=f"{n}" * 40) for n, tests in enumerate(runs)))
    assert frame["position"].tolist() == [1, 2, 3] * 3
    marks = frame[frame["mark"].isin(["better", "worse"])]
    expected = [["A", 2, "better", 1], ["B", 3, "worse", 2]]
    assert marks[["test", "position", "mark", "against"]].values.tolist() == expected
    later = frame[frame["position"] > 1]
    about = ["pairing", "changed", "joined", "reason"]
    expected = ("paired", "model", "to another model", "another model (other code, options or files)")
    assert set(later[about].itertuples(index=False, name=None)) == {expected}
    alone = compared_alone(runs[0][0], runs[1][0])
    numbers = marks[["difference", "difference_low", "difference_high", "p_value"]].iloc[0]
    assert tuple(numbers) == (alone.difference, alone.low, alone.high, alone.p_value)


@pytest.mark.parametrize(
    ("row", "about", "reason", "pairing"),
    [
        ({"threshold": 0.6}, {}, "another threshold (> 0.5 then, > 0.6 now)", "paired"),
        ({"count": 90}, {}, "other segments (100 then, 90 now)", "unpaired"),
        ({}, {"corpus": {"digest": "other"}}, "other sounds", "unpaired"),
        ({}, {"families": [FAMILY]}, "another threshold file", ""),
        ({}, {"suite": {"tasks": {"arousal": TASK | {"low": 0.5}}}}, "another definition of the task", ""),
        ({"task": "transcript"}, {"suite": {"normaliser": "none"}}, "normaliser None then, none now", ""),
    ],
)
def test_what_is_not_comparable_is_not_joined_and_says_why(write, judged, row, about, reason, pairing):
    count = row.pop("count", 100)
    later = judged(number=0.55, **row)
    object.__setattr__(later.verdict, "segments", count)
    before = judged(task=later.verdict.task)
    point = of(write("a", [before]), write("b", [later], **about)).iloc[-1]
    assert reason in point["reason"] and point["joined"] == ""
    assert point["pairing"] == pairing
    assert (point["mark"], point["against"]) == (("worse", 1) if pairing else ("", 0))


def test_what_is_compared_all_the_same(write, judged):
    row = of(write("a", [judged()]), write("b", [judged(number=0.69)], seed=1)).iloc[-1]
    assert (row["pairing"], row["joined"], row["changed"]) == ("unpaired", "joined", "seed")
    frame = of(write("c", [judged(model="old")]), write("d", [judged(model="new", number=0.71)]))
    assert set(frame["model"]) == {"new"} and frame.iloc[-1]["joined"] == "joined"  # the only one, renamed
    runs = [write("e", [judged(), judged("U")]), write("f", [judged("U", 0.71)])]
    runs.append(write("g", [judged(number=0.4), judged("U", 0.72)]))
    row = of(*runs).set_index(["test", "position"]).loc[("T", 3)]
    assert (row["joined"], row["against"], row["mark"]) == ("across a gap", 1, "worse")
    pairs = [[judged(number=n, group=g, mirrors=m) for g, m in (("a", ""), ("b", "a"))] for n in (0.7, 0.5)]
    assert of(write("h", pairs[0]), write("i", pairs[1]))["mark"].tolist() == ["", "worse", "", ""]
    (runs[2] / "run.json").unlink()
    row = of(runs[0], runs[2] / "results.csv").iloc[1][["mark", "pairing", "joined", "reason"]]
    assert row.tolist() == ["worse", "unpaired", "", "no record of the data"]


def test_small_differences_do_not_matter(write, judged):
    runs = [write("a", [judged(number=0.70)]), write("b", [judged(number=0.692)], matters_worse=0.01)]
    assert of(*runs).iloc[-1]["mark"] == "no evidence" and of(*runs).iloc[-1]["p_value"] < 0.01
    runs.append(write("c", [judged(number=0.684)], matters_worse=0.001))
    assert of(*runs)["mark"].tolist() == ["", "worse", "worse"]


NOON = datetime.datetime(2027, 3, 1, 12, 0, 5, tzinfo=datetime.UTC)
LATER = NOON + datetime.timedelta(days=1)


def test_a_kept_run_stands_for_the_folder_that_it_came_from(write, judged, tmp_path):
    one, other = write("a", [judged(), judged("U")]), write("b", [judged(number=0.66)])
    place = finished_run.keep(tmp_path / "kept", one, NOON)
    assert place.name == f"2027-03-01T120005Z-{files.digest(one / 'results.csv')[:12]}"
    assert sorted(os.listdir(place)) == ["kept.json", "replicates.parquet", "results.csv", "run.json"]
    assert str(tmp_path) not in "".join(path.read_text("utf-8") for path in place.glob("*.[cj]s*"))
    finished_run.keep(tmp_path / "kept", other, LATER)
    fresh, points = of(one, other), of(tmp_path / "kept")
    assert points["date"].tolist() == ["2027-03-01 12:00", "2027-03-02 12:00", "2027-03-01 12:00"]
    assert points["pairing"].tolist() == fresh["pairing"].tolist() == ["", "paired", ""]
    assert np.allclose(points["p_value"].dropna(), fresh["p_value"].dropna(), rtol=1e-3)
    (tmp_path / "kept" / "2027-03-05T120005Z-0123456789ab").symlink_to(one)
    assert len(folders_in(tmp_path / "kept")) == 2  # links are not followed


def test_the_same_results_are_kept_once_even_at_the_same_time(write, judged, tmp_path):
    runs = [write(f"{n}", [judged(number=0.6 + n / 10)]) for n in range(2)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        moments = [NOON + datetime.timedelta(seconds=n) for n in range(6)]
        list(pool.map(finished_run.keep, [tmp_path / "kept"] * 6, runs * 3, moments))
    digests = {files.digest(run / "results.csv")[:12] for run in runs}
    assert sorted(path.name[-12:] for path in folders_in(tmp_path / "kept")) == sorted(digests)
    assert not list((tmp_path / "kept").glob(f"{files.TEMPORARY}*"))


def test_a_disk_that_is_full_leaves_nothing(write, judged, tmp_path, monkeypatch):
    full = unittest.mock.Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(finished_run, "save_replicates", full)
    with pytest.raises(SoundcheckError, match="No space left"):
        finished_run.keep(tmp_path / "kept", write("a", [judged()]), NOON)
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {files.MARKER, f"{files.MARKER}.lock"}


@pytest.mark.parametrize("name", ["results.csv", "replicates.parquet", "kept.json"])
def test_a_run_that_was_changed_is_refused_and_left_out_of_the_book(write, judged, tmp_path, name):
    place = finished_run.keep(tmp_path / "kept", write("a", [judged()]), NOON)
    finished_run.keep(tmp_path / "kept", write("b", [judged(number=0.6)]), LATER)
    (place / name).write_bytes((place / name).read_bytes()[:-7])
    with pytest.raises(InputError, match=f"RUN .*{place.name}: '?{name}'?"):
        read_runs([tmp_path / "kept"])
    past = read_history(tmp_path / "kept")
    assert len(past.runs) == 1 and str(tmp_path) not in str(past.problems[0])


def test_labels_count_as_data(write, judged):
    runs = [write(name, [judged(number=number)]) for name, number in (("a", 0.7), ("b", 0.6), ("c", 0.61))]
    for folder, label, pitch in zip(runs, (0.1, 0.2, 0.2), (100.0, 100.0, 200.0), strict=True):
        (folder / "corpora").mkdir()
        table = pd.DataFrame({"file": ["a.wav"], "arousal": [label], "pitch": [pitch]})
        table.to_parquet(folder / "corpora" / "c.parquet")
    columns = of(*runs)[["reason", "changed", "pairing"]]
    assert columns.values.tolist() == [[""] * 3, ["other labels", "data", "unpaired"], ["", "", "paired"]]


def test_places_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    places = {"file": "cannot be written", "out/kept": "output folder", "data/kept": "corpus 'calls'"}
    for folder, words in places.items():
        with pytest.raises(InputError, match=words):
            finished_run.check_place(tmp_path / folder, tmp_path / "out", {"calls": tmp_path / "data"})


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
    folder = tmp_path_factory.mktemp("history")
    (folder / "data").mkdir()
    (folder / "suite.yml").write_text(SUITE)
    rng, tasks = np.random.default_rng(0), ["arousal", "valence"]
    table = pd.DataFrame(rng.uniform(0.1, 0.9, (240, 2)).round(3), columns=tasks)
    table = table.assign(file=[f"{n}.wav" for n in range(240)], duration=2.0)
    table.assign(speaker=[f"s{n % 20}" for n in range(240)]).to_csv(
        folder / "data" / "segments.csv", index=False
    )
    errors = rng.normal(0, 0.15, (240, 2))
    for sizes, book in (((1, 1), ["--no-book"]), ((0.2, 3), [])):
        heard = table[tasks] + sizes * errors + rng.normal(0, 0.02, (240, 2))
        table[["file"]].join(heard.clip(0, 1)).to_csv(folder / "answers.csv", index=False)
        done = undrawn("run", "suite.yml", *book, "--out", "build", cwd=folder, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_a_model_that_improves_in_one_thing_and_breaks_in_another(project, undrawn):
    done = undrawn("history", "kept", "--out", "pages", cwd=project)
    assert "2 runs, 6 tests: 3 values became worse, 3 values became better, among 6" in done.stdout
    frame = pd.read_csv(project / "pages" / "history.csv").query("position > 1")
    assert {*zip(frame["task"], frame["mark"], strict=True)} == {("arousal", "better"), ("valence", "worse")}
    text = (project / "pages" / "history.html").read_text(encoding="utf-8")
    outside = re.findall(r"""(?:src|href)=["'](?!data:image/|history\.csv)|url\(|@import|<script""", text)
    assert text.count("▼ worse") == 3 and outside == [] and str(project) not in text


@pytest.mark.slow
def test_the_book_has_a_page_and_the_same_results_again_are_kept_once(project, undrawn):
    html, runs = project / "build" / "html", sorted(os.listdir(project / "kept"))
    text = (html / "over_time.html").read_text(encoding="utf-8")
    assert "2 runs, 6 tests" in text and "▼ worse" in text and str(project) not in text
    pages = {path: files.digest(path) for path in html.rglob("*") if path.is_file()}
    assert undrawn("run", "suite.yml", "--out", "build", cwd=project).returncode == 0
    assert pages == {path: files.digest(path) for path in html.rglob("*") if path.is_file()}
    assert sorted(os.listdir(project / "kept")) == runs
    first = next(name for name in runs if not name.startswith("."))
    done = undrawn("check", "build", "--baseline", f"kept/{first}", cwd=project)
    assert done.returncode == 1 and "6 tests paired, 0 unpaired" in done.stdout


@pytest.mark.slow
def test_a_history_changes_no_result_and_a_run_is_not_lost_with_it(project, undrawn):
    (project / "file").write_text("not a folder")

    def run(history):
        (project / "other.yml").write_text(SUITE.replace("history: kept", history))
        return undrawn("run", "other.yml", "--no-book", "--out", "plain", cwd=project)

    assert run("").returncode == 0
    assert (project / "plain/results.csv").read_bytes() == (project / "build/results.csv").read_bytes()
    if os.path.isdir("/proc/self/task"):  # where not even root makes a folder
        done = run("history: /proc/self/task")
        lost = "This run was not saved in the history: "
        assert (done.returncode == 3 and lost in done.stdout) or "cannot be written" in done.stderr
    done = run("history: file")
    assert done.returncode == 2 and "history: 'file': this is a file, not a folder" in done.stderr


def test_bad_input_is_refused_with_all_problems(write, judged, tmp_path):
    one, other = write("a", [judged()]), write("b", [judged(number=0.6)])
    strange, edited = write("c", [judged("Another", 0.6)]), write("edited", [judged(number=0.6)])
    (edited / "results.csv").write_text((edited / "results.csv").read_text().replace("0.6", "0.9"))
    (tmp_path / "empty").mkdir()
    changed = "edited: results.csv: the file is not the one that the run wrote"
    for runs, models, words in (
        ([edited, tmp_path / "empty"], [], f"(?s)neither results nor saved runs.*{changed}"),
        ([one, other, strange], [], "RUN c: it has no test in common"),
        ([one, one], [], "all runs have the same results"),
        ([one, other], ["n"], "no run has such a model"),
        ([one, other, write("k", [judged(model="k")])], ["k"], "RUN k: it has no test in common"),
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
