"""Nothing is removed or written through a link inside of an output folder; it may be a link itself."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from finished import finished, verdict
from runs import refused
from tones import SUITE, make

from soundcheck import cli
from soundcheck.common.files import MARKER
from soundcheck.common.messages import InputError
from soundcheck.run.output import Output


def content(folder):
    return [(str(path), path.read_text() if path.is_file() else "") for path in sorted(folder.rglob("*"))]


@pytest.fixture
def out(tmp_path):
    """An output folder; beside it a folder that links may lead to."""
    for folder in ("out", "behind/inner"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "out" / MARKER).write_text("{}")
    (tmp_path / "behind" / "inner" / "precious.txt").write_text("precious")
    return tmp_path / "out"


@pytest.mark.parametrize(
    "place", ["html", "mine", "results.csv", ".lock", MARKER, "html/a/b/c.html", "cache/requests/1-m"]
)
def test_a_link_at_any_place_is_refused(out, place):
    behind, link = out.parent / "behind", out / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    is_file = Path(place).suffix or place == MARKER
    link.symlink_to(behind / "inner" / "precious.txt" if is_file else behind)
    before = content(behind)
    message = f"--out .*{re.escape(repr(place))} in it is a symbolic link, .* Remove"
    with pytest.raises(InputError, match=message):
        Output(out).check({})
    assert content(behind) == before


def replaced(out, target):
    (out / MARKER).unlink()
    out.rmdir()
    out.symlink_to(target)


def linked(out, *places, target="nowhere"):
    for place in places:
        (out / place).symlink_to(out / target)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda out: replaced(out, "gone"), "'.*out' leads to no folder. Remove the link, or make"),
        (lambda out: replaced(out, out), "the link '.*out' leads to no folder"),  # a loop
        (lambda out: linked(out, "cache"), "the link '.*cache' leads to no folder"),
        (lambda out: os.mkfifo(out / "log.txt"), "'log.txt' in it is neither a file nor a folder"),
        (lambda out: linked(out, "media", "mine", "z"), r"'media' in it is a symbolic link \(as are 2 more"),
    ],
)
def test_what_leads_nowhere_and_what_blocks_is_refused(out, spoil, message):
    spoil(out)
    with pytest.raises(InputError, match=f"--out .*{message}"):
        Output(out).check({})


def test_the_folder_and_its_cache_may_be_links_but_nothing_is_pruned_behind_one(out):
    disk, behind = out.parent / "disk", out.parent / "behind"
    (disk / "cache" / "model").mkdir(parents=True)
    (disk / "cache" / "model" / "latest").symlink_to("/tmp")  # models keep things
    (out / "cache").symlink_to(disk / "cache")
    (out.parent / "link").symlink_to(out)
    output = Output(out.parent / "link")
    output.check({})
    (out / "media").symlink_to(behind)
    output.prune(output.media, set())
    assert (behind / "inner" / "precious.txt").exists()


@pytest.mark.parametrize(
    "words", ["run suite.yml", "run suite.yml --shard 1/2", "compare suite.yml loud quiet"]
)
def test_runs_refuse_before_anything_runs(out, tmp_path, command, words):
    linked(out, "notebooks", target="../behind")
    before = content(out.parent / "behind"), sorted(os.listdir(out))
    calls = {"CALLS": str(tmp_path / "calls"), "SOUNDCHECK_CACHE": ""}
    message = refused(command, make(tmp_path / "project"), *words.split(), "--out", out, **calls)
    assert "'notebooks' in it is a symbolic link" in message
    assert (content(out.parent / "behind"), sorted(os.listdir(out))) == before
    assert not (tmp_path / "calls").exists()


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs in the folder where commands are given; beside them what links lead to."""
    for folder in ("behind", "new"):
        (tmp_path / folder).mkdir()
    (tmp_path / "new" / "suite.yml").write_text(SUITE)
    for name, value in (("one", 0.6), ("two", 0.7)):
        (finished(tmp_path / name, [verdict(value=value)]) / MARKER).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = """
one/cards: card one
README.md: card one --out .
one/sheets: sheet one
s.html: sheet one --out s.html
lines.md: sheet one --out s.html --text lines.md
one/junit.xml: check one
one/history: history one two --out one/history
history.csv: history one two --out .
t.csv: thresholds simulate --runs 1 --groups 2 --samples 4 --out t.csv
my_model.py: init .
new/notebooks: init new --family mine
""".strip().splitlines()


@pytest.mark.parametrize("line", COMMANDS)
def test_what_commands_write_is_never_behind_a_link(runs, line):
    place, words = line.split(": ")
    link = runs / place
    link.symlink_to(runs / "behind" / ("file" if link.suffix else ""))
    done = CliRunner().invoke(cli.commands, words.split())
    message = f"{done.exception} {done.output}"
    assert done.exit_code and ("symbolic link" in message or "leads out of its folder" in message)
    assert link.is_symlink() and os.listdir(runs / "behind") == []


def test_a_folder_that_the_user_names_may_be_a_link(runs):
    (runs / "elsewhere").symlink_to(runs / "behind")
    assert CliRunner().invoke(cli.commands, ["card", "one", "--out", "elsewhere"]).exit_code == 0
    assert (runs / "behind" / "README.md").is_file()
