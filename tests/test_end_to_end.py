"""A whole run through the real command as users start it: own data, own model, an own family of tests."""

import pandas as pd
import pytest
from killed import killed_run
from runs import Run, changed, notebook, refused, started, write
from tones import SUITE, Project, make

from soundcheck.results.table import RESULT_COLUMNS

HOSTILE = "<img src=x onerror=document.documentElement.dataset.pwn=1>"
ONE_MODEL = {"  quiet:": "  # quiet:", "robustness_small_changes": "own_family"}
THRESHOLDS = """
family: own_family
category: robustness
title: Own family
question: Does half the level change the prediction?
tasks: [regression]
changes:
  Softer: {transform: gain, gain_db: [-6]}
tests:
  Mean Change:
    rule: "|value| <"
    thresholds: {arousal: 0.1}
    source: this test
"""


OWN_NOTEBOOK = notebook(
    """from soundcheck.evaluation.evaluation import Evaluation
from soundcheck.metrics.combinators import paired_difference
from soundcheck.metrics.regression import mean_value
from soundcheck.report.verdict_tables import verdict_table
evaluation = Evaluation.load(run)""",
    """def change(sample, answers):
    return paired_difference(mean_value(answers.changed), mean_value(answers.clean))

for sample in evaluation.samples('Softer'):
    evaluation.judge(sample, 'Mean Change', change)""",
    "verdict_table(evaluation.frame())",
    "evaluation.save()",
    title="# Own family",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory, undrawn):
    """The tones, of whom one speaker has a hostile name, and what a run by two jobs has made of them."""
    project = Project(make(tmp_path_factory.mktemp("it's a project") / "own"), started)
    segments = (project.folder / "data/segments.csv").read_text().replace(",s0,", f",{HOSTILE},")
    method = "# Own family\n\n<!-- thresholds -->\n\n<!-- listening -->\n"
    write(project.folder, {"data/segments.csv": segments, "suite.yml": changed(SUITE, ONE_MODEL)})
    files = {"thresholds/own_family.yml": THRESHOLDS, "notebooks/own_family.ipynb": OWN_NOTEBOOK}
    write(project.folder, files | {"book/methods/own_family.md": method})
    project.run("--jobs", "2")
    project.command = undrawn
    return project


@pytest.fixture(scope="module")
def whole(project) -> Run:
    return Run(project.out)


def test_results_follow_the_contract_and_the_model_is_judged_right(whole):
    assert list(pd.read_csv(whole.out / "results.csv", nrows=1).columns) == RESULT_COLUMNS
    frame = whole.results
    assert set(frame["family"]) == {"correctness_regression", "own_family"}
    assert frame["blocks"].eq(6).all() and frame["segments"].eq(12).all() and frame["reference"].notna().all()
    assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).all()
    assert whole.row("Pearson Correlation Coeff")["value"] > 0.8
    change, half = whole.row("Mean Change"), whole.predictions("loud", "tones")["arousal"].mean() / 2
    assert change["value"] == pytest.approx(-half, rel=0.01) and change["passed"] is False


def test_pages_show_the_own_family_and_nothing_that_is_live_or_of_this_machine(whole, project):
    method = whole.page("methods/own_family")
    assert "Softer" in method and method.count("<audio") == 2
    assert "Mean Change" in whole.page("results/loud/own_family")
    html = {path: path.read_text(errors="replace") for path in (whole.out / "html").rglob("*.*")}
    assert not [path for path, text in html.items() if str(project.folder) in text]
    pages = [text for path, text in html.items() if path.suffix == ".html"]
    assert not any("<img src=x" in text for text in pages) and any("&lt;img src=x" in text for text in pages)


def test_a_killed_run_goes_on(whole, project):
    project.calls.unlink()
    words = ("run", "suite.yml", "--out", "killed", "--no-book")
    killed_run(*words, cwd=project.folder, answers=10, CALLS=str(project.calls))
    project(*words)
    assert (project.folder / "killed/results.csv").read_bytes() == (whole.out / "results.csv").read_bytes()
    more = 8 + 5  # whether answers repeat, and that confirm cached predictions
    assert 24 - 10 <= project.asked()["l"] <= 24 - 10 + more


def test_a_notebook_that_fails_is_told_and_others_go_on(whole, project):
    raising = notebook("raise RuntimeError('broken on purpose')", "print('never')")
    write(project.folder, {"notebooks/own_family.ipynb": raising})
    project.run("--no-book", out="broken", code=3)
    write(project.folder, {"notebooks/own_family.ipynb": OWN_NOTEBOOK})
    broken = Run(project.folder / "broken")
    statuses = {entry["family"]: entry["status"] for entry in broken.record["notebooks"]}
    assert statuses == {"correctness_regression": "ok", "own_family": "failed"}
    assert broken.rows(family="own_family")["skipped"].str.contains("broken on purpose").all()
    assert broken.rows(family="correctness_regression")["passed"].notna().all()
    project("check", "broken", code=1)


def test_a_name_that_is_too_long_is_refused(project):
    write(project.folder, {"bad.yml": changed(SUITE, {"data/segments": "x" * 5000})})
    refusal = refused(project.command, project.folder, "run", "bad.yml", "--out", "bad")
    assert "File name too long. Check the path, " in refusal


def test_other_folders_are_left_alone(project, tmp_path):
    said = refused(project.command, project.folder, "run", "suite.yml", "--out", "data/out")
    assert "inside the corpus" in said and not (project.folder / "data" / "out").exists()
    (tmp_path / "thesis.docx").write_text("precious")
    said = refused(project.command, project.folder, "run", "suite.yml", "--out", tmp_path)
    assert "thesis.docx" in said and [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]
