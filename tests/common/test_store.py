"""What is kept is whole, of the right version, and made once."""

import json
import os
import subprocess
import sys
import time

import pytest

from soundcheck.common import files, store
from soundcheck.common.files import OutputError
from soundcheck.common.store import FileDigests, JsonCache, signature

VALUES = {"mean": [1.5, -2.0], "names": ["a", None], "nothing": float("inf")}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "kept.json"


def test_values_are_made_once_and_what_fails_leaves_nothing(path):
    with pytest.raises(ZeroDivisionError):
        store.find(path, lambda: {"mean": 1 / 0})
    assert not path.exists() and store.read(path) is None
    calls = []
    for _ in range(2):
        assert store.find(path, lambda: calls.append(1) or VALUES) == store.read(path) == VALUES
    assert len(calls) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-9],
        lambda text: "",
        lambda text: "[]",
        lambda text: json.dumps(json.loads(text) | {"values": {"mean": 2.0}}),
        lambda text: json.dumps(json.loads(text) | {"values": [1]}),
        lambda text: json.dumps({"version": "", "values": {"mean": 1.0}}),  # without digest
    ],
)
def test_damaged_values_are_made_again(path, damage):
    store.write(path, {"mean": 1.0})
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    assert store.read(path) is None
    assert store.find(path, lambda: {"mean": 1.0}) == {"mean": 1.0} == store.read(path)


def test_a_folder_in_the_place_of_values_is_replaced(path):
    (path / "below").mkdir(parents=True)
    assert store.read(path) is None
    assert store.find(path, lambda: VALUES) == VALUES == store.read(path)


@pytest.mark.parametrize("how", ["size", "gone", "mark", "file"])
def test_a_damaged_folder_is_made_again(tmp_path, how):
    calls = []

    def make(folder):
        calls.append(folder)
        (folder / "below").mkdir()
        (folder / "below" / "a.wav").write_bytes(b"sound")

    folder = store.folder(tmp_path / "thing", make, "the thing")
    assert store.folder(folder, make, "the thing") == folder == tmp_path / "thing" and len(calls) == 1
    if how == "file":
        folder.rename(tmp_path / "elsewhere")
        folder.write_text("no folder")
    elif how == "size":
        (folder / "below" / "a.wav").write_text("b\n")
    else:
        (folder / (store.MARK if how == "mark" else "below/a.wav")).unlink()
    store.folder(folder, make, "the thing")
    assert len(calls) == 2 and (folder / "below" / "a.wav").read_bytes() == b"sound"


def test_a_folder_that_fails_leaves_nothing_and_clears_what_was_left(tmp_path):
    def fail(folder):
        raise OSError(28, "No space")

    (tmp_path / f"{store.TEMPORARY}thing-killed").mkdir()
    with pytest.raises(OutputError, match=r"Cannot write the thing to .*: No space. Make space"):
        store.folder(tmp_path / "thing", fail, "the thing")
    assert [path.name for path in tmp_path.iterdir()] == ["thing.lock"]


WAITING = """
import sys, time, pathlib
from soundcheck.common import store
def make():
    with open(sys.argv[1] + ".calls", "a") as file:
        file.write("x")
    time.sleep(0.2)
    return {"a": 1}
assert store.find(pathlib.Path(sys.argv[1]), make) == {"a": 1}
if len(sys.argv) > 2:
    with store.lock(pathlib.Path(sys.argv[2])):
        print("locked", flush=True)
        time.sleep(60)
"""


def test_processes_wait_for_each_other_and_a_lock_ends_with_its_process(tmp_path):
    line = [sys.executable, "-c", WAITING, str(tmp_path / "kept.json")]
    running = [subprocess.Popen(line) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert (tmp_path / "kept.json.calls").read_text() == "x"
    process = subprocess.Popen([*line, str(tmp_path / "x")], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"locked\n"
    process.kill()
    process.wait()
    start = time.monotonic()
    with store.lock(tmp_path / "x"):
        pass
    assert time.monotonic() - start < 5


def test_values_come_back_for_the_same_version_only(path):
    calls = []
    for version in ("1", "1", "2", "2"):
        cache = JsonCache(path, version)
        assert cache.find("name", lambda version=version: calls.append(version) or ["a", 1.5]) == ["a", 1.5]
        cache.save()
    assert calls == ["1", "2"]


def test_a_file_is_read_once_and_again_if_it_may_have_changed(tmp_path, monkeypatch):
    weights, cache, read, digest = tmp_path / "weights", tmp_path / "cache.json", [], files.digest
    monkeypatch.setattr(store.files, "digest", lambda path: read.append(path) or digest(path))

    def digested(grace):
        read.clear()
        monkeypatch.setattr(store, "MTIME_GRACE_SECONDS", grace)
        digests = FileDigests(cache)
        result = digests.digest(weights)
        digests.save()
        return result, read.count(weights)

    weights.write_text("1")
    assert [digested(0), digested(0)] == [(digest(b"1"), 1), (digest(b"1"), 0)]
    times = os.stat(weights)
    weights.write_text("2")
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))  # the same size and time do not deceive
    assert digested(0) == (digest(b"2"), 1)
    cache.write_text("{")
    assert digested(0) == (digest(b"2"), 1)
    weights.write_text("3")
    assert [digested(60), digested(60)] == [(digest(b"3"), 1)] * 2  # it was written just now


def test_what_is_no_file_has_no_digest(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # would never end if it were opened
    for name in ("pipe", ".", "missing", "nul\0"):
        assert signature(tmp_path / name) is None and FileDigests().digest(tmp_path / name) == ""
