import os
import signal
import subprocess
import sys
import time

import pytest

from soundcheck.common.errors import InputError
from soundcheck.models import processes

TASK = processes.Task("here", "working", 10.0, "Wait", "Look")


def test_a_child_gives_what_the_function_returns_or_says_how_it_ended():
    assert processes.in_child(TASK, divmod, 7, 2) == (3, 1)
    with pytest.raises(InputError, match=r"here: working ended the process \(exit code 3\). Look."):
        processes.in_child(TASK, os._exit, 3)
    with pytest.raises(InputError, match=r"here: working did not end within 1 s. Wait."):
        processes.in_child(TASK._replace(seconds=1.0), time.sleep, 100)


def test_a_name_in_the_working_directory_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(77)")
    monkeypatch.chdir(tmp_path)
    assert processes.in_child(TASK, divmod, 7, 2) == (3, 1)


@pytest.mark.parametrize(
    ("code", "words"), [(0, "exit code 0"), (3, "exit code 3"), (-9, "signal 9, SIGKILL")]
)
def test_ending(code, words):
    assert processes.ending(code) == words


def test_environment_has_one_thread_and_the_cache():
    environment = processes.environment("/some/cache")
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"
    assert environment["SOUNDCHECK_CACHE"] == "/some/cache"
    assert environment["PATH"] == os.environ["PATH"]


def test_kill_takes_what_the_child_started(tmp_path):
    (tmp_path / "starter.py").write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(100)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        child = processes.Child("starter", output=processes.CAPTURED)
    text = b""
    end = time.monotonic() + 10
    while not text and time.monotonic() < end:
        try:
            text = os.read(child.output, 100)
        except BlockingIOError:
            time.sleep(0.02)
    assert not child.gone()
    assert child.kill() == "signal 9, SIGKILL"
    assert gone(int(text))


def test_child_ends_with_its_parent_even_if_that_is_killed(tmp_path):
    (tmp_path / "hanger.py").write_text(
        "import ctypes, os\n"
        "from soundcheck.models import processes\n"
        "connection = processes.connect()\n"
        "connection.send(os.getpid())\n"
        "ctypes.PyDLL(None).pause()\n"  # holds the interpreter: no thread of Python can run
    )
    code = (
        "import time; from soundcheck.models import processes\n"
        "child = processes.Child('hanger')\n"
        "print(child.connection.recv(), flush=True)\n"
        "time.sleep(100)\n"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    }
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        assert not gone(pid, wait=0.0)
        parent.send_signal(signal.SIGKILL)
    assert gone(pid)


def gone(pid: int, wait: float = 5.0) -> bool:
    end = time.monotonic() + wait
    while True:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(0.05)
