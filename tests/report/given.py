"""What tests of views share: segments of a task, tables as readers see them, pages with our scripts."""

from pathlib import Path

import numpy as np
import pandas as pd
from bs4 import BeautifulSoup

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.evaluation.subset import Predictions, Subset
from soundcheck.report import html
from soundcheck.report.html import join

HOSTILE = '<img src=x onerror="alert(1)">'


def texts(values) -> np.ndarray:
    """Give texts, or None, as an array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def subset(truth, predicted, task: str | Task = "arousal", *, changed=None, blocks=None, **columns) -> Subset:
    """Make segments ``0.wav``, ``1.wav``, ... with labels, or none, and predictions; the rest are columns."""
    about = {name: columns.pop(name) for name in ("corpus", "root", "change", "partner") if name in columns}
    task = BUILTIN[task] if isinstance(task, str) else task
    kind = (lambda values: np.array(values, dtype=float)) if task.kind == "regression" else texts
    count = len(predicted)
    table = pd.DataFrame({"file": [f"{n}.wav" for n in range(count)], "start": np.nan, "end": np.nan})
    table = table.assign(**{"key": [f"k{n:03d}" for n in range(count)]} | columns)
    predictions = Predictions(kind(predicted), None if changed is None else kind(changed))
    truth = None if truth is None else kind(truth)
    blocks = np.arange(count) if blocks is None else blocks
    given = {"corpus": "c", "task": task, "segments": table, "truth": truth, "predictions": predictions}
    return Subset(**given | {"reference": predictions, "blocks": blocks} | about)


def cells(html: object) -> list[list[str]]:
    """Give the texts of the cells of all rows of tables."""
    return [
        [cell.get_text(" ", strip=True).replace("\xa0", " ") for cell in row.find_all(["th", "td"])]
        for row in BeautifulSoup(str(html), "html.parser").find_all("tr")
    ]


def write_page(path: Path, *parts: object, theme: str = "light", head: str = "") -> Path:
    """Write a page of the book's skeleton, with our styles and scripts in it."""
    (path.parent / "run.css").write_text('@page { @bottom-left { content: "run 0123"; } }')
    path.write_text(
        f"<!doctype html><html lang='en' data-theme='{theme}'><head><meta charset='utf-8'><title>T</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<style>{html.style()}{head}</style><script>{html.script()}</script></head>"
        f"<body class='bd-content'><main class='bd-article'>{join(parts)}</main></body></html>",
        encoding="utf-8",
    )
    return path
