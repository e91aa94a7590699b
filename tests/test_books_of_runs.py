"""Books of the small suite: verified, grown, computed again, with and without voices; their sheets."""

import json
import re
import shlex
import shutil
import string
from pathlib import Path

import pytest
import yaml
from runs import Run, changed, write
from tones import MODEL, SUITE, Project, make

from soundcheck.common import resources
from soundcheck.common.files import digest
from soundcheck.common.manifest import MANIFEST, sha256
from soundcheck.common.media import SOUNDS

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
LOUD = SUITE.replace("  quiet:", "  # quiet:")
THRESHOLDS = "thresholds/correctness_regression.yml"
METHOD = "book/methods/correctness_regression.md"


@pytest.fixture(scope="module")
def first(tmp_path_factory, undrawn):
    """A project with the book of its first run, in the folder that recipes name."""
    first = Project(make(tmp_path_factory.mktemp("books") / "project"), undrawn, "build")
    write(first.folder, {"suite.yml": LOUD})
    first.output = first.run()
    return first


@pytest.fixture
def project(first):
    """The project, whose suite and model are afterwards what they were."""
    yield first
    write(first.folder, {"suite.yml": LOUD, "my_model.py": MODEL})


# A book that is verified and computed again -----------------------------------------------------------------


def test_the_digest_is_printed_recorded_and_confirmed(project):
    path, book = project.out / "html" / MANIFEST, Run(project.out)
    listed, before = sha256(path), (path.read_bytes(), path.stat().st_mtime_ns)
    assert f"Digest of the book: {listed}\n" in project.output and book.record["book_digest"] == listed
    page = book.page("provenance")
    assert 'href="manifest.sha256"' in page and 'href="provenance.json"' in page
    for folder in ("build", "build/html"):
        message = project("verify", folder, "--digest", listed)
        assert message.endswith("Nothing was changed, added or removed.\n")
        assert "Model 'loud' (python): 132 inputs" in message
    # A run without a book leaves the list, and one that changes nothing does not write it again.
    assert "Digest" not in project.run("--no-book")
    assert "The pages are those of an earlier run." in project("verify", "build")
    assert f"Digest of the book: {listed}\n" in project.run()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_tests_come_out_the_same_again_and_another_model_differently(project):
    before, again = sha256(project.out / MANIFEST), ("--jobs", "1", "--again")
    message = project("verify", "build", "--tests", "2", *again, "suite.yml")
    assert "\nAll came out the same.\n" in message and "2 tests drawn, " in message and project.asked()["l"]
    assert sha256(project.out / MANIFEST) == before
    project.edit("my_model.py", "* 5, 0, 1", "* 4, 0, 1")
    (project.folder / "kept.yml").write_text(LOUD + "history: kept\n")
    message = project("verify", "build/html", "--tests", "1", *again, "kept.yml", code=1)
    assert not (project.folder / "kept").exists()  # this is no run for a history
    assert re.search(r"differs: loud / tones / .*: value .*, now .* \(by ", message)
    assert "The model 'loud' changed, by its digest." in message
    assert re.search(r"\d+ tests? came out differently\.", message)
    (project.folder / "other.yml").write_text(LOUD.replace("loud:", "other:"))
    message = project("verify", "build", *again, "other.yml", code=2)
    assert "other.yml: the suite has no model and family of which the book holds a value." in message


def test_the_commands_of_both_recipes_do_what_they_need(project):
    github, gitlab = (
        yaml.safe_load((DOCS / f"soundcheck-{n}.yml").read_text()) for n in ("github", "gitlab")
    )
    steps = [step["run"] for step in github["jobs"]["soundcheck"]["steps"] if "run" in step]
    recipes = (steps, github["env"]), (gitlab["soundcheck"]["script"], gitlab["soundcheck"]["variables"])
    commands = []
    for texts, variables in recipes:
        lines = [line.partition("||")[0] for text in texts for line in text.splitlines()]
        lines = [string.Template(line) for line in lines if line.startswith("soundcheck ")]
        commands.append([shlex.split(line.substitute(variables | {"MODEL": "loud"}))[1:] for line in lines])
    assert sorted(commands[0]) == sorted(commands[1])
    assert [words[0] for words in commands[1]] == ["run", "verify", "sheet", "check"]
    assert commands[1][0] == ["run", "suite.yml", "--out", "build"]  # as the first one ran
    for words in commands[1]:
        done = project.command(*words, cwd=project.folder, CALLS=str(project.calls))
        assert done.returncode in ((0, 1) if words[0] == "check" else (0,)), done.stderr
    assert all((project.folder / name).read_text().strip() for name in ("comment.md", "build/junit.xml"))


def test_what_a_recipe_keeps_is_enough_to_ask_nothing_again(project):
    """A fresh clone with the cache and the marker of an earlier run."""
    shutil.copytree(project.out / "cache", project.folder / "fresh" / "cache")
    shutil.copyfile(project.out / ".soundcheck", project.folder / "fresh" / ".soundcheck")
    message = project.run("--no-book", out="fresh")
    assert "predictions: 132 from the cache of" in message and ", 0 computed now" in message
    assert project.asked()["l"] <= 5  # asked again before cached predictions are used
    assert digest(project.folder / "fresh" / "results.csv") == digest(project.out / "results.csv")


# A book without voices has no sound and no picture of one, whatever was before ------------------------------


def sounds(out):
    """List files of sounds outside of the cache, and pages that play one."""
    files = [path for path in out.rglob("*") if path.is_file() and "cache" not in path.relative_to(out).parts]
    pages = [path for path in files if path.suffix in (".html", ".ipynb")]
    playing = [path for path in pages if re.search("<audio|data:audio", path.read_text(errors="replace"))]
    return playing + [path for path in files if path.suffix in SOUNDS]


def test_a_book_without_voices(project):
    book, results = Run(project.out), digest(project.out / "results.csv")
    assert sounds(project.out)
    write(project.folder, {"suite.yml": LOUD.replace("title: Small", "title: Small\nvoices: none")})
    project.run()
    assert sounds(project.out) == [] and digest(project.out / "results.csv") == results
    assert json.loads((book.out / "html" / "provenance.json").read_text())["voices"] == "none"
    page = book.page("results/loud/robustness_small_changes")
    assert page.count("left out of this book: ") == 1
    assert "sc-unheard" in page and "dBFS" in page and "Waveform" not in page
    assert "left out of this book" in book.page("corpora/tones")
    assert "data:image/png" not in book.page("sheets/loud")
    project("verify", "build")
    message = project.run(out="never", code=2, SOURCE_DATE_EPOCH="yesterday")
    assert "SOURCE_DATE_EPOCH" in message and not (project.folder / "never").exists()


# A book that grows by small changes -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grown(first):
    """The project with voices again, a second model, a comparison, another title, threshold, method page."""
    more = "comparisons: {both: {baseline: loud, candidate: quiet}}\nvoices: none\n"
    write(first.folder, {"suite.yml": SUITE.replace("title: Small", "title: Renamed") + more})
    threshold, method = ((resources.root() / name).read_text("utf-8") for name in (THRESHOLDS, METHOD))
    threshold = changed(threshold, {"threshold: 0.5": "threshold: 0.99"})
    write(first.folder, {THRESHOLDS: threshold, METHOD: f"{method}\nA sentence more.\n"})
    first.run("--voices", "all")  # the command line comes first
    return first


def test_a_book_that_grows_is_that_of_a_new_run(grown):
    words = ("--voices", "all", "--jobs", "2")
    grown.run(*words, out="anew", SOUNDCHECK_CACHE=str(grown.out / "cache"))
    assert grown.content() == grown.content("anew") and sounds(grown.out)
    book = Run(grown.out)
    assert "Renamed" in book.page("index") and "A sentence more." in book.page(f"{METHOD[5:-3]}")
    assert "0.99" in book.page("results/loud/correctness_regression") and book.page("models/quiet")


def test_a_sheet_without_a_book_and_in_it(grown):
    message = grown("sheet", "build", "--model", "loud", "--text", "lines.md")
    assert message.startswith("How good: loud") and "Written: build/sheets/loud.html" in message
    alone = (grown.out / "sheets" / "loud.html").read_text()
    assert "data:audio/flac" in alone and "robustness" in alone and str(grown.folder) not in alone
    assert (grown.folder / "lines.md").read_text().count("\n- **") == 3
    grown("sheet", "build", "--model", "quiet", "--baseline", "build", "--out", "q.html")
    assert "Worse on 0 and better on 0 of" in (grown.folder / "q.html").read_text()

    book = Run(grown.out)
    assert 'href="../models/loud.html"' in book.page("sheets/loud")
    assert "both: quiet against loud" in book.page("sheets/comparisons/both")
