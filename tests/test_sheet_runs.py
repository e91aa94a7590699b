"""Through the real command: the page for a meeting of a run without a book, and in a book."""

import re
from pathlib import Path

import pytest
from tones import SUITE, make

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("sheets") / "project")
    comparisons = "comparisons:\n  both: {baseline: loud, candidate: quiet}\n"
    (folder / "suite.yml").write_text(f"{SUITE}\n{comparisons}")
    return folder


def run(project, undrawn, *words):
    done = undrawn(*words, cwd=project, CALLS=str(project / "calls.txt"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def without_mark(text: str) -> str:
    return re.sub(r'<footer class="sc-footer.*?</footer>', "", text)


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_without_a_book_and_then_in_it(project, undrawn):
    run(project, undrawn, "run", "suite.yml", "--out", "out", "--no-book")
    told = run(project, undrawn, "sheet", "out", "--model", "loud", "--text", "lines.md")
    assert told.startswith("How good: loud") and "Written: out/sheets/loud.html" in told
    alone = (project / "out" / "sheets" / "loud.html").read_text()
    assert "data:audio/flac" in alone and "robustness" in alone and ".html" not in alone
    assert (project / "lines.md").read_text().count("\n- **") == 3
    told = run(project, undrawn, "sheet", "out", "--model", "quiet", "--baseline", "out", "--out", "q.html")
    assert "Worse on 0 and better on 0 of" in (project / "q.html").read_text()
    assert str(project) not in (project / "q.html").read_text()

    run(project, undrawn, "run", "suite.yml", "--out", "out")
    book = project / "out" / "html"
    assert {path.name for path in (book / "sheets").iterdir()} == {"loud.html", "quiet.html", "comparisons"}
    shown = (book / "sheets" / "loud.html").read_text()
    assert 'href="../models/loud.html"' in shown
    assert 'href="../sheets/loud.html"' in (book / "models" / "loud.html").read_text()
    assert 'href="../sheets/comparisons/both.html"' in (book / "comparisons" / "both.html").read_text()
    compared = (book / "sheets" / "comparisons" / "both.html").read_text()
    assert "both: quiet against loud" in compared and 'href="../../comparisons/both.html"' in compared
    run(project, undrawn, "sheet", "out", "--comparison", "both", "--out", "out/html-copy/both.html")
    beside = (project / "out" / "html-copy" / "both.html").read_text()
    assert without_mark(compared).replace("../../comparisons", "../html/comparisons") == beside

    before = times(book)
    run(project, undrawn, "run", "suite.yml", "--out", "out")
    assert times(book) == before
    model = project / "my_model.py"
    model.write_text(model.read_text().replace("* 5, 0, 1", "* 4, 0, 1"))
    run(project, undrawn, "run", "suite.yml", "--out", "out")
    changed = (book / "sheets" / "loud.html").read_text()
    assert changed != shown
    assert {path.stem for path in (book / "sheets").rglob("*.html")} == {"loud", "quiet", "both"}


def test_what_cannot_be_used_is_told(project, undrawn, tmp_path):
    for words, message in (
        (("sheet", "nowhere"), "does not exist"),
        (("sheet", "data"), "does not exist"),
        (("sheet", "out", "--model", "loud", "--comparison", "both"), "leave --model and --baseline out"),
        (("sheet", "out", "--out", "out/results.csv"), "does not end in .html or .htm"),
    ):
        done = undrawn(*words, cwd=project)
        assert done.returncode == 2 and message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
