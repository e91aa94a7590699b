"""Files that a suite names by file, folder or pattern, and places inside of packages."""

import os
from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml

import soundcheck
from soundcheck.common.files import MARKER
from soundcheck.suite import paths
from soundcheck.suite.paths import find_files, find_place

CASES = yaml.safe_load(Path(__file__).with_name("paths.yml").read_text("utf-8"))
LIBRARY = Path(soundcheck.__file__).parent


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite [1]")
    for name in (
        *("weights/a.bin", "weights/deep/b.bin", "weights/.git/c.bin", "weights/__pycache__/d.pyc"),
        *(f"weights/build/{MARKER}", "weights/build/cache/e.bin", "f[1].bin", "empty/deep/.git/g"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    os.mkfifo(folder / "weights" / "feed")
    return folder / "suite.yml"


@pytest.mark.parametrize(("text", "names"), CASES["files"])
def test_files_that_are_named(suite, text, names):
    files, what, remedy = find_files(suite, text)
    assert ([str(path.relative_to(suite.parent)) for path in files], what, remedy) == (names, "", "")


@pytest.mark.parametrize(("text", "words"), CASES["no files"])
def test_files_that_are_refused(suite, monkeypatch, text, words):
    monkeypatch.setattr(paths, "MANY_FILES", 1)
    files, what, remedy = find_files(suite, text)
    assert files == [] and words in what and remedy
    assert ("relative" in what) == (text[0] in "w$" and "does not exist" in what)


def test_what_may_not_be_read(suite, monkeypatch):
    denied = ("'weights': permission denied", "Check the path, or name a folder that can be read")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert find_place(suite, "weights", folder=True)[1:] == denied
    monkeypatch.setattr(os, "stat", Mock(side_effect=PermissionError))
    assert find_place(suite, "weights", folder=True)[1:] == denied
    assert find_files(suite, "weights")[1] == denied[0]


def test_places_in_packages_are_found_without_importing_them(suite, tmp_path, monkeypatch):
    place, what, remedy = find_place(suite, "package:soundcheck/suite/paths.py", folder=False)
    assert place.samefile(LIBRARY / "suite" / "paths.py") and not what and not remedy
    assert find_place(suite, "package:soundcheck/suite", folder=True)[0].is_dir()
    (tmp_path / "unwanted").mkdir()
    (tmp_path / "unwanted" / "__init__.py").write_text("raise SystemExit('was imported')")
    (tmp_path / "unwanted" / "model.onnx").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert find_place(suite, "package:unwanted/model.onnx", folder=False)[0].is_file()


@pytest.mark.parametrize(("text", "message"), CASES["no places"])
def test_places_in_packages_that_are_refused(suite, text, message):
    place, what, remedy = find_place(suite, text, folder=False)
    assert place is None and message in what and remedy
    assert str(LIBRARY) not in what + remedy
