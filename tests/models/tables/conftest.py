"""What tests of files with predictions share."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from answer_files import suite_of

from soundcheck.models.base import load_checked
from soundcheck.models.tables.table import TableModel
from soundcheck.suite.entries import ModelEntry


@pytest.fixture
def written(tmp_path: Path) -> Callable:
    """Write a file of predictions: a table as Parquet, a list as JSON; gives what names it."""

    def written(content, name: str, tasks: tuple[str, ...], **more):
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path)
        else:
            content = json.dumps(content) if isinstance(content, list) else content
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        tasks = tasks or ("transcript",)
        return ModelEntry("theirs", "predictions", name, tasks, path=path, **more), suite_of(tmp_path)

    return written


@pytest.fixture
def load(written) -> Callable:
    """Write a file of predictions and load it: ``load(content, "hyp.csv", "arousal", columns={...})``."""
    return lambda content, name="hyp.csv", *tasks, **options: TableModel.load(
        *written(content, name, tasks, options=options)
    )


@pytest.fixture
def check(written) -> Callable:
    """Write a file of predictions and check it against corpora; gives the fingerprint."""

    def check(content, name, corpora, *tasks, **more) -> str:
        _, fingerprint = load_checked(*written(content, name, tasks, **more), corpora)
        return fingerprint

    return check
