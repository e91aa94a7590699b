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

HOLD = """
import sys, pathlib
from soundcheck.run.output import FolderLock
lock = FolderLock(pathlib.Path(sys.argv[1]), "build")
lock.take()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_run_is_refused_until_the_first_has_ended(tmp_path):
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout.readline() == "held\n"
    with pytest.raises(InputError) as error, FolderLock(tmp_path, "build"):
        pass
    assert f"--out build: another run writes to this folder (process {first.pid}, since" in str(error.value)
    first.kill()  # without a chance to clean up
    first.communicate()
    with FolderLock(tmp_path, "build") as lock:
        lock.take()
        assert (tmp_path / LOCK).read_text().startswith("process ")


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


# Several at once ------------------------------------------------------------------------------------------

BEGIN = """
import sys, pathlib
from soundcheck.common.errors import SoundcheckError
from soundcheck.run.selection import opened
from soundcheck.run.options import RunOptions
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


@pytest.mark.parametrize("there", ["nothing", "an empty folder", "a cache", "a run", "a stopped run"])
def test_of_three_at_once_exactly_one_runs(tmp_path, there):
    make(tmp_path / "project")
    out = tmp_path / "project" / "out"
    if there != "nothing":
        (out / "cache").mkdir(parents=True)
    if there == "an empty folder":
        (out / "cache").rmdir()
    elif there != "nothing":
        (out / MARKER).write_text("{}")
    if there in ("a run", "a stopped run"):
        (out / LOCK).write_text("process 1, since 00:00:00")  # of one that was killed
    if there == "a stopped run":
        (out / MARKER).unlink()
        (out / "cache").rmdir()
        (out / f"{TEMPORARY}abc").touch()
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", BEGIN],
            cwd=tmp_path / "project",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    assert [one.stdout.readline() for one in begun] == ["ready\n"] * 3
    for one in begun:
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [one.stdout.readline() for one in begun]
    for one in begun:
        one.communicate()
    (winner,) = (one for one, line in zip(begun, told, strict=True) if line == "runs\n")
    who = f"--out out: another run writes to this folder (process {winner.pid}, since "
    assert [line.startswith(who) for line in told].count(True) == 2, told
    assert (out / MARKER).is_file() and not list(out.glob(f"{TEMPORARY}*"))


def test_parts_that_others_write_are_left(tmp_path):
    """A comparison in an output folder has a lock of its own, and shares the cache."""
    out = Output(tmp_path / "out")
    (tmp_path / "out" / "compare").mkdir(parents=True)
    (tmp_path / "out" / "compare" / MARKER).write_text("{}")
    parts = {
        name: tmp_path / "out" / name / f"{TEMPORARY}x"
        for name in ("", "notebooks/m", "html", "cache/facts", "compare/media", "cache/old")
    }
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
    studies = rest[rest.index("studies:") :]
    suite.write_text(f"{models}families: [plain]\n{studies}")
    return suite.parent


class Run:
    """A real run in a session of its own, which can be stopped at the beginning of a stage."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "soundcheck.cli", "run", "suite.yml"],
            cwd=folder,
            env=os.environ | {"CALLS": str(folder / "calls.txt"), "SOUNDCHECK_CACHE": "", "SLOW": "0.2"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def reach(self, stage: str) -> None:
        """Wait for a stage."""
        for line in self.process.stderr:
            if line.rstrip().endswith(f"] {stage}"):
                return
        raise AssertionError(f"there was no stage {stage}")

    def end(self) -> int:
        self.process.stderr.read()
        return self.process.wait()


@pytest.fixture
def run():
    """Begin a run: ``run(folder)``."""
    begun = []

    def begin(folder: Path) -> Run:
        begun.append(Run(folder))
        return begun[-1]

    yield begin
    for one in begun:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.stderr.close()
        one.process.wait()


def refusal(folder: Path) -> str:
    """Try to take the folder as a second run does; gives the message of its refusal, or nothing."""
    try:
        with FolderLock(folder / "build", "build"):
            return ""
    except InputError as error:
        return str(error)


def test_a_second_run_is_refused_at_each_stage_and_harms_nothing(folder, run, command):
    first = run(folder)
    for stage in STAGES:
        first.reach(stage)
        first.process.send_signal(signal.SIGSTOP)
        try:
            told = refusal(folder)
            assert f"another run writes to this folder (process {first.process.pid}, since" in told, stage
            if stage in ("predictions", "book"):
                for words in (("run", "suite.yml"), ("run", "suite.yml", "--plan")):
                    second = command(*words, cwd=folder, CALLS=os.devnull, SOUNDCHECK_CACHE="")
                    assert second.returncode == 2 and "another run writes to this folder" in second.stderr
        finally:
            first.process.send_signal(signal.SIGCONT)
    assert first.end() == 0
    assert (folder / "build" / "html" / "index.html").is_file()
    assert refusal(folder) == ""


def test_a_killed_run_leaves_no_lock_at_any_stage(folder, run):
    """Whether its children live on, any of which could hold a lock, or are killed with it."""
    for stage, alone in (*((stage, True) for stage in STAGES[:3]), ("notebooks", False), ("book", True)):
        killed = run(folder)
        killed.reach(stage)
        time.sleep(0.5)  # children are at work
        if alone:
            killed.process.kill()
        else:
            os.killpg(killed.process.pid, signal.SIGKILL)
        killed.process.wait()
        assert refusal(folder) == "", stage
