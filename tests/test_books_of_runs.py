"""Books of the small suite: with and without voices, grown, tampered with, computed again; their sheets."""

import json
import re
import shlex
import shutil
import string
from pathlib import Path

import pytest
import yaml
from runs import Run
from tones import SUITE, Project, make

from soundcheck import cli
from soundcheck.common import resources
from soundcheck.common.files import digest
from soundcheck.common.manifest import MANIFEST, sha256
from soundcheck.common.media import SOUNDS

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
LOUD = SUITE.replace("  quiet:", "  # quiet:")
BOTH = f"{SUITE}\ncomparisons: {{both: {{baseline: loud, candidate: quiet}}}}\n"


def project_in(folder, command, suite):
    project = Project(make(folder), command)
    (project.folder / "suite.yml").write_text(suite)
    return project


# A book that is verified and computed again -----------------------------------------------------------------


@pytest.fixture(scope="module")
def verified(tmp_path_factory, undrawn):
    verified = project_in(tmp_path_factory.mktemp("verified") / "project", undrawn, LOUD)
    verified.told = verified.run(out="build")
    verified.out = verified.folder / "build"
    return verified


def test_the_digest_is_printed_recorded_and_confirmed(verified):
    listed = sha256(verified.out / "html" / MANIFEST)
    assert f"Digest of the book: {listed}\n" in verified.told
    assert Run(verified.out).record["book_digest"] == listed
    page = Run(verified.out).page("provenance")
    assert 'href="manifest.sha256"' in page and 'href="provenance.json"' in page
    for folder in ("build", "build/html"):
        told = verified("verify", folder, "--digest", listed)
        assert told.endswith("Nothing was changed, added or removed.\n")
        assert "Model 'loud' (python): 132 inputs" in told and not re.search("changed:|missing:|added:", told)


def test_one_byte_that_was_changed_is_found(verified, tmp_path):
    copy = shutil.copytree(verified.out / "html", tmp_path / "html")
    names = [path for path in sorted(copy.rglob("*")) if path.is_file()]
    changed = [next(p for p in names if p.suffix == suffix) for suffix in (".csv", ".html", ".flac", ".js")]
    for path in changed:
        content = path.read_bytes()
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    told = verified("verify", copy, code=1)
    found = re.findall("^changed: '(.*)'", told, re.MULTILINE)
    assert sorted(found) == sorted(path.relative_to(copy).as_posix() for path in changed)


def test_a_run_that_changes_nothing_writes_no_list_again_and_one_without_a_book_leaves_it(verified):
    path = verified.out / "html" / MANIFEST
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert f"Digest of the book: {sha256(path)}\n" in verified.run(out="build")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert "Digest" not in verified.run("--no-book", out="build")
    assert "The pages are those of an earlier run." in verified("verify", "build")
    assert f"Digest of the book: {sha256(path)}\n" in verified.run(out="build")


def test_tests_come_out_the_same_again_and_another_model_differently(verified):
    before = sha256(verified.out / MANIFEST)
    told = verified("verify", "build", "--again", "suite.yml", "--tests", "2", "--jobs", "1")
    assert "\nAll came out the same.\n" in told and "2 tests drawn, " in told and verified.asked()["l"]
    assert sha256(verified.out / MANIFEST) == before
    verified.edit("my_model.py", "* 5, 0, 1", "* 4, 0, 1")
    (verified.folder / "kept.yml").write_text(LOUD + "history: kept\n")
    told = verified("verify", "build/html", "--again", "kept.yml", "--tests", "1", "--jobs", "1", code=1)
    verified.edit("my_model.py", "* 4, 0, 1", "* 5, 0, 1")
    assert not (verified.folder / "kept").exists()  # this is no run for a history
    assert re.search(r"differs: loud / tones / .*: value .*, now .* \(by ", told)
    assert "The model 'loud' changed, by its digest." in told
    assert re.search(r"\d+ tests? came out differently\.", told)
    (verified.folder / "other.yml").write_text(LOUD.replace("loud:", "other:"))
    told = verified("verify", "build", "--again", "other.yml", code=2)
    assert "other.yml: the suite has no model and family of which the book holds a value." in told


def scripts(recipe):
    """Give the lines that a recipe of docs/ runs in its order, and the variables that it sets."""
    if "jobs" in recipe:
        steps = recipe["jobs"]["soundcheck"]["steps"]
        texts, variables = [step["run"] for step in steps if "run" in step], recipe["env"]
    else:
        texts, variables = recipe["soundcheck"]["script"], recipe["soundcheck"]["variables"]
    return [line for text in texts for line in text.splitlines()], variables


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_the_commands_of_a_recipe_do_what_it_needs(verified, name):
    lines, variables = scripts(yaml.safe_load((DOCS / f"soundcheck-{name}.yml").read_text()))
    values = variables | {"MODEL": "loud"}
    written = [verified.folder / "comment.md", verified.out / "junit.xml"]
    for path in written:
        path.unlink(missing_ok=True)
    own = [line.partition("||")[0] for line in lines if line.startswith("soundcheck ")]
    words = [shlex.split(string.Template(line).substitute(values))[1:] for line in own]
    assert (
        {command[0] for command in words} == {"run", "check", "verify", "sheet"} <= {*cli.commands.commands}
    )
    for command in words:
        done = verified.command(*command, cwd=verified.folder, CALLS=str(verified.calls))
        assert done.returncode in ((0, 1) if command[0] == "check" else (0,)), done.stderr
    assert all(path.read_text().strip() for path in written)


def test_what_a_recipe_keeps_is_enough_to_ask_nothing_again(verified):
    """A fresh clone with the cache and the marker of an earlier run."""
    shutil.copytree(verified.out / "cache", verified.folder / "fresh" / "cache")
    shutil.copyfile(verified.out / ".soundcheck", verified.folder / "fresh" / ".soundcheck")
    told = verified.run("--no-book", out="fresh")
    assert "predictions: 132 from the cache of" in told and ", 0 computed now" in told
    assert verified.asked()["l"] <= 5  # asked again before cached predictions are used
    assert digest(verified.folder / "fresh" / "results.csv") == digest(verified.out / "results.csv")


# A book that grows by small changes -------------------------------------------------------------------------


THRESHOLDS = "thresholds/correctness_regression.yml"
METHOD = "book/methods/correctness_regression.md"


@pytest.fixture(scope="module")
def grown(tmp_path_factory, undrawn):
    """A suite with the book of a first run; the tests go on in their order."""
    grown = project_in(tmp_path_factory.mktemp("grown") / "project", undrawn, LOUD)
    for name in (THRESHOLDS, METHOD):
        (grown.folder / name).parent.mkdir(parents=True)
        shutil.copyfile(resources.root() / name, grown.folder / name)
    grown.run()
    return grown


def times(project):
    """When each page was written; what Sphinx wrote is copied."""
    html = project.out / "book-build" / "html"
    pages = [path for path in html.rglob("*.html") if "_static" not in path.parts]
    return {path.relative_to(html).as_posix(): path.stat().st_mtime_ns for path in pages}


def test_a_threshold_and_a_method_page_change_their_pages_only(grown):
    first, before = grown.content(), times(grown)
    grown.edit(THRESHOLDS, "threshold: 0.5", "threshold: 0.45")
    grown.run()
    kept = {name for name, time in times(grown).items() if before.get(name) == time}
    assert "corpora/tones.html" in kept and "models/loud.html" not in kept
    assert grown.content()["models/loud.html"] != first["models/loud.html"]
    before = times(grown)
    (grown.folder / METHOD).write_text((grown.folder / METHOD).read_text() + "\nA sentence more.\n")
    grown.run()
    changed = {name for name, time in times(grown).items() if before.get(name) != time}
    assert "methods/correctness_regression.html" in changed and "models/loud.html" not in changed
    small = grown.content()
    for name in ("html", "book-build", "book-src", "book-pages.json", "book.json"):
        path = grown.out / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    grown.run()
    assert small == grown.content()


def test_a_new_model_a_removed_family_and_another_title_change_all_pages(grown):
    suite = SUITE.replace(", robustness_small_changes", "").replace("title: Small", "title: Renamed")
    (grown.folder / "suite.yml").write_text(suite)
    grown.run()
    small = grown.content()
    assert "models/quiet.html" in small and "methods/robustness_small_changes.html" not in small
    assert "Renamed" in Run(grown.out).page("index")
    grown.run(out="anew")
    assert small == grown.content("anew")


# The page for a meeting -------------------------------------------------------------------------------------


def without_mark(text):
    return re.sub(r'<footer class="sc-footer.*?</footer>', "", text)


def test_a_sheet_without_a_book_and_in_it(tmp_path, undrawn):
    project = project_in(tmp_path / "project", undrawn, BOTH)
    project.run("--no-book")
    told = project("sheet", "out", "--model", "loud", "--text", "lines.md")
    assert told.startswith("How good: loud") and "Written: out/sheets/loud.html" in told
    alone = (project.out / "sheets" / "loud.html").read_text()
    assert "data:audio/flac" in alone and "robustness" in alone and ".html" not in alone
    assert (project.folder / "lines.md").read_text().count("\n- **") == 3
    project("sheet", "out", "--model", "quiet", "--baseline", "out", "--out", "q.html")
    since = (project.folder / "q.html").read_text()
    assert "Worse on 0 and better on 0 of" in since and str(project.folder) not in since

    project.run()
    book = Run(project.out)
    shown, compared = book.page("sheets/loud"), book.page("sheets/comparisons/both")
    for text, told in (
        (shown, 'href="../models/loud.html"'),
        (book.page("models/loud"), 'href="../sheets/loud.html"'),
        (book.page("comparisons/both"), 'href="../sheets/comparisons/both.html"'),
        (compared, 'href="../../comparisons/both.html"'),
        (compared, "both: quiet against loud"),
    ):
        assert told in text
    project("sheet", "out", "--comparison", "both", "--out", "out/html-copy/both.html")
    beside = (project.out / "html-copy" / "both.html").read_text()
    assert without_mark(compared).replace("../../comparisons", "../html/comparisons") == beside
    written = {path: path.stat().st_mtime_ns for path in (project.out / "html").rglob("*")}
    project.run()
    assert written == {path: path.stat().st_mtime_ns for path in (project.out / "html").rglob("*")}
    project.edit("my_model.py", "* 5, 0, 1", "* 4, 0, 1")
    project.run()
    assert book.page("sheets/loud") != shown
    sheets = {path.stem for path in (project.out / "html" / "sheets").rglob("*.html")}
    assert sheets == {"loud", "quiet", "both"}
    for words, told in (
        (("sheet", "nowhere"), "does not exist"),
        (("sheet", "out", "--model", "loud", "--comparison", "both"), "leave --model and --baseline out"),
        (("sheet", "out", "--out", "out/results.csv"), "does not end in .html or .htm"),
    ):
        assert told in project(*words, code=2)


# A book without voices has no sound and no picture of one, whatever was before ------------------------------


AGES = "2026-02-03", "1770076800"  # a day, and seconds since 1970 in it


def sounds(out):
    """List files of sounds outside of the cache, and pages that play one."""
    files = [path for path in out.rglob("*") if path.is_file() and "cache" not in path.relative_to(out).parts]
    playing = re.compile("<audio|data:audio")
    pages = [path for path in files if path.suffix in (".html", ".ipynb")]
    found = [path for path in files if path.suffix in SOUNDS]
    return found + [path for path in pages if playing.search(path.read_text(errors="replace"))]


def test_a_book_without_voices_and_back(tmp_path, command):
    title = "title: 'Small \"</style> \\ } tones'"
    project = project_in(tmp_path / "project", command, LOUD.replace("title: Small", title))

    def run(*words):
        project.run(*words, SOURCE_DATE_EPOCH=AGES[1])

    out, book = project.out, Run(project.out)
    run("--voices", "none")
    silent, results = project.content(), digest(out / "results.csv")
    assert sounds(out) == []
    page = book.page("results/loud/robustness_small_changes")
    assert page.count("left out of this book: --voices none") == 1
    assert "sc-unheard" in page and "dBFS" in page and "Waveform" not in page
    assert "left out of this book" in book.page("corpora/tones")
    assert json.loads((out / "html" / "provenance.json").read_text())["voices"] == "none"
    assert "data:image/png" not in book.page("sheets/loud")
    style = (out / "html" / "_static" / "run.css").read_text()
    assert f"run of {AGES[0]}, results {results[:12]}" in style
    assert "</style>" not in style and style.count('"') % 2 == 0 and "counter(page)" in style
    told = {path.parent.name for path in (out / "html").rglob("*.html") if AGES[0] in path.read_text()}
    assert told <= {"models", "sheets"}  # on which predictions were made; the day of the run is in the style

    stamp = (out / "html" / "index.html").stat().st_mtime_ns  # nothing has changed: nothing is written
    run("--voices", "none")
    assert (out / "html" / "index.html").stat().st_mtime_ns == stamp
    run()
    assert (
        any(name.endswith(".flac") for name in project.content()) and digest(out / "results.csv") == results
    )
    assert json.loads((out / "html" / "provenance.json").read_text())["voices"] == "all"
    run("--voices", "none")
    assert sounds(out) == [] and project.content() == silent
    project.edit("suite.yml", "sweeps: false", "sweeps: false\nvoices: none")
    run("--voices", "all")  # the command line comes first
    assert sounds(out)
    run()
    assert sounds(out) == []
    project("verify", "out")
    told = project.run(out="never", code=2, SOURCE_DATE_EPOCH="yesterday")
    assert "SOURCE_DATE_EPOCH" in told and not (project.folder / "never").exists()
    assert "'some' is not one of 'all', 'none'" in project.run("--voices", "some", out="never", code=2)
