"""What is kept is whole, of the right version, and made once."""

import json
import os
import subprocess
import sys
import time

import pytest

from soundcheck.common import files, store
from soundcheck.common.files import OutputError
from soundcheck.common.resources import made_here
from soundcheck.common.store import FileDigests, JsonCache, signature

VALUES = {"mean": [1.5, -2.0], "names": ["a", None], "nothing": float("inf")}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "kept.json"


def test_values_are_made_once(path):
    assert store.read(path) is None
    calls = []
    first = store.find(path, lambda: calls.append(1) or VALUES)
    assert store.find(path, lambda: calls.append(1) or VALUES) == first == store.read(path) == VALUES
    assert len(calls) == 1


def test_what_fails_leaves_nothing(path):
    with pytest.raises(ZeroDivisionError):
        store.find(path, lambda: {"mean": 1 / 0})
    assert not path.exists()


def damage(path, how):
    text = path.read_text("utf-8")
    content = json.loads(text)
    texts = {
        **{"cut": text[:-9], "empty": "", "list": "[]", "null": "null", "other": "{}"},
        "edited": json.dumps(content | {"values": {"mean": 2.0}}),
        "no dictionary": json.dumps(content | {"values": [1]}),
        "no digest": json.dumps({"version": "", "values": {"mean": 1.0}}),
    }
    path.unlink()
    if how == "folder":
        (path / "below").mkdir(parents=True)
    elif how != "gone":
        path.write_text(texts[how], "utf-8")


@pytest.mark.parametrize(
    "how",
    [*("cut", "empty", "list", "null", "other", "edited", "no dictionary", "no digest"), "folder", "gone"],
)
def test_damaged_values_are_made_again(path, how):
    store.write(path, {"mean": 1.0})
    damage(path, how)
    assert store.read(path) is None
    assert store.find(path, lambda: {"mean": 1.0}) == {"mean": 1.0} == store.read(path)


@pytest.fixture
def make():
    def fill(folder):
        fill.calls += 1
        (folder / "below").mkdir()
        (folder / "below" / "a.wav").write_bytes(b"sound")
        (folder / "table.csv").write_text("a\n")

    fill.calls = 0
    return fill


@pytest.mark.parametrize("how", ["text", "size", "gone", "mark", "file"])
def test_a_damaged_folder_is_made_again(tmp_path, make, how):
    folder = store.folder(tmp_path / "thing", make, "the thing")
    assert store.folder(folder, make, "the thing") == folder == tmp_path / "thing"
    assert make.calls == 1
    if how == "file":
        folder.rename(tmp_path / "elsewhere")
        folder.write_text("no folder")
    else:
        name = {"text": "table.csv", "mark": store.MARK}.get(how, "below/a.wav")
        (folder / name).unlink()
        if how in ("text", "size"):
            (folder / name).write_text("b\n")
    store.folder(folder, make, "the thing")
    assert make.calls == 2
    assert (folder / "below" / "a.wav").read_bytes() == b"sound"
    assert (folder / "table.csv").read_text() == "a\n"


def test_a_folder_that_fails_leaves_nothing_and_clears_what_was_left(tmp_path, make):
    left = tmp_path / f"{store.TEMPORARY}thing-killed"
    left.mkdir()
    with pytest.raises(OutputError, match=r"Cannot write the thing to .*: No space. Make space"):
        store.folder(
            tmp_path / "thing", lambda _: (_ for _ in ()).throw(OSError(28, "No space")), "the thing"
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thing.lock"]


def test_processes_wait_for_each_other(tmp_path):
    code = """
import sys, time, pathlib
from soundcheck.common import store
def make():
    with open(sys.argv[1] + ".calls", "a") as file:
        file.write("x")
    time.sleep(0.5)
    return {"a": 1}
assert store.find(pathlib.Path(sys.argv[1]), make) == {"a": 1}
"""
    path = str(tmp_path / "kept.json")
    running = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert (tmp_path / "kept.json.calls").read_text() == "x"


def test_a_lock_ends_with_its_process(tmp_path):
    code = """
import sys, time, pathlib
from soundcheck.common import store
with store.lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "x")], stdout=subprocess.PIPE, env=dict(os.environ)
    )
    assert process.stdout.readline() == b"held\n"
    process.kill()
    process.wait()
    start = time.monotonic()
    with store.lock(tmp_path / "x") as alone:
        assert alone
    assert time.monotonic() - start < 5


# Caches -----------------------------------------------------------------------------------------------------


def test_values_come_back_for_the_same_version_only(path):
    calls = []
    for version in ("1", "1", "2", "2"):
        cache = JsonCache(path, version)
        assert cache.find("name", lambda version=version: calls.append(version) or ["a", 1.5]) == ["a", 1.5]
        cache.save()
    assert calls == ["1", "2"]
    assert made_here() == made_here() and len(made_here()) == 40


def test_what_nobody_used_is_forgotten_and_growth_is_seen(path):
    first = JsonCache(path)
    first.put("old", 1)
    first.put("new", 2)
    assert first.grown
    first.save()
    assert not first.grown
    second = JsonCache(path)
    assert second.get("new") == 2 and second.get("unknown") is None and not second.grown
    second.save()
    assert JsonCache(path).get("old") is None
    path.unlink()
    second.save()
    assert not path.exists()  # nothing changed
    JsonCache().save()  # without a file it lives as long as the run


@pytest.fixture
def weights(tmp_path, monkeypatch):
    weights = tmp_path / "weights"
    weights.write_text("1")
    monkeypatch.setattr(store, "MTIME_GRACE_SECONDS", 0)
    digests = FileDigests(tmp_path / "kept.json")
    assert digests.digest(weights) == files.digest(b"1")
    digests.save()
    return weights


def count_reads(monkeypatch) -> list:
    read = []
    digest = files.digest
    monkeypatch.setattr(store.files, "digest", lambda path: read.append(path) or digest(path))
    return read


def test_a_file_is_read_once(weights, tmp_path, monkeypatch):
    read = count_reads(monkeypatch)
    assert FileDigests(tmp_path / "kept.json").digest(weights) and read == []
    times = os.stat(weights)
    weights.write_text("2")
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))  # the same size and time do not deceive
    assert FileDigests(tmp_path / "kept.json").digest(weights) == files.digest(b"2")
    (tmp_path / "kept.json").write_text("{")
    assert FileDigests(tmp_path / "kept.json").digest(weights) == files.digest(b"2")


def test_a_file_written_just_now_is_read_again(weights, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MTIME_GRACE_SECONDS", 60)
    weights.write_text("2")
    digests = FileDigests(tmp_path / "kept.json")
    digests.digest(weights)
    digests.save()
    read = count_reads(monkeypatch)
    FileDigests(tmp_path / "kept.json").digest(weights)
    assert read == [weights]


def test_what_is_no_file_has_no_digest(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # would never end if it were opened
    for name in ("pipe", ".", "missing", "nul\0"):
        assert signature(tmp_path / name) is None and FileDigests().digest(tmp_path / name) == ""
