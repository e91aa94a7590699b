"""Two runs never write to one folder, and a run that was killed leaves no lock behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tones import make

from soundcheck.common.errors import InputError
from soundcheck.common.files import MARKER, TEMPORARY
from soundcheck.run.output import LOCK, FolderLock, Output

pytestmark = pytest.mark.slow

BEGIN = """
import sys, pathlib
from soundcheck.common.errors import SoundcheckError
from soundcheck.run.selection import opened
from soundcheck.run.selection import RunOptions
from soundcheck.suite.suite_file import read_suite
suite = read_suite(pathlib.Path("suite.yml"))
print("ready", flush=True)
sys.stdin.readline()
try:
    with opened(suite, RunOptions(suite=pathlib.Path("suite.yml"), out=pathlib.Path("out"))):
        print("runs", flush=True)
        sys.stdin.read()
except SoundcheckError as error:
    print(error, flush=True)
"""
FOLDERS = {  # what lies in the output folder; names that end with / are folders
    "nothing": None,
    "an empty folder": [],
    "a cache": ["cache/", MARKER],
    "a run": ["cache/", MARKER, LOCK],
    "a stopped run": [LOCK, f"{TEMPORARY}abc"],
}


@pytest.mark.parametrize("state", FOLDERS)
def test_of_three_at_once_exactly_one_runs(tmp_path, state):
    make(tmp_path / "project")
    out = tmp_path / "project" / "out"
    for name in FOLDERS[state] or ():
        place = out / name
        place.parent.mkdir(exist_ok=True)
        place.mkdir() if name.endswith("/") else place.write_text("{}")
    if FOLDERS[state] == []:
        out.mkdir()
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    command = [sys.executable, "-c", BEGIN]
    begun = [subprocess.Popen(command, cwd=tmp_path / "project", **pipes, text=True) for _ in range(3)]
    assert [one.stdout.readline() for one in begun] == ["ready\n"] * 3
    for one in begun:
        one.stdin.write("go\n")
        one.stdin.flush()
    lines = [one.stdout.readline() for one in begun]
    (winner,) = (one for one, line in zip(begun, lines, strict=True) if line == "runs\n")
    who = f"--out out: another run writes to this folder (process {winner.pid}, since "
    assert [line.startswith(who) for line in lines].count(True) == 2, lines
    with pytest.raises(InputError, match=f"process {winner.pid}"), FolderLock(out, "out"):
        pass
    winner.kill()  # without a chance to clean up
    for one in begun:
        one.communicate()
    with FolderLock(out, "out") as lock:
        lock.take()
        assert (out / LOCK).read_text().startswith("process ")
    assert (out / MARKER).is_file() and not list(out.glob(f"{TEMPORARY}*"))


def test_a_folder_that_is_not_there_yet_is_taken_once_it_is(tmp_path):
    folder = tmp_path / "build"
    with FolderLock(folder, "build") as lock:
        assert not folder.exists()
        folder.mkdir()
        lock.take()
        lock.take()
        other = FolderLock(folder, "build")
        with pytest.raises(InputError):
            other.take()
    other.take()
    other.__exit__()


def test_parts_that_others_write_are_left(tmp_path):
    """A comparison in an output folder has a lock of its own, and shares the cache."""
    out = Output(tmp_path / "out")
    (tmp_path / "out" / "compare").mkdir(parents=True)
    (tmp_path / "out" / "compare" / MARKER).write_text("{}")
    names = ("", "notebooks/m", "html", "cache/facts", "compare/media", "cache/old")
    parts = {name: tmp_path / "out" / name / f"{TEMPORARY}x" for name in names}
    for part in parts.values():
        part.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    os.utime(parts["cache/old"], (1, 1))
    out.prepare()
    assert {name for name, part in parts.items() if part.exists()} == {"cache/facts", "compare/media"}


# A real run, at each of its stages --------------------------------------------------------------------------

STAGES = ("corpora", "predictions", "notebooks", "book")


@pytest.fixture
def folder(small_suite) -> Path:
    """Give a folder with the small suite of one model and one family."""
    suite = small_suite("lock") / "suite.yml"
    models, _, rest = suite.read_text().partition("  several:")
    suite.write_text(f"{models}families: [plain]\n{rest[rest.index('studies:') :]}")
    return suite.parent


@pytest.fixture
def run(folder):
    """Begin a real run in a session of its own: ``run()``."""
    begun = []

    def begin() -> subprocess.Popen:
        environment = {"CALLS": str(folder / "calls.txt"), "SOUNDCHECK_CACHE": "", "SLOW": "0.2"}
        begun.append(
            subprocess.Popen(
                [sys.executable, "-P", "-m", "soundcheck.cli", "run", "suite.yml"],
                cwd=folder,
                env=os.environ | environment,
                **dict.fromkeys(("stdin", "stdout"), subprocess.DEVNULL),
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return begun[-1]

    yield begin
    for one in begun:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(one.pid, signal.SIGKILL)
        one.stderr.close()
        one.wait()


def reach(process: subprocess.Popen, stage: str) -> None:
    """Wait for a stage."""
    assert any(line.rstrip().endswith(f"] {stage}") for line in process.stderr), f"no stage {stage}"


def refusal(folder: Path) -> str:
    """Try to take the folder as a second run does; gives the message of its refusal, or nothing."""
    try:
        with FolderLock(folder / "build", "build"):
            return ""
    except InputError as error:
        return str(error)


def test_a_second_run_is_refused_at_each_stage_and_harms_nothing(folder, run, command):
    first = run()
    for stage in STAGES:
        reach(first, stage)
        first.send_signal(signal.SIGSTOP)
        try:
            assert f"another run writes to this folder (process {first.pid}, since" in refusal(folder), stage
            for words in ((), ("--plan",)) if stage in ("predictions", "book") else ():
                again = {"cwd": folder, "CALLS": os.devnull, "SOUNDCHECK_CACHE": ""}
                second = command("run", "suite.yml", *words, **again)
                assert second.returncode == 2 and "another run writes to this folder" in second.stderr
        finally:
            first.send_signal(signal.SIGCONT)
    first.stderr.read()
    assert first.wait() == 0
    assert (folder / "build" / "html" / "index.html").is_file()
    assert refusal(folder) == ""


def test_a_killed_run_leaves_no_lock_at_any_stage(folder, run):
    """Whether its children live on, any of which could hold a lock, or are killed with it."""
    for stage, alone in (*((stage, True) for stage in STAGES[:3]), ("notebooks", False), ("book", True)):
        killed = run()
        reach(killed, stage)
        time.sleep(0.5)  # children are at work
        if alone:
            killed.kill()
        else:
            os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        assert refusal(folder) == "", stage
