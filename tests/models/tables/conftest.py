"""What tests of files with predictions share."""

from collections.abc import Callable
from pathlib import Path

import pytest
from answer_files import loaded, written

from soundcheck.models.base import check_model


@pytest.fixture
def load(tmp_path: Path) -> Callable:
    """Write a file of predictions and load it: ``load(content, "hyp.csv", "arousal", columns={...})``."""

    def load(content, name: str = "hyp.csv", *tasks: str, **options):
        return loaded(tmp_path, content, name, tasks or ("transcript",), options=options)

    return load


@pytest.fixture
def check(tmp_path: Path) -> Callable:
    """Write a file of predictions and check it against corpora; gives the fingerprint."""

    def check(content, name: str, corpora: list, *tasks: str, **more) -> str:
        entry, suite = written(tmp_path, content, name, tasks or ("transcript",), **more)
        return check_model(entry, suite, corpora)

    return check
