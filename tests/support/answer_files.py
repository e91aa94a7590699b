"""Small corpora, and files of predictions for them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.models.tables.rows import FileModel
from soundcheck.models.tables.table import TableModel
from soundcheck.suite.entries import CorpusEntry, ModelEntry, Suite

NAN = float("nan")
TASKS = BUILTIN | {"age": Task("age", "regression", (), 20, 80)}


def corpus(*rows: tuple, name: str = "demo", **columns: list) -> SimpleNamespace:
    """Make a corpus of (file, start, end) and perhaps a duration, each segment with a sound of its own."""
    names = ["file", "start", "end", "duration"]
    table = pd.DataFrame([(*row, 2.0)[:4] for row in rows], columns=names).assign(**columns)
    table["key"] = [f"{file}|{start}|{end}" for file, start, end, *_ in rows]
    if "audio" not in columns:
        table["audio"] = [f"{name} {key}" for key in table["key"]]
    return SimpleNamespace(name=name, entry=CorpusEntry(name, "csv"), segments=table, root=Path("/nowhere"))


def files(*names: str, **more: object) -> SimpleNamespace:
    """Make a corpus of whole files."""
    return corpus(*[(file, NAN, NAN) for file in names], **more)


def suite_of(folder: Path) -> Suite:
    return Suite("t", 0, 100, "percentile", (), {}, {}, TASKS, folder, folder / "suite.yml")


def written(
    folder: Path,
    content: str | bytes | list | pd.DataFrame,
    name: str,
    tasks: tuple[str, ...] = ("transcript",),
    **more: object,
) -> tuple[ModelEntry, Suite]:
    """Write a file of predictions; gives what names it."""
    path = folder / name
    if isinstance(content, pd.DataFrame):
        content.to_parquet(path)
    else:
        content = json.dumps(content) if isinstance(content, list) else content
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return ModelEntry("theirs", "predictions", name, tasks, path=path, **more), suite_of(folder)


def loaded(*what: object, **more: object) -> FileModel:
    """Write a file of predictions, and load it."""
    return TableModel.load(*written(*what, **more))
