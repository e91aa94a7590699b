"""``--no-code`` refuses code beside a suite, whichever command would run it; tables stay allowed."""

import shutil

import pytest
from runs import changed, refused, write
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

    def made(notebook, family=SHIPPED):
        folder = make(tmp_path / "project")
        assert command("init", ".", "--family", "mine", cwd=folder).returncode == 0
        if notebook != "mine":
            (folder / "notebooks" / "mine.ipynb").unlink()
            shutil.copy(resources.root() / "notebooks" / f"{notebook}.ipynb", folder / "notebooks")
        rows = ["file,arousal", *(f"{number}.wav,0.{number % 9 + 1}" for number in range(12))]
        return write(folder, {"answers.csv": rows, "suite.yml": SUITE.replace("FAMILIES", family)})

    return made


@pytest.mark.parametrize(
    ("notebook", "family", "words"),
    [
        ("mine", "mine", RUN),  # of a family of its own
        (SHIPPED, SHIPPED, (*RUN, "--model", "a")),  # in the place of a shipped one, and the same
        (SHIPPED, SHIPPED, ("run", "suite.yml", "--plan")),
        (SHIPPED, SHIPPED, ("run", "suite.yml", "--shard", "1/2")),
        (SHIPPED, SHIPPED, ("compare", "suite.yml", "a", "b")),
        ("comparison", SHIPPED, ("compare", "suite.yml")),
        ("comparison", SHIPPED, RUN),
    ],
)
def test_a_notebook_beside_the_suite_is_code(project, command, notebook, family, words):
    folder = project(notebook, family)
    message = refused(command, folder, *words, "--no-code", "--out", "out")
    wanted = f"notebooks/{notebook}.ipynb: a notebook beside the suite is code, and --no-code was given"
    assert wanted in message and not (folder / "out").exists()


@pytest.mark.parametrize("notebook", ["mine", "fairness_sex"])
def test_notebooks_that_are_not_run_and_links_to_ours_do_no_harm(project, command, notebook):
    folder = project(notebook)
    shipped = resources.root() / "notebooks" / f"{SHIPPED}.ipynb"
    (folder / "notebooks" / shipped.name).symlink_to(shipped)
    assert command("run", "suite.yml", "--no-code", "--plan", cwd=folder).returncode == 0


def test_pages_and_models_that_are_not_asked_are_code_too(project, command):
    folder = project("mine")
    shutil.copy(resources.root() / "book" / "methods" / f"{SHIPPED}.md", folder / "book" / "methods")
    message = refused(command, folder, *RUN, "--no-code", "--out", "out")
    page = f"book/methods/{SHIPPED}.md: a page beside the suite can include scripts and files, and --no-code"
    assert page in message and not (folder / "out").exists()
    (folder / "book" / "methods" / f"{SHIPPED}.md").unlink()
    python = {"b: {predictions: answers.csv": 'b: {python: "my_model:loud"', "FAMILIES": SHIPPED}
    write(folder, {"suite.yml": changed(SUITE, python)})
    assert command(*RUN, "--out", "out", cwd=folder, CALLS=str(folder / "calls")).returncode == 0
    write(folder, {"my_model.py": "open('imported', 'w')"})
    message = refused(command, folder, *RUN, "--model", "a", "--no-code", "--out", "out")
    assert "models.b: the model runs code (python), and --no-code was given" in message
    assert not (folder / "imported").exists()
