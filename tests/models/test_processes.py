"""Child processes for somebody else's code: what they give, and that they are gone when they should be."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import gone

from soundcheck.common.errors import InputError
from soundcheck.models import processes

TASK = processes.Task("here", "working", 10.0, "Wait", "Look")


def start_and_hang(file: str, hold: bool) -> None:
    """Start a process, write its number and ours, and hang, perhaps with the interpreter held."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    Path(f"{file}.part").write_text(f"{child.pid} {os.getpid()}")
    os.rename(f"{file}.part", file)
    ctypes.PyDLL(None).pause() if hold else time.sleep(100)


def test_a_child_gives_what_the_function_returns_or_says_how_it_ended(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(77)")
    monkeypatch.chdir(tmp_path)  # where nothing is imported from
    assert processes.in_child(TASK, divmod, 7, 2) == (3, 1)
    with pytest.raises(InputError, match=r"here: working ended the process \(exit code 3\). Look."):
        processes.in_child(TASK, os._exit, 3)
    with pytest.raises(InputError, match=r"here: working did not end within 1 s. Wait."):
        processes.in_child(TASK._replace(seconds=1.0), time.sleep, 100)
    assert processes.ending(-9) == "signal 9, SIGKILL"


def test_environment_has_one_thread_and_the_cache():
    environment = processes.environment("/some/cache")
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"
    assert environment["SOUNDCHECK_CACHE"] == "/some/cache" and environment["PATH"] == os.environ["PATH"]


def test_kill_takes_what_the_child_started(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with pytest.raises(InputError, match="did not end within 4 s"):
        processes.in_child(TASK._replace(seconds=4.0), start_and_hang, str(tmp_path / "pids"), False)
    assert all(gone(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_child_ends_with_its_parent_even_if_that_is_killed(tmp_path):
    code = (
        "import sys; from soundcheck.models import processes; import test_processes\n"
        "processes.in_child(test_processes.TASK._replace(seconds=100), test_processes.start_and_hang,"
        " sys.argv[1], True)\n"
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
