"""Small corpora, for files of predictions."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite.entries import CorpusEntry, Suite

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
    return Suite(replicates=100, interval="percentile", tasks=TASKS, root=folder, file=folder / "suite.yml")
