"""Nothing is removed or written through a link inside of an output folder; it may be a link itself."""

import os
import re
from pathlib import Path

import pytest
from finished import finished, verdict
from tones import SUITE, make

from soundcheck.common import files
from soundcheck.common.errors import InputError
from soundcheck.run.output import Output

PLACES = (
    *("notebooks", "predictions", "corpora", "html", "scores", "tables", "media", "logs", "comparisons"),
    *("results.csv", "results.parquet", "run.json", "sounds.json", "log.txt", "left_out.csv", "derived.json"),
    *("manifest.sha256", "book.json", "book-src", "book-build", "book-cells", "html-old", "mine", ".lock"),
    *("notebooks/m", "notebooks/m/f.ipynb", "predictions/m/c.parquet", "html/_static/x", "html/a/b/c.html"),
    *("cache/studies", "cache/families/changes.json", "cache/predictions.sqlite", ".soundcheck"),
)


@pytest.fixture
def made(tmp_path):
    """Make an output folder with a link at a place: gives the folder, and what lies behind the link."""

    def make(place: str) -> tuple[Path, Path]:
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


def seen(folder: Path) -> list[tuple[str, str]]:
    return [(str(path), path.read_text() if path.is_file() else "") for path in sorted(folder.rglob("*"))]


@pytest.mark.parametrize("place", PLACES)
def test_a_link_at_any_place_is_refused(made, place):
    out, behind = made(place)
    before = seen(behind)
    told = f"--out .*{re.escape(repr(place))} in it is a symbolic link, .* Remove the link;"
    with pytest.raises(InputError, match=told):
        Output(out).check({})
    assert seen(behind) == before


def dangling(place: str):
    return lambda out: (out / place).symlink_to(out / "nowhere" / "x")


SPECIAL = {  # what lies there, how it is made -> message
    "no folder behind the folder": (
        lambda out: (out.rmdir(), out.symlink_to(out.parent / "gone")),
        "the link '.*out' leads to no folder. Remove the link, or make the folder",
    ),
    "a loop": (lambda out: (out.rmdir(), out.symlink_to(out)), "the link '.*out' leads to no folder"),
    "no cache": (dangling("cache"), "the link '.*cache' leads to no folder"),
    "nowhere": (dangling("media"), "'media' in it is a symbolic link"),
    "parent": (lambda out: (out / "up").symlink_to(".."), "'up' in it is a symbolic link"),
    "pipe": (lambda out: os.mkfifo(out / "log.txt"), "'log.txt' in it is neither a file nor a folder"),
    "lock": (lambda out: os.mkfifo(out / ".lock"), "'.lock' in it is neither a file nor a folder"),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_leads_nowhere_and_what_blocks_is_refused(tmp_path, name):
    out, (make, told) = tmp_path / "out", SPECIAL[name]
    out.mkdir()
    if name not in ("no folder behind the folder", "a loop"):
        (out / files.MARKER).write_text("{}")
    make(out)
    with pytest.raises(InputError, match=f"--out .*{told}"):
        Output(out).check({})


def test_the_first_of_many_is_named(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    for place in (".soundcheck", "a/b/c", "media", "z"):
        (tmp_path / place).symlink_to(tmp_path / "nowhere")
    (tmp_path / ".soundcheck").unlink()
    (tmp_path / ".soundcheck").write_text("{}")
    with pytest.raises(InputError, match=r"'media' in it is a symbolic link \(as are 2 more\)"):
        Output(tmp_path).check({})


def test_the_folder_and_its_cache_may_be_links(tmp_path):
    (tmp_path / "disk" / "out").mkdir(parents=True)
    (tmp_path / "disk" / "cache" / "model").mkdir(parents=True)
    (tmp_path / "disk" / "cache" / "model" / "latest").symlink_to("/tmp")  # not looked at
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "out")
    (tmp_path / "out" / files.MARKER).write_text("{}")
    (tmp_path / "out" / "cache").symlink_to(tmp_path / "disk" / "cache")
    Output(tmp_path / "out").check({})
    (tmp_path / "out" / "cache").unlink()
    (tmp_path / "out" / "cache" / "kept" / "blobs").mkdir(parents=True)
    (tmp_path / "out" / "cache" / "kept" / "model.bin").symlink_to("blobs")  # models keep things
    Output(tmp_path / "out").check({})


def test_nothing_is_pruned_behind_a_link(tmp_path):
    (tmp_path / "behind").mkdir()
    (tmp_path / "behind" / "precious").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "media").symlink_to(tmp_path / "behind")
    output = Output(tmp_path / "out")
    output.prune(output.media, set())
    assert (tmp_path / "behind" / "precious").exists()


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    return make(tmp_path_factory.mktemp("links") / "project")


RUNS = [
    ("run", "suite.yml"),
    ("run", "suite.yml", "--plan"),
    ("run", "suite.yml", "--shard", "1/2"),
    ("run", "suite.yml", "--model", "loud"),
    ("compare", "suite.yml", "loud", "quiet"),
]


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_runs_refuse_before_anything_runs(made, project, command, words):
    out, behind = made("notebooks")
    before = seen(behind), sorted(os.listdir(out))
    calls = out.parent / "calls"
    ended = command(*words, "--out", out, cwd=project, CALLS=str(calls), SOUNDCHECK_CACHE="")
    assert ended.returncode == 2, ended.stderr
    assert "'notebooks' in it is a symbolic link" in ended.stderr
    assert (seen(behind), sorted(os.listdir(out))) == before and not calls.exists()


@pytest.fixture
def runs(tmp_path, recorded) -> Path:
    """Two runs; beside them what links lead to."""
    (tmp_path / "behind").mkdir()
    for name, value in (("one", 0.6), ("two", 0.7)):
        folder = finished(tmp_path / name, recorded, [verdict(value=value)])
        (folder / files.MARKER).write_text("{}")
    return tmp_path


COMMANDS = [  # link -> command that would write there
    ("one/cards", ("card", "one")),
    ("one/cards", ("card", "one", "--out", "one/cards/mine")),
    ("one/cards/m", ("card", "one")),
    ("README.md", ("card", "one", "--out", ".")),
    ("one/sheets", ("sheet", "one")),
    ("one/sheets", ("sheet", "one", "--out", "one/sheets/a/b.html")),
    ("s.html", ("sheet", "one", "--out", "s.html")),
    ("lines.md", ("sheet", "one", "--out", "s.html", "--text", "lines.md")),
    ("one/junit.xml", ("check", "one")),
    ("j.xml", ("check", "one", "--junit", "j.xml")),
    ("one/deep", ("check", "one", "--junit", "one/deep/er/j.xml")),
    ("one/history", ("history", "one", "two", "--out", "one/history")),
    ("history.csv", ("history", "one", "two", "--out", ".")),
    ("t.csv", ("thresholds", "simulate", "--runs", "1", "--groups", "2", "--samples", "4", "--out", "t.csv")),
    ("suite.yml", ("init", ".")),
    ("my_model.py", ("init", ".")),
    ("new/notebooks", ("init", "new", "--family", "mine")),
    ("new/book", ("init", "new", "--family", "mine")),
]


@pytest.mark.parametrize(("place", "words"), COMMANDS, ids=lambda value: str(value))
def test_what_commands_write_is_never_behind_a_link(runs, command, place, words):
    (runs / "new").mkdir()
    (runs / "new" / "suite.yml").write_text(SUITE)
    link = runs / place
    link.parent.mkdir(exist_ok=True)
    target = runs / "behind" / ("file" if link.suffix else "")
    link.symlink_to(target)
    ended = command(*words, cwd=runs)
    assert ended.returncode == 2, ended.stdout
    assert "symbolic link" in ended.stderr or "leads out of its folder" in ended.stderr
    assert link.is_symlink() and os.listdir(runs / "behind") == []


def test_a_folder_that_the_user_names_may_be_a_link(runs, command):
    (runs / "elsewhere").symlink_to(runs / "behind")
    assert command("card", "one", "--out", "elsewhere", cwd=runs).returncode == 0
    assert (runs / "behind" / "README.md").is_file()
