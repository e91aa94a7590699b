"""``--no-code`` refuses notebooks beside a suite, whichever command would run them; tables stay allowed."""

import shutil
from pathlib import Path

import pytest
from tones import make

from soundcheck.common import resources

SUITE = """
title: Small
replicates: 100
corpora:
  tones: {format: csv, path: data/segments.csv}
models:
  a: {predictions: answers.csv, tasks: [arousal]}
  b: {predictions: answers.csv, tasks: [arousal]}
comparisons: {new: {baseline: a, candidate: b}}
families: [FAMILIES]
studies: false
sweeps: false
"""
RUN, SHIPPED = ("run", "suite.yml", "--no-book"), "correctness_regression"


@pytest.fixture
def project(tmp_path, command):
    """Make a suite of tables of predictions: ``project(notebook, family)`` with a notebook beside it."""

    def made(notebook: str, family: str = SHIPPED) -> Path:
        folder = make(tmp_path / "project")
        rows = [f"{number}.wav,0.{number % 9 + 1}" for number in range(12)]
        (folder / "answers.csv").write_text("\n".join(["file,arousal", *rows, ""]))
        assert command("init", ".", "--family", "mine", cwd=folder).returncode == 0
        if notebook != "mine":
            (folder / "notebooks" / "mine.ipynb").unlink()
            source = resources.root() / "notebooks" / f"{notebook}.ipynb"
            shutil.copy(source, folder / "notebooks")
        (folder / "suite.yml").write_text(SUITE.replace("FAMILIES", family))
        return folder

    return made


CASES = [
    ("mine", "mine", RUN),  # of a family of its own
    (SHIPPED, SHIPPED, RUN),  # in the place of a shipped one, and the same
    (SHIPPED, SHIPPED, (*RUN, "--model", "a")),
    (SHIPPED, SHIPPED, (*RUN, "--family", SHIPPED)),
    (SHIPPED, SHIPPED, ("run", "suite.yml", "--plan")),
    (SHIPPED, SHIPPED, ("run", "suite.yml", "--shard", "1/2")),
    (SHIPPED, SHIPPED, ("compare", "suite.yml", "a", "b")),
    ("comparison", SHIPPED, ("compare", "suite.yml")),
    ("comparison", SHIPPED, RUN),
]


@pytest.mark.parametrize(("notebook", "family", "words"), CASES)
def test_a_notebook_beside_the_suite_is_code(project, command, notebook, family, words):
    folder = project(notebook, family)
    ended = command(*words, "--no-code", "--out", "out", cwd=folder)
    assert ended.returncode == 2, ended.stdout
    told = f"notebooks/{notebook}.ipynb: a notebook beside the suite is code, and --no-code was given"
    assert told in ended.stderr and "Traceback" not in ended.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize("notebook", ["mine", "fairness_sex"])
def test_notebooks_that_are_not_run_and_links_to_ours_do_no_harm(project, command, notebook):
    folder = project(notebook)
    shipped = resources.root() / "notebooks" / f"{SHIPPED}.ipynb"
    (folder / "notebooks" / shipped.name).symlink_to(shipped)
    ended = command("run", "suite.yml", "--no-code", "--plan", cwd=folder)
    assert ended.returncode == 0, ended.stderr


def test_a_page_beside_the_suite_can_hold_scripts(project, command):
    folder = project("mine")
    shutil.copy(resources.root() / "book" / "methods" / f"{SHIPPED}.md", folder / "book" / "methods")
    ended = command(*RUN, "--no-code", "--out", "out", cwd=folder)
    assert ended.returncode == 2 and not (folder / "out").exists()
    told = f"book/methods/{SHIPPED}.md: a page beside the suite can include scripts and files, and --no-code"
    assert told in ended.stderr


def test_models_that_are_not_asked_run_no_code_either(project, command):
    folder = project("mine")
    suite = (folder / "suite.yml").read_text()
    python = 'b: {python: "my_model:loud", tasks: [arousal]}'
    suite = suite.replace("b: {predictions: answers.csv, tasks: [arousal]}", python)
    (folder / "suite.yml").write_text(suite)
    calls = str(folder / "calls")
    assert command(*RUN, "--out", "out", cwd=folder, CALLS=calls).returncode == 0
    (folder / "my_model.py").write_text("open('imported', 'w')")
    ended = command(*RUN, "--model", "a", "--no-code", "--out", "out", cwd=folder)
    assert ended.returncode == 2 and not (folder / "imported").exists()
    assert "models.b: the model runs code (python), and --no-code was given" in ended.stderr
