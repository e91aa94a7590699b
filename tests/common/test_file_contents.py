"""Digests of files that are read again only if they may have changed."""

import os
from pathlib import Path

import pytest

from soundcheck.common import file_contents, files
from soundcheck.common.file_contents import Contents, signature


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "weights"
    path.write_text("1")
    return path


def count_reads(monkeypatch) -> list:
    read = []
    digest = files.digest
    monkeypatch.setattr(file_contents.files, "digest", lambda path: read.append(path) or digest(path))
    return read


def test_a_file_is_read_once(path, tmp_path, monkeypatch):
    monkeypatch.setattr(file_contents, "SETTLED_SECONDS", 0)
    first = Contents(tmp_path / "kept.json")
    assert first.digest(path) == files.digest(path)
    first.save()
    read = count_reads(monkeypatch)
    assert Contents(tmp_path / "kept.json").digest(path) == first.digest(path)
    assert read == []
    path.write_text("2")
    assert Contents(tmp_path / "kept.json").digest(path) == files.digest(b"2")


def test_same_size_and_time_do_not_deceive(path, tmp_path, monkeypatch):
    monkeypatch.setattr(file_contents, "SETTLED_SECONDS", 0)
    contents = Contents(tmp_path / "kept.json")
    contents.digest(path)
    contents.save()
    times = os.stat(path)
    path.write_text("2")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert Contents(tmp_path / "kept.json").digest(path) == files.digest(b"2")


def test_a_file_written_just_now_is_read_again(path, tmp_path, monkeypatch):
    contents = Contents(tmp_path / "kept.json")
    contents.digest(path)
    contents.save()
    read = count_reads(monkeypatch)
    Contents(tmp_path / "kept.json").digest(path)
    assert read == [path]


def test_damaged_memory_is_no_memory(path, tmp_path):
    (tmp_path / "kept.json").write_text("{")
    assert Contents(tmp_path / "kept.json").digest(path) == files.digest(b"1")


def test_what_is_no_file_has_no_digest(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # would never end if it were opened
    for name in ("pipe", ".", "missing", "nul\0"):
        assert signature(tmp_path / name) is None
    assert [Contents().digest(tmp_path / name) for name in ("pipe", ".", "missing")] == [""] * 3
