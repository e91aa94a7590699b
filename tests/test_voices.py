"""Through the real command: a book without voices has no sound and no picture of one, whatever was before."""

import json
import re
from pathlib import Path

import pytest
from tones import make

from soundcheck.common.files import digest
from soundcheck.common.media import SOUNDS

pytestmark = pytest.mark.slow

AGES = "2026-02-03", "1770076800"  # a day, and seconds since 1970 in it


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("voices") / "project")
    suite = (folder / "suite.yml").read_text()
    (folder / "suite.yml").write_text(suite.replace("title: Small", "title: 'Small \"</style> \\ } tones'"))
    return folder


def run(project: Path, command, *words: str, **more: str) -> str:
    done = command(
        *("run", "suite.yml", "--out", "out", "--model", "loud", *words),
        cwd=project,
        CALLS=str(project / "calls.txt"),
        **more,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def content(html: Path) -> dict[str, str]:
    return {p.relative_to(html).as_posix(): digest(p) for p in sorted(html.rglob("*")) if p.is_file()}


def sounds(out: Path) -> list[str]:
    """List files of sounds outside of the cache, and pages that play one."""
    found = [path for path in out.rglob("*") if path.is_file() and "cache" not in path.relative_to(out).parts]
    playing = re.compile("<audio|data:audio")
    return [
        str(path)
        for path in found
        if path.suffix in SOUNDS
        or (path.suffix in (".html", ".ipynb") and playing.search(path.read_text(errors="replace")))
    ]


def test_back_and_forth(project, command):
    out = project / "out"
    run(project, command, "--voices", "none", SOURCE_DATE_EPOCH=AGES[1])
    silent, results = content(out / "html"), digest(out / "results.csv")
    assert sounds(out) == []
    page = (out / "html" / "results" / "loud" / "robustness_small_changes.html").read_text()
    assert page.count("left out of this book: --voices none") == 1
    assert "sc-unheard" in page and "dBFS" in page and "Waveform" not in page
    assert "left out of this book" in (out / "html" / "corpora" / "tones.html").read_text()
    assert json.loads((out / "html" / "provenance.json").read_text())["voices"] == "none"
    sheet = (out / "html" / "sheets" / "loud.html").read_text()
    assert "data:image/png" not in sheet

    style = (out / "html" / "_static" / "run.css").read_text()
    assert f"run of {AGES[0]}, results {digest(out / 'results.csv')[:12]}" in style
    assert "</style>" not in style and style.count('"') % 2 == 0 and "counter(page)" in style
    told = {path.parent.name for path in (out / "html").rglob("*.html") if AGES[0] in path.read_text()}
    assert told <= {"models", "sheets"}  # on which answers were given; the day of the run is in the style

    stamp = (out / "html" / "index.html").stat().st_mtime_ns  # nothing has changed: nothing is written
    run(project, command, "--voices", "none", SOURCE_DATE_EPOCH=AGES[1])
    assert (out / "html" / "index.html").stat().st_mtime_ns == stamp

    run(project, command, SOURCE_DATE_EPOCH=AGES[1])
    assert any(name.endswith(".flac") for name in content(out / "html"))
    assert json.loads((out / "html" / "provenance.json").read_text())["voices"] == "all"
    assert digest(out / "results.csv") == results

    suite = (project / "suite.yml").read_text()
    run(project, command, "--voices", "none", SOURCE_DATE_EPOCH=AGES[1])
    assert sounds(out) == [] and content(out / "html") == silent

    (project / "suite.yml").write_text(f"{suite}\nvoices: none\n")
    run(project, command, "--voices", "all", SOURCE_DATE_EPOCH=AGES[1])  # the command line comes first
    assert sounds(out)
    run(project, command, SOURCE_DATE_EPOCH=AGES[1])
    assert sounds(out) == []
    assert command("verify", "out", cwd=project).returncode == 0


def test_an_impossible_day_is_told_before_anything_runs(project, command):
    done = command("run", "suite.yml", "--out", "never", cwd=project, SOURCE_DATE_EPOCH="yesterday")
    assert done.returncode == 2 and "SOURCE_DATE_EPOCH" in done.stderr and not (project / "never").exists()
    done = command("run", "suite.yml", "--out", "never", "--voices", "some", cwd=project)
    assert done.returncode == 2 and "'some' is not one of 'all', 'none'" in done.stderr
