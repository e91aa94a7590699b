"""Two runs never write to one folder, and a run that was killed leaves no lock behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from programs import soon
from tones import make

from soundcheck.common.files import MARKER, TEMPORARY
from soundcheck.common.messages import InputError
from soundcheck.run.output import LOCK, FolderLock, Output
from soundcheck.run.selection import RunOptions, opened
from soundcheck.suite.suite_file import read_suite

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("names", [(), ("cache/", MARKER), (LOCK, f"{TEMPORARY}abc")])
def test_of_three_at_once_exactly_one_runs(tmp_path, names):
    """Whether nothing is there, a cache, or what a run left that was stopped: names with / are folders."""
    suite = make(tmp_path / "project") / "suite.yml"
    out = tmp_path / "out"
    for name in names:
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


SCRIPT = "import sys; from soundcheck import cli; sys.argv = ['soundcheck', 'run', 'suite.yml']; cli.main()"


def test_a_second_run_is_refused_at_each_stage_and_a_killed_one_leaves_no_lock(
    small_suite, preloaded, command, monkeypatch
):
    """Its children, any of which could hold a lock, live on when it is killed."""
    suite = small_suite("lock") / "suite.yml"
    models, _, rest = suite.read_text().partition("  several:")  # one model, one family
    suite.write_text(f"{models}families: [plain]\n{rest[rest.index('studies:') :]}")
    folder = suite.parent
    monkeypatch.chdir(folder)

    def refusal() -> str:
        """Take the folder as a second run does."""
        try:
            with FolderLock(folder / "build", "build"):
                return ""
        except InputError as error:
            return str(error)

    again = {"cwd": folder, "CALLS": os.devnull, "SOUNDCHECK_CACHE": ""}
    environment = os.environ | {"CALLS": str(folder / "calls.txt"), "SOUNDCHECK_CACHE": "", "SLOW": "0.1"}
    nothing = dict.fromkeys(("stdin", "stdout"), subprocess.DEVNULL)
    for stages in (("predictions", "notebooks"), ("book",)):  # in the last one it is killed
        log = folder / f"{stages[0]}.txt"
        with log.open("w") as errors:
            start = preloaded().subprocess().Popen
            run = start([sys.executable, "-c", SCRIPT], **nothing, stderr=errors, env=environment)
        for stage in stages:
            os.kill(run.pid, signal.SIGCONT)
            assert soon(lambda log=log, stage=stage: f"] {stage}\n" in log.read_text(), 60.0), stage
            time.sleep(0.3)  # children are at work
            os.kill(run.pid, signal.SIGSTOP)
            who = f"another run writes to this folder (process {run.pid}, since"
            assert who in refusal(), stage
            for words in ((), ("--plan",)) if stage == "predictions" else ():
                second = command("run", "suite.yml", *words, **again)
                assert second.returncode == 2 and who in second.stderr
        run.kill()
        run.wait()
        assert soon(lambda: not refusal()), stages
    assert command("run", "suite.yml", "--no-book", **again).returncode == 0
    assert (folder / "build" / "results.csv").is_file()
