"""Two runs never write to one folder, and a run that was killed leaves no lock behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from programs import soon
from tones import make

from soundcheck.common.errors import InputError
from soundcheck.common.files import MARKER, TEMPORARY
from soundcheck.run.output import LOCK, FolderLock, Output
from soundcheck.run.selection import RunOptions, opened
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow

FOLDERS = {  # what lies in the output folder; names that end with / are folders
    "nothing": None,
    "a cache": ["cache/", MARKER],
    "a stopped run": [LOCK, f"{TEMPORARY}abc"],
}


@pytest.mark.parametrize("state", FOLDERS)
def test_of_three_at_once_exactly_one_runs(tmp_path, state):
    suite = make(tmp_path / "project") / "suite.yml"
    out = tmp_path / "out"
    for name in FOLDERS[state] or ():
        out.mkdir(exist_ok=True)
        (out / name).mkdir() if name.endswith("/") else (out / name).write_text("{}")
    all_there = threading.Barrier(3, timeout=10)

    def run(number: int) -> str:
        all_there.wait()
        try:
            with opened(read_suite(suite), RunOptions(suite=suite, out=out)):
                all_there.wait()
                return "runs"
        except InputError as error:
            all_there.wait()
            return str(error)

    with ThreadPoolExecutor(3) as pool:
        *refusals, winner = sorted(pool.map(run, range(3)))
    who = f": another run writes to this folder (process {os.getpid()}, since "
    assert winner == "runs" and all(who in refusal for refusal in refusals)
    assert (out / MARKER).is_file() and not list(out.glob(f"{TEMPORARY}*"))


def test_a_folder_that_is_not_there_yet_is_taken_once_it_is(tmp_path):
    folder = tmp_path / "build"
    with FolderLock(folder, "build") as lock:
        assert not folder.exists()
        lock.take()
        lock.take()
        with pytest.raises(InputError):
            FolderLock(folder, "build").take()
    with FolderLock(folder, "build"):
        pass


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

SCRIPT = "import sys; from soundcheck import cli; sys.argv = ['soundcheck', 'run', 'suite.yml']; cli.main()"


@pytest.fixture
def folder(small_suite, monkeypatch) -> Path:
    """Give a folder with the small suite of one model and one family; it is the current one."""
    suite = small_suite("lock") / "suite.yml"
    models, _, rest = suite.read_text().partition("  several:")
    suite.write_text(f"{models}families: [plain]\n{rest[rest.index('studies:') :]}")
    monkeypatch.chdir(suite.parent)
    return suite.parent


def refusal(folder: Path) -> str:
    """Try to take the folder as a second run does; gives the message of its refusal, or nothing."""
    try:
        with FolderLock(folder / "build", "build"):
            return ""
    except InputError as error:
        return str(error)


def test_a_second_run_is_refused_at_each_stage_and_a_killed_one_leaves_no_lock(folder, preloaded, command):
    """Its children, any of which could hold a lock, live on when it is killed."""
    again = {"cwd": folder, "CALLS": os.devnull, "SOUNDCHECK_CACHE": ""}
    environment = os.environ | {"CALLS": str(folder / "calls.txt"), "SOUNDCHECK_CACHE": "", "SLOW": "0.1"}
    nothing = dict.fromkeys(("stdin", "stdout"), subprocess.DEVNULL)
    for stage in ("predictions", "notebooks", "book"):
        with (folder / f"{stage}.txt").open("w") as errors:
            start = preloaded().subprocess().Popen
            run = start([sys.executable, "-c", SCRIPT], **nothing, stderr=errors, env=environment)
        end = time.monotonic() + 60
        while f"] {stage}\n" not in (folder / f"{stage}.txt").read_text():
            assert time.monotonic() < end, f"no stage {stage}"
            time.sleep(0.02)
        time.sleep(0.3)  # children are at work
        os.kill(run.pid, signal.SIGSTOP)
        who = f"another run writes to this folder (process {run.pid}, since"
        assert who in refusal(folder), stage
        for words in ((), ("--plan",)) if stage == "predictions" else ():
            second = command("run", "suite.yml", *words, **again)
            assert second.returncode == 2 and who in second.stderr
        run.kill()
        run.wait()
        assert soon(lambda: not refusal(folder)), stage
    assert command("run", "suite.yml", **again).returncode == 0
    assert (folder / "build" / "html" / "index.html").is_file()
