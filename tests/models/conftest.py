"""What tests of models share."""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from library_models import Project
from programs import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A suite's folder with programs, and a folder for temporary files."""
    root, temporary = tmp_path / "my suite", tmp_path / "temporary"
    root.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)  # forget where temporary files went so far
    yield World(root, temporary)
    tempfile.tempdir = None


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A suite's folder with one model that a library runs."""
    return Project(tmp_path)


@pytest.fixture
def spoil() -> Callable:
    """Change files of a folder as a row of a table of bad inputs says: ``write``, ``remove``, ``update``."""

    def spoil(folder: Path, row: dict) -> None:
        for name in row.get("remove", ()):
            (folder / name).unlink()
        for name, text in row.get("write", {}).items():
            (folder / name).write_text(text)
        for name, changes in row.get("update", {}).items():
            (folder / name).write_text(json.dumps(json.loads((folder / name).read_text()) | changes))

    return spoil
