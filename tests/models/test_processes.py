"""Child processes for somebody else's code: what they give, and that they are gone when they should be."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from programs import gone

from soundcheck.common.messages import InputError
from soundcheck.models import processes

TASK = "here", "working", 10.0


def start(file: str, then: str) -> None:
    """Start a process, write its number and ours, and end or hang with the interpreter held."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    Path(f"{file}.part").write_text(f"{child.pid} {os.getpid()}")
    os.rename(f"{file}.part", file)
    os._exit(3) if then == "end" else ctypes.PyDLL(None).pause()


def test_a_child_gives_what_the_function_returns_or_says_how_it_ended(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(77)")
    monkeypatch.chdir(tmp_path)  # where nothing is imported from
    assert processes.in_child(*TASK, divmod, 7, 2) == (3, 1)
    assert processes.in_child(*TASK, os.getenv, "OMP_NUM_THREADS") == "1"
    assert processes.in_child(*TASK, os.getenv, "SOUNDCHECK_CACHE", cache=tmp_path) == str(tmp_path)
    with pytest.raises(InputError, match=r"here: working ended the process \(exit code 3\). Try it outside"):
        processes.in_child(*TASK, os._exit, 3)
    with pytest.raises(InputError, match=r"here: working did not end within 0.5 s. Try it outside"):
        processes.in_child("here", "working", 0.5, time.sleep, 100)
    assert processes.ending(-9) == "signal 9, SIGKILL"


def test_children_that_start_at_once_have_nothing_of_each_others_start():
    """A program whose modules lie beside it would miss them with the safe path of the server of forks."""
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(processes.in_child, *TASK, os.getenv, "PYTHONSAFEPATH") for _ in range(20)]
    assert {call.result() for call in calls} == {os.getenv("PYTHONSAFEPATH")}


def test_children_leave_nothing_behind_and_nobody_waits_for_them_after_an_interruption():
    code = "from soundcheck.models import processes\n"
    code += "for _ in 'abcde': processes.in_child('', '', 10, exec, 'import tqdm; tqdm.tqdm(disable=True)')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    with pytest.raises(KeyboardInterrupt), processes.threads(1) as pool:
        first, second = (pool.submit(processes.in_child, *TASK, time.sleep, 9) for _ in "ab")
        time.sleep(1)
        raise KeyboardInterrupt
    assert second.cancelled() and "ended the process" in str(first.exception(2))


def test_what_the_child_started_is_killed_with_it(tmp_path):
    with pytest.raises(InputError, match=r"ended the process \(exit code 3\)"):
        processes.in_child("here", "working", 60, start, str(tmp_path / "pids"), "end")
    assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_child_ends_with_its_parent_even_if_that_is_killed(tmp_path):
    code = (
        "import sys; from soundcheck.models import processes; import test_processes\n"
        "processes.in_child('', '', 100, test_processes.start,"
        " sys.argv[1], 'hang')\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])}
    file = tmp_path / "pids"
    with subprocess.Popen([sys.executable, "-c", code, str(file)], env=environment) as parent:
        end = time.monotonic() + 30
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        started, pid = map(int, file.read_text().split())
        assert os.path.exists(f"/proc/{pid}")
        parent.send_signal(signal.SIGKILL)
    assert gone(pid)
    os.kill(started, signal.SIGKILL)
