"""Two runs never write to one folder, and a run that was killed leaves no lock behind."""

import subprocess
import sys

import pytest

from soundcheck.common.errors import InputError
from soundcheck.run.lock import LOCK, FolderLock

HOLD = """
import sys, pathlib
from soundcheck.run.lock import FolderLock
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
