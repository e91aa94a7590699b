"""Says how a suite declares a task of its own for labels that are no classes of a built-in one.

Other corpora know other emotions than the four of the built-in task. Their labels are listed, and with them
goes what has to be written into suite.yml so that all of them are tested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

import pandas as pd

from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.suite.entries import CorpusEntry

__all__ = ["remedy", "snippets"]

MOST_CLASSES = 50  # that a message lists
NAMES = ("feeling", "felt")
_PLAIN = re.compile(r"[^\W\d][\w-]*( [\w-]+)*")  # what YAML reads as the same text without quotes
_MEANT = ("null", "true", "false")  # by YAML as something else


def remedy(task: Task, table: pd.DataFrame, entry: CorpusEntry, tasks: Mapping[str, Task]) -> str:
    """Say what to do about labels of a corpus that are no classes of their task.

    Parameters
    ----------
    task
        A classification task, a column of the table.
    table
        Texts of the corpus under our names, ``""`` = missing.
    entry
        The suite's entry of the corpus.
    tasks
        Tasks of the suite by name.
    """
    labels = sorted(set(table[task.name]) - {""})
    if task.name not in BUILTIN:
        return f"Add them to `classes` of tasks.{task.name} in the suite, or correct them"
    for other in tasks.values():
        same = other.name != task.name and other.classes and other.name in table.columns
        if same and set(labels) <= set(other.classes) and table[other.name].equals(table[task.name]):
            return f"The task {other.name} has all of them"
    free = (name for name in NAMES if name not in tasks and name not in table.columns)
    name = next(free, f"own_{task.name}")
    told = f"To test all {len(labels)}, declare a task of your own, which models answer under its name"
    if len(labels) > MOST_CLASSES:
        return f"{told}, with all of them under `classes`"
    declared, columns = snippets(name, labels, entry.columns.get(task.name, task.name))
    return f"{told}: `tasks: {declared}`, and under corpora.{entry.name} `columns: {columns}`"


def snippets(name: str, classes: Iterable[str], column: str) -> tuple[str, str]:
    """Write what stands under ``tasks`` and under ``columns`` of a corpus, as YAML on one line.

    Parameters
    ----------
    name
        Name of the task.
    classes
        Its classes.
    column
        Column of the data that holds them.

    Examples
    --------
    >>> snippets("feeling", ["anger", "no", "a: b"], "emotion")[0]
    '{feeling: {type: classification, classes: [anger, no, "a: b"]}}'
    >>> snippets("feeling", ["anger"], "emotion")[1]
    '{feeling: emotion}'
    """
    listed = ", ".join(_scalar(text) for text in classes)
    return (
        f"{{{name}: {{type: classification, classes: [{listed}]}}}}",
        f"{{{name}: {_scalar(column)}}}",
    )


def _scalar(text: str) -> str:
    """Write a text as YAML; in quotes unless it is a plain word."""
    if _PLAIN.fullmatch(text) and text.lower() not in _MEANT:
        return text
    return json.dumps(text, ensure_ascii=False)
