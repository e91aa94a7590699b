"""Files that a suite names by file, folder or pattern."""

import os
from pathlib import Path

import pytest

from soundcheck.common.files import MARKER
from soundcheck.suite import paths
from soundcheck.suite.paths import find_files, find_place


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name in ("weights/a.bin", "weights/deep/b.bin", "weights/.git/c.bin", "weights/__pycache__/d.pyc"):
        write(tmp_path / name)
    for name in (f"weights/build/{MARKER}", "weights/build/cache/e.bin", "f[1].bin", "empty/deep/.git/g"):
        write(tmp_path / name)
    os.mkfifo(tmp_path / "weights" / "feed")
    return tmp_path / "suite.yml"


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("weights/a.bin", ["weights/a.bin"]),
        ("weights", ["weights/a.bin", "weights/deep/b.bin"]),
        ("weights/*.bin", ["weights/a.bin"]),
        ("**/b.bin", ["weights/deep/b.bin"]),
        ("**/*.bin", ["f[1].bin", "weights/a.bin", "weights/deep/b.bin"]),
        ("weights/*", ["weights/a.bin", "weights/deep/b.bin"]),  # a folder means what is in it
        ("f[1].bin", ["f[1].bin"]),  # a file of that name comes before the pattern
    ],
)
def test_what_is_found(suite, text, names):
    found, what, remedy = find_files(suite, text)
    assert ([str(path.relative_to(suite.parent)) for path in found], what, remedy) == (names, "", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("weigths/a.bin", "'weigths/a.bin': the file does not exist (taken relative to the folder"),
        ("weights/*.onnx", "'weights/*.onnx' means no file"),
        ("empty", "'empty' means no file"),
        ("weights/feed", "'weights/feed': this is not a regular file"),
        ("$HOME/a.bin", "environment variables are not expanded"),
    ],
)
def test_what_is_refused(suite, text, words):
    found, what, remedy = find_files(suite, text)
    assert found == [] and words in what and remedy


def test_a_path_in_the_home_folder_is_taken_relative_to_nothing(suite):
    for text in ("~/no such file", "/no such file"):
        assert find_place(suite, text, folder=False)[1] == f"'{text}': the file does not exist"


def test_too_many_files(suite, monkeypatch):
    monkeypatch.setattr(paths, "MANY_FILES", 1)
    assert "more than 1 files" in find_files(suite, "weights")[1]
