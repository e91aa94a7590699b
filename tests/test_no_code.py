"""``--no-code`` refuses code beside a suite, whichever command would run it; tables stay allowed."""

import shutil

import pytest
import tones
from runs import changed, refused, write

from soundcheck.common import resources

TABLES = {'loud: {python: "my_model:loud"': "a: {predictions: answers.csv"}
TABLES |= {'quiet: {python: "my_model:quiet"': "b: {predictions: answers.csv"}
SUITE = changed(tones.SUITE, TABLES | {", robustness_small_changes": ""})
SUITE += "comparisons: {new: {baseline: a, candidate: b}}\n"
SHIPPED = "correctness_regression"


@pytest.fixture
def folder(tmp_path, command):
    """A suite of tables of predictions, beside which stand the files of a family that it does not name."""
    folder = tones.make(tmp_path / "project")
    assert command("init", ".", "--family", "mine", cwd=folder).returncode == 0
    rows = ["file,arousal", *(f"{number}.wav,0.{number % 9 + 1}" for number in range(12))]
    return write(folder, {"answers.csv": rows, "suite.yml": SUITE})


def beside(folder, kind, name):
    """Put a copy of one of our files beside the suite, in the place of ours."""
    shutil.copy(resources.root() / kind / name, folder / kind)


@pytest.mark.parametrize(
    ("notebook", "words"),
    [
        ("mine", "run suite.yml --no-book"),  # of a family of its own
        (SHIPPED, "run suite.yml --no-book --model a"),  # in the place of a shipped one, and the same
        (SHIPPED, "run suite.yml --plan"),
        (SHIPPED, "run suite.yml --shard 1/2"),
        (SHIPPED, "compare suite.yml a b"),
        ("comparison", "run suite.yml --no-book"),
    ],
)
def test_a_notebook_beside_the_suite_is_code(folder, command, notebook, words):
    if notebook == "mine":
        write(folder, {"suite.yml": SUITE.replace(SHIPPED, "mine")})
    else:
        beside(folder, "notebooks", f"{notebook}.ipynb")
    message = refused(command, folder, *words.split(), "--no-code", "--out", "out")
    reason = f"notebooks/{notebook}.ipynb: a notebook beside the suite is code, and --no-code was given"
    assert reason in message and not (folder / "out").exists()


def test_notebooks_that_are_not_run_and_links_to_ours_do_no_harm(folder, command):
    shipped = resources.root() / "notebooks" / f"{SHIPPED}.ipynb"
    (folder / "notebooks" / shipped.name).symlink_to(shipped)
    assert command("run", "suite.yml", "--no-code", "--plan", cwd=folder).returncode == 0


def test_pages_and_models_that_are_not_asked_are_code_too(folder, command):
    page, words = f"book/methods/{SHIPPED}.md", ("run", "suite.yml", "--no-book", "--out", "out")
    beside(folder, "book/methods", f"{SHIPPED}.md")
    message = refused(command, folder, *words, "--no-code")
    assert f"{page}: a page beside the suite can include scripts and files, and --no-code" in message
    assert not (folder / "out").exists()
    (folder / page).unlink()
    write(
        folder, {"suite.yml": changed(SUITE, {"b: {predictions: answers.csv": 'b: {python: "my_model:loud"'})}
    )
    assert command(*words, cwd=folder, CALLS=str(folder / "calls")).returncode == 0
    write(folder, {"my_model.py": "open('imported', 'w')"})
    message = refused(command, folder, *words, "--model", "a", "--no-code")
    assert "models.b: the model runs code (python), and --no-code was given" in message
    assert not (folder / "imported").exists()
