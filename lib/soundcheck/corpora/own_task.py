"""Says how a suite declares a task of its own for labels that are no classes of a built-in one.

Other corpora know other emotions than the four of the built-in task. Their labels are listed, and with them
goes what has to be written into suite.yml so that all of them are tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from soundcheck.common.class_words import NOTHING, as_values, meanings
from soundcheck.common.tasks import BUILTIN, Task
from soundcheck.common.yaml_text import flow
from soundcheck.suite.entries import CorpusEntry

MOST_CLASSES = 50  # that a message lists
NAMES = ("feeling", "felt")


def remedy(task: Task, table: pd.DataFrame, entry: CorpusEntry, tasks: Mapping[str, Task]) -> str:
    """Say what to do about labels of a corpus that are no classes of their task.

    - ``task``: a classification task, a column of the table.
    - ``table``: texts of the corpus under our names, ``""`` = missing.
    - ``entry``: the suite's entry of the corpus.
    - ``tasks``: tasks of the suite by name.
    """
    labels = sorted(set(table[task.name]) - {""})
    meant = {label: "" for label in labels if label.strip().lower() in NOTHING and label not in task.classes}
    meant |= meanings(labels, task.classes)
    rest = [label for label in labels if label not in task.classes and label not in meant]
    for other in tasks.values():
        same = other.name != task.name and other.classes and other.name in table.columns
        if same and set(labels) <= set(other.classes) and table[other.name].equals(table[task.name]):
            return f"The task {other.name} has all of them"
    said = f"Say what they mean under corpora.{entry.name}: `{as_values(task.name, meant)}`"
    first = f"{said}. " if meant else ""
    if first and not rest:
        return said
    if task.name not in BUILTIN:
        return f"{first}Add them to `classes` of tasks.{task.name} in the suite, or correct them"
    free = (name for name in NAMES if name not in tasks and name not in table.columns)
    name = next(free, f"own_{task.name}")
    told = f"{first}To test all {len(labels)}, declare a task of your own, which models answer under its name"
    if len(labels) > MOST_CLASSES:
        return f"{told}, with all of them under `classes`"
    declared, columns = snippets(name, labels, entry.columns.get(task.name, task.name))
    return f"{told}: `tasks: {declared}`, and under corpora.{entry.name} `columns: {columns}`"


def snippets(name: str, classes: Iterable[str], column: str) -> tuple[str, str]:
    """Write what stands under ``tasks`` and under ``columns`` of a corpus, as YAML on one line.

    - ``column``: column of the data that holds them.

    >>> snippets("feeling", ["anger", "no", "a: b"], "emotion")[0]
    '{feeling: {type: classification, classes: [anger, "no", "a: b"]}}'
    >>> snippets("feeling", ["anger"], "emotion")[1]
    '{feeling: emotion}'
    """
    declared = {name: {"type": "classification", "classes": list(classes)}}
    return flow(declared), flow({name: column})
