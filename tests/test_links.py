"""Nothing is removed or written through a link inside of an output folder; it may be a link itself."""

import os
import re
from pathlib import Path

import pytest
from finished import finished, verdict
from runs import refused
from tones import SUITE, make

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.run.output import Output

PLACES = """
notebooks predictions corpora html scores tables media logs comparisons results.csv results.parquet
run.json sounds.json log.txt left_out.csv derived.json manifest.sha256 book.json book-src book-build
book-cells html-old mine .lock notebooks/m notebooks/m/f.ipynb predictions/m/c.parquet
html/_static/x html/a/b/c.html cache/studies cache/requests/1-m cache/predictions.sqlite
.soundcheck
""".split()


@pytest.fixture
def made(tmp_path):
    """Make an output folder with a link at a place: gives the folder, and what lies behind the link."""

    def make(place):
        out, behind = tmp_path / "out", tmp_path / "behind"
        (behind / "inner").mkdir(parents=True)
        (behind / "inner" / "precious.txt").write_text("precious")
        link = out / place
        link.parent.mkdir(parents=True, exist_ok=True)
        is_file = Path(place).suffix not in ("", ".lock", ".soundcheck")
        link.symlink_to(behind / "inner" / "precious.txt" if is_file or place[0] == "." else behind)
        if place != files.MARKER:
            (out / files.MARKER).write_text("{}")
        return out, behind

    return make


def content(folder):
    return [(str(path), path.read_text() if path.is_file() else "") for path in sorted(folder.rglob("*"))]


@pytest.mark.parametrize("place", PLACES)
def test_a_link_at_any_place_is_refused(made, place):
    out, behind = made(place)
    before = content(behind)
    told = f"--out .*{re.escape(repr(place))} in it is a symbolic link, .* Remove"
    with pytest.raises(InputError, match=told):
        Output(out).check({})
    assert content(behind) == before


def linked(folder, /, **links):
    for place, target in links.items():
        (folder / place).symlink_to(target)


def replaced(out, target):
    (out / files.MARKER).unlink()
    out.rmdir()
    out.symlink_to(target)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda out: replaced(out, out.parent / "gone"),
            "'.*out' leads to no folder. Remove the link, or make",
        ),
        (lambda out: replaced(out, out), "the link '.*out' leads to no folder"),  # a loop
        (lambda out: linked(out, cache=out / "nowhere"), "the link '.*cache' leads to no folder"),
        (lambda out: linked(out, up=".."), "'up' in it is a symbolic link"),
        (lambda out: os.mkfifo(out / "log.txt"), "'log.txt' in it is neither a file nor a folder"),
        (
            lambda out: linked(out, **dict.fromkeys(("media", "mine", "z"), out / "nowhere")),
            r"'media' in it is a symbolic link \(as are 2 more\)",
        ),
    ],
)
def test_what_leads_nowhere_and_what_blocks_is_refused(tmp_path, spoil, told):
    out = tmp_path / "out"
    out.mkdir()
    (out / files.MARKER).write_text("{}")
    spoil(out)
    with pytest.raises(InputError, match=f"--out .*{told}"):
        Output(out).check({})


def test_the_folder_and_its_cache_may_be_links_but_nothing_is_pruned_behind_one(tmp_path):
    out, disk = tmp_path / "out", tmp_path / "disk"
    for folder in (disk / "out", disk / "cache" / "model", tmp_path / "behind"):
        folder.mkdir(parents=True)
    linked(tmp_path, out=disk / "out")
    linked(disk / "cache" / "model", latest="/tmp")  # models keep things
    (out / files.MARKER).write_text("{}")
    linked(out, cache=disk / "cache")
    output = Output(out)
    output.check({})
    (tmp_path / "behind" / "precious").touch()
    linked(out, media=tmp_path / "behind")
    output.prune(output.media, set())
    assert (tmp_path / "behind" / "precious").exists()


@pytest.mark.parametrize(
    "words",
    ["run suite.yml", "run suite.yml --plan", "run suite.yml --shard 1/2", "compare suite.yml loud quiet"],
)
def test_runs_refuse_before_anything_runs(made, tmp_path_factory, command, words):
    out, behind = made("notebooks")
    before = content(behind), sorted(os.listdir(out))
    calls, project = out.parent / "calls", make(tmp_path_factory.mktemp("links") / "project")
    told = refused(command, project, *words.split(), "--out", out, CALLS=str(calls), SOUNDCHECK_CACHE="")
    assert "'notebooks' in it is a symbolic link" in told
    assert (content(behind), sorted(os.listdir(out))) == before and not calls.exists()


@pytest.fixture
def runs(tmp_path, recorded):
    """Two runs; beside them what links lead to."""
    (tmp_path / "behind").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "suite.yml").write_text(SUITE)
    for name, value in (("one", 0.6), ("two", 0.7)):
        folder = finished(tmp_path / name, recorded, [verdict(value=value)])
        (folder / files.MARKER).write_text("{}")
    return tmp_path


COMMANDS = """
one/cards: card one
one/cards: card one --out one/cards/mine
one/cards/m: card one
README.md: card one --out .
one/sheets: sheet one
one/sheets: sheet one --out one/sheets/a/b.html
s.html: sheet one --out s.html
lines.md: sheet one --out s.html --text lines.md
one/junit.xml: check one
j.xml: check one --junit j.xml
one/deep: check one --junit one/deep/er/j.xml
one/history: history one two --out one/history
history.csv: history one two --out .
t.csv: thresholds simulate --runs 1 --groups 2 --samples 4 --out t.csv
suite.yml: init .
my_model.py: init .
new/notebooks: init new --family mine
new/book: init new --family mine
""".strip().splitlines()


@pytest.mark.parametrize("line", COMMANDS)
def test_what_commands_write_is_never_behind_a_link(runs, command, line):
    place, words = line.split(": ")
    link = runs / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(runs / "behind" / ("file" if link.suffix else ""))
    told = refused(command, runs, *words.split())
    assert "symbolic link" in told or "leads out of its folder" in told
    assert link.is_symlink() and os.listdir(runs / "behind") == []


def test_a_folder_that_the_user_names_may_be_a_link(runs, command):
    (runs / "elsewhere").symlink_to(runs / "behind")
    assert command("card", "one", "--out", "elsewhere", cwd=runs).returncode == 0
    assert (runs / "behind" / "README.md").is_file()
